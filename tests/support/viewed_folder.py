"""`harvest view` as people start it, and runs that are played before its eyes, an answer at a time."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tests.support.checkout import ROOT
from tests.support.forked_commands import ForkedCommand, read_while_it_runs
from tests.support.processes import heeding_signals

__all__ = ["USEFUL", "Player", "View", "playing", "viewing"]

_BOT = '''"""Waits for permission before each answer. An answer `break` is a fault."""
import json, pathlib, time
HERE = pathlib.Path(__file__).parent
ASKED = [0]

def answer(text):
    ASKED[0] += 1
    while int((HERE / "allowed").read_text() or 0) < ASKED[0]:
        time.sleep(0.01)
    words = json.loads((HERE / "words.json").read_text())
    said = words[(ASKED[0] - 1) % len(words)]
    if said == "break":
        raise RuntimeError("the assistant broke")
    return said
'''

_AUDIT = """format: harvest-audit/1
name: gated
topics: fairweb-45
only: [M001, M002, R001]
protocol: fairweb-two-round
trials: {trials}
systems: [{{name: A, driver: python, options: {{function: 'bot.py:answer'}}, attempts: 1, retries: 0}}]
"""

USEFUL = "Back to the Future https://www.imdb.com/title/tt0088763/"


@dataclass
class View:
    """The command, in a process of its own."""

    folder: Path
    port: int
    link: str
    process: ForkedCommand
    told: TextIO

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.link.partition("#")[2]

    def end(self, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Its code, and what it said at the end."""
        self.process.send_signal(by)
        return self.process.wait(20), self.told.read()


@contextmanager
def viewing(folder: Path, port: int = 0) -> Iterator[View]:
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    process, said = read_while_it_runs("view", folder, "--port", port, cwd=ROOT)
    told = ""
    while (found := re.search(r"^  (http://\S+#\S+)\n", told, re.MULTILINE)) is None:
        line = said.readline()
        assert line, told
        told += line
    view = View(folder, port, found[1], process, said)
    try:
        yield view
    finally:
        if process.poll() is None:
            view.end()
        said.close()


@dataclass
class Player:
    """A run that is played by a process, which waits for permission before each answer."""

    run: Path
    home: Path
    process: subprocess.Popen[bytes]

    def allow(self, answers: int) -> None:
        """Let it come to this many answers since it was started."""
        (self.home / "allowed.new").write_text(str(answers))
        (self.home / "allowed.new").rename(self.home / "allowed")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def playing(home: Path, run: Path, words: Sequence[str], trials: int = 2) -> Iterator[Player]:
    """Play three topics in `run`. words: the answers, one after the other, over and over."""
    home.mkdir(exist_ok=True)
    (home / "bot.py").write_text(_BOT, encoding="utf-8")
    (home / "words.json").write_text(json.dumps(words), encoding="utf-8")
    (home / "allowed").write_text("0")
    (home / "audit.yaml").write_text(_AUDIT.format(trials=trials), encoding="utf-8")
    command = [sys.executable, "-m", "harvest", "run", str(home / "audit.yaml"), "--out", str(run), "--no-report"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, preexec_fn=heeding_signals
    )
    player = Player(run, home, process)
    try:
        yield player
    finally:
        if process.poll() is None:
            player.kill()
