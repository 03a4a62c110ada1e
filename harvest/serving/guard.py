"""The guard of a page on this machine. It accepts only requests that the page makes, from the page, with a valid link.

The guard is plain ASGI around the whole application, so that it sees every kind of connection. Addresses are
compared with a fixed list, never with each other: a name that a foreign DNS server resolves to 127.0.0.1 is not on
the list. Every answer has the headers that isolate the page.
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordings.files.json_text import encode_line

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Bytes of a request. A decision with the longest note takes about a tenth.
LARGEST_BODY = 64 * 1024

# How long a request may take to arrive.
BODY_SECONDS = 10.0

TOKEN_HEADER = "harvest-token"

# What a page may load, unless its answer has a policy of its own.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_POLICY = b"content-security-policy"
# Headers of every answer, including refusals.
HEADERS: Sequence[tuple[bytes, bytes]] = (
    (_POLICY, CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

_HOST = re.compile(rb"(?:[A-Za-z0-9.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Allowed:
    """Requests that a page makes. `path` is a regular expression for whole paths. If `public`, no token is needed,
    because the answer reveals nothing, or because the path itself has a secret in it."""

    path: str
    method: str = "GET"
    public: bool = False


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the page, which is served on a port of this machine alone."""

    port: int

    @property
    def hosts(self) -> frozenset[bytes]:
        return frozenset(f"{name}:{self.port}".encode() for name in ("127.0.0.1", "localhost", "[::1]"))

    @property
    def origins(self) -> frozenset[bytes]:
        return frozenset(b"http://" + host for host in self.hosts)

    def __str__(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Refused(Exception):
    def __init__(self, status: int, why: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(why)
        self.status, self.headers = status, headers

    async def answer(self, send: Send) -> None:
        body = encode_line({"error": str(self)})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers += [*self.headers, *HEADERS]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@dataclass(frozen=True, slots=True)
class Guard:
    """An ASGI application that checks requests before it passes them to `app`, together with their complete body.
    In the scope, `harvest.person` is the person who sent the request. `tokens` has the token of each person. An answer
    with a content security policy of its own keeps this policy."""

    app: App
    addresses: Addresses
    tokens: Mapping[str, str]
    allowed: Sequence[Allowed]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the answer is a 403
            return
        if scope["type"] != "http":
            return
        try:
            person = self._person(scope)
            body = await _read_body(scope, receive) if scope["method"] == "POST" else b""
        except _Refused as refused:
            await refused.answer(send)
            return
        scope["harvest.person"] = person
        handed = False

        async def whole() -> MutableMapping[str, Any]:
            nonlocal handed
            if handed:
                return await receive()
            handed = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower(): value for name, value in message.get("headers", [])}
                fixed = {**dict(HEADERS), _POLICY: given.get(_POLICY, CONTENT_POLICY.encode())}
                message = {**message, "headers": [*({**given, **fixed}).items()]}
            await send(message)

        await self.app(scope, whole, sent)

    def _person(self, scope: Scope) -> str:
        """Return who sent the request, or "" for the page itself, which reveals nothing. Raises _Refused."""
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        allowed = next((one for one in self.allowed if re.fullmatch(one.path, scope["path"])), None)
        self._check_host(_header_values(headers, b"host"))
        self._check_origin(headers, scope["method"], leads_here=allowed is not None and allowed.public)
        if allowed is None:
            raise _Refused(404, "this address does not exist")
        if scope["method"] != allowed.method:
            raise _Refused(405, f"this address accepts only {allowed.method}", (b"allow", allowed.method.encode()))
        if allowed.public:
            return ""
        person = self._token_holder(_header_values(headers, TOKEN_HEADER.encode()))
        if allowed.method == "POST":
            kinds = _header_values(headers, b"content-type")
            if len(kinds) != 1 or kinds[0].lower().replace(b" ", b"") not in (
                b"application/json",
                b"application/json;charset=utf-8",
            ):
                raise _Refused(415, "send answers as application/json")
        return person

    def _check_host(self, hosts: Sequence[bytes]) -> None:
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            raise _Refused(400, "a request must name one host, such as 127.0.0.1:8477")
        if hosts[0] not in self.addresses.hosts:
            raise _Refused(
                421,
                f"this page exists only at {self.addresses} (or localhost): for a tunnel, use the same port at both "
                "ends, or start with --port",
            )

    def _check_origin(self, headers: Sequence[tuple[bytes, bytes]], method: str, *, leads_here: bool) -> None:
        """Check that a request comes from the page itself. If `leads_here`, a link on another page of this machine may
        lead to the address."""
        origins, sites = _header_values(headers, b"origin"), _header_values(headers, b"sec-fetch-site")
        if any(origin not in self.addresses.origins for origin in origins) or len(origins) > 1:
            raise _Refused(403, f"requests are accepted only from the page at {self.addresses}")
        if method not in ("GET", "HEAD") and not origins:
            raise _Refused(403, "a request that changes data must have an Origin header")
        follows_link = (
            leads_here
            and _header_values(headers, b"sec-fetch-mode") == [b"navigate"]
            and _header_values(headers, b"sec-fetch-dest") == [b"document"]  # and not as a frame
        )
        accepted = (b"same-origin", b"none", b"same-site") if follows_link else (b"same-origin", b"none")
        if any(site not in accepted for site in sites):
            raise _Refused(403, f"requests are accepted only from the page at {self.addresses}")

    def _token_holder(self, given: Sequence[bytes]) -> str:
        found = ""
        for person, token in self.tokens.items():  # all of them, so that the time taken reveals nothing
            if len(given) == 1 and hmac.compare_digest(given[0], token.encode()):
                found = person
        if not found:
            raise _Refused(
                401,
                "this link is not valid or has expired: open the link that was printed when the page was started",
                (b"www-authenticate", b"Harvest-Token"),
            )
        return found


def _header_values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


async def _read_body(scope: Scope, receive: Receive) -> bytes:
    """Return the whole body. However it is sent, at most LARGEST_BODY bytes are read. Raises _Refused."""
    too_large = _Refused(413, f"more than {LARGEST_BODY} bytes", (b"connection", b"close"))
    for length in _header_values(scope["headers"], b"content-length"):
        if not length.isdigit() or len(length) > 12 or int(length) > LARGEST_BODY:
            raise too_large
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise _Refused(400, "the request was cut off")
                found += message.get("body", b"")
                if len(found) > LARGEST_BODY:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(found)
    except TimeoutError:
        raise _Refused(408, "the request took too long to arrive", (b"connection", b"close")) from None
