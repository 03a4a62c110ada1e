"""Entropy and Gini's index, by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics.concentration import entropy, gini


def test_equal_counts_are_not_concentrated() -> None:
    assert entropy([3, 3, 3, 3]) == 2
    assert gini([3, 3, 3, 3]) == 0


def test_a_single_kind_has_no_entropy() -> None:
    assert (entropy([7]), gini([7])) == (0, 0)


def test_unequal_counts_agree_with_a_hand_calculation() -> None:
    # Shares 1/2, 1/4, 1/4; Gini: ((-2)·1 + 0·1 + 2·2)/(3·4) = 1/6.
    assert entropy([2, 1, 1]) == 1.5
    assert gini([2, 1, 1]) == pytest.approx(1 / 6)


def test_concentration_without_counts_is_undefined() -> None:
    assert math.isnan(entropy([]))
    assert math.isnan(gini([0, 0]))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20), st.integers(1, 9))
def test_only_shares_matter(counts: list[int], times: int) -> None:
    more = [times * count for count in counts]
    assert entropy(more) == pytest.approx(entropy(counts), abs=1e-9)
    assert gini(more) == pytest.approx(gini(counts), abs=1e-9)
    assert 0 <= entropy(counts) <= math.log2(len(counts)) + 1e-9
    assert -1e-12 <= gini(counts) < 1
