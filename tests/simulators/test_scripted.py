"""The scripted user: its memory survives JSON at every turn, and can be forked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.route import Say, Stop
from simulators.memory import decode_memory, encode_memory
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams, User
from tests.support.talking import through_json, written
from topics.kinds import KINDS
from topics.library import load_topics, shipped_topics
from topics.links import Link
from topics.topic import Topic, TopicType

M002 = Topic(
    "M002",
    TopicType("movie", "movie title, iMDB URL", KINDS["imdb-title"], ("RATINGS",)),
    "Please list up sci-fi movies that feature time travel, listed in IMDb.",
    turns=("First", "Second"),
    fields={"year": "2004"},
)
ANSWERS = (
    Answer("Primer", (Link("Primer", "https://www.imdb.com/title/tt0390384/"),)),
    Answer("Primer and Looper."),
    Answer("I’m sorry, but I can’t help with that."),
    Answer(""),
)
SEEN = tuple(Observation(answer) for answer in ANSWERS)
SCENARIO = Scenario(M002)
RNG = Streams(0, ("scripted", "M002", 1))


@pytest.mark.parametrize("name", ["fairweb-two-round", "seed-turns"])
def test_every_node_of_the_whole_tree_can_be_saved_as_json_and_continued(name: str) -> None:
    user: User = ScriptedUser(load_protocol(name))
    waiting = [user.respond(through_json(user.start(SCENARIO, RNG)), None, RNG)]
    nodes = stops = 0
    while waiting:
        action, state = waiting.pop()
        nodes += 1
        if isinstance(action, Stop):
            stops += 1
            continue
        before = written(state)
        for answer in SEEN:
            plain = user.respond(state, answer, RNG)
            kept = user.respond(through_json(state), answer, RNG)
            other = ScriptedUser(load_protocol(name)).respond(through_json(state), answer, RNG)
            assert plain == kept == other
            waiting.append(kept)
        assert written(state) == before, "a fork leaves the memory as it was"
    # Two-round: after the first answer 2 of 4 go on (a list; vague words); seed-turns: all 4 do.
    assert (nodes, stops) == ({"fairweb-two-round": (13, 10), "seed-turns": (21, 16)})[name]


def test_a_scripted_user_says_the_protocols_words() -> None:
    user = ScriptedUser(load_protocol("fairweb-two-round"))
    assert user.name == "scripted"
    action, state = user.respond(user.start(SCENARIO, RNG), None, RNG)
    assert isinstance(action, Say)
    assert action.text.endswith("Format: movie title, iMDB URL")
    action, state = user.respond(state, SEEN[0], RNG)
    assert isinstance(action, Say)
    assert (action.text, action.route and action.route.label) == ("Can you name a few more?", "o")
    action, state = user.respond(state, SEEN[2], RNG)
    assert isinstance(action, Stop)
    assert (action.outcome, action.route and action.route.label) == ("completed", "x")
    with pytest.raises(ValueError, match="over"):
        user.respond(state, SEEN[0], RNG)


def test_the_protocols_words_draw_nothing_from_the_random_streams() -> None:
    user = ScriptedUser(load_protocol("seed-turns"))
    one, other = (user.respond(user.start(SCENARIO, Streams(seed)), None, Streams(seed)) for seed in (1, 2))
    assert user.respond(other[1], SEEN[1], Streams(3)) == user.respond(one[1], SEEN[1], Streams(4))


def test_an_answer_out_of_turn_is_an_error_of_the_caller() -> None:
    user = ScriptedUser(load_protocol("seed-turns"))
    state = user.start(SCENARIO, RNG)
    with pytest.raises(ValueError, match="has not begun"):
        user.respond(state, SEEN[0], RNG)
    with pytest.raises(ValueError, match="an answer is needed"):
        user.respond(user.respond(state, None, RNG)[1], None, RNG)


def test_the_memory_contains_the_topic_but_not_how_entities_are_grouped() -> None:
    topics = [M002, *(topic for topic_set in shipped_topics() for topic in load_topics(topic_set).topics)]
    user = ScriptedUser(load_protocol("seed-turns"))
    for topic in topics:
        kept = through_json(user.start(Scenario(topic), RNG)).topic
        assert kept == replace(topic, type=replace(topic.type, attributes=()))


@pytest.mark.parametrize("topic", [None, {}, {"id": "M1"}, {"id": 1}, []])
def test_an_invalid_memory_is_refused(topic: object) -> None:
    user = ScriptedUser(load_protocol("seed-turns"))
    kept = encode_memory(user.start(SCENARIO, RNG))
    for broken in ({**kept, "topic": topic}, {**kept, "exchanges": [topic]}):
        with pytest.raises(ValueError, match="not a saved memory: scripted"):
            decode_memory(broken)
    with pytest.raises(ValueError, match="not a memory"):
        user.respond(topic, None, RNG)
