"""Decisions that people make one at a time, each written to disk before it counts, in a run's `decisions/` folder.

    decisions/000001.jsonl, …   a file for each process that recorded decisions, append-only; each line makes or takes
                                back a decision; if a file cannot be written, the process continues in a new file
    decisions/000001.chain, …   hashes of the lines of that file (`recordings.log.chain`)
    decisions/lock              held while a process records decisions

Every line has an id made by its author's program; lines with the same id are one decision. A later decision on the same
thing replaces an earlier decision, whose line stays in the file. `recordings.judged.judgments.read_layers` returns
decisions as layers.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from recordings.events.event_lines import check_format
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import fsync_file, fsync_folder, inner_folder
from recordings.files.json_text import Json, encode_line, read_lines
from recordings.files.lock import Lock
from recordings.files.times import Now, stamp, utc_now
from recordings.log.chain import FORMAT as CHAIN_FORMAT
from recordings.log.chain import Chain, chain_file
from recordings.log.inventory import CHAINED
from recordings.log.journal import Journal
from recordings.secrets.redaction import Redactor
from topics.errors import Place
from topics.regular_file import list_entries

FORMAT = "harvest-decisions/1"
FOLDER = "decisions"


@dataclass(frozen=True, slots=True)
class Decision:
    """One person's decision.

    `id` is made by the program of the person (`by`) and never used twice. `version` is the version of the guideline.
    `about` names one or more things that are judged together, each as in the `about` of a judgment. `value` is a JSON
    value. `note` is in the person's own words. `at` is the time in UTC, ISO 8601. `adjudicates` is True if the person
    chose between other people's decisions.
    """

    id: str
    by: str
    version: str
    about: tuple[Mapping[str, str | int], ...]
    criterion: str
    value: Json
    note: str = ""
    at: str = ""
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a run. `standing` has the decisions that are in force, in the order in which they were made.
    `ids` has the id of every line, even if the line takes back a decision or was taken back."""

    standing: tuple[Decision, ...] = ()
    ids: frozenset[str] = frozenset()


def read_decisions(run: str | PathLike[str]) -> Decisions:
    """Read all decisions of a run, even while decisions are being made. An incomplete line of a killed process is
    ignored, because it was never acknowledged. Raises RunError, with file and line, for an invalid decision."""
    inner_folder(Path(run), FOLDER, FOLDER)
    made: dict[str, Decision] = {}
    ids: set[str] = set()
    for file in list_entries(run, FOLDER, "*.jsonl"):
        rows, _ = read_lines(file, file.parent)
        for number, (place, row) in enumerate(rows):
            if number == 0:
                check_format(row.get("format"), FORMAT, place)
                continue
            known = str(row.get("id") or "")
            if not known:
                raise RunError("a decision must have an 'id'", place=place)
            if known in ids:
                continue
            ids.add(known)
            if "undo" in row:
                made.pop(str(row["undo"]), None)
            else:
                made[known] = _decision(known, row, place)
    return Decisions(tuple(made.values()), frozenset(ids))


def _decision(known: str, row: Mapping[str, Any], place: Place) -> Decision:
    texts: dict[str, str] = {}
    for key in ("by", "version", "criterion", "note", "at"):
        text = row.get(key, "")
        if not isinstance(text, str) or (not text and key in ("by", "criterion")):
            raise RunError(f"{key!r} of a decision cannot be {str(text)[:40]!r}", place=place, allowed="text")
        texts[key] = text
    about = row.get("about")
    if not isinstance(about, list) or not about or not all(map(is_target, about)) or "value" not in row:
        raise RunError("a decision must have 'about' (a list of objects) and 'value'", place=place)
    adjudicates = row.get("adjudicates", False)
    if not isinstance(adjudicates, bool):
        raise RunError(
            f"'adjudicates' of a decision cannot be {str(adjudicates)[:40]!r}", place=place, allowed="true, false"
        )
    return Decision(known, about=tuple(about), value=row["value"], adjudicates=adjudicates, **texts)


def is_target(about: object) -> bool:
    """Return True for an object that names a single thing, with text or whole numbers as its values."""
    return isinstance(about, dict) and all(
        isinstance(item, (str, int)) and not isinstance(item, bool) for item in about.values()
    )


