"""The dated runs of a watched audit: new folders, and runs that were stopped before they were judged.

A repeated audit plays a run and then adds a look to the history. If the command is killed in between, a run without
a look remains. Nobody would notice such a run unless the next command mentioned it.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path

from harvest.studies.watch.baseline import BaselineFile
from harvest.studies.watch.history import Look
from recordings.conversations.conversation import TrialKey
from recordings.files.errors import RunError
from recordings.files.lock import is_locked
from recordings.files.times import stamp, unix_seconds
from recordings.log.caps import Caps, prevented_trials, standings
from recordings.log.header import Header, read_header
from recordings.log.run_folder import Run, is_run, read
from recordings.log.shard import planned_trials
from topics.counting import pluralize

_DATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d+)?")


def new_dated_run(runs: Path, now: datetime) -> Path:
    """Create a folder named after the time, with a number if the name is in use. Raises OSError."""
    runs.mkdir(parents=True, exist_ok=True)
    while True:
        folder = free_name(runs / stamp(now)[:19].replace(":", "-"))
        try:
            folder.mkdir()
        except FileExistsError:  # another command was quicker
            continue
        return folder


def free_name(folder: Path) -> Path:
    """Return `folder`, with a number appended if this path exists already."""
    numbered = (folder.with_name(f"{folder.name}{more}") for more in chain([""], (f"-{n}" for n in count(2))))
    return next(one for one in numbered if not one.exists())


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run left by an earlier command. A `whole` run can be judged without playing more. A run that
    is `readable` but not `whole` can be resumed."""

    whole: bool
    sentence: str
    readable: bool = True


@dataclass(frozen=True, slots=True)
class UnjudgedRun:
    """A dated run that has no look in the history. If `judged`, it has a look, but trials were added later."""

    path: Path
    judged: bool = False

    def read_state(self) -> RunState:
        """Read the run and describe its state."""
        try:
            # Only the outcomes of attempts are needed.
            run = read(self.path, turns_of=()) if is_run(self.path) else None
        except RunError as fault:
            where = f"{fault.place}: " if fault.place else ""
            return RunState(False, f"it was not judged, and cannot be read: {where}{fault.what}", readable=False)
        planned = set() if run is None else _trials_to_play(run)
        tried = set() if run is None else {one.key for one in run.conversations}
        ended = set() if run is None else {one.key for one in run.conversations if one.outcome is not None}
        if not tried:
            return RunState(False, "it was stopped before any trial was recorded")
        since = " since trials were added" if self.judged else ""
        if planned <= ended:
            return RunState(True, f"it was played, and not judged{since}")
        count = f"{len(planned & ended)} of {pluralize(len(planned), 'trial')}"
        return RunState(False, f"it was stopped after {count}, and not judged{since}")


def unjudged_runs(runs: Path, looks: Collection[Look], baseline: BaselineFile) -> Iterator[UnjudgedRun]:
    """Yield the dated runs without a look, starting with the newest. Runs that are being written, and runs of the
    baseline, are omitted."""
    known = {one.at: one for one in looks}
    # Trials are added to the last run only; to decode the topics of every run would take seconds in a long watch.
    last = max((one.at for one in looks if one.baseline == baseline.identity), key=unix_seconds, default="")
    for folder in sorted(runs.iterdir() if runs.is_dir() else (), reverse=True):
        if not _DATED.fullmatch(folder.name) or not folder.is_dir() or is_locked(folder):
            continue
        try:
            header = read_header(folder)
        except RunError:
            yield UnjudgedRun(folder)
            continue
        look = known.get(header.created_at)
        if look is None and not baseline.contains_run(header):
            yield UnjudgedRun(folder)
        elif look is not None and look.at == last and _has_grown(folder, header, look):
            yield UnjudgedRun(folder, judged=True)


def _has_grown(folder: Path, header: Header, look: Look) -> bool:
    planned = set(planned_trials(header))
    if Caps.of_audit(header.audit) is not None:
        try:
            planned = _trials_to_play(read(folder, turns_of=()))
        except RunError:
            return True  # which says what is wrong with it
    return sum(key.system in look.systems for key in planned) > sum(one.planned for one in look.systems.values())


def _trials_to_play(run: Run) -> set[TrialKey]:
    return set(planned_trials(run.header)) - prevented_trials(standings(run.header, run.attempts))
