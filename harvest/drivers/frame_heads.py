"""The heads of the frames on WebSocket connections of aiohttp, which unmasks the frames of servers and says nothing.

A server must not mask its frames, and a client that receives one that is masked must end the connection (RFC 6455,
section 5.1), as browsers do. So a system that masks cannot be used by anybody else, and its replies do not count.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING

import aiohttp

from harvest.drivers.transport import BetweenProtocol

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace


class FrameHeads:
    """The heads of the frames that a server sends, read as its bytes arrive. `masked` is True once one is masked."""

    def __init__(self) -> None:
        self.masked = False
        self._head = b""
        self._left = 0  # bytes of the frame under way
        self._upgraded = False

    def read(self, data: bytes) -> None:
        while not self._upgraded:
            whole = self._head + data
            head, end, data = whole.partition(b"\r\n\r\n")
            if not end:
                self._head = whole
                return
            self._head, self._upgraded = b"", head.split(b" ", 2)[1:2] == [b"101"] or not head.startswith(b"HTTP/1.1 1")
        at = 0
        while at < len(data) and not self.masked:
            if self._left:
                step = min(self._left, len(data) - at)
                self._left -= step
            else:
                step = 1
                self._read_head(data[at : at + 1])
            at += step

    def _read_head(self, byte: bytes) -> None:
        self._head += byte
        if len(self._head) < 2:
            return
        self.masked = bool(self._head[1] & 0x80)
        size = self._head[1] & 0x7F
        long = {126: 2, 127: 8}.get(size, 0)  # bytes of a length that does not fit into the second byte
        if len(self._head) == 2 + long:
            self._left, self._head = int.from_bytes(self._head[2:]) if long else size, b""


# The heads of the connection that this task is opening.
OPENING: ContextVar[FrameHeads] = ContextVar("opening")


class WatchedConnector(aiohttp.TCPConnector):
    """A connector that shows what a server sends to `OPENING`, too. Each connection is used once."""

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - so it is called
    ) -> Connection:
        connection = await super().connect(req, traces, timeout)
        transport = connection.transport
        assert transport is not None  # not always an asyncio.Transport: uvloop has its own
        handler = transport.get_protocol()
        assert isinstance(handler, asyncio.Protocol)
        transport.set_protocol(_Watched(handler, OPENING.get()))
        return connection


class _Watched(BetweenProtocol):
    def __init__(self, handler: asyncio.Protocol, heads: FrameHeads) -> None:
        super().__init__(handler)
        self._heads = heads

    def data_received(self, data: bytes) -> None:
        self._heads.read(data)
        self._handler.data_received(data)
