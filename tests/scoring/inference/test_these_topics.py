"""Intervals for these topics: trials are drawn, topics are not."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.inference.these_topics import these_interval
from scoring.measures.usefulness import share
from tests.support.dependence_worlds import THESE, levels, never_recovering, of_these
from tests.support.kept_cells import keep_cells

Floats = npt.NDArray[np.float64]
STUDIES = 120
LEAST = 0.93 - 2 * math.sqrt(0.93 * 0.07 / STUDIES)


def ends(values: Floats, top: float = 1.0) -> tuple[float, float]:
    trials = values.shape[1]
    found = these_interval(values / trials, np.full(values.shape, 1 / trials), level=0.95, top=top)
    return found.low, found.high


@pytest.mark.parametrize("name", THESE)
@pytest.mark.parametrize(("topics", "trials"), keep_cells([(4, 5), (15, 3), (45, 2)], 0))
def test_the_mean_of_these_topics_is_covered(name: str, topics: int, trials: int) -> None:
    here = of_these(name, np.random.default_rng([topics, trials]), (STUDIES, topics, trials))
    pairs = [ends(values) for values in here.values]
    held = [low - 1e-9 <= true <= high + 1e-9 for (low, high), true in zip(pairs, here.these, strict=True)]
    assert np.mean(held) >= LEAST


@pytest.mark.parametrize("name", ["beta", "lognormal 1", "Pareto 2.1", "mostly 0"])
@pytest.mark.parametrize(("topics", "trials"), [(4, 5), (45, 2)])
def test_a_mean_without_a_top_is_covered(name: str, topics: int, trials: int) -> None:
    here = levels(name, np.random.default_rng([topics, trials]), (STUDIES, topics, trials))
    pairs = [(ends(values, math.inf), true) for values, true in zip(here.values, here.these, strict=True)]
    held = [low <= true <= high for (low, high), true in pairs if not math.isnan(low)]
    assert np.mean(held) >= LEAST


@pytest.mark.parametrize(("topics", "trials"), [(8, 5), (15, 3), (45, 5)])
def test_recovery_in_these_topics_is_covered(topics: int, trials: int) -> None:
    here = never_recovering(np.random.default_rng([topics, trials]), (STUDIES, topics, trials), share=0.1, fails=0.3)
    assert here.below is not None
    held = []
    for recovered, failed, true in zip(here.values, here.below, here.these, strict=True):
        found = these_interval(recovered, failed, level=0.95)
        if found.is_defined:
            held.append(found.contains(true))
    assert len(held) > 100
    assert np.mean(held) >= LEAST


def test_39_of_40_answers_are_far_above_70_percent() -> None:
    values = np.ones((8, 5))
    values[3, 2] = 0
    low, high = ends(values)
    exact = stats.binomtest(39, 40).proportion_ci(0.95, method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.02)
    assert low > 0.85


@pytest.mark.parametrize("good", [0, 20, 39])
def test_answers_with_one_rate_have_nearly_the_exact_interval(good: int) -> None:
    values = (np.arange(40) < good).astype(float)
    low, high = ends(np.random.default_rng(0).permutation(values).reshape(8, 5))
    exact = stats.binomtest(good, 40).proportion_ci(0.95, method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.035)


def test_topics_that_differ_do_not_widen_it() -> None:
    apart = np.repeat([[1.0], [0.0]], 20, axis=0).repeat(5, axis=1)
    low, high = ends(apart)
    assert high - low < 0.06
    assert low < 0.5 < high


def test_few_trials_and_no_value_are_refused() -> None:
    assert "3 trials: too few" in these_interval(np.ones((1, 3)), np.ones((1, 3)), level=0.95).note
    assert these_interval(np.full((2, 3), np.nan), np.full((2, 3), np.nan), level=0.95).note == "no value"
    constant = np.full((4, 5), 0.2)
    assert not these_interval(0 * constant, constant, level=0.95, top=math.inf).is_defined


def test_a_missing_trial_leaves_the_mean_over_topics_unchanged() -> None:
    values = np.array([[1.0, 0.0, np.nan], [1.0, 1.0, 0.0], [1.0, np.nan, np.nan], [1.0, 0.0, 1.0]])
    lost = np.zeros(values.shape, dtype=bool)
    below = np.where(np.isnan(values), np.nan, 1.0)
    found = share(list("abcd"), values, below, lost, level=0.95, pooled=False, design=Design(estimand="these"))
    assert found.value == pytest.approx((0.5 + 2 / 3 + 1 + 2 / 3) / 4)
    assert found.interval.contains(found.value)
    assert (found.units, found.interval.resampled) == (9, "trials of topics")


def test_shares_and_means_of_these_topics_agree() -> None:
    values = (np.random.default_rng(5).random((6, 4)) < 0.6).astype(float)
    design = Design(estimand="these")
    lost = np.zeros(values.shape, dtype=bool)
    one = share(list("abcdef"), values, np.ones((6, 4)), lost, level=0.95, pooled=False, design=design).interval
    other = Resampler(np.random.default_rng(0)).with_design(design).means(list("abcdef"), values[:, :, None])[0]
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_trials_close_together_in_time_widen_it() -> None:
    values = (np.random.default_rng(6).random((6, 10)) < 0.6).astype(float)
    sides = values / 10, np.full(values.shape, 0.1)
    wide = [these_interval(*sides, level=0.95, inflation=factor) for factor in (1.0, 2.0, 4.0)]
    width = [one.high - one.low for one in wide]
    assert width[1] / width[0] == pytest.approx(math.sqrt(2), rel=0.1)
    assert width[2] / width[0] == pytest.approx(2, rel=0.1)
    nothing = [these_interval(np.zeros((6, 10)), sides[1], level=0.95, inflation=factor).high for factor in (1.0, 4.0)]
    assert nothing[1] > 3 * nothing[0]


@pytest.mark.parametrize("alone", [1, 2, 9])
def test_topics_with_one_trial_left_do_not_move_the_interval(alone: int) -> None:
    """Hard topics that lost most of their trials: the ends lie around the mean over topics, as for equal numbers."""
    values = (np.random.default_rng(alone).random((18, 4)) < np.linspace(0.2, 0.9, 18)[:, None]).astype(float)
    values[:alone, 1:] = np.nan
    values[:alone, 0] = 0.0
    counts = (~np.isnan(values)).sum(axis=1, keepdims=True)
    mean = float(np.nanmean(values, axis=1).mean())
    found = these_interval(values / counts, np.where(np.isnan(values), np.nan, 1 / counts), level=0.95)
    assert found.low < mean < found.high
    assert (found.low + found.high) / 2 == pytest.approx(mean, abs=0.03)
