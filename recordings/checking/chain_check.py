"""Checks of a recording: each file is compared with its chain, its name, the inventory, or the events that refer to it.

There are three kinds of findings. A *fault* is something that was changed after it was written. A *gap* is something
that should be protected but is not, such as a file whose chain is missing, or a listed layer that is missing. A *note*
is something that was never protected, such as the last lines of a killed process. The hashes have no key, so somebody
who can write to the folder can forge them. To detect that, keep or sign a copy of the recording's hash elsewhere.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recordings.files.digests import content_digest, read_object
from recordings.files.errors import RunError
from recordings.files.evidence import evidence_fault, list_exhibits, named_exhibits
from recordings.files.segments import SegmentError, segment_fault, segment_of
from recordings.files.stored_lines import has_lines
from recordings.judged.decisions import FOLDER as DECISIONS
from recordings.judged.decisions import read_decisions
from recordings.judged.judgments import layer_fault
from recordings.log.chained_file import ChainedFile, Fault, check_file, check_gone, reports_in_later_chains
from recordings.log.inventory import CHAINED, INVENTORY, Inventory, declares_chain, read_inventory
from recordings.log.noted import NotedFinding, read_findings
from recordings.log.run_folder import event_files
from topics.counting import pluralize
from topics.regular_file import kind_of, list_entries, read_inside

_NO_INVENTORY = (
    "recorded before Harvest kept an inventory, so a missing layer or file of decisions would not be noticed"
)
_UNLISTED_FILE = (
    "not in the inventory: added by hand or by an earlier version of Harvest, or its writer was stopped at that "
    "moment, or the end of the inventory was removed"
)
_GOLD_PREFIX = "judgments/gold-"
_SOURCES_PREFIX = "judgments/gold-table-of-sources-"  # of `source_layers`: no judgments of entities
_MOST_NAMED = 3  # files in a sentence
_EARLIER_INVENTORY_LOST = (
    "an earlier inventory was missing when this one was started, so other missing files may go unnoticed"
)


@dataclass(slots=True)
class RecordingFindings:
    """The findings on a recording. `hash` identifies the recording (32 hex digits); it is "" if part of the recording
    cannot be read. `lines` is the number of lines of events, and `chained` the number of lines that a chain or a later
    file protects. `evidence` and `layers` count the files that match their names, and `decisions` the decisions of
    people that were not undone. `faults`, `gaps` and `notes` are explained in the module's docstring. `gone` lists
    missing files; each missing file also has a sentence in `gaps`."""

    hash: str
    lines: int = 0
    chained: int = 0
    evidence: int = 0
    layers: int = 0
    decisions: int = 0
    faults: list[Fault] = field(default_factory=list)
    gaps: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def new_header_findings(
        self, run: Path, faults: Iterable[str], notes: Iterable[str] = ()
    ) -> Iterator[NotedFinding]:
        """Yield all findings and the additional `faults` and `notes`, for the header of a run that is made from this
        recording in the folder `run`."""
        for what in (*map(str, self.faults), *map(str, self.gaps), *faults):
            yield NotedFinding(self.hash, _remove_folder(what, run))
        for what in (*map(str, self.notes), *notes):
            yield NotedFinding(self.hash, _remove_folder(what, run), open=False)

    def take(self, files: Sequence[ChainedFile]) -> None:
        for one in files:
            self.faults += one.faults
            self.gaps += one.gaps
            self.notes += one.notes

    def add_missing(self, chains: Iterable[Path]) -> list[ChainedFile]:
        """Record the missing files whose chains remain, and return the findings of those chains."""
        files = sorted({chain.with_suffix(".jsonl") for chain in chains})
        gone = [check_gone(file) for file in files if not has_lines(file)]
        self.gone += [one.name for one in gone]
        return gone

    def check_header(self, run: Path, headers: list[str], *, declared: bool) -> None:
        if not headers and declared:
            what = "no chain with its hash is left, so changes to it cannot be detected"
            self.gaps.append(Fault("run.json", None, what))
        elif not headers:
            what = "recorded without a chain, so changes to it cannot be detected"
            self.notes.append(Fault("run.json", None, what))
        elif content_digest(run / "run.json") != headers[-1]:
            self.faults.append(Fault("run.json", None, "it was changed after the last process began to record"))

    def check_layers(self, run: Path) -> list[str]:
        there = []
        for file in sorted(list_entries(run, "judgments", "*.jsonl")):
            name = f"judgments/{file.name}"
            there.append(name)
            fault = layer_fault(file)
            if fault:
                self.faults.append(Fault(name, None, fault))
            else:
                self.layers += 1
        return there

    def check_decisions(self, run: Path, *, declared: bool) -> list[ChainedFile]:
        try:
            self.decisions = len(read_decisions(run).standing)
        except RunError as fault:
            place = fault.place
            file = f"{DECISIONS}/{Path(place.path).name}" if place and place.path.endswith(".jsonl") else DECISIONS
            self.faults.append(Fault(file, place.line or None if place else None, fault.what))
            return []
        files = list_entries(run, DECISIONS, "*.jsonl")
        later = reports_in_later_chains(files)
        checked = [check_file(file, later.get(file.name, ()), declared=declared) for file in files]
        checked += self.add_missing(list_entries(run, DECISIONS, "*.chain"))
        self.take(checked)
        return checked

    def check_closed(self, one: ChainedFile, lines: int, head: str) -> None:
        """Check that neither a closed file nor its chain was changed."""
        if one.closing and (one.expected, one.head) == (lines, head):
            return
        if one.expected < lines or not one.closing:
            what = (
                f"the file was closed with {pluralize(lines, 'line')}, but this chain has {one.expected} hashes and "
                f"{'an' if one.closing else 'no'} end: changes to the other lines cannot be detected"
            )
            if one.opening or not one.gaps:  # otherwise it was reported
                self.gaps.append(Fault(one.chain, None, what))
        elif not one.faults:
            self.faults.append(Fault(one.chain, None, "this is not the chain with which the file was closed"))

    def check_inventory(
        self,
        run: Path,
        inventory: Inventory | None,
        chained: Sequence[ChainedFile],
        layers: Sequence[str],
        *,
        declared: bool,
    ) -> None:
        """Report listed files that are missing, changed or not closed, and files that are not listed."""
        if inventory is None:
            if declared or any(declares_chain(run / one.name) for one in chained):
                what = "it is missing, so missing layers of judgments and files of decisions cannot be detected"
                self.gaps.append(Fault(INVENTORY, None, what))
            else:
                self.notes.append(Fault(INVENTORY, None, _NO_INVENTORY))
            return
        if inventory.broken:
            self.faults.append(Fault(INVENTORY, inventory.broken, "it was changed from this line on"))
        if inventory.torn:
            self.notes.append(
                Fault(INVENTORY, None, "its last line is torn: its writer was stopped, or its end was removed")
            )
        if inventory.again:
            self.gaps.append(Fault(INVENTORY, 1, _EARLIER_INVENTORY_LOST))
        files = {one.name: one for one in chained}
        told = {fault.file for fault in self.faults}
        for name, digest in inventory.held.items():
            if name not in files and name not in layers:
                if name not in told:
                    self.gaps.append(Fault(name, None, "it was added to this run and is now missing"))
                    self.gone.append(name)
            elif digest and name not in self.gone and name not in told and content_digest(run / name) != digest:
                self.faults.append(Fault(name, None, "it was changed after it was added to this run"))
        for name, (lines, head) in inventory.closed.items():
            if name in files:
                self.check_closed(files[name], lines, head)
        unlisted = [name for name in (*files, *layers) if name not in inventory.held]
        unclosed = [
            name
            for name, one in files.items()
            if one.closing and name not in inventory.closed and name not in inventory.copied
            if declares_chain(run / name)
        ]
        written = [name for name in unlisted if name in files and files[name].lines > 1]
        if written or (unclosed and len({*unlisted, *unclosed}) > 1):
            # A file is listed before its second line, and a stopped writer leaves at most one line unwritten.
            named = " and ".join([*unlisted, *unclosed][:_MOST_NAMED])
            what = f"its entries on {named} are missing: they were removed, or the files were"
            self.gaps.append(Fault(INVENTORY, None, f"{what} added by hand; other missing files cannot be detected"))
            return
        self.notes += [Fault(name, None, _UNLISTED_FILE) for name in unlisted]
        for name in unclosed:
            what = "its chain is closed, but the inventory does not say so: its writer was stopped at that moment, or"
            self.notes.append(Fault(name, None, f"{what} the end of the inventory was removed"))


def _remove_folder(what: str, run: Path) -> str:
    """Remove the run's folder from a sentence about its files, because the folder may be renamed."""
    return what.replace(f"{run}/", "").replace(f"{run}: ", "")


