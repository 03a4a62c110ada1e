"""A stream that has arrived whole, cut into its events: server-sent events, or a JSON value on each line.

`drivers/wire.py` reads a stream of completions as it comes. This reads one from its bytes: of an API that is described
in the audit, and of evidence that is read again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"\r\n|\n|\r")  # nothing else ends a line of a stream: U+2028 may be in a text
_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json"})


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """name: "" where the stream gives none. data: as a rule JSON."""

    name: str
    data: str


def is_stream(media_type: str) -> bool:
    return media_type == "text/event-stream" or media_type in _LINES


def events_in(text: str, media_type: str) -> Iterator[StreamEvent]:
    """The events of a stream of that type, without empty ones and without what follows `[DONE]`."""
    if media_type in _LINES:
        yield from (StreamEvent("", line) for line in _LINE.split(text) if line.strip())
        return
    name, data = "", []
    for line in (*_LINE.split(text), ""):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line:
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
            continue
        whole = "\n".join(data)
        if whole.strip() == "[DONE]":
            return
        if data and (whole.strip() or name == "error"):
            yield StreamEvent(name, whole)
        name, data = "", []
