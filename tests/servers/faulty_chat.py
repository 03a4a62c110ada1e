"""Chat completions with every fault that a server, or the way to it, can have: a path names the fault.

`FaultyChat` is a handler for `tests.servers.local_http.serving`: POST /NAME/… does what `FAULTS[NAME]` says. What each
fault comes to in a run is written in docs/faults.md.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.servers.local_http import STREAM_HEAD, Asked, chunk, response

__all__ = ["FAULTS", "GOOD", "HEAD", "PART", "Fault", "FaultyChat"]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
GOOD = json.dumps({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]})
PART = chunk(content="half a ") + chunk(content="reply")
END = chunk(finish_reason="stop")
DONE = b"data: [DONE]\n\n"
STREAMED = STREAM_HEAD + PART + END + DONE

_BOMB = gzip.compress(b" " * 50_000_000, 1)

Sends = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """says: the fault, for a person. sends: what goes out in place of a reply. stream: a stream was asked for.

    late: only a time-out ends it. first: how many requests it is the answer to; those after them get a good one. kept:
    the connection stays open. most: `max_reply`, where a test gives one.
    """

    says: str
    sends: Sends
    stream: bool = False
    late: bool = False
    first: int | None = None
    kept: bool = False
    most: int | None = None


class FaultyChat:
    """asked: how often, by the name of the fault."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked.path.split("/")[1]
        fault = FAULTS[name.removesuffix("-kept")]
        self.asked[name] += 1
        sends = fault.sends
        if fault.first is not None and self.asked[name] > fault.first:
            sends = STREAMED if fault.stream else response("200 OK", GOOD)
        if isinstance(sends, bytes):
            writer.write(sends if fault.kept else _last(sends))
        else:
            await sends(writer)
        await writer.drain()
        if not fault.kept:
            writer.close()


def _last(reply: bytes) -> bytes:
    """A reply that says that the connection ends with it: a turn that is sent into its end is another fault."""
    head, end, body = reply.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/") or not end or b"Connection: close" in head:
        return reply
    return head + b"\r\nConnection: close" + end + body


def _whole(content: object, finish: str | None = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return response("200 OK", json.dumps({"choices": [choice]}))


async def never(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"\r\n")
    for _ in range(600):
        writer.write(b" ")
        await asyncio.sleep(0.05)


async def stream_drip(writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD + PART)
    for _ in range(600):
        writer.write(b": keep-alive\n\n")
        await asyncio.sleep(0.05)


async def slow_whole(writer: asyncio.StreamWriter) -> None:
    for begin in range(0, len(STREAMED), 40):
        writer.write(STREAMED[begin : begin + 40])
        await writer.drain()
        await asyncio.sleep(0.01)


async def stream_without_end(writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD)
    for _ in range(200_000):
        writer.write(chunk(content="word " * 200))
        await writer.drain()


async def line_without_end(writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD + b"data: ")
    for _ in range(50):
        writer.write(b"x" * 1_000_000)
        await writer.drain()


async def fifty_megabytes(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"Content-Length: 50000000\r\n\r\n")
    for _ in range(50):
        writer.write(b"x" * 1_000_000)
        await writer.drain()


async def ten_megabytes(writer: asyncio.StreamWriter) -> None:
    writer.write(_last(_whole("many words " * 900_000)))
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _then_reset(data: bytes) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def send(writer: asyncio.StreamWriter) -> None:
        if data:
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0.1)
        _reset(writer)

    return send


async def whole_then_hangs(writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD + PART + END)
    await asyncio.sleep(30)


def _limited(*headers: str) -> bytes:
    return response("429 Too Many Requests", '{"error": {"message": "slow down"}}', *headers)


def _typed(media_type: str) -> bytes:
    return response("200 OK", GOOD, media_type=media_type)


def _packed(data: bytes, *headers: str) -> bytes:
    return response("200 OK", data, *headers)