def recording_hash(run: Path) -> str:
    """Hash `run.json` and every file of events. The events name the evidence by its content, so the hash covers the
    evidence too. Judgments are not included, because they may be added later. Returns "" if a segment is damaged, and
    raises OSError."""
    digest = hashlib.blake2b(digest_size=16, person=b"harvest-run")
    for file in (run / "run.json", *event_files(run)):
        try:
            digest.update(f"{file.name} {content_digest(file)}\n".encode())
        except SegmentError:
            return ""
    return digest.hexdigest()


def check_recording(run: Path) -> RecordingFindings:
    """Check every file of the run folder `run`, even if the folder cannot be read as a run. Raises OSError."""
    paths = [run / "run.json", run / INVENTORY, *sorted(run.glob("trials-*"))]
    for folder in ("judgments", DECISIONS):
        for pattern in ("*.jsonl", "*.chain"):
            paths += list_entries(run, folder, pattern)
    kinds = {path: kind_of(path) if path.exists() or path.is_symlink() else "" for path in paths}
    strange = [
        Fault(path.relative_to(run).as_posix(), None, f"this is {kind}, not a file, so it was not read")
        for path, kind in kinds.items()
        if kind
    ]
    if strange:  # reading a pipe would never end, and a link leads out of the folder
        return RecordingFindings("", gaps=strange)
    found, named = _check_journal(run)
    there = list_exhibits(run)
    for address in there:
        fault = evidence_fault(run, address)
        if fault:
            found.faults.append(Fault(address, None, fault))
        else:
            found.evidence += 1
    found.faults += [
        Fault(address, None, "an event refers to it, but it is missing") for address in sorted(named.difference(there))
    ]
    for one in read_findings(run):
        (found.gaps if one.open else found.notes).append(Fault("run.json", None, str(one)))
    return found


