"""The meaning of connection failures before anything was sent, for HTTP and for WebSockets."""

import re
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

import lazy_loader

from harvest.drivers.options import WireOptions
from harvest.drivers.received import excerpt
from harvest.systems.driver import Denied, DriverError, NotSent

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazy_loader.load("httpx")

_C_SOURCE_LINE = re.compile(r" \(_ssl\.c:\d+\)$")
WANTS_CERTIFICATE = "wants another client certificate (auth: client_cert)"
# By OpenSSL's names: TLS 1.3 says that a certificate is missing, 1.2 that the handshake failed.
_CLIENT_ALERT = re.compile("ALERT_(.*CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)")


def message_of(error: BaseException) -> str:
    """Return the message of an error of the connection, without places in a library's source."""
    return _C_SOURCE_LINE.sub("", excerpt(str(error))) or type(error).__name__


def host_and_port(url: "httpx.URL | None") -> str:
    if url is None:
        return ""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or (443 if url.scheme in ('https', 'wss') else 80)}"


def refuses_client(error: BaseException) -> bool:
    """Return whether the server ended the connection because of this client's certificate, or the lack of one. With TLS
    1.3 the server reports this only after the request was sent, but it has not read the request."""
    return any(
        isinstance(one, ssl.SSLError) and _CLIENT_ALERT.search(str(getattr(one, "reason", "")))
        for one in _causes(error)
    )


def classify_unsent(
    error: BaseException, url: "httpx.URL | None", options: WireOptions, seconds: float
) -> tuple[type[DriverError], str, str]:
    """Return the kind, the reason and the detail of an error that came before the first byte was sent. `seconds` is the
    limit of the whole request; a TimeoutError means that it was reached."""
    said, address = message_of(error), host_and_port(url)
    causes = tuple(_causes(error))
    if isinstance(error, httpx.ProxyError):
        return (Denied if said[:3] in ("401", "403", "407") else NotSent), "proxy", f"the proxy failed: {said}"
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return Denied, "tls", f"the server's certificate is not trusted: {said}"
    if refuses_client(error):
        return Denied, "tls", f"the server refuses the connection, or {WANTS_CERTIFICATE}: {said}"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return NotSent, "dns", f"the host's name cannot be found: {said}"
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
        return Denied, "bad-request", f"the request cannot be sent: {said}"
    if isinstance(error, (TimeoutError, httpx.TimeoutException)):
        limit = seconds if isinstance(error, TimeoutError) else options.connect_timeout
        return NotSent, "connect", f"no connection to {address} within {limit:g} s"
    way = " through the proxy" if options.proxy is not None else ""
    return NotSent, "connect", f"no connection to {address}{way}: {said}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
