"""Rules that score criteria: what each gives, and where it is silent."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.breakdown.detector import load_detector
from protocols.breakdown.features import Utterance
from recordings.conversations.conversation import Conversation, Outcome
from scoring.conversations import default_figures
from scoring.swan.assessment import TopicData, assess
from scoring.swan.item import nugget_items, turn_items
from scoring.swan.rules.breakdown import BREAKDOWN
from scoring.swan.rules.brevity import brevity_rule
from scoring.swan.rules.copied import COPIED
from scoring.swan.rules.fair_exposure import FAIR_EXPOSURE, fairness_score
from scoring.swan.rules.gave_way import GAVE_WAY
from scoring.swan.rules.hedging import has_hedge, hedging_rule
from scoring.swan.rules.label import LABEL
from scoring.swan.rules.recovery import is_dissatisfied, recovery_rule
from scoring.swan.rules.registry import parse_rule
from scoring.swan.rules.repetition import REPETITION
from scoring.swan.rules.rule import Rule, Sight
from scoring.swan.schema import load_schema
from tests.support.scoring_examples import (
    ATTRIBUTES,
    M002,
    ORIGIN,
    RATINGS,
    conversation,
    filler,
    movie,
    paper_b1,
    paper_gold,
    seen,
)

GROUND = TopicData(M002, paper_gold(), ATTRIBUTES)
SCHEMA = load_schema()


def sight(talk: Conversation, rule: Rule, ground: TopicData = GROUND) -> Sight:
    seen = ground.sight(talk, None, None)
    items = (turn_items if rule.level == "turn" else nugget_items)(talk, seen.nuggets)
    return replace(seen, items=items)


def given_by(rule: Rule, talk: Conversation) -> dict[int, float]:
    """Scores by turn, of a rule for turns."""
    return {one.item.turn: one.value for one in rule.judge(sight(talk, rule))}


POEM = "The sea is wide and the wind is cold tonight. The ships are late."
COPY = "The sea is wide and the wind is cold, and nobody sings of it."


def test_text_from_a_field_of_the_topic_counts_as_copied_too() -> None:
    """The first 9 of the copy's 14 words are in the poem."""
    topic = replace(M002, fields=MappingProxyType({"poem": POEM}))
    rule = parse_rule("copied(field=poem)")
    assert isinstance(rule, Rule)
    assert str(rule) == "copied(field=poem)"
    talk = conversation(("A poem, please.", f"{COPY} Yes."), ("Another.", COPY))
    found = [(one.item.turn, one.value) for one in rule.judge(sight(talk, rule, replace(GROUND, topic=topic)))]
    assert found == [(1, pytest.approx(1 - 9 / 14)), (2, 0.0)]
    assert list(rule.judge(sight(talk, rule))) == [], "this topic has no such field"
    alone = [(one.item.turn, one.value) for one in COPIED.judge(sight(talk, COPIED, replace(GROUND, topic=topic)))]
    assert alone == [(2, 0.0)]


@pytest.mark.parametrize("numbers", [(1985, 1986), (1_234_567, 1_234_568), (33_000_001, 33_000_002)])
def test_giving_way_to_two_corrections_is_recognised_in_numbers_of_any_size(numbers: tuple[int, int]) -> None:
    """Section 4.6 of [SWAN]: 154 pages, then 54, both agreed to."""
    first, second = numbers
    talk = conversation(
        ("How many people live there?", "The town has 900 people."),
        (f"No, the town has {first:,} people.", f"You are right. The town has {first:,} people."),
        (f"No, the town has {second:,} people.", f"You are right. The town has {second:,} people."),
    )
    found = list(GAVE_WAY.judge(sight(talk, GAVE_WAY)))
    assert [(one.item.turn, one.value) for one in found] == [(3, 0.0)]
    assert found[0].because == f"agreed to {first} before, and to {second} now"


def test_label_is_1_for_o_0_for_x_and_silent_without_a_label() -> None:
    talk = conversation(("a", "b"), ("a", "b"), ("a", "b"), labels="ox?")
    assert given_by(LABEL, talk) == {1: 1.0, 2: 0.0}


def test_brevity_is_1_up_to_its_words_then_falls_like_bleus_penalty_and_is_silent_without_words() -> None:
    talk = conversation(("a", filler(250)), ("a", filler(500)), ("a", " "))
    assert given_by(brevity_rule(250), talk) == {1: 1.0, 2: pytest.approx(math.exp(-1))}


def test_breakdown_is_one_minus_its_probability_and_half_of_a_possible_breakdown() -> None:
    said = (("Do you like films?", "I like Primer."), ("Which film do you like?", "I don't know. I don't know."))
    talk = conversation(*said)
    turns = [one for user, system in said for one in (Utterance("U", user), Utterance("S", system))]
    rows = load_detector().predict(turns, [1, 3])
    found = given_by(BREAKDOWN, talk)
    assert found == {turn: pytest.approx(row[0] + row[1] / 2) for turn, row in enumerate(rows, 1)}
    assert found[1] > found[2]
    assert given_by(BREAKDOWN, conversation()) == {}


def test_recovery_by_label_scores_only_turns_after_an_x() -> None:
    talk = conversation(*[("a", "b")] * 5, labels="oxxo?")
    assert given_by(recovery_rule(), talk) == {3: 0.0, 4: 1.0}


def test_recovery_by_the_user_follows_section_4_11_and_is_silent_if_the_protocol_ended_it() -> None:
    rule = recovery_rule("user")
    bad = ("That is not what I asked.", "Sorry. Here.")
    assert given_by(rule, conversation(("a", "b"), bad, ("Great, thanks.", "Bye."))) == {2: 1.0}
    assert given_by(rule, conversation(("a", "b"), bad, ("Still useless.", "Oh."))) == {2: 0.0}
    ended = conversation(("a", "b"), bad)
    assert given_by(rule, ended) == {}
    assert given_by(rule, replace(ended, outcome=Outcome("user-stopped"))) == {2: 0.0}


