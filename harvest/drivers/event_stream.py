"""Streams of events: server-sent events, or one JSON value on each line, also as frames of Amazon's services.

`events_in` reads a complete stream, such as stored evidence. `EventParser`, `Events` and `StrictText` are for streams
that `drivers/wire.py` reads as they arrive.
"""

import codecs
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Protocol

from harvest.drivers.amazon_frames import AMAZON_FRAMES, FramedText
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch

# The data of the event with which many streams end.
DONE = "[DONE]"
SERVER_SENT_EVENTS = "text/event-stream"
JSON_LINES = "application/x-ndjson"

_LINE_END = re.compile(r"\r\n|\n|\r")  # the only line ends of a stream: U+2028 may occur in a text
_LINE_TYPES = frozenset(
    {AMAZON_FRAMES, JSON_LINES, "application/ndjson", "application/jsonl", "application/stream+json"}
)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream. `name` is "" if the event has no name, and `data` is usually JSON."""

    name: str
    data: str


def is_stream(media_type: str) -> bool:
    return media_type == SERVER_SENT_EVENTS or media_type in _LINE_TYPES


class EventParser:
    """A parser for a stream that arrives in pieces. Each line that is not blank is an event if `media_type` is one of
    JSON lines; otherwise the stream consists of server-sent events."""

    def __init__(self, media_type: str) -> None:
        self._lines = media_type in _LINE_TYPES
        self._held: list[str] = []  # the beginning of a line
        self._name, self._data = "", list[str]()

    def feed(self, text: str) -> Iterator[StreamEvent]:
        """Yield the events that are complete with this text. An event without data is yielded if it has a name."""
        if "\n" not in text and "\r" not in text:
            self._held.append(text)
            return
        whole = "".join((*self._held, text))
        cut = len(whole) - whole.endswith("\r")  # a line feed may follow in the next piece
        *lines, rest = _LINE_END.split(whole[:cut])
        self._held = [rest + whole[cut:]]
        for line in lines:
            if self._lines:
                if line.strip():
                    yield StreamEvent("", line)
            elif (event := self._read_line(line)) is not None:
                yield event

    def _read_line(self, line: str) -> StreamEvent | None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line:
            if field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)
            return None
        event = StreamEvent(self._name, "\n".join(self._data))
        self._name, self._data = "", []
        return event if event.name or event.data.strip() else None


def events_in(text: str, media_type: str) -> Iterator[StreamEvent]:
    """Yield the events of a complete stream. The last event may lack its closing empty line."""
    yield from EventParser(media_type).feed(f"{text}\n\n")


class Events(Protocol):
    """A reader of events as they arrive."""

    @property
    def media_type(self) -> str:
        """The media type of the stream if servers declare a wrong one, otherwise ""."""
        ...

    @property
    def is_complete(self) -> bool:
        """True once the reply is complete, so that later faults of the stream cannot affect it."""
        ...

    @property
    def ends_with_body(self) -> bool:
        """True if no event completes the reply, but the end of the response does."""
        ...

    @property
    def partial(self) -> str:
        """The text received so far."""
        ...

    def read_event(self, event: str, data: str, watch: Stopwatch) -> bool:
        """Read one event. Returns True if the rest can be ignored. Raises Unanswered for a malformed event."""
        ...


class StrictText:
    """The text of a response as it arrives, strictly decoded as UTF-8. `ended` is True after the last piece."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.ended = False

    async def pieces(self) -> AsyncGenerator[str, None]:
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


def text_of(chunks: AsyncIterator[bytes], media_type: str) -> StrictText | FramedText:
    """Return the text of a stream of this type as it arrives."""
    return FramedText(chunks) if media_type == AMAZON_FRAMES else StrictText(chunks)
