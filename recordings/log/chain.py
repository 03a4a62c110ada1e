"""The hash chain of a file of events. `trials-000001.chain` belongs to `trials-000001.jsonl`.

The first line of a chain records the content of the folder when the file was begun: the hash of `run.json`, and the
hashes of earlier files of events whose writers were stopped before they could close them. Then follows one hash for
each line of events, which covers the line and the previous hash. When the file is closed, the last line records the
number of lines and the layers of judgments. So every hash depends on all lines before it, and a change is found at its
line (`recordings.checking.chain_check`). Files of decisions have chains of the same kind.

A line of events is on the disk before its hash. A killed process leaves at most `FLUSH` lines without a hash, and the
next process that records into the run covers them. Older runs have no chains, and readers need none.

For a compacted file, `trials-000001.links` keeps the hash of every few thousandth line, from which the chain is rebuilt
with the lines: hashes cannot be compressed, and would take a tenth of the space of a compacted run.
"""

import errno
import os
import re
from binascii import hexlify
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from recordings.files.digests import SIZE, content_digest, next_link, read_object
from recordings.files.errors import StoreError
from recordings.files.evidence import fsync_file, write_safely
from recordings.files.json_text import encode_line
from recordings.files.stored_lines import files_of_lines, has_lines, open_lines, size_of_lines
from recordings.log.header import Header
from recordings.log.inventory import CHAINED, add_closed_file, add_file, begin_inventory
from topics.regular_file import open_inside

FORMAT = "harvest-chain/1"
# The most lines that a killed process leaves outside the chain: no more are written at once.
FLUSH = 16
_HASH_LINE = 2 * SIZE + 1
_HASHES = re.compile(rb"(?:[0-9a-f]{32}\n)*")
_LINK = re.compile(rb'\{"lines":([0-9]{1,15}),"hash":"([0-9a-f]{32})"\}\n')


def chain_file(events: Path) -> Path:
    """Return the path of the chain of a file of events."""
    return events.with_suffix(".chain")


def links_file(events: Path) -> Path:
    """Return the path of the stored part of the chain of a compacted file of events."""
    return events.with_suffix(".links")


def run_of(chained: Path) -> Path:
    """Return the run folder of a file of events or of decisions."""
    return chained.parent if chained.name.startswith("trials-") else chained.parent.parent


def declare_chains(header: Header) -> Header:
    """Return the header of a new run, with the declaration that its files have chains, unlike earlier versions."""
    return replace(header, extra={**header.extra, CHAINED: FORMAT})


def closed_lines(events: Path) -> int | None:
    """Return the number of lines that a file of events had when it was closed, from the last line of its chain. Returns
    None if the file was not closed or if its chain cannot be read."""
    try:
        with _open_kept(events)[0] as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 2**16))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return None
    said = read_object(last) if last.startswith(b'{"closed"') else None
    lines = said.get("lines") if said else None
    return lines if isinstance(lines, int) else None


def read_chain(events: Path) -> bytes:
    """Return the chain of a file of events, as `open_chain` opens it, or b"" if it has none. Raises OSError."""
    try:
        with open_chain(events) as file:
            return file.read()
    except FileNotFoundError:
        return b""


def open_chain(events: Path) -> BinaryIO:
    """Open the chain of a file of events. The chain of a compacted file is made again from its lines; a hash that was
    kept stays, so lines that do not lead to it are found. Raises OSError."""
    file, kept = _open_kept(events)
    if not kept:
        return file
    with file:
        return BytesIO(_chain_of_links(file.read(), events))


def read_opening(events: Path) -> dict[str, Any]:
    """Return the first line of the chain of a file of events, or {} if there is none. Raises OSError."""
    try:
        with _open_kept(events)[0] as file:
            return read_object(file.readline()) or {}
    except FileNotFoundError:
        return {}


def kept_lines(events: Path) -> list[int]:
    """Return the numbers of the lines whose hashes were kept when the file was compacted. Raises OSError."""
    with suppress(FileNotFoundError):
        file, kept = _open_kept(events)
        with file:
            return [int(link[1]) for link in _LINK.finditer(file.read())] if kept else []
    return []


def _open_kept(events: Path) -> tuple[BinaryIO, bool]:
    """Open the chain of a file of events, or what was kept of it, and return which. No link is followed, because the
    folder may be a stranger's."""
    for _ in range(2):  # in between, the file may be compacted, or written back
        for kept in (chain_file(events), links_file(events)):
            with suppress(FileNotFoundError):
                return open_inside(kept.parent, kept.name), kept.suffix == links_file(events).suffix
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(chain_file(events)))


def _chain_of_links(data: bytes, events: Path) -> bytes:
    opening, end, rest = data.partition(b"\n")
    chain, head, count = [opening + end], next_link(b"", opening + end), 0
    with open_lines(events.parent, events.name) if has_lines(events) else BytesIO() as lines:
        while link := _LINK.match(rest):
            rest = rest[link.end() :]
            until, hashes = int(link[1]), list[bytes]()
            while count < until and (line := lines.readline()).endswith(b"\n"):
                head = next_link(head, line)
                hashes.append(head)
                count += 1
            if count < until:  # lines are gone; the hash of the last one stays, as the end of the chain
                hashes.append(head)
                link = [*_LINK.finditer(data)][-1]
                rest = rest[max(0, link.end() - len(data) + len(rest)) :]
            if hashes:
                hashes[-1] = head = bytes.fromhex(link[2].decode())
                chain.append(hexlify(b"".join(hashes), b"\n", -SIZE) + b"\n")
    return b"".join(chain) + rest