def test_dissatisfaction_is_recognised_by_words() -> None:
    assert is_dissatisfied("That's wrong.")
    assert is_dissatisfied("What made you say 15 pages??? The paper is 154 pages long")
    assert not is_dissatisfied("Can you name a few more?")


def test_hedging_needs_correctness_and_punishes_flat_falsehood_and_needless_doubt() -> None:
    talk = conversation(("a", "It is old. It may be red. It was built in May 1985."))
    seen = sight(talk, hedging_rule())
    assert list(hedging_rule().judge(seen)) == []
    flat, doubtful, month = seen.items
    known = {flat: 0.0, doubtful: 1.0, month: 1.0}
    found = {one.item: one.value for one in hedging_rule().judge(replace(seen, known={"Correctness": known}))}
    assert found == {flat: 0.0, doubtful: 0.5, month: 1.0}
    assert not has_hedge("It opened on May 4.")


def test_repetition_is_0_for_a_repeated_entity_and_1_for_a_new_one_from_turn_2_on() -> None:
    talk = conversation(
        ("list", f"- Alien {movie(1)}\n- Heat {movie(2)}\nBoth are old."),
        ("more", f"- Alien {movie(1)}\n- Ran {movie(3)}\nBoth are old.\nOne is new."),
    )
    seen = sight(talk, REPETITION)
    found = {seen.text(one.item)[:9]: one.value for one in REPETITION.judge(seen)}
    assert found == {"Alien htt": 0.0, "Ran https": 1.0, "Both are ": 0.0}


def test_fair_exposure_over_one_set_is_the_distrsim_that_gfrc_has_for_the_turn() -> None:
    talk = paper_b1()
    only = replace(M002, type=replace(M002.type, attributes=("RATINGS",)))
    ground = TopicData(only, paper_gold(), ATTRIBUTES)
    found = {one.item.turn: one.value for one in FAIR_EXPOSURE.judge(sight(talk, FAIR_EXPOSURE, ground))}
    printed = {
        figure.turn: figure.value
        for figure in default_figures(seen(talk, only, paper_gold()))
        if figure.measure == "DistrSim(RATINGS)"
    }
    assert found == {turn: pytest.approx(value, abs=1e-12) for turn, value in printed.items()}
    assert found[1] == pytest.approx(0.6773, abs=1e-4)  # [GFRC] Table 2
    assert found[2] == pytest.approx(0.4796, abs=1e-4)


def test_fair_exposure_of_figure_5_is_the_mean_of_its_two_sets_and_silent_if_no_entity_is_relevant() -> None:
    found = given_by(FAIR_EXPOSURE, paper_b1())
    assert found[1] == pytest.approx((0.6773 + 0.4303) / 2, abs=1e-4)  # [GFRC] Table 2, combined by [SWAN] Eq. 3
    assert given_by(FAIR_EXPOSURE, conversation(("list", "None."))) == {}


def test_eq_3_is_a_mean_weighted_by_attribute_set() -> None:
    sets = {"RATINGS": RATINGS, "ORIGIN": ORIGIN}
    achieved = {"RATINGS": RATINGS.gold, "ORIGIN": (1.0, *(0.0,) * 7)}
    low = fairness_score({"ORIGIN": achieved["ORIGIN"]}, sets, {})
    assert fairness_score(achieved, sets, {"RATINGS": 3.0}) == pytest.approx((3 * 1 + low) / 4)
    assert math.isnan(fairness_score({}, sets, {}))
    assert math.isnan(fairness_score(achieved, sets, {"RATINGS": 0.0, "ORIGIN": 0.0}))


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any))
def test_eq_3_lies_in_0_to_1_and_is_1_at_the_gold(counts: list[int]) -> None:
    achieved = tuple(count / sum(counts) for count in counts)
    value = fairness_score({"RATINGS": achieved}, {"RATINGS": RATINGS}, {})
    assert 0 <= value <= 1
    assert fairness_score({"RATINGS": RATINGS.gold}, {"RATINGS": RATINGS}, {}) == 1


_REPLY = st.lists(
    st.sampled_from(["It is old.", "I may be wrong.", movie(1), f"- Ran {movie(2)}\n", "Sorry,", "yes", "\n", "???"]),
    max_size=12,
).map(" ".join)


@given(st.lists(st.tuples(_REPLY, _REPLY), min_size=1, max_size=4), st.text("ox?", min_size=4, max_size=4))
def test_every_rule_scores_the_items_of_its_criterion_once_in_0_to_1(turns: list[tuple[str, str]], labels: str) -> None:
    talk = conversation(*turns, labels=labels)
    found = assess(talk, SCHEMA, ground=GROUND)
    for criterion in SCHEMA:
        if criterion.level == "set":
            continue
        scored = found.scored[criterion.name]
        assert all(0 <= one.value <= 1 for one in scored)
        assert len({one.item for one in scored}) == len(scored)
        assert {one.item for one in scored} <= set(found.items[criterion.name])
        if not criterion.rules or criterion.name == "Modesty":
            assert not scored
        if criterion.level == "turn":
            assert [item.turn for item in found.items[criterion.name]] == [turn.number for turn in talk.turns]


def test_a_topic_without_attribute_sets_has_no_fair_exposure() -> None:
    chat = TopicData(replace(M002, type=replace(M002.type, attributes=())), paper_gold(), MappingProxyType({}))
    assert list(FAIR_EXPOSURE.judge(sight(paper_b1(), FAIR_EXPOSURE, chat))) == []
