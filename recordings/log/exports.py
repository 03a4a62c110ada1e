"""Writing of files that a person named. The files may be next to recordings but never replace them."""

import os
import stat
from os import PathLike
from pathlib import Path

from recordings.files.errors import StoreError
from recordings.files.evidence import remove_leftovers, write_safely
from recordings.log.run_folder import enclosing_run
from topics.errors import InputError, Place


def write_export(path: str | PathLike[str], data: bytes) -> None:
    """Write `data` to `path` completely or not at all, replacing an existing regular file. Raises the errors of
    `refuse_target` before anything is written, and StoreError if the file cannot be written."""
    target = refuse_target(path)
    remove_leftovers(target.parent, target.name)
    try:
        write_safely(target, data)
    except OSError as fault:
        raise StoreError(path, fault) from fault


def refuse_target(path: str | PathLike[str]) -> Path:
    """Return the path of a file that may be written. Raises InputError if `path` does not name a file, is not a regular
    file (a device would be replaced by a file), or is inside a run folder."""
    name = os.fspath(path)
    target = Path(name)
    if not name or not target.name:
        raise InputError(f"{name!r} is not a file name", allowed="the path of a file to write")
    place = Place(name)
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as fault:
        raise InputError(f"this file cannot be written: {fault.strerror}", place=place) from None
    except ValueError as fault:  # a NUL in the path itself
        raise InputError(f"this is not a path: {fault}") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device or pipe"
        raise InputError(f"this is {what}, not a file", place=place, allowed="the path of a file to write")
    run = enclosing_run(target.parent)
    if run is not None:
        raise InputError(
            f"this is inside the run folder {run}, which may contain only the run's own files",
            place=place,
            advice="write the file elsewhere",
        )
    return target
