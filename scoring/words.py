"""Words, or characters, and their positions in a conversation.

A word is what `str.split()` gives: a run of characters between whitespace. A conversation whose answers are written
without blanks between words is measured in characters instead, all of it ([GFRC] §2.2; see `scoring.lengths`).
Positions count from 1 over everything that was exchanged, user turns included, because what a user types costs the user
time too ([GFRC] §3.2).
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from recordings.conversations.conversation import Conversation
from scoring.lengths import Unit, UnitChoice, length, unit_of, unit_starts


def word_count(text: str) -> int:
    """Number of words in `text`; 0 for an empty text."""
    return len(text.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """One side of one turn, and where its words, or characters, are in the conversation.

    turn: number from 1. speaker: `user` or `system`. unit: of the conversation. before: words, or characters, of the
    conversation ahead of it. words: its own, in that unit.
    """

    turn: int
    speaker: str
    text: str
    before: int
    words: int
    unit: Unit = "words"

    @property
    def first_position(self) -> int:
        """Position (from 1) of its first word; of the word ahead of it where it has none, and at least 1."""
        return self.before + 1 if self.words else max(1, self.before)

    @property
    def last_position(self) -> int:
        """Position (from 1) of its last word; of the word ahead of it where it has none, and at least 1."""
        return max(1, self.before + self.words)

    def positions(self, ends: Sequence[int]) -> list[int]:
        """Positions in the conversation of the last word, or character, that each character span touches.

        ends: (spans,) where each span ends in `text`, exclusive. Returns (spans,), each at least 1. A span of
        whitespace alone touches no word and takes the position of the word ahead of it.
        """
        if self.unit == "characters":
            starts = unit_starts(self.text)
            return [max(1, self.before + bisect_left(starts, end)) for end in ends]
        touched: dict[int, int] = {}
        words, at = self.before, 0
        for end in sorted(set(ends)):
            words += len(self.text[at:end].split())
            if 0 < at < min(end, len(self.text)) and not (self.text[at - 1].isspace() or self.text[at].isspace()):
                words -= 1  # a word that goes on beyond the last end was counted there
            touched[end], at = max(1, words), end
        return [touched[end] for end in ends]


def conversation_unit(conversation: Conversation, choice: UnitChoice = "by-script") -> Unit:
    """The unit that a conversation is measured in: that of its answers, all together."""
    return unit_of((turn.reply.answer.text for turn in conversation.turns if turn.reply is not None), choice)


def passages(conversation: Conversation, choice: UnitChoice = "by-script") -> tuple[Passage, ...]:
    """What was exchanged, in order: each user turn and, where one came, its reply."""
    unit = conversation_unit(conversation, choice)
    found: list[Passage] = []
    before = 0
    for turn in conversation.turns:
        sides = [("user", turn.said)]
        if turn.reply is not None:
            sides.append(("system", turn.reply.answer.text))
        for speaker, text in sides:
            words = length(text, unit)
            found.append(Passage(turn.number, speaker, text, before, words, unit))
            before += words
    return tuple(found)
