"""Recovery of the undamaged parts of a damaged run.

The content of an unreadable line is lost, and the line may have belonged to any of several attempts. So each of these
attempts is cut at that line: the earlier lines become an interrupted attempt, which is never scored and can be resumed.
An attempt without its first line is left out. Every other attempt is unchanged, and a copy of the damaged file is kept.
Hashes are not checked: a changed character in a text, or a removed line that causes no contradiction
(`recordings.checking.contradictions`), goes unnoticed. An attempt that is both in a file and in a copy of the file is
used once. If the two versions differ, only the lines before the first difference are trusted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from os import PathLike
from pathlib import Path

from recordings.checking.contradictions import Contradictions
from recordings.events.attempts import Attempt, AttemptId, Attempts
from recordings.events.event_lines import FORMAT, decode
from recordings.events.events import Event, TrialStarted
from recordings.files.errors import RunError
from recordings.files.json_text import Json
from recordings.log.chain import chain_file
from recordings.log.header import read_header
from recordings.log.run_folder import Run, event_files, lost_events, order_attempts, read_events
from topics.counting import pluralize
from topics.errors import Place


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A damaged file of events, or the chain of a lost file. `told` has sentences on the damage and its effects."""

    path: Path
    told: tuple[str, ...]


@dataclass(slots=True)
class _CutFile:
    place: Place
    later: int = 0


def salvage_run(path: str | PathLike[str]) -> tuple[Run, tuple[DamagedFile, ...]]:
    """Return the run in the folder `path`, with the trustworthy part of each attempt, and the damaged files. If two
    machines recorded the same attempt differently in this folder, both versions are returned. Raises RunError if the
    header or a file cannot be read, or if the version of the run is unknown."""
    folder = Path(path)
    header = read_header(folder)
    contradictions = Contradictions(header)
    files = [_Trusted(file, contradictions) for file in event_files(folder)]
    faults = [read_events(file.path, file, mend=True) for file in files]
    attempts = _unite_attempts(files)
    told = [(*more, *file.describe_faults()) for more, file in zip(faults, files, strict=True)]
    damaged = tuple(DamagedFile(file.path, sentences) for file, sentences in zip(files, told, strict=True) if sentences)
    damaged += tuple(
        DamagedFile(chain_file(file), (f"{file}: {what}; the attempts in it are lost",))
        for file, what in lost_events(folder)
    )
    lost = _report_lost(folder, files) if contradictions.played else ()
    damage = (*(sentence for file in damaged for sentence in file.told), *lost)
    return Run(folder, header, tuple(order_attempts(attempts, header)), damage), damaged


def _unite_attempts(files: Sequence[_Trusted]) -> list[Attempt]:
    accounts: dict[AttemptId, list[tuple[_Trusted, Attempt]]] = defaultdict(list)
    for file in files:
        for name, attempt in file.found.items():
            several = accounts[name]
            for i, (other, known) in enumerate(several):
                if file.may_copy(other, attempt, known):
                    several[i] = other, _join_accounts(other, known, file, attempt)
                    break
            else:
                several.append((file, attempt))
    return [attempt for several in accounts.values() for _, attempt in several if attempt.rows]


def _join_accounts(first: _Trusted, one: Attempt, second: _Trusted, two: Attempt) -> Attempt:
    """Join two records of one attempt by the same process. If one record begins with the other, the longer record is
    returned; otherwise the attempt is cut before the first difference."""
    both = list(zip(one.rows, two.rows, strict=False))
    same = next((i for i, (row, other) in enumerate(both) if row != other), len(both))
    if same == len(both):
        return max(one, two, key=lambda attempt: len(attempt.rows))
    lines = f"cut after {pluralize(same, 'line')}, which both have, and counts as interrupted" if same else "left out"
    second.add_fault(f"{_describe_attempt(two)} is recorded differently here than in {first.path.name}; {lines}")
    cut = Attempt(one.started, one.worker, one.place, one.rows[:same])
    for row in one.rows[1:same]:
        event = decode(row, one.place)
        if event is not None:
            cut.add_event(event, one.place)
    return cut


def _report_lost(folder: Path, files: Sequence[_Trusted]) -> Iterator[str]:
    """Yield a sentence on each trial that has lost every line of an attempt, but has lines of a later attempt."""
    begun: dict[str, set[int]] = defaultdict(set)
    last: dict[str, Attempt] = {}
    for file in files:
        for trial_id, number in file.attempt_ids:
            begun[trial_id].add(number)
        for (trial_id, number), attempt in file.found.items():
            if trial_id not in last or number > last[trial_id].started.attempt:
                last[trial_id] = attempt
    for trial_id, attempt in last.items():
        first = next(number for number in count(1) if number not in begun[trial_id])
        if first < attempt.started.attempt:
            yield f"{folder}: {_describe_attempt(attempt)} is here, but attempt {first} before it has no line"


