"""The plain text of an answer: without Markdown emphasis, and with full-width letters replaced by ordinary letters.

A phrase is found in "**New** _York_" and in "Ｋｙｏｔｏ". Positions refer to the original answer.
"""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

# Marks around words; within a word, as in "snake_case" and "**Up**date", they do not end it.
_EMPHASIS = re.compile(r"(?<![^\W_*])[*_]{1,3}(?=[^\s*_])|(?<=[^\s*_])[*_]{1,3}(?![^\W_*])")
# A character with its combining marks, such as a half-width kana and its sign.
_MARKED = re.compile(r"[^\x00-\x7f][\u0300-\u036f\u3099\u309a\uff9e\uff9f]*")


def blank_emphasis(text: str) -> str:
    """Return the text with emphasis marks replaced by blanks, so that all positions stay valid."""
    if "*" not in text and "_" not in text:
        return text
    return _EMPHASIS.sub(lambda marks: " " * len(marks[0]), text)


@dataclass(frozen=True, slots=True)
class PlainText:
    """A searchable `text` and the start and end of each character in the answer (None if the text is unchanged)."""

    text: str
    places: tuple[Sequence[int], Sequence[int]] | None = None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the answer of text[start:end], which must not be empty."""
        return (start, end) if self.places is None else (self.places[0][start], self.places[1][end - 1])


def plain_text(text: str) -> PlainText:
    """Return the text without emphasis, in the Unicode normal form NFKC."""
    bare = blank_emphasis(text)
    if bare.isascii() or unicodedata.is_normalized("NFKC", bare):
        return PlainText(bare)
    pieces: list[str] = []
    # Arrays: a million pairs would keep the garbage collector busy.
    starts, ends = array("q"), array("q")
    done = 0
    for found in chain(_MARKED.finditer(bare), (None,)):
        start, end = found.span() if found else (len(bare), len(bare))
        pieces.append(bare[done:start])
        starts.extend(range(done, start))
        ends.extend(range(done + 1, start + 1))
        if found:
            form = unicodedata.normalize("NFKC", found[0])
            alike = form == found[0]
            pieces.append(form)
            starts.extend(range(start, end) if alike else [start] * len(form))
            ends.extend(range(start + 1, end + 1) if alike else [end] * len(form))
        done = end
    return PlainText("".join(pieces), (starts, ends))
