"""JSON and JSONL files from users, read strictly: every error names file, line and column.

The standard library reads the file, because it is fast. The text is read again only to find the place of an error. A
key that appears twice in one object is rejected, because one of its values would be lost silently.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import JSONDecoder
from os import PathLike, fspath

from topics.errors import InputError, Place
from topics.json_places import Loc, element_starts, start_position, walk_json
from topics.suggestions import nearest_name
from topics.text_file import place_in, read_text

# Bytes. A file takes some ten times as much memory while it is read.
_LARGEST = 256 * 2**20

_BOM_FIRST = re.compile("^\ufeff", re.MULTILINE)  # texts of JSON contain no line ends, so it is outside of them
_BOM_BETWEEN = re.compile("(?<=[}\\]])\ufeff(?=[ \t\r]*[{\\[])")
_COMMA_LAST = re.compile(r"(?<=[}\]])[ \t]*,\s*\Z")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class _Source:
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
    _source: _Source

    @classmethod
    def at_line(cls, value: object, path: str, line: int) -> JsonValue:
        """Return a value that was read from a line of a file of another kind, such as a row of a table."""
        return cls(value, (), _Source(path, "", line))

    def with_value(self, value: object) -> JsonValue:
        """Return another value at the same place."""
        return JsonValue(value, self.loc, self._source)

    def without_columns(self) -> JsonValue:
        """Return the value, whose errors name only the line. To find a column, the whole text is read again, which
        takes too long for each of thousands of errors."""
        return JsonValue(self.value, self.loc, _Source(self.path, "", self.line))

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


def read_json(path: str | PathLike[str]) -> Iterator[JsonValue]:
    """Yield the values in the file: one value per non-empty line of `*.jsonl`, or else a single value. Raises
    InputError."""
    yield from read_json_text(_read_text(path), fspath(path))


def _read_text(path: str | PathLike[str]) -> str:
    return read_text(path, "JSON that is read at once", largest=_LARGEST, advice="split it into several files")


def read_json_value(path: str | PathLike[str]) -> JsonValue:
    """Return the single value in a file, whatever the file's name. Raises InputError."""
    return _parse_text(_Source(fspath(path), _read_text(path), 1))


def read_json_text(text: str, path: str) -> Iterator[JsonValue]:
    """Yield the values in a text as `read_json` does. The suffix of `path` decides whether each line is a value."""
    if not path.lower().endswith(".jsonl"):
        yield _parse_text(_Source(path, text, 1), "give a file of one JSON value a line a name that ends in .jsonl")
        return
    empty = True
    for value in json_lines(text, path):
        empty = False
        yield value
    if empty:
        raise InputError("the file is empty", place=Place(path))


# Turns a text in which some records are not JSON into valid JSON without them, and returns their faults; see
# `topics.mended_json`. The arguments are the text, the name of its file and its first line there.
Mend = Callable[[str, str, int], "tuple[str, list[InputError]] | None"]


def json_lines(
    text: str,
    path: str,
    bad: Callable[[InputError], object] | None = None,
    *,
    torn: list[Place] | None = None,
    mend: Mend | None = None,
) -> Iterator[JsonValue]:
    """Yield the values in a text with one value per line, skipping empty lines. Raises InputError.

    If `bad` is given, it receives the error of each line that is not JSON, and reading continues; otherwise the first
    error is raised. `torn` collects the places of lines that contain only the beginning of an object, as left by a
    writer that was stopped. Without `torn`, such a line is an error, too. `mend` recovers records from a line that
    may contain several.
    """
    start, number, first = 0, 0, True
    while start < len(text):
        end = text.find("\n", start)  # not splitlines: a JSON string may contain U+2028
        line, start, number = text[start : end if end >= 0 else None], end + 1 if end >= 0 else len(text), number + 1
        if not line.strip():
            continue
        try:
            value = _parse_text(_Source(path, line, number))
        except InputError as fault:
            if torn is not None and isinstance(fault, NotJsonError) and line.startswith("{"):
                # More brackets are opened than closed, because a whole object never begins another one.
                rest = _STRING.sub("", line)
                opened, closed = (sum(map(rest.count, marks)) for marks in ("{[", "}]"))
                if '"' in rest or opened > closed:
                    torn.append(Place(path, number))
                    continue
            if first and start < len(text) and _is_json(text):
                raise NotJsonError(
                    "a JSON value spans several lines, but each line must be a separate value",
                    place=Place(path, number, 1),
                    advice="write each value on one line (JSON Lines)",
                ) from None
            if bad is None:
                raise
            ended = line.rstrip().endswith(("]", "}"))
            yield from _salvage_values(_Source(path, line, number), fault, bad, mend if ended else None)
        else:
            yield value
        first = False


def _salvage_values(
    source: _Source, fault: InputError, bad: Callable[[InputError], object], mend: Mend | None
) -> Iterator[JsonValue]:
    """Yield the values in a text that is not JSON: records among bad records, or values joined by a byte order mark."""
    if found := _mend_value(source, bad, mend):
        yield found
        return
    pieces = _BOM_BETWEEN.split(_COMMA_LAST.sub("", source.text))  # a comma after each line, as in a list
    if pieces == [source.text]:
        bad(fault)
        return
    before = 0
    for piece in pieces:  # blanks before it preserve its columns
        try:
            yield _parse_text(_Source(source.path, " " * before + piece, source.line))
        except InputError as one:
            bad(one)
        before += len(piece) + 1


