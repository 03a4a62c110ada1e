"""`brevity`: Conciseness by the number of words, or of characters in scripts without blanks between words.

`correct_and_brief` multiplies it by the Correctness of the turn's claims ([SWAN] §4.8).
"""

import math
from collections.abc import Iterator
from functools import partial

from scoring.swan.rules.rule import Rule, Sight, Verdict
from scoring.words import CHARACTERS_A_WORD, length, unit_of
from topics.counting import pluralize


def judge(words: int, sight: Sight) -> Iterator[Verdict]:
    """Score exp(1 - n/words), but at most 1, for each turn of n words."""
    for item in sight.items:
        text = sight.text(item)
        unit = unit_of((text,), sight.settings.unit)
        most = words * CHARACTERS_A_WORD if unit == "characters" else words
        count = length(text, unit)
        if count:
            yield Verdict(item, min(1.0, math.exp(1 - count / most)))


def judge_with_correctness(words: int, sight: Sight) -> Iterator[Verdict]:
    """Score the mean Correctness of each turn's claims, times the score of `judge`."""
    by_turn: dict[int, list[float]] = {}
    for item, value in sight.known.get("Correctness", {}).items():
        by_turn.setdefault(item.turn, []).append(value)
    for verdict in judge(words, sight):
        correct = by_turn.get(verdict.item.turn)
        if correct:
            mean = math.fsum(correct) / len(correct)
            why = f"Correctness {mean:.2f} of {pluralize(len(correct), 'claim')}, length penalty {verdict.value:.2f}"
            yield Verdict(verdict.item, mean * verdict.value, why)


def brevity_rule(words: int = 250) -> Rule:
    """Score 1 up to a number of words and exp(1 - n/words) beyond it, mirroring BLEU's brevity penalty.

    The number of `words` is at least 1; people read 250 words in a minute ([GFRC] §3.2). A turn in a script without
    blanks between words is measured in characters, two per word: 500 a minute ([GFRC] §2.2; see `scoring.words`). A
    turn without words gets no score.
    """
    _check_words(words)
    return Rule(
        name=f"brevity(words={words})",
        version="2",
        level="turn",
        limits="counts words, or characters, alone: a short turn that says nothing scores 1, a long one that had to be "
        "long does not",
        silence="the turn has no words",
        judge=partial(judge, words),
    )


def correct_and_brief_rule(words: int = 250) -> Rule:
    """Score the mean Correctness of a turn's claims times the length penalty of `brevity(words)`, as BLEU multiplies
    precision by a penalty.

    Claims are the nuggets of type F whose Correctness has been scored, and each counts alike. If two turns have equally
    correct claims, the longer turn scores less once it is longer than `words`. A turn without a scored claim gets no
    score.
    """
    _check_words(words)
    return Rule(
        name=f"correct_and_brief(words={words})",
        version="1",
        level="turn",
        needs=("Correctness",),
        limits="needs Correctness to be scored; treats all claims alike, however much they say; the length penalty "
        "counts words, or characters, alone",
        silence="nobody scored the Correctness of a claim of the turn",
        judge=partial(judge_with_correctness, words),
    )


def _check_words(words: int) -> None:
    if words < 1:
        raise ValueError("`words` must be at least 1")
