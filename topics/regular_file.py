"""Reading of regular files only, because a pipe could block forever and a device may have no end.

Files that were found in a folder are read without following links, because a folder from elsewhere may link to any
file on this machine.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from topics.errors import InputError, Place, nearest_name

_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BLOCK = 2**20
_MOST_NAMES = 1000  # the names in a folder that are compared with a misspelt name


def read_regular(path: str | PathLike[str], most: int = -1) -> bytes:
    """Return the bytes of the regular file at `path`, at most `most` bytes (-1: all). Symbolic links are followed. If
    the file is missing or not a regular file, OSError is raised immediately, with an explanation in `strerror`."""
    with open_regular(path) as file:
        return file.read(most)


def open_regular(path: str | PathLike[str]) -> BinaryIO:
    """Open the regular file at `path` for reading. Raises OSError as `read_regular` does."""
    # Opened without blocking: a pipe without a writer must not hang before its type is known.
    try:
        descriptor = os.open(path, _FILE_FLAGS)
    except OSError as fault:
        raise _explain_fault(fault, path, None) from None
    return _open_descriptor(descriptor, path)


def read_inside(folder: str | PathLike[str], name: str | PathLike[str], most: int = -1) -> bytes:
    """Return the bytes of the regular file `name` in or below `folder`, at most `most` bytes (-1: all). The folder
    itself may be a link; below the folder, no link is followed. Raises OSError as `read_regular` does."""
    with open_inside(folder, name) as file:
        return file.read(most)


def open_inside(folder: str | PathLike[str], name: str | PathLike[str]) -> BinaryIO:
    """Open the regular file `name` in or below `folder` for reading. Raises OSError as `read_inside` does."""
    path = Path(name)
    if path.is_absolute() or not path.parts or ".." in path.parts:
        raise OSError(errno.EINVAL, "this path leads outside the folder", os.fspath(name))
    whole = Path(folder) / path
    at = os.open(folder, _FOLDER_FLAGS)
    try:
        for part in path.parts[:-1]:
            below = _open_file(part, _FOLDER_FLAGS, at, whole)
            os.close(at)
            at = below
        descriptor = _open_file(path.name, _FILE_FLAGS, at, whole)
    finally:
        os.close(at)
    return _open_descriptor(descriptor, whole)


def list_entries(folder: str | PathLike[str], *patterns: str) -> list[Path]:
    """Return the sorted entries of `folder` that match a path with one pattern for each level. Unlike `Path.glob`,
    this function follows no links below `folder`: a link in the position of a folder is itself returned, so that
    reading it reports an error."""
    found = [Path(folder)]
    for level, pattern in enumerate(patterns):
        inside: list[Path] = []
        for one in found:
            if level and one.is_symlink():
                inside.append(one)
            elif one.is_dir():
                inside += sorted(entry for entry in one.iterdir() if fnmatchcase(entry.name, pattern))
        found = inside
    return found


def _open_file(name: str, flags: int, folder: int, whole: Path) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as fault:
        raise _explain_fault(fault, whole, folder, name) from None


def _explain_fault(
    fault: OSError, path: str | PathLike[str], folder: int | None, name: str | PathLike[str] | None = None
) -> OSError:
    try:
        mode = os.stat(path if name is None else name, dir_fd=folder, follow_symlinks=folder is None).st_mode
    except (OSError, ValueError):
        return fault
    if stat.S_ISLNK(mode):
        return OSError(errno.EINVAL, "this is a link, and links are not followed here", os.fspath(path))
    if stat.S_ISSOCK(mode):
        return OSError(errno.EINVAL, "this is a socket, not a file", os.fspath(path))
    return fault


def _open_descriptor(descriptor: int, path: str | PathLike[str]) -> BinaryIO:
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"this is {_kind_name(mode)}, not a file", os.fspath(path))
    return open(descriptor, "rb")


def read_bytes(path: str | PathLike[str], kind: str = "", *, largest: int = -1, advice: str | None = None) -> bytes:
    """Return the bytes of a file that a user named. `kind` is the expected content (`YAML text`). `largest` is in
    bytes, -1 for any size, and `advice` is the advice for a larger file. Raises InputError if the file is missing,
    not a regular file, or too large, or if its name is not a path."""
    with _explained(path):
        data = read_regular(path, largest + 1 if largest >= 0 else -1)
    if 0 <= largest < len(data):
        what = f"the file is larger than {largest // 2**20} MiB, which is too large for {kind}"
        raise InputError(what, place=Place.of(path), advice=advice)
    return data


def read_blocks(path: str | PathLike[str]) -> Iterator[bytes]:
    """Yield the bytes of a file that a user named, at most 1 MiB at a time. Raises InputError as `read_bytes` does."""
    with _explained(path), open_regular(path) as file:
        while block := file.read(_BLOCK):
            yield block


@contextmanager
def _explained(path: str | PathLike[str]) -> Iterator[None]:
    place = Place.of(path)
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", place=place, advice=missing_advice(path)) from None
    except OSError as fault:
        if fault.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"{place.path[:40]!r}… has {len(place.path):,} characters and is not the path of a file",
                advice="give the path of a file with this text",
            ) from None
        raise InputError(f"the file cannot be read: {fault.strerror}", place=place) from None
    except ValueError as fault:  # a NUL in the path itself
        raise InputError(f"this is not a path: {fault}") from None


def kind_of(path: str | PathLike[str]) -> str:
    """Return "" for a regular file, otherwise its kind (`a pipe`). Links are not followed. Raises OSError."""
    mode = os.lstat(path).st_mode
    return "" if stat.S_ISREG(mode) else _kind_name(mode)


def _kind_name(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device"


def missing_advice(path: str | PathLike[str]) -> str:
    """Return advice for a path that does not exist: a similar name in the same folder, and where paths start."""
    near = _similar_path(Path(path))
    check = f"did you mean {near}?" if near else "check the path;"
    if Path(path).is_absolute():
        return check.rstrip(";")
    try:
        return f"{check} relative paths start at {Path.cwd()}"
    except OSError:  # the working folder was removed
        return f"{check} relative paths start at the working folder, which is gone"


def _similar_path(path: Path) -> Path | None:
    try:
        with os.scandir(path.parent) as entries:
            near = nearest_name(path.name, (entry.name for entry in islice(entries, _MOST_NAMES)))
    except (OSError, ValueError):  # there is no such folder, or it cannot be listed
        return None
    return path.with_name(near) if near else None
