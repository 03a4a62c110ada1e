"""Checks of one file of lines against its chain: lines that were changed, and lines that no chain covers."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recordings.files.digests import content_digest, next_link, read_object
from recordings.files.stored_lines import open_lines
from recordings.log.chain import (
    FLUSH,
    chain_file,
    closing_line,
    kept_lines,
    links_file,
    read_chain,
    read_opening,
    run_of,
)
from recordings.log.inventory import declares_chain
from topics.counting import pluralize

_HASH = re.compile(rb"[0-9a-f]{32}")
_CLOSED = b'{"closed":true,'


@dataclass(frozen=True, slots=True)
class Fault:
    """A changed part of a file. `file` is its path in the run. `line` starts at 1; None is the whole file."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass(slots=True)
class ChainedFile:
    """The findings on one file.

    `name` is its path in the run. `opening`, `hashes` and `closing` are the parts of its chain, empty if missing.
    `lines` is the number of complete lines, and `covered` the number of lines that its chain or the chain of a later
    file covers. `faults`, `gaps` and `notes` are explained in `recordings.checking.chain_check`. `kept` are the numbers
    of the lines whose hashes were kept when the file was compacted, () for a whole chain.
    """

    name: str
    opening: Mapping[str, Any]
    hashes: Sequence[bytes]
    closing: Mapping[str, Any]
    lines: int = 0
    covered: int = 0
    faults: list[Fault] = field(default_factory=list)
    gaps: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    kept: Sequence[int] = ()

    @property
    def chain(self) -> str:
        return f"{self.name.removesuffix('.jsonl')}.chain"

    @property
    def head(self) -> str:
        """The last hash of the chain, as written in the file; "" if there is no hash."""
        return self.hashes[-1].decode("ascii", "replace") if self.hashes else ""

    @property
    def expected(self) -> int:
        """The number of lines that the chain covers."""
        return self.kept[-1] if self.kept else len(self.hashes)

    def check_without_chain(
        self, file: Path, later: Sequence[Mapping[str, Any]], *, declared: bool, begun: bool
    ) -> None:
        if begun and (chain_file(file).exists() or links_file(file).exists()):
            # without lines, its writer stopped before the first one
            self.faults.append(Fault(self.chain, 1, "its first line is not the first line of a chain"))
            return
        if later:
            _check_unclosed(file, later, self)
        if declared:
            gone = f"its chain is missing, so changes to its {pluralize(self.lines, 'line')} cannot be detected"
            self.gaps.append(Fault(self.name, None, gone))
        elif not later:
            what = "recorded without a chain, so changes to it cannot be detected"
            self.notes.append(Fault(self.name, None, what))

    def check_end(self, file: Path, later: Sequence[Mapping[str, Any]], *, declared: bool) -> None:
        """Check the lines after the last hash. A killed process leaves only a few such lines; if there are more, the
        end of the chain was removed or the power failed."""
        outside = self.lines - self.expected
        if outside > FLUSH and declared and not self.closing:
            what = (
                f"{pluralize(outside, 'line')} from here on are outside its chain, but a killed process leaves at most "
                f"{FLUSH}: changes to them cannot be detected (the end of the chain was removed, or the power failed)"
            )
            self.gaps.append(Fault(self.name, self.expected + 1, what))
        if later:
            _check_unclosed(file, later, self)
        elif self.closing and outside > 0:
            what = "lines were added after the file was closed"
            self.faults.append(Fault(self.name, self.expected + 1, what))
        elif not self.closing:
            tail = f"its last {pluralize(outside, 'line')}" if outside > 0 else "none of its lines"
            what = (
                "not closed: its writer was stopped or is still running, or its end and its chain's end were removed; "
                f"outside its chain: {tail}"
            )
            self.notes.append(Fault(self.name, None, what))

    def find_breaks(self, head: bytes, lines: Iterable[bytes]) -> Iterator[Fault]:
        """Yield the places where lines and hashes disagree. A changed line or hash does not affect later places."""
        hashes = self.hashes
        ahead = iter(lines)
        after = next(ahead, None)
        for place, said in enumerate(hashes):
            data, after = after, next(ahead, None)
            if data is None:
                return
            own = next_link(head, data)
            stored = bytes.fromhex(said.decode()) if _HASH.fullmatch(said) else b""
            if own == stored:
                head = own
                continue
            following = hashes[place + 1] if place + 1 < len(hashes) else b""
            if after is not None and next_link(own, after).hex().encode() == following:
                yield Fault(self.chain, place + 2, "this hash was changed; the line of events was not")
                head = own
            elif not stored:
                yield Fault(self.chain, place + 2, "this is not a hash; the line of events cannot be checked")
                head = own
            elif after is None or next_link(stored, after).hex().encode() == following:
                yield Fault(self.name, place + 1, self._describe_change(place + 1))
                head = stored
            else:
                what = "from here on, lines were changed, moved or removed"
                yield Fault(self.name, place + 1, what)
                return

    def _describe_change(self, line: int) -> str:
        before = max((kept for kept in self.kept if kept < line), default=0)
        if not self.kept or before + 1 == line:
            return "this line was changed"
        return f"this line was changed, or one of the {pluralize(line - before - 1, 'line')} before it"