def check_written(run: Path) -> RecordingFindings:
    """Check a run folder except its exhibits, which the caller checks while copying, and except findings on earlier
    recordings in the header. Raises OSError."""
    return _check_journal(run)[0]


def _check_journal(run: Path) -> tuple[RecordingFindings, set[str]]:
    files = event_files(run)
    segments = {segment_of(file).name: segment_fault(file) for file in files if not file.exists()}
    if any(segments.values()):
        return RecordingFindings(
            "", faults=[Fault(name, None, fault) for name, fault in segments.items() if fault]
        ), set()
    found = RecordingFindings(recording_hash(run))
    inventory = read_inventory(run)
    later = reports_in_later_chains(files)
    header = read_object(read_inside(run, "run.json")) or {}
    declared = CHAINED in header  # chains and an inventory; earlier versions wrote neither
    named: set[str] = set()
    chained: list[ChainedFile] = []
    for file in files:
        chained.append(
            check_file(
                file,
                later.get(file.name, ()),
                declared=declared,
                take=lambda data: named.update(named_exhibits(data)),
            )
        )
    chained += found.add_missing((*run.glob("trials-*.chain"), *run.glob("trials-*.links")))
    found.lines, found.chained = sum(one.lines for one in chained), sum(one.covered for one in chained)
    found.take(chained)
    headers = [str(one.opening["header"]) for one in chained if "header" in one.opening]
    found.check_header(run, headers, declared=declared)
    decided = found.check_decisions(run, declared=declared)
    layers = found.check_layers(run)
    found.check_inventory(run, inventory, [*chained, *decided], layers, declared=declared)
    named_gold = [name for name in (*layers, *found.gone) if name.startswith(_GOLD_PREFIX)]
    gold = any(not name.startswith(_SOURCES_PREFIX) for name in named_gold)
    audit = header.get("audit")
    wants_gold = isinstance(audit, dict) and bool(audit.get("gold"))  # kept as a layer before anything is asked
    if declared and found.lines > len(files) and not gold and wants_gold:
        what = "run.json names a gold table, but the layer that contains it is missing"
        found.gaps.append(Fault(f"{_GOLD_PREFIX}*.jsonl", None, what))
        found.gone.append(f"{_GOLD_PREFIX}*.jsonl")
    kept = [
        *layers,
        *(one.name for one in decided if one.name not in found.gone),
        *(["evidence"] if list_entries(run, "evidence", "??", "*") else []),
    ]
    if not files and not any(name.startswith("trials-") for name in found.gone):
        what = "there is no file of events: all are missing, or the first process was stopped before it created one"
        found.gaps.append(Fault("run.json", None, what))
    elif files and kept and found.lines <= len(files):
        what = "it is here, but there is no event that it could come from: the events are missing"
        found.gaps.append(Fault(kept[0], None, what))
    said = {str(name) for one in chained for name in one.closing.get("layers") or ()}
    unlisted = {f"judgments/{name}" for name in said} - set(layers) - set(inventory.held if inventory else ())
    found.gaps += [
        Fault(name, None, "it was here when the run was closed and is now missing") for name in sorted(unlisted)
    ]
    found.gone += sorted(unlisted)
    return found, named
