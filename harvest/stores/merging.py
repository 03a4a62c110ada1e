"""Merging of local runs and of runs in object stores, which are fetched into temporary folders."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.stores.store import is_url, open_store
from harvest.stores.stored_run import Stint, StoredRun, find_piece
from recordings.files.errors import RunError, StoreError
from recordings.merging.merge import MergeResult, merge
from topics.errors import InputError, Place


@dataclass(frozen=True, slots=True)
class Copies:
    """Local folders of runs to merge. `folders` are the run folders. `fetched` maps the folder of a fetched run to
    the stored run and its stints. `unbegun` has addresses of claimed runs without any recording."""

    folders: list[Path] = field(default_factory=list)
    fetched: dict[str, tuple[StoredRun, Mapping[int, Stint]]] = field(default_factory=dict)
    unbegun: list[str] = field(default_factory=list)

    def to_addresses(self, text: str) -> str:
        """Replace local folders in a sentence with the original addresses. For a line of a file, the object that
        contains the line is added."""
        for folder, (run, stints) in self.fetched.items():

            def add_address(line: re.Match[str], stints: Mapping[int, Stint] = stints) -> str:
                name = find_piece(stints, Path(line[1]), int(line[2]))
                return f"{line[0]} (in {name})" if name else line[0]

            text = re.sub(rf"({re.escape(folder)}/trials-[^/:]+\.jsonl):([0-9]+)(?::[0-9]+)?", add_address, text)
            text = text.replace(folder, run.url)
        return text


def merge_stored(runs: Sequence[str], out: Path, *, salvage: bool = False) -> MergeResult:
    """Merge runs that are given as folders or as addresses in a store. An address names one run or all runs below the
    address. Results and errors name these addresses. Runs without any recording are reported as missing. Raises the
    errors of `merge`, and StoreFault."""
    with local_copies(runs, out) as copies:
        if copies.unbegun and not copies.folders:
            raise InputError(
                "a machine has claimed this run but has not recorded anything yet",
                place=Place(copies.unbegun[0]),
                advice="repeat the command when the machine has recorded something",
            )
        try:
            merged = merge(copies.folders, out, salvage=salvage, named=copies.to_addresses)
        except InputError as fault:
            if not copies.fetched:
                raise
            raise _name_fault(fault, copies, runs, out) from None
    unbegun = (f"{url}: its machine has not recorded anything yet" for url in copies.unbegun)
    return replace(merged, missing=(*merged.missing, *unbegun))


def _name_fault(fault: InputError, copies: Copies, runs: Sequence[str], out: Path) -> InputError:
    place, advice = fault.place, fault.advice
    if advice and copies.to_addresses(advice) != advice:  # as advice to salvage a folder that will be gone
        few = runs if len(runs) < 5 else ("RUN", "RUN", "…")
        again = f"harvest data merge {shlex.join(few)} --salvage --out {shlex.quote(str(out))}"
        advice = f"{again}\n      saves every readable attempt in a new run; the store is not changed"
    return RunError(
        copies.to_addresses(fault.what),
        place=place and Place(copies.to_addresses(place.path), place.line, place.column),
        allowed=fault.allowed,
        advice=advice,
    )


@contextmanager
def local_copies(runs: Sequence[str], near: Path) -> Iterator[Copies]:
    """Yield local folders of runs. Stored runs are fetched into a folder next to `near`, which is removed at the end.
    An address names one run or all runs below the address. Raises InputError, StoreFault, and StoreError if the
    copies cannot be written."""
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
                raise InputError("there is no run at this address", place=Place(store.url), advice="check the address")
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
