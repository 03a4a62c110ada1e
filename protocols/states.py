"""The states of a protocol: what each one says, and how the answer leads on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from protocols.wording import Wording
from topics.topic import Topic

if TYPE_CHECKING:  # it brings pydantic, which playing a protocol does not need
    from topics.document import Document


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an edge: the name of a state, or an outcome (`completed` or `breakdown`); the other field is ""."""

    state: str = ""
    outcome: str = ""

    def __str__(self) -> str:
        return self.state or f"stop:{self.outcome}"


@dataclass(frozen=True, slots=True)
class Edge:
    """A way out of a state. rule: the name of the rule that must hold; "" for `otherwise`. label: `o` or `x`."""

    rule: str
    label: str
    target: Target


@dataclass(frozen=True, slots=True)
class SimulatedUser:
    """A user named in a protocol; `simulators.registry` builds it. simulator: the name of the policy. options: its
    options as JSON values, including `over` if it wraps another one. document: the same part of the file, for the
    places of errors."""

    simulator: str
    options: Mapping[str, object]
    document: Document = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """One thing that the user says, and the edges that are tried in order on the answer.

    A state that goes through the topic's turns (`then` is set) says one of them each time it is entered, across the
    whole conversation; when none is left, it passes on to `then` without a word. empty: where to go instead of `then`
    for a topic without turns; None means `then`. user: the name of the simulated user who speaks in this state, which
    then has no words of its own.
    """

    name: str
    say: Wording | None
    edges: tuple[Edge, ...]
    then: Target | None = None
    empty: Target | None = None
    user: str = ""

    @property
    def each(self) -> bool:
        return self.then is not None

    def after_last(self, topic: Topic) -> Target | None:
        """Return where a state leads after all of the topic's turns were said; None for other states."""
        return self.then if topic.turns else (self.empty or self.then)
