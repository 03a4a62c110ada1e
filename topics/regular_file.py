"""Reading only what is a regular file: a pipe would be waited on for ever, and a device may have no end."""

from __future__ import annotations

import errno
import os
import stat
from os import PathLike
from pathlib import Path

from topics.errors import InputError, Place

__all__ = ["missing_advice", "read_bytes", "read_regular"]


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


def read_bytes(path: str | PathLike[str], kind: str = "", *, largest: int = -1, advice: str | None = None) -> bytes:
    """The bytes of a file that a person named; kind names what it should be (`YAML text`).

    largest: in bytes, -1 for any size; advice: what to do about a larger one. Raises InputError where it is not there,
    no regular file, larger than that, or its name is no path.
    """
    place = Place.of(path)
    try:
        data = read_regular(path, largest + 1 if largest >= 0 else -1)
    except FileNotFoundError:
        raise InputError("no such file", place=place, advice=missing_advice(path)) from None
    except OSError as fault:
        if fault.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"{place.path[:40]!r}… is a text of {len(place.path):,} characters, and no path of a file",
                advice="give the path of a file that holds it",
            ) from None
        raise InputError(f"cannot be read: {fault.strerror}", place=place) from None
    except ValueError as fault:  # a NUL in the path itself
        raise InputError(f"this is no path: {fault}") from None
    if 0 <= largest < len(data):
        raise InputError(f"larger than {largest // 2**20} MiB: not {kind}", place=place, advice=advice)
    return data


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
