"""HTTP connections of drivers, with every failure as a `DriverError`.

Only this module, and `drivers/transport.py`, `certificates.py` and `connection_faults.py` below it, import httpx, so a
change of library (for example to httpx2, its continuation) affects no other module.

A failure before the first byte of the request was sent is `NotSent`, whatever its cause. After that, the system may
have received the turn, so the failure is `Unanswered`.

    NotSent      connect (refused, unreachable, no answer), dns, proxy
    Unanswered   timeout, reset (closed without a reply), bad-protocol (not HTTP), broken-body, broken-stream,
                 too-large, bad-encoding, not-utf8
    Denied       tls (certificate refused), proxy (it refuses us), redirect, bad-request (cannot be sent at all)
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import lazy_loader

from harvest.drivers.certificates import chosen_certificates, machine_certificates
from harvest.drivers.connection_faults import (
    WANTS_CERTIFICATE,
    classify_unsent,
    host_and_port,
    message_of,
    refuses_client,
)
from harvest.drivers.event_stream import EventParser, Events, is_stream, text_of
from harvest.drivers.options import FromEnvironment, WireOptions, resolve_text, resolve_texts
from harvest.drivers.received import Received, excerpt
from harvest.systems.driver import Denied, DriverError, Surroundings, Unanswered
from harvest.systems.timing import Stopwatch
from recordings.log.own_loop import run_long_work
from topics.errors import InputError

if TYPE_CHECKING:
    import httpx

    from harvest.drivers.credentials import Credentials
    from harvest.drivers.transport import PreparedRequest, Response, Transport
else:
    httpx = lazy_loader.load("httpx")  # at the first request: an audit that is only checked asks nothing
_MOST_REDIRECTS = 5  # an API that has moved needs one or two
_CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
# Codings that are undone although none was requested. They expand a packet 1000 times at most; others, or nested
# ones, have no such bound, and the size of a reply is checked only after each packet.
_DECOMPRESSED_CODINGS = frozenset({"gzip", "deflate"})
_READ_ON_SECONDS = 0.5  # seconds, and bytes, allowed after the end of a reply in a stream
_READ_ON_BYTES = 65536  # bytes read on so that the connection can be used again
Sign: TypeAlias = Callable[[str, str, Mapping[str, str], bytes | None], Mapping[str, str]]
_COMMON_HEADERS = {
    # Compressed replies would be delayed, unpacked without a bound, and not be raw evidence.
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Connection": "keep-alive",
    "User-Agent": "conversation-harvest",
}
_TOKEN_SECONDS = 30.0  # seconds, at most, for a complete answer of a token server
_KEEP_ALIVE = 2.0  # seconds: servers drop idle connections after 5 s or more, and a turn lost to that is lost


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `headers` are sent in addition to the headers in the driver's options."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


class CookieJar:
    """The cookies of one session. Sessions never share cookies."""

    def __init__(self) -> None:
        self._cookies = httpx.Cookies()

    def header(self, url: httpx.URL) -> str:
        """Return the cookies for `url`, or "" if there are no cookies."""
        from urllib.request import Request as Asked  # late, like httpx; httpx's own request allows only ASCII

        asked = Asked(str(url))
        self._cookies.jar.add_cookie_header(asked)
        return str(asked.get_header("Cookie", ""))

    def store_cookies(self, response: Response, url: httpx.URL) -> None:
        """Store the cookies of a response. Like browsers, this method skips cookies that could not be sent back."""
        set_cookie = [(name, value) for name, value in response.headers if name.lower() == b"set-cookie"]
        headers = [(name, value) for name, value in set_cookie if not _CONTROL_BYTES.search(value)]
        if headers:
            request = httpx.Request("GET", url)
            self._cookies.extract_cookies(httpx.Response(response.status, headers=headers, request=request))


@dataclass(slots=True)
class _Transfer:
    """The progress of one request, of at most `limit` seconds. `url` is None until the request is built."""

    watch: Stopwatch
    limit: float
    url: httpx.URL | None = None
    sent: bool = False
    response: Response | None = None
    body: bytearray = field(default_factory=bytearray)

    def sending(self) -> None:
        self.sent = True
        self.watch.start()

    def received(self, *, is_complete: bool) -> Received | None:
        if self.response is None:
            return None
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self.response.headers)
        return Received(str(self.url), self.response.status, headers, bytes(self.body), self.watch, is_complete)


class Wire:
    """Connections to one system. Raises InputError if the options cannot be used, for example if a file is missing."""

    def __init__(self, options: WireOptions, surroundings: Surroundings) -> None:
        self._options, self._clock = options, surroundings.clock
        self._exposure = surroundings.exposure
        self._headers = merge_headers(_COMMON_HEADERS, resolve_texts(options.headers, surroundings))
        proxy = resolve_text(options.proxy, surroundings) if options.proxy is not None else None
        try:
            self._proxy = _read_proxy(proxy) if proxy is not None else None
        except (ValueError, httpx.InvalidURL) as fault:
            # From the environment it may contain a password, part of which the parser's message could repeat.
            hidden = isinstance(options.proxy, FromEnvironment)
            what = (
                "the proxy in the environment variable cannot be used"
                if hidden
                else f"the proxy cannot be used: {fault}"
            )
            raise InputError(
                f"system {surroundings.system!r}: {what}",
                allowed="http://HOST:PORT or https://HOST:PORT",
            ) from None
        self._trusted = chosen_certificates(options, surroundings)
        self._credentials: Credentials | None = None
        if options.auth is not None:
            from harvest.drivers.credentials import make_credentials  # late: few audits have any

            self._credentials = make_credentials(options.auth, surroundings, self._post_form)
        self._held_open = False
        self._declared: set[tuple[str, str, int | None]] | None = None
        self._opened: Transport | None = None

    def ready(self) -> None:
        """Prepare the first request in advance, so that the preparation does not delay the first turn."""
        _ = self._transport

    async def close(self) -> None:
        if self._credentials is not None:
            await self._credentials.close()
        if self._opened is not None:
            await self._opened.aclose()

    @property
    def _transport(self) -> Transport:
        """The transport, made on first use. httpx's own client would handle redirects and cookies in every turn."""
        if self._opened is None:
            from harvest.drivers.transport import Transport  # late: an audit that is only checked asks nothing

            options = self._options
            timeout = httpx.Timeout(options.read_timeout or options.timeout, connect=options.connect_timeout, pool=None)
            self._opened = Transport(
                self._trusted or machine_certificates(), proxy=self._proxy, timeout=timeout, keep_alive=_KEEP_ALIVE
            )
        return self._opened

    async def ask(self, request: Request, *, jar: CookieJar | None = None, events: Events | None = None) -> Received:
        """Send the request and read the complete response, whatever its status. Raises DriverError. If the body is a
        stream of events and the status means success, `events` reads the body as it arrives. If the options have
        credentials, they go with the request, and a request that is refused because of them is sent once more."""
        headers, credentials = merge_headers(self._headers, request.headers), self._credentials
        if credentials is None:
            return await self._exchange(request, headers, jar, events)
        key = await credentials.key()
        received = await self._exchange(request, headers, jar, events, partial(credentials.headers, key))
        if received.status in credentials.refused:
            credentials.discard(key)
            renewed = partial(credentials.headers, await credentials.key())
            received = await self._exchange(request, headers, jar, events, renewed)
        return received

    async def _post_form(self, url: str, headers: Mapping[str, str], content: bytes) -> Received:
        """Send a form to a token server, which gets no header that is meant for the system."""
        all_headers = merge_headers(_COMMON_HEADERS, headers)
        seconds = min(_TOKEN_SECONDS, self._options.timeout)  # the transport allows no longer silence
        return await self._exchange(Request("POST", url, content=content), all_headers, seconds=seconds)

    async def _exchange(
        self,
        request: Request,
        headers: Mapping[str, str],
        jar: CookieJar | None = None,
        events: Events | None = None,
        sign: Sign | None = None,
        seconds: float | None = None,
    ) -> Received:
        import asyncio  # late, as httpx

        transfer = _Transfer(Stopwatch(self._clock), seconds or self._options.timeout)
        try:
            async with asyncio.timeout(transfer.limit):
                await self._transfer(request, headers, sign, jar, events, transfer)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            # A reply that was declared complete counts, even if the stream then does not end properly.
            if events is None or not events.is_complete:
                raise self._make_fault(error, transfer, events) from error
        except DriverError as fault:
            raise _with_evidence(fault, transfer.received(is_complete=False), events) from None
        received = transfer.received(is_complete=True)
        assert received is not None
        return received

    async def _transfer(
        self,
        request: Request,
        headers: Mapping[str, str],
        sign: Sign | None,
        jar: CookieJar | None,
        events: Events | None,
        transfer: _Transfer,
    ) -> None:
        from harvest.drivers.transport import prepare_request  # late, as httpx

        method, url, content = request.method, request.url, request.content
        for _ in range(_MOST_REDIRECTS + 1):
            built = prepare_request(method, url, tuple(headers.items()), bool(content))
            self._check_declared(built.url)
            if sign is not None:
                signed = merge_headers(headers, sign(method, str(built.url), headers, content))
                built = prepare_request(method, url, tuple(signed.items()), bool(content))
            transfer.url = built.url
            cookie = jar.header(built.url) if jar is not None else ""
            response = await self._transport.ask(built, content, cookie, transfer.sending)
            transfer.response = response
            try:
                if jar is not None:
                    jar.store_cookies(response, built.url)
                target = _same_origin(response, built)
                if target is None:
                    await self._read(response, events, transfer)
                    return
            finally:
                response.close()
            url = target
        raise Denied("redirect", f"{request.url.partition('?')[0]} redirects more than {_MOST_REDIRECTS} times")

    def _check_declared(self, url: httpx.URL) -> None:
        """Raise Denied for an undeclared server, because Harvest did not announce the contact to the user."""
        if self._exposure is None:
            return
        if self._declared is None:
            self._declared = {_server_of(httpx.URL(origin)) for origin in self._exposure.origins}
        if _server_of(url) not in self._declared:
            raise Denied("undeclared", f"{host_and_port(url)} is not a server named in the options of the driver")

    async def _read(self, response: Response, events: Events | None, transfer: _Transfer) -> None:
        chunks = self._read_bounded(response, transfer)
        media_type = _media_type(response, events)
        async with aclosing(chunks):
            if events is None or not is_stream(media_type) or not 200 <= response.status < 300:
                async for _ in chunks:
                    transfer.watch.mark()
                return
            text, parser = text_of(chunks, media_type), EventParser(media_type)
            try:
                async with aclosing(text.pieces()) as pieces:
                    async for piece in pieces:
                        for one in parser.feed(piece):
                            read = partial(events.read_event, one.name, one.data, transfer.watch)
                            if await run_long_work(len(one.data), read):
                                break
                        else:
                            continue
                        break
            except Unanswered:
                if not text.ended or events.is_complete or events.ends_with_body:
                    raise
                # The last event was cut in the middle: that is the stream's fault, not that of its JSON.
            if not (events.is_complete or events.ends_with_body):
                raise Unanswered("broken-stream", "the stream ended before the reply was complete")
            if not text.ended:
                await self._continue_reading(chunks)

    async def _continue_reading(self, chunks: AsyncIterator[bytes]) -> None:
        """Read the rest of a stream after its reply is complete, so that the next turn can use the connection again.
        If a server keeps the stream open, the rest of later streams is not read."""
        if self._held_open:
            return
        import asyncio

        read = 0
        try:
            async with asyncio.timeout(_READ_ON_SECONDS):
                async for chunk in chunks:
                    read += len(chunk)
                    if read > _READ_ON_BYTES:
                        return
        except TimeoutError:
            self._held_open = True
        except (httpx.HTTPError, OSError, Unanswered):
            pass  # no part of the reply is lost

    async def _read_bounded(self, response: Response, transfer: _Transfer) -> AsyncGenerator[bytes, None]:
        codings = [name.strip().lower() for name in response.header("content-encoding").split(",") if name]
        packed = [name for name in codings if name != "identity"]
        if len(packed) > 1 or not set(packed) <= _DECOMPRESSED_CODINGS:
            shown = excerpt(", ".join(packed), 80)
            raise Unanswered(
                "bad-encoding", f"the body is compressed as {shown!r}, although no compression was asked for"
            )
        room = self._options.max_reply
        async for chunk in response.decompressed(packed[0]) if packed else response:
            transfer.body += chunk[: room + 1]
            if len(chunk) > room:
                raise Unanswered("too-large", f"the reply is longer than {self._options.max_reply} bytes (max_reply)")
            room -= len(chunk)
            yield chunk

    def _make_fault(self, error: Exception, transfer: _Transfer, events: Events | None) -> DriverError:
        kind, reason, detail = self._classify_error(error, transfer)
        return _with_evidence(kind(reason, detail), transfer.received(is_complete=False), events)

    def _classify_error(self, error: Exception, transfer: _Transfer) -> tuple[type[DriverError], str, str]:
        options, said = self._options, message_of(error)
        if not transfer.sent:
            return classify_unsent(error, transfer.url, options, transfer.limit)
        if isinstance(error, (TimeoutError, httpx.TimeoutException)):
            silence = options.read_timeout if isinstance(error, httpx.TimeoutException) else None
            late = f"the reply was not complete after {transfer.limit:g} s"
            return Unanswered, "timeout", f"the server was silent for {silence:g} s" if silence else late
        if isinstance(error, httpx.DecodingError):
            return Unanswered, "bad-encoding", f"the body cannot be unpacked: {said}"
        if refuses_client(error):
            return Denied, "tls", f"the server {WANTS_CERTIFICATE}: {said}"
        if transfer.response is not None:
            streamed = is_stream(_media_type(transfer.response, None))
            return Unanswered, "broken-stream" if streamed else "broken-body", f"the reply breaks off: {said}"
        if isinstance(error, httpx.RemoteProtocolError) and "disconnected" not in said:
            return Unanswered, "bad-protocol", f"the response is not HTTP: {said}"
        return Unanswered, "reset", f"the connection was closed without a reply: {said}"


