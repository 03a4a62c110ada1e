"""HTTP with the requests and errors of httpx, over the connections of aiohttp.

The connections of aiohttp cost a fraction of httpcore's, even if there are many. All turns send similar requests, so
the parsed URL and headers are cached (`prepare_request`).

The package `httpx-aiohttp` follows the same idea. But it does not report when a request is sent, reports a reset as a
connection that timed out, keeps cookies, and lets aiohttp rewrite URLs and resend requests that it considers safe. Each
of these would change the recording. In this module:

    requests       are sent once: aiohttp may not retry on another connection, whatever the method
    `sending`      is called right before the first byte goes to the system
    URLs, headers  are sent as given: none is added, rewritten, decoded or taken from the environment
    connections    are not reused if the server closed one or sent something on it while it was idle
    errors         are those of httpx, by what failed, with the original error as their cause
"""

from __future__ import annotations

import asyncio
import base64
import io
import re
import select
import ssl
import zlib
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import aiohttp
import httpx
from multidict import CIMultiDict
from yarl import URL

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

_GZIP = b"\x1f\x8b"


class Decompressor:
    """A decompressor of one body, piece by piece. `coding` is `gzip`, with one or more members, or `deflate`, with or
    without the zlib header, since servers send both forms."""

    def __init__(self, coding: str) -> None:
        self._gzip = coding == "gzip"
        self._head = b""  # too short to recognise the compression
        self._under_way: zlib._Decompress | None = None
        self._done = False  # once
        self._over = False  # what follows is padding

    def decompress(self, data: bytes) -> bytes:
        found = []
        while data and not self._over:
            if self._under_way is None:
                data, self._head = self._head + data, b""
                if len(data) < len(_GZIP):
                    self._head = data
                    break
                self._over = self._done and not (self._gzip and data.startswith(_GZIP))
                if self._over:
                    break
                self._under_way = zlib.decompressobj(self._window_bits(data))
            try:
                found.append(self._under_way.decompress(data))
            except zlib.error as error:
                raise ValueError(str(error)) from None
            data = self._under_way.unused_data
            if self._under_way.eof:
                self._under_way, self._done = None, True
        return b"".join(found)

    def finish(self) -> None:
        """End the body. Raises ValueError if the body is incomplete. An empty body is complete."""
        if self._under_way is not None or (self._head and not self._done):
            raise ValueError("it ends early")

    def _window_bits(self, data: bytes) -> int:
        if self._gzip:
            return zlib.MAX_WBITS | 16
        zlibs = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.MAX_WBITS if zlibs else -zlib.MAX_WBITS


_LONGEST_LINE = 100 * 1024  # bytes of a status line or a header
_LARGEST_AT_ONCE = 2**20  # bytes of a body
_INFORMATIONAL = re.compile(rb"HTTP/1\.[01] 1(?!01)")
# Headers that aiohttp would add if a request does not have them.
_SKIPPED_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


@dataclass(slots=True)
class _PendingRequest:
    """A request in progress. `sending` is called once, right before the request is sent, and `reading` is the protocol
    of its connection."""

    sending: Callable[[], None]
    reading: _HeadFirstProtocol | None = None


_PENDING_REQUEST: ContextVar[_PendingRequest] = ContextVar("asking")


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """The parts of a request that stay the same. `headers` are the headers to send. If `measured` is True, the length
    of the body is added later. httpx adds Host and Content-Length unless the request has them."""

    method: str
    url: httpx.URL
    address: URL
    headers: CIMultiDict[str]
    measured: bool

    def headers_for(self, content: bytes | None) -> CIMultiDict[str]:
        headers = self.headers.copy()
        if self.measured and content:
            headers["Content-Length"] = str(len(content))
        return headers


