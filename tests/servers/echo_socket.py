"""`echo` over WebSockets, by aiohttp's server: each connection is a session of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import WSMessage, web

from tests.servers.echo import WishedForError, pause_in, reply_to
from tests.servers.local_http import LocalServer

__all__ = ["echoing_socket"]


@asynccontextmanager
async def echoing_socket() -> AsyncIterator[LocalServer]:
    """A server for the time of a `with`, which sends each reply in pieces and then its end."""
    server = LocalServer("")

    async def answer(socket: web.WebSocketResponse, text: str, before: list[str]) -> None:
        await asyncio.sleep(pause_in(text))
        try:
            reply = reply_to(text, before)
        except WishedForError:
            await socket.send_json({"type": "error", "error": "as you wish"})
            return
        before.append(text)
        size = max(1, len(reply) // 7)
        for start in range(0, max(1, len(reply)), size):
            await socket.send_json({"type": "piece", "text": reply[start : start + size]})
        await socket.send_json({"type": "end"})

    async def talk(request: web.Request) -> web.WebSocketResponse:
        socket, before, answering = web.WebSocketResponse(), list[str](), set[asyncio.Task[None]]()
        await socket.prepare(request)
        server.connections += 1
        server.quiet.clear()
        message: WSMessage
        try:
            async for message in socket:  # also while it answers: so it sees that its client has gone
                answering.add(asyncio.create_task(answer(socket, json.loads(message.data)["text"], before)))
        finally:
            for task in answering:
                task.cancel()
            await asyncio.gather(*answering, return_exceptions=True)
            server.connections -= 1
            if not server.connections:
                server.quiet.set()
        return socket

    application = web.Application()
    application.router.add_get("/", talk)
    runner = web.AppRunner(application, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"ws://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
