"""Text in pictures: its width, line breaks and escaping.

Neither the fonts of the machine that draws a picture nor those of its readers are known. Widths are therefore those
of a wide font (DejaVu Sans, 2.37), rounded up; Helvetica, Arial and similar fonts are narrower.
"""

import unicodedata
from xml.sax.saxutils import escape

from recordings.trees.node_text import one_line

_WIDTHS = {
    "il|'": 0.35,
    "jft.,:;!/\\ r[]()I": 0.44,
    '"*-sczxvykJLTFE?': 0.62,
    "mMW@%": 1.02,
    "wNOQGHUDAVXCBR&<>+=~#": 0.86,
}
_ASCII = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_LONGEST = 2000  # characters: no box shows more


def room(text: str, size: float) -> float:
    """Return the largest width of `text` in pixels, at `size` pixels."""
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    if character.isascii():
        return _ASCII.get(character, 0.66)
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.05 if kind in ("So", "Sk") or unicodedata.east_asian_width(character) in "WF" else 0.8


def fit_text(text: str, most: float, size: float) -> str:
    """Cut `text` to `most` pixels, with an ellipsis if anything was cut."""
    if room(text, size) <= most:
        return text
    return text[: _fitting(text, most - size * _width("…"), size)].rstrip() + "…"


def _fitting(text: str, most: float, size: float) -> int:
    """The number of characters of `text` that fit `most` pixels."""
    kept = 0
    for character in text:
        most -= size * _width(character)
        if most < 0:
            break
        kept += 1
    return kept


def break_lines(text: str, most: float, size: float, lines: int) -> tuple[str, ...]:
    """Break `text` into at most `lines` lines of `most` pixels, if possible between words or after a `+` that joins
    acts. The last line is cut; only an empty text has an empty line."""
    found: list[str] = []
    rest = text
    while rest and len(found) < lines - 1 and room(rest, size) > most:
        head = rest[: _line_end(rest, max(_fitting(rest, most, size), 1))]
        found.append(head.rstrip())
        rest = rest[len(head) :].lstrip()
    return (*found, fit_text(rest, most, size)) if rest or not found else tuple(found)


def _line_end(rest: str, fits: int) -> int:
    """The end of a line of at most `fits` characters: before a space or after a `+`, else after a hyphen, else the
    full line."""
    hyphen = 0
    for end in range(min(fits, len(rest) - 1), 0, -1):
        if rest[end] == " ":
            return end
        if rest[end].isalnum() and rest[: end - 1][-1:].isalnum():
            if rest[end - 1] == "+":
                return end
            hyphen = hyphen or (end if rest[end - 1] == "-" else 0)
    return hyphen or fits


def plain(text: str) -> str:
    """Return `text` as the content of an element: on one line, escaped, without characters that XML forbids."""
    shown = one_line(text[: 4 * _LONGEST])
    more = len(shown) > _LONGEST or len(text) > 4 * _LONGEST
    shown = f"{shown[:_LONGEST]}… ({len(text):,} characters)" if more else shown
    return escape(shown)


def quote_attribute(text: str) -> str:
    """Return `text` as a quoted value of an attribute."""
    return '"' + plain(text).replace('"', "&quot;") + '"'
