"""Letters in a picture: how much room a text takes, where it is broken, and how it is written down in XML.

No font is at hand where a picture is made, and another one may be where it is looked at. Widths are therefore those of
a wide font (DejaVu Sans, 2.37) rounded up: in Helvetica, Arial and their like every text is narrower.
"""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape

from recordings.trees.wording import printable

__all__ = ["broken", "fitted", "plain", "quoted", "room"]

_WIDTHS = {
    "il|'": 0.35,
    "jft.,:;!/\\ r[]()I": 0.44,
    '"*-sczxvykJLTFE?': 0.62,
    "mMW@%": 1.02,
    "wNOQGHUDAVXCBR&<>+=~#": 0.86,
}
_ASCII = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_LONGEST = 2000


def room(text: str, size: float) -> float:
    """Pixels that `text` takes at `size` pixels, at the most."""
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    if character.isascii():
        return _ASCII.get(character, 0.66)
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.05 if kind in ("So", "Sk") or unicodedata.east_asian_width(character) in "WF" else 0.8


def fitted(text: str, most: float, size: float) -> str:
    """`text` in at most `most` pixels; an ellipsis says where something was cut off."""
    if room(text, size) <= most:
        return text
    free, kept = most - size * _width("…"), 0
    for character in text:
        free -= size * _width(character)
        if free < 0:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def broken(text: str, most: float, size: float, lines: int) -> tuple[str, ...]:
    """`text` in at most `lines` lines of `most` pixels, between words where that can be; the last is cut."""
    found: list[str] = []
    rest = text
    while rest and len(found) < lines - 1 and room(rest, size) > most:
        head = fitted(rest, most + size * _width("…"), size).removesuffix("…")
        space = head.rfind(" ")
        if not rest[len(head) :].startswith(" ") and space > 0:
            head = head[:space]
        head = head or rest[0]
        found.append(head)
        rest = rest[len(head) :].lstrip()
    return (*found, fitted(rest, most, size))


def plain(text: str) -> str:
    """`text` as the content of an element: one line, nothing in it is markup, and nothing that XML cannot hold."""
    shown = printable(text[: 4 * _LONGEST])
    more = len(shown) > _LONGEST or len(text) > 4 * _LONGEST
    shown = f"{shown[:_LONGEST]}… ({len(text):,} characters)" if more else shown
    return escape(shown)


def quoted(text: str) -> str:
    """The same as the value of an attribute, with its quotes."""
    return '"' + plain(text).replace('"', "&quot;") + '"'
