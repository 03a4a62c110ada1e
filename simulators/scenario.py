"""The data a user is given and sees, and the possible outcomes of a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from protocols.answer import Answer
from protocols.route import Say, Stop
from topics.topic import Topic

# A user's memory between turns, private to the user: an immutable value, so that any node of a tree can be
# forked and resumed. A frozen dataclass with a `simulators.memory.memory_kind`, or a mapping of plain JSON values.
State: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Scenario:
    """The information that a user is given before the conversation.

    - `topic`: the need as a user knows it, without anything about right answers.
    - `traits`: who the user is and what it has in mind, as JSON values by name, for example `group`, `goal`, `facet`.
      Each simulator documents the traits that it reads.
    """

    topic: Topic
    traits: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def id(self) -> str:
        """The name of the random streams, which is equal for matched users."""
        return self.topic.id


@dataclass(frozen=True, slots=True)
class Observation:
    """The system's last turn as a user sees it on the screen. `label` is `o` or `x` from the protocol's rules, or
    None if no rule judged the answer. Rules see the same answer as the user, never gold."""

    answer: Answer
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Chance:
    """A possible outcome of a turn: what the user says, or that it stops, and its memory afterwards. The probability
    is in (0, 1]. The chances of a turn, including those of stopping, sum to 1."""

    probability: float
    action: Say | Stop
    state: State
