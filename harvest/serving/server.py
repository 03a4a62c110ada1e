"""The server of a page on this machine: its port, and the links with their tokens."""

import asyncio
import contextlib
import errno
import secrets
import socket
from collections.abc import Callable, Generator, Mapping, Sequence

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from harvest.serving.guard import BODY_SECONDS, Addresses, Allowed, App, Guard
from topics.errors import InputError

_MOST_CONNECTIONS = 200  # people have a few each; half-open ones must not use all memory
# Most connections without a request: more than the browsers of all judges keep open.
_MOST_WAITING = 64


class TimedConnection(H11Protocol):
    """A connection that is closed if no complete request arrives in time. Uvicorn would wait forever, and a few
    hundred such connections would block everybody else. If too many connections are open at once, the connection
    that has waited longest is closed."""

    head_seconds = BODY_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        self._watch()
        waiting = [one for one in self.connections if isinstance(one, TimedConnection) and one.awaits_head()]
        if len(waiting) > _MOST_WAITING:
            min(waiting, key=lambda one: one._since).transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def awaits_head(self) -> bool:
        """Return whether the connection is waiting for the head of a request."""
        return (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing()

    def _watch(self) -> None:
        """Start or stop the deadline. Further bytes of the same head do not extend the deadline."""
        if not self.awaits_head():
            self._stop_watching()
        elif self._deadline is None:
            self._since = self.loop.time()
            self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.awaits_head():
            self.transport.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._begun = begun
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stopped.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begun()

    async def main_loop(self) -> None:
        """Wait for `stop`. Uvicorn would look ten times a second, which is most of the work of a page that rests."""
        await self._stopped.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture no signals, because the command handles them itself."""
        yield


def bind(port: int) -> socket.socket:
    """Return a socket on 127.0.0.1. Port 0 means any free port. Raises InputError if the port cannot be used."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
    except OSError as fault:
        found.close()
        if fault.errno == errno.EADDRINUSE:
            what, advice = f"another program already listens on port {port}", "choose another port: --port N"
        else:
            what, advice = f"port {port} cannot be used: {fault.strerror}", "choose a port from 1024 on: --port N"
        raise InputError(what, advice=advice) from None
    return found


def make_links(people: Sequence[str], port: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return tokens and links by person. A token follows the `#` of its link, so no request, log or referrer has
    it."""
    tokens = {name: secrets.token_urlsafe(24) for name in people}
    return tokens, {name: f"{Addresses(port)}/#{token}" for name, token in tokens.items()}


async def serve(
    app: App,
    allowed: Sequence[Allowed],
    server_socket: socket.socket,
    tokens: Mapping[str, str],
    on_start: Callable[[], None],
) -> None:
    """Serve until cancelled, then finish the requests that have begun. `app` gets the `allowed` requests of people with
    one of the `tokens`. `on_start` is called when the page can be opened."""
    port = int(server_socket.getsockname()[1])
    config = uvicorn.Config(
        Guard(app, Addresses(port), tokens, allowed),
        http=TimedConnection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="error",  # refused requests need no message
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=3,
    )
    server = _Server(config, on_start)
    serving = asyncio.create_task(server.serve(sockets=[server_socket]))
    try:
        await asyncio.shield(serving)
    finally:
        server.stop()
        await serving
