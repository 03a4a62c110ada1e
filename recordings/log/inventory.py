"""The inventory of a run, `inventory.jsonl`: one line for each file that was added or closed, in order.

Without an inventory, a lost layer of judgments or file of decisions would go unnoticed, and a chain whose end was
removed would look like the chain of a killed process. The first line lists the files that were in the run when the
inventory was begun. Each line ends in a hash of itself and of the previous hash. A file is on the disk before its line.
A process that is killed in between leaves an unlisted file, which `recordings.checking.chain_check` reports.
"""

import fcntl
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from recordings.files.digests import content_digest, next_link, read_object
from recordings.files.errors import StoreError
from recordings.files.evidence import fsync_file, fsync_folder
from recordings.files.json_text import encode_line
from recordings.files.stored_lines import files_of_lines, read_lines
from topics.regular_file import list_entries, open_inside, read_inside

INVENTORY = "inventory.jsonl"
FORMAT = "harvest-inventory/1"
# The key in the first line of a file with a chain that an inventory lists. In `run.json` it
# declares this for every file of the run, whatever is left of them.
CHAINED = "chain"

_OPENING_BYTES = 2**16  # bytes read of the first line
_LINK_FORM = re.compile(r"[0-9a-f]{32}")
Origin = Literal["recorded", "copied", "new"]


@dataclass(slots=True)
class Inventory:
    """The content of an inventory.

    `held` has the files by their path in the run, with the hash of each file that never changes, else "". `closed` has
    the line count and the last chain hash of closed files. `again` is True if an earlier inventory was missing when
    this inventory was begun. `copied` has files from another run, whose inventory was not copied. `broken` is the
    number of the first changed line, from 1, or 0 if no line was changed. `torn` is True if the end is incomplete.
    """

    held: dict[str, str] = field(default_factory=dict)
    closed: dict[str, tuple[int, str]] = field(default_factory=dict)
    again: bool = False
    copied: frozenset[str] = frozenset()
    broken: int = 0
    torn: bool = False

    def add_row(self, row: Mapping[str, Any]) -> None:
        if "format" in row:
            self.held.update(row["held"])
            self.again = bool(row.get("again"))
            self.copied = frozenset(row["held"] if row.get("copied") else ())
        elif "lines" in row:
            self.closed[row["file"]] = row["lines"], row["head"]
        else:
            self.held[row["file"]] = row["hash"]


def read_inventory(run: Path) -> Inventory | None:
    """Read the inventory of a run folder, or return None if the file or its first line is missing. Raises OSError."""
    try:
        data = read_inside(run, INVENTORY)
    except FileNotFoundError:
        return None
    if b"\n" not in data:  # its first line was not written, or is gone
        return None
    found, head = Inventory(), b""
    *lines, rest = data.split(b"\n")
    found.torn = bool(rest)
    for number, text in enumerate(lines, 1):
        try:
            row = read_object(text) or {}
            row.pop("link", None)
            head = next_link(head, encode_line(row))
            if encode_line({**row, "link": head.hex()}) != text + b"\n" or ("format" in row) != (number == 1):
                raise ValueError("not what was written")
            found.add_row(row)
        except (KeyError, TypeError, ValueError, AttributeError):
            found.broken = number
            break
    return found


def begin_inventory(run: Path, files: Origin = "recorded") -> None:
    """Start the inventory of a run, with the current content of the run. Raises StoreError.

    `files` is the origin of the content: "recorded" if the files were recorded here, so that an inventory that they
    declare is missing; "copied" if they come from another run, whose inventory was not copied; "new" if they were just
    written. If a copied run had no inventory, nothing is written.
    """
    if (run / INVENTORY).exists() or (files == "copied" and not any(map(declares_chain, _growing_files(run)))):
        return
    _append(run, None, files)


def add_file(run: Path, file: Path, *, changes: bool) -> None:
    """List a file that was added to a run. Nothing happens if the file is already listed or is not in a run yet.
    `changes` is True if the file was only begun and will grow. Raises StoreError."""
    if (run / "run.json").exists():
        name = file.relative_to(run).as_posix()
        _append(run, {"file": name, "hash": "" if changes else content_digest(file)})


def add_closed_file(run: Path, file: Path, lines: int, head: bytes) -> None:
    """List a file as closed, with its number of lines and the last hash of its chain. Raises StoreError."""
    if (run / "run.json").exists():
        _append(run, {"file": file.relative_to(run).as_posix(), "lines": lines, "head": head.hex()})


def _append(run: Path, row: Mapping[str, Any] | None, files: Origin = "recorded") -> None:
    """Append a line to the inventory, which is begun if necessary. Several processes may append at the same time."""
    path = run / INVENTORY
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with open_inside(run, INVENTORY) as file:
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            if len(whole) < len(data):  # from a killed process, and never acknowledged
                os.ftruncate(descriptor, len(whole))
            rows = [] if whole else [_opening_row(run, files)]
            if row is not None and (not whole or not _is_listed(whole, row)):
                rows.append(row)
            _write_rows(descriptor, whole, rows)
        finally:
            os.close(descriptor)
        fsync_folder(run)
    except OSError as fault:
        raise StoreError(path, fault) from fault


def _write_rows(descriptor: int, whole: bytes, rows: list[Mapping[str, Any]]) -> None:
    last = read_object(whole[whole.rfind(b"\n", 0, -1) + 1 :]) or {}
    link, added = str(last.get("link", "")), []
    head = bytes.fromhex(link) if _LINK_FORM.fullmatch(link) else b""  # damage stays, and is reported by verify
    for row in rows:
        head = next_link(head, encode_line(dict(row)))
        added.append(encode_line({**row, "link": head.hex()}))
    try:
        view = memoryview(b"".join(added))
        while view:
            view = view[os.write(descriptor, view) :]
        fsync_file(descriptor)
    except OSError:
        os.ftruncate(descriptor, len(whole))  # the disk is full, and half a line is useless
        raise


def _is_listed(whole: bytes, row: Mapping[str, Any]) -> bool:
    known = [read_object(text) or {} for text in whole.splitlines()]
    begun = "lines" not in row and any(row["file"] in (one.get("held") or ()) for one in known)
    return begun or any(one.items() >= row.items() for one in known)


def _opening_row(run: Path, files: Origin) -> Mapping[str, Any]:
    layers = list_entries(run, "judgments", "*.jsonl")
    growing = _growing_files(run)
    held = {
        file.relative_to(run).as_posix(): content_digest(file)
        for file in layers
        if file.is_file() and not file.is_symlink()
    }
    held |= {file.relative_to(run).as_posix(): "" for file in growing}
    told = {"recorded": "again", "copied": "copied"}.get(files)
    known = {told: True} if told and any(map(declares_chain, growing)) else {}
    return {"format": FORMAT, "held": dict(sorted(held.items())), **known}


def _growing_files(run: Path) -> list[Path]:
    return [*files_of_lines(run, "trials-*.jsonl"), *list_entries(run, "decisions", "*.jsonl")]


def declares_chain(file: Path) -> bool:
    """Return True if the first line of a file of events or decisions declares a chain."""
    try:
        first = read_lines(file.parent, file.name, _OPENING_BYTES).partition(b"\n")[0]
    except OSError:
        return False
    return CHAINED in (read_object(first) or {})
