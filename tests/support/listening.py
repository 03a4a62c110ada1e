"""A web hook that keeps what it is sent, in a thread, for commands that are called in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.servers.threaded import QuietHandler, threaded

__all__ = ["Hook", "listening"]


@dataclass
class Hook:
    """url: where it listens. sent: every body, in order. status: what it answers, after so many `seconds`."""

    url: str = ""
    status: int = 200
    seconds: float = 0.0
    sent: list[bytes] = field(default_factory=list)


@contextmanager
def listening(path: str = "/services/SECRET") -> Iterator[Hook]:
    """A web hook on 127.0.0.1 for as long as the context lasts."""
    hook = Hook()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            hook.sent.append(self.rfile.read(int(self.headers["Content-Length"])))
            time.sleep(hook.seconds)
            self.send_response(hook.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

    with threaded(Handler) as server:
        hook.url = f"http://127.0.0.1:{server.server_port}{path}"
        yield hook
