"""`brevity`: Conciseness by the number of words, or of characters in scripts without blanks between words."""

import math
from collections.abc import Iterator
from functools import partial

from scoring.swan.rules.rule import Rule, Sight, Verdict
from scoring.words import CHARACTERS_A_WORD, length, unit_of


def judge(words: int, sight: Sight) -> Iterator[Verdict]:
    """Score exp(1 - n/words), but at most 1, for each turn of n words."""
    for item in sight.items:
        text = sight.text(item)
        unit = unit_of((text,), sight.settings.unit)
        most = words * CHARACTERS_A_WORD if unit == "characters" else words
        count = length(text, unit)
        if count:
            yield Verdict(item, min(1.0, math.exp(1 - count / most)))


def brevity_rule(words: int = 250) -> Rule:
    """Score 1 up to a number of words and exp(1 - n/words) beyond it, mirroring BLEU's brevity penalty.

    The number of `words` is at least 1; people read 250 words in a minute ([GFRC] §3.2). A turn in a script without
    blanks between words is measured in characters, two per word: 500 a minute ([GFRC] §2.2; see `scoring.words`). A
    turn without words gets no score.
    """
    if words < 1:
        raise ValueError("`words` must be at least 1")
    return Rule(
        name=f"brevity(words={words})",
        version="2",
        level="turn",
        limits="counts words, or characters, alone: a short turn that says nothing scores 1, a long one that had to be "
        "long does not",
        silence="the turn has no words",
        judge=partial(judge, words),
    )
