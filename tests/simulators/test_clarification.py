"""The clarification user tells what it means when it is asked; rules on the answer say what counts as asking."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.questions import clarifying_question
from protocols.route import Say
from simulators.clarification import (
    ACTS,
    ClarificationMemory,
    ClarificationUser,
    Options,
    build,
)
from simulators.conformance import assert_conforms
from simulators.content_words import content_words, share_of_words
from simulators.stopping.hazard import Geometric
from simulators.user import Chance, Observation, Scenario, State, Streams
from tests.support.enumerable_users import ANSWERS, MOVIES, drawn_like_promised, said, walk
from topics.document import parse_document
from topics.errors import InputError
from topics.links import Link
from topics.topic import Topic, TopicType

RNG = Streams(5)
SCENARIO = Scenario(MOVIES, {"facet": "low-budget independent productions"})
OPEN = Observation(Answer("What kind of movies are you interested in?"))
CLOSED = Observation(Answer("Do you mean comedies or dramas?"))
NAMED = Observation(Answer("Are you looking for independent low-budget films?"))
BESIDE = Observation(Answer("Big studios spent a fortune on Tenet."))
MET = Observation(Answer("Primer is an independent production made on a low budget."))


def opened(user: ClarificationUser, scenario: Scenario = SCENARIO) -> State:
    return user.respond(user.start(scenario, RNG), None, RNG.at(1))[1]


def ways(chances: tuple[Chance, ...]) -> Mapping[str, float]:
    """Probability by act, or by the reason for leaving."""
    found: dict[str, float] = {}
    for chance in chances:
        key = chance.action.state if isinstance(chance.action, Say) else chance.action.reason
        found[key] = found.get(key, 0.0) + chance.probability
    return found


def test_every_node_keeps_its_promises() -> None:
    seen = walk(
        build(Options(patience=1, tries=1)), SCENARIO, (OPEN, CLOSED, NAMED, BESIDE, MET, *ANSWERS[5:]), depth=3
    )
    assert set(seen) == {*ACTS, "satisfied", "patience", "frustrated"}


def test_a_clarification_user_keeps_the_promises_of_the_interface() -> None:
    assert_conforms(build(Options()), [SCENARIO])


@given(
    cooperativeness=st.sampled_from([0.0, 0.4, 1.0]),
    initiative=st.sampled_from([0.0, 0.4, 1.0]),
    patience=st.integers(0, 2),
    tries=st.integers(0, 2),
    hazard=st.sampled_from([None, 0.0, 0.5, 1.0]),
)
@settings(max_examples=12, deadline=None)
def test_any_parameters_give_distributions(
    cooperativeness: float, initiative: float, patience: int, tries: int, hazard: float | None
) -> None:
    options = Options(
        cooperativeness=cooperativeness,
        initiative=initiative,
        patience=patience,
        tries=tries,
        stop=None if hazard is None else Geometric(p=hazard),
    )
    walk(build(options), SCENARIO, (OPEN, CLOSED, NAMED, BESIDE, MET), depth=3)


def test_draws_follow_the_promised_distribution() -> None:
    user = build(Options())
    state = opened(user)
    for observation in (OPEN, CLOSED, NAMED, BESIDE, MET):
        drawn_like_promised(user, state, observation, tests=5)


def test_a_clarification_user_answers_each_kind_of_question_in_its_way() -> None:
    user = build(Options(cooperativeness=0.75, initiative=0.25, stop=None))
    state = opened(user)
    assert ways(user.distribution(state, OPEN)) == pytest.approx({"tell": 0.75, "dismiss": 0.25})
    assert ways(user.distribution(state, CLOSED)) == pytest.approx({"correct": 0.75, "deny": 0.25})
    assert ways(user.distribution(state, NAMED)) == pytest.approx({"confirm": 1})
    assert ways(user.distribution(state, BESIDE)) == pytest.approx({"redirect": 0.25, "insist": 0.75})
    assert ways(user.distribution(state, MET)) == {"satisfied": 1}


def test_the_facet_is_hidden_until_it_is_requested_or_missed() -> None:
    facet = content_words("low-budget independent productions")
    telling = {"confirm", "correct", "tell", "redirect"}
    user = build(Options(stop=None))
    state = user.start(SCENARIO, RNG)
    for observation, before in ((None, state), *((seen, opened(user)) for seen in (OPEN, CLOSED, NAMED, BESIDE))):
        for chance in user.distribution(before, observation):
            assert isinstance(chance.action, Say)
            if chance.action.state not in telling:
                assert not facet & content_words(chance.action.text)


def test_an_answer_judged_useless_by_a_rule_satisfies_nobody() -> None:
    user = build(Options(stop=None, initiative=1.0))
    assert ways(user.distribution(opened(user), Observation(MET.answer, "x"))) == {"redirect": 1}


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with independent low-budget productions.",
        "As an AI language model, I cannot list independent, low-budget productions.",
        "その質問にはお答えできません。 low-budget independent",
        "502 Bad Gateway\n\nGET /independent/low-budget-productions",
    ],
)
def test_a_refusal_that_names_the_facet_satisfies_nobody(text: str) -> None:
    user = build(Options(initiative=0.5, stop=None))
    state = opened(user)
    assert ways(user.distribution(state, Observation(Answer(text)))) == {"redirect": 0.5, "insist": 0.5}
    assert ways(user.distribution(state, Observation(Answer(text), "o"))) == {"satisfied": 1.0}, "the protocol judges"
    after = user.respond(state, Observation(Answer(text)), RNG.at(2))[1]
    assert isinstance(after, ClarificationMemory)
    assert after.experience.coverage == (0.0,), "nothing of the need was met"


@pytest.mark.parametrize("label", [None, "o"])
def test_its_own_words_repeated_satisfy_nobody(label: str | None) -> None:
    user = build(Options(initiative=1.0, stop=None, tries=9))
    state = opened(user)
    for turn in range(2, 6):
        told, state = user.respond(state, Observation(BESIDE.answer), RNG.at(turn))
        assert isinstance(told, Say)
        for echo in (told.text, f"You said: {told.text.upper()}"):
            assert ways(user.distribution(state, Observation(Answer(echo), label))) == {"redirect": 1}
            assert (
                ways(user.distribution(state, Observation(Answer(f"{echo} Primer is one."), label)))["satisfied"] == 1
            )


def test_patience_ends_with_questions_and_tries_with_answers_that_miss_the_facet() -> None:
    user = build(Options(stop=None, patience=1, tries=1, cooperativeness=1.0, initiative=1.0))
    assert said(user, SCENARIO, [OPEN, CLOSED]) == ["ask", "tell", "patience"]
    assert said(user, SCENARIO, [BESIDE, OPEN, BESIDE]) == ["ask", "redirect", "tell", "frustrated"]
    assert said(user, SCENARIO, [OPEN, MET]) == ["ask", "tell", "satisfied"]


def test_coverage_is_the_largest_share_of_the_facet_so_far() -> None:
    user = build(Options(stop=None, overlap=1.0))
    state = opened(user)
    for turn, text in enumerate(("An independent film.", "Bananas.", "An independent production."), 2):
        state = user.respond(state, Observation(Answer(text)), RNG.at(turn))[1]
    assert state.experience.coverage == pytest.approx((0.25, 0.25, 0.5))


def test_the_facet_comes_from_the_trait_or_the_options() -> None:
    user = build(parse_document("facet: '{{ topic.fields.facet }}'", "f").validate_as(Options))
    assert user.start(Scenario(MOVIES), RNG).facet == "low-budget independent productions"
    assert user.start(Scenario(MOVIES, {"facet": "comedies"}), RNG).facet == "comedies"
    for scenario, words in (
        (Scenario(Topic("T1", TopicType("movie"), "Movies.")), "no field 'facet'"),
        (Scenario(MOVIES, {"facet": "of the"}), "has no facet"),
        (Scenario(MOVIES, {"facet": 3}), "has no facet"),
        (Scenario(MOVIES, {"face": "x"}), "did you mean 'facet'?"),
    ):
        with pytest.raises(InputError) as fault:
            user.start(scenario, RNG)
        assert words in str(fault.value)
    with pytest.raises(InputError, match="has no facet"):
        build(Options()).start(Scenario(MOVIES), RNG)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Which year should they be from?", False),
        ("Sure! Could you tell me which decade you have in mind?", False),
        ("Do you mean comedies?", True),
        ("Are you looking for films, or for series?", True),
        ("Happy to help. What do you already know? Tell me a little.", False),
        ("どの年の映画ですか？", False),
        ("أي سنة؟", False),
    ],
)
def test_a_clarifying_question_is_recognised(text: str, closed: bool) -> None:
    question = clarifying_question(Answer(text))
    assert question is not None
    assert question.closed == closed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Primer is one.",
        "Primer (2004). Is there anything else you would like to know?",
        "Primer is one of them. Would you like me to list more?",
        "Looper. Can I help you with something else?",
        "Looper. Did that answer your question?",
        "1. Primer\n2. Looper\nWhich one sounds good?",
        "The song is called “Who are you?”",
        "Run `ls ?` to see them",
        "Who made it? Nobody knows. The film was lost in a fire long ago. It has not been seen since then.",
        "word " * 61 + ". Which year?",
    ],
)
def test_deliveries_offers_and_quotations_are_not_clarifying_questions(text: str) -> None:
    assert clarifying_question(Answer(text)) is None


def test_an_answer_with_a_link_delivers() -> None:
    text = "See [Primer](https://www.imdb.com/title/tt0390384/). Which year?"
    assert clarifying_question(Answer(text, (Link("Primer", "https://www.imdb.com/title/tt0390384/"),))) is None
    assert clarifying_question(Answer("Which year?")) is not None


def test_content_words_exclude_those_of_every_sentence() -> None:
    assert content_words("Which of the movies are about Time travel?") == {"movie", "time", "travel"}
    assert share_of_words("time travel movies", "A movie about time") == pytest.approx(2 / 3)
    assert share_of_words("of the", "of the") == 0.0


@given(text=st.text(max_size=200))
def test_any_strange_answer_is_read(text: str) -> None:
    clarifying_question(Answer(text))
    assert 0 <= share_of_words(text, text) <= 1
