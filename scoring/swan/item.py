"""Items, which are scored by criteria, with their positions, and scores with their sources.

A turn-level criterion has exactly one item per turn. In [SWAN] §3 the first nugget of a turn has the turn's score and
the other nuggets have 0, so the sum is also divided by their weights; `Assessment.averaged_items` makes these items.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recordings.conversations.conversation import Conversation
from scoring.swan.nugget import Nugget
from scoring.words import UnitChoice, UserWords, conversation_unit, passages


@dataclass(frozen=True, slots=True)
class Item:
    """A nugget, turn or conversation to be scored.

    `start` and `end` are the span of a nugget, or -1 for a whole turn or conversation. A conversation has turn 0.
    `type` is `F`, `O`, or "" for a turn. `position` is the word count WC up to the last word, from 1, or the
    character count if `characters`. `seen` is the number of earlier system nuggets (F and O). `final` is true for
    items in the final system turn. `claims` and `acts` are the numbers of user nuggets of types F and O up to the
    turn, and of the whole conversation for turn 0.
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
    claims: int = 0
    acts: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a score. `kind` is `human`, `rule`, `model` or `gold`. `version` is the version of the rule,
    model or guideline."""

    kind: str
    author: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.author}{f' {self.version}' if self.version else ''}"


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """An item with its score in [0, 1] and the source of the score.

    `disputed` is true if another usable source gave another score. `note` is a rule's reason, with the supporting text.
    `share`, in (0, 1], is less than 1 if some of several judges say that the criterion does not apply. `votes` lists
    all judges with their scores, or is empty if `by` is the only judge. `decided` lists the judgments that an
    adjudicator's judgment replaces.
    """

    item: Item
    value: float
    by: Source
    disputed: bool = False
    note: str = ""
    share: float = 1.0
    votes: tuple[tuple[Source, float | None], ...] = ()
    decided: tuple[float | str | None, ...] = ()

    @property
    def voters(self) -> tuple[Source, ...]:
        return tuple(source for source, _ in self.votes) or (self.by,)


@dataclass(frozen=True, slots=True)
class ItemWithValues:
    """An item with the share of judges who gave each value. The shares sum to 1. Other fields are as in
    `ScoredItem`."""

    item: Item
    shares: tuple[tuple[str, float], ...]
    share: float
    votes: tuple[tuple[Source, str | None], ...]
    disputed: bool
    decided: tuple[float | str | None, ...] = ()


def nugget_items(
    conversation: Conversation, nuggets: Sequence[Nugget], choice: UnitChoice = "by-script"
) -> tuple[Item, ...]:
    """Return the system nuggets of types F and O as items in reading order. `choice` selects the unit of positions."""
    last, characters = _last_turn(conversation), conversation_unit(conversation, choice) == "characters"
    own = sorted(
        (one for one in nuggets if one.speaker == "system" and one.type != "E"),
        key=lambda one: (one.turn, one.start, one.end),
    )
    said = _user_turns(nuggets)
    return tuple(
        Item(
            one.turn,
            one.start,
            one.end,
            one.type,
            one.position,
            seen,
            one.turn == last,
            characters=characters,
            claims=bisect_right(said["F"], one.turn),
            acts=bisect_right(said["O"], one.turn),
        )
        for seen, one in enumerate(own)
    )


def turn_items(
    conversation: Conversation,
    nuggets: Sequence[Nugget],
    speaker: Literal["system", "user"] = "system",
    choice: UnitChoice = "by-script",
    user_words: UserWords = "counted",
) -> tuple[Item, ...]:
    """Return an item for each turn of the speaker, at the position of the last word. User turns without words are
    skipped."""
    last = _last_turn(conversation)
    own = [one for one in nuggets if one.speaker == "system" and one.type != "E"]
    said = _user_turns(nuggets)
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
            bisect_right(said["F"], passage.turn),
            bisect_right(said["O"], passage.turn),
        )
        for passage in passages(conversation, choice, user_words)
        if passage.speaker == speaker and (speaker == "system" or passage.text)
    )


def dialogue_items(
    conversation: Conversation,
    nuggets: Sequence[Nugget],
    choice: UnitChoice = "by-script",
    user_words: UserWords = "counted",
) -> tuple[Item, ...]:
    """Return one item at the position of the last system turn, or an empty tuple if the system never answered."""
    items = turn_items(conversation, nuggets, choice=choice, user_words=user_words)
    return tuple(replace(item, turn=0) for item in items[-1:])


def _user_turns(nuggets: Sequence[Nugget]) -> dict[str, list[int]]:
    """Return the turns of the user's nuggets of types F and O, in ascending order."""
    return {kind: sorted(one.turn for one in nuggets if one.speaker == "user" and one.type == kind) for kind in "FO"}


def _last_turn(conversation: Conversation) -> int:
    return max((turn.number for turn in conversation.turns if turn.reply is not None), default=0)
