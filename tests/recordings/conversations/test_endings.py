"""How many turns a conversation that ended badly would still have had: by hand, and by playing on in every way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given

from protocols.answer import Answer, Exchange
from protocols.interpreter import Position, advance, begin
from protocols.library import decode_protocol, load_protocol
from protocols.missing_turns import fewest_turns_onward
from protocols.protocol import Protocol
from protocols.route import Route, Say, Stop
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.conversations.endings import missing_turns
from recordings.log.header import make_header
from recordings.log.turn_counts import add_missing_turns
from tests.protocols.test_interpreter import M002, TOPICS, protocols
from topics.topic import Topic, TopicSet

RULES = {"yes": {"contains": {"phrases": ["yes"]}}, "no": {"contains": {"phrases": ["no"]}}}
BREAK = {"if": "no", "label": "x", "stop": "breakdown"}
USERS = {"visitor": {"simulator": "markov"}}


def protocol(states: Mapping[str, object], **rest: object) -> Protocol:
    value = {"format": "harvest-protocol/1", "name": "p", "version": 1, "rules": RULES, "start": next(iter(states))}
    return decode_protocol(value | {"states": states} | rest)


def state(*ways: dict[str, str], say: str = "Well?") -> dict[str, object]:
    """A state that breaks down at `no`; ways: after `yes`, and after anything else."""
    yes, other = ways[0], ways[-1]
    return {
        "say": say,
        "edges": [BREAK, {"if": "yes", "label": "o"} | yes, {"otherwise": True, "label": "x"} | other],
    }


DONE = {"stop": "completed"}
ROUNDS = protocol({f"s{n}": state({"go": f"s{n + 1}"}) for n in range(1, 5)} | {"s5": state(DONE)})
COIN = protocol({"ask": state(DONE, {"go": "ask"})}, turn_limit=10)
ENDLESS = protocol({"ask": state({"go": "ask"})}, turn_limit=10)
FORKED = protocol(
    {"ask": state({"go": "long"}, {"go": "short"}), "long": state({"go": "more"}), "more": state(DONE)}
    | {"short": state(DONE)}
)
SPOKEN = protocol(
    {"ask": state({"go": "talk"}), "talk": {"user": "visitor", "edges": state({"go": "talk"})["edges"]}},
    users=USERS,
    turn_limit=8,
)


@pytest.mark.parametrize(
    ("played", "at", "turn", "missing"),
    [
        (load_protocol("fairweb-two-round"), "ask", 1, 1),
        (load_protocol("fairweb-two-round"), "more", 2, 0),
        (load_protocol("robustness-one-turn"), "ask", 1, 0),
        (ROUNDS, "s1", 1, 4),
        (ROUNDS, "s4", 4, 1),
        (ROUNDS, "s5", 5, 0),
        (replace(ROUNDS, turn_limit=3), "s1", 1, 2),
        (COIN, "ask", 1, 1),
        (COIN, "ask", 9, 1),
        (COIN, "ask", 10, 0),
        (ENDLESS, "ask", 1, 1),
        (ENDLESS, "ask", 10, 0),
        (FORKED, "ask", 1, 1),
        (FORKED, "long", 2, 1),
        (FORKED, "short", 2, 0),
        (SPOKEN, "ask", 1, 1),
        (SPOKEN, "talk", 4, 1),
        (COIN, "a state of another protocol", 3, 1),
    ],
)
def test_missing_turns_are_the_fewest_to_the_protocols_own_end(
    played: Protocol, at: str, turn: int, missing: int
) -> None:
    assert fewest_turns_onward(played, M002, at, {}, turn) == missing


def test_seed_turns_that_were_not_said_yet_are_missing() -> None:
    listed = {"play": state({"go": "next"}, say="{{ item }}") | {"each": "topic.turns", "then": DONE}}
    topic = replace(M002, turns=("a", "b", "c", "d"))
    assert fewest_turns_onward(protocol(listed), topic, "play", {"play": 1}, 1) == 3
    assert fewest_turns_onward(protocol(listed), topic, "play", {"play": 4}, 4) == 0


@given(protocols(), TOPICS)
def test_nothing_is_charged_that_some_way_on_would_not_have_had(played: Protocol, topic: Topic) -> None:
    """Against playing on: from every place a conversation comes to, with every answer in turn."""
    endless = replace(played, turn_limit=None)
    waiting: list[tuple[Say | Stop, Position, tuple[Exchange, ...]]] = [(*begin(endless, topic), ())]  # type: ignore[list-item]
    seen = set()
    while waiting:
        action, position, exchanges = waiting.pop()
        if isinstance(action, Stop) or (position.state, position.used) in seen:
            continue
        seen.add((position.state, position.used))
        used = dict(position.used)
        expected = _fewest(endless, topic, action, position, exchanges)
        assert fewest_turns_onward(endless, topic, position.state, used, position.turn) == expected
        if played.turn_limit is not None and position.turn <= played.turn_limit:
            left = played.turn_limit - position.turn
            assert fewest_turns_onward(played, topic, position.state, used, position.turn) == min(expected, left)
        waiting += _followers(endless, topic, action, position, exchanges)


def _followers(
    played: Protocol, topic: Topic, action: Say, position: Position, exchanges: tuple[Exchange, ...]
) -> list[tuple[Say | Stop, Position, tuple[Exchange, ...]]]:
    longer = [(*exchanges, Exchange(action.text, Answer(text))) for text in ("yes", "no", "perhaps")]
    return [(*advance(played, topic, position, one), one) for one in longer]  # type: ignore[misc]


def _fewest(played: Protocol, topic: Topic, action: Say, position: Position, exchanges: tuple[Exchange, ...]) -> int:
    """Turns until `completed`, of those ways on that say anything; 1 where none of them is ever completed."""
    here = [one for one in _followers(played, topic, action, position, exchanges) if isinstance(one[0], Say)]
    turns, seen, any_way = 0, set(), bool(here)
    while here:
        turns += 1
        following = [
            one
            for said, place, before in here
            if isinstance(said, Say)
            for one in _followers(played, topic, said, place, before)
        ]
        if any(isinstance(one[0], Stop) and one[0].outcome == "completed" for one in following):
            return turns
        here = []
        for one in following:
            if isinstance(one[0], Say) and (one[1].state, one[1].used) not in seen:
                seen.add((one[1].state, one[1].used))
                here.append(one)
    return int(any_way)


def ended(outcome: Outcome, *states: str, target: str = "stop:breakdown", silent: bool = False) -> Conversation:
    """A conversation that went through `states`. target: where its last answer led. silent: the last has no answer."""
    turns = []
    for number, name in enumerate(states, 1):
        last = number == len(states)
        route = Route(number, name, "x", "rule", "1", (), target if last else states[number])
        reply = None if last and silent else SystemTurn(Answer("no"))
        turns.append(Turn(number, name, "Well?", reply, route if reply else None))
    return Conversation(TrialKey("A", "M002", 1), "id", 1, tuple(turns), outcome)


LEFT = Outcome("user-stopped", "frustrated")


@pytest.mark.parametrize(
    ("conversation", "missing"),
    [
        (ended(Outcome("breakdown"), "s1", "s2"), 3),
        (ended(Outcome("no-match"), "s1"), 4),
        (ended(Outcome("system-ended"), "s1", target="s2"), 4),
        (ended(Outcome("system-ended"), "s5", target="stop:completed"), 0),
        (ended(LEFT, "s1", target="s2"), 0),
        (ended(Outcome("user-stopped", "satisfied"), "s1", target="s2"), 0),
        (ended(Outcome("completed"), "s1", target="stop:completed"), 0),
        (ended(Outcome("turn-limit"), "s1", target="stop:turn-limit"), 0),
        (ended(Outcome("invalid"), "s1"), 0),
    ],
)
def test_only_a_bad_end_is_charged_and_by_the_protocol(conversation: Conversation, missing: int) -> None:
    header = make_header(audit=None, protocol=ROUNDS, topics=TopicSet("t", (M002,), {}), systems={"A": {}})
    (found,) = add_missing_turns([conversation], header)
    assert missing_turns(found) == missing


def test_without_a_protocol_one_turn_is_missing_or_the_one_without_an_answer() -> None:
    spoken, silent = ended(Outcome("breakdown"), "s1"), ended(Outcome("breakdown"), "s1", "s2", silent=True)
    header = make_header(audit=None, protocol=None, topics=None, systems={"A": {}})
    assert [missing_turns(one) for one in add_missing_turns([spoken, silent], header)] == [1, 0]
    assert missing_turns(replace(spoken, outcome=Outcome("breakdown", missing=3))) == 3
