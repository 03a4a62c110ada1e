"""`brevity`: Conciseness by the number of words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from scoring.swan.rules.rule import Sight, Verdict
from scoring.words import word_count

__all__ = ["Brevity"]


@dataclass(frozen=True, slots=True)
class Brevity:
    """1 up to so many words, then exp(1 - n/words): the shape of BLEU's brevity penalty, turned round.

    words: at least 1; 250 is what a reader takes in within a minute. Silent on a turn without words.
    """

    words: int = 250
    level: ClassVar[Literal["turn"]] = "turn"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[str] = (
        "counts words alone: a short turn that says nothing scores 1, a long one that had to be long does not"
    )
    silence: ClassVar[str] = "the turn has no words"

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ValueError("words is a number from 1")

    def scores(self, sight: Sight) -> Iterator[Verdict]:
        for item in sight.items:
            count = word_count(sight.text(item))
            if count:
                yield Verdict(item, min(1.0, math.exp(1 - count / self.words)))

    def __str__(self) -> str:
        return f"brevity(words={self.words})"
