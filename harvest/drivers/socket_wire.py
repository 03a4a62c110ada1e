"""WebSocket connections of drivers (RFC 6455), with every failure as a `DriverError`.

The connection is aiohttp's, with the headers, credentials, certificates and proxy of the options. By itself it sends
nothing again, compresses nothing, and never reconnects.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import lazy_loader

from harvest.drivers.certificates import machine_certificates
from harvest.drivers.connection_faults import classify_unsent, host_and_port, message_of
from harvest.drivers.received import Received, excerpt
from harvest.drivers.wire import Wire, merge_headers
from harvest.systems.driver import Denied, DriverError, Unanswered
from harvest.systems.timing import Stopwatch

if TYPE_CHECKING:
    import aiohttp
    import httpx

    from harvest.drivers.frame_heads import FrameHeads
else:
    aiohttp, httpx = map(lazy_loader.load, ("aiohttp", "httpx"))  # at the first connection

_CLOSE_SECONDS = 5.0  # to say goodbye
_TOO_BIG = 1009  # the status of a close because of a message that is too big
_BROKEN = 1006  # no close at all
_SWITCHING = 101


@dataclass(frozen=True, slots=True)
class Frame:
    """A message: its text, its arrival time by the clock, and its name, if the framing has names."""

    text: str
    at: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a connection: the status and the words of the side that closed it (1006 if it broke off)."""

    code: int
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.reason}".strip() if self.reason or self.code != _BROKEN else "it broke off"


