"""Find the words that differ between two texts."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Most pairs of equal words in two texts; comparing more would keep a reader waiting.
_MOST_STEPS = 4_000_000

# Each letter of a script without spaces between words is a word; so is a whole URL.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(
    rf"(?:https?://|www\.)[^\s{_UNSPACED}]+|[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’\-](?:(?![{_UNSPACED}])\w)+)*"
    r"|[^\w\s]"
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WordDifferences:
    """The differences between two texts.

    left, right: stretches [start, end) of each text that the other lacks there; white space does not count.
    common: 2M / (a + b) for a and b words of which M are the same in the same order (Ratcliff and Obershelp, as in
        `difflib`), in [0, 1]; NaN if neither text has a word, or if they are too long.
    compared: False if the texts are too long; then nothing is marked.
    """

    left: tuple[Span, ...]
    right: tuple[Span, ...]
    common: float
    compared: bool = True


def compare_words(left: str, right: str) -> WordDifferences:
    """Compare two texts by words.

    Each punctuation mark, and each letter of a script without spaces between words, is a word. Case matters.
    """
    mine, others = list(_WORD.finditer(left)), list(_WORD.finditer(right))
    words, their = [one[0] for one in mine], [one[0] for one in others]
    if not words and not their:
        return WordDifferences((), (), math.nan)
    head = _count_common_start(words, their)
    tail = _count_common_start(words[head:][::-1], their[head:][::-1])
    inner, outer = words[head : len(words) - tail], their[head : len(their) - tail]
    often = Counter(outer)
    if sum(often[word] for word in inner) > _MOST_STEPS:
        return WordDifferences((), (), math.nan, compared=False)
    same = head + tail
    mine_apart: list[Span] = []
    others_apart: list[Span] = []
    for kind, a, b, c, d in SequenceMatcher(None, inner, outer, autojunk=False).get_opcodes():
        if kind == "equal":
            same += b - a
            continue
        if b > a:
            mine_apart.append((mine[head + a].start(), mine[head + b - 1].end()))
        if d > c:
            others_apart.append((others[head + c].start(), others[head + d - 1].end()))
    return WordDifferences(tuple(mine_apart), tuple(others_apart), 2 * same / (len(words) + len(their)))


def _count_common_start(left: Sequence[str], right: Sequence[str]) -> int:
    return next(
        (i for i, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), min(len(left), len(right))
    )
