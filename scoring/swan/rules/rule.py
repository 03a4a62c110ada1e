"""The declaration of a scoring rule, the rule's view of a conversation, and its verdicts.

A rule does no I/O, reads no clock and draws no random numbers. It scores the items it can judge and is silent about the
rest: an item without a score is left out of a criterion, but an invented score is not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from recordings.conversations.conversation import Conversation
from scoring.nuggets import Nugget as Entity
from scoring.settings import Settings
from scoring.swan.item import Item
from scoring.swan.nugget import Nugget, Span
from topics.attributes import AttributeSet


@dataclass(frozen=True, slots=True)
class Sight:
    """What a rule can see. items: of the criterion, in reading order. nuggets: of both sides, also of type E. entities:
    links with gains and memberships, () if nothing is known of the topic. attributes: the attribute sets of the topic's
    type. known: scores that other criteria already have, by criterion and item.
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
        """The words of the user turn that a system turn answers; "" without one."""
        return next((one.said for one in self.conversation.turns if one.number == turn), "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's score in [0, 1] for an item, the reason, and the words it rests on; () for the item as a whole."""

    item: Item
    value: float
    because: str = ""
    spans: tuple[Span, ...] = ()

    @property
    def note(self) -> str:
        """The reason with the places, as a judgment keeps it: `2 of 3 asked for (user turn 1, characters 5-16)`."""
        places = [f"{speaker} turn {turn}, characters {start}-{end}" for turn, speaker, start, end in self.spans]
        return f"{self.because} ({'; '.join(places)})".strip() if places else self.because


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that gives scores in [0, 1] to items of one level.

    name: as in a schema file, with its parameter. version: raised whenever the same conversation could be scored
    differently; it is written on every score. limits: what the rule cannot see, in a sentence, for the table of
    criteria. silence: why it gives an item no score, in a few words, shown with a criterion that is undefined. judge:
    gives a score for each item that it can judge, and never raises because of what a system wrote. needs: the criteria
    whose scores it reads; its own scores are then never kept in a layer, since those may change.
    """

    name: str
    version: str
    level: Literal["nugget", "turn"]
    limits: str
    silence: str
    judge: Callable[[Sight], Iterator[Verdict]] = field(compare=False, repr=False)
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class SetSight:
    """All conversations of a system on a topic: its own by trial, and those of each group or arm, {} without groups."""

    system: str
    topic: str
    own: tuple[Sight, ...]
    groups: Mapping[str, tuple[Sight, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def every(self) -> tuple[Sight, ...]:
        """The conversations of all groups, or its own if there are none."""
        return tuple(one for group in self.groups.values() for one in group) or self.own


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """The score in [0, 1] that a rule gives a set of conversations, and the reason, in a few words."""

    value: float
    because: str


@dataclass(frozen=True, slots=True)
class SetRule:
    """A rule that gives a set of conversations one score in [0, 1], or None if it cannot; fields are as in `Rule`."""

    name: str
    version: str
    limits: str
    silence: str
    judge: Callable[[SetSight], SetVerdict | None] = field(compare=False, repr=False)
    level: Literal["set"] = "set"

    def __str__(self) -> str:
        return self.name
