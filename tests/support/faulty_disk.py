"""A file system that fails: within `faulty_disk(…)`, changes under a folder meet the operating system's errors.

It stands between this process and the real file system, at the calls by which Python changes it: `os.open` to create,
`io.open` to write, `os.write`, `os.fsync`, `os.ftruncate`, `os.mkdir`, `os.replace`. Reading goes on as it does on a
disk that is full or read-only.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

__all__ = ["FaultyDisk", "faulty_disk"]


@dataclass
class FaultyDisk:
    """folder: only what lies in it. after: how many changes succeed. number: of the error of every later one. once:
    only the first of them fails, as where a single block is bad. changes: each that was tried, as name and path."""

    folder: Path
    after: int
    number: int = errno.ENOSPC
    once: bool = False
    changes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many changes failed."""
        return min(1, self._late) if self.once else self._late

    @property
    def _late(self) -> int:
        return max(0, len(self.changes) - self.after)

    def change(self, call: str, path: str) -> None:
        """Raises OSError where this change fails."""
        if not Path(path).is_relative_to(self.folder):
            return
        self.changes.append((call, path))
        if self._late and (not self.once or self._late == 1):
            raise OSError(self.number, os.strerror(self.number), path)


@contextlib.contextmanager
def faulty_disk(disk: FaultyDisk) -> Iterator[FaultyDisk]:
    """The disk, for the time of a `with`, for this process and all its threads."""
    real: dict[str, Callable[..., Any]] = {
        name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", "mkdir", "replace")
    }
    real_open = io.open

    def opened(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & os.O_CREAT and isinstance(path, (str, os.PathLike)):
            disk.change("open", os.fspath(path))
        return int(real["open"](path, flags, *rest, **named))

    def of_descriptor(name: str) -> Callable[..., Any]:
        def call(descriptor: int, *rest: Any) -> Any:
            disk.change(name, str(Path(f"/proc/self/fd/{descriptor}").readlink()))
            return real[name](descriptor, *rest)

        return call

    def of_path(name: str) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **named: Any) -> Any:
            disk.change(name, os.fspath(path))
            return real[name](path, *rest, **named)

        return call

    def file_opened(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if isinstance(file, (str, os.PathLike)) and set(mode) & set("wxa+"):
            disk.change("open", os.fspath(file))
        return real_open(file, mode, *rest, **named)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch("os.open", opened))
        stack.enter_context(mock.patch("io.open", file_opened))
        stack.enter_context(mock.patch("builtins.open", file_opened))
        for name in ("write", "fsync", "ftruncate"):
            stack.enter_context(mock.patch(f"os.{name}", of_descriptor(name)))
        for name in ("mkdir", "replace"):
            stack.enter_context(mock.patch(f"os.{name}", of_path(name)))
        yield disk
