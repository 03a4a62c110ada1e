"""Change points: as rarely found as promised where nothing changed, and where it did, at the right place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics.change_points import FEWEST, change_points
from topics.identity import generator


@pytest.mark.parametrize(("n", "heavy"), [(8, False), (26, True), (52, False)])
def test_a_series_without_a_change_has_one_in_at_most_five_of_a_hundred(n: int, heavy: bool) -> None:
    rng = generator(1, "null", str(n))
    drawn = rng.standard_t(2, (300, n)) if heavy else rng.standard_normal((300, n))
    found = sum(bool(change_points(list(one), rng, draws=199)) for one in drawn)
    assert found / 300 <= 0.05 + 2.6 * (0.05 * 0.95 / 300) ** 0.5


def test_a_step_is_found_at_its_place_with_the_levels_on_both_sides() -> None:
    rng = generator(2, "step")
    near = 0
    for _ in range(100):
        series = np.concatenate([rng.normal(0.9, 0.02, 12), rng.normal(0.8, 0.02, 8)])
        found = change_points(list(series), rng, draws=199)
        near += len(found) >= 1 and any(abs(one.at - 12) <= 1 for one in found)
    assert near >= 97
    (one,) = change_points([0.9] * 12 + [0.8] * 8, rng)
    assert one.at == 12
    assert [one.before, one.after] == pytest.approx([0.9, 0.8])


def test_two_steps_are_two_change_points_and_the_means_are_of_the_stretches_between() -> None:
    series = [0.5] * 10 + [0.9] * 10 + [0.2] * 10
    first, second = change_points(series, generator(3, "two"))
    assert (first.at, second.at) == (10, 20)
    assert [first.before, first.after, second.before, second.after] == pytest.approx([0.5, 0.9, 0.9, 0.2])


@given(st.lists(st.floats(-1, 1), max_size=20), st.floats(0.1, 10), st.floats(-5, 5))
def test_neither_scale_nor_level_moves_a_change_point(values: list[float], scale: float, level: float) -> None:
    series = np.round(values, 3)
    here = change_points(list(series), generator(4, "same"), draws=99)
    there = change_points(list(series * np.round(scale, 3) + level), generator(4, "same"), draws=99)
    assert [one.at for one in here] == [one.at for one in there]


def test_few_or_equal_values_have_none_and_gaps_are_refused() -> None:
    rng = generator(5, "few")
    assert change_points([1.0] * (FEWEST // 2) + [0.0] * (FEWEST // 2 - 1), rng) == ()
    assert change_points([0.5] * 30, rng) == ()
    with pytest.raises(ValueError, match="finite"):
        change_points([float("nan")] * 10, rng)
