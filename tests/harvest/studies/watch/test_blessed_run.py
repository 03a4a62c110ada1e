"""A blessed run is found again where runs are kept, and nothing else is taken for it; which two conversations part."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvest.studies.watch.baseline import BaselineFile, read_baseline
from harvest.studies.watch.blessed_run import BeforeAndNow, find_blessed_run
from harvest.studies.watch.changes import ChangedTopic, Stretch, changed_turns
from harvest.studies.watch.watched import WatchedSystem
from harvest.studies.watch.ways import ways
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.watched_bot import becomes, bless, watch


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = bless(watch(tmp_path_factory.mktemp("blessed")), "runs/a", "b")
    becomes(folder, useful=20)
    assert harvest("run", "audit.yaml", "--out", "runs/watched/later", cwd=folder).returncode == 0
    return folder


def baseline(folder: Path, **change: Any) -> BaselineFile:
    known = read_baseline(folder / "audit.baseline.json")
    return known.model_copy(update={"runs": tuple({**one, **change} for one in known.runs)})


def test_the_latest_blessed_run_is_found_beside_the_baseline_or_among_runs(played: Path) -> None:
    later = played / "runs" / "watched" / "later"
    known = baseline(played)
    assert find_blessed_run(known, played, later) == played / "b"
    assert find_blessed_run(known, played, played / "b") == played / "runs" / "a", "a run is not compared with itself"
    assert find_blessed_run(known, played / "nowhere", later) == played / "runs" / "a", "next to the run"
    assert find_blessed_run(known, played / "nowhere", Path("/nowhere/at/all")) is None


def test_another_run_of_the_name_and_a_name_that_leads_out_are_not_taken(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "runs" / "watched" / "later", tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.json").write_text("{")
    assert find_blessed_run(baseline(played), tmp_path, tmp_path / "x" / "y" / "z") is None
    for name in ("../b", str(played / "b"), "", "."):
        assert find_blessed_run(baseline(played, run=name), played / "runs", tmp_path / "x" / "y" / "z") is None


def conversations(run: Path) -> list[Conversation]:
    return list(read(run).finished)


def test_a_pair_parts_at_the_turn_and_on_the_topic_that_changed(played: Path) -> None:
    before, now = conversations(played / "b"), conversations(played / "runs" / "watched" / "later")
    both = BeforeAndNow(now, before)
    known = read_baseline(played / "audit.baseline.json").systems["bot"]
    turns = list(changed_turns(known.counted(), ways(now), 0.95, 0))
    assert turns
    labels = {
        (place, one.key.topic, one.key.trial): [turn.label for turn in one.turns]
        for place, side in enumerate((now, before))
        for one in side
    }
    for turn in turns:
        pair = both.at_turn(turn)
        assert pair is not None
        depth = sum(speaker == "system" for speaker, _ in turn.way)
        mine, other = labels[0, pair.topic, pair.now], labels[1, pair.topic, pair.before]
        assert mine[: depth - 1] == other[: depth - 1]
        assert mine[depth - 1 : depth] != other[depth - 1 : depth]
    pair = both.at_topic(ChangedTopic("M003", 1.0, 0.0, (6, 6), -1.0, -1.0, -0.5))
    assert pair is not None
    assert (labels[0, "M003", pair.now][0], labels[1, "M003", pair.before][0]) == ("x", "o")
    system = WatchedSystem("bot", "", 48, 48, (), (), False)
    assert both.first_pair(replace(system, turns=tuple(turns))) == both.at_turn(turns[0])
    # No turn and no topic stands out: the topic that fell most, and an answer of now that is of the worse kind.
    each = (ChangedTopic("M002", 0.0, 1.0, (6, 6), 1.0, 0.5, 1.0), ChangedTopic("M004", 1.0, 0.2, (6, 6), -0.8, -1, 0))
    fell = replace(system, stretch=Stretch("ave%useful", each=tuple(replace(one, stands_out=False) for one in each)))
    rose = replace(fell, stretch=replace(fell.stretch, each=each[:1]))
    fell = replace(fell, stretch=replace(fell.stretch, each=(*fell.stretch.each, replace(each[1], topic="M005"))))
    pair = both.first_pair(fell)
    assert pair is not None
    assert pair.topic in ("M004", "M005")
    assert "x" in labels[0, pair.topic, pair.now]
    topic, trial = both.first_now(fell) or ("", 0)
    assert (topic, "x" in labels[0, topic, trial]) == ("M005", True), "the topics that stand out come first"
    assert both.first_now(rose) == ("M002", next(n for n in range(1, 7) if "o" in labels[0, "M002", n]))
    against = replace(turns[0], portion=turns[0].portion[::-1])
    assert both.first_pair(replace(fell, turns=(against,))) == both.first_pair(fell), "a turn that goes the other way"


def test_without_conversations_there_is_no_pair(played: Path) -> None:
    system = WatchedSystem("bot", "", 48, 48, (), (), False)
    now = conversations(played / "b")
    assert BeforeAndNow(now, ()).first_pair(system) is None
    assert BeforeAndNow((), now).first_pair(system) is None
