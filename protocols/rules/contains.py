"""`contains`: the answer holds certain words.

Phrases are searched in the whole answer. A pattern is a regular expression that cannot run away: Python's engine
takes exponential time on some patterns, and the text to search comes from somebody else's system. So a pattern is
at most 200 characters long, repeats nothing without a bound (`.{0,80}` instead of `.*`), refers back to nothing, and
may be tried in at most 300 ways from one place; and only the first 100,000 characters are searched.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import ClassVar

from pydantic import Field, field_validator, model_validator

from protocols.rules.rule import Sight, Verdict, absent, listed, span
from topics.document import StrictModel
from topics.topic import Topic

__all__ = ["Contains", "guarded"]

_SEARCHED = 100_000
_LONGEST_PATTERN = 200
_MOST_WAYS = 300
_LONGEST_MATCH = 300
_MOST_HITS = 10_000

# A letter of a script that puts spaces between words; Chinese, Japanese, Thai and the like have no word boundaries.
_SPACED = (
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003ffff]"
)


class Contains(StrictModel):
    """Holds when the answer holds one of the phrases, or the pattern. Exactly one of the two is given.

    phrases: whole words, any white space between them, straight and curly apostrophes alike, case ignored unless
    `case` is true. pattern: a bounded regular expression, see the module's text. Evidence: each place it was found.
    """

    version: ClassVar[str] = "contains/1"
    needs: ClassVar[frozenset[str]] = frozenset()

    phrases: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=200)
    pattern: str | None = None
    case: bool = False

    @field_validator("phrases")
    @classmethod
    def _some_words(cls, phrases: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for phrase in phrases or ():
            if not phrase.strip():
                raise ValueError("a phrase holds no word")
            if len(phrase) > _LONGEST_PATTERN:
                raise ValueError(f"a phrase is longer than {_LONGEST_PATTERN} characters")
        return phrases

    @field_validator("pattern")
    @classmethod
    def _tame(cls, pattern: str | None) -> str | None:
        return None if pattern is None else guarded(pattern)

    @model_validator(mode="after")
    def _one_of_two(self) -> Contains:
        if (self.phrases is None) == (self.pattern is None):
            raise ValueError("give either phrases or pattern")
        return self

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        expression = _compiled(self.phrases, self.pattern, self.case)
        limit = len(text) if self.pattern is None else min(len(text), _SEARCHED)
        hits = []
        for hit in expression.finditer(text, 0, limit):
            if hit.end() > hit.start():
                hits.append((hit.start(), hit.end()))
                if len(hits) == _MOST_HITS:
                    break
        if hits:
            what = "one of the phrases" if self.pattern is None else "the pattern"
            return Verdict(True, listed((span(text, start, end, what) for start, end in hits), len(hits)))
        missed = " | ".join(self.phrases) if self.phrases else str(self.pattern)
        note = "not found" if limit == len(text) else f"not found in the first {limit} of {len(text)} characters"
        return Verdict(False, (absent(missed, note),))

    def unfit(self, topic: Topic) -> str | None:
        return None


@lru_cache(maxsize=256)
def _compiled(phrases: tuple[str, ...] | None, pattern: str | None, case: bool) -> re.Pattern[str]:
    flags = re.NOFLAG if case else re.IGNORECASE
    if pattern is not None:
        return re.compile(pattern, flags | re.MULTILINE)
    return re.compile("|".join(_phrase(phrase) for phrase in phrases or ()), flags)


def _phrase(phrase: str) -> str:
    words = phrase.split()
    body = r"\s{1,50}".join(re.sub("['’ʼ´]", "['’ʼ´]", re.escape(word)) for word in words)
    before = f"(?<!{_SPACED})" if re.match(_SPACED, words[0]) else ""
    after = f"(?!{_SPACED})" if re.match(_SPACED, words[-1][-1]) else ""
    return before + body + after


def guarded(pattern: str) -> str:
    """`pattern`, if its search takes time linear in the text with a small factor. Raises ValueError otherwise."""
    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"longer than {_LONGEST_PATTERN} characters")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as fault:
        raise ValueError(f"not a regular expression: {fault}") from None
    ways, longest, end = _alternatives(pattern, 0)
    assert end == len(pattern)
    if longest == 0:
        raise ValueError("it matches nothing but the empty text")
    if ways > _MOST_WAYS:
        raise ValueError(f"can be tried in {ways} ways from one place, more than {_MOST_WAYS}; make repeats shorter")
    if longest > _LONGEST_MATCH:
        raise ValueError(f"can match {longest} characters, more than {_LONGEST_MATCH}; make repeats shorter")
    return pattern


_ATOM = re.compile(
    r"\\[dDsSwWbBAZntrfv]|\\[^\w]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"  # escapes; no \1
    r"|\[\^?\]?(?:[^\]\\]|\\.)*\]"  # a class
    r"|[^\\()\[|?*+{]",  # a character
    re.DOTALL,
)
_ZERO_WIDTH = re.compile(r"\\[bBAZ]|[\^$]")
_REPEAT = re.compile(r"(?:(\?)|\{([0-9]{0,4})(,?)([0-9]{0,4})\})[?+]?")


def _alternatives(pattern: str, at: int) -> tuple[int, int, int]:
    """(ways, longest match, end) of the alternatives that start at `at`; they end at `)` or the end."""
    ways, longest = 0, 0
    while True:
        branch_ways, branch_longest, at = _sequence(pattern, at)
        ways, longest = ways + branch_ways, max(longest, branch_longest)
        if not pattern.startswith("|", at):
            return ways, longest, at
        at += 1


def _sequence(pattern: str, at: int) -> tuple[int, int, int]:
    ways, longest = 1, 0
    while at < len(pattern) and pattern[at] not in "|)":
        if pattern[at] == "(":
            atom_ways, atom_longest, at = _group(pattern, at)
        else:
            atom = _ATOM.match(pattern, at)
            if atom is None:
                raise ValueError(_not_allowed(pattern, at))
            atom_ways, atom_longest = 1, 0 if _ZERO_WIDTH.fullmatch(atom[0]) else 1
            at = atom.end()
        if pattern[at : at + 1] in ("*", "+"):
            raise ValueError(f"{pattern[at]!r} repeats without a bound; write {{0,80}} or the like")
        repeat = _REPEAT.match(pattern, at)
        if repeat:
            least, most = _bounds(repeat)
            if most > 1 and atom_ways > 1:
                raise ValueError("a repeated group holds a choice or a repeat of its own: that can take for ever")
            atom_ways = atom_ways + 1 if most <= 1 else most - least + 1
            atom_longest *= most
            at = repeat.end()
        ways, longest = ways * atom_ways, longest + atom_longest
    return ways, longest, at


def _group(pattern: str, at: int) -> tuple[int, int, int]:
    if pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
        raise ValueError(f"{pattern[at : at + 3]!r} is not allowed; groups are ( ) or (?: )")
    ways, longest, end = _alternatives(pattern, at + (3 if pattern.startswith("(?:", at) else 1))
    return ways, longest, end + 1


def _bounds(repeat: re.Match[str]) -> tuple[int, int]:
    if repeat[1]:
        return 0, 1
    least = int(repeat[2] or 0)
    if repeat[3] and not repeat[4]:
        raise ValueError(f"{repeat[0]!r} repeats without a bound; write an upper one")
    return least, int(repeat[4] or least)


def _not_allowed(pattern: str, at: int) -> str:
    shown = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
    return f"{shown!r} is not allowed; characters, classes, groups, |, ? and {{m,n}} are"
