"""The state that processes of one machine share without a scheduler: a lock and a board for each system, in a folder.

Locks are those of the operating system (`recordings.files.lock`), which releases them as soon as a process dies. The
dead process may have sent a turn just before, so the next holder waits for the gap.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harvest.cluster.shared_pace import Board, Semaphore
from recordings.files.lock import flock

_RETRY_SECONDS = 0.002  # what it adds to the gap between two turns, at most


class FolderSemaphore:
    """A semaphore with one lease, for all processes with the same `path`. `abandoned` is True if the previous holder
    died while it held the semaphore."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self.abandoned = False

    def acquire(self, timeout: float | None = None) -> bool:
        """Return True once the semaphore is acquired, or False after `timeout` seconds."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        ours = flock(descriptor, math.inf if timeout is None else timeout, _RETRY_SECONDS)
        if ours:
            self._descriptor = descriptor
            self.abandoned = os.fstat(descriptor).st_size > 0
            os.pwrite(descriptor, b"held", 0)
        else:
            os.close(descriptor)
        return ours

    def release(self) -> bool:
        """Release the semaphore. Returns False if it was not held."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return False
        os.ftruncate(descriptor, 0)
        os.close(descriptor)
        return True


class FolderBoard:
    """A mapping with a file for each key, which is replaced as a whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self) -> Mapping[str, Any]:
        return {file.stem: json.loads(file.read_bytes()) for file in self._folder.glob("*.json")}

    def write(self, key: str, value: Any) -> None:
        new = self._folder / f"{key}.{os.getpid()}.new"
        new.write_text(json.dumps(value), encoding="utf-8")
        new.replace(self._folder / f"{key}.json")


def folder_state(folder: Path, name: str) -> tuple[Semaphore, Board]:
    """Return the state that all processes with this folder share under `name`."""
    board = FolderBoard(folder / name)  # which makes the folder
    return FolderSemaphore(folder / f"{name}.lock"), board