@dataclass(slots=True)
class DecisionBook:
    """Records the decisions of one process at a time, in a new file that is created with the first line. After a failed
    write, only decisions that are known to be on the disk count, and the next line starts a new file."""

    run: Path
    clock: Now = utc_now
    ids: set[str] = field(default_factory=set)
    _lock: Lock | None = None
    _journal: Journal | None = None
    _unsafe: dict[str, Journal] = field(default_factory=dict)  # ids of lines that are not known to be on the disk
    _cleaner: Redactor = field(default_factory=Redactor)

    @classmethod
    def open(cls, run: str | PathLike[str], *, clock: Now = utc_now) -> "DecisionBook":
        """Open the book of a run. Raises RunError if another process records decisions on the run, and StoreError if
        the folder cannot be written."""
        folder = inner_folder(Path(run), FOLDER, FOLDER)
        try:
            folder.mkdir(exist_ok=True)
            fsync_folder(folder.parent)
        except OSError as fault:
            raise StoreError(folder, fault) from fault
        lock = Lock(folder)
        try:
            for file in list_entries(run, FOLDER, "*.jsonl"):
                _sync_file(file)
            return cls(Path(run), clock, set(read_decisions(run).ids), lock)
        except BaseException:
            lock.release()
            raise

    async def decide(self, decision: Decision) -> Decision:
        """Write a decision to disk, unless its id is known, and return the stored decision, with its time and a
        redacted note. Raises StoreError."""
        kept = Decision(
            decision.id,
            decision.by,
            decision.version,
            decision.about,
            decision.criterion,
            decision.value,
            self._cleaner.text(decision.note),
            stamp(self.clock()),
            decision.adjudicates,
        )
        row: dict[str, Json] = {"id": kept.id, "by": kept.by, "version": kept.version}
        row |= {"about": [dict(one) for one in kept.about], "criterion": kept.criterion, "value": kept.value}
        if kept.note:
            row["note"] = kept.note
        if kept.adjudicates:
            row["adjudicates"] = True
        await self._append(kept.id, {**row, "at": kept.at})
        return kept

    async def take_back(self, known: str, by: str, decision: str) -> None:
        """Write a line with the id `known`, which takes back `decision`, to the disk. Raises StoreError."""
        await self._append(known, {"id": known, "by": by, "undo": decision, "at": stamp(self.clock())})

    async def _append(self, known: str, row: Mapping[str, Json]) -> None:
        if self._lock is None:
            raise ValueError("the book is closed")
        journal = self._journal
        try:
            if known not in self.ids:
                if journal is None:
                    journal = self._journal = self._create()
                self.ids.add(known)
                self._unsafe[known] = journal
                journal.write(encode_line(row))
            if journal is not None:
                # Also for a known line, which may have been written just now and not be on the disk yet.
                await asyncio.shield(journal.sync())
        except StoreError:
            if journal is not None:
                await self._give_up(journal)
            raise
        self._unsafe.pop(known, None)

    async def _give_up(self, journal: Journal) -> None:
        """Abandon a file that may end in half a line. The ids of lines that may be missing in the file are forgotten,
        so that the lines are written if they are sent again. The same line in two files counts as one decision."""
        lost = [known for known, written in self._unsafe.items() if written is journal]
        for known in lost:
            del self._unsafe[known]
            self.ids.discard(known)
        if self._journal is journal:
            self._journal = None
            await _close(journal, whole=False)

    def _create(self) -> Journal:
        folder = self.run / FOLDER
        number = max(
            (int(file.stem) for file in list_entries(self.run, FOLDER, "*.jsonl") if file.stem.isdecimal()), default=0
        )
        path = folder / f"{number + 1:06}.jsonl"
        try:
            journal = Journal.create(path)
            try:
                journal.chain = Chain.create(path)
            except BaseException:  # it is empty, and each retry would leave another
                journal.abandon()
                for file in (chain_file(path), path):
                    file.unlink(missing_ok=True)
                raise
        except OSError as fault:
            raise StoreError(path, fault) from fault
        try:
            journal.write(encode_line({"format": FORMAT, "made_at": stamp(self.clock()), CHAINED: CHAIN_FORMAT}))
        except StoreError:
            journal.abandon()
            raise
        return journal

    async def close(self) -> None:
        """Close the file and release the lock. A second call has no effect."""
        try:
            if self._journal is not None:
                await _close(self._journal, whole=True)
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None


async def _close(journal: Journal, *, whole: bool) -> None:
    try:
        await journal.close()
    finally:
        if journal.chain is not None:
            journal.chain.close(whole=whole and not journal.has_failed)


def _sync_file(file: Path) -> None:
    """Sync a file of a killed process to the disk, because its last lines are acknowledged if they are sent again."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fsync_file(descriptor)
        finally:
            os.close(descriptor)
    except OSError as fault:
        raise StoreError(file, fault, "make safe") from fault
