"""What a history comes to: the state of a watch is read off its lines, and lines from before states were count, too."""

import json
from pathlib import Path

import pytest

from harvest.studies.baseline import read_baseline
from harvest.studies.watch_history import (
    Look,
    LookFigure,
    LookSystem,
    alarm_waits,
    own_look,
    read_history,
    state_after,
    write_history,
)
from recordings.times import moment
from scoring.inference.drift import SAME_BUDGET, SAME_SHARE
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import JudgingRules

KEPT = Path(__file__).parents[2] / "data" / "watched"
"""Eight audits that an earlier version judged: as blessed, four at 60% instead of 90%, and three after the repair. It
called the seventh *changed* anew, and left an alarm at the sixth and the eighth."""

RULES = JudgingRules(0.03)


def looks() -> tuple[Look, ...]:
    return read_history(KEPT / "before_states.history.jsonl")


def state(of: tuple[Look, ...]) -> WatchState:
    known = read_baseline(KEPT / "before_states.baseline.json").systems["bot"].figures["ave%useful"]
    return state_after(of, "bot", "ave%useful", known.of(list(known.topics)), RULES)


def test_lines_of_an_earlier_version_are_read_and_come_to_states() -> None:
    every = looks()
    assert [one.systems["bot"].figures["ave%useful"].verdict for one in every] == [
        *("cannot tell", "cannot tell"),
        *["changed"] * 3,
        *("cannot tell", "changed", "cannot tell"),
    ]
    assert [state(every[:count]).name for count in range(9)] == [
        *("watching", "watching", "alarm"),
        *["changed"] * 3,
        *("changed", "changed", "perhaps back"),
    ]
    changed = state(every[:5])
    assert (changed.since, changed.confirmed) == (moment(every[1].at), moment(every[2].at))
    assert changed.change == pytest.approx(-0.305, abs=0.01)
    assert changed.levels == (0.0, 0.0), "what it went on collecting against the baseline is closed"


def test_a_history_that_was_read_is_written_so_that_it_reads_alike(tmp_path: Path) -> None:
    write_history(tmp_path / "again.jsonl", looks())
    assert read_history(tmp_path / "again.jsonl") == looks()
    (first, *_) = (tmp_path / "again.jsonl").read_text().splitlines()
    assert json.loads(first)["format"] == "harvest-history/1"


def figure(n: int = 40, **of: object) -> LookFigure:
    return LookFigure.model_validate({"value": 0.9, "n": n, "low": -0.1, "high": 0.1, "verdict": "cannot tell", **of})


def look(one: LookFigure) -> Look:
    system = LookSystem(planned=40, valid=40, figures={"ave%useful": one})
    return Look(at="2026-01-01T00:00:00Z", run="r", baseline="b", systems={"bot": system})


@pytest.mark.parametrize(
    ("one", "waits"),
    [
        (figure(alarm=True), True),
        (figure(alarm=True, verdict="changed"), False),
        (figure(alarm=True, verdict="changed", waits=True), True),
        (figure(alarm=False, waits=False), False),
    ],
)
def test_an_alarm_waits_also_for_a_second_change(one: LookFigure, waits: bool) -> None:
    assert alarm_waits([look(one)]) == waits


def test_looks_at_one_run_share_the_chance_of_a_wrong_same() -> None:
    once = figure(left=SAME_BUDGET, spent=0.035)
    assert once.left_for(40) == SAME_BUDGET, "judged again with the same trials it is the same look"
    assert once.left_for(80) == pytest.approx(0.015)
    assert figure().left_for(80) == pytest.approx((1 - SAME_SHARE) * SAME_BUDGET), "of an earlier version"
    assert own_look([look(once)], "b", "2026-01-01T00:00:00Z") == look(once)
    assert own_look([look(once)], "b", "2026-01-02T00:00:00Z") is None


def test_without_enough_runs_the_line_holds_the_interval_of_these_runs(tmp_path: Path) -> None:
    few = figure(low=None, high=None, these=(-0.3, -0.1), own=0.01, confirms=(True, False))
    assert few.shown == (-0.3, -0.1)
    assert figure(low=None, high=None).shown is None
    write_history(tmp_path / "few.jsonl", (look(few),))
    assert read_history(tmp_path / "few.jsonl") == (look(few),)
