"""Sentences on a watched figure: each is made from the state and from this audit's own interval."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harvest.studies.scores.gathered import score_runs
from harvest.studies.watch.baseline import make_baseline
from harvest.studies.watch.document import watch_rows
from harvest.studies.watch.figures import watch_tables
from harvest.studies.watch.watch import watch
from harvest.studies.watch.watched import Watched, WatchedFigure
from harvest.studies.watch.words import figure_sentence, topic_change_words
from recordings.log.run_folder import read
from scoring.inference.drift import Difference
from scoring.inference.settling import Settling
from scoring.inference.watch_state import AuditResult, WatchState
from scoring.inference.watched_audit import Judged
from tests.harvest.notices.test_verdicts import figure, system, watched
from tests.harvest.studies.runs.test_side_by_side import made

DAY = 86400.0
START = 1_767_830_400.0  # 2026-01-08
CHANGED = WatchState(name="changed", since=START, confirmed=START + 7 * DAY, times=1, audits=((-0.171, 0.001),))


def moved(value: float, low: float, high: float) -> Difference:
    return Difference(value, low, high, low, high, 0.02, 0.01, False, 0.01)


def sentence(found: Difference, state: WatchState, before: WatchState | None = None, **of: Any) -> str:
    seen = AuditResult(START, found.value, *found.printed_ends, 0.001, None)
    judged = Judged(found, seen, before or state, state, (-0.15, -0.2, -0.1, 3))
    one = replace(figure(judged.verdict), difference=found, judged=judged, alarm=state.awaits_confirmation, **of)
    return figure_sentence(one, watched(system(one)))


def test_a_change_is_reported_with_its_interval_and_its_date() -> None:
    assert sentence(moved(-0.152, -0.21, -0.09), CHANGED) == (
        "ave%useful changed by -15.2 points [-21.0, -9.0] since the baseline (60.0%); "
        "alarm of 2026-01-08 00:00, confirmed 2026-01-15 00:00"
    )
    second = replace(CHANGED, times=2, raised=START)
    said = sentence(moved(-0.4, -0.5, -0.3), second)
    waits = "to be confirmed by an audit from 2026-01-08 01:00 UTC on"
    assert said.endswith(f"second change; alarm for a change further away, {waits}")


def test_a_change_based_on_several_audits_has_their_interval() -> None:
    said = sentence(moved(-0.06, -0.13, 0.01), CHANGED, WatchState(name="alarm"))
    assert said.startswith(
        "ave%useful changed by -15.0 points [-20.0, -10.0] over 3 audits, this one by itself "
        "-6.0 points [-13.0, +1.0], since the baseline"
    )


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            replace(CHANGED, stretch=((-0.02, 0.001),)),
            "ave%useful: cannot tell whether it is back at the baseline (-2.0 points [-7.2, +3.2]); it had changed by ",
        ),
        (
            replace(CHANGED, name="perhaps back", is_near=True, near=START, stretch=((-0.02, 0.001),)),
            "ave%useful is perhaps back near the baseline (-2.0 points [-7.2, +3.2]), to be confirmed by an audit from "
            "2026-01-08 01:00 UTC on; it had changed by ",
        ),
        (
            WatchState(back=START + 21 * DAY, ended=START),
            "ave%useful is back near the baseline (-2.0 points [-7.2, +3.2]); it had changed from 2026-01-08 00:00 to "
            "2026-01-29 00:00, confirmed; the watch begins again, with evidence at zero and the whole budget of false ",
        ),
    ],
)
def test_after_a_repair_the_change_is_past(state: WatchState, said: str) -> None:
    found = sentence(moved(-0.02, -0.072, 0.032), state, CHANGED)
    assert found.startswith(said)
    assert "alarm (" not in found
    assert "-17.1 points (alarm of 2026-01-08 00:00, confirmed 2026-01-15 00:00)" in found or "from 2026" in found


def test_the_size_of_a_past_change_names_the_audits_it_is_the_mean_of() -> None:
    state = replace(CHANGED, audits=((-0.2, 0.001), (-0.1, 0.001)), stretch=((-0.02, 0.001),))
    found = sentence(moved(-0.02, -0.072, 0.032), state, CHANGED)
    assert "it had changed by -15.0 points, the mean of the 2 audits from its alarm on (alarm of " in found


def test_audits_that_are_near_the_baseline_only_together_have_their_interval() -> None:
    state = WatchState(back=START + 21 * DAY, ended=START, joined=(-0.041, -0.098, 0.016, 2))
    said = sentence(moved(-0.096, -0.225, 0.032), state, CHANGED)
    assert said.startswith(
        "ave%useful is back near the baseline (-9.6 points [-22.5, +3.2]; the last 2 audits together: -4.1 points "
        "[-9.8, +1.6]); it had changed from "
    )
    alone = sentence(moved(-0.02, -0.072, 0.032), replace(state, joined=(-0.02, -0.072, 0.032, 1)), CHANGED)
    assert "together" not in alone


def test_a_figure_beyond_the_baseline_is_not_called_near_it() -> None:
    state = replace(CHANGED, name="perhaps back", is_near=True, near=START, stretch=((0.083, 0.001),))
    above = sentence(moved(0.083, 0.039, 0.128), state, CHANGED)
    assert above.startswith(
        "ave%useful is perhaps no longer below the baseline, but above it (+8.3 points [+3.9, +12.8])"
    )
    back = WatchState(back=START + 21 * DAY, ended=START, joined=(0.06, 0.019, 0.101, 2))
    assert "is back near the baseline (+3.6 points" in sentence(moved(0.036, -0.015, 0.088), back, CHANGED)
    beyond = replace(back, joined=(-0.09, -0.12, -0.06, 2))
    assert "is no longer above the baseline, but below it (" in sentence(moved(-0.05, -0.09, -0.01), beyond, CHANGED)


def test_an_alarm_says_whether_this_audit_shows_it() -> None:
    alarm = WatchState(name="alarm", raised=START)
    shown = sentence(moved(-0.182, -0.25, -0.11), alarm, levels=(1.1, 0.0))
    confirmed = "to be confirmed by an audit from 2026-01-08 01:00 UTC on"
    assert shown == f"ave%useful: alarm (fell by 18.2 points [-25.0, -11.0]), {confirmed}"
    held = sentence(moved(-0.02, -0.072, 0.032), alarm, levels=(1.1, 0.0))
    assert held == (
        f"ave%useful: alarm over the audits until now (evidence 110%), {confirmed}; this audit by itself does not "
        "show it (-2.0 points [-7.2, +3.2])"
    )


def test_an_alarm_says_from_when_it_can_be_confirmed_and_which_audit_was_too_soon() -> None:
    def said(raised: float, apart: float = 3600.0) -> str:
        state, fell = WatchState(name="alarm", raised=raised), moved(-0.182, -0.25, -0.11)
        judged = Judged(
            fell, AuditResult(START, -0.18, -0.25, -0.11, 0.001, None), state, state, (-0.15, -0.2, -0.1, 3)
        )
        one = replace(figure("cannot tell"), difference=fell, judged=judged, alarm=True)
        found = watched(system(one))
        noted = found.noted.model_copy(update={"at": "2026-01-08T00:00:00Z"})
        rules = found.rules.model_copy(update={"apart": apart})
        return figure_sentence(one, replace(found, noted=noted, rules=rules)).partition("), to be ")[2]

    assert said(START + 20.0) == "confirmed by an audit from 2026-01-08 01:01 UTC on", "a minute too early is too soon"
    assert said(START - 720.0) == (
        "confirmed by an audit from 2026-01-08 00:48 UTC on (this one is too soon after that of 2026-01-07 23:48)"
    )
    assert said(START - 7200.0) == "confirmed by an audit from 2026-01-07 23:00 UTC on"
    assert said(START, apart=0.0) == "confirmed by another audit"


def test_a_fall_beyond_the_margin_is_named_and_so_is_one_of_only_these_runs() -> None:
    fell = sentence(moved(-0.134, -0.186, -0.082), WatchState(), levels=(0.62, 0.0))
    assert fell == ("ave%useful fell by 13.4 points [-18.6, -8.2]; one audit is not enough for an alarm (evidence 62%)")
    nan = float("nan")
    few = Difference(-0.134, nan, nan, nan, nan, 0.02, nan, False, nan, -0.186, -0.082, note="one blessed run")
    assert sentence(few, WatchState(), levels=(0.62, 0.0)).startswith(
        "ave%useful fell by 13.4 points [-18.6, -8.2] between these runs; one audit"
    )


def test_two_audits_that_fell_are_not_called_one() -> None:
    found, state = moved(-0.133, -0.2, -0.066), WatchState(raised=float("nan"))
    seen = AuditResult(START, found.value, *found.printed_ends, 0.001, None)
    judged = Judged(found, seen, state, state, (-0.133, -0.2, -0.066, 1), (-0.12, -0.168, -0.072, 2))
    one = replace(figure("cannot tell"), difference=found, judged=judged, alarm=False, levels=(0.85, 0.0))
    assert figure_sentence(one, watched(system(one))) == (
        "ave%useful fell by 13.3 points [-20.0, -6.6]; the last 2 audits together: -12.0 points [-16.8, -7.2], not "
        "enough for an alarm (evidence 85%)"
    )


@pytest.mark.parametrize(
    ("value", "raised", "word", "said"),
    [
        (
            -0.001,
            START + 14 * DAY,
            "cannot tell",
            "ave%useful: the alarm of 2026-01-22 00:00 was not confirmed: this audit is near the baseline (-0.1 points "
            "[-6.8, +6.6]); between 2026-01-08 00:00 and now it may have fallen and recovered (the last 4 audits "
            "together: -10.1 points [-15.0, -5.2], evidence 97%)",
        ),
        (
            0.04,
            float("nan"),
            "cannot tell",
            "ave%useful: this audit is near the baseline (+4.0 points [-2.7, +10.7]); between 2026-01-08 00:00 and now "
            "it may have fallen and recovered (the last 4 audits together: -10.1 points [-15.0, -5.2], evidence 97%)",
        ),
        (
            -0.05,
            START + 14 * DAY,
            "fell",
            "ave%useful fell by 10.1 points [-15.0, -5.2] over the last 4 audits, this one ",
        ),
    ],
)
def test_an_audit_near_the_baseline_is_not_called_a_fall_because_of_earlier_audits(
    value: float, raised: float, word: str, said: str
) -> None:
    found = moved(value, value - 0.067, value + 0.067)
    before = WatchState(name="alarm", raised=raised)
    seen = AuditResult(START + 21 * DAY, value, *found.printed_ends, 0.001, None)
    after = replace(before, name="watching", began=START)
    judged = Judged(found, seen, before, after, (value, 0, 0, 1), (-0.101, -0.15, -0.052, 4))
    one = replace(figure("cannot tell"), difference=found, judged=judged, alarm=False, levels=(0.97, 0.0))
    assert one.word == word
    assert figure_sentence(one, watched(system(one)), settling=False).startswith(said)


def test_an_alarm_whose_evidence_is_gone_is_called_unconfirmed() -> None:
    found, before = moved(0.02, -0.047, 0.087), WatchState(name="alarm", raised=START)
    said = sentence(found, WatchState(), before)
    assert "cannot tell" not in said
    assert said == (
        "ave%useful: the alarm of 2026-01-08 00:00 was not confirmed: this audit is near the baseline (+2.0 points "
        "[-4.7, +8.7])"
    )


def test_a_fall_that_several_audits_show_together_is_named_with_their_interval() -> None:
    found, state = moved(-0.12, -0.25, 0.01), WatchState()
    seen = AuditResult(START, found.value, *found.printed_ends, 0.001, None)

    def said(*gathered: float, found: Difference = found) -> tuple[str, str]:
        judged = Judged(found, seen, state, state, (-0.12, -0.25, 0.01, 1), (*gathered[:3], 4))  # type: ignore[arg-type]
        one = replace(figure("cannot tell"), difference=found, judged=judged, alarm=False, levels=(0.51, 0.0))
        return one.word, figure_sentence(one, watched(system(one)), settling=False)

    assert said(-0.148, -0.244, -0.052) == (
        "fell",
        "ave%useful fell by 14.8 points [-24.4, -5.2] over the last 4 audits, this one by itself -12.0 points [-25.0, "
        "+1.0], which is not enough for an alarm (evidence 51%)",
    )
    assert said(-0.1, -0.19, -0.01) == (
        "cannot tell",
        "ave%useful: cannot tell whether it changed (-12.0 points [-25.0, +1.0]; the last 4 audits together: -10.0 "
        "points [-19.0, -1.0], evidence 51%)",
    )
    assert said(0.15, 0.05, 0.25, found=moved(0.12, -0.01, 0.25))[1].startswith(
        "ave%useful rose by 15.0 points [+5.0, +25.0] over the last 4 audits"
    )
    assert "together" not in said(-0.1, -0.21, 0.01)[1]


def test_a_system_that_is_back_since_a_date_is_called_so_later_too() -> None:
    later = sentence(
        moved(-0.02, -0.072, 0.032), WatchState(back=START, ended=START - DAY), settles=Settling(0, 0.4, 96, "edge")
    )
    assert later.startswith("ave%useful: cannot tell whether it changed (-2.0 points [-7.2, +3.2]; ")
    assert later.endswith("; back near the baseline since 2026-01-08 00:00")


@pytest.mark.parametrize(
    ("ends", "question"),
    [
        ((0.059, 0.02, 0.097), "changed by more than the 3 points that matter (+5.9 points [+2.0, +9.7]"),
        ((-0.059, -0.097, -0.02), "changed by more than the 3 points that matter (-5.9 points [-9.7, -2.0]"),
        ((0.059, -0.001, 0.119), "changed (+5.9 points [-0.1, +11.9]"),
    ],
)
def test_an_undecided_question_does_not_contradict_the_interval(
    ends: tuple[float, float, float], question: str
) -> None:
    said = sentence(moved(*ends), WatchState(), settles=Settling(0, 0.4, 96, "edge"))
    assert said.startswith(f"ave%useful: cannot tell whether it {question}")


@pytest.mark.parametrize("hindrance", ["", "edge"])
def test_runs_of_a_system_that_seems_to_have_changed_are_not_to_be_blessed(hindrance: Any) -> None:
    hardly = Settling(0, 0.4, 96, hindrance)
    for value, low, high in ((-0.126, -0.246, -0.006), (0.126, 0.006, 0.246)):
        said = sentence(moved(value, low, high), WatchState(), settles=hardly)
        assert "play the audit again" in said
        assert "bless" not in said
        assert "--matters" not in said
    assert "--matters" in sentence(moved(-0.126, -0.246, 0.006), WatchState(), settles=hardly)


def test_a_difference_that_rounds_to_nothing_has_no_minus() -> None:
    said = sentence(moved(-0.0004, -0.05, 0.05), WatchState(), settles=Settling(4, 0.8, 96))
    assert "(0.0 points [-5.0, +5.0]; 4 more trials of each topic" in said


def compared(folder: Path, before: dict[str, str], now: dict[str, str]) -> tuple[Watched, dict[str, WatchedFigure]]:
    runs = [read(made(folder / f"base-{number}", before, trials=3)) for number in range(4)]
    found = watch(read(made(folder / "now", now, trials=3)), make_baseline(runs, measures=(), by="me", at="2026-01-01"))
    (one,) = found.systems
    return found, {figure.name: figure for figure in one.figures}


def test_a_figure_of_topics_with_a_value_on_both_sides_also_gives_the_value_over_all(tmp_path: Path) -> None:
    found, figures = compared(tmp_path, {"T1": "oo", "T2": "o", "T3": "ox"}, {"T1": "ox", "T2": "oo", "T3": "oo"})
    one = figures["%useful S2"]
    assert one.over is not None
    assert (one.n, one.over.topics, one.over.now, one.over.n, one.over.blessed) == (6, 2, 3, 9, 2)
    assert topic_change_words(one) == (
        "%useful S2 is compared over 2 topics with a value both now and in every blessed run; over all 3 with one "
        "now it is 66.7% (n 9), at the baseline, over all its 2, 50.0%"
    )
    scored = score_runs(tmp_path / "now")
    (row,) = [
        row for row in scored.joint if (row.measure, row.turn, row.topic_type) == ("%useful", 2, None) and row.system
    ]
    assert row.value == pytest.approx(one.over.value), "that is the figure of harvest score"
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(*watch_tables(found))
    printed = console.export_text()
    assert "6 of 9" in printed
    assert "%useful S2 is compared over 2 topics" in printed
    rows = {row.figure: row for row in watch_rows(found, "now") if (row.measure, row.turn) == ("%useful", 2)}
    assert (rows["now"].topics, rows["now over all topics"].n) == (2, 9)
    assert rows["now over all topics"].estimate == pytest.approx(2 / 3)


def test_if_all_topics_have_a_value_nothing_is_added(tmp_path: Path) -> None:
    _, figures = compared(tmp_path, {"T1": "oo", "T2": "ox"}, {"T1": "ox", "T2": "oo"})
    assert {one.over for one in figures.values()} == {None}
    assert {topic_change_words(one) for one in figures.values()} == {""}
