r"""Removal of the escapes in a text: `\u006b` in JSON and scripts, `&#107;` and `&nbsp;` in HTML, `%6b` and `%C3%BC` in
URLs, terminal codes for colours and links, and zero-width characters.

Any character of a secret may be returned as an escape, and a line break before the secret may be a `\n` that looks like
a letter. So a text is searched both as it is and without escapes, and hits are mapped back to their positions. In URLs,
only UTF-8 is decoded. Each step takes time linear in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html.entities import html5
from itertools import accumulate, pairwise

from topics.late_pattern import lazy_pattern
from topics.lower_case import to_lower

# Characters from which recording the pairs is faster than the searches it saves.
_LONG = 2**12

_PAIRS = 2**16  # of two bytes
# İ and the Kelvin sign: the only characters beyond ASCII that are in it once they are in lower case.
_ASCII_IN_LOWER_CASE = {0x130: "i", 0x212A: "k"}


class SearchedText:
    """A text that is searched many times. Its lower-case version, of the same length, is computed on first use."""

    __slots__ = ("_lower", "_pairs", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lower: str | None = None
        self._pairs = _pairs_in(text) if len(text) >= _LONG else b""

    @property
    def lower(self) -> str:
        if self._lower is None:
            self._lower = to_lower(self.text)
        return self._lower

    @property
    def long(self) -> bool:
        """True if the text is so long that `may_hold` is faster than a search."""
        return bool(self._pairs)

    def may_contain(self, literal: str) -> bool:
        """Return False only if `literal` does not occur in the text in any mix of upper and lower case."""
        pairs = self._pairs
        return not pairs or all(pairs[pair] for pair in _pairs_of(literal))

    def contains(self, literal: str) -> bool:
        return self.may_contain(literal) and literal in self.text

    def contains_in_any_case(self, literal: str) -> bool:
        """Return True if `literal`, which is in lower case, occurs in the text or in its lower-case version."""
        return self.may_contain(literal) and (literal in self.text or literal in self.lower)


def _pairs_in(text: str) -> bytes:
    """Return an array with 1 for each pair of adjacent characters that occurs in the text, else 0."""
    import numpy as np  # late: commands that read no long text do without it

    if not text.isascii() and any(chr(code) in text for code in _ASCII_IN_LOWER_CASE):
        text = text.translate(_ASCII_IN_LOWER_CASE)
    data = text.encode("ascii", "replace").lower()
    even = np.frombuffer(data, "<u2", len(data) // 2)
    odd = np.frombuffer(data, "<u2", (len(data) - 1) // 2, offset=1)
    counts = np.bincount(even, minlength=_PAIRS) + np.bincount(odd, minlength=_PAIRS)
    return (counts > 0).tobytes()


@lru_cache(maxsize=1024)
def _pairs_of(literal: str) -> tuple[int, ...]:
    lower = literal.lower()
    return tuple(ord(a) | ord(b) << 8 for a, b in pairwise(lower) if a.isascii() and b.isascii())


# Characters [start, end) of a text, and the kind of secret there.
Span = tuple[int, int, str]

_LETTERS = {'\\"': '"', "\\'": "'", "\\/": "/", "\\n": "\n", "\\r": "\r", "\\t": "\t", "\\b": "\b", "\\f": "\f"}
_INVISIBLE = (
    "\0\u00ad\u034f\u061c\u115f\u1160\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e\u200f"
    "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3164\ufeff\uffa0"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
)


def _undo_hexadecimal(escape: str) -> str:
    if "u" not in escape:
        return chr(int(escape[-2:], 16))
    units = b"".join(int(unit[:4], 16).to_bytes(2, "big") for unit in escape.split("u")[1:])
    return units.decode("utf-16-be", "surrogatepass")


def _undo_url(escape: str) -> str:
    return bytes(int(one[-2:], 16) for one in escape.split("%")[1:]).decode("utf-8", "replace")


def _drop_escape(escape: str) -> str:
    return ""


def _undo_entity(escape: str) -> str:
    digits = escape[2:].rstrip(";")
    code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    return chr(code) if 0x20 <= code <= 0x10FFFF else escape


# Whatever its meaning: a space, an accent or a letter of another alphabet may be between those of a secret,
# and its digits would be mistaken for some of them.
_UNIT = r"u(?:[Dd][89ABab][0-9A-Fa-f]{2}\\+u[Dd][C-Fc-f][0-9A-Fa-f]{2}|[0-9A-Fa-f]{4})"

_PERCENT = r"%(?:25)*"  # %256b is %6b, escaped once more
_LATER = rf"{_PERCENT}[89ABab][0-9A-Fa-f]"
# ASCII, and characters that may separate or replace the letters of a secret. Letters of other alphabets are part
# of the secret, and are in the forms that are searched.
_URL = (
    rf"{_PERCENT}(?:[0-7][0-9A-Fa-f]|(?:[Cc][2CDcd]|[Dd]8){_LATER}|[Ee][1-3Ff](?:{_LATER}){{2}}|[Ff]3(?:{_LATER}){{3}})"
)

# Those four are common in HTML, and are in the forms that are searched.
_NAME = r"&(?!(?:amp|lt|gt|quot);)[A-Za-z][A-Za-z0-9]{1,30};"

# A link's address, and other terminal codes that are not shown.
_LINK = lazy_pattern(r"(\x1b\][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c))")

# Each begins with a literal, for which the engine searches many times faster than for one of several characters.
_CODES: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    # With all backslashes before it: JSON within JSON doubles them. Searched from the first of them only.
    ("\\", lazy_pattern(rf"(\\(?<!\\\\)\\*+(?:{_UNIT}|x[0-9A-Fa-f]{{2}}))"), _undo_hexadecimal),
    ("%", lazy_pattern(rf"({_URL})"), _undo_url),
    ("&", lazy_pattern(rf"({_NAME})"), lambda escape: html5.get(escape[1:], escape)),
    (
        "&#",
        lazy_pattern(r"(&#(?:0{0,5}[0-9]{2,7}(?![0-9]);?|[xX]0{0,5}[0-9A-Fa-f]{2,6}(?![0-9A-Fa-f]);?))"),
        _undo_entity,
    ),
    ("\x1b[", lazy_pattern(r"(\x1b\[[0-9:;]{0,20}[A-Za-z])"), _drop_escape),
    ("\x9b", lazy_pattern(r"(\x9b[0-9:;]{0,20}[A-Za-z])"), _drop_escape),
    ("\x1b]", _LINK, _drop_escape),
    ("\x9d", lazy_pattern(r"(\x9d[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c))"), _drop_escape),
)


# By their first character: finding that it is absent takes a thirtieth of the time of a search.
_BEGIN_CODES = (
    ("\\", ("\\u", "\\x")),
    ("\x1b", ("\x1b[", "\x1b]")),
    ("\0", ("\0",)),
)
_OF_A_BYTE = lazy_pattern(r"%[0-7CDEFcdef]")
_IS_ENTITY = lazy_pattern(rf"&#|{_NAME}")


def has_codes(text: str) -> bool:
    r"""Return False only if the text has no escapes other than letters after a backslash (`\n`, `\"`)."""
    for sign, codes in _BEGIN_CODES:
        if sign in text and any(map(text.__contains__, codes)):
            return True
    if ("%" in text and _OF_A_BYTE.search(text)) or ("&" in text and _IS_ENTITY.search(text)):
        return True
    return not text.isascii() and any(map(text.__contains__, (*_INVISIBLE, "\x9b", "\x9d")))


def undo_letters(text: str) -> str:
    """Decode the letters after backslashes in `text`, which has no other escapes."""
    if "\\" in text:
        for escape, meaning in _LETTERS.items():
            text = text.replace(escape, meaning)
    return text


@dataclass(frozen=True, slots=True)
class _Step:
    """The removal of one kind of escape. `before` is the text with the escapes, and `meanings` decodes them."""

    before: str
    escapes: re.Pattern[str]
    meanings: dict[str, str]

    def map_to_original(self, spans: Sequence[Span]) -> list[Span]:
        stood = [match.span() for match in self.escapes.finditer(self.before)]
        lengths = [len(self.meanings[self.before[start:end]]) for start, end in stood]
        saved = [0, *accumulate([end - start - length for (start, end), length in zip(stood, lengths)])]
        meant = [start - less for (start, _), less in zip(stood, saved)]
        found = []
        for start, end, kind in spans:
            first = bisect_right(meant, start)  # escapes without meaning before the secret are not part of it
            if first and meant[first - 1] == start and lengths[first - 1]:
                first -= 1
            found.append((start + saved[first], end + saved[bisect_right(meant, end - 1, first)], kind))
        return found


@cache
def _escaped_pattern(escape: str) -> re.Pattern[str]:
    return re.compile(re.escape(escape))


@dataclass(slots=True)
class Unescaped:
    """A text without its escapes. In `marked`, zero-width characters are kept: they may have replaced a character."""

    text: str
    marked: str = ""
    _steps: list[_Step] = field(default_factory=list)
    _unseen: int = 0

    def __bool__(self) -> bool:
        return bool(self._steps)

    def map_to_original(self, spans: Sequence[Span]) -> Sequence[Span]:
        """Map spans of `text` to the original text."""
        return self._map_back(spans, len(self._steps))

    def map_marked_to_original(self, spans: Sequence[Span]) -> Sequence[Span]:
        """Map spans of `marked` to the original text."""
        return self._map_back(spans, self._unseen)

    def _map_back(self, spans: Sequence[Span], steps: int) -> Sequence[Span]:
        for step in reversed(self._steps[:steps] if spans else ()):
            spans = step.map_to_original(spans)
        return spans

    def mark(self) -> None:
        self.marked, self._unseen = self.text, len(self._steps)

    def undo(self, escape: str, meaning: str) -> None:
        if escape in self.text:
            self._steps.append(_Step(self.text, _escaped_pattern(escape), {escape: meaning}))
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
    """Return the text without its escapes. The result is falsy if there are no escapes."""
    text = searched.text
    found = Unescaped(text)
    if "\x1b" in text:  # its end may look like the beginning of a letter with a backslash
        found.undo_codes(_LINK, _drop_escape)
    if "\\" in text:
        for escape, meaning in _LETTERS.items():
            found.undo(escape, meaning)
    for sign, escapes, meaning_of in _CODES:
        # By its first character: see _BEGIN_CODES. An escape may decode to a code.
        if sign[0] in found.text and sign in found.text:
            found.undo_codes(escapes, meaning_of)
    found.mark()
    # One search for each: in a text of Latin letters, nearly all of them end at once.
    for character in _INVISIBLE if not found.text.isascii() else "\0":  # also decoded escapes
        found.undo(character, "")
    return found
