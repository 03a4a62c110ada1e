"""Check the path of an output file before anything is played or computed."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from recordings.files.leftovers import remove_leftovers
from topics.errors import InputError, Place


def check_output_file(
    path: Path,
    *,
    replace: bool = False,
    ours: Callable[[bytes], bool] | None = None,
    other: str = "choose another name",
) -> None:
    """Raise InputError for a path at which no file can be written, or at which an existing file must stay. replace: an
    existing file may be replaced. ours: True for the bytes of an earlier file of the same kind; then only such a file,
    or an empty one, may be replaced. other: advice if a file must stay. Removes temporary files of earlier commands
    that were killed while they wrote there."""
    place, folder = Place(str(path)), path.absolute().parent
    if not folder.is_dir():
        raise InputError("there is no such folder", place=Place(str(path.parent)), advice="make it first")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as fault:
        raise InputError(f"cannot be written: {fault.strerror}", place=place, advice=other) from None
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError("this is a folder, not a file", place=place, advice="choose the name of a file")
    if mode is not None and not replace:
        raise InputError("this file exists already", place=place, advice=other)
    if mode is not None and not stat.S_ISREG(mode):
        raise InputError("this is a device or pipe, not a file", place=place, advice="choose the name of a file")
    if mode is not None and ours is not None and not _is_replaceable(path, ours):
        raise InputError(
            "refusing to overwrite a file that Harvest did not write", place=place, advice="choose another name"
        )
    if not os.access(folder, os.W_OK | os.X_OK):  # the folder counts: files are replaced
        raise InputError(
            f"cannot be written: there is no permission to write in the folder {path.parent}", place=place, advice=other
        )
    remove_leftovers(folder, path.name)


def _is_replaceable(path: Path, ours: Callable[[bytes], bool]) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return not data or ours(data)
