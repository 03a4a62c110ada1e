"""The trials of a run, counted while its files of events grow.

Only complete lines that were added since the last reading are read, so a run can be followed while it is played. Texts
are skipped, not decoded. Nothing is written, and no lock is needed.
"""

import json
import math
import os
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct

from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.conversations.conversation import INVALID
from recordings.files.stored_lines import open_lines
from recordings.files.times import unix_seconds
from recordings.log.run_folder import event_file_sizes

# Bytes that are read and decoded at a time.
_BLOCK = 2**20

# Trials that ended last, from which the pace is estimated.
_RECENT = 50
_FEWEST = 3

# Seconds that no file system needs to give a folder another time.
_STEP = 3.0

# An answer without a label, as the grid of a run shows it.
UNLABELLED = "?"


class _Line(Struct, gc=False):
    """A line of a file of events, of any kind, without its texts."""

    event: str
    id: str = ""
    attempt: int = 0
    system: str = ""
    topic: str = ""
    trial: int = 0
    turn: int = 0
    label: str = ""
    outcome: str = ""
    reason: str = ""
    at: str = ""


_DECODER = msgspec.json.Decoder(_Line)


@dataclass(slots=True)
class CountedAttempt:
    """An attempt at a trial. `labels` has the label of each answer so far. `outcome` is "" for an attempt that has no
    end. `counts` is true for the first valid attempt of its trial."""

    system: str
    topic: str
    trial: int
    attempt: int
    labels: list[str] = field(default_factory=list)
    outcome: str = ""
    reason: str = ""
    ended_at: str = ""
    counts: bool = False


@dataclass(slots=True)
class SystemCounts:
    """The number of recorded trials and answers of a system. `done` counts trials with a valid attempt, and `invalid`
    invalid attempts. `labels` counts the labels of the answers of these trials and of attempts without an end. `ends`
    are the times at which the last valid trials in the latest file ended."""

    done: int = 0
    invalid: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    ends: deque[str] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def expected_end(self, left: int) -> float:
        """Return when the `left` remaining trials will have ended at the rate of the last 50 trials in the latest file,
        in seconds since 1970, or NaN if fewer than three trials ended there."""
        if len(self.ends) < _FEWEST:
            return math.nan
        # Stamps are in the order of time: to read all of them, every second, would take as long as to read the file.
        first, last = unix_seconds(min(self.ends)), unix_seconds(max(self.ends))
        return last + left * (last - first) / (len(self.ends) - 1) if min(first, last) >= 0 else math.nan


class Tally:
    """The counts of the run in `folder`. `systems` has the counts of each system. `flight` has the attempts that may be
    being played, by trial and attempt, and `past` all that ended or were interrupted. `failures` counts the invalid
    attempts by their reason, and `unreadable` the lines that are not events."""

    def __init__(self, folder: Path, clock: Clock = REAL_CLOCK) -> None:
        self.folder, self._clock = folder, clock
        self._begin()

    def _begin(self) -> None:
        self.systems: dict[str, SystemCounts] = {}
        self.flight: dict[tuple[str, int], CountedAttempt] = {}
        self.past: list[CountedAttempt] = []
        self.failures: Counter[str] = Counter()
        self.unreadable = 0
        self._read: dict[str, int] = {}  # bytes by file
        self._paths: dict[str, str] = {}
        self._listed = -1  # when the folder had been changed as its files were listed
        self._done: set[str] = set()

    def read_on(self) -> bool:
        """Read the lines that were added to the files, and return whether there were any. If a file was replaced by a
        shorter one, everything is read again. Raises OSError if a file cannot be read."""
        sizes = self._sizes()
        if any(sizes.get(name, 0) < read for name, read in self._read.items()):
            self._begin()
        grown = sorted(name for name, size in sizes.items() if size > self._read.get(name, 0))
        before = sum(self._read.values())
        for name in grown:
            self._read_file(name)
        return sum(self._read.values()) > before

    def _sizes(self) -> dict[str, int]:
        """Return the size of each file of events. To list the folder takes longer than all else of a look, so it is
        only done if the folder was changed, which a new file does."""
        changed = self.folder.stat().st_mtime_ns
        if changed == self._listed:
            with suppress(FileNotFoundError):  # a file that has become a segment
                return {name: os.lstat(path).st_size for name, path in self._paths.items()}
        found = event_file_sizes(self.folder)
        self._paths = {name: f"{self.folder}/{name}" for name in found}
        # Times have steps: another file may follow in the same one.
        self._listed = changed if self._clock.now().timestamp() - changed / 1e9 > _STEP else -1
        return found

    def _read_file(self, name: str) -> None:
        at = self._read.get(name, 0)
        with open_lines(self.folder, name) as file:
            file.seek(at)
            begun = b""
            while data := file.read(_BLOCK):
                whole, end, rest = (begun + data).rpartition(b"\n")
                if end:
                    for row in self._decode(whole):
                        self._add(row)
                    at += len(whole) + 1
                begun = rest
        self._read[name] = at

    def _decode(self, data: bytes) -> list[_Line]:
        try:
            return _DECODER.decode_lines(data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return list(self._decode_readable(data))

    def _decode_readable(self, data: bytes) -> Iterator[_Line]:
        for line in data.split(b"\n"):
            try:
                # Unlike msgspec, this reads the halves of surrogate pairs that systems may have sent.
                yield msgspec.convert(json.loads(line), _Line)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                self.unreadable += 1

    def _add(self, row: _Line) -> None:
        known = (row.id, row.attempt)
        if row.event == "trial-started":
            counts = self.systems.setdefault(row.system, SystemCounts())
            self.flight[known] = CountedAttempt(row.system, row.topic, row.trial, row.attempt)
            return
        if row.event == "opened":
            self.interrupt()
            for one in self.systems.values():
                one.ends.clear()
            return
        attempt = self.flight.get(known)
        if attempt is None:
            return
        counts = self.systems[attempt.system]
        if row.event == "turn":
            attempt.labels.append(UNLABELLED)
        elif row.event == "route" and attempt.labels and row.label:
            counts.labels[row.label] += 1
            attempt.labels[-1] = row.label
        elif row.event == "trial-ended":
            attempt.outcome, attempt.reason, attempt.ended_at = row.outcome, row.reason, row.at
            self._take_from_flight(known)
            if row.outcome == INVALID:
                counts.invalid += 1
                self.failures[row.reason] += 1
            elif row.id not in self._done:
                self._done.add(row.id)
                attempt.counts = True
                counts.done += 1
                counts.labels.update(attempt.labels)
                counts.ends.append(row.at)

    def _take_from_flight(self, known: tuple[str, int]) -> None:
        one = self.flight.pop(known)
        self.past.append(one)
        self.systems[one.system].labels.subtract(label for label in one.labels if label != UNLABELLED)

    def interrupt(self) -> None:
        """Count attempts without an end as interrupted, because the process that played them has ended."""
        for known in list(self.flight):
            self._take_from_flight(known)
