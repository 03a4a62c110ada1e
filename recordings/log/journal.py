"""An append-only file whose writers share their fsyncs.

Lines are written in the order of the calls. Lines that were passed to the operating system survive `kill -9`. An fsync,
which protects lines from a power cut, is slow. So a thread makes one write and one fsync for all waiting writers.
"""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recordings.files.errors import StoreError
from recordings.files.evidence import fsync_file, fsync_folder
from recordings.log.chain import FLUSH, Chain


class Journal:
    """One file, opened once and only appended to.

    `syncs` is the number of fsyncs so far. `chain` is the hash chain of the lines. It is updated a few lines at a time,
    after the lines are in the file, so that few lines have no hash if the process is killed. After a failed write no
    more lines are accepted, because the file may end in half a line.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.chain: Chain | None = None
        self.syncs = 0
        self._descriptor = descriptor
        self._fault: OSError | None = None
        self._pending: list[bytes] = []  # lines that are written with the next ones
        self._written = self._synced = 0  # lines handed to the operating system, and lines known to be on the disk
        self._waiting: list[asyncio.Future[None]] = []
        self._committing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    @classmethod
    def create(cls, path: Path) -> "Journal":
        """Create a file at `path`. Raises FileExistsError if `path` exists, and other OSErrors."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fsync_folder(path.parent)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    @property
    def has_failed(self) -> bool:
        """True if a write or an fsync failed, so that the end of the file is uncertain."""
        return self._fault is not None

    def write(self, *lines: bytes) -> None:
        """Pass complete `lines` to the operating system. Raises StoreError."""
        self._check()
        self._pending += lines
        self._hand_over()

    async def sync(self, *lines: bytes) -> None:
        """Write `lines`, and return when these and all earlier lines are on the disk. Raises StoreError."""
        self._check()
        self._pending += lines
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await done

    async def close(self) -> None:
        """Sync everything and close the file. A second call has no effect. Raises StoreError."""
        if self._descriptor < 0:
            return
        try:
            if self._committing is not None:
                await self._committing
            if self._fault is None and (self._pending or self._synced < self._written):
                await self.sync()
        finally:
            try:
                if self._fault is None:  # an interrupt may have come while we waited
                    self._hand_over()
            finally:
                self.abandon()

    def abandon(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._thread.shutdown(wait=False)

    def _check(self) -> None:
        if self._fault is not None:
            raise StoreError(self.path, self._fault, playing=True)
        if self._descriptor < 0:
            raise ValueError(f"{self.path} is closed")

    def _hand_over(self) -> None:
        lines, self._pending = self._pending, []
        for first in range(0, len(lines), FLUSH):
            few = lines[first : first + FLUSH]
            view = memoryview(b"".join(few))
            try:
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError as fault:
                self._fault = fault
                raise StoreError(self.path, fault, playing=True) from fault
            self._written += len(few)
            if self.chain is not None:
                self.chain.add(few)
                self.chain.flush()

    async def _commit(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    self._hand_over()
                    reached = self._written
                    self.syncs += 1
                    await loop.run_in_executor(self._thread, fsync_file, self._descriptor)
                except StoreError as fault:
                    self._fail(batch, fault)
                except OSError as fault:
                    # Never retried: after a failed fsync the system may drop the pages and report success.
                    self._fault = fault
                    self._fail(batch, StoreError(self.path, fault, "make safe", playing=True))
                else:
                    self._synced = reached
                    for done in batch:
                        if not done.done():  # its caller may have been cancelled; the bytes are safe anyway
                            done.set_result(None)
        finally:
            self._committing = None

    def _fail(self, batch: list[asyncio.Future[None]], fault: StoreError) -> None:
        for done in batch + self._waiting:
            if not done.done():
                done.set_exception(StoreError(fault.path, fault.fault, fault.doing, playing=True))
        self._waiting = []
