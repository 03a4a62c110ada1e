"""Two groups within strata: the exact conditional test against an independent one, permutation, and its size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.statistics.stratified import StratifiedTest, compare_within

tables = st.tuples(*[st.integers(0, 12)] * 4)
"""Exposed with and without the outcome, others with and without."""


def compared(cells: list[tuple[int, int, int, int]], **limits: float) -> StratifiedTest:
    a, b, c, d = np.array(cells).T
    return compare_within(a, a + b, a + c, a + b + c + d, **limits)


@given(tables)
def test_one_stratum_gives_fishers_exact_test(cells: tuple[int, int, int, int]) -> None:
    a, b, c, d = cells
    found = compared([cells])
    if min(a + b, c + d, a + c, b + d) == 0:
        assert math.isnan(found.p)
        assert found.n == found.strata == 0
        return
    assert found.p == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue, abs=1e-9)
    assert found.more == pytest.approx(stats.fisher_exact([[a, b], [c, d]], "greater").pvalue, abs=1e-9)
    assert found.fewer == pytest.approx(stats.fisher_exact([[a, b], [c, d]], "less").pvalue, abs=1e-9)


@given(tables)
def test_the_middle_is_half_way_between_the_chances_with_and_without_the_observed_one(
    cells: tuple[int, int, int, int],
) -> None:
    found = compared([cells])
    assert found.middle == pytest.approx((1 + found.more - found.fewer) / 2, abs=1e-12, nan_ok=True)


def test_a_very_small_middle_keeps_its_digits() -> None:
    a, b, c, d = 150, 40, 30, 180
    law = stats.hypergeom(a + b + c + d, a + c, a + b)
    assert compared([(a, b, c, d)]).middle == pytest.approx(law.sf(a) + law.pmf(a) / 2, rel=1e-9)
    assert 0 < compared([(a, b, c, d)]).middle < 1e-20


def test_several_strata_agree_with_permuting_outcomes_within_them() -> None:
    cells = [(5, 2, 3, 6), (3, 1, 2, 2), (8, 8, 1, 5)]
    rng = np.random.default_rng(1)
    drawn = np.sum([rng.hypergeometric(a + b, c + d, a + c, size=200_000) for a, b, c, d in cells], axis=0)
    observed = sum(row[0] for row in cells)
    found = compared(cells)
    assert found.more == pytest.approx(np.mean(drawn >= observed), abs=0.005)
    assert found.fewer == pytest.approx(np.mean(drawn <= observed), abs=0.005)


@settings(max_examples=30)
@given(st.lists(tables, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_strata_does_not_matter_and_empty_ones_do_not_count(
    cells: list[tuple[int, int, int, int]], random: object
) -> None:
    other = [*cells, (0, 0, 0, 0), (3, 0, 0, 0)]
    random.shuffle(other)  # type: ignore[attr-defined]
    one, two = compared(cells), compared(other)
    assert (one.p, one.more, one.difference) == pytest.approx((two.p, two.more, two.difference), abs=1e-9, nan_ok=True)
    assert (one.n, one.strata) == (two.n, two.strata)


def test_pooled_estimates_are_those_of_mantel_and_haenszel_by_hand() -> None:
    found = compared([(8, 2, 4, 6), (5, 5, 2, 8)])
    assert found.difference == pytest.approx((0.4 * 5 + 0.3 * 5) / 10)
    assert found.odds_ratio == pytest.approx((8 * 6 / 20 + 5 * 8 / 20) / (2 * 4 / 20 + 5 * 2 / 20))


def test_an_odds_ratio_without_bound_is_infinite_and_without_cases_undefined() -> None:
    assert compared([(3, 0, 0, 3)]).odds_ratio == math.inf
    assert math.isnan(compared([(0, 3, 0, 3)]).odds_ratio)
    assert math.isnan(compared([(3, 3, 0, 0)]).difference)


def test_an_easy_and_a_hard_stratum_make_no_effect() -> None:
    # Within either, exposure changes nothing; thrown together the tables would show a difference of .6.
    apart = compared([(81, 9, 9, 1), (1, 9, 9, 81)])
    together = compared([(82, 18, 18, 82)])
    assert apart.difference == pytest.approx(0)
    assert apart.p > 0.5
    assert together.p < 1e-12


def test_very_large_tables_are_approximated_and_say_so() -> None:
    cells = [(60, 40, 45, 55), (30, 70, 20, 80)]
    exact = compared(cells)
    close = compared(cells, most=0)
    assert (exact.method, close.method) == ("exact conditional", "Mantel-Haenszel, normal")
    assert (close.p, close.more, close.fewer) == pytest.approx((exact.p, exact.more, exact.fewer), abs=0.003)


def test_a_million_cases_are_no_trouble() -> None:
    found = compared([(5100, 4900, 5000, 5000)] * 50)
    assert found.n == 1_000_000
    assert 0 < found.more < 1e-6


@pytest.mark.parametrize(
    "counts", [([3], [2], [3], [5]), ([0], [3], [3], [5]), ([1], [6], [1], [5]), ([1, 2], [3], [3], [5])]
)
def test_impossible_counts_are_refused(counts: tuple[list[int], ...]) -> None:
    with pytest.raises(ValueError):
        compare_within(*counts)
