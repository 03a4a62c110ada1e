"""Playing protocols: the two rounds of the paper, seed turns, and the laws every protocol keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from protocols.answer import Answer, Exchange
from protocols.interpreter import Position, advance, begin, retrace
from protocols.library import check_topics, decode_protocol, load_protocol
from protocols.protocol import Protocol
from protocols.route import Ask, Route, Say, Stop
from topics.errors import InputError
from topics.kinds import KINDS
from topics.topic import Topic, TopicSet, TopicType

# M002 as Figure 5 of the GFRC paper prints it, `iMDB` included; R001 as §4.1 prints it.
M002 = Topic(
    "M002",
    TopicType("movie", "movie title, iMDB URL", KINDS["imdb-title"]),
    "Please list up sci-fi movies that feature time travel, listed in IMDb.",
)
R001 = Topic(
    "R001",
    TopicType("researcher", "researcher name, URL", KINDS["web-page"]),
    "Please list up researchers who have published at least one paper (any track) at the CHIIR conference.",
)
LIST = "Here are some:\nPrimer (2004): https://www.imdb.com/title/tt0390384/"
REFUSAL = "I'm a text-based AI, and that is outside of my capabilities."
VAGUE = "Primer and Looper are films about time travel."

TWO_ROUNDS = load_protocol("fairweb-two-round")
SEED_TURNS = load_protocol("seed-turns")


def played(protocol: Protocol, topic: Topic, *answers: str) -> tuple[list[str], list[Route], Say | Stop]:
    """What was said, the routes, and the last action; the answers are given in order as far as they are asked for."""
    action, position = begin(protocol, topic)
    said, routes, exchanges = [], [], []
    for answer in answers:
        assert isinstance(action, Say)
        said.append(action.text)
        exchanges.append(Exchange(action.text, Answer(answer)))
        action, position = advance(protocol, topic, position, exchanges)
        assert action.route is not None
        routes.append(action.route)
    assert not isinstance(action, Ask)
    return said, routes, action


def test_the_first_turn_is_the_request_and_the_format_as_printed_in_the_paper() -> None:
    for topic, printed in (
        (
            M002,
            "Please list up sci-fi movies that feature time travel, listed in IMDb.\nFormat: movie title, iMDB URL",
        ),
        (
            R001,
            "Please list up researchers who have published at least one paper (any track) at the CHIIR conference.\n"
            "Format: researcher name, URL",
        ),
    ):
        action, position = begin(TWO_ROUNDS, topic)
        assert action == Say(printed, "ask", 1)
        assert position == Position("ask", 1)


@pytest.mark.parametrize(
    ("first", "second", "labels", "asked"),
    [
        (LIST, LIST, "oo", "Can you name a few more?"),
        (LIST, REFUSAL, "ox", "Can you name a few more?"),
        (VAGUE, LIST, "xo", 'Adhere to the output format I specified: "Format: movie title, iMDB URL"'),
        (VAGUE, VAGUE, "xx", 'Adhere to the output format I specified: "Format: movie title, iMDB URL"'),
        (VAGUE, "", "xx", 'Adhere to the output format I specified: "Format: movie title, iMDB URL"'),
    ],
)
def test_the_patterns_of_figure_2(first: str, second: str, labels: str, asked: str) -> None:
    said, routes, action = played(TWO_ROUNDS, M002, first, second)
    assert said[1] == asked
    assert "".join(route.label for route in routes) == labels
    assert isinstance(action, Stop)
    assert action.outcome == "completed"
    assert routes[-1].target == "stop:completed"


@pytest.mark.parametrize("answer", [REFUSAL, "", "502 Bad Gateway"])
def test_a_highly_inadequate_first_answer_is_a_breakdown(answer: str) -> None:
    _, routes, action = played(TWO_ROUNDS, M002, answer)
    assert isinstance(action, Stop)
    assert action.outcome == "breakdown"
    assert (routes[0].label, routes[0].rule, routes[0].target) == ("x", "inadequate", "stop:breakdown")


def test_a_route_names_the_rule_its_version_and_its_evidence() -> None:
    _, (route,), action = played(TWO_ROUNDS, M002, LIST)
    assert isinstance(action, Say)
    assert (route.turn, route.state, route.label, route.rule) == (1, "ask", "o", "useful")
    assert (route.version, route.target) == ("urls/1", "more")
    assert [(piece.start, piece.quote) for piece in route.evidence] == [(30, "https://www.imdb.com/title/tt0390384/")]


def test_otherwise_names_every_rule_that_did_not_match() -> None:
    _, (route,), _ = played(TWO_ROUNDS, M002, VAGUE)
    assert (route.rule, route.version) == ("otherwise", "urls/1 any(empty/2 error_page/1 refusal/5)")
    assert route.evidence[0].note == "useful: 0 different ones found"
    assert route.evidence[0].quote == "at least 1 URL(s) of the kind imdb-title"


def test_the_two_rounds_use_at_most_two_turns() -> None:
    assert TWO_ROUNDS.most_turns(M002) == 2
    assert TWO_ROUNDS.needs == {"links"}


def test_seed_turns_are_said_in_order_whatever_the_answers() -> None:
    topic = replace(M002, turns=("First {{ topic.id }}", "Second", "Third"))
    said, routes, action = played(SEED_TURNS, topic, "yes", REFUSAL, "")
    assert said == ["First {{ topic.id }}", "Second", "Third"], "what stands in a topic is never a template"
    assert [route.label for route in routes] == ["o", "x", "x"]
    assert [route.target for route in routes] == ["play", "play", "stop:completed"]
    assert action == Stop("completed", "unanswered in state 'play'", routes[-1])
    assert SEED_TURNS.most_turns(topic) == 3


def test_topics_with_seed_turns_need_no_request_and_those_without_do() -> None:
    kind = TopicType("chat")
    seeded = Topic("T1", kind, "", turns=("Hello.", "And now?"))
    check_topics(SEED_TURNS, TopicSet("t", (seeded, Topic("T2", kind, "Hello?")), {}))
    with pytest.raises(InputError, match="topic 'T3' has no request"):
        check_topics(SEED_TURNS, TopicSet("t", (seeded, Topic("T3", kind, "")), {}))


def test_a_topic_without_seed_turns_sends_its_request() -> None:
    said, _, action = played(SEED_TURNS, M002, "yes")
    assert said == [M002.request]
    assert isinstance(action, Stop)
    assert SEED_TURNS.most_turns(M002) == 1
    assert SEED_TURNS.needs == frozenset()


def made(**changes: object) -> Protocol:
    value: dict[str, object] = {
        "format": "harvest-protocol/1",
        "name": "made",
        "version": 1,
        "rules": {"yes": {"contains": {"phrases": ["yes"]}}},
        "start": "ask",
        "states": {"ask": {"say": "Go on.", "edges": [{"if": "yes", "label": "o", "go": "ask"}]}},
        "no_match": {"label": "x"},
        "turn_limit": 2,
    }
    return decode_protocol(value | changes)


def test_an_answer_without_a_matching_edge_is_an_outcome_of_its_own() -> None:
    _, (first, second), action = played(made(turn_limit=5), M002, "yes", "no")
    assert first.target == "ask"
    assert isinstance(action, Stop)
    assert (action.outcome, action.reason) == ("no-match", "no edge of state 'ask' fits the answer")
    assert (second.label, second.rule, second.target, second.version) == (
        "x",
        "no-match",
        "stop:no-match",
        "contains/2",
    )
    assert second.evidence[0].note == "yes: not found"


def test_the_turn_limit_ends_the_conversation_after_the_last_answer_got_its_label() -> None:
    _, routes, action = played(made(), M002, "yes", "yes")
    assert isinstance(action, Stop)
    assert action.outcome == "turn-limit"
    assert action.reason == "2 user turns are the limit; 'ask' was next"
    assert [(route.label, route.target) for route in routes] == [("o", "ask"), ("o", "stop:turn-limit")]


def test_the_protocols_own_end_wins_over_the_turn_limit() -> None:
    edges = [{"otherwise": True, "label": "o", "go": "next"}]
    play = {"say": "{{ item }}", "each": "topic.turns", "edges": edges, "then": {"stop": "completed"}}
    protocol = made(start="play", states={"play": play})
    _, _, action = played(protocol, replace(M002, turns=("a", "b")), "yes", "yes")
    assert isinstance(action, Stop)
    assert action.outcome == "completed"
    _, _, action = played(protocol, replace(M002, turns=("a", "b", "c")), "yes", "yes")
    assert isinstance(action, Stop)
    assert action.outcome == "turn-limit"


def test_a_list_continues_where_it_was_left() -> None:
    states = {
        "play": {
            "say": "{{ turn }}. {{ item }}",
            "each": "topic.turns",
            "edges": [{"if": "yes", "label": "o", "go": "next"}, {"otherwise": True, "label": "x", "go": "insist"}],
            "then": {"go": "thank"},
        },
        "insist": {"say": "Please.", "edges": [{"otherwise": True, "label": "x", "go": "play"}]},
        "thank": {"say": "Thanks.", "edges": [{"otherwise": True, "label": "o", "stop": "completed"}]},
    }
    value = {"start": "play", "states": states}
    topic = replace(M002, turns=("a", "b"))
    protocol = made(**value, turn_limit=9)
    said, routes, _ = played(protocol, topic, "no", "no", "yes", "yes")
    assert said == ["1. a", "Please.", "3. b", "Thanks."]
    assert [route.target for route in routes] == ["insist", "play", "thank", "stop:completed"]
    assert protocol.most_turns(topic) == 5


def test_advancing_from_the_wrong_place_is_an_error_of_the_caller() -> None:
    action, position = begin(TWO_ROUNDS, M002)
    with pytest.raises(ValueError, match="there are 0 exchanges"):
        advance(TWO_ROUNDS, M002, position, ())
    assert isinstance(action, Say)
    _, over = advance(TWO_ROUNDS, M002, position, (Exchange(action.text, Answer("")),))
    with pytest.raises(ValueError, match="is over"):
        advance(TWO_ROUNDS, M002, over, (Exchange(action.text, Answer("")),))


def test_a_recording_is_retraced_as_far_as_the_words_agree() -> None:
    said, routes, action = played(TWO_ROUNDS, M002, VAGUE, LIST)
    exchanges = [Exchange(text, Answer(answer)) for text, answer in zip(said, (VAGUE, LIST))]
    actions = retrace(TWO_ROUNDS, M002, exchanges)
    assert [step.route for step in actions] == [None, *routes]
    assert actions[-1] == action
    other = [exchanges[0], replace(exchanges[1], said="Something else")]
    assert len(retrace(TWO_ROUNDS, M002, other)) == 2
    assert len(retrace(TWO_ROUNDS, M002, ())) == 1


# --- Laws -----------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [LIST, REFUSAL, VAGUE, "", "yes", "no", "\u200b", "502 Bad Gateway", "’", "https://", "\n", "[a]("]
)
ANSWERS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=6).map("".join)).map(Answer)
NAMES = ("a", "b", "c", "d")
RULES = {"yes": {"contains": {"phrases": ["yes"]}}, "no": {"contains": {"phrases": ["no"]}}}


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    """A random protocol over two rules that any answer can be made to meet; only those that a file may hold."""
    names = NAMES[: draw(st.integers(1, 4))]
    way: st.SearchStrategy[dict[str, object]] = st.sampled_from(
        [{"go": name} for name in names] + [{"stop": "completed"}, {"stop": "breakdown"}]
    )
    states: dict[str, dict[str, object]] = {}
    for name in names:
        conditions: list[dict[str, object]] = [
            {"if": rule} for rule in draw(st.permutations(["yes", "no"]))[: draw(st.integers(0, 2))]
        ]
        conditions.append({"otherwise": True})
        edges = [condition | {"label": draw(st.sampled_from("ox"))} | draw(way) for condition in conditions]
        states[name] = {"say": f"State {name}.", "edges": edges}
        if draw(st.booleans()):
            states[name] |= {"each": "topic.turns", "then": draw(way)}
            if draw(st.booleans()):
                states[name]["empty"] = draw(way)
    limit = draw(st.one_of(st.just({}), st.builds(lambda n: {"turn_limit": n}, st.integers(1, 6))))
    value = {"format": "harvest-protocol/1", "name": "drawn", "version": 1, "rules": RULES, "start": "a"}
    try:
        return decode_protocol(value | {"states": states} | limit)
    except InputError:
        assume(False)
        raise


TOPICS = st.integers(0, 3).map(lambda count: replace(M002, turns=tuple(f"Turn {n}" for n in range(count))))
SLOW = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], deadline=None)


@SLOW
@given(protocols(), TOPICS, st.lists(ANSWERS, min_size=30, max_size=30))
def test_every_conversation_stops_in_time_and_every_answer_gets_a_label_and_a_reason(
    protocol: Protocol, topic: Topic, answers: list[Answer]
) -> None:
    most = protocol.most_turns(topic)
    action, position = begin(protocol, topic)
    exchanges: list[Exchange] = []
    while isinstance(action, Say):
        assert action.turn == len(exchanges) + 1 <= most
        assert action.text
        answer = answers[len(exchanges) % len(answers)]
        exchanges.append(Exchange(action.text, answer))
        following = advance(protocol, topic, position, exchanges)
        assert following == advance(protocol, topic, position, tuple(exchanges)), "the same in, the same out"
        action, position = following
        route = action.route
        assert route is not None
        assert route.label in ("o", "x")
        assert route.rule
        assert route.target == (f"stop:{action.outcome}" if isinstance(action, Stop) else action.state)
        for piece in route.evidence:
            assert piece.start == piece.end == -1 or answer.text[piece.start : piece.end] == piece.quote
    assert position.state == ""
    assert len(position.labels) == len(exchanges) == position.turn


@SLOW
@given(protocols(), TOPICS)
def test_the_maximum_of_turns_is_that_of_the_longest_possible_conversation(protocol: Protocol, topic: Topic) -> None:
    longest = 0
    waiting: list[tuple[Say | Ask | Stop, Position, tuple[Exchange, ...]]] = [(*begin(protocol, topic), ())]
    seen = set()
    while waiting:
        action, position, exchanges = waiting.pop()
        longest = max(longest, position.turn)
        place = replace(position, labels=())
        if isinstance(action, Stop) or place in seen:
            continue
        seen.add(place)
        assert isinstance(action, Say)
        for text in ("yes", "no", "perhaps"):
            more = (*exchanges, Exchange(action.text, Answer(text)))
            waiting.append((*advance(protocol, topic, position, more), more))
    assert longest == protocol.most_turns(topic)


@given(ANSWERS, ANSWERS)
def test_two_rounds_end_after_two_turns_for_any_answers(first: Answer, second: Answer) -> None:
    action, position = begin(TWO_ROUNDS, M002)
    assert isinstance(action, Say)
    exchanges = [Exchange(action.text, first)]
    action, position = advance(TWO_ROUNDS, M002, position, exchanges)
    if isinstance(action, Say):
        action, position = advance(TWO_ROUNDS, M002, position, [*exchanges, Exchange(action.text, second)])
    assert isinstance(action, Stop)
    assert action.outcome in ("completed", "breakdown")
