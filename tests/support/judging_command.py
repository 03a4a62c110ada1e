"""`harvest judge page` as people start it: in a process of its own, on a port that stays."""

from __future__ import annotations

import io
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.support.checkout import ROOT
from tests.support.forked_commands import ForkedCommand, read_while_it_runs

__all__ = ["Server", "serving"]


@dataclass
class Server:
    """The command, in a process of its own, on a port that stays. links: by person, new at every start."""

    run: Path
    words: tuple[str, ...]
    people: tuple[str, ...] = ("anna", "ben")
    port: int = 0
    links: dict[str, str] = field(default_factory=dict)
    process: ForkedCommand | None = None
    told: TextIO = field(default_factory=io.StringIO)

    def start(self) -> None:
        if not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        people = [word for name in self.people for word in ("--author", name)]
        kind = ("pairs", "--serve") if "--out" in self.words else ("page",)
        words = ("judge", *kind, self.run, "--port", self.port, *people, *self.words)
        self.told.close()
        self.process, self.told = read_while_it_runs(*words, cwd=ROOT)
        self.links = {}
        told = ""
        while len(self.links) < len(self.people):
            line = self.told.readline()
            told += line
            assert line, told
            if link := re.fullmatch(r"  (\S+)\s+(http://\S+#\S+)\n", line):
                self.links[link[1]] = link[2]

    def end(self, by: signal.Signals) -> tuple[int, str]:
        """Its code, and what it said at the end."""
        assert self.process is not None
        self.process.send_signal(by)
        return self.process.wait(20), self.told.read()


@contextmanager
def serving(run: Path, *words: str, people: tuple[str, ...] = ("anna", "ben")) -> Iterator[Server]:
    server = Server(run, words, people)
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.end(signal.SIGINT)
        server.told.close()
