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
class SimulatedUser:
    """A user that a protocol names, as its file describes it; what it is, `simulators.registry` knows.

    simulator: the name of the policy. options: its options as JSON values, `over` among them where it stands over
    another. document: the same as it stands in the file, so that a fault in it can say where.
    """

    simulator: str
    options: Mapping[str, object]
    document: Document = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """One thing the user says, and the edges that are tried in order on the answer.

    A state that goes through the topic's turns (`then` is set) says one of them each time it is entered, across the
    whole conversation; when none is left, it hands on to `then` without a word. empty: where to go instead of `then`
    for a topic without turns; None is `then`. user: of a state in which a simulated user of the protocol speaks, its
    name; such a state has no words of its own.
    """

    name: str
    say: Wording | None
    edges: tuple[Edge, ...]
    then: Target | None = None
    empty: Target | None = None
    user: str = ""

    @property
    def each(self) -> bool:
        """Whether the state goes through the topic's turns."""
        return self.then is not None

    def after_last(self, topic: Topic) -> Target | None:
        """Where a state that has said all of the topic's turns hands on to; None for other states."""
        return self.then if topic.turns else (self.empty or self.then)
