"""The lock that keeps two processes of one machine from writing the same run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from recordings.errors import RunError, StoreError
from topics.errors import Place

__all__ = ["Lock"]


class Lock:
    """Held from its making until `release`, or until the process ends, however it ends.

    Raises RunError, naming the process that holds it, and StoreError where the folder cannot be written.
    """

    def __init__(self, run: Path) -> None:
        path = run / "lock"
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            holder = os.read(self._descriptor, 32).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            if not isinstance(fault, BlockingIOError):
                raise StoreError(path, fault, "lock") from fault
            raise RunError(
                f"this run is being written by another process (pid {holder or 'unknown'})",
                place=Place(str(run)),
                advice="wait for it to end, or stop it; then give the same command again",
            ) from None
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            pass  # the number is a courtesy; on a full disk the lock itself still holds

    def release(self) -> None:
        """Let go; may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
