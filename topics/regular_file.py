"""Reading only what is a regular file: a pipe would be waited on for ever, and a device may have no end."""

from __future__ import annotations

import errno
import os
import stat
from os import PathLike
from pathlib import Path

__all__ = ["missing_advice", "read_regular"]


def read_regular(path: str | PathLike[str], most: int = -1) -> bytes:
    """The bytes of the regular file at `path`, at most `most` of them (-1: all); symbolic links are followed.

    Raises OSError, at once and with words for a person in `strerror`, where it is not there or no regular file.
    """
    # Opened without waiting: a pipe that nobody writes to must not hang before it can be asked what it is.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"this is {_called(mode)}, not a file", os.fspath(path))
    with open(descriptor, "rb") as file:  # noqa: PTH123  what is open already has no path
        return file.read(most)


def _called(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device"


def missing_advice(path: str | PathLike[str]) -> str:
    """What to do where there is no file at `path`."""
    if Path(path).is_absolute():
        return "check the path"
    try:
        return f"check the path; relative paths start at {Path.cwd()}"
    except OSError:  # the folder one stands in was removed
        return "check the path; relative paths start at the working folder, which is gone"
