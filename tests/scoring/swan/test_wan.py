"""WAN, SWAN and the weightings, against numbers worked out by hand and laws that must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.item import ScoredItem
from scoring.swan.wan import Wan, mean_per_session, pool_wans, swan, wan, wans
from scoring.swan.weighting import (
    Anchored,
    Effort,
    LastTurn,
    Linear,
    Places,
    Product,
    Uniform,
    Weighting,
    parse_weighting,
)
from tests.support.swan_examples import HUMAN, item, scored

WEIGHTINGS: tuple[Weighting, ...] = (
    Uniform(),
    Linear(1250),
    Linear(7),
    LastTurn(),
    Anchored(0.5),
    Effort(0.8, F=0, O=2.5),
    Product((Linear(1250), LastTurn())),
    Product((Anchored(0.9), Linear(50), Uniform())),
)

ITEMS = st.builds(item, st.integers(1, 2000), seen=st.integers(0, 300), final=st.booleans(), turn=st.integers(1, 9))
SCORED = st.lists(st.builds(ScoredItem, ITEMS, st.floats(0, 1), st.just(HUMAN)), max_size=30)


@pytest.mark.parametrize(
    ("pairs", "numerator", "denominator", "value"),
    [
        ([(40, 1.0), (70, 0.5), (101, 1.0), (116, 1.0), (131, 1.0)], 4.1652, 4.6376, 0.8981369673969296),
        ([(40, 1.0), (70, 0.5), (111, 0.0)], 1.4412, 2.8256, 0.5100509626274066),
        ([(210, 0.0), (267, 1.0)], 0.7872, 1.62, 0.48592592592592593),
    ],
)
def test_wan_of_the_three_paths_of_the_reference_tree(
    pairs: list[tuple[int, float]], numerator: float, denominator: float, value: float
) -> None:
    found = wan(scored(*pairs), "Correctness", Linear(1250))
    assert found.numerator == pytest.approx(numerator, abs=1e-12)
    assert found.denominator == pytest.approx(denominator, abs=1e-12)
    assert found.value == pytest.approx(value, abs=1e-12)


def test_swan_reduces_to_plain_means_under_uniform_weights_as_section_3_says() -> None:
    found = wan(scored((1, 1.0), (9, 0.0), (30, 0.5)), "Correctness", Uniform())
    assert (found.value, found.n) == (0.5, 3)
    other = Wan("Fluency", 1.0, 1.0, 1, 1)
    assert swan({"Correctness": found, "Fluency": other}, {}).value == 0.75


def test_wan_over_no_items_is_undefined_with_n_0() -> None:
    found = wan([], "Correctness", Uniform(), items=4)
    assert math.isnan(found.value)
    assert (found.n, found.items) == (0, 4)


def test_wan_is_undefined_if_nothing_scored_has_weight_and_n_says_so() -> None:
    found = wan(scored((1251, 1.0)), "Correctness", Linear(1250))
    assert math.isnan(found.value)
    assert found.n == 1


def test_a_score_outside_0_to_1_is_refused() -> None:
    for value in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="Correctness"):
            wan(scored((1, value)), "Correctness", Uniform())


def test_swan_leaves_undefined_criteria_out_and_names_them() -> None:
    defined, empty = Wan("a", 1.0, 2.0, 2, 5), Wan("b", 0.0, 0.0, 0, 3)
    found = swan({"a": defined, "b": empty}, {"a": 2.0, "b": 5.0})
    assert (found.value, found.covered, found.undefined, found.n) == (0.5, ("a",), ("b",), 2)
    assert math.isnan(swan({"b": empty}, {}).value)


def test_criterion_weights_apply_and_a_weight_of_0_removes_a_criterion() -> None:
    one, other = Wan("a", 1.0, 1.0, 1, 1), Wan("b", 0.0, 1.0, 1, 1)
    assert swan({"a": one, "b": other}, {"a": 3.0}).value == 0.75
    assert swan({"a": one, "b": other}, {"b": 0.0}).covered == ("a",)
    with pytest.raises(ValueError, match="negative or infinite weights"):
        swan({"a": one}, {"a": -1.0})


def test_pooled_gives_long_sessions_more_weight_and_the_mean_per_session_does_not() -> None:
    long, short = Wan("a", 9.0, 10.0, 10, 10), Wan("a", 0.0, 1.0, 1, 1)
    assert pool_wans([long, short]).value == pytest.approx(9 / 11)
    assert mean_per_session([long.value, short.value, math.nan]) == mean_per_session([0.9, 0.0])
    assert mean_per_session([long.value, short.value]).value == 0.45
    assert math.isnan(mean_per_session([math.nan]).value)


def test_pooling_two_criteria_is_refused() -> None:
    with pytest.raises(ValueError, match="one criterion"):
        pool_wans([Wan("a", 0, 0, 0, 0), Wan("b", 0, 0, 0, 0)])


def test_weights_are_those_in_their_descriptions() -> None:
    items = Places.from_items([item(1), item(626, seen=1), item(1251, seen=2, final=True)])
    assert Uniform().weights(items).tolist() == [1, 1, 1]
    assert Linear(1250).weights(items).tolist() == [1, 0.5, 0]
    assert LastTurn().weights(items).tolist() == [0, 0, 1]
    assert Anchored(0.5).weights(items).tolist() == [1, 0.5, 0.25]
    assert Product((Linear(1250), Anchored(0.5))).weights(items).tolist() == [1, 0.25, 0]


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
def test_a_weighting_is_read_back_from_its_text(weighting: Weighting) -> None:
    assert parse_weighting(str(weighting)) == weighting


@pytest.mark.parametrize(
    "text",
    [
        "",
        "best",
        "linear(",
        "linear(L=0)",
        "linear(L=x)",
        "linear(rate=1)",
        "anchored(rate=2)",
        "uniform(L=3)",
        "uniform*",
        "*",
    ],
)
def test_an_invalid_weighting_is_refused_with_the_allowed_ones(text: str) -> None:
    with pytest.raises(ValueError, match=r"allowed: uniform, linear\(L=1250\)"):
        parse_weighting(text)


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@given(items=st.lists(ITEMS, max_size=20))
def test_weights_are_in_0_to_1_with_one_for_each_item_in_any_order(weighting: Weighting, items: list) -> None:  # type: ignore[type-arg]
    found = weighting.weights(Places.from_items(items))
    assert found.shape == (len(items),)
    assert ((found >= 0) & (found <= 1)).all()
    assert np.array_equal(weighting.weights(Places.from_items(items[::-1])), found[::-1])


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@given(found=SCORED)
def test_wan_is_between_the_lowest_and_the_highest_score_and_order_changes_nothing(
    weighting: Weighting, found: list[ScoredItem]
) -> None:
    value = wan(found, "c", weighting).value
    if not math.isnan(value):
        scores = [one.value for one in found]
        assert min(scores) - 1e-12 <= value <= max(scores) + 1e-12
        assert 0 <= value <= 1
        assert wan(found[::-1], "c", weighting).value == value


@given(st.lists(SCORED, min_size=1, max_size=5))
def test_pooled_is_wan_over_all_items_at_once(sessions: list[list[ScoredItem]]) -> None:
    together = wan([one for session in sessions for one in session], "c", Linear(1250))
    apart = pool_wans(wan(session, "c", Linear(1250)) for session in sessions)
    assert (apart.n, apart.items) == (together.n, together.items)
    assert apart.value == pytest.approx(together.value, nan_ok=True, abs=1e-12)


SHARED = st.builds(ScoredItem, ITEMS, st.floats(0, 1), st.just(HUMAN), share=st.floats(0.01, 1))


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@given(sessions=st.lists(st.lists(SHARED, max_size=12), max_size=8))
def test_wans_of_many_conversations_are_those_of_each_to_the_last_bit(
    weighting: Weighting, sessions: list[list[ScoredItem]]
) -> None:
    items = [len(session) + 1 for session in sessions]
    each = [wan(session, "c", weighting, items=asked) for session, asked in zip(sessions, items, strict=True)]
    assert wans(sessions, "c", weighting, items) == each


def test_wans_of_more_conversations_than_fit_in_one_block() -> None:
    rng = np.random.default_rng(3)
    sizes = [0, 9_000, 1, 0, *rng.integers(0, 40, 700).tolist(), 0]
    sessions = [
        scored(*zip(rng.integers(1, 2000, size).tolist(), rng.random(size).tolist(), strict=True)) for size in sizes
    ]
    for weighting in (Linear(1250), Anchored(0.9)):
        assert wans(sessions, "c", weighting, sizes) == [wan(session, "c", weighting) for session in sessions]


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_one_score_outside_0_to_1_among_many_is_refused_as_among_few(value: float) -> None:
    with pytest.raises(ValueError, match="a score for Fluency is"):
        wans([scored((1, 1.0)), scored((1, value))], "Fluency", Uniform(), [1, 1])