def _mend_value(source: _Source, bad: Callable[[InputError], object], mend: Mend | None) -> JsonValue | None:
    found = mend(source.text, source.path, source.line) if mend is not None else None
    if found is None:
        return None
    for one in found[1]:
        bad(one)
    return _parse_text(_Source(source.path, found[0], source.line))


def json_values(
    text: str, path: str, bad: Callable[[InputError], object], mend: Mend | None = None
) -> Iterator[JsonValue]:
    """Yield the values in a text that is one JSON value over any number of lines, or has a value on each line. `bad`
    and `mend` are as in `json_lines`. Raises InputError if nothing in the text is JSON."""
    text = _BOM_FIRST.sub(" ", text)  # of a file that was appended to another one
    opening, _, rest = text.lstrip().partition("\n")
    if not opening:
        return
    if rest.strip() and _is_json(opening):
        yield from json_lines(text, path, bad, mend=mend)
        return
    source = _Source(path, text, 1)
    try:
        whole = _parse_text(source, "put each value on a separate line (jq -c . FILE), or all in a list")
    except InputError as fault:
        if found := _mend_value(source, bad, mend):
            yield found
            return
        if _is_json(text):
            raise
        faults: list[InputError] = []
        lines = list(json_lines(text, path, faults.append, mend=mend))
        if not lines:
            raise fault from None
        for one in faults:
            bad(one)
        yield from lines
    else:
        yield whole


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def value_at(text: str, at: int, path: str, line: int = 1) -> tuple[object, int, InputError | None]:
    """Return the value at a position, its end (-1 if unknown), and its error. The text begins on the file's line
    `line`."""
    end = -1
    try:
        value, end = _STRICT.raw_decode(text, at)
    except json.JSONDecodeError as fault:
        place = Place(path, line + fault.lineno - 1, fault.colno)
        return None, -1, NotJsonError(f"not valid JSON: {fault.msg}", place=place, advice=_mending_advice(text, fault))
    except (_RepeatedKeyError, _ConstantError):
        with suppress(ValueError, RecursionError):
            _, end = JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    else:
        return value, end, None
    begins = text.rfind("\n", 0, at) + 1
    first = line + text.count("\n", 0, begins)
    try:
        _parse_text(_Source(path, " " * (at - begins) + text[at : end if end >= 0 else None], first))
    except InputError as fault:
        return None, end, fault
    return None, -1, InputError("not valid JSON", place=Place(path, first, at - begins + 1))


def _parse_text(source: _Source, of_more: str | None = None) -> JsonValue:
    try:
        value = json.loads(source.text, object_pairs_hook=_unique_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as fault:
        place = Place(source.path, source.line + fault.lineno - 1, fault.colno)
        if fault.msg == "Extra data":
            advice = of_more
        elif fault.pos == len(source.text) - len(source.text.lstrip()):
            advice = "this does not begin like JSON ({ or [): check the file name"
        else:
            advice = _mending_advice(source.text, fault)
        raise NotJsonError(f"not valid JSON: {fault.msg}", place=place, advice=advice) from None
    except _RepeatedKeyError:
        seen: set[Loc] = set()
        for loc, key, start in walk_json(source.text):
            if key and loc in seen:
                what = f"the key {loc[-1]!r} appears twice in one object"
                raise InputError(what, place=source.place(start), advice="keep one of them") from None
            if key:
                seen.add(loc)
        place = Place(source.path, source.line)
        raise InputError("a key appears twice in one object", place=place) from None
    except _ConstantError as fault:
        # The text before it is valid JSON, and the walk reads what Python does.
        starts = (at for _, key, at in walk_json(source.text) if not key and source.text.startswith(fault.name, at))
        what = f"not valid JSON: {fault.name} is not a number in JSON"
        raise InputError(what, place=source.place(next(starts, 0)), advice="leave it out, or write null") from None
    except ValueError:  # Python refuses whole numbers of more digits than it could write
        raise InputError(
            "not valid JSON: a number has too many digits", place=Place(source.path, source.line)
        ) from None
    except RecursionError:
        raise InputError(
            "not valid JSON: lists or objects are nested too deeply", place=Place(source.path, source.line)
        ) from None
    return JsonValue(value, (), source)


class NotJsonError(InputError):
    """Error for a file, or a line of a file, that is not JSON."""


def _mending_advice(text: str, fault: json.JSONDecodeError) -> str:
    if _END.match(text, fault.pos) or fault.msg.startswith("Unterminated string"):
        return "the text is truncated: write the file again, or use a copy"
    return "correct it, or write the file again with the program that made it"


_END = re.compile(r"\s*\Z")


class _RepeatedKeyError(Exception):
    """Raised for a key that appears twice, by a hook that does not know the position in the text."""


class _ConstantError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _refuse_constant(name: str) -> float:
    raise _ConstantError(name)


def _unique_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError
    return found


_STRICT = JSONDecoder(object_pairs_hook=_unique_object, parse_constant=_refuse_constant)


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
