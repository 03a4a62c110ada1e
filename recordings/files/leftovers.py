"""Temporary files of killed writers: the next writer recognises them by their names and removes them.

A writer keeps its temporary file locked until the file has its real name. So one that can be locked has no writer any
more, whichever machine or container it was in. On a disk without locks, all of them stay.
"""

import os
import re
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from recordings.files.lock import flock

_TEMPORARY = re.compile(r"\.(.+)\.[0-9]+-[0-9]+\.tmp")
_numbers = count(1)


def new_temporary(path: Path, mode: int = 0o666) -> tuple[Path, BinaryIO]:
    """Create a file next to `path`, locked until closed, and return it with its name. mode: of access. Raises
    OSError."""
    while True:
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.tmp")
        file = os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")
        try:
            with suppress(OSError):  # a disk without locks: nobody will remove it there either
                flock(file.fileno(), patience=1)
            if os.fstat(file.fileno()).st_nlink:
                return temporary, file
        except BaseException:
            file.close()
            temporary.unlink(missing_ok=True)
            raise
        file.close()  # it was removed as a leftover before it was locked


def remove_leftovers(folder: Path, of: str | None = None) -> None:
    """Remove temporary files of killed writers in `folder`. of: the name of the file they were writing; None for any.
    Files that cannot be removed stay: they are never read, and an error would stop work that could be done."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = _TEMPORARY.fullmatch(entry.name)
            if found and of in (None, found[1]) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove(Path(entry.path))


def _remove(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # Its writer may have given it its real name since it was found: then this is another file, or none.
        if flock(descriptor) and os.path.samestat(os.fstat(descriptor), path.lstat()):
            path.unlink()
    finally:
        os.close(descriptor)
