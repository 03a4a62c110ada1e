"""`asked_count`: Sufficiency, judged by whether the answer gives the number of items that the user asked for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.late_pattern import lazy_pattern
from topics.sentences import sentences

_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
        ],
        1,
    )
} | {"a couple of": 2, "a pair of": 2, "twenty": 20, "a dozen": 12, "half a dozen": 6}
_NUMBER = "(?:" + "|".join(sorted((re.escape(one) for one in _NUMBERS), key=len, reverse=True)) + r"|[1-9][0-9]{0,2})"
_ASK = lazy_pattern(
    r"(?<!\w)(?P<verb>name|list|give|tell|show|suggest|recommend|find|provide|want|need|think\s+of|come\s+up\s+with"
    r"|propose|cite|mention|offer|share|write|which|what\s+(?:are|were)|can\s+I\s+(?:get|have))"
    r"(?:\s+(?:me|us|down|out|up|at\s+least|about|some|the|your|my|top|best|just|only|exactly|another|please|any|other"
    r"|more|first|around)){0,4}"
    rf"\s+(?P<least>{_NUMBER})(?:\s*(?:-|–|to|or)\s*(?P<most>{_NUMBER}))?(?![\w.,:%/])"
    r"\s+(?P<kind>(?:[\w'-]+\s+){0,2}?[\w'-]+)",
    re.IGNORECASE,
)
_NOT_THINGS = lazy_pattern(
    r"(?:\w+\s+)?(?:words?|sentences?|lines?|paragraphs?|chapters?|pages?|characters?|letters?|seconds?|minutes?|hours?"
    r"|days?|weeks?|months?|years?|euros?|dollars?|percent|times|am|pm|o'clock|people|kids|children|metres?|km|miles?)\b",
    re.IGNORECASE,
)
_NOT_ASKED = lazy_pattern(
    r"\b(?:if|when|suppose|don't|do\s+not|never|didn't|did\s+not|without|he|she|they|teacher)\b[^.!?\n]{0,60}\Z"
    r"|\b(?:no|not)\s+more\s+than\s*\Z",
    re.IGNORECASE,
)
_LIST_LINE = lazy_pattern(r"^(?P<in>[ \t]*)(?:[-*+•‣▪]|\(?[0-9]{1,3}[.):])[ \t]+\S", re.MULTILINE)
_ROW = lazy_pattern(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_RULE = lazy_pattern(r"[\s|:-]+")
_FENCED = lazy_pattern(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.DOTALL | re.MULTILINE)
_ORDINALS = lazy_pattern(
    r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?:ly)?\b(?=,|\s+(?:is|one|of|makes?|reason)\b)",
    re.IGNORECASE,
)
_JOINT = lazy_pattern(r"\s*(?:,\s*(?:and|or)\s+|,\s+|;\s+|\s+(?:and|or)\s+)", re.IGNORECASE)
_LONGEST_ENTRY = 6  # words of one thing in an enumeration


@dataclass(frozen=True, slots=True)
class CountRequest:
    """A request for a number of things, at characters [start, end) of the user turn."""

    count: int
    start: int
    end: int


def requested_count(text: str) -> CountRequest | None:
    """Return the first number of things that an English user turn asks for, or None if there is no such number.

    The lower end of a range counts. Quotations, negations, conditions with `if`, and numbers of words, pages or
    minutes are ignored.
    """
    plain = blank_quotations(text)
    for found in _ASK.finditer(plain):
        before = plain[max(0, found.start() - 80) : found.start()]
        if _NOT_ASKED.search(before) or _NOT_THINGS.match(found["kind"]):
            continue
        least = found["least"]
        count = int(least) if least.isdecimal() else _NUMBERS[" ".join(least.lower().split())]
        return CountRequest(count, found.start("least"), found.end("kind"))
    return None


def count_given_items(text: str) -> int:
    """Count list items or table rows. If there are none, count enumerated things, ordinals or blocks of code,
    whichever are most. If fewer than two of these are found, sentences are counted as well."""
    rows = [line[0] for line in _ROW.finditer(text)]
    if len(rows) > 1:
        ruled = [place for place, row in enumerate(rows) if _RULE.fullmatch(row)]
        return len(rows) - len(ruled) - (1 if ruled and ruled[0] == 1 else 0)
    lines = list(_LIST_LINE.finditer(text))
    if lines:
        least = min(len(line["in"]) for line in lines)
        return sum(len(line["in"]) == least for line in lines)
    plain = blank_quotations(text)
    ordinals = {found[1].lower() for found in _ORDINALS.finditer(plain)}
    counts = [len(ordinals), len(_FENCED.findall(text))]
    whole = [plain[one.start : one.end].strip() for one in sentences(plain)]
    counts += [_longest_enumeration(one) for one in whole]
    if max(counts, default=0) < 2:
        counts.append(sum(len(one) > 1 for one in whole))
    return max(counts, default=0)


def _longest_enumeration(sentence: str) -> int:
    pieces = _JOINT.split(sentence.rstrip(" .!?"))
    best = run = 0
    for place, piece in enumerate(pieces):
        words = len(piece.split())
        run = run + 1 if 0 < words <= _LONGEST_ENTRY else 1 if place == 0 else 0
        best = max(best, run)
    return best if best > 1 else 0


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score given/asked, but at most 1, if the user turn asks for a number of things. A refusal gives 0 things."""
    refused = {
        one.turn for one in sight.nuggets if one.speaker == "system" and one.act in ("REJECT", "HEDGE", "APOLOGY")
    }
    delivered = {one.turn for one in sight.nuggets if one.speaker == "system" and one.type == "F"}
    for item in sight.items:
        ask = requested_count(sight.said(item.turn))
        if ask is None:
            continue
        count = 0 if item.turn in refused - delivered else count_given_items(sight.text(item))
        because = f"{count} of {ask.count} asked for"
        yield Verdict(item, min(1.0, count / ask.count), because, ((item.turn, "user", ask.start, ask.end),))


ASKED_COUNT = Rule(
    name="asked_count",
    version="1",
    level="turn",
    limits="counts things of any kind, right or wrong, where an English user turn names a number; blind to requests "
    "without one",
    silence="the user turn asks for no number of things",
    judge=judge,
)
