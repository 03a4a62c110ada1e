"""New run folders made from other runs, completely or not at all, with exhibits, judgments and replies of models."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from recordings.events.attempts import AttemptId
from recordings.files.errors import StoreError
from recordings.files.evidence import evidence_fault, fsync_folder, list_exhibits, read_stored, write_safely
from recordings.files.json_text import encode_document, encode_line
from recordings.files.segments import segment_of
from recordings.judged.judgments import Layer, put_layer, read_layers, write_layer
from recordings.log.chain import FORMAT as CHAIN_FORMAT
from recordings.log.chain import declare_chains, write_chain
from recordings.log.header import Header
from recordings.log.inventory import CHAINED
from recordings.log.run_folder import Run
from topics.counting import pluralize
from topics.regular_file import list_entries, read_inside

# The number that each attempt of a run gets; attempts whose number is ambiguous are left out.
Numbers = Mapping[AttemptId, int]


def renumber_layer(layer: Layer, numbers: Numbers) -> tuple[Layer, str]:
    """Return the layer with renumbered attempts, and a sentence on judgments that are left out ("" if all are kept)."""
    judgments, lost = [], []
    for judgment in layer.judgments:
        number = _new_number(judgment.about, numbers)
        if number is None:
            lost.append(judgment.about)
        else:
            judgments.append(replace(judgment, about=_renumber_about(judgment.about, number)))
    told = ""
    if lost:
        what = f"{pluralize(len(lost), 'judgment')} left out, because this run has their attempt twice or not at all"
        told = f"{what}: attempt {lost[0]['attempt']} at trial {lost[0]['trial']}{', …' if len(lost) > 1 else ''}"
    return replace(layer, judgments=tuple(judgments)), told


def renumber_layer_file(data: bytes, numbers: Numbers) -> bytes:
    """Renumber the attempts in the file of a layer. Unchanged lines keep their bytes, others their unknown keys."""
    opening, *lines = data.split(b"\n")
    kept = [opening]
    for text in lines:
        row: dict[str, Any] = json.loads(text) if text else {}
        about = row.get("about", {})
        number = _new_number(about, numbers)
        if number is not None:
            same = number in (0, about.get("attempt"))
            kept.append(text if same else encode_line({**row, "about": _renumber_about(about, number)})[:-1])
    return b"\n".join(kept)


def renumber_replies(data: bytes, numbers: Numbers) -> bytes:
    """Renumber the attempts in a file of replies. Replies are found by their requests, and the numbers are only for
    people. So no reply is left out, and a line that cannot be read is kept as it is."""
    kept = []
    for text in data.split(b"\n"):
        try:
            row: Any = json.loads(text)
        except (ValueError, RecursionError):  # left by a killed command
            row = None
        number = _new_number(row, numbers) if isinstance(row, dict) else 0
        same = not number or number == row["attempt"]
        kept.append(text if same else encode_line({**row, "attempt": number})[:-1])
    return b"\n".join(kept)


def _new_number(about: Mapping[str, Any], numbers: Numbers) -> int | None:
    """Return the new number of the attempt, 0 for a line about no attempt, or None for an unknown attempt."""
    trial, attempt = about.get("trial"), about.get("attempt")
    if not isinstance(trial, str) or not isinstance(attempt, int):
        return 0
    return numbers.get((trial, attempt))


def _renumber_about(about: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {**about, "attempt": number} if number else dict(about)


# The folder for damaged files in a run that was saved from a damaged one.
DAMAGED = "damaged"


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder, which becomes `target` when the `with` block ends and is removed if an error occurs.
    Raises StoreError if the folder cannot be written, or if a file to be copied cannot be read."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            building.chmod(0o755)
            yield building
            building.rename(target)
        except BaseException as fault:
            shutil.rmtree(building, ignore_errors=True)
            if isinstance(fault, StoreError):  # the temporary name means nothing to users
                raise StoreError(target, fault.fault) from fault
            if isinstance(fault, OSError) and fault.filename and not Path(fault.filename).is_relative_to(building):
                raise StoreError(fault.filename, fault, "read") from fault
            raise
        fsync_folder(target.parent)
    except OSError as fault:
        raise StoreError(target, fault) from fault


def write_run(folder: Path, header: Header, rows: Iterable[dict[str, Any]]) -> None:
    """Write the header and the events, with their chain and the inventory, into a folder in which everything else is
    already complete. The first row is the `opened` line."""
    events = folder / "trials-000001.jsonl"
    opening, *others = rows
    write_safely(events, b"".join(encode_line(row) for row in ({**opening, CHAINED: CHAIN_FORMAT}, *others)))
    write_safely(folder / "run.json", encode_document(declare_chains(header).as_json()))
    write_chain(events)


def copy_contents(run: Run, building: Path, numbers: Numbers | None = None) -> list[str]:
    """Copy the exhibits, judgments and replies of models into a folder, and return sentences on errors in them.
    `numbers` has the new number of every attempt, which judgments get too; None keeps the numbers."""
    faults: list[str] = []
    named = _named_exhibits(row for attempt in run.attempts for row in attempt.rows)
    there = list_exhibits(run.path)
    for address in there:
        fault = evidence_fault(run.path, address)
        if fault:  # it is not what was kept
            faults.append(f"{run.path / address}: {fault}; it was left out")
        else:
            _write_copy(building / address, read_stored(run.path, address))
    for address in sorted(named.difference(there)):
        if not os.path.lexists(run.path / address):
            faults.append(f"{run.path / address}: an event refers to it, but it is missing")
    for layer in read_layers(run.path):
        moved, lost = (layer, "") if numbers is None else renumber_layer(layer, numbers)
        if lost:
            faults.append(f"{layer.path or f'{run.path}: decisions of {layer.author}'}: {lost}")
            if not moved.judgments:
                continue
        if not layer.path:  # decisions made one at a time: they come along as the layer that they are
            write_layer(building, moved)
            continue
        data = read_inside(run.path, Path(layer.path).relative_to(run.path))
        if numbers is not None and moved != layer:
            data = renumber_layer_file(data, numbers)
        put_layer(building, data, layer.kind, layer.author)
    replies = [file for name in ("extraction", "judge") for file in list_entries(run.path, name, "*", "*.jsonl")]
    for file in (*replies, *list_entries(run.path, DAMAGED, "*")):
        to = file.relative_to(run.path)
        try:
            data = read_inside(run.path, to)
        except OSError as fault:
            faults.append(f"{file}: {fault.strerror}; it was left out")
            continue
        if to.parts[0] != DAMAGED:  # whose names are those of their content
            data = data if numbers is None else renumber_replies(data, numbers)
            digest = hashlib.blake2b(data, digest_size=8, person=b"harvest-replies").hexdigest()
            to = to.with_name(f"merged-{digest}.jsonl")
        _write_copy(building / to, data)
    return faults


def describe_missing_exhibits(folder: Path, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a sentence on exhibits that events refer to but the folder does not contain, or "" if all are there."""
    absent = sorted(address for address in _named_exhibits(rows) if not os.path.lexists(folder / address))
    if not absent:
        return ""
    more = f"; and {len(absent) - 3} more" if len(absent) > 3 else ""
    return f"{pluralize(len(absent), 'exhibit')} that events refer to: {'; '.join(absent[:3])}{more}"


def _named_exhibits(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {
        address
        for row in rows
        if row.get("event") in ("turn", "failed") and isinstance(row.get("evidence"), dict)
        for address in row["evidence"].values()
    }


def keep_damaged(building: Path, file: Path, told: Iterable[str]) -> None:
    """Copy a damaged file of events, or the chain of a lost file, unchanged into a folder made from the undamaged
    parts. `told` has sentences on the damage, which are written next to the copy."""
    stored = file if os.path.lexists(file) else segment_of(file)
    data = read_inside(stored.parent, stored.name)
    digest = hashlib.blake2b(data, digest_size=8, person=b"harvest-damaged").hexdigest()
    copy = building / DAMAGED / f"{file.stem}-{digest}{stored.name.removeprefix(file.stem)}"
    _write_copy(copy, data)
    _write_copy(
        copy.with_suffix(".txt"), "".join(f"{sentence}\n" for sentence in told).encode("utf-8", "surrogateescape")
    )


def _write_copy(copy: Path, data: bytes) -> None:
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_safely(copy, data)
