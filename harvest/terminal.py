"""Showing on a terminal what systems wrote: every character, and none of them able to steer the terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["shown"]

_KEPT = "\n\t"
_BIDI = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}


def shown(text: str, *, line: bool = False) -> str:
    """`text` with control characters as pictures (ESC as ␛) and direction marks by code; line: line ends too."""
    kept = "" if line else _KEPT
    return "".join(
        character if character in kept or not _steers(character) else _picture(character) for character in text
    )


def _steers(character: str) -> bool:
    return character in _BIDI or unicodedata.category(character) == "Cc"


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"