@lru_cache(maxsize=256)
def prepare_request(method: str, url: str, headers: tuple[tuple[str, str], ...], filled: bool) -> PreparedRequest:
    """Prepare a request, with or without a body. Raises httpx.InvalidURL, and ValueError for non-ASCII headers."""
    request = httpx.Request(method, url, headers=headers, content=b"?" if filled else None)
    given = CIMultiDict([(name.decode("latin-1"), text.decode("latin-1")) for name, text in request.headers.raw])
    measured = filled and all(name.lower() != "content-length" for name, _ in headers)
    address = URL(str(request.url), encoded=True)
    if address.raw_user is not None:  # httpx has turned it into a header
        address = address.with_user(None)
    return PreparedRequest(request.method, request.url, address, given, measured)


class Response:
    """A response in progress, with its status, its headers as received, and a body that can be iterated once."""

    __slots__ = ("_response", "headers", "status")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status, self.headers, self._response = response.status, response.raw_headers, response

    def __aiter__(self) -> Response:
        return self

    async def __anext__(self) -> bytes:
        try:
            data = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise as_httpx(error) from error
        if not data:
            raise StopAsyncIteration
        return data

    def header(self, name: str) -> str:
        """Return the header `name` (in lower case), or "" if it is missing. Several values are joined by commas."""
        named = name.encode()
        return ", ".join(value.decode("latin-1") for key, value in self.headers if key.lower() == named)

    async def decompressed(self, coding: str) -> AsyncIterator[bytes]:
        """Yield the body with its content-encoding undone by `Decompressor`. Raises httpx.DecodingError."""
        unpacking = Decompressor(coding)
        try:
            async for data in self:
                if unpacked := unpacking.decompress(data):
                    yield unpacked
            unpacking.finish()
        except ValueError as error:
            raise httpx.DecodingError(str(error)) from None

    def close(self) -> None:
        self._response.close()  # a response read to its end has already returned its connection


class Transport:
    """Connections to any number of servers, on one event loop. `timeout` has the form of httpx; its `connect` limits
    name lookup, connection and TLS together. Idle connections are kept for `keep_alive` seconds."""

    def __init__(
        self, trust: ssl.SSLContext, *, proxy: httpx.Proxy | None, timeout: httpx.Timeout, keep_alive: float
    ) -> None:
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=0, ssl=trust, keepalive_timeout=keep_alive, resolver=aiohttp.ThreadedResolver()),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_SKIPPED_HEADERS,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(
                total=None, connect=timeout.connect, sock_read=timeout.read, ceil_threshold=float("inf")
            ),
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        self._proxy = str(proxy.url) if proxy is not None else None
        self._for_proxy: dict[str, str] = {}
        if proxy is not None and proxy.raw_auth is not None:
            credentials = base64.b64encode(b":".join(proxy.raw_auth)).decode()
            self._for_proxy["Proxy-Authorization"] = f"Basic {credentials}"

    async def ask(
        self, request: PreparedRequest, content: bytes | None, cookie: str, sending: Callable[[], None]
    ) -> Response:
        """Send a request and return the response once its head has arrived. `cookie` is the value of a header, or "".
        `sending` is called once, right before the request is sent. Raises the errors of httpx."""
        asking = _PendingRequest(sending)
        _PENDING_REQUEST.set(asking)
        headers, tunnelled = request.headers_for(content), None
        if cookie and "Cookie" not in headers:  # an audit may give its own
            headers.add("Cookie", cookie)
        if self._proxy is not None and request.url.scheme == "https":
            tunnelled = self._for_proxy
        else:
            headers.extend(self._for_proxy)
        try:
            response = await self._session.request(
                request.method,
                request.address,
                headers=headers,
                # A large body is sent in pieces: written at once, it would block all other sessions.
                data=io.BytesIO(content) if content and len(content) > _LARGEST_AT_ONCE else content or None,
                allow_redirects=False,
                proxy=self._proxy,
                proxy_headers=tunnelled,
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise as_httpx(error) from error
        if asking.reading is not None:
            asking.reading.read_into(response.content)
        return Response(response)

    async def aclose(self) -> None:
        await self._session.close()


class _Connector(aiohttp.TCPConnector):
    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - so it is called
    ) -> Connection:
        asking = _PENDING_REQUEST.get()
        if asking.reading is not None:
            raise aiohttp.ServerDisconnectedError
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol, transport = connection.protocol, connection.transport
            assert protocol is not None
            assert transport is not None  # not always an asyncio.Transport: uvloop has its own
            reading = transport.get_protocol()
            if not isinstance(reading, _HeadFirstProtocol):  # a new connection
                reading = _HeadFirstProtocol(protocol)
                transport.set_protocol(reading)
                break
            if not _has_data(transport):
                break
            connection.close()
        reading.expect()
        asking.reading = reading
        asking.sending()
        return connection


