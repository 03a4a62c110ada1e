"""What a user is given, what it may see, and how a turn can go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from protocols.answer import Answer
from protocols.route import Say, Stop
from topics.topic import Topic

# A user's memory between turns, which nobody else looks into: an immutable value, so that any node of a tree can be
# forked and resumed. A frozen dataclass with a `simulators.memory.memory_kind`, or a mapping of plain JSON values.
State: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a user is given before the conversation.

    topic: the need, as a user knows it, without anything about right answers. traits: who the user is and what it has
    in mind, as JSON values by name, for example `group`, `goal`, `facet`; each simulator says which it reads.
    """

    topic: Topic
    traits: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def id(self) -> str:
        """Names the random streams. Users that are matched have the same."""
        return self.topic.id


@dataclass(frozen=True, slots=True)
class Observation:
    """What a user sees of the system's last turn, and nothing else.

    answer: as it stands on the screen. label: `o` or `x` where the protocol's rules judged it on the way, None where
    no rule did; a rule sees the same answer, never gold.
    """

    answer: Answer
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Chance:
    """One way a turn can go.

    probability: in (0, 1]; the chances of a turn, including those of stopping, sum to 1. action: what the user then
    says, or that it stops. state: its memory afterwards.
    """

    probability: float
    action: Say | Stop
    state: State
