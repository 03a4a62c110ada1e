"""Writer of a run: the lock, the header, one new file of events for each process, and the evidence.

Each process that opens a run starts a new file and never touches the files of earlier processes. So a half-written line
of a killed process remains the last line of its file, no file is ever truncated or repaired in place, and several
processes can write to the same folder one after the other.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from recordings.events.event_lines import FORMAT, event_line
from recordings.events.events import Answered, Event, Failed, TrialEnded, TrialStarted
from recordings.events.redacted_events import redacted_events, redacted_value
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import fsync_folder, inner_folder, refuse_links, remove_leftovers, write_safely
from recordings.files.json_text import encode_document, encode_line
from recordings.files.lock import Lock
from recordings.files.times import Now, stamp, utc_now
from recordings.log import continuation, inventory
from recordings.log.chain import FORMAT as CHAIN_FORMAT
from recordings.log.chain import Chain, declare_chains
from recordings.log.exhibits import keep_exhibits
from recordings.log.header import Header, read_header, software
from recordings.log.journal import Journal
from recordings.log.own_loop import LONG
from recordings.secrets.redaction import Redactor, count_marks
from topics.errors import Place
from topics.regular_file import list_entries

_Value = TypeVar("_Value")
_Event = TypeVar("_Event", bound=Event)
_SEQUENCE = re.compile(r"trials-(?:.*-)?(\d{6,})\.jsonl(?:\.zst)?")
_NAME_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# Characters of a name with the number that a store adds to it.
_LONGEST_NAME = 70
# Where a folder records which run of a store it is a copy of.
CLAIM = "claim"


def check_worker(name: str, longest: int = 60) -> None:
    """Raise RunError for an invalid worker name. The name is part of the name of the worker's file."""
    if name and not (_NAME_FORM.fullmatch(name) and len(name) <= longest):
        raise RunError(
            f"{name!r} cannot be a worker's name",
            allowed=f"up to {longest} letters, digits, _ . and -, beginning with a letter or a digit",
        )


