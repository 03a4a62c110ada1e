"""Servers in processes of their own, which end with whoever started them, even if that one is killed (see leash.py)."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError

__all__ = ["LeashedServer", "answers", "direct", "free_port", "leashed"]

LEASH = Path(__file__).with_name("leash.py")
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class LeashedServer:
    """A running program, and the file to which it writes its output."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait_for(self, look: Callable[[], _Found | None], seconds: float = 120.0) -> _Found:
        """Return what `look` finds as soon as it finds something. Raises AssertionError, with what the program wrote,
        if that one ends before, or if it takes too long."""
        deadline = time.monotonic() + seconds
        while not (found := look()):
            assert self.process.poll() is None, f"the server ended: {self.log.read_text()[-2000:]}"
            assert time.monotonic() < deadline, f"the server did not come up: {self.log.read_text()[-2000:]}"
            time.sleep(0.05)
        return found

    def first_line(self) -> str:
        """Return the first line that the program writes."""
        return self.wait_for(lambda: self.log.read_text().rpartition("\n")[0]).partition("\n")[0]


@contextlib.contextmanager
def leashed(
    command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[LeashedServer]:
    """A program for as long as the context lasts, in `folder` or in one of its own."""
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harvest-server-")))
        log = folder / "log"
        with log.open("w") as written:
            process = subprocess.Popen(
                [sys.executable, str(LEASH), *command],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        assert process.stdin is not None
        try:
            yield LeashedServer(process, log)
        finally:
            process.stdin.close()  # the leash ends the whole group
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def direct(*handlers: urllib.request.BaseHandler | type[urllib.request.BaseHandler]) -> urllib.request.OpenerDirector:
    """An opener of URLs that uses no proxy."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)


def answers(url: str, *, any_status: bool = False) -> bool:
    """Whether a server answers to a GET, with a success or with any status."""
    try:
        direct().open(url, timeout=5).close()
    except HTTPError as answer:
        answer.close()
        return any_status
    except OSError:
        return False
    return True
