"""The browser is killed while a run goes on: nothing recorded is lost, what was hit is invalid, all trials finish."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from recordings.log.run_folder import Run, read
from tests.harvest.pages.conftest import SharedInterface
from tests.support.fault_page import Row, code, hold
from tests.support.interfaces import NAMES, Interface, Truth, interface
from tests.support.processes import below, browsers_of, gone
from topics.library import load_topics

PROTOCOL = """\
format: harvest-protocol/1
name: two-wishes
version: 1
turn_limit: 2
rules:
  answered: {contains: {phrases: ["Done at once."]}}
start: first
states:
  first:
    say: scenario quick first=0.2
    edges:
      - {if: answered, label: o, go: second}
      - {otherwise: true, label: x, stop: breakdown}
  second:
    say: scenario quick first=0.2 n=2
    edges:
      - {if: answered, label: o, stop: completed}
      - {otherwise: true, label: x, stop: breakdown}
"""
KILLED = {"browser-gone", "page-crashed", "browser-start"}
"""How a killed browser is called: while a page is open, and while it starts."""


def _write_audit(folder: Path, page: Interface, topics: int, trials: int) -> None:
    (folder / "two-wishes.yaml").write_text(PROTOCOL)
    system = {
        "name": "page",
        "driver": "browser",
        "options": {"url": page.url},
        "concurrency": 3,
        "attempts": 8,
        "give_up_after": 50,
    }
    audit = {
        "format": "harvest-audit/1",
        "name": "killed",
        "topics": "fairweb-45",
        "only": [topic.id for topic in load_topics("fairweb-45").topics[:topics]],
        "protocol": "two-wishes.yaml",
        "trials": trials,
        "systems": [system],
    }
    (folder / "audit.yaml").write_text(yaml.safe_dump(audit))


def _started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "harvest", "run", "audit.yaml", "--out", "run"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _kill_browsers(running: subprocess.Popen[bytes], kills: int, longest: float) -> int:
    """Kill the run's browser so often, each a random moment after it came; how often it was done."""
    moments, killed = random.Random(20231212), 0
    while killed < kills and running.poll() is None:
        found = browsers_of(running.pid)
        if not found:
            time.sleep(0.01)
            continue
        time.sleep(moments.uniform(0, longest))
        with contextlib.suppress(ProcessLookupError):
            os.kill(found[0], signal.SIGKILL)
            killed += 1
        gone(found)
    return killed


def _killed_and_compared(folder: Path, page: Interface, topics: int, trials: int, kills: int, longest: float) -> Run:
    before = len(page.truth())
    _write_audit(folder, page, topics, trials)
    running = _started(folder)
    try:
        killed = _kill_browsers(running, kills, longest)
        family = [one.id for one in below(running.pid)]
        output, messages = running.communicate(timeout=600)
    finally:
        running.kill()
        running.communicate()
    assert killed == kills, f"the run ended after {killed} kills: {messages.decode()[-2000:]}"
    assert running.returncode == 0, output.decode()[-1000:] + messages.decode()[-2000:]
    assert gone(family) == []
    run = read(folder / "run")
    assert len(run.finished) == topics * trials
    _nothing_is_lost(run, page.truth(before))
    invalid = Counter(one.outcome.reason for one in run.conversations if one.outcome and not one.outcome.valid)
    assert invalid.keys() <= KILLED, invalid
    assert invalid, "no kill hit a conversation: the test shows nothing"
    for reason in invalid:
        assert f"page: an attempt failed: {reason}: " in " ".join(messages.decode().split())
    return run


def _nothing_is_lost(run: Run, truth: Sequence[Truth]) -> None:
    """Every answer in the recording is one that the back end gave, whole; and every answer that a user went on from,
    by the back end's own account, is in the recording."""
    given = {turn.token: turn for turn in truth}
    recorded = []
    for conversation in run.conversations:
        assert conversation.outcome is not None
        for turn in conversation.turns:
            if turn.reply is not None:
                text = turn.reply.answer.text
                token = text.removeprefix("Begin ").partition(".")[0]
                assert text == given[token].answer
                assert turn.said == given[token].text
                recorded.append(token)
    assert len(recorded) == len(set(recorded)), "an answer was recorded twice"
    sessions: dict[str, dict[int, str]] = {}
    for one in truth:
        sessions.setdefault(one.session, {})[one.turn] = one.token
    gone_on = {turns[1] for turns in sessions.values() if 2 in turns}
    assert gone_on
    assert gone_on <= set(recorded)


def test_after_a_kill_of_the_browser_four_conversations_are_complete(
    tmp_path: Path, shared_interface: SharedInterface
) -> None:
    _killed_and_compared(tmp_path, shared_interface("deep-chat"), topics=2, trials=2, kills=1, longest=2.0)
    test = "`test_after_a_kill_of_the_browser_four_conversations_are_complete`"
    recorded = f"invalid, {', '.join(map(code, sorted(KILLED)))}, by when it was; every turn before it"
    seen = f"{code('an attempt failed: browser-gone: …')}, or with the other reason"
    hold(Row("the browser is killed", recorded, "no", seen, test), "Processes and clocks")


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_after_ten_kills_a_hundred_conversations_are_complete(tmp_path: Path, name: str) -> None:
    with interface(name) as page:
        _killed_and_compared(tmp_path, page, topics=25, trials=4, kills=10, longest=6.0)
