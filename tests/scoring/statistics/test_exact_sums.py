"""Sums of groups, against `math.fsum`, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics import exact_sums as module
from scoring.statistics.exact_sums import exact_sums

HALVES = st.sampled_from([0.0, 1.0, 0.5, 2.0**-52, 2.0**-53, 2.0**-54, 2.0**-27, 2.0**-26, 1 - 2.0**-53, 5e-324, 1e-30])
"""Numbers whose sums lie between two floats, or next to it."""
NUMBERS = st.floats(0, 1) | HALVES


@given(st.lists(st.lists(NUMBERS, max_size=12), max_size=8))
def test_sums_are_those_of_fsum(groups: list[list[float]]) -> None:
    values = np.array([one for group in groups for one in group], dtype=np.float64)
    counts = np.array([len(group) for group in groups], dtype=np.int64)
    assert exact_sums(values, counts).tolist() == [math.fsum(group) for group in groups]


def test_hardly_any_sum_of_ordinary_numbers_is_left_to_fsum(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    class Counted:
        @staticmethod
        def fsum(group: list[float]) -> float:
            left.append(len(group))
            return math.fsum(group)

    rng = np.random.default_rng(5)
    values, counts = rng.random(200_000) * rng.random(200_000), np.full(10_000, 20)
    expected = [math.fsum(row) for row in values.reshape(-1, 20).tolist()]
    monkeypatch.setattr(module, "math", Counted)
    assert exact_sums(values, counts).tolist() == expected
    assert 0 < len(left) < 100
    left.clear()
    assert exact_sums(np.zeros(20), np.array([20])).tolist() == [0.0]
    assert not left


def test_a_group_too_large_to_be_cut_is_left_to_fsum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    values = np.array([0.1] * 10)
    assert exact_sums(values, np.array([10])).tolist() == [1.0]
    assert sum(values.tolist()) != 1.0
