"""An append-only file whose writers share their fsyncs.

Bytes are written at once, in the order of the calls, so that `kill -9` cannot take back what was written; making them
safe from a power cut is the slow part; it runs in a thread, and one fsync serves all waiting writers.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recordings.errors import StoreError
from recordings.evidence import fsync_file, fsync_folder

__all__ = ["Journal"]


class Journal:
    """One file, opened once, only ever appended to. syncs: how many fsyncs it took so far.

    After a failed write it takes no further lines, because the file may end in half a line.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.syncs = 0
        self._descriptor = descriptor
        self._fault: OSError | None = None
        self._written = self._synced = 0  # bytes handed over, and bytes known to be on the disk
        self._waiting: list[asyncio.Future[None]] = []
        self._committing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    @classmethod
    def create(cls, path: Path) -> Journal:
        """A new file at `path`. Raises FileExistsError where there is one, and other OSErrors."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fsync_folder(path.parent)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    @property
    def failed(self) -> bool:
        """Whether a write or an fsync failed, so that the end of the file is not sure."""
        return self._fault is not None

    def write(self, data: bytes) -> None:
        """Hand `data` to the operating system, whole. Raises StoreError."""
        self._check()
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as fault:
            self._fault = fault
            raise StoreError(self.path, fault, playing=True) from fault
        self._written += len(data)

    async def sync(self) -> None:
        """Return when everything written before this call is on the disk. Raises StoreError."""
        self._check()
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await done

    async def close(self) -> None:
        """Make safe what is not yet, and close the file. Raises StoreError; may be called twice."""
        if self._descriptor < 0:
            return
        try:
            if self._committing is not None:
                await self._committing
            if self._synced < self._written and self._fault is None:
                await self.sync()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1
            self._thread.shutdown(wait=False)

    def _check(self) -> None:
        if self._fault is not None:
            raise StoreError(self.path, self._fault, playing=True)
        if self._descriptor < 0:
            raise ValueError(f"{self.path} is closed")

    async def _commit(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                reached = self._written
                try:
                    self.syncs += 1
                    await loop.run_in_executor(self._thread, fsync_file, self._descriptor)
                except OSError as fault:
                    # Never tried again: after a failed fsync the system may have dropped the pages and say "done".
                    self._fault = fault
                    for done in batch + self._waiting:
                        if not done.done():
                            done.set_exception(StoreError(self.path, fault, "make safe", playing=True))
                    self._waiting = []
                else:
                    self._synced = reached
                    for done in batch:
                        if not done.done():  # its caller may have been cancelled; the bytes are safe all the same
                            done.set_result(None)
        finally:
            self._committing = None
