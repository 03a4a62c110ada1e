"""A value in a JSON file together with its place there, so that an error about it names file, line and column."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from topics.errors import InputError, Place, nearest_name
from topics.json_places import Loc, element_starts, start_position, walk_json
from topics.text_file import place_in


@dataclass(frozen=True, slots=True)
class JsonSource:
    """The text of a value in a file, and the line of the file on which it begins."""

    path: str
    text: str
    line: int

    def place(self, at: int) -> Place:
        place = place_in(self.text, self.path, at)
        return Place(self.path, place.line + self.line - 1, place.column)


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value in a file, with the path to it from the root. The methods check the value's type, or raise InputError."""

    value: object
    loc: Loc
    _source: JsonSource

    @classmethod
    def at_line(cls, value: object, path: str, line: int) -> JsonValue:
        """Return a value that was read from a line of a file of another kind, such as a row of a table."""
        return cls(value, (), JsonSource(path, "", line))

    def with_value(self, value: object) -> JsonValue:
        """Return another value at the same place."""
        return JsonValue(value, self.loc, self._source)

    def without_columns(self) -> JsonValue:
        """Return the value, whose errors name only the line. To find a column, the whole text is read again, which
        takes too long for each of thousands of errors."""
        return JsonValue(self.value, self.loc, JsonSource(self.path, "", self.line))

    def without_value(self) -> JsonValue:
        """Return the place of the value alone, which needs less memory. The text of a value that is alone on its lines
        is dropped too; its place is then the line."""
        return JsonValue(None, self.loc, self._source) if self.loc else JsonValue.at_line(None, self.path, self.line)

    @property
    def path(self) -> str:
        return self._source.path

    @property
    def line(self) -> int:
        """The line of the file on which the text of the enclosing JSON value begins."""
        return self._source.line

    @property
    def place(self) -> Place:
        source = self._source
        if not source.text:
            return Place(source.path, source.line)
        if self.loc and isinstance(self.loc[-1], int):
            return source.place(element_starts(source.text, self.loc[:-1])[self.loc[-1]])
        return source.place(start_position(source.text, self.loc))

    def marks(self) -> tuple[dict[Loc, tuple[int, int]], dict[Loc, tuple[int, int]]]:
        """Return the (line, column) of each value and of each key, by path. Reads the text again."""
        source = self._source
        begins = [0, *(found.end() for found in re.finditer("\n", source.text))]
        values: dict[Loc, tuple[int, int]] = {}
        keys: dict[Loc, tuple[int, int]] = {}
        for loc, key, start in walk_json(source.text):
            row = bisect_right(begins, start) - 1
            (keys if key else values)[loc] = (source.line + row, start - begins[row] + 1)
        return values, keys

    def error(self, what: str, *, allowed: str | None = None, advice: str | None = None) -> InputError:
        """Return an error about this value, with its place in the file."""
        return InputError(what, place=self.place, allowed=allowed, advice=advice)

    def has_key(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __getitem__(self, key: str) -> JsonValue:
        if not isinstance(self.value, dict) or key not in self.value:
            known = self.keys()
            shown = ", ".join(repr(name[:40]) for name in known[:8]) + (", …" if len(known) > 8 else "")
            raise self.error(f"the object has no {key!r}" + (f" (it has {shown})" if shown else ", which is empty"))
        return JsonValue(self.value[key], (*self.loc, key), self._source)

    def keys(self) -> tuple[str, ...]:
        if not isinstance(self.value, dict):
            raise self.error(f"this must be an object, not {_kind(self.value)}", allowed="{…}")
        return tuple(self.value)

    def refuse_misspelt_keys(self, known: Sequence[str]) -> None:
        """Raise InputError at a key that resembles a known one that is missing. Other keys may be there."""
        for key in self.keys():
            meant = None if key in known else nearest_name(key, known)
            if meant is not None and not self.has_key(meant):
                raise self[key].error(f"unknown key {key[:40]!r}: did you mean {meant!r}?", allowed=", ".join(known))

    def elements(self) -> list[JsonValue]:
        if not isinstance(self.value, list):
            raise self.error(f"this must be a list, not {_kind(self.value)}", allowed="[…]")
        return [JsonValue(value, (*self.loc, index), self._source) for index, value in enumerate(self.value)]

    def parts(self, kinds: str) -> list[JsonValue]:
        """Return the elements of a list, or else the value itself. An empty list is an error: `kinds` says what the
        file may hold."""
        if self.value == []:
            raise self.error("the list is empty", allowed=kinds)
        return self.elements() if isinstance(self.value, list) else [self]

    def text(self, allowed: tuple[str, ...] = ()) -> str:
        """Return a non-empty string. If `allowed` is given, the string must be in `allowed`."""
        if not isinstance(self.value, str) or not self.value:
            raise self.error(f"this must be text, not {_kind(self.value)}", allowed=", ".join(allowed) or None)
        if allowed and self.value not in allowed:
            raise self.error(f"{self.value[:40]!r} is not a known value", allowed=", ".join(allowed))
        return self.value

    def index(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not 0 <= self.value < 10**9:
            raise self.error(f"this must be a count, not {_kind(self.value)}", allowed="0, 1, 2, …")
        return self.value

    def weight(self) -> float:
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self.error(f"this must be a number, not {_kind(self.value)}", allowed="a number from 0")
        try:
            found = float(self.value)
        except OverflowError:
            found = math.inf
        if not (math.isfinite(found) and found >= 0):
            raise self.error("a weight must be finite and not negative", allowed="a number from 0")
        return found


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value:.12g}" if isinstance(value, float) or abs(value) < 10**12 else "a huge number"
    if isinstance(value, str):
        return f"the text {value[:40]!r}" if value else "empty text"
    return "a list" if isinstance(value, list) else "an object"