class KeptLinks:
    """The stored part of the chain of a compacted file of events. Its lines are added in order."""

    def __init__(self, chain: bytes) -> None:
        opening, end, rest = chain.partition(b"\n")
        found = _HASHES.match(rest)
        self._hashes = found[0] if found else b""
        self._tail = rest[len(self._hashes) :]
        self._kept = [opening + end]
        self._head, self._lines, self._hashed = next_link(b"", opening + end), 0, len(self._hashes) // _HASH_LINE

    def add(self, lines: Iterable[bytes]) -> int:
        """Keep the hash of the last of these lines that has one. Returns the number of the first line that does not
        lead to its hash, 0 if all do."""
        for data in lines:
            if self._lines < self._hashed and data.endswith(b"\n"):
                self._head = next_link(self._head, data)
                at = self._lines * _HASH_LINE
                self._lines += 1
                if self._hashes[at : at + _HASH_LINE - 1] != hexlify(self._head):
                    return self._lines
        self._kept.append(b'{"lines":%d,"hash":"%b"}\n' % (self._lines, hexlify(self._head)))
        return 0

    def end(self) -> bytes | None:
        """Return the stored part, or None if the chain has hashes of further lines."""
        return b"".join((*self._kept, self._tail)) if self._lines == self._hashed else None


class Chain:
    """Writes the chain of one file of events. Every method except `create` raises StoreError if a write fails."""

    def __init__(self, events: Path, descriptor: int, opening: bytes) -> None:
        self.path = chain_file(events)
        self._events = events
        self._descriptor = descriptor
        self._head = next_link(b"", opening)
        self._lines = 0
        self._hashes: list[bytes] = []
        self._failed = False

    @classmethod
    def create(cls, events: Path) -> "Chain":
        """Start the chain of a new file, in a run that already has its `run.json`, and list the file in the inventory.
        Raises OSError, and StoreError if the file cannot be listed."""
        opening = encode_line(_opening_line(events))
        descriptor = os.open(
            chain_file(events), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666
        )
        try:
            _write_all(descriptor, opening)
            add_file(run_of(events), events, changes=True)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(events, descriptor, opening)

    def add(self, lines: Iterable[bytes]) -> None:
        """Add lines that the file of events already contains. `flush` writes their hashes."""
        head, hashes = self._head, self._hashes
        for data in lines:
            head = next_link(head, data)
            hashes.append(head)
            self._lines += 1
        self._head = head

    def flush(self) -> None:
        """Write the hashes of all lines added so far, but none after a failed write, because lines would not match."""
        if self._hashes and not self._failed:
            hashes, self._hashes = self._hashes, []
            self._write(hexlify(b"".join(hashes), b"\n", -SIZE) + b"\n")

    def close(self, *, whole: bool) -> None:
        """Close the chain. A second call has no effect. `whole` is True if every line of events is on the disk."""
        if self._descriptor < 0:
            return
        try:
            self.flush()
            if whole and not self._failed:
                self._write(closing_line(self._head, self._lines, _layer_names(run_of(self._events))))
                fsync_file(self._descriptor)
                add_closed_file(run_of(self._events), self._events, self._lines, self._head)
        except OSError as fault:
            raise StoreError(self.path, fault, playing=True) from fault
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, data: bytes) -> None:
        try:
            _write_all(self._descriptor, data)
        except OSError as fault:
            self._failed = True
            raise StoreError(self.path, fault, playing=True) from fault


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _opening_line(events: Path) -> Mapping[str, Any]:
    run = run_of(events)
    series = "trials-*.jsonl" if run == events.parent else "*.jsonl"
    others = [file for file in files_of_lines(events.parent, series) if file != events]
    before = {
        file.name: {"bytes": size_of_lines(file), "hash": content_digest(file)}
        for file in others
        if closed_lines(file) is None
    }
    header = run / "run.json"  # decisions may be about pairs, in a folder that is not a run
    return {"format": FORMAT, **({"header": content_digest(header)} if header.exists() else {}), "before": before}


def _layer_names(run: Path) -> list[str]:
    return sorted(file.name for file in run.glob("judgments/*.jsonl"))


def closing_line(head: bytes, lines: int, layers: list[str]) -> bytes:
    """Return the last line of a chain, with a hash that covers this line and the previous hash."""
    said = {"closed": True, "lines": lines, "layers": layers}
    return encode_line({**said, "hash": next_link(head, encode_line(said)).hex()})


def write_chain(events: Path) -> None:
    """Write the chain of a file of events that was written at once, and list the file as closed. The rest of the folder
    must be complete. Raises OSError and StoreError."""
    opening = encode_line(_opening_line(events))
    with events.open("rb") as file:
        lines = list(file)
    head, hashes = next_link(b"", opening), []
    for data in lines:
        head = next_link(head, data)
        hashes.append(head.hex().encode() + b"\n")
    closing = closing_line(head, len(lines), _layer_names(run_of(events)))
    write_safely(chain_file(events), opening + b"".join(hashes) + closing)
    begin_inventory(run_of(events), "new")
    add_closed_file(run_of(events), events, len(lines), head)
