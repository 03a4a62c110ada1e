"""The writer of a run's `decisions/` folder, whose files `recordings.judged.decisions` describes and reads."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from recordings.files.errors import StoreError
from recordings.files.evidence import fsync_file, fsync_folder, inner_folder
from recordings.files.json_text import Json, encode_line
from recordings.files.lock import Lock
from recordings.files.times import Now, stamp, utc_now
from recordings.judged.decisions import FOLDER, FORMAT, Decision, read_decisions
from recordings.log.chain import FORMAT as CHAIN_FORMAT
from recordings.log.chain import Chain, chain_file
from recordings.log.inventory import CHAINED
from recordings.log.journal import Journal
from recordings.secrets.redaction import Redactor
from topics.regular_file import list_entries


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
