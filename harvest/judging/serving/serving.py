"""Serving the page on this machine: the port, the links with their tokens, and until when."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import secrets
import socket
from collections.abc import Callable, Generator, Mapping, Sequence

import uvicorn

from harvest.judging.serving.application import application
from harvest.judging.serving.desk import Desk
from harvest.judging.serving.guard import Addresses, Guard
from topics.errors import InputError

__all__ = ["bind", "make_links", "serve"]


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begun()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """None: the command has its own way to be stopped."""
        yield


def bind(port: int) -> socket.socket:
    """A socket on 127.0.0.1, which no other machine can reach. port: 0 takes any that is free. Raises InputError."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
    except OSError as fault:
        found.close()
        if fault.errno == errno.EADDRINUSE:
            what, advice = f"something else listens on port {port}", "give another one: --port N"
        else:
            what, advice = f"port {port} cannot be used: {fault.strerror}", "give one from 1024 on: --port N"
        raise InputError(what, advice=advice) from None
    return found


def make_links(people: Sequence[str], port: int) -> tuple[dict[str, str], dict[str, str]]:
    """New tokens and the links that hold them, by person. A token stands after the #, so that it is in no request, no
    log and no referrer.
    """
    tokens = {name: secrets.token_urlsafe(24) for name in people}
    return tokens, {name: f"{Addresses(port)}/#{token}" for name, token in tokens.items()}


async def serve(desk: Desk, listening: socket.socket, tokens: Mapping[str, str], started: Callable[[], None]) -> None:
    """Until it is cancelled; then what was begun is ended. started: is called when the page can be opened."""
    port = int(listening.getsockname()[1])
    config = uvicorn.Config(
        Guard(application(desk), Addresses(port), tokens),
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="error",  # what strangers send is refused, and is nothing to tell
        server_header=False,
        proxy_headers=False,
        limit_concurrency=200,
        timeout_graceful_shutdown=3,
    )
    server = _Server(config, started)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving
