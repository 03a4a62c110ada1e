"""Files that several commands write in turn; each command reads the current content before adding to it.

    with shared_file(path) as file:     waits for other writers
        file.data                       the current content
        file.append(line)               adds a line to the current content

The lock is on the file itself; there is no separate lock file. Content read without the lock may be out of date.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import fsync_file, fsync_folder, remove_leftovers, write_safely
from recordings.files.lock import RunLocked, flock
from topics.errors import Place

# Seconds to wait for others: each takes as long as judging an audit, and several may come at once.
PATIENCE = 120.0
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class SharedFile:
    """A file that only this process may write to. `data` is its whole content, b"" for a new file."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        self.data = b""
        while len(self.data) < os.fstat(descriptor).st_size:
            more = os.pread(descriptor, 2**24, len(self.data))
            if not more:
                break
            self.data += more

    def append(self, data: bytes, *, lines: bool = True) -> None:
        """Append `data` on a new line, and return once it is on the disk. A missing line end is added to the last line
        first, unless `lines` is false. If the write fails, the file keeps its content, and StoreError is raised."""
        whole = b"\n" + data if lines and self.data and not self.data.endswith(b"\n") else data
        left = memoryview(whole)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
            fsync_file(self._descriptor)
            if not self.data:
                fsync_folder(self.path.parent)
        except BaseException as fault:
            with suppress(OSError):
                os.ftruncate(self._descriptor, len(self.data))
            if isinstance(fault, OSError):
                raise StoreError(self.path, fault) from fault
            raise
        self.data += whole

    def replace(self, data: bytes) -> None:
        """Replace the whole content with `data`, completely or not at all. Raises StoreError."""
        try:
            write_safely(self.path, data)
        except OSError as fault:
            raise StoreError(self.path, fault) from fault
        self.data = data


@contextmanager
def shared_file(path: Path, patience: float = PATIENCE) -> Iterator[SharedFile]:
    """Open the file at `path`, which need not exist, so that no other process can write to it. Waits up to `patience`
    seconds for other writers, then raises RunLocked. A new file to which nothing was written is removed. Raises
    RunError if the path is not a regular file, and StoreError if the file cannot be written or locked."""
    descriptor = _lock_file(path, patience)
    try:
        file = SharedFile(path, descriptor)
        yield file
    finally:
        try:
            with suppress(OSError):
                if not os.fstat(descriptor).st_size and _is_at(descriptor, path):
                    path.unlink()  # an empty file says no less than none; who waits for it looks for it again
        finally:
            os.close(descriptor)


def _lock_file(path: Path, patience: float) -> int:
    remove_leftovers(path.parent, path.name)
    while True:
        try:
            descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o666)
        except OSError as fault:
            if fault.errno in (errno.EISDIR, errno.ENXIO, errno.ENODEV):
                raise _no_file(path) from None
            raise StoreError(path, fault) from fault
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _no_file(path)
            if not flock(descriptor, patience):
                raise RunLocked(
                    f"another process has been writing to this file for more than {patience:g} seconds",
                    place=Place(str(path)),
                    advice="wait for it to end, or stop it; then give the same command again",
                )
            if _is_at(descriptor, path):
                return descriptor
        except OSError as fault:
            os.close(descriptor)
            raise StoreError(path, fault, "lock") from fault
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # while it was waited for, another file was put in its place


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _no_file(path: Path) -> RunError:
    return RunError("this is a folder, device or pipe, not a file", place=Place(str(path)), allowed="a regular file")
