"""A run in a store: the objects of each worker, and how the next worker takes over the run.

    RUN/stints/000002/claim                 the second worker has taken over the run
    RUN/stints/000002/run.json              the header of that worker
    RUN/stints/000002/trials/00000000000000004096   its events, from that byte of its file; an empty piece is the last
    RUN/stints/000002/chain/…               the hash chain of that file, in the same way
    RUN/evidence/…, RUN/judgments/…         as in a run folder

A *stint* is everything that one worker records between taking over a run and the end of its process. A worker that
claims the next number first writes an empty piece at the end of each earlier stint's file. The name of that piece is
then in use. An earlier worker that was only unreachable notices this when it sends its next piece, and stops without
adding anything. So the new worker knows everything in the store, and need not assume that another worker is dead.
"""

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harvest.stores.store import Store, run_concurrently
from recordings.files.errors import RunError
from recordings.files.evidence import write_safely
from recordings.files.json_text import parse_value
from recordings.log.chain import chain_file
from recordings.log.continuation import differences
from recordings.log.header import Header
from recordings.log.inventory import begin_inventory
from topics.counting import pluralize
from topics.errors import InputError, Place

# The name of the file of events of a stint, with its number.
FILE = re.compile(r"trials-.+\.([0-9]{1,6})-[0-9]{6,}\.jsonl")
_FORMAT = "harvest-stint/1"
_WORKER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_STINT = re.compile(r"([0-9]{6})/(claim|run\.json|trials/([0-9]{20})|chain/([0-9]{20}))")
_SHARD = re.compile(r"[0-9]+-of-([0-9]+)")
_CARRIED = re.compile(r"(evidence/[0-9a-f]{2}|judgments)/[A-Za-z0-9][A-Za-z0-9_.-]{0,150}")


@dataclass(slots=True)
class Stint:
    """The part of a stint that is in the store. `trials` and `chain` give the size of each piece of its two files, by
    the position of the piece's first byte. `header` is True if the stint has written a header."""

    number: int
    trials: dict[int, int] = field(default_factory=dict)
    chain: dict[int, int] = field(default_factory=dict)
    header: bool = False

    @property
    def is_sealed(self) -> bool:
        return 0 in self.trials.values()

    @property
    def end(self) -> int:
        """The number of bytes of the stint's file of events that are in the store."""
        return sum(self.trials.values())


def piece_name(number: int, file: str, at: int) -> str:
    """Return the object name, within a run, of the piece of a stint's file that starts at byte `at`."""
    return f"stints/{number:06d}/{file}/{at:020d}"


