"""Positions in a text of JSON. The text is read again to find them, so use this module only for errors."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from json import JSONDecoder

# The path to a value from the top: keys of objects, and indices in lists, from 0.
Loc = tuple[str | int, ...]

_SPACE = " \t\r\n"


def walk_json(text: str) -> Iterator[tuple[Loc, bool, int]]:
    """Yield the path, whether it is a key, and the position of every key and value in a valid JSON text, in file
    order. Uses an explicit stack, so that any nesting accepted by the parser can be read."""
    decoder, at = JSONDecoder(), 0
    open_: list[tuple[Loc, int]] = []  # the containers around `at`: path, next index (-1 for an object)
    loc: Loc = ()
    while True:
        at = _skip_space(text, at)
        yield loc, False, at
        if text[at] in "[{":
            open_.append((loc, 0 if text[at] == "[" else -1))
            at += 1
        else:
            _, at = decoder.raw_decode(text, at)
        while True:
            if not open_:
                return
            at = _skip_space(text, at)
            if text[at] in "]}":
                open_.pop()
                at += 1
                continue
            if text[at] == ",":
                at = _skip_space(text, at + 1)
            break
        way, index = open_[-1]
        if index < 0:
            key, after = decoder.raw_decode(text, at)
            loc = (*way, key)
            yield loc, True, at
            at = _skip_space(text, after) + 1
        else:
            loc = (*way, index)
            open_[-1] = (way, index + 1)


def start_position(text: str, loc: Loc) -> int:
    """Return the position of the value at `loc`, or 0 if there is none."""
    return next((start for way, key, start in walk_json(text) if way == loc and not key), 0)


@lru_cache(maxsize=1)  # a list of many faulty elements must not be walked once for each
def element_starts(text: str, loc: Loc) -> Sequence[int]:
    decoder, starts = JSONDecoder(), []
    at = _skip_space(text, start_position(text, loc) + 1)
    while text[at] != "]":
        starts.append(at)
        at = _skip_space(text, decoder.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _skip_space(text, at + 1)
    return starts


def _skip_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
