"""How pieces that came one after the other make one text."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What a growing text has at its end only until it grows: closing tags, marks, a cursor.
_CLOSERS = re.compile(r"(?:\s*</[a-zA-Z][\w-]*>\s*|[\s*_`~|▍▌█●…])+$")
_STABLE = 0.5  # of a text that must stay as it was for the next to be the same one, written on
_SHORTEST = 8  # characters that must stay
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_WRITTEN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*")


@dataclass(frozen=True, slots=True)
class Run:
    """A text as it was at last. stages: how many different texts it grew through; 1 where it came in one piece."""

    text: str
    stages: int = 1


def runs(pieces: Iterable[str]) -> list[Run]:
    """The texts that pieces make if each either writes the one before it on, whole, or begins another."""
    found: list[Run] = []
    for piece in pieces:
        if found and is_grown(found[-1].text, piece):
            found[-1] = Run(piece, found[-1].stages + (piece != found[-1].text))
        else:
            found.append(Run(piece))
    return found


def is_grown(before: str, after: str) -> bool:
    """Whether `after` is `before` written on, or the same, but for what stood at its end only for the time being."""
    if after.startswith(before):
        return True
    bare = _CLOSERS.sub("", before)
    if bare and after.startswith(bare):
        return True
    same = next((place for place, pair in enumerate(zip(before, after)) if pair[0] != pair[1]), len(before))
    return same >= max(_SHORTEST, _STABLE * len(before)) and len(after) >= 0.8 * len(before)


def spliced(pieces: Iterable[tuple[str, int | None]]) -> str:
    """The text that pieces make of which each is written over what stands from its place on; without a place at the
    end."""
    text = ""
    for piece, place in pieces:
        text = text[: len(text) if place is None else place] + piece
    return text


def decoded(pieces: Sequence[str]) -> list[str]:
    """What the pieces hold if every one of them is base64 and all together are UTF-8 text; [] where they are not. Words
    of four letters may be base64 by chance."""
    if not all(len(piece) % 4 == 0 and _BASE64.fullmatch(piece) for piece in pieces):
        return []
    decoder = codecs.getincrementaldecoder("utf-8")()  # a character may be torn apart
    try:
        texts = [decoder.decode(base64.b64decode(piece, validate=True)) for piece in pieces]
        whole = "".join([*texts, decoder.decode(b"", final=True)])
    except (binascii.Error, ValueError):
        return []
    return texts if whole and _WRITTEN.fullmatch(whole) else []