class RunWriter:
    """Writes one run. Make a writer with `create`, `resume` or `open`; use it in one event loop; `await close()` it.
    `header` is the current content of `run.json`. `worker` is the name in this process's file of events. `redactor`
    redacts everything that is written, also secrets that are put into the given collection later. `listener`, if any,
    is called with each event that was stored, as it was stored; it must return at once and not raise."""

    def __init__(
        self, run: Path, header: Header, lock: Lock, journal: Journal, chain: Chain, worker: str, redactor: Redactor
    ) -> None:
        self.run, self.header, self.worker, self.redactor = run, header, worker, redactor
        self.listener: Callable[[Event], None] | None = None
        self._lock, self._journal, self._chain = lock, journal, chain
        self._marks: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._marks_at: dict[str, int] = {}

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        header: Header,
        *,
        secrets: Collection[str] = (),
        worker: str = "",
        clock: Now = utc_now,
    ) -> RunWriter:
        """Start a new run in the folder `path`, which must be absent or empty. `worker` comes before the number in the
        name of the file of events, for runs on several machines. Raises RunError if the folder is not empty, and
        StoreError if it cannot be written."""
        run = Path(path)
        check_worker(worker, _LONGEST_NAME)
        if run.is_dir():
            _refuse_nonempty(run)  # before anything is written: this may be an ordinary folder
        lock = _lock_run(run, make=True)
        try:
            _refuse_nonempty(run)  # another process may have been faster
            redactor = Redactor(secrets)
            header = declare_chains(_redact_header(header, redactor))
            _save(run, header)
            return cls._open_writer(run, header, lock, worker, redactor, clock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        header: Header | None = None,
        *,
        secrets: Collection[str] = (),
        worker: str = "",
        clock: Now = utc_now,
        check: Callable[[Redactor], None] = lambda _: None,
    ) -> RunWriter:
        """Continue the run in `path`.

        `header` is the current header of the audit, whose new topics and systems are merged into run.json; None keeps
        the recorded header. `check` may look at the recording while no other process can write; if it raises, the run
        stays unchanged. Raises RunError, with a diff, if the seed, the protocol, or a topic or system that both headers
        have differs from the recording. Also raises RunError if the folder of evidence or judgments is a link.
        """
        run = Path(path)
        if not run.is_dir():
            raise RunError("there is no such run folder", place=Place(str(run)))
        check_worker(worker, _LONGEST_NAME)
        read_header(run)  # before anything is written: this may be an ordinary folder
        refuse_links(run)
        inner_folder(run, "judgments", "judgments")
        lock = _lock_run(run, make=False)
        try:
            recorded = read_header(run)
            redactor = Redactor(secrets)
            check(redactor)
            if header is not None:
                header = _redact_header(header, redactor)
                continuation.refuse_differences(recorded, header, run)
                now = continuation.extend_header(recorded, header, stamp(clock()))
                if now is not recorded:
                    _save(run, now)
                    recorded = now
            return cls._open_writer(run, recorded, lock, worker, redactor, clock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        header: Header,
        *,
        secrets: Collection[str] = (),
        worker: str = "",
        clock: Now = utc_now,
        check: Callable[[Redactor], None] = lambda _: None,
    ) -> RunWriter:
        """Resume the run in `path`, or create a new run there. `check` is not called for a new run."""
        if (Path(path) / "run.json").exists():
            return cls.resume(path, header, secrets=secrets, worker=worker, clock=clock, check=check)
        return cls.create(path, header, secrets=secrets, worker=worker, clock=clock)

    @classmethod
    def _open_writer(
        cls, run: Path, header: Header, lock: Lock, name: str, redactor: Redactor, clock: Now
    ) -> RunWriter:
        remove_leftovers(run)
        for folder in list_entries(run, "evidence", "??"):
            remove_leftovers(folder)
        inventory.begin_inventory(run)
        numbers = [int(found[1]) for entry in run.iterdir() if (found := _SEQUENCE.fullmatch(entry.name))]
        for number in count(max(numbers, default=0) + 1):
            worker = f"{name}-{number:06d}" if name else f"{number:06d}"
            try:
                journal = Journal.create(run / f"trials-{worker}.jsonl")
                chain = Chain.create(journal.path)
                break
            except FileExistsError:  # another machine on a shared disk was faster
                continue
            except OSError as fault:
                raise StoreError(run / f"trials-{worker}.jsonl", fault, "create") from fault
        opening = {
            "event": "opened",
            "format": FORMAT,
            "worker": worker,
            "pid": os.getpid(),
            "at": stamp(clock()),
            "software": software(),
            inventory.CHAINED: CHAIN_FORMAT,
        }
        journal.chain = chain
        journal.write(encode_line(opening))
        return cls(run, header, lock, journal, chain, worker, redactor)

    @property
    def syncs(self) -> int:
        """Number of fsyncs of the file of events so far."""
        return self._journal.syncs

    def redacted(self, value: _Value) -> _Value:
        """Return a frozen dataclass (for example a `SystemTurn`) or a JSON value as it will be stored. If answers are
        routed by their stored values, the spans of a route match the recording."""
        clean: _Value = redacted_value(value, self.redactor)
        return clean

    async def append(self, *events: _Event, sync: bool = False) -> tuple[_Event, ...]:
        """Append events and return them as they are stored. The events of an attempt must be appended in order.

        Returns when the events survive the end of this process (`kill -9`); with `sync`, when the events are on the
        disk and survive a power cut too. Calls that wait at the same time share one fsync. Raises StoreError, after
        which no more events are accepted. Raises TypeError or ValueError, before anything is written, if JSON cannot
        express an event (a NaN).
        """
        if _text_size(events) < LONG:
            stored, lines = self._store_lines(events)
        else:
            stored, lines = await asyncio.to_thread(self._store_lines, events)
        if sync:
            await self._journal.sync(*lines)
        else:
            self._journal.write(*lines)
        if self.listener is not None:
            for event in stored:
                self.listener(event)
        return stored

    async def keep(self, exhibit_name: str, media_type: str, data: bytes) -> str:
        """Redact an exhibit, write it to the disk, and return its address for the event that names it. `exhibit_name`
        is the name of the exhibit in messages. Equal content is stored only once. Raises StoreError."""

        return (await self.keep_all([(exhibit_name, media_type, data)]))[exhibit_name]

    async def keep_all(self, exhibits: Sequence[tuple[str, str, bytes]]) -> dict[str, str]:
        """Store exhibits, given by name, media type and content, as `keep` does, and return their addresses by name."""
        addresses: dict[str, str] = {}
        for exhibit in await keep_exhibits(self.run, self.redactor, exhibits):
            addresses[exhibit.name] = exhibit.address
            if exhibit.marks:
                self._marks_at[exhibit.address] = exhibit.marks
        return addresses

    async def close(self) -> None:
        """Sync everything, close the file and release the lock. A second call has no effect. Raises StoreError."""
        whole = False
        try:
            await self._journal.close()
            whole = True
        finally:
            try:
                self._chain.close(whole=whole and not self._journal.has_failed)
            finally:
                self._lock.release()

    async def __aenter__(self) -> RunWriter:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except StoreError:
            several = fault.subgroup(StoreError) if isinstance(fault, BaseExceptionGroup) else None
            if several is None and not isinstance(fault, StoreError):
                raise  # otherwise the first failure is more informative

    def _store_lines(self, events: Sequence[_Event]) -> tuple[tuple[_Event, ...], list[bytes]]:
        stored = redacted_events([self._whole(event) for event in events], self.redactor)
        return tuple([event for event, _ in stored]), [self._line(event, row) for event, row in stored]

    def _whole(self, event: _Event) -> _Event:
        if isinstance(event, TrialStarted) and not event.hashes:
            return dataclasses.replace(event, hashes=self.header.hashes_of(event.key.system, event.key.topic))
        return event

    def _line(self, event: Event, row: dict[str, Any]) -> bytes:
        if isinstance(event, TrialEnded):
            marks = self._marks.pop((event.trial_id, event.attempt), 0)
            row["redacted"] = event.redacted + marks + count_marks(row["detail"])
            return event_line(row)
        data = event_line(row)
        found = 0
        if self._marks_at:
            evidence: Mapping[str, str] = {}
            if isinstance(event, Answered):
                evidence = event.reply.evidence
            elif isinstance(event, Failed):
                evidence = event.evidence
            found = sum(self._marks_at.get(address, 0) for address in evidence.values())
        if data.find(b"[redacted:") >= 0:  # in half the time that `in` takes
            found += count_marks(data.decode())
        if found:
            self._marks[event.trial_id, event.attempt] += found
        return data


