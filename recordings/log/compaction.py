"""Compaction of a run: its closed files of events and their exhibits become segments, and files again if need be.

Nothing is lost at any instant. A segment is complete on the disk, and was read back, before the files that it replaces
are removed; readers prefer the files. So a run whose compaction was killed is readable, at worst not compacted, and
compacting it again finishes. Only a chain that agrees with its lines is shortened (`recordings.log.chain`): a file that
was changed keeps all its hashes, which show the place.

Exhibits that are compressed already (pictures, pages) stay where they are, and so do files that no event names.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from recordings.events.event_lines import FORMAT
from recordings.files import evidence, segments
from recordings.files.digests import content_digest, digest_blocks
from recordings.files.errors import RunError, StoreError
from recordings.files.json_text import encode_line
from recordings.files.lock import Lock
from recordings.files.stored_lines import NOTICE, files_of_lines
from recordings.log.chain import KeptLinks, chain_file, links_file, read_chain
from recordings.log.header import read_header
from topics.errors import Place
from topics.regular_file import list_entries, open_inside, read_inside

# Extensions of exhibits that would not become smaller.
_COMPRESSED = (".gz", ".jpg", ".pdf", ".png", ".webp", ".zip")
# Bytes of an exhibit that is put into a segment: reading it takes as much memory.
_LARGEST_EXHIBIT = 2**24
_OTHER_VERSION = "2: compacted; a later version reads it, or writes it as version 1 (harvest data compact RUN --undo)"


@dataclass(frozen=True, slots=True)
class Compaction:
    """What became of a run. `files` and `exhibits` are in segments now, or no longer. `before` and `after` are the
    bytes of its events, chains and evidence. `left` has a sentence on each file that stays as it is."""

    files: int
    exhibits: int
    before: int
    after: int
    left: tuple[str, ...] = ()


class _Left(Exception):
    """A file of events stays as it is."""


def compact(run: Path) -> Compaction:
    """Compact the run in the folder `run`. Raises RunError if it is not a run, is being written or has a damaged
    segment, and StoreError if the disk fails."""
    with _locked(run):
        before, left = _stored_bytes(run), []
        packed = {address for address, _ in _packed_exhibits(run)}
        files = exhibits = 0
        for file in files_of_lines(run, "trials-*.jsonl"):
            if not file.exists() and links_file(file).exists():
                chain_file(file).unlink(missing_ok=True)  # left by a process that was killed just then
            if not (file.exists() and file.stat().st_size):
                continue
            if not (run / NOTICE).exists():
                opening = {"event": "opened", "format": f"{FORMAT.partition('/')[0]}/{_OTHER_VERSION}"}
                evidence.write_safely(run / NOTICE, encode_line(opening))
            try:
                exhibits += _compact_file(run, file, packed)
                files += 1
            except _Left as reason:
                left.append(f"{file}{reason}")
        _remove_copies(run)
        return Compaction(files, exhibits, before, _stored_bytes(run), tuple(left))


def write_back(run: Path) -> Compaction:
    """Make files of all segments of the run in the folder `run`, as they were. Raises the errors of `compact`."""
    with _locked(run):
        before, files, exhibits = _stored_bytes(run), 0, 0
        for entry in list_entries(run, f"trials-*.jsonl{segments.SUFFIX}"):
            file = run / entry.name.removesuffix(segments.SUFFIX)
            with segments.open_segment(run, file.name) as segment:
                for number in range(len(segment.frames)):
                    for address, data in segment.exhibits(number).items():
                        evidence.keep_stored(run, address, data)
                        exhibits += 1
                if not file.exists():
                    if links_file(file).exists():
                        evidence.write_safely(chain_file(file), read_chain(file))
                    evidence.write_safely(file, map(segment.lines, range(len(segment.frames))))
            links_file(file).unlink(missing_ok=True)
            entry.unlink()
            files += 1
        (run / NOTICE).unlink(missing_ok=True)
        evidence.fsync_folder(run)
        return Compaction(files, exhibits, before, _stored_bytes(run))


@contextmanager
def _locked(run: Path) -> Iterator[None]:
    read_header(run)
    evidence.refuse_links(run)
    lock = Lock(run)
    try:
        for folder in (run, *list_entries(run, "evidence", "??")):
            evidence.remove_leftovers(folder)
        yield
    except segments.SegmentError as fault:
        raise RunError(str(fault.strerror), place=Place(fault.filename)) from None
    except OSError as fault:
        raise StoreError(fault.filename or run, fault) from fault
    finally:
        lock.release()


def _stored_bytes(run: Path) -> int:
    files = (*run.glob("trials-*"), *list_entries(run, "evidence", "??", "*"))
    return sum(file.lstat().st_size for file in files)


def _packed_exhibits(run: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the exhibits in segments that stay. A segment whose file is still here was written by a process that was
    killed then, and will be written again."""
    for entry in list_entries(run, f"trials-*.jsonl{segments.SUFFIX}"):
        name = entry.name.removesuffix(segments.SUFFIX)
        if not (run / name).exists():
            with segments.open_segment(run, name) as segment:
                for number in range(len(segment.frames)):
                    yield from segment.exhibits(number).items()


