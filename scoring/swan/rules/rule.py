"""Declaration of scoring rules, their view of a conversation, and their verdicts.

A rule does no I/O, reads no clock and draws no random numbers. Items that a rule cannot judge must get no score: a
criterion leaves out missing scores, but an invented score would count.
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
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Sight:
    """A rule's view of a conversation.

    `items` are the items of the criterion, in reading order. `nuggets` are the nuggets of both sides, including type
    E. `entities` are links with gains and memberships, or () if the topic is unknown. `attributes` are the attribute
    sets of the topic's type. `known` has the scores that other criteria already have, by criterion and item. `topic`
    is None if the topic is unknown.
    """

    conversation: Conversation
    items: tuple[Item, ...]
    nuggets: tuple[Nugget, ...]
    entities: tuple[Entity, ...] = ()
    attributes: tuple[AttributeSet, ...] = ()
    settings: Settings = field(default_factory=Settings)
    known: Mapping[str, Mapping[Item, float]] = field(default_factory=lambda: MappingProxyType({}))
    topic: Topic | None = None

    def text(self, item: Item) -> str:
        """Return the text of an item, which is a nugget or a whole system turn."""
        for turn in self.conversation.turns:
            if turn.number == item.turn and turn.reply is not None:
                text = turn.reply.answer.text
                return text if item.start < 0 else text[item.start : item.end]
        return ""

    def said(self, turn: int) -> str:
        """Return the user turn that a system turn answers, or ""."""
        return next((one.said for one in self.conversation.turns if one.number == turn), "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's score in [0, 1] for an item, with the reason and supporting spans. `()` means the item as a whole."""

    item: Item
    value: float
    because: str = ""
    spans: tuple[Span, ...] = ()

    @property
    def note(self) -> str:
        """The reason with the spans, as recorded in a judgment: `2 of 3 asked for (user turn 1, characters 5-16)`."""
        places = [f"{speaker} turn {turn}, characters {start}-{end}" for turn, speaker, start, end in self.spans]
        return f"{self.because} ({'; '.join(places)})".strip() if places else self.because


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that gives scores in [0, 1] to items of one level.

    - `name`: the name in a schema file, with its parameter.
    - `version`: raised whenever the same conversation could be scored differently, and recorded with every score.
    - `limits`: the limits of the rule, for the table of criteria.
    - `silence`: why an item gets no score, in a few words that are shown with an undefined criterion.
    - `judge`: yields a score for each item that the rule can judge, and never raises because of the text of a system.
    - `needs`: the criteria whose scores the rule reads. Scores of a rule with needs are not recorded in a layer,
      since the scores that it reads may change.
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
    """A rule's view of all conversations of a system on a topic. `own` are the system's conversations by trial.
    `groups` has the conversations of each user group or arm, and is empty without groups."""

    system: str
    topic: str
    own: tuple[Sight, ...]
    groups: Mapping[str, tuple[Sight, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def all_sights(self) -> tuple[Sight, ...]:
        """The conversations of all groups, or the system's own if there are no groups."""
        return tuple(one for group in self.groups.values() for one in group) or self.own


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """A rule's score in [0, 1] for a set of conversations, and a short reason."""

    value: float
    because: str


@dataclass(frozen=True, slots=True)
class SetRule:
    """A rule that gives a set of conversations one score in [0, 1], or None if no score is possible. Fields are as in
    `Rule`."""

    name: str
    version: str
    limits: str
    silence: str
    judge: Callable[[SetSight], SetVerdict | None] = field(compare=False, repr=False)
    level: Literal["set"] = "set"

    def __str__(self) -> str:
        return self.name
