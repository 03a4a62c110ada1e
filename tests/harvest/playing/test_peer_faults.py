"""What went wrong in houses like ours (STYLE.md), beyond users and models: one test for each, named after it.

Those of simulated users are in test_simulators_peer_faults.py, of models that word them in
test_simulators_llm_peer_faults.py; that no package imports what stands above it is held by import-linter.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harvest.cli import main
from harvest.studies.scores.scorecard import Material, score_material
from recordings.files.evidence import write_safely
from recordings.log.run_folder import read
from tests.support.checkout import ROOT
from tests.support.scoring_examples import conversation, grid_topics

PACKAGES = ("harvest", "protocols", "recordings", "scoring", "simulators", "topics")
SIMULATED = """\
format: harvest-audit/1
name: resumed
topics: fairweb-45
only: [M001, M002, R001]
protocol: open-ended
trials: 4
systems: [{name: A, driver: parrot, options: {profile: erratic}}]
"""
LOOKED_AT = """
import importlib, locale, os, pkgutil, random, signal, sys, warnings
import numpy, numpy.random
import rich.style  # draws a number for its links when it is imported
def seen():
    return (
        random.getstate(), repr(numpy.random.get_state()), numpy.geterr(), repr(numpy.get_printoptions()),
        locale.setlocale(locale.LC_ALL), os.getcwd(), dict(os.environ), signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM), sys.excepthook, sys.getrecursionlimit(),
    )
before = seen()
names = []
for package in sys.argv[1:]:
    module = importlib.import_module(package)
    names += [one.name for one in pkgutil.walk_packages(module.__path__, package + ".")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
assert len(names) > 200, len(names)
assert seen() == before
print("unchanged")
"""


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


def test_nothing_global_is_changed_at_import() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOOKED_AT, *PACKAGES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "unchanged\n", done.stderr


def test_no_init_holds_more_than_a_docstring() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("__init__.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            own = [node for node in tree.body if not isinstance(node, ast.Expr)]
            assert all(isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)) for node in own), path
            assert len(path.read_text(encoding="utf-8").splitlines()) < 40, path


def test_a_pooled_pass_rate_does_not_hide_the_topic_that_always_fails() -> None:
    played = [
        conversation(
            ("say", "reply"), labels="x" if topic == 9 else "o", topic=f"T{topic:02d}", system="A", trial=trial
        )
        for topic in range(1, 11)
        for trial in range(1, 6)
    ]
    topics = grid_topics(10)
    turns = {("A", topic.id): 1 for topic in topics.topics}
    keys = frozenset(one.key for one in played)
    held = Material(topics, ("A",), tuple(played), turns, keys, None, {}, (), ())
    rows = [row for row in score_material(held).rows if row.measure == "ave%useful" and row.trial is None]
    by_topic = {row.topic: row.value for row in rows}
    assert by_topic[None] == pytest.approx(0.9)
    assert by_topic["T09"] == 0
    assert min(value for topic, value in by_topic.items() if topic not in (None, "T09")) == 1


def test_a_resume_counts_nothing_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "audit.yaml").write_text(SIMULATED)
    audit = tmp_path / "audit.yaml"
    assert run("run", audit, "--out", tmp_path / "whole") == 0
    for trials in ("1", "3", "4", "4"):
        assert run("run", audit, "--out", tmp_path / "parts", "--trials", trials) == 0
    whole, parts = read(tmp_path / "whole"), read(tmp_path / "parts")
    assert len(parts.conversations) == len(whole.conversations) == 12
    said = [{one.key: [turn.said for turn in one.turns] for one in each.conversations} for each in (whole, parts)]
    assert said[0] == said[1]
    scores = [json.loads((tmp_path / name / "scores.json").read_text())["rows"] for name in ("whole", "parts")]
    assert scores[0] == scores[1]
    capsys.readouterr()


def test_nothing_is_unlinked_before_its_replacement_is_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "scores.json"
    write_safely(kept, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_safely(kept, b"new")
    assert kept.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]
