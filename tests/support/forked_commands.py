"""The `harvest` command in processes of its own that need not start Python first: what is raced, killed or served.

They are forked from one that has imported the commands, so a moment at random is a moment of their work. To start
Python and to import the program takes longer than most of what they do; that this works is proven elsewhere
(tests/harvest/test_wheel.py), and by every test that needs a session, a terminal or a group of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, TextIO

from tests.support.processes import heeding_signals

__all__ = ["ForkedCommand", "fork_command", "read_while_it_runs", "run_forked", "without_report"]

_COMMANDS = (
    "judge.extract",
    "judge.model",
    "judge.page",
    "judge.pairs",
    "judge.pool",
    "run",
    "users.submit",
    "view",
    "watch.bless",
    "watch.reaudit",
)
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [__name__, "aiohttp", "starlette.applications", "uvicorn", *(f"harvest.cli.{name}" for name in _COMMANDS)]
)


def without_report(words: Sequence[object]) -> list[str]:
    """The words of a command, which writes a report only if they say so: it takes as long as everything else."""
    found = [str(word) for word in words]
    plays = found[:1] == ["run"] or found[:2] == ["watch", "run"]
    return [*found, "--no-report"] if plays and not {"--report", "--no-report"} & set(found) else found


def fork_command(words: Sequence[str], cwd: Path, said: Path) -> BaseProcess:
    """Begin the command in `cwd`. said: the file that what it prints goes into, on both streams."""
    with said.open("wb") as file:
        return _begin(words, cwd, None, file, file)


class ForkedCommand:
    """A command that was begun, with what tests use of `subprocess.Popen`. environment: this process's, unless given.

    said: the file that both streams go into; without it, `communicate` returns them. session: in one of its own.
    """

    def __init__(
        self,
        *words: object,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        said: IO[bytes] | None = None,
        session: bool = False,
    ) -> None:
        out, err = (said or tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - `communicate` closes them
        self._streams = (out, err)
        own = dict(os.environ if environment is None else environment)
        self._process = _begin(words, cwd or Path.cwd(), own, *self._streams, session=session)
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("harvest", timeout or 0.0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Wait for the end, and return what was printed. Raises subprocess.TimeoutExpired."""
        self.wait(timeout)
        found = []
        for stream in self._streams:
            with stream:
                stream.seek(0)
                found.append(stream.read())
        return found[0], found[1]


def read_while_it_runs(*words: object, cwd: Path) -> tuple[ForkedCommand, TextIO]:
    """Begin the command, and return it with what it prints on both streams, to be read line by line."""
    source, filled = os.pipe()
    with os.fdopen(filled, "wb") as said:
        process = ForkedCommand(*words, cwd=cwd, said=said)
    return process, os.fdopen(source, encoding="utf-8")


def run_forked(
    *words: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None, timeout: float = 300.0
) -> subprocess.CompletedProcess[str]:
    """What the command comes to, as `subprocess.run` says it. It is ended where it takes longer than `timeout`."""
    process = ForkedCommand(*words, cwd=cwd, environment=environment)
    try:
        out, err = (stream.decode() for stream in process.communicate(timeout))
    finally:
        process.kill()
    return subprocess.CompletedProcess(["harvest", *map(str, words)], process.wait(), out, err)


def _begin(
    words: Sequence[object],
    cwd: Path,
    environment: dict[str, str] | None,
    out: IO[bytes],
    err: IO[bytes],
    *,
    session: bool = False,
) -> BaseProcess:
    streams = [Connection(os.dup(stream.fileno())) for stream in (out, err)]  # what a fork can be handed
    process = _FORKS.Process(target=_command, args=(without_report(words), cwd, environment, session, *streams))
    process.start()
    for stream in streams:
        stream.close()
    return process


def _command(
    words: list[str], cwd: Path, environment: dict[str, str] | None, session: bool, out: Connection, err: Connection
) -> None:
    from harvest.cli.main import main  # late: the process of the tests need not import it for this

    if session:
        os.setsid()
    os.chdir(cwd)
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
    heeding_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python does when it starts
    for number, (name, stream) in enumerate((("stdout", out), ("stderr", err)), 1):
        os.dup2(stream.fileno(), number)
        stream.close()
        # Of the old one, Python would still hold that it is a file, or that it is none.
        setattr(sys, name, os.fdopen(number, "w", 1 if name == "stderr" else -1, "utf-8", closefd=False))
    sys.argv = ["harvest", *words]
    main()
