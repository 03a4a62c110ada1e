"""What a text says once escapes are undone: `\\u006b` in JSON and scripts, `&#107;` in HTML, `%6b` in URLs, the colour
codes of terminals, and characters of no width.

A secret may come back with any of its characters escaped, and a line break before it may be a `\\n` that looks like a
letter. So a text is looked at as it stands and as it is meant, and what is found there is led back to where it stands.
Of URLs only ASCII is undone. Each step takes time linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

from recordings.searched_text import SearchedText

__all__ = ["Span", "has_codes", "undo_letters", "unescape"]

Span = tuple[int, int, str]
"""Characters [start, end) of a text, and the kind of secret that stands there."""

_LETTERS = {'\\"': '"', "\\'": "'", "\\/": "/", "\\n": "\n", "\\r": "\r", "\\t": "\t", "\\b": "\b", "\\f": "\f"}
_INVISIBLE = (
    "\0\u00ad\u034f\u061c\u115f\u1160\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e\u200f"
    "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3164\ufeff\uffa0"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
)


_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")


def _hexadecimal(escape: str) -> str:
    """Of `\\u00e9`, `\\xe9` and `%e9`, whatever backslashes and `25` stand before."""
    if "u" not in escape:
        return chr(int(escape[-2:], 16))
    units = b"".join(int(unit[:4], 16).to_bytes(2, "big") for unit in escape.split("u")[1:])
    return units.decode("utf-16-be", "surrogatepass")


def _entity(escape: str) -> str:
    digits = escape[2:].rstrip(";")
    code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    return chr(code) if 0x20 <= code <= 0x10FFFF else escape


_UNIT = r"u(?:[Dd][89ABab][0-9A-Fa-f]{2}\\+u[Dd][C-Fc-f][0-9A-Fa-f]{2}|[0-9A-Fa-f]{4})"
"""Whatever it says: a blank, a mark over a letter or a letter of another alphabet may stand between those of a secret,
and its digits would be taken for some of them."""

# Each begins with a literal, for which the engine searches many times faster than for one of several characters.
_CODES: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    # With all backslashes before it: JSON within JSON doubles them. Looked for from the first of them only.
    ("\\", re.compile(rf"(\\(?<!\\\\)\\*+(?:{_UNIT}|x[0-9A-Fa-f]{{2}}))"), _hexadecimal),
    ("%", re.compile(r"(%(?:25)*[2-7][0-9A-Fa-f])"), _hexadecimal),  # %256b is %6b, escaped once more
    ("&#", re.compile(r"(&#(?:0{0,5}[0-9]{2,7}(?![0-9]);?|[xX]0{0,5}[0-9A-Fa-f]{2,6}(?![0-9A-Fa-f]);?))"), _entity),
    ("\x1b[", re.compile(r"(\x1b\[[0-9;]{0,20}m)"), lambda escape: ""),
)


_BEGIN_CODES = (("\\", ("\\u", "\\x")), ("&", ("&#",)), ("\x1b", ("\x1b[",)), ("\0", ("\0",)))
"""By their first character: to learn that it stands nowhere takes a thirtieth of the time of a search."""
_OF_A_BYTE = tuple(f"%{digit}" for digit in "234567")


def has_codes(text: str) -> bool:
    """False only where `unescape` would undo nothing but letters after a backslash (`\\n`, `\\"`)."""
    for sign, codes in _BEGIN_CODES:
        if sign in text and any(map(text.__contains__, codes)):
            return True
    if "%" in text and any(map(text.__contains__, _OF_A_BYTE)):
        return True
    return not text.isascii() and _ANY_INVISIBLE.search(text) is not None


def undo_letters(text: str) -> str:
    """`text`, which has no codes, with its escapes undone."""
    if "\\" in text:
        for escape, meaning in _LETTERS.items():
            text = text.replace(escape, meaning)
    return text


@dataclass(frozen=True, slots=True)
class _Step:
    """One kind of escape, undone. before: the text as it stood. meanings: of each escape that stands in it."""

    before: str
    escapes: re.Pattern[str]
    meanings: dict[str, str]

    def led_back(self, spans: Sequence[Span]) -> list[Span]:
        stood = [match.span() for match in self.escapes.finditer(self.before)]
        lengths = [len(self.meanings[self.before[start:end]]) for start, end in stood]
        saved = [0, *accumulate([end - start - length for (start, end), length in zip(stood, lengths)])]
        meant = [start - less for (start, _), less in zip(stood, saved)]
        found = []
        for start, end, kind in spans:
            first = bisect_right(meant, start)  # what says nothing, before the secret, is not a part of it
            if first and meant[first - 1] == start and lengths[first - 1]:
                first -= 1
            found.append((start + saved[first], end + saved[bisect_right(meant, end - 1, first)], kind))
        return found


@cache
def _literally(escape: str) -> re.Pattern[str]:
    return re.compile(re.escape(escape))


@dataclass(slots=True)
class Unescaped:
    """text: with escapes undone."""

    text: str
    _steps: list[_Step] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._steps)

    def led_back(self, spans: Sequence[Span]) -> Sequence[Span]:
        """The spans of the text as it stood, for spans of `text`."""
        for step in reversed(self._steps if spans else ()):
            spans = step.led_back(spans)
        return spans

    def undo(self, escape: str, meaning: str) -> None:
        if escape in self.text:
            self._steps.append(_Step(self.text, _literally(escape), {escape: meaning}))
            self.text = self.text.replace(escape, meaning)

    def undo_codes(self, escapes: re.Pattern[str], meaning: Callable[[str], str]) -> None:
        # Cut and joined, not substituted: a call for each of a million escapes would take seconds.
        pieces = escapes.split(self.text)
        if len(pieces) > 1:
            meanings = {escape: meaning(escape) for escape in set(pieces[1::2])}
            self._steps.append(_Step(self.text, escapes, meanings))
            pieces[1::2] = map(meanings.__getitem__, pieces[1::2])
            self.text = "".join(pieces)


def unescape(searched: SearchedText) -> Unescaped:
    """The text with its escapes undone; false where it holds none."""
    text = searched.text
    found = Unescaped(text)
    if "\\" in text:
        for escape, meaning in _LETTERS.items():
            found.undo(escape, meaning)
    for sign, escapes, meaning_of in _CODES:
        if sign in found.text:  # what an escape said may be a code itself
            found.undo_codes(escapes, meaning_of)
    if not found.text.isascii() or "\0" in found.text:  # also what an escape said
        for character in sorted(set(_ANY_INVISIBLE.findall(found.text))):
            found.undo(character, "")
    return found
