"""Intervals of figures over topics and sessions that run through all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scoring.inference.carry_over import crossed_interval
from topics.arrays import Floats


def _world(rng: np.random.Generator, shape: tuple[int, int], topic: float, session: float) -> tuple[float, Floats]:
    topics, sessions = shape
    cells = topic * rng.normal(size=(topics, 1)) + session * rng.normal(size=(1, sessions)) + rng.normal(size=shape)
    cells *= 0.1
    return float(cells.mean()), (cells - cells.mean()) / cells.size


@pytest.mark.parametrize(("topic", "session"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
@pytest.mark.parametrize("shape", [(6, 4), (20, 8)])
def test_the_interval_covers_both_if_topics_and_if_sessions_differ(
    shape: tuple[int, int], topic: float, session: float
) -> None:
    rng, worlds = np.random.default_rng(5), 600
    covered = 0
    for _ in range(worlds):
        value, influence = _world(rng, shape, topic, session)
        found = crossed_interval(value, influence, level=0.95)
        covered += found.low <= 0 <= found.high
    assert covered / worlds >= 0.94 - 3 * math.sqrt(0.94 * 0.06 / worlds)


def test_few_sessions_few_topics_and_equal_values_have_no_interval_and_say_why() -> None:
    rng = np.random.default_rng(1)
    for shape, why in (((3, 8), "3 topics: too few"), ((8, 3), "3 sessions: too few"), ((8, 1), "one session")):
        found = crossed_interval(*_world(rng, shape, 1, 1), level=0.95)
        assert math.isnan(found.low)
        assert found.note.startswith(why)
    assert "the same value" in crossed_interval(0.2, np.zeros((6, 6)), level=0.95).note
    assert crossed_interval(math.nan, np.zeros((0, 0)), level=0.95).note == "no value"


def test_an_interval_of_a_difference_of_scores_ends_at_the_largest_possible_difference() -> None:
    _, influence = _world(np.random.default_rng(2), (6, 4), 1, 1)
    found = crossed_interval(0.99, 100 * influence, level=0.95)
    assert (found.low, found.high) == (-1.0, 1.0)
