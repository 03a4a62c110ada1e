"""Rules that read what people judged, and fairness of each nugget, worked by hand under the schema in docs/swan.md."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation, Outcome
from recordings.judged.judgments import Judgment, Layer, Target
from scoring.settings import Settings
from scoring.swan.assessment import Assessment, TopicData, assess
from scoring.swan.judged import Judgments
from scoring.swan.rules.registry import parse_rule
from scoring.swan.schema import read_schema
from simulators.reasons import GOAL_REACHED, SATISFIED, WITHOUT_A_CHOICE
from tests.support.checkout import DOCS
from tests.support.scoring_examples import ATTRIBUTES, M002, conversation, filler, movie, paper_b1, paper_gold
from topics.document import parse_document
from topics.links import Link

(SHOWN,) = re.findall(
    r"```yaml\n(format: harvest-schema/1\nname: judged-further\n.*?)```",
    (DOCS / "swan.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
SCHEMA = read_schema(parse_document(SHOWN, "judged-further.yaml"))


Score = tuple[str, Target, float]
Weights = Mapping[str, float]
NONE: Weights = MappingProxyType({})


def assessed(talk: Conversation, scores: Sequence[Score] = (), weights: Weights = NONE) -> Assessment:
    """The conversation with one person's scores: criterion, what was judged, and the score."""
    judgments = tuple(Judgment(target.about(), criterion, score) for criterion, target, score in scores)
    layers = [Layer("human", "anna", "1", "", "2026-01-01", judgments)] if judgments else []
    data = TopicData(M002, paper_gold(), ATTRIBUTES, Settings(weights=weights))
    return assess(talk, SCHEMA, Judgments.from_layers(layers, SCHEMA), data)


def recoveries(satisfied: Sequence[float | None], *, ended: str = "completed", why: str = "") -> dict[int, float]:
    """Recoverability by turn, if the user turns were judged as satisfied as this; None was not judged."""
    talk = conversation(*[("ask", "reply")] * len(satisfied), outcome=Outcome(ended, why))
    scores = [
        ("User satisfaction", Target(talk.trial_id, 1, turn, "user"), score)
        for turn, score in enumerate(satisfied, 1)
        if score is not None
    ]
    found = assessed(talk, scores)
    assert found.orphans == 0
    return {one.item.turn: one.value for one in found.scored["Recoverability"]}


def test_the_degree_of_recovery_is_the_reduction_of_dissatisfaction() -> None:
    # d is .75 in U2, then .25: two thirds are gone. U3 and U4 (.5) are not dissatisfied. U5 is, and U6 is no less.
    assert recoveries([1, 0.25, 0.75, 0.5, 0, 0, 1]) == {2: pytest.approx(2 / 3), 5: 0.0, 6: 1.0}
    assert recoveries([1, 0.4, 0.1]) == {2: 0.0}, "d rises"
    assert recoveries([0, 1]) == {}, "nothing was said before the first user turn"


def test_without_the_next_user_turn_there_is_a_degree_only_if_the_user_chose_to_stop() -> None:
    assert recoveries([1, 0]) == {}
    assert recoveries([1, 0], ended="user-stopped") == {2: 0.0}
    assert recoveries([1, 0, None], ended="user-stopped") == {}
    assert recoveries([None, None, None]) == {}


@pytest.mark.parametrize(
    ("why", "found"),
    [
        *((why, {2: 0.0}) for why in ("frustrated", "patience", "left", "person-left", "of a plug-in")),
        *((why, {}) for why in sorted(WITHOUT_A_CHOICE | {SATISFIED, GOAL_REACHED})),
    ],
)
def test_a_user_who_left_satisfied_or_could_not_continue_is_not_a_failed_recovery(
    why: str, found: dict[int, float]
) -> None:
    assert recoveries([1, 0], ended="user-stopped", why=why) == found
    assert recoveries([1, 0, 1], ended="user-stopped", why=why) == {2: 1.0}, "what was judged counts"


@given(st.lists(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), min_size=1, max_size=6))
def test_a_degree_is_in_0_to_1_and_is_0_or_1_if_users_are_wholly_satisfied_or_not_at_all(each: list[float]) -> None:
    assert all(0 <= value <= 1 for value in recoveries(each).values())
    whole = [float(score > 0.5) for score in each]
    expected = {turn: whole[turn] for turn in range(2, len(whole)) if whole[turn - 1] == 0}
    assert recoveries(whole) == expected


def test_satisfaction_is_not_part_of_swan_and_the_reason_of_a_degree_names_both_values() -> None:
    talk = conversation(*[("ask", "reply")] * 3)
    scores = [("User satisfaction", Target(talk.trial_id, 1, turn, "user"), turn / 4) for turn in (1, 2, 3)]
    found = assessed(talk, [scores[0], (*scores[1][:2], 0.25), scores[2]])
    (one,) = found.scored["Recoverability"]
    assert one.value == pytest.approx(2 / 3)
    assert one.note == "dissatisfaction 0.75, then 0.25"
    assert found.wans(SCHEMA)["User satisfaction"].n == 3
    assert found.swan(SCHEMA).value == pytest.approx(2 / 3)


def conciseness(scores: Mapping[tuple[int, str], float], *answers: str) -> dict[int, float]:
    """Conciseness by turn, if the claims (turn, words) have this Correctness."""
    talk = conversation(*(("ask", answer) for answer in answers))
    judged = []
    for (turn, words), score in scores.items():
        start = answers[turn - 1].index(words)
        judged.append(("Correctness", Target(talk.trial_id, 1, turn, "system", start, start + len(words)), score))
    found = assessed(talk, judged)
    assert found.orphans == 0
    return {one.item.turn: one.value for one in found.scored["Conciseness"]}