def find_piece(stints: Mapping[int, Stint], file: Path, line: int) -> str:
    """Return the name of the object with a line of a fetched file of events, or "" if no stint has the file."""
    found = FILE.fullmatch(file.name)
    stint = stints.get(int(found[1])) if found else None
    if stint is None:
        return ""
    at = sum(len(one) + 1 for one in file.read_bytes().split(b"\n")[: line - 1])
    begins = (first for first, size in stint.trials.items() if first <= at < first + size)
    return piece_name(stint.number, "trials", next(begins, at))


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run in an object store. `name` is the name of the run within its store, or "" if the store has only this run.
    `largest_piece` is the largest number of bytes of events to write at once."""

    store: Store
    name: str
    largest_piece: int = 8 * 2**20

    @property
    def url(self) -> str:
        return f"{self.store.url.rstrip('/')}/{self.name}".rstrip("/")

    def put_new(self, name: str, data: bytes) -> bool:
        return self.store.put_new(self._object_name(name), data)

    def get(self, name: str) -> bytes:
        return self.store.get(self._object_name(name))

    def stints(self) -> dict[int, Stint]:
        """Return the stints in the store, in order. Raises StoreFault."""
        found: dict[int, Stint] = {}
        before = self._object_name("stints/")
        for path, size in sorted(self.store.sizes(before).items()):
            match = _STINT.fullmatch(path.removeprefix(before))
            if match is None:
                raise self._foreign_error(path.removeprefix(self._object_name("")))
            stint = found.setdefault(int(match[1]), Stint(int(match[1])))
            if match[3] is not None:
                stint.trials[int(match[3])] = size
            elif match[4] is not None:
                stint.chain[int(match[4])] = size
            else:
                stint.header = stint.header or match[2] == "run.json"
        return found

    def header(self, stints: Mapping[int, Stint]) -> bytes:
        """Return the newest header, or b"" if there is none. Raises RunError if there are events but no header."""
        numbers = [number for number, stint in stints.items() if stint.header]
        data = self.get(f"stints/{max(numbers):06d}/run.json") if numbers else b""
        begun = [number for number, stint in stints.items() if stint.end]
        if begun and not data:  # which is sent before them
            raise self._damage_error(f"stints/{max(numbers or begun):06d}/run.json is missing or empty")
        return data

    def recorded_header(self) -> Header | None:
        data = self.header(self.stints())
        place = Place(f"{self.url}/run.json", 1)
        return Header.from_json(parse_value(data, place), place) if data else None

    def claim(self) -> int:
        """Claim the run and return the new stint's number. Raises InputError if the store overwrites objects."""
        mine = json.dumps({"format": _FORMAT, "claim": secrets.token_hex(16)}).encode()
        number = max(self.stints(), default=0) + 1
        while not self.put_new(name := f"stints/{number:06d}/claim", mine) and self.get(name) != mine:
            number += 1
        if self.put_new(name, b"{}"):
            raise InputError(
                f"the store {self.store.url} overwrites existing objects despite If-None-Match",
                allowed="a store that supports conditional writes",
            )
        return number

    def claimed(self, number: int) -> bytes:
        """Return the claim of a stint, which is unique across stints and stores."""
        return self.get(f"stints/{number:06d}/claim")

    def seal_before(self, number: int) -> dict[int, Stint]:
        """Close all earlier stints at their current ends, and return them."""
        while True:
            stints = {one: stint for one, stint in self.stints().items() if one < number}
            open_ = [stint for stint in stints.values() if not stint.is_sealed]
            if not open_:
                return stints
            for stint in open_:  # a worker that sends a piece meanwhile is quicker, so ask again
                self.put_new(piece_name(stint.number, "trials", stint.end), b"")

    def events(self, stint: Stint, begin: bytes = b"") -> bytes:
        """Return the events of a stint in the store. `begin` is the part that was fetched before."""
        return begin + self._join_pieces(stint.number, "trials", stint.trials, len(begin))

    def files(self, stints: Mapping[int, Stint], begins: Mapping[int, bytes] | None = None) -> dict[str, bytes]:
        """Return the files of events and chains by name. `begins` has the parts fetched before, by stint number."""
        found: dict[str, bytes] = {}
        for stint in stints.values():
            events = self.events(stint, (begins or {}).get(stint.number, b""))
            if events:
                name = self._file_name(events)
                found[name] = events
                if stint.chain:
                    found[chain_file(Path(name)).name] = self._join_pieces(stint.number, "chain", stint.chain)
            elif stint.chain:  # which is sent after the events
                raise self._damage_error(f"{piece_name(stint.number, 'trials', 0)} is missing or empty")
        return found

    def fetch(self, folder: Path) -> dict[int, Stint]:
        """Copy everything in the store into a new run folder, and return its stints. If a worker has claimed the run
        but written nothing yet, no folder is created and {} is returned. Raises StoreFault, and RunError if something
        is missing."""
        stints = self.stints()
        header = self.header(stints)
        if not header:
            for stint in stints.values():
                if stint.end:  # a stint sends its header first
                    raise self._damage_error(f"stints/{stint.number:06d}/run.json is missing or empty")
            return {}
        folder.mkdir(parents=True)
        for name, data in self.files(stints).items():
            write_safely(folder / name, data)
        carried = [self._carried_file(path) for kind in ("evidence/", "judgments/") for path in self._names_below(kind)]
        for name in carried:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        run_concurrently(lambda name: write_safely(folder / name, self.get(name)), carried)
        write_safely(folder / "run.json", header)
        begin_inventory(folder, "copied")
        return stints

    def _names_below(self, kind: str) -> list[str]:
        return [path.removeprefix(self._object_name("")) for path in self.store.sizes(self._object_name(kind))]

    def _carried_file(self, name: str) -> str:
        if not _CARRIED.fullmatch(name):
            raise self._foreign_error(name)
        return name

    def _join_pieces(self, number: int, file: str, pieces: Mapping[int, int], begin: int = 0) -> bytes:
        at, size = begin, 0
        wanted = [first for first in sorted(pieces) if first >= begin]
        for first in wanted:
            if first != at:
                before = ", or the one before it was cut short" if size else ""
                raise self._damage_error(f"{piece_name(number, file, at)} is missing or empty{before}")
            size = pieces[first]
            at += size
        filled = (first for first in wanted if pieces[first])
        return b"".join(run_concurrently(lambda first: self.get(piece_name(number, file, first)), filled))

    def _damage_error(self, what: str) -> RunError:
        return RunError(
            what,
            place=Place(self.url),
            advice="repeat the command if a worker is sending right now; if not, restore the object from\n"
            "      a copy of the store, or merge the folder of the machine that recorded it:\n"
            "      harvest data merge FOLDER …",
        )

    def _foreign_error(self, name: str) -> RunError:
        return RunError(
            f"{name!r} does not belong to a run",
            place=Place(self.url),
            advice="find out where it comes from, and remove it from the store",
        )

    def _file_name(self, events: bytes) -> str:
        opening = events.partition(b"\n")[0]
        place = Place(self.url)
        row = parse_value(opening, place)
        worker = row.get("worker") if isinstance(row, dict) else None
        if not isinstance(worker, str) or not _WORKER.fullmatch(worker):
            raise self._damage_error("a file of events does not name its worker")
        return f"trials-{worker}.jsonl"

    def _object_name(self, name: str) -> str:
        return f"{self.name}/{name}" if self.name else name