def _compact_file(run: Path, file: Path, packed: set[str]) -> int:
    """Make a segment of a file of events, and return the number of exhibits in it, which are added to `packed`."""
    chain, new = read_chain(file), set[str]()
    links = KeptLinks(chain)
    segment = segments.segment_of(file)
    evidence.write_safely(segment, segments.encode_segment(_batches(run, file, links if chain else None, packed, new)))
    kept = links.end()
    with segments.open_segment(run, file.name) as written:
        if digest_blocks(map(written.lines, range(len(written.frames)))) != content_digest(file):
            raise OSError(errno.EIO, "the data read back differs from the data written", str(segment))
    if chain:
        if kept is None:
            segment.unlink()
            raise _Left(": its chain covers lines that are missing, so it stays as it is")
        evidence.write_safely(links_file(file), kept)
    file.unlink()
    chain_file(file).unlink(missing_ok=True)
    evidence.fsync_folder(run)
    packed |= new
    return len(new)


def _batches(
    run: Path, file: Path, links: KeptLinks | None, packed: set[str], new: set[str]
) -> Iterator[segments.Batch]:
    lines: list[bytes] = []
    exhibits: dict[str, bytes] = {}
    count = size = more = 0
    with open_inside(run, file.name) as opened:
        for count, line in enumerate(opened, 1):
            if len(line) > segments.MOST - segments.FRAME:
                most = (segments.MOST - segments.FRAME) // 2**20
                raise _Left(f":{count}: this line is longer than {most} MiB, so the file stays as it is")
            lines.append(line)
            size += len(line)
            for address in evidence.named_exhibits(line):
                data = b"" if address in packed or address in new else _packable(run, address)
                if data and more + len(data) <= segments.MOST // 2:
                    exhibits[address] = data
                    new.add(address)
                    more += len(data)
            if max(size, more) >= segments.FRAME:
                yield _batch(lines, exhibits, links)
                lines, exhibits, size, more = [], {}, 0, 0
    if lines:
        yield _batch(lines, exhibits, links)


def _batch(lines: list[bytes], exhibits: dict[str, bytes], links: KeptLinks | None) -> segments.Batch:
    wrong = links.add(lines) if links else 0
    if wrong:
        raise _Left(f":{wrong}: this line was changed after it was written, so the file stays as it is")
    return segments.Batch(b"".join(lines), tuple(exhibits.items()))


def _packable(run: Path, address: str) -> bytes:
    """Return an exhibit that a segment makes smaller, or b"" for others and for those that are not what was kept."""
    if not segments.ADDRESS.fullmatch(address) or address.endswith(_COMPRESSED):
        return b""
    with suppress(OSError, ValueError):
        if (run / address).lstat().st_size <= _LARGEST_EXHIBIT:
            return evidence.read_exhibit(run, address)
    return b""


def _remove_copies(run: Path) -> None:
    """Remove the exhibits that are in segments as well."""
    folders = set()
    for address, data in _packed_exhibits(run):
        file = run / address
        with suppress(OSError):
            if file.exists() and read_inside(run, address) == data:
                file.unlink()
                folders.add(file.parent)
    for folder in folders:
        with suppress(OSError):  # it is not empty
            folder.rmdir()
