"""A worker's stint at a run in a store: copying the run to a local folder, and sending back new recordings."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harvest.stores.store import run_concurrently
from harvest.stores.stored_run import FILE, Stint, StoredRun, piece_name
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import has_exhibit, read_stored, refuse_links, write_safely
from recordings.files.lock import Lock
from recordings.files.stored_lines import open_lines, read_lines
from recordings.log.chain import open_chain
from recordings.log.header import Header
from recordings.log.inventory import INVENTORY, add_file, begin_inventory
from recordings.log.run_folder import event_files, is_run
from recordings.log.store import CLAIM
from topics.errors import HarvestError, InputError, Place
from topics.regular_file import list_entries, read_inside

_ADDRESS = re.compile(r"evidence/[0-9a-f]{2}/[0-9a-f]+\.[a-z.]+")


class TakenOver(HarvestError):
    """Another worker has taken over the run."""

    def __init__(self, stored: StoredRun, folder: Path) -> None:
        super().__init__(
            f"another worker has taken {stored.url} up\n"
            f"  safe: everything recorded here since then is in {folder}\n"
            "  do: let only one worker play a shard at a time"
        )


@dataclass(frozen=True, slots=True)
class Takeover:
    """A run that this worker has taken over. `number` is the number of the stint, which becomes part of the worker's
    name. If the previous folder was moved because other workers had replayed its trials, `aside` is its new location,
    else None."""

    number: int
    aside: Path | None

    def worker(self, name: str) -> str:
        return f"{name or 'worker'}.{self.number}"


def take_over(stored: StoredRun, folder: Path, refuse: Callable[[Header], None]) -> Takeover:
    """Take over a run: send the recordings that a dead process left in `folder`, shut out the previous worker, and
    fetch all events from the store into `folder`. Exhibits stay in the store.

    `refuse` is called with the recorded header before anything is changed, and raises if the header belongs to
    another audit. Raises RunLocked if another process plays in `folder`, StoreFault, StoreError if the folder cannot be
    written, and InputError if the folder belongs to another store.
    """
    with _store_errors(folder, "write in"):
        folder.mkdir(parents=True, exist_ok=True)
        others = [
            name for one in folder.iterdir() if not (name := one.name).startswith(("trials-", ".", "lock", CLAIM))
        ]
        if others and not is_run(folder):
            raise RunError(
                f"the folder is not empty and does not contain a run (it contains {min(others)!r})",
                place=Place(str(folder)),
                advice="choose an empty or new folder",
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
            if any(files.get(file.name) != read_lines(folder, file.name) for file in event_files(folder)):
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
                    for file in event_files(folder):  # of earlier stints; some are new here
                        add_file(folder, file, changes=True)
            # Last: until here, only an earlier claim may show that the folder belongs to this store.
            write_safely(folder / CLAIM, stored.claimed(number))
            return Takeover(number, aside)
        finally:
            lock.release()


@contextmanager
def _store_errors(folder: Path, doing: str, *, playing: bool = False) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise StoreError(folder, fault, doing, playing=playing) from fault


def _send_left(stored: StoredRun, folder: Path) -> dict[int, bytes]:
    """Send the unsent records of a dead process, or nothing if any file in the folder belongs to another store.
    Returns the events already in the store, by stint number."""
    stints = stored.stints()
    left: list[Stint] = []
    there: dict[int, bytes] = {}
    for file in event_files(folder):
        found = FILE.fullmatch(file.name)
        stint = stints.get(int(found[1])) if found else None
        if stint is not None:
            there[stint.number] = stored.events(stint)
        if stint is None or not _belongs_to_stint(stored, folder, file.name, stint, there[stint.number]):
            raise InputError(
                f"this folder contains a recording that does not belong to {stored.url} ({file.name})",
                place=Place(str(folder)),
                advice="play into another folder (--out)",
            )
        if not stint.is_sealed:
            left.append(stint)
    for stint in left:
        try:
            Sender(stored, folder, stint).send()
        except TakenOver:
            continue  # just now; the rest stays here
    return there


def _belongs_to_stint(stored: StoredRun, folder: Path, name: str, stint: Stint, there: bytes) -> bool:
    """Return True if a file of events was recorded in this stint. `there` are the stint's events that the store
    already has. Another store may have a stint with the same number; its file differs in the first line or, if no
    line was sent yet, in the claim."""
    here = read_lines(folder, name)
    if here and there:
        return here.startswith(there) or there.startswith(here)
    claim = read_inside(folder, CLAIM) if (folder / CLAIM).exists() else b""
    return not here or claim == stored.claimed(stint.number)


class Sender:
    """Sends the records of one stint in a folder: each exhibit before the event that names the exhibit, and each line
    once the line is complete. Any thread may use a sender, but only one at a time. `stint` is the part already in the
    store."""

    def __init__(self, stored: StoredRun, folder: Path, stint: Stint) -> None:
        self._stored, self._folder, self._number = stored, folder, stint.number
        self._at = {"trials": stint.end, "chain": sum(stint.chain.values())}
        self._header = stint.header
        self._known: set[str] = set()

    def send(self, *, last: bool = False) -> None:
        """Send everything new. With `last`, all layers of judgments are sent, not only gold. Raises StoreFault,
        StoreError if the folder cannot be read, and TakenOver if another worker has taken over the run."""
        with _store_errors(self._folder, "read", playing=True):
            # Gold goes before the header, so that a run that can be merged can be scored. Other layers may still grow,
            # and stored objects never change.
            if last or not self._header:
                self._send_layers("*.jsonl" if last else "gold-*.jsonl")
            events = self._events_file()
            if events is not None:
                # The chain first: it must not cover lines that arrive before the events are read.
                chain = self._unsent_lines(events, "chain")
                lines = self._unsent_lines(events, "trials")
                if lines and not self._header:
                    name, data = f"stints/{self._number:06d}/run.json", read_inside(self._folder, "run.json")
                    if not self._stored.put_new(name, data) and self._stored.get(name) != data:
                        raise TakenOver(self._stored, self._folder)
                    self._header = True
                self._send_exhibits(lines, events)
                self._send_pieces("trials", lines)
                self._send_pieces("chain", chain)

    def _send_layers(self, pattern: str) -> None:
        for layer in list_entries(self._folder, "judgments", pattern):
            name = layer.relative_to(self._folder).as_posix()
            if name not in self._known:
                self._stored.put_new(name, read_inside(self._folder, name))
                self._known.add(name)

    def _events_file(self) -> Path | None:
        for file in event_files(self._folder):
            if (found := FILE.fullmatch(file.name)) and int(found[1]) == self._number:
                return file
        return None

    def _unsent_lines(self, events: Path, kind: str) -> bytes:
        try:
            with open_chain(events) if kind == "chain" else open_lines(self._folder, events.name) as opened:
                opened.seek(self._at[kind])
                data = opened.read()
        except FileNotFoundError:  # a process may be killed before it has begun a chain
            return b""
        return data[: data.rfind(b"\n") + 1]

    def _send_exhibits(self, lines: bytes, file: Path) -> None:
        try:
            rows = [json.loads(line) for line in lines.split(b"\n") if b'"evidence":{' in line]
        except ValueError:
            raise RunError(
                f"the content after byte {self._at['trials']}, which is not in the store yet, is not valid JSON",
                place=Place(str(file)),
                advice="play into another folder (--out), which starts from the recording in the store",
            ) from None
        named = {address for row in rows if isinstance(row["evidence"], dict) for address in row["evidence"].values()}
        # The exhibits of an attempt that continues one of another worker are not here but in the store.
        new = sorted(one for one in named - self._known if _ADDRESS.fullmatch(one) and has_exhibit(self._folder, one))
        run_concurrently(lambda name: self._stored.put_new(name, read_stored(self._folder, name)), new)
        self._known.update(new)

    def _send_pieces(self, kind: str, data: bytes) -> None:
        while data:
            mine = data[: self._stored.largest_piece]
            if len(mine) < len(data):
                mine = mine[: mine.rfind(b"\n") + 1] or data[: data.find(b"\n") + 1]
            name = piece_name(self._number, kind, self._at[kind])
            if not self._stored.put_new(name, mine):
                mine = self._stored.get(name)  # sent before, but the reply was lost
                if not mine or not data.startswith(mine):
                    raise TakenOver(self._stored, self._folder)
            self._at[kind] += len(mine)
            data = data[len(mine) :]
