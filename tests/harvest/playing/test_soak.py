"""A run of which every twentieth request fails, killed again and again: nothing is lost or played twice.

The server logs what it was asked and what it said, and so knows better than the recording.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from recordings.conversations.conversation import Conversation
from recordings.files.times import unix_seconds
from recordings.log.run_folder import Run, read
from tests.servers.failing_chat import TOKEN
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.forked_commands import ForkedCommand

PROTOCOL = """\
format: harvest-protocol/1
name: two-turns
version: 1
turn_limit: 2
rules:
  useful: {urls: {kind: any, at_least: 1}}
start: ask
states:
  ask:
    say: "{{ topic.request }}"
    edges:
      - {if: useful, label: o, go: more}
      - {otherwise: true, label: x, stop: breakdown}
  more:
    say: Can you name a few more?
    edges:
      - {if: useful, label: o, stop: completed}
      - {otherwise: true, label: x, stop: completed}
"""


@dataclass(frozen=True)
class Killed:
    """A run that was killed, and what the server knows of it. log: a line for each request. kills: how many."""

    run: Run
    log: list[dict[str, Any]]
    kills: int


@contextlib.contextmanager
def failing_chat(log: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.servers.failing_chat", str(log)]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.stdin.close()
        server.wait(timeout=30)
        server.stdout.close()


def write_audit(folder: Path, url: str, trials: int) -> None:
    (folder / "two-turns.yaml").write_text(PROTOCOL)
    limits = {"concurrency": 8, "retries": 1, "retry_wait": 0.01, "attempts": 6, "give_up_after": 1000}
    plain = {"model": "m", "seed": "trial", "timeout": 5.0}
    remembering = {
        "url": f"{url}/remembering/chat/completions",
        "body": {"session": "{{ session }}", "text": "{{ text }}"},
        "session": "client",
        "reply": "$.choices[0].message.content",
        "timeout": 5.0,
    }
    systems = [
        {"name": "whole", "driver": "openai", "options": {"base_url": f"{url}/whole", **plain}},
        {"name": "stream", "driver": "openai", "options": {"base_url": f"{url}/stream", "stream": True, **plain}},
        {"name": "remembering", "driver": "http", "options": remembering},
    ]
    audit = {
        "format": "harvest-audit/1",
        "name": "soak",
        "topics": "fairweb-45",
        "protocol": "two-turns.yaml",
        "trials": trials,
        "systems": [{**one, **limits} for one in systems],
    }
    (folder / "audit.yaml").write_text(yaml.safe_dump(audit))


def asked(files: set[Path]) -> bool:
    return any(b'"event":"asked"' in file.read_bytes()[: 2**14] for file in files)


def play(folder: Path, trials: int, wait: tuple[float, float], most_kills: int) -> Killed:
    """wait: seconds between which a process plays before it is killed."""
    moments, kills = random.Random(20261124), 0
    log = folder / "log.jsonl"
    with failing_chat(log) as url:
        write_audit(folder, url, trials)
        while True:
            before = set(folder.glob("run/trials-*.jsonl"))
            with (folder / "messages.txt").open("ab") as messages:
                running = ForkedCommand("run", "audit.yaml", "--out", "run", cwd=folder, said=messages)
            while running.poll() is None and not asked(set(folder.glob("run/trials-*.jsonl")) - before):
                time.sleep(0.02)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(moments.uniform(*wait) if kills < most_kills else None)
            if running.returncode is None:
                running.send_signal(signal.SIGKILL)
                running.wait()
                kills += 1
            elif running.returncode == 0:
                break
            else:  # a trial failed as often as a command tries it
                assert running.returncode == 3, (folder / "messages.txt").read_text()[-3000:]
    assert b"Traceback" not in (folder / "messages.txt").read_bytes()
    return Killed(read(folder / "run"), [json.loads(line) for line in log.read_text().splitlines()], kills)


def tokens(conversation: Conversation) -> list[str]:
    found = [TOKEN.search(exchange.answer.text) for exchange in conversation.exchanges]
    assert all(found), "something that the server never said was taken for an answer"
    return [match[0] for match in found if match is not None]


def check(killed: Killed, planned: int) -> dict[str, int]:
    """Raises AssertionError where anything was lost, played twice, or taken for an answer. Returns the figures."""
    run, log = killed.run, killed.log
    said = {line["token"]: line for line in log}
    valid = [one for one in run.conversations if one.outcome is not None and one.outcome.valid]
    assert len(run.finished) == planned
    assert max(Counter(one.key for one in valid).values()) == 1, "a finished trial was played again"
    assert {len(one.exchanges) for one in valid} == {2}

    recorded: set[str] = set()
    for one in run.conversations:
        named = tokens(one)
        recorded.update(named)
        for number, token in enumerate(named):
            # A cut reply counts where only its end, after the last word, is missing.
            assert said[token]["fault"] in ("", "cut"), f"a reply that failed as {said[token]['fault']} is an answer"
            film = f"https://www.imdb.com/title/tt{int(token[6:14], 16):07d}/"
            assert one.exchanges[number].answer.text == f"Here is one: {film} (of {number + 1}) {token}"
        assert all(said[later]["before"] == named[: n + 1] for n, later in enumerate(named[1:]))
    gone_on = {token for line in log for token in line["before"]}
    assert gone_on <= recorded, "a turn that was answered, and gone on from, is not in the recording"
    in_one = Counter(token for one in valid for token in tokens(one))
    assert set(in_one.values()) == {1}, "an answer is in two trials"

    last: dict[str, float] = defaultdict(float)
    for line in log:
        last[json.dumps(line["trial"])] = line["at"]
    late = [one for one in valid if unix_seconds(one.ended_at) < last[json.dumps(said[tokens(one)[-1]]["trial"])]]
    assert late == [], "a finished trial was asked again"
    outcomes = Counter("interrupted" if one.outcome is None else one.outcome.kind for one in run.conversations)
    failed = Counter(one.outcome.reason for one in run.conversations if one.outcome and not one.outcome.valid)
    return {
        "conversations": len(valid),
        "kills": killed.kills,
        "requests": len(log),
        "requests that failed": sum(1 for line in log if line["fault"]),
        "kinds of faults": len({line["fault"] for line in log if line["fault"]}),
        "invalid attempts": outcomes["invalid"],
        "reasons": len(failed),
        "interrupted attempts": outcomes["interrupted"],
    }


def verified(folder: Path) -> bool:
    done = harvest("data", "verify", "run", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.startswith("verified: run")


@pytest.mark.parametrize(
    ("trials", "wait", "kills"),
    [(1, (0.1, 0.5), 3), pytest.param(149, (2.0, 6.0), 10_000, marks=pytest.mark.soak)],
    ids=["135 conversations", "20,115 conversations"],
)
def test_nothing_is_lost_or_played_twice_or_mistaken_for_an_answer(
    tmp_path: Path, trials: int, wait: tuple[float, float], kills: int
) -> None:
    killed = play(tmp_path, trials, wait, kills)
    figures = check(killed, trials * 45 * 3)
    print(json.dumps(figures))
    assert verified(tmp_path)
    assert figures["kills"] >= min(kills, 2), "it was hardly killed: the test shows nothing"
    assert figures["requests that failed"] > 0.02 * figures["requests"]
