"""The `harvest` command in processes of its own that need not start Python first: what is raced or killed many times.

They are forked from one that has imported the commands, so a moment at random is a moment of their work.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

__all__ = ["fork_command"]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [__name__, *(f"harvest.cli.{name}" for name in ("watch.bless", "judge.pool", "watch.reaudit"))]
)


def fork_command(words: Sequence[str], cwd: Path, said: Path) -> BaseProcess:
    """Begin the command in `cwd`. said: the file that what it prints goes into, on both streams."""
    process = _FORKS.Process(target=_command, args=(list(words), cwd, said))
    process.start()
    return process


def _command(words: list[str], cwd: Path, said: Path) -> None:
    from harvest.cli.main import main  # late: the process of the tests need not import it for this

    os.chdir(cwd)
    with said.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    sys.argv = ["harvest", *words]
    main()