class Socket:
    """One open connection."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse, wire: SocketWire, frames: FrameHeads) -> None:
        self._connection, self._wire, self._frames = connection, wire, frames

    async def send(self, text: str) -> None:
        """Send a text. Raises Unanswered if the connection is closed."""
        try:
            await self._connection.send_str(text)
        except (aiohttp.ClientError, OSError) as error:
            raise Unanswered("reset", f"the connection was closed: {message_of(error)}") from error

    async def receive(self) -> Frame | Closed:
        """Return the next message, or the end. Raises Unanswered for an invalid message."""
        try:
            message = await self._connection.receive()
        except (aiohttp.ClientError, OSError) as error:
            return Closed(_BROKEN, message_of(error))
        if self._frames.masked:
            raise Unanswered(
                "bad-protocol", "the server masks its frames, which only a client may do (RFC 6455, section 5.1)"
            )
        match message.type:
            case aiohttp.WSMsgType.TEXT:
                return Frame(str(message.data), self._wire.now())
            case aiohttp.WSMsgType.BINARY:
                try:
                    return Frame(bytes(message.data).decode("utf-8"), self._wire.now())
                except UnicodeDecodeError as error:
                    raise Unanswered("not-utf8", f"a message is not UTF-8: {error.reason}") from None
            case aiohttp.WSMsgType.ERROR if self._connection.close_code == _TOO_BIG:
                raise Unanswered("too-large", f"a message is longer than {self._wire.most} bytes (max_reply)")
            case aiohttp.WSMsgType.ERROR:
                raise Unanswered(
                    "bad-protocol", f"the data received is not a WebSocket frame: {message_of(message.data)}"
                )
        said = message.extra if isinstance(message.extra, str) else ""
        return Closed(self._connection.close_code or _BROKEN, said)

    async def close(self) -> None:
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._connection.close()


class SocketWire(Wire):
    """Connections to one system. Raises InputError as `Wire` does."""

    _session: aiohttp.ClientSession | None = None

    @property
    def most(self) -> int:
        """Bytes of a message, at most."""
        return self._options.max_reply

    def now(self) -> float:
        return self._clock.monotonic()

    async def connect(
        self, url: str, *, protocols: Sequence[str] = (), ping: float | None = None, answered: bool = False
    ) -> Socket:
        """Open a connection. `ping` is the number of seconds between pings. Raises DriverError; `answered` says whether
        the system has answered before."""
        for renewed in (False, True):
            key = await self._credentials.key() if self._credentials is not None else None
            received = await self._shake_hands(url, key, protocols, ping, Unanswered if answered else Denied)
            if isinstance(received, Socket):
                return received
            refused = self._credentials is not None and received.status in self._credentials.refused
            if refused and not renewed and self._credentials is not None:
                self._credentials.discard(key)
                continue
            break
        assert isinstance(received, Received)
        fault = received.refusal(answered=answered)
        if fault is None:
            detail = f"{received.address} does not open a WebSocket: it answers {received.status}"
            fault = received.fault(Unanswered if answered else Denied, "bad-protocol", detail)
        raise fault

    async def close(self) -> None:
        await super().close()
        if self._session is not None:
            await self._session.close()

    async def _shake_hands(
        self, url: str, key: object, protocols: Sequence[str], ping: float | None, kind: type[DriverError]
    ) -> Socket | Received:
        """Return the connection, or the answer of a server that does not open one. Raises DriverError: `kind` if what
        it answers is neither."""
        from harvest.drivers.frame_heads import OPENING, FrameHeads  # late, as aiohttp
        from harvest.drivers.transport import as_httpx

        address, watch = httpx.URL(url), Stopwatch(self._clock)
        self._check_declared(address)
        left_out = ("connection", "accept-encoding")  # of HTTP
        headers = {name: value for name, value in self._headers.items() if name.lower() not in left_out}
        if self._credentials is not None:
            headers = merge_headers(headers, self._credentials.headers(key, "GET", str(address), headers, None))
        login = self._proxy.raw_auth if self._proxy is not None else None
        frames = FrameHeads()
        OPENING.set(frames)
        try:
            async with asyncio.timeout(self._options.timeout):
                connection = await self._opened_session().ws_connect(
                    str(address),
                    headers=headers,
                    protocols=protocols,
                    heartbeat=ping,
                    max_msg_size=self.most,
                    timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_SECONDS),
                    proxy=str(self._proxy.url) if self._proxy is not None else None,
                    proxy_auth=aiohttp.BasicAuth(*map(bytes.decode, login)) if login is not None else None,
                )
            return Socket(connection, self, frames)
        except aiohttp.WSServerHandshakeError as error:
            pairs = tuple((error.headers or {}).items())
            if error.status == _SWITCHING:
                detail = f"the server opens the connection wrongly: {error.message}"
                raise Received(url, error.status, pairs, b"", watch).fault(kind, "bad-protocol", detail) from None
            return Received(url, error.status, pairs, b"", watch)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            if isinstance(error, aiohttp.ClientResponseError) and not isinstance(error, aiohttp.ClientHttpProxyError):
                detail = f"what {host_and_port(address)} answers is not HTTP: {excerpt(error.message)}"
                raise kind("bad-protocol", detail) from error
            fault = error if isinstance(error, TimeoutError) else as_httpx(error)
            fault.__cause__ = error if fault is not error else fault.__cause__
            kind, reason, detail = classify_unsent(fault, address, self._options, self._options.timeout)
            raise kind(reason, detail) from error

    def _opened_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            from harvest.drivers.frame_heads import WatchedConnector  # late, as aiohttp

            trace = aiohttp.TraceConfig()
            trace.on_request_redirect.append(_refuse_redirect)
            options = self._options
            self._session = aiohttp.ClientSession(
                connector=WatchedConnector(
                    limit=0, ssl=self._trusted or machine_certificates(), resolver=aiohttp.ThreadedResolver()
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_timeout, sock_read=options.timeout),
                trace_configs=[trace],
            )
        return self._session


async def _refuse_redirect(
    session: aiohttp.ClientSession, context: SimpleNamespace, request: aiohttp.TraceRequestRedirectParams
) -> None:
    where = request.response.headers.get("Location", "nowhere")
    request.response.close()
    raise Denied("redirect", f"{str(request.url).partition('?')[0]} redirects to {where}")