def test_conciseness_by_correctness_is_the_mean_correctness_of_the_claims_times_the_length_penalty() -> None:
    short = "It is old. It is red. It is tall."
    long = f"It is old.\n\n# {filler(500 - 4)}"
    claims = {(1, "It is old."): 1.0, (1, "It is red."): 0.5, (1, "It is tall."): 0.0}
    found = conciseness({**claims, (2, "It is old."): 1.0}, short, long, "It is new.")
    assert found == {1: pytest.approx(0.5), 2: pytest.approx(math.exp(-1))}, "nobody judged the claim of turn 3"


def test_the_longer_of_two_turns_with_the_same_correct_claim_is_less_concise() -> None:
    answers = [f"It is old.\n\n# {filler(words - 4)}" for words in (100, 250, 300, 400)]
    found = conciseness({(turn, "It is old."): 1.0 for turn in range(1, 5)}, *answers)
    assert found == {1: 1.0, 2: 1.0, 3: pytest.approx(math.exp(-0.2)), 4: pytest.approx(math.exp(-0.6))}


def nugget_fairness(talk: Conversation, weights: Weights) -> dict[str, float]:
    """Fair exposure by the words of the nugget."""
    answers = {turn.number: turn.reply.answer.text for turn in talk.turns if turn.reply}
    scored = assessed(talk, weights=weights).scored["Fair exposure"]
    return {answers[one.item.turn][one.item.start : one.item.end]: one.value for one in scored}


# DistrSim of a single film, whose RATINGS are one group of four with equal targets: 1 - sqrt(OD/3). OD is the mean of
# the sums of |i - j|·(p_j - q_j)² from the four groups: 3.25/4 for an inner group, 4.25/4 for an outer one.
INNER, OUTER = 1 - math.sqrt(3.25 / 12), 1 - math.sqrt(4.25 / 12)


def test_each_nugget_of_figure_5_has_eq_3_of_its_own_film() -> None:
    found = nugget_fairness(paper_b1(), MappingProxyType({"ORIGIN": 0.0}))
    by_film = {words.partition(" (")[0]: value for words, value in found.items()}
    outer = ("Back to the Future", "Interstellar")
    assert len(by_film) == 10
    assert by_film == {film: pytest.approx(OUTER if film in outer else INNER, abs=1e-12) for film in by_film}
    assert pytest.approx(0.4796, abs=5e-5) == INNER  # [GFRC] Table 2: all films of S2 are of this group


def test_aw_weights_the_attribute_sets_of_a_nugget() -> None:
    # ORIGIN of one group whose target is q: DistrSim is ((1 + q)·log2(1 + q) - q·log2(q)) / 2.
    q = 26.5 / 237
    origin = ((1 + q) * math.log2(1 + q) - q * math.log2(q)) / 2
    for weight in (0.0, 1.0, 3.0):
        found = nugget_fairness(paper_b1(), MappingProxyType({"RATINGS": weight}))
        (value,) = (value for words, value in found.items() if words.startswith("Groundhog Day"))
        assert value == pytest.approx((weight * INNER + origin) / (weight + 1), abs=1e-12)
    assert nugget_fairness(paper_b1(), MappingProxyType({"RATINGS": 0.0, "ORIGIN": 0.0})) == {}


def test_a_nugget_of_two_films_has_their_mean_and_one_without_a_relevant_film_has_no_score() -> None:
    # 1 of 2 films in each of the two upper groups: p - q is (-1, -1, 1, 1)/4, so each squared difference is 1/16, and
    # the distances from a group to the others sum to 6, 4, 4 and 6: OD is 20/4/16.
    both = f"Groundhog Day {movie('0107048')} and Interstellar {movie('0816692')}"
    talk = conversation(
        ("List films.", f"- {both}\n- Pulp Fiction {movie('0110912')}\n- Nothing else."),
        ("And by card?", "Here it is."),
        links=(
            (Link("a", movie("0107048")), Link("b", movie("0816692")), Link("c", movie("0110912"))),
            (Link("The Terminator", movie("0088247")),),
        ),
    )
    found = nugget_fairness(talk, MappingProxyType({"ORIGIN": 0.0}))
    assert found == {both: pytest.approx(1 - math.sqrt(20 / 64 / 3), abs=1e-12)}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("fair_exposure(of=word)", "`of` must be turn or nugget"),
        ("fair_exposure(by=turn)", "has the parameter of, not by"),
        ("correct_and_brief(words=0)", "`words` must be at least 1"),
        ("correct_and_brief(words=many)", "`words` must be a whole number, not 'many'"),
        (
            "correct_and_brief(words=9, x=1)",
            "is not a form of the rule correct_and_brief; write correct_and_brief(words=VALUE)",
        ),
        ("gave_way(", "'gave_way(' is not a form of the rule gave_way; write gave_way"),
        ("hedging(hedged=little)", "`hedged` must be a number, not 'little'"),
        ("recovery(sign=mood)", "`sign` must be label, user or judged"),
    ],
)
def test_an_invalid_parameter_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fault)):
        parse_rule(text)


def test_rules_are_read_back_from_their_notation() -> None:
    for text in ("fair_exposure", "fair_exposure(of=nugget)", "correct_and_brief(words=80)", "recovery(sign=judged)"):
        assert str(parse_rule(text)) == text
    assert parse_rule("fair_exposure(of=turn)") == parse_rule("fair_exposure")
