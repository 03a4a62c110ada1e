"""Words and their positions in a conversation.

A word is what `str.split()` gives: a run of characters between whitespace. Positions count from 1 over everything
that was exchanged, user turns included, because what a user types costs the user time too ([GFRC] §3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recordings.conversation import Conversation

__all__ = ["Passage", "passages", "word_count"]


def word_count(text: str) -> int:
    """Number of words in `text`; 0 for an empty text."""
    return len(text.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """One side of one turn, and where its words stand in the conversation.

    turn: number from 1. speaker: `user` or `system`. before: words of the conversation ahead of it.
    words: its own words.
    """

    turn: int
    speaker: str
    text: str
    before: int
    words: int

    @property
    def first_position(self) -> int:
        """Position (from 1) of its first word; of the word ahead of it where it has none, and at least 1."""
        return self.before + 1 if self.words else max(1, self.before)

    @property
    def last_position(self) -> int:
        """Position (from 1) of its last word; of the word ahead of it where it has none, and at least 1."""
        return max(1, self.before + self.words)

    def positions(self, ends: Sequence[int]) -> list[int]:
        """Positions in the conversation of the last word that each character span touches.

        ends: (spans,) where each span ends in `text`, exclusive. Returns (spans,), each at least 1. A span of
        whitespace alone touches no word and takes the position of the word ahead of it.
        """
        touched: dict[int, int] = {}
        words, at = self.before, 0
        for end in sorted(set(ends)):
            words += len(self.text[at:end].split())
            if 0 < at < min(end, len(self.text)) and not (self.text[at - 1].isspace() or self.text[at].isspace()):
                words -= 1  # a word that goes on beyond the last end was counted there
            touched[end], at = max(1, words), end
        return [touched[end] for end in ends]


def passages(conversation: Conversation) -> tuple[Passage, ...]:
    """What was exchanged, in order: each user turn and, where one came, its reply."""
    found: list[Passage] = []
    before = 0
    for turn in conversation.turns:
        sides = [("user", turn.said)]
        if turn.reply is not None:
            sides.append(("system", turn.reply.answer.text))
        for speaker, text in sides:
            words = word_count(text)
            found.append(Passage(turn.number, speaker, text, before, words))
            before += words
    return tuple(found)
