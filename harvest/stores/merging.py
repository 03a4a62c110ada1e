"""Merging runs of which some are in object stores: these are fetched first, for as long as it takes."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.stores.store import is_url, open_store
from harvest.stores.stored_run import Stint, StoredRun, piece_of
from recordings.files.errors import RunError, StoreError
from recordings.merging.merge import Merged, merge
from topics.errors import InputError, Place


@dataclass(frozen=True, slots=True)
class Copies:
    """folders: of runs, here. fetched: what those come from that were fetched, by their folders. unbegun: addresses of
    runs that were claimed, and of which nothing is in the store yet."""

    folders: list[Path] = field(default_factory=list)
    fetched: dict[str, tuple[StoredRun, Mapping[int, Stint]]] = field(default_factory=dict)
    unbegun: list[str] = field(default_factory=list)

    def named(self, text: str) -> str:
        """A sentence about folders, of which people know the addresses; with the piece that a line of events is in."""
        for folder, (run, stints) in self.fetched.items():

            def told(line: re.Match[str], stints: Mapping[int, Stint] = stints) -> str:
                name = piece_of(stints, Path(line[1]), int(line[2]))
                return f"{line[0]} (in {name})" if name else line[0]

            text = re.sub(rf"({re.escape(folder)}/trials-[^/:]+\.jsonl):([0-9]+)(?::[0-9]+)?", told, text)
            text = text.replace(folder, run.url)
        return text


def merge_stored(runs: Sequence[str], out: Path, *, salvage: bool = False) -> Merged:
    """`merge` of runs, each a folder, or the address of a run in a store or of all that lie below it. What it says and
    raises names these addresses; a run there that has only begun is said to be missing. Raises StoreFault too."""
    with local_copies(runs, out) as copies:
        if copies.unbegun and not copies.folders:
            raise InputError(
                "a machine has begun here, and nothing is recorded yet",
                place=Place(copies.unbegun[0]),
                advice="give the same command again once it has",
            )
        try:
            merged = merge(copies.folders, out, salvage=salvage, named=copies.named)
        except InputError as fault:
            if not copies.fetched:
                raise
            raise _name_fault(fault, copies, runs, out) from None
    unbegun = (f"{url}: its machine has begun, and nothing is recorded yet" for url in copies.unbegun)
    return replace(merged, missing=(*merged.missing, *unbegun))


def _name_fault(fault: InputError, copies: Copies, runs: Sequence[str], out: Path) -> InputError:
    place, advice = fault.place, fault.advice
    if advice and copies.named(advice) != advice:  # to salvage a folder that will be gone
        few = runs if len(runs) < 5 else ("RUN", "RUN", "…")
        again = f"harvest merge {shlex.join(few)} --salvage --out {shlex.quote(str(out))}"
        advice = (
            f"{again}\n      makes a run of every attempt that can be read whole; what is in a store is not touched"
        )
    return RunError(
        copies.named(fault.what),
        place=place and Place(copies.named(place.path), place.line, place.column),
        allowed=fault.allowed,
        advice=advice,
    )


@contextmanager
def local_copies(runs: Sequence[str], near: Path) -> Iterator[Copies]:
    """The folders of runs, of which those that are addresses of stores are fetched, into a folder beside `near` that is
    gone at the end. An address may be of a run, or of all that lie below it. Raises InputError, StoreFault, and
    StoreError where they cannot be put there."""
    with ExitStack() as stack:
        copies = Copies()
        for run in runs:
            if not is_url(run):
                copies.folders.append(Path(run))
                continue
            store = open_store(run, reading=True)
            folders = store.folders()
            names = [""] if "stints" in folders else [one for one in folders if "stints" in store.folders(f"{one}/")]
            if not names:
                raise InputError("no run is here", place=Place(store.url), advice="check the address")
            try:
                near.parent.mkdir(parents=True, exist_ok=True)
                into = stack.enter_context(TemporaryDirectory(prefix=f".{near.name}.", dir=near.parent))
                for one in (StoredRun(store, name) for name in names):
                    folder = Path(into) / (one.name or "run")
                    if stints := one.fetch(folder):
                        copies.folders.append(folder)
                        copies.fetched[str(folder)] = one, stints
                    else:
                        copies.unbegun.append(one.url)
            except OSError as fault:
                raise StoreError(near, fault) from fault
        yield copies
