"""The values in a received text: JSON after any prefix, lines of JSON, and events of a stream."""

import json
import re
from collections.abc import Iterator

_DECODER = json.JSONDecoder()
_GUARD = re.compile(r"\s*(?:\)\]\}'?,?|for\s*\(;;\);|while\s*\(1\);|throw 1;\s*<[^>]*>)\s*")
# The prefix that a transport puts before JSON: a number, a name, a colon.
_SIGN = re.compile(r"[\w:;,.$/#@ -]{0,40}?(?=[\[{\"])")

NOTHING = object()


def parse_json(text: str) -> object:
    """Return the value of a JSON text, or NOTHING if `text` is not JSON."""
    if not text or text.lstrip()[:1] not in '{["':
        return NOTHING
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return NOTHING


def parse_events(text: str) -> Iterator[tuple[int, str, tuple[object, ...]]]:
    """Yield the end position, the name and the values of each event in an event stream."""
    end, name, data = 0, "", list[str]()
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        end += len(line)
        bare = line.rstrip("\r\n")
        if not bare and line:
            if data:
                yield end, name, text_values("\n".join(data))
            name, data = "", []
        field, _, value = bare.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    if data:
        yield end, name, text_values("\n".join(data))


def parse_json_lines(text: str) -> Iterator[tuple[int, str, tuple[object, ...], int]]:
    """Yield (end position, prefix, value in a tuple, length) for each JSON value in a text that has several."""
    place = 0
    while place < len(text):
        sign = _SIGN.match(text, place)
        if sign is not None:
            try:
                value, end = _DECODER.raw_decode(text, sign.end())
            except (ValueError, RecursionError):
                pass
            else:
                name = re.sub(r"\d{2,}|[\s:;,]+", "", sign[0])
                yield end, name, (value,), end - place
                place = end
                while place < len(text) and text[place] in "\r\n \x1e;,":
                    place += 1
                continue
        newline = re.compile(r"[\n\x1e]").search(text, place)
        if newline is None:
            return
        place = newline.end()


def strip_guard(text: str) -> str:
    """Remove the prefix that keeps pages of other sites from running a response as a script."""
    return _GUARD.sub("", text, count=1)


def text_values(text: str) -> tuple[object, ...]:
    """Return the values of a text message: the JSON after any prefix, several JSON values, or the text itself."""
    bare = strip_guard(text)
    whole = parse_json(bare)
    if whole is not NOTHING:
        return (whole,)
    lines = list(parse_json_lines(bare)) if any(sign in bare for sign in "[{") else []
    if lines and sum(size for _, _, _, size in lines) >= 0.9 * len(bare.strip()):
        return tuple([name, *values] if name else values[0] for _, name, values, _ in lines)
    return (text,)
