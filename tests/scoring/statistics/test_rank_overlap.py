"""Rank-biased overlap equals published numbers, and keeps its promises."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics.rank_overlap import RankOverlap, in_order, jaccard, rank_by_count, rank_overlap

LISTS = st.lists(st.integers(0, 12), max_size=8, unique=True)


def test_ties_equal_the_example_of_corsi_and_urbano() -> None:
    # The README of rbo/ in github.com/julian-urbano/sigir2024-rbo prints ext, min, max and res at p = .95.
    one = [["red"], ["blue", "green"], ["yellow"], ["pink"]]
    other = [["blue", "red"], ["white"], ["yellow", "black", "purple"], ["green"]]
    found = rank_overlap(one, other, 0.95)
    seen = [round(part, 7) for part in (found.value, found.least, found.most, found.residual)]
    assert seen == [0.6922853, 0.3310519, 0.8930692, 0.5620173]


@pytest.mark.parametrize(
    ("one", "other", "part", "printed"),
    [  # docstrings of github.com/dlukes/rbo, p = .9
        ("abcdefg", "abcdefg", "least", 0.767),
        ("abcdefgh", "abcdefg", "least", 0.767),
        ("abcdefg", "abcdefg", "residual", 0.233),
        ("abcdefg", "abcdefg", "value", 1.0),
        ("abcdefg", "bacdefg", "value", 0.9),
        # the README of github.com/b4ny4n/rankmeasures
        ("12345", "23415", "value", 0.828),
    ],
)
def test_lists_without_ties_equal_printed_examples(one: str, other: str, part: str, printed: float) -> None:
    assert round(getattr(rank_overlap(in_order(one), in_order(other), 0.9), part), 3) == printed


def test_the_first_ten_ranks_have_86_percent_of_the_weight() -> None:
    # Webber, Moffat and Zobel (2010), section 4.3: with p = .9.
    ten = in_order("abcdefghij")
    assert round(rank_overlap(ten, ten, 0.9).least, 2) == 0.86


def test_an_empty_list_has_no_overlap() -> None:
    assert math.isnan(rank_overlap([], in_order("a")).value)
    assert math.isnan(jaccard(set(), {"a"}))


@pytest.mark.parametrize("p", [0.0, 1.0, -1.0, math.nan])
def test_a_persistence_outside_its_range_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        rank_overlap(in_order("a"), in_order("a"), p)


def test_an_item_is_in_a_list_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        rank_overlap([["a"], ["a"]], in_order("a"))


@given(LISTS, LISTS, st.floats(0.05, 0.99))
def test_the_value_is_within_its_bounds_and_sides_are_symmetric(one: list[int], other: list[int], p: float) -> None:
    found, turned = rank_overlap(in_order(one), in_order(other), p), rank_overlap(in_order(other), in_order(one), p)
    if not one or not other:
        assert math.isnan(found.value)
        return
    assert 0 <= found.least <= found.value + 1e-9 <= found.most + 2e-9 <= 1 + 3e-9
    assert found.value == pytest.approx(turned.value, abs=1e-12)


@given(st.dictionaries(st.integers(0, 9), st.integers(1, 3), min_size=1), LISTS.filter(len), st.integers(0, 99))
def test_ties_are_the_mean_over_their_orders(counts: dict[int, int], other: list[int], seed: int) -> None:
    tied = rank_by_count(counts)
    orders = [list(itertools.chain(*one)) for one in itertools.product(*map(itertools.permutations, tied))]
    if len(orders) > 800 or len(counts) != len(other):
        return
    mean = math.fsum(rank_overlap(in_order(one), in_order(other), 0.8).value for one in orders) / len(orders)
    assert rank_overlap(tied, in_order(other), 0.8).value == pytest.approx(mean, abs=1e-9)


@given(LISTS.filter(len))
def test_a_list_equals_itself(one: list[int]) -> None:
    found = rank_overlap(in_order(one), in_order(one))
    assert isinstance(found, RankOverlap)
    assert found.value == pytest.approx(1, abs=1e-9)
    assert found.most == pytest.approx(1, abs=1e-9)
    assert jaccard(set(one), set(one)) == 1


def test_jaccard_is_the_share_of_common_items() -> None:
    assert jaccard({"a", "b", "c"}, {"b", "c", "d", "e"}) == 2 / 5
