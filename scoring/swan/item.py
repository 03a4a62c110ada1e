"""Items: the things that a criterion scores, with their places, and the scores with their sources.

    nugget_items(…)   the system nuggets of types F and O, one item each
    turn_items(…)     exactly one item for each system turn, and for each user turn
    dialogue_items(…) one item for the conversation as a whole

In [SWAN] §3 the first nugget of a turn gets the turn's score and the others get 0; that would divide by their weights
too. Here a turn-level criterion has one item a turn, whatever nuggets the turn contains.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recordings.conversations.conversation import Conversation
from scoring.swan.nugget import Nugget
from scoring.words import UnitChoice, conversation_unit, passages


@dataclass(frozen=True, slots=True)
class Item:
    """A thing to score. start, end: of a nugget; both -1 for a whole turn, and turn 0 for a whole conversation.

    type: `F`, `O`, or "" for a turn. position: WC of its last word, from 1, or of its last character if these are
    counted (characters). seen: number of system nuggets (F and O) before it in the conversation. final: it is in the
    final system turn.
    """

    turn: int
    start: int
    end: int
    type: str
    position: int
    seen: int
    final: bool
    speaker: str = "system"
    characters: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a score. kind: `human`, `rule`, `model` or `gold`. version: of the rule, model or guideline."""

    kind: str
    author: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.author}{f' {self.version}' if self.version else ''}"


@dataclass(frozen=True, slots=True)
class Scored:
    """An item with its score in [0, 1] and the source of the score.

    disputed: another usable source gave another score. note: the reason and the words it rests on, from a rule. share:
    how much of the item the score is for, in (0, 1]: less than 1 if some of several judges say that the criterion does
    not apply. votes: all judges, with their judgments; () if only `by` judged.
    """

    item: Item
    value: float
    by: Source
    disputed: bool = False
    note: str = ""
    share: float = 1.0
    votes: tuple[tuple[Source, float | None], ...] = ()

    @property
    def voters(self) -> tuple[Source, ...]:
        return tuple(source for source, _ in self.votes) or (self.by,)


@dataclass(frozen=True, slots=True)
class Valued:
    """An item with the shares of judges for each value given, which sum to 1. Other fields are as in `Scored`."""

    item: Item
    shares: tuple[tuple[str, float], ...]
    share: float
    votes: tuple[tuple[Source, str | None], ...]
    disputed: bool


def nugget_items(
    conversation: Conversation, nuggets: Sequence[Nugget], choice: UnitChoice = "by-script"
) -> tuple[Item, ...]:
    """The system nuggets of types F and O as items, in reading order. choice: of the unit of their positions."""
    last, characters = _last_turn(conversation), conversation_unit(conversation, choice) == "characters"
    own = sorted(
        (one for one in nuggets if one.speaker == "system" and one.type != "E"),
        key=lambda one: (one.turn, one.start, one.end),
    )
    return tuple(
        Item(one.turn, one.start, one.end, one.type, one.position, seen, one.turn == last, characters=characters)
        for seen, one in enumerate(own)
    )


def turn_items(
    conversation: Conversation,
    nuggets: Sequence[Nugget],
    speaker: Literal["system", "user"] = "system",
    choice: UnitChoice = "by-script",
) -> tuple[Item, ...]:
    """One item for each turn of the speaker, at the position of its last word, except user turns without words."""
    last = _last_turn(conversation)
    own = [one for one in nuggets if one.speaker == "system" and one.type != "E"]
    return tuple(
        Item(
            passage.turn,
            -1,
            -1,
            "",
            passage.last_position,
            sum(one.turn < passage.turn for one in own),
            passage.turn == last,
            speaker,
            passage.unit == "characters",
        )
        for passage in passages(conversation, choice)
        if passage.speaker == speaker and (speaker == "system" or passage.text)
    )


def dialogue_items(
    conversation: Conversation, nuggets: Sequence[Nugget], choice: UnitChoice = "by-script"
) -> tuple[Item, ...]:
    """One item at the place of the last system turn; none if the system never answered."""
    return tuple(replace(item, turn=0) for item in turn_items(conversation, nuggets, choice=choice)[-1:])


def _last_turn(conversation: Conversation) -> int:
    return max((turn.number for turn in conversation.turns if turn.reply is not None), default=0)
