"""JSON of conversations in which some bytes are no text: what they are in is left out, and the rest is read.

A log of months may have a line in another encoding, half a character where a program cut a text, or zeros where a disk
was full. Such a byte stands in the text as a character that the file does not hold otherwise, so that the conversation
around it is found, in a list over several lines too.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

from topics.errors import InputError, Place
from topics.json_file import JsonValue, json_values
from topics.mended_json import mended
from topics.text_file import decode, refuse_binary

_MARKS = tuple(map(chr, range(0x10FFFD, 0x10FF00, -1)))
"""Characters of private use, of which hardly any file holds one."""


@dataclass(frozen=True, slots=True)
class SalvagedText:
    """text: with `mark` in the place of each byte that is no text; mark: "" if there is none. faults: by the line, the
    first such byte on it, as it is named to people."""

    text: str
    path: str
    mark: str
    faults: Mapping[int, InputError]

    @classmethod
    def of(cls, data: bytes, path: str, kind: str) -> Self:
        """Raises InputError for a file that is no text at all, such as an archive."""
        try:
            return cls(decode(data, path, kind), path, "", {})
        except InputError as fault:
            refuse_binary(data, path, kind)
            faults = dict(_faults(data, path, kind))
            text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
            mark = next((one for one in _MARKS if one not in text and json.dumps(one)[1:-1] not in text.lower()), "")
            if not mark:
                raise fault from None
            return cls(text.translate({0: mark, **dict.fromkeys(range(0xDC80, 0xDD00), mark)}), path, mark, faults)

    def values(self, bad: Callable[[InputError], object], is_record: Callable[[object], bool]) -> Iterator[JsonValue]:
        """As `json_values`, of lists with bad records too; a line that is no JSON is named for the byte, if that is
        why."""

        def refuse(fault: InputError) -> None:
            bad(self.faults.get(fault.place.line, fault) if fault.place else fault)

        try:
            yield from json_values(self.text, self.path, refuse, partial(mended, is_record=is_record))
        except InputError as fault:
            raise (next(iter(self.faults.values()), fault)) from None

    def check(self, value: JsonValue) -> None:
        """Raises InputError if such a byte is in the value; with its place, if nothing else is on its lines."""
        if self.mark and self.mark in json.dumps(value.value, ensure_ascii=False):
            if not value.loc:
                raise self.faults.get(value.line) or next(iter(self.faults.values()))
            raise InputError("it holds a byte that is not UTF-8, or a NUL byte", advice="save the file as UTF-8 text")


def _faults(data: bytes, path: str, kind: str) -> Iterator[tuple[int, InputError]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            decode(line, path, kind)
        except InputError as fault:
            place = Place(path, number, fault.place.column if fault.place else 0)
            yield number, InputError(fault.what, place=place, allowed=fault.allowed, advice=fault.advice)
