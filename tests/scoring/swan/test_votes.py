"""Votes of several judges folded into one figure: by a rule that has no first and no last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.item import Source
from scoring.swan.precedence import DEFAULT_FOLDING, FOLDINGS, Vote, combine_votes
from topics.errors import Place

Value = float | None
scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def votes(*values: Value) -> list[Vote]:
    names = ["anna", "ben", "cara", "dora", "emil"]
    return [Vote(value, Source("human", name), 0, Place(name)) for name, value in zip(names, values, strict=False)]


def told(given: Sequence[Vote], folding: str) -> tuple[Value, float] | None:
    found = combine_votes(given, folding)
    return None if found is None else (found.value, found.share)


@pytest.mark.parametrize(
    ("values", "distribution", "mean", "majority"),
    [
        ((1.0,), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)),
        ((None,), (None, 1.0), (None, 1.0), (None, 1.0)),
        ((0.0, 1.0), (0.5, 1.0), (0.5, 1.0), (0.5, 1.0)),
        ((0.0, 1.0, 1.0), (2 / 3, 1.0), (2 / 3, 1.0), (1.0, 1.0)),
        ((0.0, 0.5, 1.0, 1.0, 0.0), (0.5, 1.0), (0.5, 1.0), (0.5, 1.0)),
        ((1.0, None), (1.0, 0.5), (1.0, 1.0), (1.0, 0.5)),
        ((1.0, None, None), (1.0, 1 / 3), (1.0, 1.0), (None, 1.0)),
        ((None, None), (None, 1.0), (None, 1.0), (None, 1.0)),
    ],
)
def test_every_folding_of_votes_agrees_with_a_hand_calculation(
    values: tuple[Value, ...], distribution: object, mean: object, majority: object
) -> None:
    for order in permutations(votes(*values)):
        assert [told(order, name) for name in FOLDINGS[:3]] == [distribution, mean, majority]


@given(st.lists(st.none() | scores, min_size=1, max_size=5), st.sampled_from(FOLDINGS), st.randoms())
def test_no_folding_depends_on_the_order_and_no_vote_is_lost(values: list[Value], folding: str, random: object) -> None:
    every = votes(*values)
    found = combine_votes(every, folding)
    assert found is not None
    shuffled = list(every)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert combine_votes(shuffled, folding) == found
    assert {(one.by, one.value) for one in found.votes} == {(one.by, one.value) for one in every}
    assert 0 < found.share <= 1
    if found.value is not None and not found.equals:
        given = [value for value in values if value is not None]
        assert min(given) <= found.value <= max(given)


@given(st.lists(st.none() | scores, min_size=1, max_size=5))
def test_the_distribution_is_the_expected_answer_of_a_random_judge(values: list[Value]) -> None:
    found = combine_votes(votes(*values), DEFAULT_FOLDING)
    assert found is not None
    worth = 0.0 if found.value is None else found.share * found.value
    assert worth == pytest.approx(sum(value or 0.0 for value in values) / len(values))


@given(scores, st.integers(1, 5), st.sampled_from(FOLDINGS))
def test_judges_who_agree_are_one_judge(value: float, judges: int, folding: str) -> None:
    assert told(votes(*[value] * judges), folding) == (value, 1.0)


def test_one_judge_by_name_and_only_the_first_rank_of_those_ranked_alike() -> None:
    every = votes(0.0, 1.0)
    model = Vote(0.5, Source("model", "anna"), 1, Place("m"))
    assert told([*every, model], "ben") == (1.0, 1.0)
    assert told([*every, model], "model:anna") == (0.5, 1.0)
    assert told([*every, model], "anna") == (0.0, 1.0), "her rank is before the model's of the same name"
    assert told(every, "zoe") is None
    assert told([*every, model], DEFAULT_FOLDING) == (0.5, 1.0)


def test_an_adjudicator_decides_if_adjudicated_and_has_no_vote_otherwise() -> None:
    referee = Vote(0.25, Source("human", "zoe"), 0, Place("z"), adjudicates=True)
    every = [*votes(0.0, 1.0), referee]
    assert told(every, "adjudicated") == (0.25, 1.0)
    assert told(every, DEFAULT_FOLDING) == (0.5, 1.0)
    assert told([referee], DEFAULT_FOLDING) == (0.25, 1.0), "one who judged alone is a judge like any other"
    nobody = combine_votes(every[:2], "adjudicated")
    assert nobody is not None
    assert [one.by.author for one in nobody.equals] == ["anna", "ben"]
