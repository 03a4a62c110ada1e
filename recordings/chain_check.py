"""Whether a recording is as it was written: every file against its chain, its name, or what names it.

A chain without a key proves that nothing was changed by accident, or by somebody who did not mean to deceive: who can
write the folder can also write a new chain. What proves more is the hash of the recording, kept or signed elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recordings.chain import chain_file, closing_line, content_digest, linked, read_object
from recordings.decisions import read_decisions
from recordings.errors import RunError
from recordings.evidence import evidence_fault
from recordings.judgments import layer_fault
from recordings.run_folder import event_files
from topics.regular_file import entries

__all__ = ["Checked", "Fault", "changed_since", "check_recording", "recording_hash"]

_HASH = re.compile(rb"[0-9a-f]{32}")
_CLOSED = b'{"closed":true,'


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was written. file: its path in the run. line: from 1; None where it is the file."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass(slots=True)
class Checked:
    """hash: of the recording, 32 hex digits. lines: of events; chained: how many a chain or a later file covers.
    evidence, layers: files whose content is what their names say. notes: what cannot be told, and why."""

    hash: str
    lines: int = 0
    chained: int = 0
    evidence: int = 0
    layers: int = 0
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def recording_hash(run: Path) -> str:
    """Of `run.json` and every file of events, which name the evidence by its content. Judgments, which may be added
    later, are not in it. Raises OSError."""
    digest = hashlib.blake2b(digest_size=16, person=b"harvest-run")
    for file in (run / "run.json", *event_files(run)):
        digest.update(f"{file.name} {content_digest(file)}\n".encode())
    return digest.hexdigest()


def check_recording(run: Path) -> Checked:
    """Every file of the run folder `run`, also where it cannot be read as a run. Raises OSError."""
    found = Checked(recording_hash(run))
    named = _check_chains(run, found)
    _check_evidence(run, named, found)
    _check_layers(run, found)
    _check_decisions(run, found)
    return found


def changed_since(run: Path) -> list[Fault]:
    """What the chains in the run folder `run` show not to be as it was written: of events, of `run.json`, and layers of
    judgments that are gone. Raises OSError."""
    found = Checked("")
    _check_chains(run, found)
    return found.faults


def _check_chains(run: Path, found: Checked) -> set[str]:
    """Check all that the chains tell; the addresses of evidence that events name."""
    files = event_files(run)
    covered = _covered(files)
    layers: set[str] = set()
    headers: list[str] = []
    named: set[str] = set()
    for file in files:
        opening, closing = _check_file(file, covered.get(file.name, []), found, named)
        layers.update(map(str, closing.get("layers") or ()))
        headers += [str(opening["header"])] if "header" in opening else []
    _check_header(run, headers, found)
    for chain in sorted(run.glob("trials-*.chain")):
        if not chain.with_suffix(".jsonl").exists():
            found.faults.append(Fault(f"{chain.stem}.jsonl", None, "its chain is here, and it is gone"))
    gone = sorted(layers - {file.name for file in entries(run, "judgments", "*.jsonl")})
    found.faults += [
        Fault(f"judgments/{name}", None, "it was here when the run was closed, and is gone") for name in gone
    ]
    return named


def _covered(files: list[Path]) -> dict[str, list[Mapping[str, Any]]]:
    """By file of events, what chains of later files say of it."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for file in files:
        opening, _, _ = _chain_of(file)
        before = opening.get("before")
        for name, said in before.items() if isinstance(before, dict) else ():
            found.setdefault(name, []).append(said)
    return found


def _chain_of(events: Path) -> tuple[dict[str, Any], list[bytes], dict[str, Any]]:
    """The first line, the hashes, and the last line of a chain; {} for what it does not have."""
    path = chain_file(events)
    if not path.is_file():
        return {}, [], {}
    rows = path.read_bytes().split(b"\n")
    torn = rows.pop()  # "" where the last line is whole
    opening = read_object(rows[0]) if rows else None
    hashes = rows[1:] if opening is not None else rows
    closing = read_object(hashes[-1]) if hashes and hashes[-1][:1] == b"{" else None
    if closing is not None:
        hashes = hashes[:-1]
    if torn and (closing is not None or not _is_begun(torn)):
        hashes = [*hashes, torn]
    return opening or {}, hashes, closing or {}


def _is_begun(torn: bytes) -> bool:
    """Whether a writer that was stopped can have left it: the beginning of a hash, or of the last line."""
    if _HASH.match(torn.ljust(32, b"0")):
        return True
    return torn.startswith(_CLOSED[: len(torn)]) and torn.partition(b"}")[2] == b""


