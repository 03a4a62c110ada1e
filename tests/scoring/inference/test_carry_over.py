"""Carry-over: a bot that tires is named with its slope, one that does not is rarely called tired."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from scoring.inference.carry_over import CarryOver, Exchanged, carry_over

Floats = npt.NDArray[np.float64]

TOPICS = 20
TYPES = ["books"] * 8 + ["films"] * 12
TIRED = -0.92 / (TOPICS - 1)
"""From 93% to 1%: 47% of all."""


def places(rng: np.random.Generator, sessions: int, *, shuffled: bool) -> Floats:
    orders = [rng.permutation(TOPICS) if shuffled else np.arange(TOPICS) for _ in range(sessions)]
    return np.stack(orders, axis=1).astype(np.float64) + 1.0


def world(
    rng: np.random.Generator, exchanged: Exchanged, *, tires: bool, unlike: bool = False, moody: float = 0.0
) -> CarryOver:
    """moody: how far apart whole sessions lie, which is no carry-over from topic to topic."""
    chances = rng.beta(0.7, 0.5, (TOPICS, 1)) if unlike else np.full((TOPICS, 1), 0.93)
    order = places(rng, 5, shuffled=exchanged == "orders")
    continued = np.clip(chances + (TIRED * (order - 1) if tires else 0) + moody * rng.normal(size=(1, 5)), 0, 1)
    values = (rng.random(order.shape) < continued).astype(np.float64)
    values[rng.random(values.shape) < 0.05] = np.nan
    fresh = (rng.random((TOPICS, 5)) < chances).astype(np.float64) if exchanged == "sessions" else None
    found = carry_over(values, order, TYPES, rng, level=0.95, fresh=fresh)
    assert found is not None
    assert found.exchanged == exchanged
    return found


@pytest.mark.parametrize("exchanged", ["sessions", "orders"])
def test_a_bot_that_tires_is_named_with_its_slope(exchanged: Exchanged) -> None:
    rng = np.random.default_rng(1)
    worlds = [world(rng, exchanged, tires=True) for _ in range(20)]
    assert all(one.found for one in worlds)
    assert float(np.mean([one.slope for one in worlds])) == pytest.approx(TIRED, abs=0.003)
    assert sum(one.interval.low <= TIRED <= one.interval.high for one in worlds) >= binom.ppf(0.001, 20, 0.93)
    assert all(one.interval.high < 0 for one in worlds)
    if exchanged == "sessions":
        assert float(np.mean([one.lost for one in worlds])) == pytest.approx(0.47 - 0.93, abs=0.03)
        assert all(one.p_lost <= 0.05 for one in worlds)


def test_if_all_sessions_have_one_order_most_are_named_and_the_p_is_of_topics() -> None:
    rng = np.random.default_rng(2)
    worlds = [world(rng, "topics", tires=True) for _ in range(20)]
    assert sum(bool(one.found) for one in worlds) >= 14, "within two types there is less to see"
    assert {(one.units, math.isnan(one.lost)) for one in worlds} == {(TOPICS, True)}


@pytest.mark.parametrize("times", [30, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("unlike", [False, True])
@pytest.mark.parametrize("exchanged", ["sessions", "orders", "topics"])
def test_a_bot_that_does_not_tire_is_rarely_called_tired(exchanged: Exchanged, unlike: bool, times: int) -> None:
    rng = np.random.default_rng([3, unlike])
    told = sum(bool(world(rng, exchanged, tires=False, unlike=unlike).found) for _ in range(times))
    assert told <= binom.ppf(0.999, times, 0.05)


@pytest.mark.parametrize("times", [30, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("exchanged", ["orders", "topics"])
def test_distances_between_sessions_are_not_a_slope(exchanged: Exchanged, times: int) -> None:
    rng = np.random.default_rng(4)
    told = sum(bool(world(rng, exchanged, tires=False, unlike=True, moody=0.3).found) for _ in range(times))
    assert told <= binom.ppf(0.999, times, 0.05)


def test_a_few_fresh_trials_remove_the_effect_of_topics_and_test_only_the_slope() -> None:
    rng = np.random.default_rng(5)
    chances = np.linspace(0.95, 0.05, TOPICS)[:, None]  # the order goes from easy to hard
    order = places(rng, 2, shuffled=False)
    values = (rng.random((TOPICS, 2)) < chances).astype(np.float64)
    alone = carry_over(values, order, TYPES, rng, level=0.95)
    fresh = (rng.random((TOPICS, 40)) < chances).astype(np.float64)
    beside = carry_over(values, order, TYPES, rng, level=0.95, fresh=fresh[:, :2])
    assert alone is not None
    assert beside is not None
    assert alone.slope < -0.02
    assert abs(beside.slope) < abs(alone.slope)
    assert (beside.exchanged, beside.fresh, math.isnan(beside.p_lost)) == ("topics", 40, True)
    assert not math.isnan(beside.lost)


def test_too_few_topics_of_a_type_are_undecided() -> None:
    order = np.tile(np.arange(1.0, 5)[:, None], (1, 3))
    values = np.array([[1.0, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0]])
    found = carry_over(values, order, ["a", "b", "a", "b"], np.random.default_rng(6), level=0.95)
    assert found is not None
    assert found.found is None
    assert math.isnan(found.p)
    assert found.slope < 0
    assert found.interval.note == "3 sessions: too few to compare"


def test_without_two_positions_there_is_nothing_to_test_and_every_value_needs_a_position() -> None:
    rng, once = np.random.default_rng(7), np.array([[1.0, 1.0]])
    assert carry_over([[1.0, 0.0]], once, ["a"], rng, level=0.95) is None
    with pytest.raises(ValueError, match="needs a position"):
        carry_over([[1.0, 0.0]], [[1.0, math.nan]], ["a"], rng, level=0.95)


def test_the_same_seed_gives_the_same_figures() -> None:
    one, two = (world(np.random.default_rng(8), "sessions", tires=False) for _ in range(2))
    assert replace(one, interval_lost=two.interval_lost) == two
    assert one.interval_lost == two.interval_lost
