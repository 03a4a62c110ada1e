"""Whole trials that lie apart: found where a trial is a disaster, and no more often than chance where none is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from scoring.inference.instability import between_trials


def test_a_disastrous_trial_is_found() -> None:
    """As B1 and B2 of the pilot study: the second trial of the same topics fails throughout."""
    rng = np.random.default_rng(1)
    cells = (rng.random((15, 2)) < [0.8, 0.1]).astype(np.float64)
    found = between_trials(cells, rng)
    assert found.p < 0.01
    assert found.spread > 2 * found.by_chance
    assert found.means == pytest.approx(tuple(cells.mean(axis=0)))
    assert found.topics == (15, 15)


def test_chance_is_simulated_by_independent_trials() -> None:
    rng = np.random.default_rng(2)
    cells = (rng.random((30, 6)) < rng.random((30, 1))).astype(np.float64)
    chance = between_trials(cells, rng).by_chance
    own = cells.var(axis=1, ddof=1).sum() / 30**2  # of the mean of one trial from each topic
    assert chance == pytest.approx(math.sqrt(own), rel=0.05)


@pytest.mark.parametrize("times", [80, pytest.param(1000, marks=pytest.mark.soak)])
def test_independent_trials_of_unlike_topics_with_gaps_are_rarely_told_apart(times: int) -> None:
    rng, told = np.random.default_rng(3), 0
    for _ in range(times):
        cells = (rng.random((12, 5)) < rng.random((12, 1))).astype(np.float64)
        cells[rng.random(cells.shape) < 0.2] = np.nan
        told += between_trials(cells, rng).p <= 0.05
    assert told <= binom.ppf(0.999, times, 0.05)


def test_a_trial_that_lost_its_hard_topics_does_not_look_better_for_it() -> None:
    cells = np.array([[1.0, 1, 1], [1, 1, 1], [0, 0, math.nan], [0, 0, math.nan]])
    found = between_trials(cells, np.random.default_rng(4))
    assert found.means == pytest.approx((0.5, 0.5, 0.5))
    assert (found.spread, found.p) == (0.0, 1.0)
    assert found.topics == (4, 4, 2)


def test_without_two_trials_of_a_topic_nothing_is_reported() -> None:
    found = between_trials([[1.0, math.nan], [math.nan, 0.0]], np.random.default_rng(5))
    assert math.isnan(found.p)
    assert math.isnan(found.spread)
