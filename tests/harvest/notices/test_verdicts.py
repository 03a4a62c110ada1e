"""Verdicts as bulletins: each says the same as the exit code, and nothing is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any, get_args

import pytest

from harvest.audits.scoring_section import Threshold
from harvest.notices.bulletin import Bulletin
from harvest.notices.verdicts import bounds_bulletin, played_notice, watch_bulletin
from harvest.studies.scores.bounds import CheckedBound
from harvest.studies.scores.bounds import Verdict as BoundVerdict
from harvest.studies.watch.baseline import BaselineFile, SystemBaseline
from harvest.studies.watch.harness import Harness
from harvest.studies.watch.history import Look, WatchRules
from harvest.studies.watch.watched import Watched, WatchedFigure, WatchedSystem
from scoring.inference.drift import Difference
from scoring.inference.settling import Settling
from scoring.inference.watched_audit import Verdict
from scoring.table import ScoreRow

BASELINE = BaselineFile(
    format="harvest-baseline/1",
    audit="weekly",
    blessed_at="2026-01-01",
    blessed_by="me",
    gated=("ave%useful",),
    runs=({}, {}, {}, {}),
    protocol="",
    topics={},
    scoring={},
    systems={},
)


def figure(verdict: Verdict, *, gated: bool = True, alarm: bool = False) -> WatchedFigure:
    moved = Difference(-0.1, -0.15, -0.05, -0.14, -0.06, 0.02, 0.01, False, 0.01)
    levels = (0.4, 0.1) if gated else (math.nan, math.nan)
    name = "ave%useful" if gated else "%useful S1"
    return WatchedFigure(name, gated, 0.5, 0.6, 90, moved, levels, verdict, alarm, Settling(4, 0.8, 96), math.nan, None)


def system(*figures: WatchedFigure, name: str = "mine", **other: Any) -> WatchedSystem:
    told = {"incomparable": "", "planned": 90, "valid": 90, "lost": (), "unasked": (), "coverage": False, **other}
    return WatchedSystem(name=name, figures=figures, **told)


def watched(*systems: WatchedSystem, shadow: bool = False) -> Watched:
    look = Look(at="2026-02-01T00:00:00Z", run="r", baseline="", systems={})
    return Watched(BASELINE, shadow, 1, WatchRules(), 0.95, systems, look)


def told(found: Watched, code: int, *, harness: Harness | None = None, strict: bool = False) -> Bulletin:
    return watch_bulletin(found, harness, audit="weekly", run="r", at=0.0, code=code, strict=strict)


@pytest.mark.parametrize(
    ("found", "code", "strict", "verdict", "codes"),
    [
        (watched(system(figure("changed"))), 1, False, "changed", [1, 0]),
        (watched(system(figure("changed")), shadow=True), 0, False, "changed (shadow)", [0, 0]),
        (watched(system(figure("same"))), 0, False, "same", [0, 0]),
        (watched(system(figure("cannot tell"))), 0, False, "cannot tell", [0, 0]),
        (watched(system(figure("cannot tell"))), 3, True, "cannot tell", [3, 0]),
        (watched(system(figure("same"), figure("changed", gated=False))), 0, True, "same", [0, 0, 0]),
        (watched(system(valid=0)), 3, False, "not measured", [3, 3]),
        (watched(system(figure("same"), incomparable="another protocol")), 3, False, "not measured", [3, 0]),
        (watched(system(figure("changed")), system(name="other", valid=0)), 1, False, "changed", [1, 0, 3, 3]),
        (watched(system(figure("same"), lost=("M001",))), 0, False, "cannot tell", [0, 0]),
        (watched(system(figure("same"), lost=("M001",))), 3, True, "cannot tell", [0, 3]),
    ],
)
def test_the_conclusions_of_a_watched_audit(
    found: Watched, code: int, strict: bool, verdict: str, codes: list[int]
) -> None:
    assert found.exit_code(strict=strict) == code
    bulletin = told(found, code, strict=strict)
    assert (bulletin.verdict, bulletin.code, bulletin.is_measured) == (verdict, code, code != 3)
    assert [one.code for account in bulletin.accounts for one in account.notices] == codes


def test_the_notices_are_as_bad_as_the_exit_code() -> None:
    systems = [
        system(*[figure(verdict)] * bool(valid), valid=valid, lost=lost, name=name)
        for name, (verdict, valid, lost) in zip(
            "abcdefghijkl", product(get_args(Verdict), (0, 90), ((), ("M001",))), strict=True
        )
    ]
    for one, other, shadow, strict in product(systems, systems, (False, True), (False, True)):
        found = watched(one, other, shadow=shadow)
        code = found.exit_code(strict=strict)
        bulletin = told(found, code, strict=strict)
        codes = {notice.code for account in bulletin.accounts for notice in account.notices}
        assert code in codes or code == 0
        assert (code == 0) == (codes == {0})


def test_a_figure_comes_with_all_its_numbers() -> None:
    (account,) = told(watched(system(figure("changed"), figure("changed", gated=False))), 1).accounts
    gated, shown, coverage = account.notices
    assert (gated.now.value, gated.before, gated.n) == (0.5, 0.6, 90)
    assert (gated.moved.value, gated.moved.low, gated.moved.high) == (-0.1, -0.15, -0.05)
    assert gated.sentence == "ave%useful changed by -10.0 points [-15.0, -5.0] since the baseline (60.0%)"
    assert (shown.decides, gated.decides, coverage.decides) == (False, True, True)
    assert (coverage.verdict, coverage.now.value, coverage.n) == ("same", 1.0, 90)


@pytest.mark.parametrize(
    ("value", "low", "high", "word", "said"),
    [
        (-0.134, -0.186, -0.082, "fell", "fell by 13.4 points [-18.6, -8.2]"),
        (0.134, 0.082, 0.186, "rose", "rose by 13.4 points [+8.2, +18.6]"),
        (-0.053, -0.074, -0.032, "fell", "fell by 5.3 points [-7.4, -3.2]"),
    ],
)
def test_a_fall_beyond_the_margin_is_reported_and_changes_no_exit_code(
    value: float, low: float, high: float, word: str, said: str
) -> None:
    moved = Difference(value, low, high, low, high, 0.02, 0.01, False, 0.01)
    found = watched(system(replace(figure("cannot tell"), difference=moved, levels=(0.62, 0.0))))
    (account,) = told(found, found.exit_code(strict=False)).accounts
    notice = account.notices[0]
    assert (found.exit_code(strict=False), notice.code, notice.verdict, notice.printed_verdict) == (
        0,
        0,
        "cannot tell",
        word,
    )
    assert notice.sentence == f"ave%useful {said}; one audit is not enough for an alarm (evidence 62%)"
    assert "cannot tell" not in account.sentence


def test_coverage_is_compared_with_that_of_the_baseline() -> None:
    blessed = SystemBaseline(identity="", planned=360, valid=342, figures={}, ways={})
    known = BASELINE.model_copy(update={"systems": {"mine": blessed}})
    with_systems = replace(watched(system(figure("same"), valid=45)), baseline=known)
    (account,) = told(with_systems, 0).accounts
    coverage = account.notices[-1]
    assert coverage.before == pytest.approx(0.95)
    assert coverage.moved.value == pytest.approx(-0.45)


def test_an_alarm_waits_until_it_is_confirmed() -> None:
    for verdict, raised, waits in (("cannot tell", True, True), ("changed", True, False), ("same", False, False)):
        (account,) = told(watched(system(figure(verdict, alarm=raised))), 0).accounts  # type: ignore[arg-type]
        assert account.notices[0].alarm == waits


def test_fewer_valid_trials_are_reported_separately_and_are_not_a_quality_change() -> None:
    found = watched(system(figure("same"), valid=45, lost=("M001",), coverage=True))
    (account,) = told(found, 0).accounts
    same, coverage = account.notices
    assert (same.verdict, coverage.verdict, coverage.code) == ("same", "changed", 0)
    assert coverage.sentence == "45 of 90 trials valid; no valid trial of 1 topic of the baseline"
    assert "mine: no valid trial of M001" in account.details


def test_an_unsound_harness_claims_nothing_about_the_systems() -> None:
    faults = Harness(20, {"an answer was cut": (2, "page, M001 trial 1")})
    bulletin = told(watched(system(figure("changed"))), 3, harness=faults)
    assert (bulletin.verdict, bulletin.code) == ("not measured", 3)
    (account,) = bulletin.accounts
    assert account.system == "harness"
    assert account.details == ("an answer was cut: 2 times of 20 turns, first in page, M001 trial 1",)
    assert told(watched(system(figure("same"))), 0, harness=Harness(20, {})).verdict == "same"


ROW = ScoreRow("R", "mine", None, None, None, 0.4, 30, low=0.3, high=0.5)


def checked(verdict: BoundVerdict, row: ScoreRow | None = ROW) -> CheckedBound:
    return CheckedBound(Threshold(measure="R", at_least=0.45), row, verdict)


@pytest.mark.parametrize(
    ("found", "code", "strict", "verdict"),
    [
        ([checked("kept"), checked("kept")], 0, False, "kept"),
        ([checked("kept"), checked("cannot tell")], 0, False, "cannot tell"),
        ([checked("kept"), checked("cannot tell")], 3, True, "cannot tell"),
        ([checked("missed"), checked("not measured", None)], 1, False, "missed"),
        ([checked("kept"), checked("not measured", None)], 3, False, "not measured"),
    ],
)
def test_the_conclusions_of_thresholds(found: list[CheckedBound], code: int, strict: bool, verdict: str) -> None:
    bulletin = bounds_bulletin(found, audit="weekly", run="r", at=0.0, code=code, strict=strict)
    assert (bulletin.command, bulletin.verdict, bulletin.code) == ("score", verdict, code)
    codes = {one.code for account in bulletin.accounts for one in account.notices}
    verdicts = [one.verdict for account in bulletin.accounts for one in account.notices if one.decides]
    assert (1 in codes, 3 in codes) == (code == 1, "not measured" in verdicts or strict)
    assert len(verdicts) == len(found)


def test_a_played_run_also_reports_its_trials() -> None:
    lost = played_notice(80, 90, enough=False)
    bulletin = bounds_bulletin([checked("missed")], audit="a", run="r", at=0.0, code=3, strict=False, played=lost)
    assert (bulletin.command, bulletin.verdict) == ("run", "not measured")
    assert bulletin.accounts[0].sentence == "all trials: 80 of 90 trials valid"
    bare = bounds_bulletin([], audit="a", run="r", at=0.0, code=0, strict=False, played=replace(lost, verdict="kept"))
    assert bare.verdict == "kept"
    assert math.isnan(played_notice(0, 0, enough=True).now.value)
