"""Turn-level scores as those of the first nugget of each turn ([SWAN] §3), worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.judged.judgments import Judgment, Layer, Target
from scoring.library import read_term
from scoring.measures.wan import WAN, weighted_schema
from scoring.notation import parse
from scoring.settings import Settings
from scoring.swan.assessment import Assessment, assess, conversation_wans
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.swan.wan import Wan
from scoring.swan.weighting import Uniform
from tests.support.scoring_examples import conversation, grid_topics

SCHEMA = load_schema()
# 3 nuggets in the first system turn, none in the second (a face claims nothing), and 1 in the third. The user's and
# the system's turns have 5 and 13, 3 and 1, and 3 and 5 words.
TALK = conversation(
    ("What is near the harbour?", "The museum is old. It opens at nine. It is closed on Mondays."),
    ("Where is that?", "🙂"),
    ("And the castle?", "The castle opens at ten."),
    labels="???",
)
PIECES = (3, 0, 1)


def assessed(scores: Sequence[float | None], nuggets: str = "") -> Assessment:
    """The conversation with one person's Coherence of each system turn. None stands for no judgment."""
    found = [
        Judgment(Target(TALK.trial_id, 1, turn, "system").about(), "Coherence", score)
        for turn, score in enumerate(scores, 1)
        if score is not None
    ]
    layers = [Layer("human", "anna", "1", "", "2026-01-01", tuple(found))]
    precedence = Precedence((("human", ""),), nuggets=nuggets)
    return assess(TALK, SCHEMA, Judgments.from_layers(layers, SCHEMA, precedence))


def wan_of(one: Assessment, term: str) -> Wan:
    schema = weighted_schema(SCHEMA, parse(term))
    alone = one.wans(schema)["Coherence"]
    assert conversation_wans([one], schema)[0]["Coherence"] == alone
    return alone


def test_the_conversation_has_the_nuggets_that_the_tables_below_count() -> None:
    own = [one for one in assessed([]).nuggets if one.speaker == "system" and one.type != "E"]
    assert [sum(one.turn == turn for one in own) for turn in (1, 2, 3)] == list(PIECES)


@pytest.mark.parametrize(
    ("scores", "weights", "turns", "first", "n", "items"),
    [
        # One item per turn: (1 + .5 + 0)/3. First nuggets: (1 + 0 + 0) + .5 (the turn without nuggets) + 0, over 5.
        ([1, 0.5, 0], "uniform", Fraction(1, 2), Fraction(3, 10), 5, 5),
        # A turn that nobody scored is in neither, nor are its nuggets.
        ([None, 1, 1], "uniform", Fraction(1), Fraction(1), 2, 5),
        ([1, None, 1], "uniform", Fraction(1), Fraction(2, 4), 4, 5),
        # Nuggets seen before: 0, 1 and 2 in the first turn, 3 before the second and the third. Turns: 1 and 1/8 over
        # 1 + 1/8 + 1/8. First nuggets: the same over 1 + 1/2 + 1/4 + 1/8 + 1/8.
        ([1, 1, 0], "anchored(rate=0.5)", Fraction(9, 10), Fraction(9, 16), 5, 5),
        ([0.5, 0, 1], "last_turn", Fraction(1), Fraction(1), 5, 5),
        # The nuggets end with the words 9, 13 and 18 of the conversation, and the last with word 30.
        ([1, None, 1], "linear(L=100)", Fraction(1), Fraction(92 + 71, 92 + 88 + 83 + 71), 4, 5),
    ],
)
def test_wan_of_turn_level_scores_in_both_forms(
    scores: list[float | None], weights: str, turns: Fraction, first: Fraction, n: int, items: int
) -> None:
    one = assessed(scores)
    plain = wan_of(one, f"WAN(Coherence, weights={weights})")
    assert plain.value == pytest.approx(float(turns), abs=1e-12)
    assert plain.items == 3
    found = wan_of(one, f"WAN(Coherence, turn_scores=first_nugget, weights={weights})")
    assert found.value == pytest.approx(float(first), abs=1e-12)
    assert (found.n, found.items) == (n, items)


def test_without_a_score_the_form_is_undefined_with_n_0_like_the_other_form() -> None:
    found = wan_of(assessed([]), "WAN(Coherence, turn_scores=first_nugget)")
    assert found.value != found.value
    assert (found.n, found.items) == (0, 5)


def test_people_do_not_correct_a_model_s_wan_in_this_form() -> None:
    for term, weighting in (("WAN(Coherence)", Uniform()), ("WAN(Coherence, turn_scores=first_nugget)", None)):
        (measure,) = read_term(parse(term), Settings(), grid_topics(1), SCHEMA)
        assert WAN.weighting is not None
        assert WAN.weighting(measure, SCHEMA) == weighting


def test_swan_changes_only_the_criteria_of_system_turns() -> None:
    before, after = SCHEMA, weighted_schema(SCHEMA, parse("SWAN(turn_scores=first_nugget)"))
    changed = {one.name for one, other in zip(before, after, strict=True) if one != other}
    assert changed == {one.name for one in before if one.level == "turn"}
    assert len(changed) == 7
    mixed = weighted_schema(load_schema("dialeval-nuggets"), parse("SWAN(turn_scores=first_nugget)"))
    assert not any(one.first_nugget for one in mixed)  # values, not scores


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.sampled_from(["uniform", "linear(L=50)", "anchored"]))
def test_over_whole_turns_both_forms_are_equal_and_over_pieces_the_first_nugget_s_is_no_higher(
    scores: list[float], weights: str
) -> None:
    term = f"WAN(Coherence, turn_scores=first_nugget, weights={weights})"
    whole = assessed(scores, "turns")
    assert wan_of(whole, term).value == pytest.approx(wan_of(whole, f"WAN(Coherence, weights={weights})").value)
    pieces = assessed(scores)
    assert wan_of(pieces, term).numerator <= sum(scores) + 1e-12
    if weights == "uniform":
        assert wan_of(pieces, term).value == pytest.approx(sum(scores) / 5)
