"""The figure of an arm is that of `harvest score`, and a difference is between figures that are shown."""

import csv
import io
import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.playing.play import play
from harvest.studies.robustness.robustness import MeasureOverArms, robustness
from harvest.studies.scores.arms import gather_arms
from harvest.studies.scores.gathered import score_runs
from recordings.log.run_folder import Run
from scoring.notation import parse
from tests.harvest.audits.test_arms import audit_file
from tests.support.command_line import harvest

BOT = """
LINK = "https://www.imdb.com/title/tt0088763/ https://dblp.org/pid/65/9612 https://www.youtube.com/watch?v=dQw4w9WgXcQ"
FAILED = []

def answer(text, history):
    second = len(history) > 1
    opening = history[0]["content"] if history else text
    number = sum(map(ord, opening)) % 7
    if not opening.startswith("Please") and number == 1:
        raise RuntimeError("down")
    if not second and number < 4:
        return "Robots have fascinated people for a long time."
    return LINK if not second or number != 3 else "I cannot."
"""
ARMS = {"plain": {}, "mistyped": {"wording": {"typos": 0.1}}, "keywords": {"wording": {"keywords": 1}}}
MEASURES = [parse("ave%useful"), parse("%recovery"), parse("%useful S1"), parse("%useful S2")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A system that fails to answer on some topics of an arm, and has failing first turns on few others."""
    folder = tmp_path_factory.mktemp("arms")
    (folder / "bots.py").write_text(BOT)
    bots = [
        {"name": "A", "driver": "python", "options": {"function": "bots.py:answer", "takes": "history"}, "attempts": 1}
    ]
    topics = [f"{kind}{number:03d}" for kind in "MRY" for number in range(1, 6)]
    return play(load_audit(audit_file(folder, arms=ARMS, only=topics, systems=bots, trials=2)), folder / "run")


@pytest.fixture(scope="module")
def measures(run: Run) -> tuple[MeasureOverArms, ...]:
    (found,) = robustness(gather_arms(run, measures=MEASURES))
    return found.measures


def scored(run: Run) -> Mapping[tuple[str, int | None, str], float]:
    rows = score_runs(run.path).rows
    return {
        (one.measure, one.turn, one.system): one.value
        for one in rows
        if one.topic is None and one.trial is None and one.topic_type is None
    }


def test_the_figure_of_an_arm_is_that_of_score_for_means_and_for_ratios(
    run: Run, measures: tuple[MeasureOverArms, ...]
) -> None:
    score = scored(run)
    assert [one.label for one in measures] == ["ave%useful", "%recovery", "%useful S1", "%useful S2"]
    for one in measures:
        for arm, figure in one.figures.items():
            assert figure == pytest.approx(score[*one.key, f"A [{arm}]"], nan_ok=True), (one.label, arm)
    recovery = measures[1]
    assert len({round(value, 6) for value in recovery.figures.values()}) > 1


def test_a_difference_is_between_the_figures_in_common(run: Run, measures: tuple[MeasureOverArms, ...]) -> None:
    elsewhere = 0
    for one in measures:
        for arm, difference in one.differences.items():
            if difference.topics:
                assert difference.value == pytest.approx(difference.other - difference.base)
            if not one.differs_from_printed(arm) and difference.topics:
                assert difference.value == pytest.approx(one.figures[arm] - one.figures["plain"])
            elsewhere += one.differs_from_printed(arm)
    assert elsewhere, "an arm lost topics"


def test_the_table_and_the_rows_say_what_is_in_common(
    run: Run, measures: tuple[MeasureOverArms, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = measures[0]
    (arm,) = [arm for arm in one.differences if one.differs_from_printed(arm)][:1]
    difference = one.differences[arm]
    monkeypatch.setenv("COLUMNS", "120")
    shown = harvest("robustness", run.path, "-m", "ave%useful").stdout
    assert "in common: the arm and the control over matched trials" in " ".join(shown.split())
    (line,) = [line for line in shown.splitlines() if line.strip().startswith(f"{arm} ") and "[" in line]
    figures = [float(number) for number in re.findall(r"([\d.]+)%", line)]
    assert figures == pytest.approx([100 * one.figures[arm], 100 * difference.other, 100 * difference.base], abs=0.051)
    table = list(csv.DictReader(io.StringIO(harvest("robustness", run.path, "--csv").stdout)))
    by_figure = {row["figure"]: row for row in table if f"A, {arm}" in (row["system"], row["other"])}
    common = float(by_figure["arm, in common"]["estimate"]) - float(by_figure["control, in common"]["estimate"])
    assert float(by_figure["difference from control"]["estimate"]) == pytest.approx(common)
    assert float(by_figure["arm"]["estimate"]) == pytest.approx(one.figures[arm])


def test_without_losses_the_table_has_one_figure_for_an_arm(tmp_path: Path) -> None:
    bots = [{"name": "A", "driver": "parrot"}]
    played = play(load_audit(audit_file(tmp_path, arms=ARMS, systems=bots)), tmp_path / "run")
    shown = harvest("robustness", played.path, "-m", "%recovery").stdout
    assert "in common" not in shown


def test_only_an_arm_without_the_measure_is_undefined(tmp_path: Path) -> None:
    """Users of one arm leave before a second turn."""
    stays, leaves = {"simulator": "random", "leave": 0.1}, {"simulator": "random", "leave": 1.0}
    arms = {
        "stays": {"users": {"visitor": stays}},
        "leaves": {"users": {"visitor": leaves}},
        "mistyped": {"users": {"visitor": stays}, "wording": {"typos": 0.3}},
    }
    one = [{"name": "A", "driver": "parrot"}]
    topics = [f"{kind}{number:03d}" for kind in "MR" for number in range(1, 4)]
    audit = audit_file(tmp_path, arms=arms, systems=one, protocol="open-ended", only=topics, trials=4)
    played = play(load_audit(audit), tmp_path / "run")
    (found,) = robustness(gather_arms(played, measures=[parse("%useful S2")]))
    (measure,) = found.measures
    assert math.isnan(measure.figures["leaves"])
    assert measure.differences["leaves"].n == 0
    assert not math.isnan(measure.figures["stays"])
    assert not math.isnan(measure.figures["mistyped"])
    assert measure.differences["mistyped"].n > 0
    assert measure.worst in ("", "stays", "mistyped")


def test_the_worst_arm_is_the_one_farthest_below_the_control_over_matched_trials(
    measures: tuple[MeasureOverArms, ...],
) -> None:
    for one in measures:
        apart = {arm: own.value for arm, own in one.differences.items() if not math.isnan(own.value)}
        if one.worst == "plain":
            assert min(apart.values()) >= 0
        elif one.worst:
            assert apart[one.worst] == min(apart.values())
            assert one.apart == apart[one.worst]


def test_a_ratio_of_sums_has_no_spread_of_means(measures: tuple[MeasureOverArms, ...]) -> None:
    spreads = {one.label: one.spread for one in measures}
    assert math.isnan(spreads["%recovery"].value)
    assert "no mean over trials" in spreads["%recovery"].interval.note
    assert not math.isnan(spreads["ave%useful"].value)
