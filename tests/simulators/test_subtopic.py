"""The subtopic user: where it goes next depends on where it is, and on whether the answer was of use."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Say, Stop
from simulators.conformance import assert_conforms
from simulators.stopping.hazard import Geometric, TwoAlpha
from simulators.subtopic import ACTS, Matrices, Options, Requery, SubtopicUser, build
from simulators.user import Observation, Scenario, Streams
from tests.support.enumerable_users import ANSWERS, MOVIES, drawn_like_promised, said, walk
from topics.document import parse_document
from topics.errors import InputError
from topics.topic import Topic, TopicType

SCENARIO = Scenario(MOVIES)
USEFUL, USELESS, NEITHER = (Observation(Answer("so"), label) for label in ("o", "x", None))
RNG = Streams(5)


def next_subtopics(user: SubtopicUser, scenario: Scenario, first: str, observation: Observation) -> dict[str, float]:
    """Probability of each subtopic after opening with `first`, given that the user stays."""
    opening = next(
        chance.state
        for chance in user.distribution(user.start(scenario, RNG), None)
        if isinstance(chance.action, Say) and chance.action.text == first
    )
    found: dict[str, float] = {}
    for chance in user.distribution(opening, observation):
        if isinstance(chance.action, Say):
            name = next(one for one in MOVIES.turns if one in chance.action.text)
            found[name] = found.get(name, 0.0) + chance.probability
    total = sum(found.values())
    return {name: p / total for name, p in found.items()}


def test_every_node_keeps_its_promises() -> None:
    seen = walk(build(Options()), SCENARIO, ANSWERS[:3], depth=3)
    assert set(seen) == {*ACTS, "patience"}


def test_a_subtopic_user_keeps_the_promises_of_the_interface() -> None:
    assert_conforms(build(Options()), [SCENARIO, Scenario(MOVIES, {"subtopics": ["who?"]})])


@given(
    requery=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    unjudged=st.floats(0, 1),
    hazard=st.floats(0, 1),
    n=st.integers(1, 3),
)
@example(requery=(0.0, 5e-324), unjudged=0.0, hazard=0.0, n=2)
@settings(max_examples=15, deadline=None)
def test_any_parameters_give_distributions(
    requery: tuple[float, float], unjudged: float, hazard: float, n: int
) -> None:
    options = Options(
        requery=Requery(useful=requery[0], useless=requery[1]), unjudged=unjudged, stop=Geometric(p=hazard)
    )
    walk(build(options), Scenario(MOVIES, {"subtopics": list(MOVIES.turns[:n])}), ANSWERS[:3], depth=2)


def test_asking_again_is_likelier_after_a_useless_answer() -> None:
    user = build(Options(stop=None))
    first = MOVIES.turns[0]
    again = {
        label: next_subtopics(user, SCENARIO, first, seen)[first]
        for label, seen in zip("ox-", (USEFUL, USELESS, NEITHER))
    }
    # 12% and 34% of the public log, labelled illustrative; an answer nobody judged is half of each.
    assert again == pytest.approx({"o": 0.12, "x": 0.34, "-": 0.23})
    others = next_subtopics(user, SCENARIO, first, USELESS)
    assert [others[name] for name in MOVIES.turns[1:]] == pytest.approx([0.33, 0.33])


def test_matrices_decide_the_next_subtopic() -> None:
    useful = ((0.1, 0.9, 0.0), (0.0, 0.2, 0.8), (0.5, 0.0, 0.5))
    useless = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    user = build(Options(matrices=Matrices(useful=useful, useless=useless), unjudged=0.25, stop=None))
    a, b, _ = MOVIES.turns
    assert next_subtopics(user, SCENARIO, a, USEFUL) == pytest.approx({a: 0.1, b: 0.9})
    assert next_subtopics(user, SCENARIO, a, USELESS) == pytest.approx({a: 1.0})
    assert next_subtopics(user, SCENARIO, a, NEITHER) == pytest.approx({a: 0.25 * 0.1 + 0.75, b: 0.25 * 0.9})


def test_draws_follow_the_promised_distribution() -> None:
    user = build(Options())
    state = user.start(SCENARIO, RNG)
    drawn_like_promised(user, state, None, tests=4)
    opened = user.respond(state, None, RNG.at(1))[1]
    for observation in (USEFUL, USELESS, NEITHER):
        drawn_like_promised(user, opened, observation, tests=4)


def test_each_reason_for_leaving_is_drawn_as_often_as_promised() -> None:
    user = build(Options(stop=TwoAlpha(useful=0.6, useless=0.5)))
    opened = user.respond(user.start(SCENARIO, RNG), None, RNG.at(1))[1]
    reasons = {c.action.reason: c.probability for c in user.distribution(opened, NEITHER) if isinstance(c.action, Stop)}
    assert reasons == pytest.approx({"satisfied": 0.2, "frustrated": 0.25})
    drawn_like_promised(user, opened, NEITHER)


def test_the_opening_follows_the_given_probabilities() -> None:
    user = build(Options(first=(0.0, 1.0, 0.0), stop=None))
    action, _ = user.respond(user.start(SCENARIO, RNG), None, RNG.at(1))
    assert isinstance(action, Say)
    assert action.text == MOVIES.turns[1]


def test_acts_say_whether_a_subtopic_is_new_the_same_or_an_earlier_one() -> None:
    cycle = ((0.0, 1.0), (1.0, 0.0))
    user = build(Options(matrices=Matrices(useful=cycle, useless=((1.0, 0.0), (0.0, 1.0))), stop=None))
    scenario = Scenario(MOVIES, {"subtopics": ["who?", "when?"]})
    assert said(user, scenario, [USELESS, USEFUL, USEFUL]) == ["ask", "requery", "move", "return"]


def test_coverage_is_the_share_of_subtopics_with_a_useful_answer() -> None:
    user = build(Options(stop=None))
    state = user.start(SCENARIO, RNG)
    for turn, observation in enumerate((None, USELESS, USEFUL, NEITHER), 1):
        state = user.respond(state, observation, RNG.at(turn))[1]
    assert state.experience.coverage == pytest.approx((0, 1 / 3, 1 / 3))
    assert state.experience.labels == ("x", "o", "-")


def test_subtopics_come_from_the_trait_the_options_or_the_seed_turns() -> None:
    given_here = build(parse_document("subtopics: ['From {{ topic.fields.year }}?']", "f").validate_as(Options))
    for user, scenario, subtopics in (
        (build(Options()), SCENARIO, list(MOVIES.turns)),
        (given_here, SCENARIO, ["From 2004?"]),
        (given_here, Scenario(MOVIES, {"subtopics": ["who?"]}), ["who?"]),
    ):
        assert user.start(scenario, RNG).subtopics == tuple(subtopics)


def test_an_unplayable_user_is_refused_before_the_first_turn() -> None:
    bare = Topic("T1", TopicType("movie"), "Movies, please.")
    user = build(Options())
    for scenario, words in (
        (Scenario(bare), "has no subtopics"),
        (Scenario(MOVIES, {"subtopics": "who"}), "not a list of texts"),
        (Scenario(MOVIES, {"subtopics": ["who?", " "]}), "or one of them is empty"),
        (Scenario(MOVIES, {"subtopic": ["who?"]}), "did you mean 'subtopics'?"),
    ):
        with pytest.raises(InputError, match=r"T1|M002") as fault:
            user.start(scenario, RNG)
        assert words in str(fault.value)
    with pytest.raises(InputError, match="3 subtopics, but the option first has 2"):
        build(Options(first=(0.5, 0.5))).start(SCENARIO, RNG)
    with pytest.raises(InputError, match="'requeries' has words but is not an act of this user"):
        build(Options(words={"requeries": ("again",)}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("first: [0.5]", "must sum to 1"),
        ("matrices: {useful: [[1]], useless: [[0.5]]}", "useless: each row must sum to 1"),
        ("matrices: {useful: [[1, 0]], useless: [[1]]}", "both matrices must be square"),
        ("requery: {useful: 2}", "at most 1"),
        ("subtopics: ['{{ topic.gold }}']", "unknown variable 'topic.gold'"),
    ],
)
def test_invalid_options_are_reported(text: str, words: str) -> None:
    with pytest.raises(InputError) as fault:
        parse_document(text, "user.yaml").validate_as(Options)
    assert words in str(fault.value)


def test_the_shares_of_the_log_are_labelled_illustrative() -> None:
    assert (Requery().useful, Requery().useless) == (0.12, 0.34)
    assert "Illustrative" in str(Requery.__doc__)
