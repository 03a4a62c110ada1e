r"""JSON in the files of a run: strict UTF-8 without NaN, one object a line. `topics.json_file` reads users' files.

A reply may contain lone surrogates, which UTF-8 cannot encode. They are written as JSON escapes such as `\ud83d`, so
that every file is valid UTF-8 and valid JSON and nothing is lost. Two adjacent surrogates that form a character are
read back as that character. NUL and other control characters are escaped. U+2028 and U+0085 are not, because lines end
only at the byte 0x0A.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from recordings.files.errors import RunError
from recordings.files.segments import SegmentError
from recordings.files.stored_lines import open_lines
from topics.errors import Place
from topics.regular_file import open_regular

# A JSON value: dict with text keys, list, text, number, true, false, null.
Json = object

# Decimals of a figure in JSON: fewer than a float has, because the last bits of a sum differ between processors.
DIGITS = 12

_SURROGATE = re.compile("[\ud800-\udfff]")


_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_line(value: Json) -> bytes:
    """Encode `value` as a line of UTF-8 with its line end. Raises ValueError for NaN and infinities, and TypeError for
    values that JSON cannot express."""
    return _encode_text(_LINE.encode(value)) + b"\n"


def json_number(value: float) -> float | None:
    """Return a figure for JSON. NaN and infinities become null."""
    return round(value, DIGITS) + 0.0 if math.isfinite(value) else None


def strings_in(values: Iterable[Json]) -> list[str]:
    """Return all strings in JSON values, including keys. The keys of an object come before its values."""
    texts: list[str] = []
    _gather_strings(values, texts)
    return texts


def _gather_strings(values: Iterable[Json], texts: list[str]) -> None:
    for value in values:
        kind = type(value)
        if kind is str:  # these first, because they are quick
            texts.append(value)  # type: ignore[arg-type]
        elif kind is float or kind is int or not value:
            continue
        elif isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            texts += value
            _gather_strings(value.values(), texts)
        elif isinstance(value, (list, tuple)):
            _gather_strings(value, texts)


def encode_document(value: Json) -> bytes:
    """Encode `value` as an indented JSON file for people to read."""
    return _encode_text(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)) + b"\n"


def _encode_text(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # quicker to learn than by looking for them
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def parse_value(data: bytes, place: Place) -> Json:
    """Parse a JSON value that Harvest wrote. Raises RunError, with the place in the file, if `data` is not JSON."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as fault:
        raise RunError(f"byte 0x{data[fault.start]:02x} is not UTF-8", place=place) from None
    except json.JSONDecodeError as fault:
        at = Place(place.path, place.line + fault.lineno - 1 if place.line else fault.lineno, fault.colno)
        raise RunError(f"not valid JSON: {fault.msg}", place=at) from None
    except RecursionError:
        raise RunError("not valid JSON: nested too deeply", place=place) from None
    except ValueError as fault:
        if "integer string conversion" in str(fault):
            raise RunError("a number has more than 4300 digits", place=place, advice="remove it") from None
        raise RunError(f"not valid JSON: {fault}", place=place) from None


# Bytes read at a time: what is decoded from them is still in the processor's cache when it is used.
BLOCK = 2**17


def read_blocks(
    path: Path, folder: Path | None = None, *, size: int = BLOCK, mend: bool = False
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the complete lines of a file in blocks of about `size` bytes: the number of the first line, the number of
    line ends, and the lines with their line ends. A last line without a line end, left by a killed writer, is a
    separate block. In a `folder`, a file that was compacted is read from its segment, with `mend` as `open_lines` does,
    and no link is followed. Raises RunError if the file cannot be read."""
    try:
        with open_regular(path) if folder is None else open_lines(folder, path.relative_to(folder), mend=mend) as file:
            number, begun = 1, []
            while data := file.read(size):
                end = data.rfind(b"\n") + 1
                if not end:
                    begun.append(data)
                    continue
                ends = data.count(b"\n")
                yield number, ends, b"".join((*begun, data[:end]))
                number += ends
                begun = [data[end:]] if end < len(data) else []
            if begun:
                yield number, 0, b"".join(begun)
    except OSError as fault:
        advice = "harvest data merge RUN --salvage --out NEW saves the rest in a new run; this run is not changed"
        broken = isinstance(fault, SegmentError)
        what = f"cannot be read: {fault.strerror}"
        raise RunError(what, place=Place(str(path)), advice=advice if broken else None) from None


def iterate_lines(path: Path, folder: Path | None = None) -> Iterator[tuple[Place, bytes, bool]]:
    """Yield the place and content of each line of a file, and whether the line has a line end; only the last line can
    lack a line end. `folder` and the errors are as in `read_blocks`."""
    name = str(path)
    for first, _, block in read_blocks(path, folder):
        *lines, rest = block.split(b"\n")
        for number, data in enumerate(lines, first):
            yield Place(name, number), data, True
        if rest:
            yield Place(name, first), rest, False


def parse_row(data: bytes, place: Place) -> dict[str, Json]:
    """Parse the JSON object in the line `data`. Raises RunError, with the place in the file, if there is no object."""
    value = parse_value(data, place)
    if not isinstance(value, dict):
        raise RunError("the line is not a JSON object", place=place)
    return value


def read_unended(data: bytes, place: Place) -> tuple[dict[str, Json] | None, str]:
    """Parse the JSON object in a last line without a line end, or return None and a sentence on the line."""
    try:
        return parse_row(data, place), ""
    except RunError:
        told = f"the last line is torn after {len(data)} bytes (the writer was stopped while writing it)"
        return None, f"{place}: {told}"


def read_lines(path: Path, folder: Path | None = None) -> tuple[list[tuple[Place, dict[str, Json]]], str]:
    """Return the objects of a JSONL file with their places, and a sentence on an incomplete last line ("" if complete).

    A last line without a line end is read if its object is complete, and otherwise left out. No link below `folder` is
    followed. Raises RunError if another line is not a JSON object, or if the file cannot be read.
    """
    rows: list[tuple[Place, dict[str, Json]]] = []
    torn = ""
    for place, data, ended in iterate_lines(path, folder):
        if ended:
            rows.append((place, parse_row(data, place)))
            continue
        last, torn = read_unended(data, place)
        if last is not None:
            rows.append((place, last))
    return rows, torn