class _Trusted(Attempts):
    def __init__(self, path: Path, contradictions: Contradictions) -> None:
        super().__init__(keep_rows=True)
        self.path = path
        self._contradictions = contradictions
        self._opening: dict[str, Json] = {}
        self._faults: list[str] = []
        self._cuts: dict[AttemptId, _CutFile] = {}
        self._strays: dict[AttemptId, list[int]] = {}

    @property
    def attempt_ids(self) -> Iterator[AttemptId]:
        yield from (*self.found, *self._strays)

    def may_copy(self, other: _Trusted, attempt: Attempt, known: Attempt) -> bool:
        """Return True if one process may have written both `attempt`, in this file, and `known`, in the other file. The
        first line of a file names its process; a file without a first line may be from any process."""
        one, two = self._writer(attempt), other._writer(known)
        return one is None or two is None or one == two

    def _writer(self, attempt: Attempt) -> tuple[Json, ...] | None:
        opened = self._opening
        return (attempt.started.worker or opened.get("worker"), opened.get("pid"), opened.get("at")) if opened else None

    def add_fault(self, sentence: str) -> None:
        self._faults.append(f"{self.path}: {sentence}")

    def begin_file(self, opening: dict[str, Json], place: Place) -> None:
        self._opening = opening
        worker, named = opening.get("worker"), self.path.name
        if isinstance(worker, str) and named != f"trials-{worker}.jsonl":
            self._faults.append(
                f"{place}: written by worker {worker!r}, so the file is a copy of another or was renamed"
            )

    def add_event(self, event: Event, row: dict[str, Json], worker: str, place: Place) -> None:
        name = (event.trial_id, event.attempt)
        if name in self._cuts:
            self._cuts[name].later += 1
        elif name in self._strays or not (name in self.found or isinstance(event, TrialStarted)):
            self._strays.setdefault(name, []).append(place.line)
        elif fault := self._contradiction(self.found.get(name), event):
            if name in self.found:
                raise RunError(fault, place=place)
            self._faults.append(f"{place}: {fault}")
            self._strays[name] = [place.line]
        else:
            super().add_event(event, row, str(self._opening.get("worker") or worker), place)

    def _contradiction(self, attempt: Attempt | None, event: Event) -> str:
        if attempt is None:
            return self._contradictions.contradiction_at_start(event) if isinstance(event, TrialStarted) else ""
        return "" if attempt.has_ended else self._contradictions.contradiction_within(attempt, event)

    def handle_fault(self, fault: RunError, row: dict[str, Json] | None) -> None:
        row = row or {}
        # Another major version, if the line is not damaged.
        version = re.fullmatch(rf"{FORMAT.partition('/')[0]}/\d+(\.\d+)*", str(row.get("format")))
        if row.get("event") == "opened" and version:
            raise fault
        place = fault.place or Place(str(self.path))
        self._faults.append(f"{place}: {fault.what}")
        name = (row.get("id"), row.get("attempt"))
        names_one = isinstance(name[0], str) and isinstance(name[1], int)  # in a damaged line it may be a list
        if names_one and name in self._cuts:
            return
        # An unreadable line may belong to any open attempt, and two joined lines to several.
        open_ones = [one for one, attempt in self.found.items() if not attempt.has_ended and one not in self._cuts]
        for one in [one for one in self.found if one == name] or open_ones:
            self.found[one].interrupt()
            self._cuts[one] = _CutFile(place)

    def describe_faults(self) -> list[str]:
        told = list(self._faults)
        for name, cut in self._cuts.items():
            place = Place(cut.place.path, cut.place.line)
            later = f", {pluralize(cut.later, 'later line')} left out" if cut.later else ""
            told.append(f"{place}: {_describe_attempt(self.found[name])} is cut here and counts as interrupted{later}")
        for (trial_id, number), lines in self._strays.items():
            place = Place(str(self.path), lines[0])
            told.append(
                f"{place}: attempt {number} at trial {trial_id} is left out: no first line here can be trusted "
                f"({pluralize(len(lines), 'line')}, the last at {lines[-1]})"
            )
        return told


def _describe_attempt(attempt: Attempt) -> str:
    key = attempt.started.key
    return f"{key.system}, {key.topic}, trial {key.trial}, attempt {attempt.started.attempt}"
