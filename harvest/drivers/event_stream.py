"""Streams of events: server-sent events, or one JSON value on each line.

`events_in` reads a complete stream, from an API described in the audit or from stored evidence. `Events` and
`StrictText` are for streams that `drivers/wire.py` reads as they arrive.
"""

import codecs
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Protocol

from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch

_LINE_END = re.compile(r"\r\n|\n|\r")  # the only line ends of a stream: U+2028 may occur in a text
_LINE_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json"})


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream. `name` is "" if the event has no name, and `data` is usually JSON."""

    name: str
    data: str


def is_stream(media_type: str) -> bool:
    return media_type == "text/event-stream" or media_type in _LINE_TYPES


def events_in(text: str, media_type: str) -> Iterator[StreamEvent]:
    """Yield the events of a stream up to `[DONE]`, without empty events."""
    if media_type in _LINE_TYPES:
        yield from (StreamEvent("", line) for line in _LINE_END.split(text) if line.strip())
        return
    name, data = "", []
    for line in (*_LINE_END.split(text), ""):
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


class Events(Protocol):
    """A reader of server-sent events as they arrive."""

    @property
    def is_complete(self) -> bool:
        """True once the reply is complete, so that later faults of the stream cannot affect it."""
        ...

    @property
    def partial(self) -> str:
        """The text received so far."""
        ...

    def read_event(self, event: str, data: str, watch: Stopwatch) -> bool:
        """Read one event. Returns True if the rest can be ignored. Raises Unanswered for a malformed event."""
        ...


class StrictText:
    """The parts of a response that httpx_sse reads: the headers, and text that is strictly decoded as UTF-8.
    `media_type` must be in lower case, because httpx_sse recognises no other form."""

    def __init__(self, media_type: str, chunks: AsyncIterator[bytes]) -> None:
        self.headers, self._chunks = {"content-type": media_type}, chunks
        self.ended = False

    async def aiter_text(self) -> AsyncIterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        async for chunk in self._chunks:
            try:
                text = decoder.decode(chunk)
            except UnicodeDecodeError as error:
                yield bytes(error.object[: error.start]).decode("utf-8")  # earlier events were complete
                raise Unanswered("not-utf8", f"the stream contains bytes that are not UTF-8: {error.reason}") from None
            if text:
                yield text
        self.ended = True
        yield "\n\n"  # some servers end right after the last event, without the empty line that closes it
