"""One worker's stint at a run in a store: taking the run up into a local folder, and sending what is recorded
there."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harvest.stores.store import at_once
from harvest.stores.stored_run import FILE, Stint, StoredRun, piece
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import refuse_links, write_safely
from recordings.files.lock import Lock
from recordings.log.chain import chain_file
from recordings.log.header import Header
from recordings.log.inventory import INVENTORY, begin_inventory, list_file
from recordings.log.run_folder import event_files, is_run
from recordings.log.store import CLAIM
from topics.errors import HarvestError, InputError, Place
from topics.regular_file import entries, open_inside, read_inside

_ADDRESS = re.compile(r"evidence/[0-9a-f]{2}/[0-9a-f]+\.[a-z.]+")


class TakenOver(HarvestError):
    """Another worker has taken the run up."""

    def __init__(self, stored: StoredRun, folder: Path) -> None:
        super().__init__(
            f"another worker has taken {stored.url} up\n"
            f"  safe: what was recorded here since it did is in {folder}\n"
            "  do: let one worker at a time play a shard"
        )


@dataclass(frozen=True, slots=True)
class TakenUp:
    """A run that was taken up.

    number: the number of the stint, which becomes part of the worker's name (`worker`). aside: the new location of the
    previous folder, which was moved because others had replayed its trials; None if it stayed.
    """

    number: int
    aside: Path | None

    def worker(self, name: str) -> str:
        return f"{name or 'worker'}.{self.number}"


def take_up(stored: StoredRun, folder: Path, refuse: Callable[[Header], None]) -> TakenUp:
    """Take up a run: send what a dead process left in `folder`, shut out the previous worker, and fetch all events
    from the store into `folder`. Exhibits stay in the store.

    refuse: called with the recorded header; it raises if that belongs to another audit, before anything is changed.
    Raises Locked if another process plays in `folder`, StoreFault, StoreError if the folder cannot be written, and
    InputError for a folder of another store.
    """
    try:
        return _taken_up(stored, folder, refuse)
    except OSError as fault:
        raise StoreError(folder, fault, "write in") from fault


def _taken_up(stored: StoredRun, folder: Path, refuse: Callable[[Header], None]) -> TakenUp:
    folder.mkdir(parents=True, exist_ok=True)
    others = [name for one in folder.iterdir() if not (name := one.name).startswith(("trials-", ".", "lock", CLAIM))]
    if others and not is_run(folder):
        raise RunError(
            f"the folder is not empty and does not contain a run (it holds {min(others)!r})",
            place=Place(str(folder)),
            advice="take an empty or new folder",
        )
    lock = Lock(folder)
    try:
        recorded = stored.recorded_header()
        if recorded is not None:
            refuse(recorded)
        refuse_links(folder)  # which would be refused later, when others are shut out already
        begins = _send_left(stored, folder)
        number = stored.claim()
        stints = stored.seal_before(number)
        files, header = stored.files(stints, begins), stored.header(stints)
        aside = None
        if any(files.get(file.name) != read_inside(folder, file.name) for file in event_files(folder)):
            names = (f"{folder.name}.before-{number}" + (f"-{more}" if more else "") for more in count())
            aside = folder.rename(next(path for name in names if not (path := folder.with_name(name)).exists()))
            lock.release()
            folder.mkdir()
            lock = Lock(folder)
        for name, data in files.items():
            if not (folder / name).exists():
                write_safely(folder / name, data)
        if header:
            write_safely(folder / "run.json", header)
            begin_inventory(folder, "copied")
            if (folder / INVENTORY).exists():
                for file in event_files(folder):  # of earlier stints, some of which are new here
                    list_file(folder, file, changes=True)
        # Last: until here the folder may hold what an earlier claim alone shows to be of this store.
        write_safely(folder / CLAIM, stored.claimed(number))
        return TakenUp(number, aside)
    finally:
        lock.release()


def _send_left(stored: StoredRun, folder: Path) -> dict[int, bytes]:
    """Send what a dead process recorded here but did not send. Returns the events already in the store, by stint
    number.

    Sends nothing if any file does not belong to this store.
    """
    stints = stored.stints()
    left: list[Stint] = []
    there: dict[int, bytes] = {}
    for file in event_files(folder):
        found = FILE.fullmatch(file.name)
        stint = stints.get(int(found[1])) if found else None
        if stint is not None:
            there[stint.number] = stored.events(stint)
        if stint is None or not _is_of(stored, folder, file.name, stint, there[stint.number]):
            raise InputError(
                f"this folder holds a recording that was not begun in {stored.url} ({file.name})",
                place=Place(str(folder)),
                advice="play into another folder (--out)",
            )
        if not stint.sealed:
            left.append(stint)
    for stint in left:
        try:
            Sender(stored, folder, stint).send()
        except TakenOver:
            continue  # just now; the rest stays here
    return there


def _is_of(stored: StoredRun, folder: Path, name: str, stint: Stint, there: bytes) -> bool:
    """Return whether a file of events was recorded in a stint of this store, which already has its beginning, `there`.

    Other shards and stores have stints with the same numbers. Files differ in their first line; before that was sent,
    only in the claim.
    """
    here = read_inside(folder, name)
    if here and there:
        return here.startswith(there) or there.startswith(here)
    claim = read_inside(folder, CLAIM) if (folder / CLAIM).exists() else b""
    return not here or claim == stored.claimed(stint.number)


class Sender:
    """Sends what one stint records in a folder: each exhibit before the event that names it, each line once it is
    complete. May be used in any thread, one at a time.

    stint: the part that is already in the store.
    """

    def __init__(self, stored: StoredRun, folder: Path, stint: Stint) -> None:
        self._stored, self._folder, self._number = stored, folder, stint.number
        self._at = {"trials": stint.end, "chain": sum(stint.chain.values())}
        self._header = stint.header
        self._known: set[str] = set()

    def send(self, *, last: bool = False) -> None:
        """Send what is new. last: also send all layers of judgments, not only gold.

        Raises StoreFault, StoreError if the folder cannot be read, and TakenOver if another worker has taken the run
        up.
        """
        try:
            self._send(last)
        except OSError as fault:
            raise StoreError(self._folder, fault, "read", playing=True) from fault

    def _send(self, last: bool) -> None:
        # Gold goes before the header, so that whoever can merge the run can score it. Other layers may still grow, and
        # what is put stays as it is.
        if last or not self._header:
            self._layers("*.jsonl" if last else "gold-*.jsonl")
        events = self._file()
        if events is not None:
            # The chain first: of lines that come meanwhile it must not say more than the events do.
            chain = self._new(chain_file(events), "chain")
            lines = self._new(events, "trials")
            if lines and not self._header:
                name, data = f"stints/{self._number:06d}/run.json", read_inside(self._folder, "run.json")
                if not self._stored.put_new(name, data) and self._stored.get(name) != data:
                    raise TakenOver(self._stored, self._folder)
                self._header = True
            self._exhibits(lines, events)
            self._pieces("trials", lines)
            self._pieces("chain", chain)

    def _layers(self, pattern: str) -> None:
        for layer in entries(self._folder, "judgments", pattern):
            name = layer.relative_to(self._folder).as_posix()
            if name not in self._known:
                self._stored.put_new(name, read_inside(self._folder, name))
                self._known.add(name)

    def _file(self) -> Path | None:
        """Return the stint's file of events, or None before it exists."""
        for file in event_files(self._folder):
            if (found := FILE.fullmatch(file.name)) and int(found[1]) == self._number:
                return file
        return None

    def _new(self, file: Path, kind: str) -> bytes:
        """Return the complete lines that were not sent yet."""
        try:
            with open_inside(self._folder, file.name) as opened:
                opened.seek(self._at[kind])
                data = opened.read()
        except FileNotFoundError:  # a process may be killed before it has begun a chain
            return b""
        return data[: data.rfind(b"\n") + 1]

    def _exhibits(self, lines: bytes, file: Path) -> None:
        try:
            rows = [json.loads(line) for line in lines.split(b"\n") if b'"evidence":{' in line]
        except ValueError:
            raise RunError(
                f"what follows byte {self._at['trials']}, which is not in the store yet, is not valid JSON",
                place=Place(str(file)),
                advice="play into another folder (--out), which begins with what is in the store",
            ) from None
        named = {address for row in rows if isinstance(row["evidence"], dict) for address in row["evidence"].values()}
        # Those of an attempt that goes on from one that others recorded are not here, but in the store.
        new = sorted(one for one in named - self._known if _ADDRESS.fullmatch(one) and (self._folder / one).exists())
        at_once(lambda name: self._stored.put_new(name, read_inside(self._folder, name)), new)
        self._known.update(new)

    def _pieces(self, kind: str, data: bytes) -> None:
        while data:
            mine = data[: self._stored.largest_piece]
            if len(mine) < len(data):
                mine = mine[: mine.rfind(b"\n") + 1] or data[: data.find(b"\n") + 1]
            name = piece(self._number, kind, self._at[kind])
            if not self._stored.put_new(name, mine):
                mine = self._stored.get(name)  # one that was sent before, and nobody heard that it arrived
                if not mine or not data.startswith(mine):
                    raise TakenOver(self._stored, self._folder)
            self._at[kind] += len(mine)
            data = data[len(mine) :]
