"""Errors of a run folder.

    HarvestError
    ├── StoreError              data could not be written to the disk: stop asking systems, repair the disk, resume
    └── InputError
        └── RunError            a run folder, or a file in it, cannot be used; the error names the file and line

A `StoreError` never affects earlier events: every event for which `append` returned stays on disk.
"""

import errno
import os
from pathlib import Path

from topics.errors import HarvestError, InputError, Place
from topics.regular_file import missing_advice

_ADVICE = {
    errno.ENOSPC: "free some space on that disk, then give the same command again",
    errno.EDQUOT: "your quota on that disk is used up: free some space, then give the same command again",
    errno.EFBIG: "files may not grow further here (ulimit -f): raise the limit, then give the same command again",
    errno.EROFS: "the disk is mounted read-only: change that, then give the same command again",
}
# Replacements for messages of the operating system that do not name the problem.
_CLEARER_REASONS = {
    errno.EEXIST: "something else exists here already",
    errno.ENOTEMPTY: "something else exists here already",
    errno.ENOTDIR: "there is a file where a folder is needed",
    errno.EISDIR: "there is a folder where a file is needed",
}
_DEFAULT_ADVICE = "check the path and the disk, then give the same command again"


class StoreError(HarvestError):
    """A failed write to the file `path`. `fault` is the operating system's error, and `doing` the action that failed.

    If a run was being written (`playing`), every event whose `append(…, sync=True)` returned is on disk, and the
    current event may or may not be. The writer accepts no more events, because they would follow a half-written line.
    """

    def __init__(
        self, path: str | os.PathLike[str], fault: OSError, doing: str = "write", *, playing: bool = False
    ) -> None:
        self.path, self.fault, self.doing = os.fspath(path), fault, doing
        reason, advice = describe_fault(fault)
        safe = ""
        if playing:
            safe = (
                "  safe: every turn that was acknowledged before this is on disk; this run accepts no further turns\n"
            )
            advice += ": it resumes where it stopped"
        super().__init__(f"cannot {doing} {self.path}: {reason}\n{safe}  do: {advice}")


def describe_fault(fault: OSError) -> tuple[str, str]:
    """Describe an error of the operating system in words, and return the description and advice."""
    number = fault.errno or 0
    return _CLEARER_REASONS.get(number, fault.strerror or str(fault)), _ADVICE.get(number, _DEFAULT_ADVICE)


class RunError(InputError):
    """An unusable run folder: it is damaged, of an unknown version, in use, or not a run at all."""


def no_run(path: str | os.PathLike[str]) -> RunError:
    """Return the error for a `path` that is not a run folder. If it contains runs, the advice names one of them."""
    folder, place = Path(path), Place(os.fspath(path))
    if not os.path.lexists(folder):
        return RunError("there is no such folder", place=place, advice=missing_advice(folder))
    if not folder.is_dir():
        return RunError(
            "this is a file, not a run folder", place=place, advice="name the folder that its run.json is in"
        )
    try:
        runs = sorted(str(one.parent) for one in folder.glob("*/run.json"))
    except OSError:
        runs = []
    advice = f"name one of the runs in it ({len(runs)}), such as {runs[-1]}" if runs else "check the path"
    return RunError("this is not a run folder: it has no run.json", place=place, advice=advice)
