"""Saving what a damaged run still holds.

A line that cannot be taken says nothing certain about whose it was, and what stood in it is lost. So an attempt that it
may have belonged to is cut there: what went before stays, as an interrupted attempt, which is never scored and can be
gone on with. An attempt whose first line is lost is left out. Every other attempt stays as it is, and so does a copy of
the damaged file. There are no checksums of lines: a letter changed inside a text, or a line that is gone without a
contradiction (a `failed`, say, or a whole attempt), cannot be seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from recordings.attempts import Attempt, AttemptId, Attempts
from recordings.errors import RunError
from recordings.event_lines import FORMAT
from recordings.events import Event, TrialStarted
from recordings.json_text import Json
from recordings.run_folder import Run, event_files, ordered, read_events
from recordings.store import read_header
from topics.counting import counted
from topics.errors import Place

__all__ = ["DamagedFile", "salvaged"]


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file of events that could not be taken whole. told: what is wrong with it and what became of it, sentences."""

    path: Path
    told: tuple[str, ...]


@dataclass(slots=True)
class _Cut:
    place: Place
    later: int = 0


def salvaged(path: str | PathLike[str]) -> tuple[Run, tuple[DamagedFile, ...]]:
    """The run in the folder `path` with every attempt as far as it can be trusted, and the files that are damaged.

    Each file is read for itself: of an attempt that stands whole in two of them both are given. Raises RunError where
    the header or a file cannot be read, and for an unknown version.
    """
    folder = Path(path)
    header = read_header(folder)
    attempts: list[Attempt] = []
    damaged: list[DamagedFile] = []
    for file in event_files(folder):
        found = _Trusted(file)
        faults = read_events(file, found)
        told = (*faults, *found.told())
        if told:
            damaged.append(DamagedFile(file, told))
        attempts += found.found.values()
    damage = tuple(sentence for file in damaged for sentence in file.told)
    return Run(folder, header, tuple(ordered(attempts, header)), damage), tuple(damaged)


class _Trusted(Attempts):
    """The attempts of one file, each up to the first line that casts doubt on it."""

    def __init__(self, file: Path) -> None:
        super().__init__(keep_rows=True)
        self._file = file
        self._faults: list[str] = []
        self._cuts: dict[AttemptId, _Cut] = {}
        self._strays: dict[AttemptId, list[int]] = {}

    def take(self, event: Event, row: dict[str, Json], worker: str, place: Place) -> None:
        name = (event.trial_id, event.attempt)
        if name in self._cuts:
            self._cuts[name].later += 1
        elif name in self._strays or not (name in self.found or isinstance(event, TrialStarted)):
            self._strays.setdefault(name, []).append(place.line)
        else:
            super().take(event, row, worker, place)

    def refuse(self, fault: RunError, row: dict[str, Json] | None) -> None:
        if row is not None and _is_of_another_version(row):
            raise fault
        place = fault.place or Place(str(self._file))
        self._faults.append(f"{place}: {fault.what}")
        name = (row.get("id"), row.get("attempt")) if row is not None else None
        if name in self._cuts:
            return
        # What cannot be read may have been of any attempt that was under way, and two lines run into one of several.
        open_ones = [one for one, attempt in self.found.items() if not attempt.ended and one not in self._cuts]
        for one in [one for one in self.found if one == name] or open_ones:
            self.found[one].interrupt()
            self._cuts[one] = _Cut(place)

    def told(self) -> list[str]:
        """What is wrong, and what became of each attempt that it touches."""
        told = list(self._faults)
        for name, cut in self._cuts.items():
            place = Place(cut.place.path, cut.place.line)
            later = f", {counted(cut.later, 'later line')} left out" if cut.later else ""
            told.append(f"{place}: {_whose(self.found[name])} is cut here and counts as interrupted{later}")
        for (trial_id, number), lines in self._strays.items():
            place = Place(str(self._file), lines[0])
            told.append(
                f"{place}: attempt {number} at trial {trial_id} was not started in this file; left out "
                f"({counted(len(lines), 'line')}, the last at {lines[-1]})"
            )
        return told


def _whose(attempt: Attempt) -> str:
    key = attempt.started.key
    return f"{key.system}, {key.topic}, trial {key.trial}, attempt {attempt.started.attempt}"


def _is_of_another_version(row: dict[str, Json]) -> bool:
    """Whether it opens a file of another major version, as far as can be told from a line that may be damaged."""
    name = FORMAT.partition("/")[0]
    return row.get("event") == "opened" and re.fullmatch(rf"{name}/\d+(\.\d+)*", str(row.get("format"))) is not None