def reports_in_later_chains(files: Sequence[Path]) -> dict[str, list[Mapping[str, Any]]]:
    """Return for each file the reports on it in the chains of later files. A report is {} if the file was already
    closed when the later file was begun."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for file in files:
        before = read_opening(file).get("before")
        if isinstance(before, dict):
            for other in files:
                said = before.get(other.name, {} if _file_number(other) < _file_number(file) else None)
                if isinstance(said, dict):
                    found.setdefault(other.name, []).append(said)
    return found


def _file_number(file: Path) -> int:
    """Return the number in the name of a file. Files are numbered in the order in which they were begun."""
    last = file.stem.rpartition("-")[2]
    return int(last) if last.isdecimal() else 0


def check_file(
    file: Path,
    accounts: Sequence[Mapping[str, Any]],
    *,
    declared: bool = False,
    take: Callable[[bytes], None] = lambda _: None,
) -> ChainedFile:
    """Check a file of events or of decisions, and return the findings. `accounts` are the reports of
    `reports_in_later_chains` on the file. `declared` is True if the run declares chains for all files. `take` is called
    with each complete line. Raises OSError."""
    # The chain first: a writer may be at work, and lines come before their hashes.
    chain = read_chain(file)
    found = ChainedFile(file.relative_to(run_of(file)).as_posix(), *_parse_chain(chain), kept=kept_lines(file))
    first = next_link(b"", chain.partition(b"\n")[0] + b"\n")
    torn = False
    with open_lines(file.parent, file.name) as opened:

        def whole() -> Iterator[bytes]:
            nonlocal torn
            for data in opened:
                torn = not data.endswith(b"\n")
                if not torn:
                    found.lines += 1
                    take(data)
                    yield data

        lines = whole()
        breaks = list(found.find_breaks(first, lines)) if found.opening else []
        deque(lines, 0)
    begun = torn or found.lines > 0
    declared = declares_chain(file) or (declared and begun)
    later = [said for said in accounts if said]
    if found.opening and not found.closing and len(later) < len(accounts):
        what = (
            "it was closed when a later file was started, but its chain has no end, so missing lines cannot be detected"
        )
        found.gaps.append(Fault(found.chain, None, what))
    if not found.opening:
        found.check_without_chain(file, later, declared=declared, begun=begun)
        return found
    found.faults += breaks
    found.covered = min(found.lines, found.expected)
    if found.expected > found.lines:
        lost = found.expected - found.lines
        lines_were = "line is" if lost == 1 else "lines are"
        found.faults.append(Fault(found.name, found.lines + 1, f"{lost} {lines_were} missing at its end"))
    if found.closing and not _is_valid_closing(found, first):
        found.faults.append(Fault(found.chain, found.expected + 2, "its last line was changed"))
    if found.closing and torn:
        found.faults.append(Fault(found.name, found.lines + 1, "something was written after the file was closed"))
    found.check_end(file, later, declared=declared)
    return found


def check_gone(file: Path) -> ChainedFile:
    """Return the findings on a missing file whose chain remains. Raises OSError."""
    found = ChainedFile(
        file.relative_to(run_of(file)).as_posix(), *_parse_chain(read_chain(file)), kept=kept_lines(file)
    )
    what = f"it is missing; its chain is here and covers {pluralize(found.expected, 'line')}"
    found.gaps.append(Fault(found.name, None, what))
    return found


def _check_unclosed(file: Path, later: Sequence[Mapping[str, Any]], found: ChainedFile) -> None:
    found.covered = found.lines
    digest = content_digest(file)
    if not found.faults and any(said.get("hash") != digest for said in later):
        what = "it is not what the next process found when it continued the run"
        found.faults.append(Fault(found.name, None, what))


def _parse_chain(data: bytes) -> tuple[dict[str, Any], list[bytes], dict[str, Any]]:
    rows = data.split(b"\n")
    torn = rows.pop()  # "" if the last line is complete
    opening = read_object(rows[0]) if rows else None
    hashes = rows[1:] if opening is not None else rows
    closing = read_object(hashes[-1]) if hashes and hashes[-1][:1] == b"{" else None
    if closing is not None:
        hashes = hashes[:-1]
    # A writer that was stopped can leave the beginning of a hash, or of the last line.
    is_hash = _HASH.match(torn.ljust(32, b"0")) is not None
    is_closing = torn.startswith(_CLOSED[: len(torn)]) and not torn.partition(b"}")[2]
    if torn and (closing is not None or not (is_hash or is_closing)):
        hashes = [*hashes, torn]
    return opening or {}, hashes, closing or {}


def _is_valid_closing(found: ChainedFile, first: bytes) -> bool:
    head = bytes.fromhex(found.head) if found.hashes and _HASH.fullmatch(found.hashes[-1]) else first
    try:
        return read_object(closing_line(head, found.expected, list(found.closing["layers"]))) == found.closing
    except (KeyError, TypeError):
        return False
