"""The `harvest` command in this process: to start Python for each command would take most of the time of the tests.

What needs a process of its own, signals, pipes, closed streams and late imports, starts one itself.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from subprocess import CompletedProcess
from typing import TextIO
from unittest import mock

import pytest

from harvest.cli.main import main
from tests.support.forked_commands import without_report

__all__ = ["harvest"]


def harvest(
    *words: object, cwd: Path | None = None, width: int | None = None, standard_input: str = ""
) -> CompletedProcess[str]:
    """What the command comes to, as `subprocess.run` says it; cwd: where it is run. width: of the terminal.

    standard_input: at most 65,536 bytes, what a pipe holds with nobody reading.
    """
    arguments = without_report(words)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(mock.patch("sys.stdin", stack.enter_context(_pipe(standard_input.encode()))))
        if width is not None:
            stack.enter_context(mock.patch.dict(os.environ, COLUMNS=str(width)))
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        with pytest.raises(SystemExit) as end:
            main(arguments)
    assert end.value.code is None or isinstance(end.value.code, int)
    return CompletedProcess(["harvest", *arguments], end.value.code or 0, *(_written(stream) for stream in (out, err)))


def _pipe(data: bytes) -> TextIO:
    """Its end to read from; the other is closed."""
    assert len(data) <= 65_536
    source, filled = os.pipe()
    os.write(filled, data)
    os.close(filled)
    return os.fdopen(source, encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
