"""A small HTTP server on 127.0.0.1 whose handlers write raw bytes, so that they can write wrong ones.

Also the two servers that `echo` speaks through: one like OpenAI's, one of our own making with sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.echo import WishedForError, pause_in, reply_to


@dataclass
class Asked:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def parts(self) -> list[Message]:
        """The parts of a form, as the library reads them."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n"
        parts = BytesParser().parsebytes(head.encode() + self.body).get_payload()
        assert isinstance(parts, list)
        return [one for one in parts if isinstance(one, Message)]


Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class LocalServer:
    """url: where it is. asked: every request, in order. connections: how many are open now."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    quiet: asyncio.Event = field(default_factory=lambda: _set())

    async def idle(self) -> None:
        """Wait (bounded) until no connection is open."""
        async with asyncio.timeout(5):
            await self.quiet.wait()


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def response(status: str, body: bytes | str, *headers: str, media_type: str = "application/json") -> bytes:
    content = body.encode() if isinstance(body, str) else body
    lines = (f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(content)}", *headers, "", "")
    return "\r\n".join(lines).encode("latin-1") + content


@asynccontextmanager
async def serving(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[LocalServer]:
    """A server for the time of a `with`; what it still does is cut off at the end."""
    server = LocalServer("")
    tasks: set[asyncio.Task[Any]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        server.quiet.clear()
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while not writer.is_closing():
                    asked = await _read(reader)
                    server.asked.append(asked)
                    # A handler at work does not see that its client has gone; the reader does.
                    work, gone = asyncio.ensure_future(handler(asked, writer)), asyncio.ensure_future(_gone(reader))
                    try:
                        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
                        if not work.done():
                            return
                        await work
                        await writer.drain()
                    finally:
                        for part in (work, gone):
                            part.cancel()
                        await asyncio.gather(work, gone, return_exceptions=True)
        except asyncio.CancelledError:
            pass
        finally:
            server.connections -= 1
            if not server.connections:
                server.quiet.set()
            tasks.discard(task)
            writer.close()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    scheme = "http" if context is None else "https"
    server.url = f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        left = list(tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _gone(reader: asyncio.StreamReader) -> None:
    while not reader.at_eof() and reader.exception() is None:  # noqa: ASYNC110 - a reader tells of its end only so
        await asyncio.sleep(0.01)


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, target, headers, body)


def chunk(**fields: Any) -> bytes:
    """One event of a stream of completions, with these fields in its delta."""
    finish = fields.pop("finish_reason", None)
    value = {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


async def completions(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """`echo` as an OpenAI-compatible server."""
    texts = [message["content"] for message in asked.json["messages"] if message["role"] == "user"]
    await asyncio.sleep(pause_in(texts[-1]))
    try:
        text = reply_to(texts[-1], texts[:-1])
    except WishedForError:
        writer.write(response("500 Internal Server Error", '{"error": {"message": "as you wish"}}'))
        return
    usage = {"prompt_tokens": len(texts), "completion_tokens": len(text.split())}
    if asked.json.get("stream"):
        writer.write(STREAM_HEAD)
        for start in range(0, len(text), max(1, len(text) // 7)):
            writer.write(chunk(content=text[start : start + max(1, len(text) // 7)]))
            await writer.drain()
        writer.write(chunk(finish_reason="stop"))
        writer.write(b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\ndata: [DONE]\n\n")
        await writer.drain()
        writer.close()
        return
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    writer.write(response("200 OK", json.dumps({"choices": [choice], "usage": usage})))


class Sessions:
    """`echo` behind an API of its own: POST /start gives an id, POST /say takes it, DELETE /end/ID ends it."""

    def __init__(self) -> None:
        self.before: dict[str, list[str]] = {}
        self.ended: list[str] = []

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/start":
            session = f"s{len(self.before) + 1}"
            self.before[session] = []
            writer.write(response("201 Created", json.dumps({"data": {"id": session}})))
        elif asked.path.startswith("/end/"):
            self.ended.append(asked.path.removeprefix("/end/"))
            writer.write(response("204 No Content", ""))
        else:
            await asyncio.sleep(pause_in(asked.json["text"]))
            await self.say(asked.json["session"], asked.json["text"], writer)

    async def say(self, session: str, text: str, writer: asyncio.StreamWriter) -> None:
        before = self.before[session]
        try:
            reply = reply_to(text, before)
        except WishedForError:
            writer.write(response("500 Internal Server Error", "as you wish", media_type="text/plain"))
            return
        before.append(text)
        writer.write(response("200 OK", json.dumps({"reply": {"text": reply}}, ensure_ascii=False)))


class Jobs(Sessions):
    """The same, where POST /say only gives the name of a job, and GET /job/NAME has the reply when it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[tuple[str, str, float]] = []

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        now = asyncio.get_running_loop().time()
        if asked.path == "/say":
            text = asked.json["text"]
            self.jobs.append((asked.json["session"], text, now + pause_in(text)))
            writer.write(response("202 Accepted", json.dumps({"job": len(self.jobs) - 1})))
        elif asked.path.startswith("/job/"):
            session, text, due = self.jobs[int(asked.path.removeprefix("/job/"))]
            if now < due:
                writer.write(response("200 OK", '{"reply": null}'))
            else:
                await self.say(session, text, writer)
        else:
            await super().__call__(asked, writer)