def _text_size(events: Sequence[Event]) -> int:
    size = 0
    for event in events:
        if isinstance(event, Answered):
            size += len(event.reply.answer.text)
        elif isinstance(event, Failed):
            size += len(event.partial)
    return size


def _refuse_nonempty(run: Path) -> None:
    if (run / "run.json").exists():
        raise RunError(
            "this folder already contains a run",
            place=Place(str(run)),
            advice="resume it, or choose another folder",
        )
    try:
        others = sorted(entry.name for entry in run.iterdir() if not _is_left_over(entry.name))
    except OSError as fault:
        raise StoreError(run, fault, "read") from fault
    if others:
        raise RunError(
            f"the folder is not empty and does not contain a run (it contains {others[0]!r})",
            place=Place(str(run)),
            advice="choose an empty or new folder",
        )


def _lock_run(run: Path, *, make: bool) -> Lock:
    try:
        if make and not run.is_dir():
            run.mkdir(parents=True, exist_ok=True)
            fsync_folder(run.parent)
        return Lock(run)
    except FileExistsError:
        raise RunError("this is a file, not a folder", place=Place(str(run))) from None
    except OSError as fault:
        raise StoreError(run, fault, "write in") from fault


def _is_left_over(name: str) -> bool:
    """Return True for a lock, a claim, or a temporary file of a process that died before the run had its header."""
    return name in ("lock", CLAIM) or (name.startswith((".run.json.", f".{CLAIM}.")) and name.endswith(".tmp"))


def _save(run: Path, header: Header) -> None:
    try:
        write_safely(run / "run.json", encode_document(header.as_json()))
    except OSError as fault:
        raise StoreError(run / "run.json", fault) from fault


def _redact_header(header: Header, redactor: Redactor) -> Header:
    value = redactor.value(header.as_json())
    marks = count_marks(encode_document(value).decode())
    value["redaction"] = {"secrets": redactor.known_count, "too_short": redactor.ignored, "in_header": marks}
    return Header.from_json(value, Place("run.json"))
