"""worst_sequence(Criterion, turns=k): the worst stretch of a conversation by one criterion ([SWAN] §4.15)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.judged.judgments import Judgment, Layer, Target
from scoring.library import read_term
from scoring.material import Judged
from scoring.notation import parse, parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from tests.support.scoring_examples import conversation, grid_topics
from topics.errors import InputError

SCHEMA = load_schema()


def worst(measure: str, *scores: float | None) -> tuple[float, int, str]:
    """By the scores of the system's turns, None for a turn without a score: value, n and note."""
    talk = conversation(*[("say", "reply")] * len(scores), topic="T01")
    given = tuple(
        Judgment(Target(talk.trial_id, 1, turn).about(), "Coherence", value)
        for turn, value in enumerate(scores, 1)
        if value is not None
    )
    layers = [Layer("human", "anna", judgments=given)]
    judged = Judged(SCHEMA, Judgments.from_layers(layers, SCHEMA, Precedence()))
    rng, asked = np.random.default_rng(0), parse_all(measure)
    table = score([talk], grid_topics(1), None, Settings(), rng, measures=asked, only=True, judged=judged)
    (row,) = [one for one in table.rows if one.topic == "T01" and one.trial == 1]
    return row.value, row.n, row.note


def test_the_worst_of_three_turns_in_a_row_is_found_and_named() -> None:
    value, n, note = worst("worst_sequence(Coherence)", 1, 1, 0.5, 0.5, 0.8, 1)
    assert value == pytest.approx((0.5 + 0.5 + 0.8) / 3)
    assert n == 6
    assert "lowest in system turns 3 to 5, 3 of 3 turns scored" in note


@pytest.mark.parametrize(
    ("turns", "value"), [(1, 0.2), (2, (0.2 + 0.9) / 2), (4, (1 + 0.2 + 0.9 + 0.9) / 4), (5, 0.8), (99, 0.8)]
)
def test_the_length_of_a_sequence_can_be_chosen_and_a_short_conversation_is_one_sequence(
    turns: int, value: float
) -> None:
    found, n, _ = worst(f"worst_sequence(Coherence, turns={turns})", 1, 1, 0.2, 0.9, 0.9)
    assert found == pytest.approx(value)
    assert n == 5


def test_turns_without_a_score_are_in_no_mean_and_a_mean_without_any_score_is_undefined() -> None:
    assert worst("worst_sequence(Coherence, turns=2)", 1, None, 0.5, None, None)[:2] == (0.5, 2)
    assert worst("worst_sequence(Coherence, turns=3)", 1, None, 0.5)[0] == 0.75
    assert (
        "lowest in system turns 2 to 4, 1 of 3 turns scored" in worst("worst_sequence(Coherence)", 1, None, 0, None)[2]
    )
    assert "lowest in system turn 2, 1 of 1 turn scored" in worst("worst_sequence(Coherence, turns=1)", 1, 0.5)[2]
    value, n, note = worst("worst_sequence(Coherence)", None, None)
    assert (math.isnan(value), n) == (True, 0)
    assert "it was not scored" in note


@given(st.lists(st.integers(0, 4), min_size=1, max_size=7), st.integers(1, 8))
def test_the_worst_sequence_lies_between_the_worst_turn_and_the_mean_of_all_parts_of_its_length(
    quarters: list[int], turns: int
) -> None:
    scores = [one / 4 for one in quarters]
    value, n, _ = worst(f"worst_sequence(Coherence, turns={turns})", *scores)
    means = [sum(scores[i : i + turns]) / len(scores[i : i + turns]) for i in range(len(scores))]
    assert n == len(scores)
    assert min(scores) <= value <= max(scores)
    assert value == pytest.approx(min(means[: max(1, len(scores) - turns + 1)]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("worst_sequence(Coherence, turns=0)", "turns: 0 is not a number of turns"),
        ("worst_sequence(Coherence, turns=1.5)", "turns: 1.5 is not a number of turns"),
        ("worst_sequence(Fair_treatment)", "only one score for all conversations"),
        ("worst_sequence(Fair_treatment)", "ask `harvest score` for pooled(WAN(Fair_treatment))"),
        ("worst_sequence", "takes 1 argument"),
        ("worst_sequence(Harmlesness)", "did you mean 'Harmlessness'"),
        ("worst_sequence(Coherence, weights=uniform)", "has no parameter weights"),
    ],
)
def test_nonsensical_arguments_are_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_term(parse(text), Settings(), grid_topics(1), SCHEMA)
    assert said in str(refused.value)


def test_a_criterion_of_whole_dialogues_has_no_sequences() -> None:
    with pytest.raises(InputError, match="does not score the system's turns one by one"):
        read_term(parse("worst_sequence(23)"), Settings(), grid_topics(1), load_schema("beyond-table-1"))
