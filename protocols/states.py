"""The states of a protocol: what each one says, and how the answer leads on."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.wording import Wording
from topics.topic import Topic

__all__ = ["Edge", "State", "Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go: on to a state, or to the end. Exactly one of the two is not empty.

    state: name of a state. outcome: `completed` or `breakdown`.
    """

    state: str = ""
    outcome: str = ""

    def __str__(self) -> str:
        return self.state or f"stop:{self.outcome}"


@dataclass(frozen=True, slots=True)
class Edge:
    """A way out of a state. rule: name of the rule that must hold; "" for `otherwise`. label: `o` or `x`."""

    rule: str
    label: str
    target: Target


@dataclass(frozen=True, slots=True)
class State:
    """One thing the user says, and the edges that are tried in order on the answer.

    A state that goes through the topic's turns (`then` is set) says one of them each time it is entered, across the
    whole conversation; when none is left, it hands on to `then` without a word. empty: where to go instead of `then`
    for a topic without turns; None is `then`.
    """

    name: str
    say: Wording
    edges: tuple[Edge, ...]
    then: Target | None = None
    empty: Target | None = None

    @property
    def each(self) -> bool:
        """Whether the state goes through the topic's turns."""
        return self.then is not None

    def after_last(self, topic: Topic) -> Target | None:
        """Where a state that has said all of the topic's turns hands on to; None for other states."""
        return self.then if topic.turns else (self.empty or self.then)