FAULTS: dict[str, Fault] = {
    "rate": Fault("429 without Retry-After", _limited()),
    "rate_once": Fault("429 once, then a reply", _limited(), first=1),
    "rate_wait_ms": Fault("429, retry-after-ms of 250", _limited("retry-after-ms: 250", "Retry-After: 7")),
    "rate_hour": Fault("429, Retry-After of an hour", _limited("Retry-After: 3600")),
    "rate_wait_nonsense": Fault("429, Retry-After is a word", _limited("Retry-After: soon")),
    "rate_wait_zone": Fault(
        "429, Retry-After in an impossible time zone", _limited("Retry-After: Fri, 31 Dec 9999 23:59:59 -9959")
    ),
    "rate_wait_year": Fault(
        "429, Retry-After in an impossible year", _limited("Retry-After: Fri, 31 Dec 99999999999999999999 23:59:59 GMT")
    ),
    "rate_wait_digits": Fault("429, Retry-After of 400 digits", _limited("Retry-After: " + "9" * 400)),
    "quota": Fault(
        "429 because the quota is used up",
        response("429 Too Many Requests", '{"error": {"code": "insufficient_quota", "message": "pay"}}'),
    ),
    "error_500": Fault("500", response("500 Internal Server Error", "<h1>Oops</h1>", media_type="text/html")),
    "error_500_once": Fault("500 once, then a reply", response("500 Internal Server Error", ""), first=1),
    "error_503": Fault("503, Retry-After of an hour", response("503 Service Unavailable", "", "Retry-After: 3600")),
    "conflict": Fault("409", response("409 Conflict", '{"error": {"message": "lock timeout"}}')),
    "no_key": Fault("401", response("401 Unauthorized", '{"error": {"message": "no such key"}}')),
    "no_access": Fault("403", response("403 Forbidden", "")),
    "no_page": Fault("404", response("404 Not Found", "nothing here", media_type="text/plain")),
    "no_model": Fault(
        "400, there is no such model",
        response("400 Bad Request", '{"error": {"code": "model_not_found", "message": "no model echo"}}'),
    ),
    "bad_field": Fault(
        "400 at the first request",
        response("400 Bad Request", '{"error": {"message": "unknown field top_k", "code": "400"}}'),
    ),
    "filtered": Fault(
        "400, the prompt was filtered",
        response("400 Bad Request", '{"error": {"code": "content_filter", "message": "The prompt …"}}'),
    ),
    "partial": Fault("206, a part that was not asked for", response("206 Partial Content", GOOD)),
    "redirect_here": Fault(
        "a redirect on the same server",
        response("308 Permanent Redirect", "", "Location: /good/chat/completions"),
        kept=True,
    ),
    "redirect_away": Fault(
        "a redirect to another server", response("307 Temporary Redirect", "", "Location: http://localhost:1/steal")
    ),
    "redirect_round": Fault(
        "a redirect to itself", response("307 Temporary Redirect", "", "Location: /redirect_round/"), kept=True
    ),
    "redirect_login": Fault("a redirect to a login page", response("302 Found", "", "Location: /login")),
    "redirect_nowhere": Fault(
        "a redirect to no address", response("307 Temporary Redirect", "", "Location: http://[half")
    ),
    "garbage": Fault("bytes that are not HTTP", b"\x00\x01\x02 this is not HTTP at all\r\n\r\n"),
    "silence": Fault("the connection is closed without a word", b""),
    "half_head": Fault("the connection is closed within the headers", HEAD[:20]),
    "reset_before": Fault("the connection is reset before the reply", _then_reset(b"")),
    "reset_once": Fault("the connection is reset once, then a reply", _then_reset(b""), first=1),
    "reset_after": Fault(
        "the connection is reset within the reply", _then_reset(HEAD + b'Content-Length: 500\r\n\r\n{"choi')
    ),
    "reset_behind": Fault("the connection is reset after the reply", _then_reset(_whole("fine"))),
    "never": Fault("the server never answers", never, late=True),
    "drip": Fault("a reply that drips and never ends", drip, late=True),
    "huge_header": Fault("a header of 200 kB", HEAD + b"X-Filler: " + b"x" * 200_000 + b"\r\n\r\n"),
    "two_lengths": Fault("two lengths", HEAD + b"Content-Length: 20\r\nContent-Length: 30\r\n\r\n" + GOOD.encode()),
    "short": Fault("a body shorter than its length", HEAD + b"Content-Length: 500\r\n\r\n" + GOOD.encode()),
    "long": Fault("a body longer than its length", HEAD + b"Content-Length: 20\r\n\r\n" + GOOD.encode()),
    "bad_chunks": Fault(
        "a chunk whose length is not a number", HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + GOOD.encode()
    ),
    "half_chunks": Fault("a body that ends within a chunk", HEAD + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"cho\r\n'),
    "good": Fault("none", response("200 OK", GOOD), kept=True),
    "empty_body": Fault("an empty body", response("200 OK", "")),
    "not_json": Fault("a web page as JSON", response("200 OK", "<html>You are number 12 in the queue</html>")),
    "web_page": Fault(
        "a web page", response("200 OK", "<html>Please log in</html>", media_type="text/html; charset=utf-8")
    ),
    "half_json": Fault("JSON that ends early", response("200 OK", GOOD[:30])),
    "text_type": Fault("a reply with the content type text/plain", _typed("text/plain")),
    "no_type": Fault("a reply without a content type", _typed("")),
    "nan": Fault("JSON with NaN", response("200 OK", '{"choices": NaN}')),
    "deep": Fault("200,000 nested lists", response("200 OK", "[" * 200_000)),
    "number": Fault("a number", response("200 OK", "42")),
    "null": Fault("null", response("200 OK", "null")),
    "no_choices": Fault("empty `choices`", response("200 OK", '{"choices": []}')),
    "null_content": Fault("an empty text with a `finish_reason`", _whole(None)),
    "unfinished": Fault("an empty text without a `finish_reason`", _whole(None, None)),
    "error_object": Fault(
        "an error object with status 200",
        response("200 OK", '{"error": {"message": "upstream is down", "code": "bad_gateway"}}'),
    ),
    "nul": Fault("NUL in the text", _whole("before\0after")),
    "surrogate": Fault("half a character (a lone surrogate) in the text", _whole("half: \ud83e")),
    "not_utf8": Fault("invalid UTF-8", response("200 OK", b'{"choices": [{"message": {"content": "caf\xe9"}}]}')),
    "no_charset": Fault("an unknown charset", _typed("application/json; charset=klingon")),
    "odd_charset": Fault("a charset of bytes", _typed("application/json; charset=hex")),
    "undefined_charset": Fault("the charset `undefined`", _typed("application/json; charset=undefined")),
    "punycode_charset": Fault(
        "the charset `punycode`",
        response("200 OK", b"\xff-\x80", media_type="application/json; charset=punycode"),
    ),
    "nul_charset": Fault("NUL in the charset", _typed("application/json; charset*=utf-8''a%00b")),
    "utf16": Fault(
        "half a character of UTF-16",
        response("200 OK", GOOD.encode()[:-1], media_type="application/json; charset=utf-16"),
    ),
    "bad_gzip": Fault("bytes that are not gzip, declared as gzip", _packed(b"not gzip", "Content-Encoding: gzip")),
    "half_gzip": Fault("gzip that ends early", _packed(gzip.compress(GOOD.encode())[:-8], "Content-Encoding: gzip")),
    "gzip_members": Fault(
        "gzip in two members",
        _packed(gzip.compress(GOOD[:30].encode()) + gzip.compress(GOOD[30:].encode()), "Content-Encoding: gzip"),
    ),
    "bomb": Fault("50 MB packed as gzip", _packed(_BOMB, "Content-Encoding: gzip"), most=1_000_000),
    "bomb_in_bomb": Fault(
        "gzip within gzip",
        _packed(gzip.compress(_BOMB), "Content-Encoding: gzip, gzip"),
    ),
    "two_codings": Fault("two compressions", _packed(b"x", "Content-Encoding: gzip", "Content-Encoding: deflate")),
    "brotli": Fault("a compression that was not requested", _packed(b"x", "Content-Encoding: br")),
    "fifty_megabytes": Fault("a reply of 50 MB", fifty_megabytes, most=1_000_000),
    "ten_megabytes": Fault("a reply of 10 MB", ten_megabytes),
    "ten_megabytes_allowed": Fault("a reply of 10 MB, with `max_reply: 20000000`", ten_megabytes, most=20_000_000),
    "half_stream": Fault("a stream that ends early, without `finish_reason` and `[DONE]`", STREAM_HEAD + PART, True),
    "half_event": Fault("a stream that ends within an event", STREAM_HEAD + PART + chunk(content="more")[:30], True),
    "empty_stream": Fault("an empty stream", STREAM_HEAD, True),
    "done_only": Fault("a stream of nothing but `[DONE]`", STREAM_HEAD + DONE, True),
    "role_only": Fault("a stream without a text", STREAM_HEAD + chunk(role="assistant") + DONE, True),
    "no_done": Fault("a stream without `[DONE]`", STREAM_HEAD + PART + END, True),
    "no_finish": Fault("a stream without a `finish_reason`", STREAM_HEAD + PART + DONE, True),
    "no_blank_line": Fault("a stream whose last line is not closed", STREAMED.rstrip(), True),
    "stream_reset": Fault("a stream that is reset", _then_reset(STREAM_HEAD + PART), True),
    "stream_reset_once": Fault(
        "a stream that is reset once, then a reply", _then_reset(STREAM_HEAD + PART), True, first=1
    ),
    "end_then_reset": Fault(
        "a stream that is reset after its `finish_reason`", _then_reset(STREAM_HEAD + PART + END), True
    ),
    "ends_reset": Fault(
        "a stream with a `finish_reason` in every event, that is reset",
        _then_reset(STREAM_HEAD + chunk(content="half a ", finish_reason="stop") * 2),
        True,
    ),
    "whole_then_hangs": Fault("a stream that hangs after its `finish_reason`", whole_then_hangs, True, late=True),
    "stream_drip": Fault("a stream of comments that never ends", stream_drip, True, late=True),
    "slow_whole": Fault("a stream that drips and ends", slow_whole, True),
    "stream_without_end": Fault("a stream of words without end", stream_without_end, True, most=1_000_000),
    "line_without_end": Fault("a stream of one line without end", line_without_end, True, most=1_000_000),
    "stream_not_utf8": Fault(
        "invalid UTF-8 in a stream",
        STREAM_HEAD + PART + b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n',
        True,
    ),
    "stream_not_json": Fault("an event that is not JSON", STREAM_HEAD + PART + b"data: {oops\n\n" + PART, True),
    "stream_error": Fault(
        "an error within a stream", STREAM_HEAD + PART + b'data: {"error": {"message": "overloaded"}}\n\n', True
    ),
    "stream_error_event": Fault(
        "an error event within a stream",
        STREAM_HEAD + PART + b'event: error\ndata: {"message": "overloaded"}\n\n',
        True,
    ),
    "stream_bare_error": Fault(
        "an error within a stream that is not called one, then `[DONE]`",
        STREAM_HEAD + PART + b'data: {"message": "overloaded", "code": 50001}\n\n' + DONE,
        True,
    ),
    "gave_up": Fault(
        "a stream whose `finish_reason` says that the server gave up",
        STREAM_HEAD + PART + chunk(finish_reason="insufficient_system_resource") + DONE,
        True,
    ),
    "early_end": Fault(
        "text after the `finish_reason` (events out of order)",
        STREAM_HEAD + chunk(content="half a ") + END + chunk(content="reply") + DONE,
        True,
    ),
    "swapped": Fault(
        "two events of text in the wrong order",
        STREAM_HEAD + chunk(content="reply") + chunk(content="half a ") + END + DONE,
        True,
    ),
    "doubled": Fault("every event twice", STREAM_HEAD + chunk(content="half") * 2 + END * 2 + DONE * 2, True),
    "doubled_stream": Fault("the whole stream twice", STREAMED + PART + END + DONE, True),
    "message_at_end": Fault(
        "the whole message again at the end of a stream",
        STREAM_HEAD + PART + b"data: " + GOOD.replace("fine", "half a reply").encode() + b"\n\n" + DONE,
        True,
    ),
    "page_for_stream": Fault(
        "a web page instead of a stream", response("200 OK", "<html>Please log in</html>", media_type="text/html"), True
    ),
    "json_for_stream": Fault("one JSON body instead of a stream", _whole("fine"), True),
    "stream_as_json": Fault(
        "a stream with the content type application/json", response("200 OK", PART + END + DONE), True
    ),
}
