"""A stream that has arrived whole, cut into its events: server-sent events, or a JSON value on each line.

`drivers/wire.py` reads a stream of completions as it comes. This reads one from its bytes: of an API that is described
in the audit, and of evidence that is read again.
"""

import codecs
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Protocol

from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch

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


class Events(Protocol):
    """Reads a stream of server-sent events as they come."""

    @property
    def whole(self) -> bool:
        """The reply is complete: whatever breaks from here on took nothing of it."""
        ...

    @property
    def partial(self) -> str:
        """The text so far."""
        ...

    def take(self, event: str, data: str, watch: Stopwatch) -> bool:
        """One event; True when nothing more is of interest. Raises Unanswered for what makes no sense."""
        ...


class StrictText:
    """The part of a response that httpx_sse reads: headers, and text whose bytes really are UTF-8.

    media_type: in lower case, because httpx_sse knows it in no other.
    """

    def __init__(self, media_type: str, chunks: AsyncIterator[bytes]) -> None:
        self.headers, self._chunks = {"content-type": media_type}, chunks
        self.ended = False

    async def aiter_text(self) -> AsyncIterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        async for chunk in self._chunks:
            try:
                text = decoder.decode(chunk)
            except UnicodeDecodeError as error:
                yield bytes(error.object[: error.start]).decode("utf-8")  # events before it were whole
                raise Unanswered("not-utf8", f"the stream holds bytes that are not UTF-8: {error.reason}") from None
            if text:
                yield text
        self.ended = True
        yield "\n\n"  # some servers end right after the last event, without the empty line that closes it
