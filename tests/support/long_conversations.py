"""Users that never leave, for conversations as long as one likes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from protocols.answer import Answer
from protocols.protocol import Protocol
from protocols.reading import read_protocol
from simulators.registry import build_user, build_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, State, Streams, User
from topics.document import parse_document
from topics.links import Link
from topics.topic import Topic, TopicType

__all__ = ["PATIENT", "SCENARIO", "SEEN", "built", "memory_after", "scripted"]

SCENARIO = Scenario(Topic("T1", TopicType("movie"), "Films on time travel, please.", turns=("Which?", "Why?", "Who?")))
SEEN = Observation(
    Answer(
        "Here are some that people like. " * 20,
        tuple(Link(f"Film {number}", f"https://www.imdb.com/title/tt{number:07}/") for number in range(5)),
    ),
    "x",
)
_RANDOM = {"simulator": "random", "leave": 0, "most": 10_000}
_ROW = {"go-on": 0.5, "rephrase": 0.5}
_CUE = {"groups": {"teacher": {"cue": "I am a teacher."}}, "group": "teacher", "where": "every"}
PATIENT: Mapping[str, Mapping[str, Any]] = {
    "random": _RANDOM,
    "markov": {"simulator": "markov", "rows": [{"after": ["start"], "next": {"ask": 1}}, {"next": {"ask": 1}}]},
    "subtopic": {"simulator": "subtopic", "stop": None},
    "agenda": {"simulator": "agenda", "stop": None, "patience": 1000},
    "clarification": {"simulator": "clarification", "facet": "drawn ones", "stop": None, "tries": 1000},
    "reformulating": {"simulator": "reformulating", "table": dict.fromkeys("ox-", _ROW), "origin": "a test"}
    | {"over": _RANDOM},
    "persona": {"simulator": "persona", **_CUE, "over": _RANDOM},
    "paraphrasing": {"simulator": "paraphrasing", "typos": 0.2, "over": _RANDOM},
}


def built(description: Mapping[str, Any]) -> User:
    return build_user(parse_document(json.dumps(description), "user.yaml"))


def scripted(description: Mapping[str, Any]) -> User:
    """The user where a protocol names it, and judges the answers to it by a rule."""
    edges = [{"if": "refused", "label": "o", "go": "talk"}, {"otherwise": True, "label": "x", "go": "talk"}]
    document = parse_document(
        json.dumps(
            {
                "format": "harvest-protocol/1",
                "name": "talk",
                "version": 1,
                "turn_limit": 1000,
                "rules": {"refused": {"refusal": {}}},
                "users": {"visitor": dict(description)},
                "start": "talk",
                "states": {"talk": {"user": "visitor", "edges": edges}},
            }
        ),
        "talk.yaml",
    )
    protocol: Protocol = read_protocol(document)
    return ScriptedUser(protocol, build_users(protocol))


def memory_after(user: User, exchanges: int, rng: Streams) -> State:
    """The memory before the answer that makes so many exchanges. Every turn draws from the same streams."""
    state = user.respond(user.start(SCENARIO, rng), None, rng)[1]
    for _ in range(exchanges - 1):
        state = user.respond(state, SEEN, rng)[1]
    return state