def shard_counts(names: Iterable[str]) -> set[int]:
    """Return the numbers of shards in the names of the store's folders. More than one number is a mistake."""
    return {int(match[1]) for name in names if (match := _SHARD.fullmatch(name))}


def refuse_other_division(store: Store, shards: int) -> None:
    """Raise InputError if the store is divided into another number of shards than `shards`, or is a run's address."""
    names = store.folders()
    if "stints" in names:
        raise InputError(
            "this is the address of one run in a store",
            place=Place(store.url),
            allowed="the address above the runs of an audit",
            advice=f"give --store {store.url.rstrip('/').rpartition('/')[0]}",
        )
    others = shard_counts(names) - {shards}
    if others:
        raise InputError(
            f"the audit at this address was divided into {pluralize(min(others), 'shard')}, not {shards}",
            place=Place(store.url),
            allowed=f"--shard I/{min(others)}: each address is for one audit with one number of shards",
            advice="use this number, or another address (--store)",
        )


def refuse_other_audit(stored: StoredRun, header: Header) -> None:
    """Raise RunError if another shard in the store cannot be merged because its settings differ from `header`."""
    for name in stored.store.folders():
        if name == stored.name or not _SHARD.fullmatch(name):
            continue
        other = StoredRun(stored.store, name)
        try:
            recorded = other.recorded_header()
        except RunError:  # reported when that shard is read
            continue
        if recorded is None:
            continue
        changed = differences(recorded, header)
        if changed:
            raise RunError(
                "the audit at this address was recorded with different settings:\n"
                + "\n".join(f"  {entry}" for entry in changed),
                place=Place(other.url),
                allowed="one audit at one address",
                advice="undo the change, or use another address (--store)",
            )
        return  # the others were compared with this one
