"""What a report says first of a run that is held against a baseline: changed, an alarm, the same, or it cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvest.report.finding import Finding
from harvest.report.opening import bars_of_watch
from harvest.report.watch_finding import watch_finding
from harvest.report.watched import watched_blocks
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material
from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.changes import ChangedTopic, ChangedTurn, Stretch
from harvest.studies.watch.watch import watch
from harvest.studies.watch.watched import Watched, WatchedSystem
from recordings.log.run_folder import read
from scoring.inference.drift import Difference
from scoring.inference.settling import Settling
from scoring.inference.watch_state import WatchState
from tests.support.command_line import harvest
from tests.support.reported import small_run

Story = tuple[Watched, Material, Path]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("watched")
    run = small_run(folder, "  - {name: A, driver: parrot}\n")
    assert harvest("watch", "bless", run, "--out", folder / "baseline.json", "--by", "me").returncode == 0
    recorded = read(run)
    return watch(recorded, read_baseline(folder / "baseline.json")), gather_runs(recorded).material, run


def said(story: Story, change: Callable[[WatchedSystem], WatchedSystem]) -> tuple[Finding, Watched]:
    found, material, run = story
    changed = replace(found, systems=tuple(change(one) for one in found.systems))
    return watch_finding(changed, material, run), changed


def gated(**of: Any) -> Callable[[WatchedSystem], WatchedSystem]:
    """The system with its gated figures as given."""
    return lambda system: replace(
        system, figures=tuple(replace(one, **of) if one.gated else one for one in system.figures)
    )


def test_a_change_is_said_with_the_figures_the_difference_and_what_to_read(story: Story) -> None:
    topic = ChangedTopic("M001", 0.833, 0.167, (24, 6), -0.667, -0.9, -0.2)
    stretch = Stretch("ave%useful", 3, "1970-01-01T00:00:00.000Z", 0, 2, 0, 8, (topic,))
    turn = ChangedTurn(("U ask",), "S o", (0.9, 0.3), (24, 18), 0.01)
    fell = Difference(-0.6, -0.7, -0.5, -0.7, -0.5, 0.05, 0.0, False, 0.001)
    figures = gated(verdict="changed", alarm=True, difference=fell)
    found, changed = said(story, lambda one: replace(figures(one), stretch=stretch, turns=(turn,)))
    assert found.verdict == "changed"
    assert found.found.startswith("A has fallen since the baseline: it answered usefully in ")
    assert "% of turns, at the baseline in " in found.found
    assert "points [" in found.found
    assert "interval for these topics" in found.scope
    assert "look 1 at a baseline of 1 run" in found.scope
    assert found.drives.startswith(
        "Over the 3 audits since 1970-01-01 00:00, ave%useful fell on 2 of 8 topics by more than chance explains: M001 "
        "-66.7 points [-90.0, -20.0] (from 83.3% to 16.7%)."
    )
    assert "Conversations part at answer 1: useful in 30% over these 3 audits, before in 90%." in found.drives
    assert found.command.endswith("--system A --topic M001")
    assert found.link == "#system=A&topic=M001"
    topics, turns = (part["table"]["rows"] for part in watched_blocks(changed) if "table" in part)
    assert topics == [["M001", "83.3%", "16.7%", "-66.7 [-90.0, -20.0]", {"text": "read them", "href": found.link}]]
    assert turns == [["answer 1: useful", "30% of 18", "90% of 24", ".010"]]
    rose, _ = said(story, gated(verdict="changed", difference=replace(fell, value=0.6)))
    assert rose.found.startswith("A has risen since the baseline: ")


def test_a_fall_alike_on_all_topics_is_said_as_one_with_the_largest_and_their_intervals(story: Story) -> None:
    each = [
        ChangedTopic(f"M{n:03}", 0.9, 0.9 - drop, (24, 12), -drop, -drop - 0.3, -drop + 0.3, False)
        for n, drop in enumerate((0.5, 0.4, 0.2, 0.1, -0.1))
    ]
    stretch = Stretch("ave%useful", 2, "1970-01-01T00:00:00.000Z", 0, 2, 0, 5, tuple(each))
    turn = ChangedTurn(("U ask",), "S o", (0.9, 0.3), (24, 18), 0.01)
    fell = Difference(-0.6, -0.7, -0.5, -0.7, -0.5, 0.05, 0.0, False, 0.001)
    figures = gated(verdict="cannot tell", alarm=True, difference=fell)
    found, changed = said(story, lambda one: replace(figures(one), stretch=stretch, turns=(turn,)))
    assert found.drives.startswith(
        "Over the 2 audits since 1970-01-01 00:00, ave%useful is lower on 4 of 5 topics, on 2 of them by more than "
        "chance explains; none stands out from the others, the largest being M000 -50.0 points [-80.0, -20.0] (from "
        "90.0% to 40.0%), M001 -40.0 points [-70.0, -10.0] (from 90.0% to 50.0%)."
    )
    assert "useful in 30% over these 2 audits, before in 90%" in found.drives, "this audit's share is another one"
    assert found.command == "harvest watch run AUDIT"
    assert found.link == "#system=A&topic=M000"
    topics, turns = (part["table"] for part in watched_blocks(changed) if "table" in part)
    assert [row[0] for row in topics["rows"]] == ["M000", "M001"]
    assert topics["head"][2] == "in 2 audits"
    assert turns["head"][1] == "share in 2 audits"
    few, _ = said(story, lambda one: replace(figures(one), stretch=replace(stretch, fell=0, each=tuple(each[2:]))))
    assert ", ave%useful is lower on 2 of 5 topics, on none by more than chance explains; none stands out" in few.drives


def test_no_cell_of_a_verdict_is_empty(story: Story) -> None:
    (plot,) = (part["forest"] for part in watched_blocks(story[0]) if "forest" in part)
    assert plot["head"][-1] == "verdict"
    assert {bar["more"][-1] for bar in plot["bars"][1:]} == {"shown only"}
    assert all(bar["more"][-1] for bar in plot["bars"])


def test_an_alarm_asks_for_another_audit(story: Story) -> None:
    alarm = {"verdict": "cannot tell", "alarm": True}
    found, _ = said(story, gated(**alarm, difference=Difference(-0.2, -0.3, -0.1, -0.3, -0.1, 0.05, 0.0, False, 0.001)))
    assert found.verdict == "alarm"
    assert "A has probably fallen since the baseline: " in found.found
    held, _ = said(story, gated(**alarm, difference=Difference(-0.02, -0.1, 0.06, -0.1, 0.06, 0.04, 0.0, False, 0.6)))
    assert held.verdict == "alarm"
    assert "which this one by itself does not show" in held.found
    assert "probably" not in held.found
    assert found.command == "harvest watch run AUDIT"


def test_a_fall_beyond_what_matters_is_said_as_one(story: Story) -> None:
    fell = Difference(-0.134, -0.186, -0.082, -0.18, -0.09, 0.03, 0.0, False, 0.001)
    found, _ = said(story, gated(verdict="cannot tell", alarm=False, difference=fell, levels=(0.62, 0.0)))
    assert found.verdict == "fell"
    assert found.found.startswith("A may have fallen since the baseline: it answered usefully in ")
    assert "-13.4 points [-18.6, -8.2]. One audit is not enough for an alarm (evidence 62%)." in found.found


@pytest.mark.parametrize(
    ("state", "before", "word", "said_so"),
    [
        ({"name": "perhaps back", "is_near": True}, True, "perhaps back", "A is perhaps back near the baseline: it "),
        ({"name": "changed"}, True, "cannot tell", "Whether A is back at the baseline cannot be told: it "),
        ({"name": "watching", "back": 1.8e9, "ended": 1.79e9}, True, "back", "A is back near the baseline: it "),
        ({"name": "watching", "back": 1.7905e9}, False, "cannot tell", "Whether A changed since the baseline cannot "),
    ],
)
def test_after_a_change_the_headline_is_of_this_audit_and_the_change_is_past(
    story: Story, state: dict[str, Any], before: bool, word: str, said_so: str
) -> None:
    changed = WatchState(name="changed", since=1.79e9, confirmed=1.791e9, times=1, audits=((-0.3, 0.01),))
    now = replace(changed if state["name"] != "watching" else WatchState(), **state)

    def back(system: WatchedSystem) -> WatchedSystem:
        figures = []
        for one in system.figures:
            if one.gated and one.judged is not None:
                judged = replace(one.judged, before=changed if before else WatchState(), state=now)
                moved = Difference(-0.02, -0.072, 0.032, -0.07, 0.03, 0.03, 0.0, False, 0.5)
                one = replace(one, judged=judged, verdict="cannot tell", alarm=False, difference=moved)
            figures.append(one)
        return replace(system, figures=tuple(figures))

    found, _ = said(story, back)
    assert (found.verdict, found.found.startswith(said_so)) == (word, True), found.found
    assert "-2.0 points [-7.2, +3.2]" in found.found
    assert "probably" not in found.found
    assert "had changed" in found.found
    assert "budget" not in found.found
    assert "2026-09-2" in found.found


def test_the_same_asks_for_nothing_and_what_cannot_be_told_for_trials(story: Story) -> None:
    same, _ = said(story, gated(verdict="same", alarm=False, settles=Settling()))
    assert (same.verdict, same.command) == ("same", "")
    assert same.found.startswith("A is the same as at the baseline, within 3 points: ")
    unsure, _ = said(story, gated(verdict="cannot tell", alarm=False, settles=Settling(7, 0.8, 96)))
    assert unsure.verdict == "cannot tell"
    assert unsure.found.startswith("Whether A changed since the baseline cannot be told: ")
    assert unsure.next == "7 more trials of each topic would settle it with a chance of 80%."
    assert unsure.command == "harvest watch run AUDIT --extend 7"
    edge, _ = said(story, gated(verdict="cannot tell", alarm=False, settles=Settling(0, 0.61, 96, "edge")))
    assert edge.next.startswith("The difference may be as large as what matters, so more trials will hardly ")
    assert (edge.command, "(a chance of 61% with 96 more trials of each topic)" in edge.next) == ("", True)


def test_what_could_not_be_measured_or_compared_is_never_the_same(story: Story) -> None:
    down, changed = said(story, lambda one: replace(one, valid=0, figures=()))
    assert (down.verdict, down.link) == ("nothing", "#invalid")
    assert down.found == "A could not be measured: none of 18 trials has a valid attempt."
    assert not list(bars_of_watch(changed))
    other, _ = said(story, lambda one: replace(one, incomparable="another protocol than the baseline's"))
    assert (other.verdict, other.command) == ("nothing", "harvest watch bless RUN… --out BASELINE --replace")
    assert other.found == "A could not be measured against the baseline: another protocol than the baseline's."


def test_a_model_that_answers_now_and_did_not_before_is_named(story: Story) -> None:
    found, _ = said(story, lambda one: replace(one, models=(("old-1",), ("new-2",)), lost=("M001", "M002")))
    assert "It answered as new-2, before as old-1." in found.drives
    assert "Without a valid trial now: M001 and M002." in found.drives


def test_the_bars_are_the_baseline_the_audit_and_the_difference_around_zero(story: Story) -> None:
    found, *_ = story
    before, now, between = bars_of_watch(found)
    assert (before.label, now.label, between.label) == ("baseline", "now", "change")
    assert before.said == now.said, "the run is its own baseline"
    assert between.value == pytest.approx(between.zero) == pytest.approx(0.5)
    assert 0 < between.low < between.value < between.high < 1
