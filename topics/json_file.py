"""JSON and JSONL files from users, read strictly: every error names file, line and column.

The standard library reads the file, because it is fast. The text is read again only to find the place of an error. A
key that appears twice in one object is rejected, because one of its values would be lost silently.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from json import JSONDecoder
from os import PathLike, fspath

from topics.errors import InputError, Place
from topics.json_places import Loc, walk_json
from topics.json_value import JsonSource, JsonValue
from topics.text_file import Lines, read_text

# Bytes. A file takes some ten times as much memory while it is read.
_LARGEST = 256 * 2**20

_WINDOW = 4096  # characters of a text that are decoded at first
_LONGEST_TOKEN = 16  # of JSON, but strings and numbers: `-Infinity`, or the escapes of a surrogate pair

_BOM_FIRST = re.compile("^\ufeff", re.MULTILINE)  # texts of JSON contain no line ends, so it is outside of them
_BOM_BETWEEN = re.compile("(?<=[}\\]])\ufeff(?=[ \t\r]*[{\\[])")
_COMMA_LAST = re.compile(r"(?<=[}\]])[ \t]*,\s*\Z")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def read_json(path: str | PathLike[str]) -> Iterator[JsonValue]:
    """Yield the values in the file: one value per non-empty line of `*.jsonl`, or else a single value. Raises
    InputError."""
    yield from read_json_text(_read_text(path), fspath(path))


def _read_text(path: str | PathLike[str]) -> str:
    return read_text(path, "JSON that is read at once", largest=_LARGEST, advice="split it into several files")


def read_json_value(path: str | PathLike[str]) -> JsonValue:
    """Return the single value in a file, whatever the file's name. Raises InputError."""
    return _parse_text(JsonSource(fspath(path), _read_text(path), 1))


def read_json_text(text: str, path: str) -> Iterator[JsonValue]:
    """Yield the values in a text as `read_json` does. The suffix of `path` decides whether each line is a value."""
    if not path.lower().endswith(".jsonl"):
        yield _parse_text(JsonSource(path, text, 1), "give a file of one JSON value a line a name that ends in .jsonl")
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
            value = _parse_text(JsonSource(path, line, number))
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
            yield from _salvage_values(JsonSource(path, line, number), fault, bad, mend if ended else None)
        else:
            yield value
        first = False


def _salvage_values(
    source: JsonSource, fault: InputError, bad: Callable[[InputError], object], mend: Mend | None
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
            yield _parse_text(JsonSource(source.path, " " * before + piece, source.line))
        except InputError as one:
            bad(one)
        before += len(piece) + 1


def _mend_value(source: JsonSource, bad: Callable[[InputError], object], mend: Mend | None) -> JsonValue | None:
    found = mend(source.text, source.path, source.line) if mend is not None else None
    if found is None:
        return None
    for one in found[1]:
        bad(one)
    return _parse_text(JsonSource(source.path, found[0], source.line))


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
    source = JsonSource(path, text, 1)
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


def value_at(
    text: str, at: int, path: str, line: int = 1, lines: Lines | None = None
) -> tuple[object, int, InputError | None]:
    """Return the value at a position, its end (-1 if unknown), and its error. The text begins on the file's line
    `line`. Give `lines` if many positions of one text are read."""
    lines = lines or Lines(text, path, line)
    end = -1
    try:
        value, end = _decode_at(text, at)
    except json.JSONDecodeError as fault:
        where = at + fault.pos
        return (
            None,
            -1,
            NotJsonError(
                f"not valid JSON: {fault.msg}", place=lines.place(where), advice=_mending_advice(text, fault.msg, where)
            ),
        )
    except (_RepeatedKeyError, _ConstantError):
        with suppress(ValueError, RecursionError):
            _, end = JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    else:
        return value, end, None
    place = lines.place(at)
    try:
        _parse_text(JsonSource(path, " " * (place.column - 1) + text[at : end if end >= 0 else None], place.line))
    except InputError as fault:
        return None, end, fault
    return None, -1, InputError("not valid JSON", place=place)


def _decode_at(text: str, at: int) -> tuple[object, int]:
    """Return the value at a position, and its end. Raises JSONDecodeError with a position relative to `at`.

    Of a large text, only so much is decoded as the value needs: an error counts the lines of the text that was given
    to the decoder from its beginning, which takes quadratic time if there are many."""
    size = _WINDOW
    while True:
        window, rest = text[at : at + size], at + size < len(text)
        try:
            value, end = _STRICT.raw_decode(window)
            if not rest or end < len(window):  # a number may go on
                return value, at + end
        except json.JSONDecodeError as fault:
            cut = fault.msg.startswith("Unterminated string") or fault.pos > len(window) - _LONGEST_TOKEN
            if not (rest and cut):
                raise
        size *= 8


def _parse_text(source: JsonSource, of_more: str | None = None) -> JsonValue:
    try:
        value = json.loads(source.text, object_pairs_hook=_unique_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as fault:
        place = Place(source.path, source.line + fault.lineno - 1, fault.colno)
        if fault.msg == "Extra data":
            advice = of_more
        elif fault.pos == len(source.text) - len(source.text.lstrip()):
            advice = "this does not begin like JSON ({ or [): check the file name"
        else:
            advice = _mending_advice(source.text, fault.msg, fault.pos)
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
        what = f"not valid JSON: {fault.name} is not a JSON number"
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


def _mending_advice(text: str, fault: str, at: int) -> str:
    if _END.match(text, at) or fault.startswith("Unterminated string"):
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
