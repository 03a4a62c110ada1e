"""Weights by the user's effort ([SWAN] §2 (b)): the number and the type of the user's nuggets so far."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.material import Judged
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.assessment import TopicData
from scoring.swan.item import nugget_items, turn_items
from scoring.swan.judged import Judgments
from scoring.swan.schema import load_schema
from scoring.swan.weighting import Anchored, Effort, Places, Uniform, parse_weighting
from tests.support.scoring_examples import conversation, grid_topics
from tests.support.swan_examples import item

# The user greets (O) before the first answer, and claims two things (F, F) before the second.
TALK = conversation(
    ("Hello.", "What can I do for you?"),
    ("I have a red phone. It has a broken screen.", "Buy it anew."),
    labels="ox",
    topic="T01",
)


def test_items_count_the_claims_and_acts_of_the_user_up_to_their_turn() -> None:
    nuggets = TopicData().sight(TALK, None, None).nuggets
    counts = {(one.turn, one.claims, one.acts) for one in nugget_items(TALK, nuggets)}
    assert counts == {(1, 0, 1), (2, 2, 1)}
    assert [(one.turn, one.claims, one.acts) for one in turn_items(TALK, nuggets)] == [(1, 0, 1), (2, 2, 1)]
    assert [(one.claims, one.acts) for one in turn_items(TALK, nuggets, "user")] == [(0, 1), (2, 1)]


@pytest.mark.parametrize(
    ("weights", "value"),
    [
        ("effort(rate=0.5)", 0.5 / (0.5 + 0.5**3)),  # after 1 nugget of the user, and after 3
        ("effort(rate=0.5, O=0)", 1 / (1 + 0.5**2)),  # a greeting costs nothing
        ("effort(rate=0.5, F=0)", 0.5),
        ("effort(rate=0.25, F=0.5, O=2)", 0.25**2 / (0.25**2 + 0.25**3)),
        ("effort(rate=0.5)*last_turn", 0.0),
        ("effort(rate=1)", 0.5),
    ],
)
def test_the_answer_after_more_effort_weighs_less(weights: str, value: float) -> None:
    schema, asked = load_schema(), f"WAN(Sufficiency, weights={weights})"
    table = score(
        [TALK],
        grid_topics(1),
        None,
        Settings(),
        np.random.default_rng(0),
        measures=parse_all(asked),
        only=True,
        judged=Judged(schema, Judgments()),
    )
    (row,) = table.select(topic="T01", trial=1)
    assert row.value == pytest.approx(value, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=9), st.floats(0.01, 1), st.floats(0, 3))
def test_weights_are_in_0_to_1_and_fall_with_every_nugget_that_costs(
    counts: list[tuple[int, int]], rate: float, cost: float
) -> None:
    claims, acts = np.array(counts, dtype=np.float64).reshape(-1, 2).T
    none = np.zeros(len(claims))
    places = Places(none + 1, none, none > 0, claims=claims, acts=acts)
    more = Places(none + 1, none, none > 0, claims=claims + 1, acts=acts)
    weighting = Effort(rate, F=cost)
    assert np.all((weighting.weights(places) >= 0) & (weighting.weights(places) <= 1))
    assert np.all(weighting.weights(more) <= weighting.weights(places))
    assert parse_weighting(str(weighting)) == weighting
    assert np.array_equal(Effort(rate, F=0, O=0).weights(places), Uniform().weights(places))


def test_a_user_who_said_nothing_costs_nothing_and_other_weightings_ignore_the_user() -> None:
    assert Effort(0.5).weights(Places.from_items([item(3), item(9, seen=4)])).tolist() == [1, 1]
    assert Anchored(0.5).weights(Places.from_items([item(9, seen=2)])).tolist() == [0.25]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("effort(rate=0)", "rate must be above 0"),
        ("effort(rate=0.5, F=-1)", "F must be a number from 0"),
        ("effort(O=1e9)", "O must be a number from 0"),
        ("effort(L=5)", "allowed: uniform"),
        ("effort(rate=.)", "its parameter is not a number"),
    ],
)
def test_an_impossible_effort_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="is not a weighting") as refused:
        parse_weighting(text)
    assert said in str(refused.value)
