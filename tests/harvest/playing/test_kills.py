"""Kills at random moments: nothing answered is lost, nothing is played twice, the scores are the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from recordings.log.run_folder import read
from tests.support.checkout import TESTS
from tests.support.forked_commands import ForkedCommand
from topics.library import load_topics

AUDIT = f"""\
format: harvest-audit/1
name: killed
topics: fairweb-45
protocol: fairweb-two-round
gold: parrot
trials: 3
seed: 7
systems:
  - name: parrot
    driver: parrot
    options: {{profile: slow, delay: [0.2, 0.2]}}
    concurrency: 3
  - name: witness
    driver: python
    options: {{function: "{TESTS / "support" / "witness.py"}:answer", takes: history}}
    concurrency: 2
"""


def harvest(folder: Path, witness: Path, run: str, *options: str) -> ForkedCommand:
    environment = {**os.environ, "HARVEST_WITNESS": str(witness)}
    words = ("run", "audit.yaml", "--out", run, *(options or ("--json",)))
    return ForkedCommand(*words, cwd=folder, environment=environment)


def scores(output: bytes) -> list[dict[str, object]]:
    rows = json.loads(output)["rows"]
    assert rows
    return list(rows)


def asked(files: set[Path]) -> bool:
    """Whether the first turn was said: on a busy machine that is long after the file was made."""
    return any('"event":"asked"' in file.read_text() for file in files)


def killed_and_compared(tmp_path: Path, kills: int, topics: int, trials: int) -> None:
    only = json.dumps([topic.id for topic in load_topics("fairweb-45").topics[:topics]])
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("trials: 3", f"trials: {trials}\nonly: {only}"))
    moments = random.Random(20231212)
    killed = 0
    while killed < kills:
        before = set(tmp_path.glob("run/trials-*"))
        process = harvest(tmp_path, tmp_path / "log.jsonl", "run")
        if killed % 5:  # four of five while it plays, the fifth while it starts, reads what is there and locks
            while not asked(set(tmp_path.glob("run/trials-*")) - before) and process.poll() is None:
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.5))
        else:
            time.sleep(moments.uniform(0, 1.0))
        assert process.poll() is None, f"it ended before it was killed often enough: {process.communicate()}"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += 1

    process = harvest(tmp_path, tmp_path / "log.jsonl", "run")
    output, messages = process.communicate(timeout=600)
    assert process.returncode == 0, messages.decode()
    undisturbed = harvest(tmp_path, tmp_path / "undisturbed.jsonl", "undisturbed")
    expected, messages = undisturbed.communicate(timeout=600)
    assert undisturbed.returncode == 0, messages.decode()

    run, whole = read(tmp_path / "run"), read(tmp_path / "undisturbed")
    planned = {conversation.key for conversation in whole.finished}
    assert len(planned) == topics * trials * 2
    finished = [conversation for conversation in run.conversations if conversation.outcome is not None]
    assert Counter(conversation.key for conversation in finished) == Counter(planned)
    assert {(c.key, c.exchanges) for c in run.finished} == {(c.key, c.exchanges) for c in whole.finished}
    assert scores(output) == scores(expected)

    # The system's own log: a question that came with a history proves that the turns of the history were answered.
    answered = {
        tuple(turn)
        for line in (tmp_path / "log.jsonl").read_text().splitlines()
        for turn in json.loads(line)["history"]
    }
    recorded = {
        (exchange.said, exchange.answer.text)
        for conversation in run.conversations
        if conversation.key.system == "witness"
        for exchange in conversation.exchanges
    }
    assert answered
    assert answered <= recorded
    assert len(run.interrupted) > 0, "no kill hit a conversation: the test shows nothing"


@pytest.mark.parametrize(
    ("kills", "topics", "trials"),
    [
        (2, 15, 1),
        pytest.param(15, 45, 2, marks=pytest.mark.soak),
        pytest.param(300, 45, 12, marks=pytest.mark.soak),
    ],
)
def test_after_kills_every_finished_turn_occurs_once_and_the_scores_are_those_of_an_undisturbed_run(
    tmp_path: Path, kills: int, topics: int, trials: int
) -> None:
    killed_and_compared(tmp_path, kills, topics, trials)


@pytest.mark.soak
def test_shards_that_are_killed_and_merged_equal_the_run_of_one_machine(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("trials: 3", "trials: 4"))
    moments = random.Random(20261124)
    shards = [f"{number}/3" for number in (1, 2, 3)]
    for _ in range(4):
        machines = [harvest(tmp_path, tmp_path / f"{of[0]}.jsonl", f"shard{of[0]}", "--shard", of) for of in shards]
        time.sleep(moments.uniform(1, 4))
        for machine in machines:
            assert machine.poll() is None, f"it ended before it was killed: {machine.communicate()}"
            machine.send_signal(signal.SIGKILL)
            machine.communicate()
    for of in shards:
        machine = harvest(tmp_path, tmp_path / f"{of[0]}.jsonl", f"shard{of[0]}", "--shard", of)
        _, messages = machine.communicate(timeout=600)
        assert machine.returncode == 0, messages.decode()
    folders = [f"shard{of[0]}" for of in shards]
    merging = [sys.executable, "-m", "harvest", "data", "merge", *folders, "--out", "merged"]
    merged = subprocess.run(merging, cwd=tmp_path, capture_output=True, timeout=120)
    assert merged.returncode == 0, merged.stderr.decode()

    undisturbed = harvest(tmp_path, tmp_path / "undisturbed.jsonl", "undisturbed")
    expected, messages = undisturbed.communicate(timeout=600)
    assert undisturbed.returncode == 0, messages.decode()
    run, whole = read(tmp_path / "merged"), read(tmp_path / "undisturbed")
    finished = [conversation for conversation in run.conversations if conversation.outcome is not None]
    assert Counter(one.key for one in finished) == Counter(one.key for one in whole.finished)
    assert {(c.key, c.exchanges) for c in run.finished} == {(c.key, c.exchanges) for c in whole.finished}
    scored = subprocess.run(
        [sys.executable, "-m", "harvest", "score", "merged", "--json"], cwd=tmp_path, capture_output=True, timeout=120
    )
    assert scores(scored.stdout) == scores(expected)
    assert len(run.interrupted) > 0, "no kill hit a conversation: the test shows nothing"
    # A kill costs the turns in flight, two at most on each machine; what was answered before it is not asked again.
    asked_for = sum(len((tmp_path / f"{of[0]}.jsonl").read_text().splitlines()) for of in shards)
    turns = sum(len(one.exchanges) for one in run.finished if one.key.system == "witness")
    assert turns <= asked_for <= turns + len(shards) * 4 * 2
