"""Event streams of Amazon's services (`application/vnd.amazon.eventstream`), read as lines of JSON.

A frame is, in network order (Smithy 2.0, "Amazon Event Stream specification"):

    length of the frame (4), length of its headers (4), CRC-32 of these eight bytes (4)
    headers, each a name (1 byte of length), a type (1) and a value
    payload
    CRC-32 of everything before (4)

Each event becomes a line with an object that has the payload under the event's name, as vendors' clients return it. The
line of an exception or an error has it under `error`.
"""

import json
import struct
from binascii import crc32
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from harvest.systems.driver import Unanswered

AMAZON_FRAMES = "application/vnd.amazon.eventstream"

_PRELUDE = struct.Struct(">III")
_LEAST = _PRELUDE.size + 4
_MOST_HEADERS, _MOST_PAYLOAD = 128 * 1024, 24 * 1024 * 1024  # bytes, by the specification
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # bytes of the values of a fixed size, by type
_BYTES, _STRING = 6, 7


class FramedText:
    """The frames of a response as they arrive, as lines of JSON. `ended` is True after the last piece."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.ended = False

    async def pieces(self) -> AsyncGenerator[str, None]:
        held = bytearray()
        async for chunk in self._chunks:
            held += chunk
            for line in _lines_of(held):
                yield line
        self.ended = True
        if held:
            raise Unanswered("broken-stream", "the stream ended in the middle of a frame")


def framed_lines(body: bytes) -> str:
    """Return the whole frames of a complete body as lines of JSON. Raises Unanswered (`bad-frame`)."""
    return "".join(_lines_of(bytearray(body)))


def _lines_of(held: bytearray) -> Iterator[str]:
    """Yield the line of each whole frame, and remove the frame."""
    while len(held) >= _PRELUDE.size:
        length, headers, check = _PRELUDE.unpack_from(held)
        if crc32(held[:8]) != check:
            raise Unanswered("bad-frame", "the checksum of a frame's prelude is wrong")
        if headers > _MOST_HEADERS or not _LEAST + headers <= length <= _LEAST + headers + _MOST_PAYLOAD:
            raise Unanswered("bad-frame", f"a frame declares {length} bytes, {headers} of them headers")
        if len(held) < length:
            return
        frame = bytes(held[:length])
        del held[:length]
        if crc32(frame[:-4]) != int.from_bytes(frame[-4:]):
            raise Unanswered("bad-frame", "the checksum of a frame is wrong")
        begin = _PRELUDE.size + headers
        yield _line(_headers(frame[_PRELUDE.size : begin]), frame[begin:-4])


def _headers(data: bytes) -> dict[str, str]:
    """Return the headers that are strings."""
    found, at = {}, 0
    try:
        while at < len(data):
            name = data[at + 1 : (kind := at + 1 + data[at])]
            at = kind + 1
            if data[kind] in (_BYTES, _STRING):
                size, at = int.from_bytes(data[at : at + 2]), at + 2
            else:
                size = _SIZES[data[kind]]
            if at + size > len(data):
                raise IndexError
            if data[kind] == _STRING:
                found[name.decode()] = data[at : at + size].decode()
            at += size
    except (IndexError, KeyError, UnicodeDecodeError):
        raise Unanswered("bad-frame", "the headers of a frame cannot be read") from None
    return found


def _line(headers: dict[str, str], payload: bytes) -> str:
    try:
        value = json.loads(payload) if payload.strip() else {}
    except (ValueError, RecursionError):
        raise Unanswered("bad-json", "the payload of a frame is not JSON") from None
    match headers.get(":message-type"):
        case "event":
            return json.dumps({headers.get(":event-type", ""): value}) + "\n"
        case "exception":
            said = value.get("message") if isinstance(value, dict) else None
            return json.dumps({"error": {"message": f"{headers.get(':exception-type', '')}: {said or value}"}}) + "\n"
        case _:
            said = headers.get(":error-message") or "without a word"
            return json.dumps({"error": {"message": f"{headers.get(':error-code', '')}: {said}"}}) + "\n"
