"""JSON text in which some bytes or records are damaged: the whole records are read, and each fault is reported."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

from topics.errors import InputError, Place
from topics.json_file import json_values
from topics.json_value import JsonValue
from topics.mended_json import mend_records
from topics.text_file import decode, refuse_binary

# Characters of private use, which hardly any file contains.
_MARKS = tuple(map(chr, range(0x10FFFD, 0x10FF00, -1)))


@dataclass(frozen=True, slots=True)
class SalvagedText:
    """The decoded text of a file. Each byte that is not text is replaced by `mark`, "" if there is no such byte.
    `faults` has the first error of each line."""

    text: str
    path: str
    mark: str
    faults: Mapping[int, InputError]

    @classmethod
    def decode(cls, data: bytes, path: str, kind: str) -> Self:
        """Decode a file. Raises InputError if the file is not text at all, for example an archive."""
        try:
            return cls(decode(data, path, kind), path, "", {})
        except InputError as fault:
            refuse_binary(data, path, kind)
            faults = dict(_find_faults(data, path, kind))
            text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
            mark = next((one for one in _MARKS if one not in text and json.dumps(one)[1:-1] not in text.lower()), "")
            if not mark:
                raise fault from None
            return cls(text.translate({0: mark, **dict.fromkeys(range(0xDC80, 0xDD00), mark)}), path, mark, faults)

    def values(self, bad: Callable[[InputError], object], is_record: Callable[[object], bool]) -> Iterator[JsonValue]:
        """Yield the JSON values of the file as `json_values` does, and also the values of lists with damaged records.
        If a bad byte makes a line invalid, the error names that byte."""

        def refuse(fault: InputError) -> None:
            bad(self.faults.get(fault.place.line, fault) if fault.place else fault)

        try:
            yield from json_values(self.text, self.path, refuse, partial(mend_records, is_record=is_record))
        except InputError as fault:
            raise (next(iter(self.faults.values()), fault)) from None

    def check(self, value: JsonValue) -> None:
        """Raise InputError if the value contains a byte that is not text. The error gives the place of the byte if no
        other value shares its lines."""
        if self.mark and self.mark in json.dumps(value.value, ensure_ascii=False):
            if not value.loc:
                raise self.faults.get(value.line) or next(iter(self.faults.values()))
            raise InputError(
                "this record contains a byte that is not UTF-8, or a NUL byte", advice="save the file as UTF-8 text"
            )


def _find_faults(data: bytes, path: str, kind: str) -> Iterator[tuple[int, InputError]]:
    for line_number, line in enumerate(data.split(b"\n"), 1):
        try:
            decode(line, path, kind)
        except InputError as fault:
            place = Place(path, line_number, fault.place.column if fault.place else 0)
            yield line_number, InputError(fault.what, place=place, allowed=fault.allowed, advice=fault.advice)
