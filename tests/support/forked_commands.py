"""The `harvest` command in processes of its own that need not start Python first: what is raced or killed many times,
and what is asked of a server that the process of the tests answers.

They are forked from one that has imported the commands, so a moment at random is a moment of their work.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

__all__ = ["ForkedCommand", "begin_command", "fork_command"]

_COMMANDS = ("judge.extract", "judge.model", "judge.pool", "users.submit", "watch.bless", "watch.reaudit")
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, "aiohttp", *(f"harvest.cli.{name}" for name in _COMMANDS)])


def fork_command(words: Sequence[str], cwd: Path, said: Path, told: Path | None = None) -> BaseProcess:
    """Begin the command in `cwd`. said: the file that what it prints goes into, on both streams unless `told` is the
    file of its errors."""
    process = _FORKS.Process(target=_command, args=(list(words), cwd, said, told or said, dict(os.environ)))
    process.start()
    return process


def _command(words: list[str], cwd: Path, said: Path, told: Path, environment: dict[str, str]) -> None:
    from harvest.cli.main import main  # late: the process of the tests need not import it for this

    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    with said.open("ab") as out, told.open("ab") as errors:
        os.dup2(out.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    sys.argv = ["harvest", *words]
    main()


@dataclass(frozen=True)
class ForkedCommand:
    """One of these processes, with the methods of those that asyncio starts."""

    process: BaseProcess
    folder: tempfile.TemporaryDirectory[str]

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    async def communicate(self) -> tuple[bytes, bytes]:
        """What it printed, on each stream, when it has ended."""
        return await asyncio.to_thread(self._wait)

    def _wait(self) -> tuple[bytes, bytes]:
        self.process.join()
        with self.folder as folder:
            return Path(folder, "out").read_bytes(), Path(folder, "err").read_bytes()


def begin_command(words: Sequence[str]) -> ForkedCommand:
    """Begin the command in the working folder."""
    folder = tempfile.TemporaryDirectory()
    out, err = (Path(folder.name, name) for name in ("out", "err"))
    return ForkedCommand(fork_command(words, Path.cwd(), out, err), folder)
