"""Differences with an unseen topic: laws of the interval, its p, and how often it holds the truth in hostile worlds."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.inference.differences import (
    FEWEST_OPEN,
    guarded_differences,
    smallest_p,
    typical_difference,
    unit_weights,
    unseen_positions,
)

Floats = npt.NDArray[np.float64]

differences = st.lists(st.floats(-1, 1, allow_nan=False), min_size=4, max_size=12)


def ends(each: Floats, *, level: float = 0.95, reach: float = 1.0) -> tuple[float, float, float]:
    found = guarded_differences(each[:, None], np.ones((len(each), 1)), level=level, reach=reach)
    return float(found.low[0]), float(found.high[0]), float(found.p[0])


@given(differences)
@settings(max_examples=40)
def test_exchanging_the_sides_mirrors_the_interval(each: list[float]) -> None:
    low, high, p = ends(np.array(each))
    other_low, other_high, other_p = ends(-np.array(each))
    assert (other_low, other_high) == pytest.approx((-high, -low), abs=1e-12)
    assert other_p == p


@given(differences, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_the_topics_changes_nothing(each: list[float], random: object) -> None:
    shuffled = list(each)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ends(np.array(each)) == ends(np.array(shuffled))


@given(differences, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
@settings(max_examples=40)
def test_p_is_the_error_rate_at_which_the_interval_excludes_zero(each: list[float], level: float) -> None:
    low, high, p = ends(np.array(each), level=level)
    assert low <= float(np.mean(each)) <= high
    if abs(p - (1 - level)) > 1e-3:
        assert (low > 0 or high < 0) == (p <= 1 - level)


def test_a_cluster_counts_once_weighted_by_its_size() -> None:
    each = np.array([0.2, 0.4, -0.1, 0.3, 0.5])
    alone = guarded_differences(each[:, None], np.ones((5, 1)), level=0.95, reach=1.0)
    doubled = guarded_differences(2 * each[:, None], np.full((5, 1), 2.0), level=0.95, reach=1.0)
    assert doubled.low == pytest.approx(alone.low)
    assert doubled.high == pytest.approx(alone.high)


def test_so_few_topics_cannot_show_any_difference() -> None:
    for topics in (4, 5):
        assert ends(np.ones(topics))[2] >= smallest_p(topics) > 0.05
    assert ends(np.ones(6))[2] <= 0.05


def test_a_tail_reaches_farther_the_heavier_it_is_and_needs_thirty_topics() -> None:
    rng = np.random.default_rng(1)
    normal, heavy = rng.normal(size=(60, 200)), rng.lognormal(0, 1.5, (60, 200))
    beyond = [
        (unseen_positions(each)[1] - np.median(each, axis=0)) / (each.max(axis=0) - np.median(each, axis=0))
        for each in (normal, heavy)
    ]
    assert 1 < np.median(beyond[0]) < 1.5 < 2.5 < np.median(beyond[1])
    few = guarded_differences(normal[: FEWEST_OPEN - 1], np.ones((1, 1)), level=0.95, reach=math.inf)
    assert np.isnan(few.low).all()


def test_the_median_has_the_interval_of_the_sign_test() -> None:
    each = np.arange(1.0, 16.0)
    middle, interval = typical_difference(each, level=0.95)
    rank = int(stats.binom.ppf(0.025, 15, 0.5))
    assert (middle, interval.low, interval.high) == (8.0, each[rank - 1], each[15 - rank])
    assert not typical_difference(each[:5], level=0.95)[1].is_defined
    assert typical_difference(each[:6], level=0.95)[1].is_defined


def rare(rng: np.random.Generator, topics: int, studies: int) -> tuple[Floats, float]:
    """One side fails on 5% of topics and is a little better on the others."""
    bad = rng.random((topics, studies)) < 0.05
    return np.where(bad, -0.95, 0.05) + rng.normal(0, 0.05, (topics, studies)), 0.0


def few_kinds(rng: np.random.Generator, topics: int, studies: int) -> tuple[Floats, float]:
    """Three kinds of topics, one of them seldom."""
    kinds = rng.choice([-0.6, 0.0, 0.2], p=[0.07, 0.6, 0.33], size=(topics, studies))
    return kinds, 0.2 * 0.33 - 0.6 * 0.07


def shares(rng: np.random.Generator, topics: int, studies: int) -> tuple[Floats, float]:
    chances = rng.beta(2, 1, (2, topics, studies))
    return rng.binomial(5, chances[0]) / 5 - rng.binomial(5, chances[1]) / 5, 0.0


@pytest.mark.parametrize("world", [rare, few_kinds, shares])
@pytest.mark.parametrize("topics", [8, 15, 45])
def test_bounded_differences_are_covered_in_hostile_worlds(world: object, topics: int) -> None:
    each, truth = world(np.random.default_rng(topics), topics, 600)  # type: ignore[operator]
    found = guarded_differences(each, np.ones((topics, 1)), level=0.95, reach=1.0, many=True)
    held = float(((found.low <= truth) & (truth <= found.high)).mean())
    assert held >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / 600)
    if truth == 0:
        assert float((found.p <= 0.05).mean()) <= 0.06 + 3 * math.sqrt(0.06 * 0.94 / 600)


@pytest.mark.parametrize(
    "law",
    [
        lambda rng, size: rng.lognormal(0, 1.5, size) - math.exp(1.125),
        lambda rng, size: rng.lognormal(0, 1.0, size) - math.exp(0.5),
        lambda rng, size: (rng.pareto(2.1, size) + 1) - 2.1 / 1.1,
        lambda rng, size: rng.exponential(1, size) * np.where(rng.random(size) < 0.1, 10, 1) - 1.9,
        lambda rng, size: rng.standard_t(3, size),
        lambda rng, size: rng.normal(0, 1, size),
    ],
    ids=["lognormal 1.5", "lognormal 1", "Pareto 2.1", "two exponentials", "t3", "normal"],
)
@pytest.mark.parametrize("topics", [45, 100])
def test_heavy_tails_are_covered_if_an_interval_is_printed(law: object, topics: int) -> None:
    """One side is steady, the other has this law around the same mean: W7 and others of its kind."""
    each = law(np.random.default_rng(topics), (topics, 600))  # type: ignore[operator]
    found = guarded_differences(each, np.ones((topics, 1)), level=0.95, reach=math.inf, many=True)
    held = float(((found.low <= 0) & (found.high >= 0)).mean())
    assert held >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / 600)


@pytest.mark.parametrize(("topics", "most"), [(15, 1.9), (45, 1.5), (200, 1.25)])
def test_the_cost_in_benign_worlds(topics: int, most: float) -> None:
    """Widths in units of the t interval: shares of five trials, and normal differences with a deviation of .3."""
    rng = np.random.default_rng(2)
    for each in (shares(rng, topics, 300)[0], np.clip(rng.normal(0, 0.3, (topics, 300)), -1, 1)):
        found = guarded_differences(each, np.ones((topics, 1)), level=0.95, reach=1.0, many=True)
        t = 2 * stats.t.ppf(0.975, topics - 1) * each.std(axis=0, ddof=1) / math.sqrt(topics)
        assert float(np.mean(found.high - found.low) / np.mean(t)) <= most


@pytest.mark.parametrize("units", [5, 500])
def test_weights_sum_to_1_depend_only_on_the_design_and_cannot_be_changed(units: int) -> None:
    """Those of few units are kept for the next interval."""
    one, many = unit_weights(units), unit_weights(units, many=True)
    assert one.shape == (units + 1, 20_000)
    assert many.shape == (units + 1, 4_000)
    assert np.allclose(one.sum(axis=0), 1, atol=1e-12)
    assert np.array_equal(one, unit_weights(units))
    with pytest.raises(ValueError, match="read-only"):
        one[0, 0] = 0.0
