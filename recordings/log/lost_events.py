"""Files of events that are gone, or were emptied, although their chain is still there.

Without this check, their conversations would look as if they had not been played yet. What a killed writer or a power
cut can leave does not count as lost: a file of events is on the disk before its chain is begun, it may be empty next
to a chain that was not closed, and runs of earlier versions have no chains. No chain is read completely.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from recordings.files.digests import read_object
from recordings.log.chain import chain_file, closed_lines
from topics.regular_file import open_inside


def lost_events(run: Path) -> Iterator[tuple[Path, str]]:
    """Yield each lost file of events in the run folder `run`, and what is known of it."""
    with os.scandir(run) as inside:
        # The size is read after the chain: a writer may be running, and files only grow.
        names = sorted(entry.name for entry in inside if entry.name.startswith("trials-"))
    for name in names:
        file = run / name
        if file.suffix == ".chain":
            events = file.with_suffix(".jsonl")
            if events.name not in names and not os.path.lexists(events):
                yield events, f"this file of events is gone, and its chain ({name}) is still here"
        elif file.suffix == ".jsonl" and _is_empty(file) and _held_lines(file, names) and _is_empty(file):
            yield file, "this file of events is empty, and a chain shows that it held lines"


def _is_empty(file: Path) -> bool:
    try:
        found = file.lstat()
    except OSError:  # reported when it is read
        return False
    return stat.S_ISREG(found.st_mode) and not found.st_size


def _held_lines(events: Path, names: list[str]) -> bool:
    """True if its chain was closed, or a later process saw lines in it."""
    if closed_lines(chain_file(events)) is not None:
        return True
    for name in names:
        if name.endswith(".chain"):
            try:
                with open_inside(events.parent, name) as file:
                    opening = read_object(file.readline()) or {}
            except OSError:
                continue
            before = opening.get("before")
            said = before.get(events.name) if isinstance(before, dict) else None
            if isinstance(said, dict) and said.get("bytes"):
                return True
    return False