def _check_file(
    file: Path, later: list[Mapping[str, Any]], found: Checked, named: set[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    opening, hashes, closing = _chain_of(file)  # first: a writer may be at work, and lines come before their hashes
    with file.open("rb") as opened:
        lines = list(opened)
    whole = [data for data in lines if data.endswith(b"\n")]
    found.lines += len(whole)
    for data in whole:
        evidence = (read_object(data) or {}).get("evidence") if b'"evidence"' in data else None
        named.update(map(str, evidence.values()) if isinstance(evidence, dict) else ())
    name, before = file.name, len(found.faults)
    if not opening:
        if lines and chain_file(file).exists():  # without lines, its writer was stopped before it began
            found.faults.append(Fault(chain_file(file).name, 1, "its first line is not that of a chain"))
        elif later:
            _check_whole(file, later, found, len(whole))
        else:
            found.notes.append(f"{name}: recorded without a chain, so nothing shows whether it is as it was written")
        return opening, closing
    first = chain_file(file).read_bytes().partition(b"\n")[0] + b"\n"
    found.faults += _broken(name, linked(b"", first), whole, hashes)
    found.chained += min(len(whole), len(hashes))
    if len(hashes) > len(whole):
        lost = len(hashes) - len(whole)
        lines_were = "line that was written is" if lost == 1 else "lines that were written are"
        what = f"{lost} {lines_were} gone from its end"
        found.faults.append(Fault(name, len(whole) + 1, what))
    if closing and not _is_own(closing, hashes, linked(b"", first)):
        found.faults.append(Fault(chain_file(file).name, len(hashes) + 2, "its last line is not what was written"))
    if closing and len(whole) < len(lines):
        found.faults.append(Fault(name, len(lines), "something was written after the file was closed"))
    if later:
        found.chained -= min(len(whole), len(hashes))
        _check_whole(file, later, found, len(whole), told=len(found.faults) > before)
    elif not closing:
        found.notes.append(
            f"{name}: not closed: its writer was stopped, is still at work, or its end was cut off with its chain's"
        )
    elif len(whole) > len(hashes):
        found.faults.append(Fault(name, len(hashes) + 1, "lines were added after the file was closed"))
    return opening, closing


def _is_own(closing: Mapping[str, Any], hashes: list[bytes], first: bytes) -> bool:
    head = bytes.fromhex(hashes[-1].decode()) if hashes and _HASH.fullmatch(hashes[-1]) else first
    try:
        return read_object(closing_line(head, len(hashes), list(closing["layers"]))) == closing
    except (KeyError, TypeError):
        return False


def _check_whole(file: Path, later: list[Mapping[str, Any]], found: Checked, lines: int, *, told: bool = False) -> None:
    """Against what the next process saw of a file that was not closed. told: a fault of it was found already."""
    found.chained += lines
    digest = content_digest(file)
    if not told and any(said.get("hash") != digest for said in later):
        found.faults.append(
            Fault(file.name, None, "it is not what the next process found when it went on with the run")
        )


def _broken(name: str, head: bytes, lines: list[bytes], hashes: list[bytes]) -> Iterator[Fault]:
    """Where lines and hashes do not agree. A change of one line, or of one hash, breaks nothing after it."""
    chain = f"{name.removesuffix('.jsonl')}.chain"
    for place, (data, said) in enumerate(zip(lines, hashes, strict=False)):
        own = linked(head, data)
        stored = bytes.fromhex(said.decode()) if _HASH.fullmatch(said) else b""
        if own == stored:
            head = own
            continue
        following = hashes[place + 1] if place + 1 < len(hashes) else b""
        after = lines[place + 1] if place + 1 < len(lines) else None
        if after is not None and linked(own, after).hex().encode() == following:
            yield Fault(chain, place + 2, "this hash was changed; the line of events is as it was written")
            head = own
        elif not stored:
            yield Fault(chain, place + 2, "this is not a hash; the line of events cannot be checked")
            head = own
        elif after is None or linked(stored, after).hex().encode() == following:
            yield Fault(name, place + 1, "this line is not what was written")
            head = stored
        else:
            yield Fault(name, place + 1, "from here on nothing is what was written: lines changed, moved or are gone")
            return


def _check_header(run: Path, headers: list[str], found: Checked) -> None:
    if not headers:
        found.notes.append("run.json: recorded without a chain, so nothing shows whether it is as it was written")
    elif content_digest(run / "run.json") != headers[-1]:
        found.faults.append(Fault("run.json", None, "it is not what it was when the last process began to record"))


def _check_evidence(run: Path, named: set[str], found: Checked) -> None:
    there = {
        file.relative_to(run).as_posix()
        for file in entries(run, "evidence", "??", "*")
        if not file.name.startswith(".")
    }
    for address in sorted(there):
        fault = evidence_fault(run, address)
        if fault:
            found.faults.append(Fault(address, None, fault))
        else:
            found.evidence += 1
    found.faults += [Fault(address, None, "named by an event, and gone") for address in sorted(named - there)]


def _check_layers(run: Path, found: Checked) -> None:
    for file in sorted(entries(run, "judgments", "*.jsonl")):
        fault = layer_fault(file)
        if fault:
            found.faults.append(Fault(f"judgments/{file.name}", None, fault))
        else:
            found.layers += 1


def _check_decisions(run: Path, found: Checked) -> None:
    """They may be added to at any time, and have no hash: only whether they can be read is known."""
    try:
        read_decisions(run)
    except RunError as fault:
        place = fault.place
        file = f"decisions/{Path(place.path).name}" if place and place.path.endswith(".jsonl") else "decisions"
        found.faults.append(Fault(file, place.line or None if place else None, fault.what))
