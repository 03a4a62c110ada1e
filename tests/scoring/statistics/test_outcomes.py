"""Outcomes drawn from components of variance have these components."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.inference.components import across_systems
from scoring.statistics.outcomes import Components, draw_outcomes, draw_outcomes_of_these

CASES = [
    Components("yes or no", 0.6, 0.081, 0.027, 0.0),
    Components("yes or no", 0.8, 0.1, 0.02, 0.0),
    Components("bounded", 0.3, 0.02, 0.01, 0.03),
    Components("bounded", 0.0, 0.05, 0.0, 0.2, low=-1.0, high=1.0),
    Components("unbounded", 12.0, 4.0, 1.0, 9.0),
]


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.shape} {one.mean:g}")
def test_means_differ_by_the_difference_and_components_are_the_requested_ones(one: Components) -> None:
    rng, size = np.random.default_rng(3), np.sqrt(one.topic + one.both + one.within)
    drawn = draw_outcomes(one, 0.1 * size, 40, 5, 400, rng)
    each = drawn.values[..., 0] - drawn.values[..., 1]
    error = each.std() / np.sqrt(each.size)
    assert each.mean() == pytest.approx(0.1 * size, abs=4 * error)
    assert drawn.values.mean() == pytest.approx(one.mean, abs=4 * size / np.sqrt(each.size))
    assert drawn.noise.mean() == pytest.approx(one.within / 5, rel=0.03)
    assert each.var() - drawn.noise.sum(axis=2).mean() == pytest.approx(2 * one.both, abs=0.03 * size**2)
    whole = drawn.values.var(axis=(0, 1)).mean() - drawn.noise.mean()
    assert whole == pytest.approx(one.topic + one.both, rel=0.05)


def test_components_of_binary_outcomes_are_recovered() -> None:
    one, rng = CASES[0], np.random.default_rng(5)
    assert set(np.unique(draw_outcomes(one, 0.0, 20, 1, 5, rng).values)) == {0.0, 1.0}
    always = Components("bounded", one.mean, one.topic, one.both, 0.0)  # every trial has the chance itself
    chances = draw_outcomes(always, 0.0, 4000, 1, 1, rng).values[0]
    trials = (rng.random((2, 4000, 6)) < chances.T[..., None]).astype(float)
    split = across_systems(trials, level=0.95)
    assert split.topic.value == pytest.approx(one.topic, rel=0.08)
    assert split.both.value == pytest.approx(one.both, rel=0.08)
    assert split.trial.value == pytest.approx(one.within, rel=0.05)


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.shape} {one.mean:g}")
@pytest.mark.parametrize("topics", [4, 15])
def test_for_these_topics_only_trials_vary(one: Components, topics: int) -> None:
    rng, size = np.random.default_rng(4), np.sqrt(one.topic + one.both + one.within)
    drawn = draw_outcomes_of_these(one, 0.1 * size, topics, 5, 3000, rng)
    each = (drawn.values[..., 0] - drawn.values[..., 1]).mean(axis=1)
    assert each.mean() == pytest.approx(0.1 * size, abs=4 * each.std() / np.sqrt(3000))
    assert each.var() == pytest.approx(drawn.noise.sum(axis=(1, 2)).mean() / topics**2, rel=0.12)


def test_impossible_components_are_refused() -> None:
    for mean, topic, why in ((0.6, -0.1, "at least 0"), (1.0, 0.0, "below 1, not 1"), (0.9, 0.1, "for a mean of 0.9")):
        with pytest.raises(ValueError, match=why):
            Components("yes or no", mean, topic, 0.0, 0.0)
