"""`asked_length`: Conciseness as keeping to the length that the user asked for."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from scoring.words import word_count
from topics.late_pattern import lazy_pattern
from topics.sentences import sentences

_SMALL = {
    word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)
}
_NUMBER = rf"(?P<number>[1-9][0-9]{{0,4}}|a single|a few|a couple of|an?|{'|'.join(_SMALL)})"
_SMALL |= {"a": 1, "an": 1, "a single": 1, "a few": 4, "a couple of": 2}
_WITHIN = (
    r"(?:(?:in|within|under|below|at\s+most|up\s+to|max(?:imum)?(?:\s+of)?|(?:no|not)\s+(?:more|longer)\s+than"
    r"|fewer\s+than|less\s+than|only|just|with|using)\s+){1,3}"
)
_LIMIT = lazy_pattern(
    rf"\b{_WITHIN}{_NUMBER}\s+(?P<unit>words?|sentences?)\b"
    r"|(?:^|[.!?;:,]\s*)(?P<alone>one\s+word|one\s+sentence)\b(?:\s*(?:,\s*please|please|only|answers?))?",
    re.IGNORECASE,
)
_LONG = lazy_pattern(
    r"\b(?:write|compose|draft|tell|give)\b[^.!?\n]{0,40}?\b(?:of|with|in|about|around|at\s+least)\s+"
    r"(?:(?:about|around|roughly|at\s+least)\s+)?(?P<number>[1-9][0-9]{1,4})\s+words\b",
    re.IGNORECASE,
)
_YES_NO = lazy_pattern(
    r"(?:^|[.!?]\s*)(?:answer|reply|respond|say)?\s*(?:with\s+)?(?:just\s+|only\s+)?(?:yes\s+or\s+no|yes/no)"
    r"(?:\s+only)?\s*(?=[.!?:]|$)",
    re.IGNORECASE,
)
_BARE = lazy_pattern(
    r"\b(?:just|only)\s+(?:give\s+me\s+|say\s+|tell\s+me\s+)?the\s+(?:number|name|year|date|city|country|answer|title)\b"
    r"|\bwith\s+the\s+(?:number|name|year|date|city|country|title)\s+only\b",
    re.IGNORECASE,
)
_BRIEF = lazy_pattern(
    r"(?:^|[.!?,;]\s*)(?:briefly|in\s+brief|in\s+short|be\s+brief|keep\s+it\s+(?:short|brief)|short\s+answer)\b"
    r"|\b(?:a\s+short|a\s+brief)\s+(?:answer|reply|summary)\b|\bbriefly\s*[.?!]?\s*$",
    re.IGNORECASE,
)
_NEGATED = lazy_pattern(r"\b(?:don't|do\s+not|never|not|without|if)\b[^.!?\n]{0,40}\Z", re.IGNORECASE)
_BRIEF_WORDS = 60  # words
_BARE_WORDS = 4  # words
_TOLERANCE = 1.2  # a text of about N words may be a fifth longer


@dataclass(frozen=True, slots=True)
class LengthLimit:
    """A limit on the number of words or sentences, requested at characters [start, end) of the user turn."""

    most: int
    unit: Literal["words", "sentences"]
    start: int
    end: int


def requested_limit(text: str) -> LengthLimit | None:
    """Return the length that an English user turn asks for, or None if no length is requested. A brief answer has at
    most 60 words; a single number, name, yes or no at most 4; a text of about N words at most 1.2 N."""
    plain = blank_quotations(text)
    for pattern in (_LONG, _LIMIT, _YES_NO, _BARE, _BRIEF):
        for found in pattern.finditer(plain):
            if _NEGATED.search(plain[max(0, found.start() - 50) : found.start()]):
                continue
            start, end = found.span()
            if pattern is _LONG:
                return LengthLimit(math.floor(int(found["number"]) * _TOLERANCE), "words", start, end)
            if pattern is _LIMIT:
                number, unit = (found["number"], found["unit"]) if found["number"] else found["alone"].split()
                count = int(number) if number.isdecimal() else _SMALL.get(" ".join(number.lower().split()), 1)
                return LengthLimit(count, "words" if unit.lower().startswith("word") else "sentences", start, end)
            return LengthLimit(_BRIEF_WORDS if pattern is _BRIEF else _BARE_WORDS, "words", start, end)
    return None


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score 1 up to the requested length and exp(1 - n/length) beyond it, as `brevity` does."""
    for item in sight.items:
        text, limit = sight.text(item), requested_limit(sight.said(item.turn))
        count = word_count(text)
        if limit is None or not count:
            continue
        if limit.unit == "sentences":
            count = len(sentences(text))
        value = min(1.0, math.exp(1 - count / limit.most))
        because = f"{count} {limit.unit}, {limit.most} asked for"
        yield Verdict(item, value, because, ((item.turn, "user", limit.start, limit.end),))


ASKED_LENGTH = Rule(
    name="asked_length",
    version="1",
    level="turn",
    limits="knows lengths that English user turns name, and counts words and sentences alone",
    silence="the user turn names no length, or the turn has no words",
    judge=judge,
)
