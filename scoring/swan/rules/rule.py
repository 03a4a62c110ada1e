"""The seam for scoring rules: what one sees of a conversation, and what it gives.

A rule is a value: no I/O, no clock, no randomness. It scores what it can tell and is silent about the rest, because
an item without a score is left out of a criterion and a made-up score is not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol, runtime_checkable

from recordings.conversations.conversation import Conversation
from scoring.nuggets import Nugget as Entity
from scoring.settings import Settings
from scoring.swan.item import Item
from scoring.swan.nugget import Nugget, Span
from topics.attributes import AttributeSet


@dataclass(frozen=True, slots=True)
class Sight:
    """What a rule can see. items: of the criterion, in reading order. nuggets: of both sides, also of type E.

    entities: links with gains and memberships, () where nothing is known of the topic. attributes: the attribute
    sets of the topic's type. known: scores other criteria already have, by criterion and item.
    """

    conversation: Conversation
    items: tuple[Item, ...]
    nuggets: tuple[Nugget, ...]
    entities: tuple[Entity, ...] = ()
    attributes: tuple[AttributeSet, ...] = ()
    settings: Settings = field(default_factory=Settings)
    known: Mapping[str, Mapping[Item, float]] = field(default_factory=lambda: MappingProxyType({}))

    def text(self, item: Item) -> str:
        """The words of an item: of a nugget, or of a whole system turn."""
        for turn in self.conversation.turns:
            if turn.number == item.turn and turn.reply is not None:
                text = turn.reply.answer.text
                return text if item.start < 0 else text[item.start : item.end]
        return ""

    def said(self, turn: int) -> str:
        """The words of the user turn that a system turn answers; "" where there is no such turn."""
        return next((one.said for one in self.conversation.turns if one.number == turn), "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The score in [0, 1] that a rule gives an item. because: why, in a few words. spans: the words it rests on, of
    either side, so that a reader finds them; () where it rests on the item as a whole.
    """

    item: Item
    value: float
    because: str = ""
    spans: tuple[Span, ...] = ()

    @property
    def note(self) -> str:
        """The reason with the places, as a judgment keeps it: `2 of 3 asked for (user turn 1, characters 5-16)`."""
        places = [f"{speaker} turn {turn}, characters {start}-{end}" for turn, speaker, start, end in self.spans]
        return f"{self.because} ({'; '.join(places)})".strip() if places else self.because


class RuleScorer(Protocol):
    """Gives scores in [0, 1] to items of one level."""

    @property
    def level(self) -> Literal["nugget", "turn"]: ...

    @property
    def version(self) -> str:
        """Raised whenever the same conversation could be scored differently; stands on every score."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Criteria whose scores it reads. Its own scores are then never kept in a layer, since those may change."""
        ...

    @property
    def limits(self) -> str:
        """What it cannot see, in a sentence, for the table of criteria."""
        ...

    @property
    def silence(self) -> str:
        """Why it gives an item no score, in a few words: what stands beside a criterion that is undefined."""
        ...

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        """A score for each item it can tell something about. Never raises on what a system wrote."""
        ...

    def __str__(self) -> str:
        """As it is written in a schema file."""
        ...


@dataclass(frozen=True, slots=True)
class SetSight:
    """What a rule can see of all conversations of a system on a topic. own: by trial. groups: those of every group of
    users, or arm, that the system was played for, its own among them; {} where it was played for none.
    """

    system: str
    topic: str
    own: tuple[Sight, ...]
    groups: Mapping[str, tuple[Sight, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def every(self) -> tuple[Sight, ...]:
        """The conversations of all groups, or its own where there are none."""
        return tuple(one for group in self.groups.values() for one in group) or self.own


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """The score in [0, 1] that a rule gives a set of conversations, and why, in a few words."""

    value: float
    because: str


@runtime_checkable
class SetRule(Protocol):
    """Gives one score to all conversations of a system on a topic. See `RuleScorer` for what the words mean."""

    @property
    def level(self) -> Literal["set"]: ...

    @property
    def version(self) -> str: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def limits(self) -> str: ...

    @property
    def silence(self) -> str: ...

    def score(self, sight: SetSight) -> SetVerdict | None:
        """None where it can tell nothing. Never raises on what a system wrote."""
        ...

    def __str__(self) -> str: ...
