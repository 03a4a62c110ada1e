"""Components of variance: by hand, against statsmodels, and by simulation with components that are known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from scipy.stats import t as student
from statsmodels.formula.api import ols
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats.anova import anova_lm

from scoring.inference.components import Component, across_systems, upper_interaction, within_system
from scoring.inference.spreads import UNKNOWN, Range
from tests.support.kept_cells import keep_cells
from tests.support.variance_coverage import crossed_world, nested_world

SHARES = Range(0.0, 1.0)
PARTS = ("system", "topic", "both", "trial")


def check(
    draw: Callable[[], tuple[dict[str, Component], dict[str, float]]],
    times: int,
    *,
    least: float = 0.93,
    biased: tuple[str, ...] = (),
) -> None:
    """Intervals cover what they should, within what so many replications can tell, and components are not biased."""
    held: dict[str, list[bool]] = {}
    found: dict[str, list[float]] = {}
    truth: dict[str, float] = {}
    for _ in range(times):
        components, truth = draw()
        for name, one in components.items():
            found.setdefault(name, []).append(one.value)
            if not math.isnan(one.interval.low):
                inside = one.interval.low - 1e-12 <= truth[name] <= one.interval.high + 1e-12
                held.setdefault(name, []).append(inside)
    for name, hits in held.items():
        n = len(hits)
        assert n > 0.8 * times, name
        assert binom.ppf(0.001, n, least) <= sum(hits), (name, sum(hits) / n)
    for name, values in found.items():
        if name not in biased:
            error = float(np.std(values)) / math.sqrt(times)
            assert abs(float(np.mean(values)) - truth[name]) <= 0.05 * truth[name] + 4 * error, name


def test_a_small_table_is_split_by_hand() -> None:
    nothing = math.nan
    found = within_system([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, nothing], [nothing, nothing]], level=0.95)
    # Means .5, 1, 0, 1; variances .5, 0, 0, and their mean 1/6 where there is one trial.
    trial = (0.5 + 0 + 0 + 1 / 6) / 4
    topic = float(np.var([0.5, 1, 0, 1], ddof=1)) - (0.25 + 0 + 0 + 1 / 6) / 4
    assert found.trial.value == pytest.approx(trial)
    assert found.topic.value == pytest.approx(topic)
    assert found.icc.value == pytest.approx(topic / (topic + trial))
    assert (found.topics, found.trials) == (4, 7)
    assert found.each == pytest.approx(4 / 2.5)


def test_balanced_trials_of_one_system_agree_with_restricted_likelihood() -> None:
    cells, _ = nested_world(np.random.default_rng(2), (12, 4), 0.5, yes_or_no=False, holes=False)
    fitted = MixedLM(cells.reshape(-1), np.ones(48), groups=np.repeat(np.arange(12), 4)).fit(reml=True)
    found = within_system(cells, level=0.95)
    assert found.trial.value == pytest.approx(fitted.scale, rel=1e-4)
    assert found.topic.value == pytest.approx(float(np.asarray(fitted.cov_re)[0, 0]), rel=1e-3)


def test_balanced_trials_of_systems_agree_with_the_analysis_of_variance() -> None:
    cells, _ = crossed_world(np.random.default_rng(3), (4, 9, 3), holes=False)
    system, topic, _ = np.indices(cells.shape)
    frame = pd.DataFrame({"y": cells.reshape(-1), "s": system.reshape(-1), "t": topic.reshape(-1)})
    square = anova_lm(ols("y ~ C(s) * C(t)", frame).fit())["mean_sq"]
    by = {name: float(square[key]) for name, key in zip("stbe", ("C(s)", "C(t)", "C(s):C(t)", "Residual"), strict=True)}
    found = across_systems(cells, level=0.95)
    assert found.trial.value == pytest.approx(by["e"])
    assert found.both.value == pytest.approx((by["b"] - by["e"]) / 3)
    assert found.system.value == pytest.approx((by["s"] - by["b"]) / 27)
    assert found.topic.value == pytest.approx((by["t"] - by["b"]) / 12)
    assert found.relative.value == pytest.approx(max(0, 1 - by["b"] / by["s"]))


def test_systems_and_topics_with_gaps_agree_with_least_squares() -> None:
    """Trials that never differ leave the sums of squares of the cells alone, which statsmodels has too."""
    means, _ = crossed_world(np.random.default_rng(4), (5, 8, 1), holes=False)
    cells = np.repeat(means, 2, axis=2)
    cells[[0, 1, 1, 4], [0, 0, 3, 7]] = np.nan
    system, topic = np.meshgrid(np.arange(5), np.arange(8), indexing="ij")
    there = ~np.isnan(cells[:, :, 0])
    frame = pd.DataFrame({"y": cells[:, :, 0][there], "s": system[there], "t": topic[there]})
    fitted = ols("y ~ C(s) + C(t)", frame).fit()
    table = anova_lm(fitted, typ=2)
    both = float(fitted.mse_resid)
    counts = there.sum(axis=0)
    size = float(there.sum()) - float((there / counts).sum())
    found = across_systems(cells, level=0.95)
    assert found.trial.value == 0
    assert found.both.value == pytest.approx(both)
    assert found.system.value == pytest.approx((float(table["sum_sq"]["C(s)"]) - 4 * both) / size)
    assert found.topic.value == pytest.approx((float(table["sum_sq"]["C(t)"]) - 7 * both) / (there.sum() - 5))
    assert found.empty == 4


@pytest.mark.parametrize("icc", [0.0, 0.45, 0.8])
@pytest.mark.parametrize("yes_or_no", [True, False])
def test_components_of_one_system_are_found_and_their_intervals_cover(icc: float, yes_or_no: bool) -> None:
    rng = np.random.default_rng([5, round(100 * icc), yes_or_no])

    def draw() -> tuple[dict[str, Component], dict[str, float]]:
        cells, truth = nested_world(rng, (45, 5), icc, yes_or_no=yes_or_no, holes=yes_or_no)
        found = within_system(cells, level=0.95, within=SHARES if yes_or_no else UNKNOWN)
        return {"topic": found.topic, "trial": found.trial, "icc": found.icc}, truth

    check(draw, 100)


@pytest.mark.parametrize("holes", keep_cells([False, True], 1))
def test_components_of_several_systems_are_found_and_their_intervals_cover(holes: bool) -> None:
    rng = np.random.default_rng([6, holes])

    def draw() -> tuple[dict[str, Component], dict[str, float]]:
        cells, truth = crossed_world(rng, (4, 45, 5), holes=holes)
        found = across_systems(cells, level=0.95)
        return {name: getattr(found, name) for name in PARTS}, truth

    check(draw, 40)


@pytest.mark.soak
@pytest.mark.parametrize("shape", [(45, 5), (45, 20)])
@pytest.mark.parametrize("icc", [0.0, 0.45, 0.8])
@pytest.mark.parametrize("yes_or_no", [True, False])
@pytest.mark.parametrize("holes", [True, False])
def test_components_of_one_system_in_many_worlds(
    shape: tuple[int, int], icc: float, yes_or_no: bool, holes: bool
) -> None:
    rng = np.random.default_rng([7, *shape, round(100 * icc), yes_or_no, holes])

    def draw() -> tuple[dict[str, Component], dict[str, float]]:
        cells, truth = nested_world(rng, shape, icc, yes_or_no=yes_or_no, holes=holes)
        found = within_system(cells, level=0.95, within=SHARES if yes_or_no else UNKNOWN)
        return {"topic": found.topic, "trial": found.trial, "icc": found.icc}, truth

    check(draw, 1000)


@pytest.mark.soak
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("shape", [(4, 45, 5), (8, 45, 10)])
def test_components_of_several_systems_in_many_worlds(shape: tuple[int, int, int], holes: bool) -> None:
    rng = np.random.default_rng([8, *shape, holes])

    def draw() -> tuple[dict[str, Component], dict[str, float]]:
        cells, truth = crossed_world(rng, shape, holes=holes)
        found = across_systems(cells, level=0.95)
        names = (*PARTS, "relative", "absolute") if not holes else PARTS
        return {name: getattr(found, name) for name in names}, truth

    check(draw, 300, biased=("relative", "absolute"))


def test_a_component_below_0_keeps_its_sign_and_its_interval_starts_at_0() -> None:
    cells = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0]])
    found = within_system(cells, level=0.95, within=SHARES)
    assert found.topic.value < 0
    assert found.icc.value < 0
    assert found.topic.interval.low == 0
    assert found.topic.interval.resampled == "topics"


def test_components_that_cannot_be_separated_have_no_value_but_a_reason() -> None:
    nothing = math.nan
    for cells, why in (
        ([[nothing, nothing]], "no value"),
        ([[1.0, 0.0, 1.0]], "one topic"),
        ([[1.0, nothing], [nothing, 0.0]], "no topic has two trials"),
    ):
        found = within_system(cells, level=0.95)
        assert math.isnan(found.topic.value)
        assert math.isnan(found.narrowing_shares(4)[0])
        assert found.topic.interval.note.startswith(why)
    for table, why in (
        ([[[1.0, 0.0], [0.0, 0.0]]], "one system"),
        ([[[1.0, 0.0]], [[0.0, 1.0]]], "one topic"),
        ([[[1.0], [0.0]], [[0.0], [1.0]]], "no topic has two trials"),
        ([[[1.0, 0.0], [nothing, nothing]], [[nothing, nothing], [1.0, 0.0]]], "systems share too few topics"),
    ):
        crossed = across_systems(table, level=0.95)
        assert math.isnan(crossed.system.value)
        assert crossed.system.interval.note.startswith(why)


def test_trials_that_agree_attribute_all_to_topics_and_few_topics_have_no_interval() -> None:
    cells = [[1, 1], [0, 0], [1, 1], [0, 0], [1, 1]]
    found = within_system(cells, level=0.95, within=SHARES)
    assert (found.trial.value, found.icc.value) == (0, 1)
    assert (found.icc.interval.low < 0.5, found.icc.interval.high) == (True, 1)
    assert found.trial.interval.high > 0.1, "trials of a topic that was not asked may differ"
    without_top = within_system(np.repeat(cells, 9, axis=0), level=0.95)
    assert without_top.icc.interval.note == "trials of a topic all agree"
    few = within_system([[1, 0], [0, 0], [1, 1]], level=0.95)
    assert few.topic.interval.note == "3 topics: too few to resample"
    same = within_system(np.ones((5, 3)), level=0.95)
    assert (same.topic.value, same.trial.value) == (0, 0)
    assert same.icc.interval.note == "every trial has the same value"


def test_the_upper_limit_of_an_interaction_leaves_out_one_topic_at_a_time() -> None:
    """By hand: the logarithm of the mean square of systems × topics, with Student's t, less what trials add."""
    cells, _ = crossed_world(np.random.default_rng(11), (3, 9, 4), holes=False)
    whole = across_systems(cells, level=0.95)
    parts = [across_systems(np.delete(cells, topic, axis=1), level=0.95).both.value for topic in range(9)]
    square = whole.both.value + whole.trial.value / 4
    reach = float(student.ppf(0.8, 8)) * math.sqrt(8 * float(np.var(parts))) / square
    wanted = whole.both.value + square * (math.exp(reach) - 1)
    assert upper_interaction(cells, level=0.6) == pytest.approx(wanted)
    assert math.isnan(upper_interaction(cells[:, :3], level=0.6))
    assert math.isnan(upper_interaction(np.ones((2, 5, 3)), level=0.6))


def test_a_reliability_needs_four_systems() -> None:
    rng = np.random.default_rng(9)
    cells, _ = crossed_world(rng, (4, 10, 4), holes=False)
    assert 0 <= across_systems(cells, level=0.95).relative.value <= 1
    three = across_systems(cells[:3], level=0.95)
    assert math.isnan(three.relative.value)
    assert three.relative.interval.note == "3 systems: a reliability asks for 4"
    assert not math.isnan(three.system.value)


def test_four_times_as_many_trials_narrow_the_two_intervals_as_the_components_predict() -> None:
    """45 × 5 and ICC .45: by 8%, and by half."""
    cells, _ = nested_world(np.random.default_rng(10), (2000, 5), 0.45, yes_or_no=True, holes=False)
    like, these = within_system(cells, level=0.95).narrowing_shares(4)
    assert these == 0.5
    assert like == pytest.approx(1 - math.sqrt((0.108 + 0.132 / 20) / (0.108 + 0.132 / 5)), abs=0.01)
