"""The seam for whoever takes the user's side: scripted, simulated or human.

A user is a pure policy over an immutable, JSON-serialisable state, so that any node of a conversation tree
can be forked and resumed. It sees the topic and the system's answers; never gold, never the driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from protocols.answer import Answer
from protocols.route import Say, Stop
from topics.topic import Topic

if TYPE_CHECKING:
    import numpy

__all__ = ["State", "User"]

State = Mapping[str, object]
"""A user's memory between turns: plain JSON values only."""


class User(Protocol):
    """Takes the user's side of a conversation."""

    name: str
    """What recordings call this user, for example `scripted`."""

    def start(self, topic: Topic, rng: numpy.random.Generator) -> State:
        """The memory before anything was said."""
        ...

    def respond(self, state: State, answer: Answer | None, rng: numpy.random.Generator) -> tuple[Say | Stop, State]:
        """The next action after `answer` (None: open the conversation), and the memory after it."""
        ...