class BetweenProtocol(asyncio.Protocol):
    """A protocol between a connection and aiohttp's handler, which gets everything but the data."""

    def __init__(self, handler: asyncio.Protocol) -> None:
        self._handler = handler

    def eof_received(self) -> bool | None:
        return self._handler.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._handler.connection_lost(error)

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()


class _HeadFirstProtocol(BetweenProtocol):
    """aiohttp parses packet by packet and discards a packet with an error completely. If the first packet contained the
    head and an invalid body, the reply would be lost without evidence, so the head is passed on separately. Moreover,
    the reader of a body does not learn of an error in a later packet and would wait for the time-out, so the error is
    passed to the reader."""

    _handler: ResponseHandler

    def __init__(self, handler: ResponseHandler) -> None:
        super().__init__(handler)
        self._body: aiohttp.StreamReader | None = None
        self.expect()

    def expect(self) -> None:
        self._head, self._last, self._body = True, b"", None

    def read_into(self, body: aiohttp.StreamReader) -> None:
        self._body = body
        self._report_fault()

    def _report_fault(self) -> None:
        body, fault = self._body, self._handler.exception()
        if fault is not None and body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError(_server_message(fault)), fault)

    def data_received(self, data: bytes) -> None:
        while self._head:
            seen = self._last + data
            end = seen.find(b"\r\n\r\n")
            if end < 0:
                self._last = seen[-3:]
                break
            at = end + 4 - len(self._last)
            head, data, self._last = data[:at], data[at:], b""
            self._head = _INFORMATIONAL.match(head) is not None
            self._handler.data_received(head)
        if data:
            self._handler.data_received(data)
            self._report_fault()


def _has_data(transport: asyncio.BaseTransport | None) -> bool:
    """Return whether an idle connection has data to read, because the server closed it or sent unrequested data."""
    number = transport.get_extra_info("socket").fileno() if transport is not None else -1
    if number < 0:
        return True
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


def _server_message(error: BaseException) -> str:
    """Return the message without the status that aiohttp adds to its errors, because no server sent that status."""
    return str(getattr(error, "message", "") or error)


def as_httpx(error: Exception) -> httpx.HTTPError:
    """Return the error of httpx for an error of aiohttp or the operating system."""
    said = str(error)
    match error:
        case aiohttp.SocketTimeoutError():
            return httpx.ReadTimeout(said)
        case aiohttp.ServerTimeoutError():
            return httpx.ConnectTimeout(said)
        case aiohttp.ClientConnectorCertificateError():
            return httpx.ConnectError(str(error.certificate_error))
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(str(error.os_error))
        case aiohttp.ClientHttpProxyError():
            return httpx.ProxyError(f"{error.status} {error.message}")
        case aiohttp.InvalidURL():
            return httpx.UnsupportedProtocol(said)
        case aiohttp.ServerDisconnectedError():
            return httpx.RemoteProtocolError("the server disconnected without sending a response")
        case aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(error.message)
        case aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(_server_message(error.__cause__ or error))
        case OSError() | aiohttp.ClientError():
            return httpx.ReadError(said)
    return httpx.LocalProtocolError(said)
