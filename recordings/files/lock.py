"""The lock that keeps two processes from writing to the same run or file at the same time.

It is a lock of the operating system (flock), which is released when the process ends, even if the process is killed. If
several machines share a disk, the lock works between them only if the disk supports file locks between machines.
"""

import errno
import fcntl
import os
import re
import stat
import time
from pathlib import Path

from recordings.files.errors import RunError, StoreError
from topics.errors import Place

# Seconds between two attempts to get a lock.
_RETRY_SECONDS = 0.02
# Seconds that `is_locked` may hold a lock.
_CHECK_SECONDS = 0.1
_HOLDER_FORM = re.compile(rb"[0-9]{0,20}\n?")


class RunLocked(RunError):
    """Another process is writing to the run or the file."""


def flock(descriptor: int, patience: float = 0.0, retry: float = _RETRY_SECONDS) -> bool:
    """Lock an open file until it is closed. Returns False if another process still holds the lock after `patience`
    seconds, trying again every `retry` seconds. Raises OSError if the disk does not support locks."""
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
        # A signal is heard in between, which it would not be by a thread that waits in the kernel.
        time.sleep(retry)


class Lock:
    """The lock of a run, held from its creation until `release` or the end of the process. Raises RunLocked, naming the
    process that holds the lock; RunError if `lock` is not a lock file of Harvest; and StoreError if `lock` cannot be
    written."""

    def __init__(self, run: Path) -> None:
        path = run / "lock"
        # A link is not followed: its target would be overwritten with the number of this process.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            self._descriptor = os.open(path, flags, 0o666)
        except OSError as fault:
            if fault.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
                raise _no_lock(path) from None
            raise StoreError(path, fault, "lock") from fault
        try:
            self._acquire(path, run)
        except BaseException:
            self.release()
            raise

    def _acquire(self, path: Path, run: Path) -> None:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise _no_lock(path)
        holder = os.pread(self._descriptor, 32, 0)
        if not _HOLDER_FORM.fullmatch(holder):
            raise _no_lock(path)
        try:
            ours = flock(self._descriptor, _CHECK_SECONDS)
        except OSError as fault:
            raise StoreError(path, fault, "lock") from fault
        if not ours:
            raise RunLocked(
                f"this run is being written by another process (pid {holder.decode().strip() or 'unknown'})",
                place=Place(str(run)),
                advice="wait for it to end, or stop it; then give the same command again",
            )
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            pass  # the number is a courtesy; on a full disk the lock itself still holds

    def release(self) -> None:
        """Release the lock. A second call has no effect."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def is_locked(run: Path) -> bool:
    """Return True if a process is known to be writing to the run in this folder."""
    try:
        descriptor = os.open(run / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not flock(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _no_lock(path: Path) -> RunError:
    return RunError(
        "this is not the lock of a run (a link, a folder, or a file that is not empty)",
        place=Place(str(path)),
        advice="find out where it comes from, and remove it; the run then creates a new one",
    )
