"""`brevity`: Conciseness by the number of words, or of characters where words have no blanks between them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from scoring.lengths import CHARACTERS_A_WORD, length, unit_of
from scoring.swan.rules.rule import Sight, Verdict


@dataclass(frozen=True, slots=True)
class Brevity:
    """1 up to so many words, then exp(1 - n/words): the shape of BLEU's brevity penalty, turned round.

    words: at least 1; 250 is what a reader takes in within a minute ([GFRC] §3.2). A turn in a script without blanks
    between words is measured in characters, two for a word: 500 a minute ([GFRC] §2.2; see `scoring.lengths`). Silent
    on a turn without words.
    """

    words: int = 250
    level: ClassVar[Literal["turn"]] = "turn"
    version: ClassVar[str] = "2"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "counts words, or characters, alone: a short turn that says nothing scores 1, a long one that had to be long "
        "does not"
    )
    silence: ClassVar[str] = "the turn has no words"

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ValueError("words is a number from 1")

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        for item in sight.items:
            text = sight.text(item)
            unit = unit_of((text,), sight.settings.unit)
            most = self.words * CHARACTERS_A_WORD if unit == "characters" else self.words
            count = length(text, unit)
            if count:
                yield Verdict(item, min(1.0, math.exp(1 - count / most)))

    def __str__(self) -> str:
        return f"brevity(words={self.words})"
