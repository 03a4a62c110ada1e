"""A proxy that brings everything late: HTTP and web sockets, every piece by the same time, in both directions.

Only files of a page that never change (scripts, styles, fonts, pictures) come at once, as from a network that delivers
them: a browser fetches dozens, six at a time, and pages would take minutes to open.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

__all__ = ["delaying"]

AT_ONCE = frozenset({"script", "style", "font", "image", "manifest", "worker"})
"""What a browser says a request is for (Sec-Fetch-Dest) where its response comes at once."""


@asynccontextmanager
async def delaying(url: str, seconds: float) -> AsyncIterator[str]:
    """The address of a proxy in front of `url`."""
    parts = urlsplit(url)
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await _handed_on(reader, writer, str(parts.hostname), int(parts.port or 80), seconds)
        finally:
            connections.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**20)
    try:
        port = server.sockets[0].getsockname()[1]
        yield parts._replace(netloc=f"127.0.0.1:{port}").geturl()
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _handed_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int, seconds: float
) -> None:
    """One request and its response, or all of a web socket; the connection is closed after it."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    late = 0.0 if headers.get("sec-fetch-dest") in AT_ONCE else seconds
    if headers.get("upgrade", "").lower() != "websocket":
        kept = [line for line in lines[:-2] if not line.lower().startswith(("connection:", "keep-alive:"))]
        head = "\r\n".join([*kept, "Connection: close", "", ""]).encode("latin-1")
    theirs, ours = await asyncio.open_connection(host, port, limit=2**20)
    there = asyncio.ensure_future(_brought(reader, ours, late, head))
    back = asyncio.ensure_future(_brought(theirs, writer, late))
    try:
        # A browser that has gone wants no more; one that has said all it wants may still be told much.
        await asyncio.wait((there, back), return_when=asyncio.FIRST_COMPLETED)
        if there.done() and not reader.at_eof():
            await back
        elif not back.done():
            await asyncio.wait((back,), timeout=2 * late + 1)
    finally:
        for way in (there, back):
            way.cancel()
        await asyncio.gather(there, back, return_exceptions=True)
        ours.close()


async def _brought(source: asyncio.StreamReader, target: asyncio.StreamWriter, late: float, first: bytes = b"") -> None:
    """Hand on what comes, each piece `late` seconds after it came."""
    clock = asyncio.get_running_loop().time
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    if first:
        pieces.put_nowait((clock() + late, first))

    async def read() -> None:
        piece = b"more"
        while piece:
            piece = await source.read(65536)
            pieces.put_nowait((clock() + late, piece))

    reading = asyncio.ensure_future(read())
    try:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(max(0.0, due - clock()))
            if not piece:
                return
            target.write(piece)
            await target.drain()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