def _media_type(response: Response, events: Events | None) -> str:
    declared = response.header("content-type").partition(";")[0].strip().lower()
    return (events.media_type if events is not None else "") or declared


def merge_headers(headers: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    named = {name.lower() for name in others}
    return {**{name: value for name, value in headers.items() if name.lower() not in named}, **others}


def _server_of(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _with_evidence(fault: DriverError, received: Received | None, events: Events | None) -> DriverError:
    if received is None:
        return fault
    streamed = events is not None and is_stream(events.media_type or received.media_type)
    partial = events.partial if events is not None and streamed else None
    shown = received.fault(type(fault), fault.reason, fault.detail, partial=partial)
    shown.retry_after = fault.retry_after
    return shown


def _same_origin(response: Response, request: PreparedRequest) -> str | None:
    """Return the target of a redirect to the same server with the same method. Returns None for other redirects."""
    if not 300 <= response.status < 400:
        return None
    location = response.header("location")
    keeps_method = response.status in (307, 308) or request.method in ("GET", "HEAD")
    if not location or not keeps_method:
        return None
    try:
        here, there = request.url, request.url.join(location)
    except httpx.InvalidURL:
        return None
    same = (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port)
    return str(there) if same and not there.userinfo else None


def _read_proxy(url: str) -> httpx.Proxy:
    found = httpx.Proxy(url)
    if found.url.scheme not in ("http", "https"):
        raise ValueError(f"unknown scheme for a proxy: {found.url.scheme}")
    return found
