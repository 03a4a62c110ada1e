"""SWAN over several criteria and many paths: one path is ordinary SWAN, and what undefined criteria do."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.stochastic.expectation import path_scores, ratio, swan_readings
from scoring.swan.wan import Wan, swan

Floats = npt.NDArray[np.float64]

bottoms = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=st.sampled_from([0.0, 0.5, 1.0, 2.5]))


def ordinary(top: Floats, bottom: Floats, heavy: Floats) -> float:
    """What `scoring.swan` makes of one conversation."""
    wans = {str(c): Wan(str(c), float(top[c]), float(bottom[c]), 1, 1) for c in range(len(top))}
    return swan(wans, {str(c): float(heavy[c]) for c in range(len(top))}).value


@given(bottoms, st.integers(0, 2**32 - 1))
def test_each_path_has_the_swan_of_an_ordinary_conversation(bottom: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    top, heavy = bottom * rng.random(bottom.shape), np.array([1.0, 2.0, 0.0])
    found = path_scores(top, bottom, heavy)
    assert found == pytest.approx([ordinary(*row, heavy) for row in zip(top, bottom)], nan_ok=True)


@given(bottoms, st.integers(0, 2**32 - 1))
def test_one_certain_path_gives_ordinary_swan_by_both_readings(bottom: Floats, seed: int) -> None:
    bottom = bottom[:1]
    top, heavy = bottom * np.random.default_rng(seed).random(bottom.shape), np.array([1.0, 0.5, 3.0])
    found = swan_readings(top, bottom, heavy)
    value = ordinary(top[0], bottom[0], heavy)
    assert (found.expected, found.pooled) == pytest.approx((value, value), rel=1e-12, nan_ok=True)


@given(bottoms, st.integers(0, 2**32 - 1))
def test_readings_lie_in_0_to_1_and_the_order_of_paths_changes_nothing(bottom: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    top, weights, order = bottom * rng.random(bottom.shape), rng.random(len(bottom)) + 0.1, rng.permutation(len(bottom))
    one = swan_readings(top, bottom, [1, 1, 1], weights)
    two = swan_readings(top[order], bottom[order], [1, 1, 1], weights[order])
    assert (one.expected, one.pooled) == pytest.approx((two.expected, two.pooled), nan_ok=True)
    if one.n:
        assert 0 <= one.expected <= 1 + 1e-12
        assert 0 <= one.pooled <= 1 + 1e-12
    else:
        assert math.isnan(one.expected)
        assert math.isnan(one.pooled)


def test_if_every_criterion_is_defined_expected_swan_is_the_mean_of_expected_wans() -> None:
    rng = np.random.default_rng(1)
    bottom = rng.random((20, 2)) + 0.1
    top, heavy, weights = bottom * rng.random((20, 2)), np.array([3.0, 1.0]), rng.random(20)
    found = swan_readings(top, bottom, heavy, weights)
    each = [ratio(top[:, c], bottom[:, c], weights) for c in range(2)]
    assert found.criteria == tuple(each)
    assert found.expected == pytest.approx((3 * each[0].expected + each[1].expected) / 4)
    assert found.pooled == pytest.approx((3 * each[0].pooled + each[1].pooled) / 4)
    assert found.defined == pytest.approx(1.0)
    assert found.n == 20


def test_an_undefined_criterion_is_left_out_of_its_path_and_coverage_says_so() -> None:
    top, bottom = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 0.0]])
    found = swan_readings(top, bottom, [1, 1])
    assert path_scores(top, bottom, [1, 1]).tolist() == pytest.approx([0.5, 0.5, math.nan], nan_ok=True)
    assert (found.expected, found.n) == (0.5, 2)
    assert found.defined == pytest.approx(2 / 3)
    assert [criterion.n for criterion in found.criteria] == [2, 1]
    assert found.pooled == pytest.approx((2 / 3 + 0) / 2)


@pytest.mark.parametrize(
    ("bottom", "heavy"), [([[1.0, 1.0]], [1.0]), ([[1.0]], [-1.0]), ([[1.0]], [math.inf]), ([1.0], [1.0])]
)
def test_invalid_input_to_swan_is_refused(bottom: list[list[float]], heavy: list[float]) -> None:
    with pytest.raises(ValueError, match="criterion"):
        path_scores(np.zeros(np.shape(bottom)), bottom, heavy)
