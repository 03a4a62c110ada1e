"""Segments: compressed files of lines, each with the exhibits that its lines name.

The segment of `trials-000001.jsonl` is `trials-000001.jsonl.zst`. It consists of

    zstd frames         up to 1 MiB of whole lines each; `zstdcat` prints the lines of all frames
    skippable frames    after a frame of lines, the exhibits that these lines are the first to name
    a skippable frame   the index: the sizes of all frames, and the frame of each exhibit

Programs for zstd pass over skippable frames. Exhibits are compressed with the lines before them as a prefix, because a
raw reply repeats the answer that the lines contain. Every frame has a checksum and is decompressed separately, to no
more than the index says and `MOST` allows, so a hostile file takes little memory.

Readers of a file of lines use `recordings.files.stored_lines`, which opens the file or, if there is none, its segment.
"""

import errno
import json
import os
import re
import struct
import sys
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from topics.regular_file import list_entries, open_inside

SUFFIX = ".zst"
# Bytes that a frame of lines is made of, unless a single line is longer: what a damaged byte costs, and what has to be
# decompressed for one exhibit.
FRAME = 2**20
# The most bytes in a frame, and so in a line.
MOST = 64 * 2**20

# The address of an exhibit, as `recordings.files.evidence` makes it.
ADDRESS = re.compile(r"evidence/([0-9a-f]{2})/\1[0-9a-f]{38}\.[a-z]+(?:\.[a-z]+)?")

_FORMAT = "harvest-segment/1"
_BLOCK_SIZE = 2**18
_LEVEL = 12  # 19 saves a twentieth more and takes twelve times as long
_WORKERS = 2
_SKIPPABLE, _LARGEST_SKIPPABLE = 0x184D2A50, 2**32 - 1
_HEAD = struct.Struct("<II")  # of a skippable frame: its mark, and the bytes that follow
_FOOTER = struct.Struct("<I8s")  # of the index: the bytes of its skippable frame, and a mark
_MARK = b"harvest1"
_DIGEST, _PLACE = 4, 7  # bytes of an exhibit's name in the index, and of these with the number of its frame


class SegmentError(OSError):
    """A damaged segment. `strerror` says where."""


@cache
def _zstd() -> Any:
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def segment_of(lines: Path) -> Path:
    """Return the path of the segment of a file of lines."""
    return lines.with_name(lines.name + SUFFIX)


@dataclass(frozen=True, slots=True)
class Batch:
    """The content of a frame: whole lines, and exhibits by their addresses."""

    lines: bytes
    exhibits: Sequence[tuple[str, bytes]] = ()


class _Frame(NamedTuple):
    """A frame of lines: bytes on the disk and of its lines, the number of its lines, and the bytes of its exhibits on
    the disk and decompressed, 0 if there are none."""

    compressed: int
    size: int
    lines: int
    packed: int = 0
    unpacked: int = 0


def encode_segment(batches: Iterable[Batch]) -> Iterator[bytes]:
    """Yield the bytes of a segment. Two frames are compressed at a time, and each is decompressed again as a check."""
    frames: list[_Frame] = []
    places: list[bytes] = []
    for batch, lines, packed, unpacked in _compress_all(batches):
        places += [_short_name(address) + len(frames).to_bytes(3) for address, _ in batch.exhibits]
        count = batch.lines.count(b"\n") + (not batch.lines.endswith(b"\n"))
        frames.append(_Frame(len(lines), len(batch.lines), count, len(packed), unpacked))
        yield lines
        if packed:
            yield _skippable(packed)
    index = json.dumps({"format": _FORMAT, "frames": frames}).encode() + b"\n" + b"".join(sorted(places))
    data = _compress(index)
    yield _skippable(data + _FOOTER.pack(_HEAD.size + len(data) + _FOOTER.size, _MARK))


def _compress_all(batches: Iterable[Batch]) -> Iterator[tuple[Batch, bytes, bytes, int]]:
    with ThreadPoolExecutor(_WORKERS, thread_name_prefix="segment") as pool:
        begun: deque[Future[tuple[Batch, bytes, bytes, int]]] = deque()
        for batch in batches:
            begun.append(pool.submit(_compress_batch, batch))
            if len(begun) > _WORKERS:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def _compress_batch(batch: Batch) -> tuple[Batch, bytes, bytes, int]:
    lines, packed, unpacked = _compress(batch.lines), b"", b""
    if batch.exhibits:
        table = json.dumps([[address, len(data)] for address, data in batch.exhibits], separators=(",", ":"))
        unpacked = table.encode() + b"\n" + b"".join(data for _, data in batch.exhibits)
        packed = _compress(unpacked, batch.lines)
    read = _decompress(lines, len(batch.lines)), packed and _decompress(packed, len(unpacked), batch.lines)
    if read != (batch.lines, unpacked):
        raise OSError(errno.EIO, "what was compressed does not decompress to the same bytes")
    return batch, lines, packed, len(unpacked)


def _compress(data: bytes, prefix: bytes = b"") -> bytes:
    zstd = _zstd()
    options = {zstd.CompressionParameter.compression_level: _LEVEL, zstd.CompressionParameter.checksum_flag: 1}
    known = zstd.ZstdDict(prefix, is_raw=True).as_prefix if prefix else None
    return cast(bytes, zstd.compress(data, options=options, zstd_dict=known))


def _decompress(data: bytes, size: int | None = None, prefix: bytes = b"") -> bytes | None:
    """Return the `size` bytes (None: up to `MOST`) in a frame, or None if it does not contain exactly these."""
    zstd = _zstd()
    known = zstd.ZstdDict(prefix, is_raw=True).as_prefix if prefix else None
    decompressor = zstd.ZstdDecompressor(zstd_dict=known, options={zstd.DecompressionParameter.window_log_max: 27})
    try:
        found = cast(bytes, decompressor.decompress(data, (MOST if size is None else size) + 1))
    except (zstd.ZstdError, EOFError):
        return None
    whole = decompressor.eof and not decompressor.unused_data
    return found if whole and size in (None, len(found)) else None


def _skippable(data: bytes) -> bytes:
    if len(data) > _LARGEST_SKIPPABLE:
        raise OSError(errno.EFBIG, "the index of the segment is too large")
    return _HEAD.pack(_SKIPPABLE, len(data)) + data


def _short_name(address: str) -> bytes:
    """Return the first bytes of the hash in an address, or b"" for what is not an address of evidence."""
    name = address.rpartition("/")[2][: 2 * _DIGEST]
    return bytes.fromhex(name) if re.fullmatch(r"[0-9a-f]+", name) and len(name) == 2 * _DIGEST else b""


@dataclass(frozen=True, slots=True)
class _Index:
    frames: Sequence[_Frame]
    starts: Sequence[int]  # of each frame of lines, and of the index
    places: bytes


_indexes: dict[tuple[int, ...], _Index] = {}  # of the files that were read last
_MOST_INDEXES = 16


class Segment:
    """An open segment. `size` is the number of bytes of its lines. Raises SegmentError if the file is damaged or is not
    a segment. With `mend`, a damaged index is replaced by the frames that can be read from the beginning on."""

    def __init__(self, file: BinaryIO, path: Path, *, mend: bool = False) -> None:
        self.path, self._file = path, file
        found = os.fstat(file.fileno())
        self.stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        try:
            self._index = _indexes.get(self.stamp) or self._read_index(found.st_size)
            if len(_indexes) >= _MOST_INDEXES:
                _indexes.clear()
            _indexes[self.stamp] = self._index
        except SegmentError:
            if not mend:
                raise
            self._index = self._find_frames()
        self.frames = self._index.frames
        self.size = sum(frame.size for frame in self.frames)

    def __enter__(self) -> "Segment":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def lines(self, number: int) -> bytes:
        """Return the lines in the frame `number`, from 0. Only the last frame may end within a line."""
        frame, last = self.frames[number], number == len(self.frames) - 1
        found = _decompress(self._read(self._index.starts[number], frame.compressed), frame.size)
        if found is None or not (last or found.endswith(b"\n")):
            raise self._damage(f"frame {number + 1} of {len(self.frames)}")
        return found

    def exhibits(self, number: int) -> dict[str, bytes]:
        """Return the exhibits that are stored with the lines in the frame `number`, by their addresses."""
        frame = self.frames[number]
        if not frame.packed:
            return {}
        head, found = _HEAD.pack(_SKIPPABLE, frame.packed), None
        data = self._read(self._index.starts[number] + frame.compressed, len(head) + frame.packed)
        if data.startswith(head):
            found = _decompress(data[len(head) :], frame.unpacked, self.lines(number))
        exhibits, at = {}, 0
        table, _, content = (found or b"").partition(b"\n")
        try:
            for address, size in json.loads(table):
                if not ADDRESS.fullmatch(address):  # it would become a path
                    raise ValueError("not an address")
                exhibits[address] = content[at : at + size]
                at += size
            if at != len(content):
                raise ValueError("the sizes do not match")
        except (ValueError, TypeError, RecursionError):
            raise self._damage(f"the exhibits of frame {number + 1} of {len(self.frames)}") from None
        return exhibits

    def frames_of(self, address: str) -> Iterator[int]:
        """Yield the numbers of the frames in which the exhibit at `address` may be stored."""
        places, wanted = self._index.places, _short_name(address)
        starts = range(0, len(places), _PLACE)
        first = bisect_left(starts, wanted, key=lambda at: places[at : at + _DIGEST])
        for at in starts[first:]:
            if places[at : at + _DIGEST] != wanted:
                return
            yield int.from_bytes(places[at + _DIGEST : at + _PLACE])

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)

    def _read_index(self, end: int) -> _Index:
        footer = self._read(max(0, end - _FOOTER.size), _FOOTER.size)
        size, mark = _FOOTER.unpack(footer) if len(footer) == _FOOTER.size else (0, b"")
        if mark != _MARK or not _HEAD.size + _FOOTER.size < size <= min(end, MOST):
            raise self._damage("its end: it is cut off, or harvest data compact did not write it")
        data = self._read(end - size, size)
        head, _, places = (_decompress(data[_HEAD.size : -_FOOTER.size]) or b"").partition(b"\n")
        try:
            said = json.loads(head)
            form, frames = str(said["format"]), [_Frame(*map(int, row)) for row in said["frames"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._damage("its index") from None
        if form != _FORMAT:
            what = f"it has the format {form[:60]!r}; read it with the version of Harvest that wrote it"
            raise SegmentError(errno.EINVAL, f"its segment {self.path.name} cannot be read: {what}", str(self.path))
        starts = [0]
        for frame in frames:
            starts.append(starts[-1] + frame.compressed + bool(frame.packed) * (_HEAD.size + frame.packed))
        bounded = all(0 <= number <= MOST for frame in frames for number in frame)
        if not bounded or starts[-1] != end - size or data[: _HEAD.size] != _HEAD.pack(_SKIPPABLE, size - _HEAD.size):
            raise self._damage("its index")
        return _Index(frames, starts, places)

    def _find_frames(self) -> _Index:
        frames: list[_Frame] = []
        starts, at = list[int](), 0
        while len(head := self._read(at, _HEAD.size)) == _HEAD.size:
            mark, size = _HEAD.unpack(head)
            if mark == _SKIPPABLE:
                at += _HEAD.size + size
                continue
            frame = self._measure_frame(at)
            if frame is None:
                break
            frames.append(frame)
            starts.append(at)
            at += frame.compressed
        return _Index(frames, starts, b"")

    def _measure_frame(self, start: int) -> _Frame | None:
        decompressor = _zstd().ZstdDecompressor()
        read = size = lines = 0
        try:
            while not decompressor.eof and size <= MOST:
                data = self._read(start + read, _BLOCK_SIZE) if decompressor.needs_input else b""
                if not data and decompressor.needs_input:
                    return None
                read += len(data)
                found = decompressor.decompress(data, _BLOCK_SIZE)
                size += len(found)
                lines += found.count(b"\n")
        except _zstd().ZstdError:
            return None
        return _Frame(read - len(decompressor.unused_data), size, lines) if decompressor.eof else None

    def _damage(self, where: str) -> SegmentError:
        return SegmentError(errno.EBADMSG, f"its segment {self.path.name} is damaged: {where}", str(self.path))


def open_segment(folder: str | PathLike[str], name: str, *, mend: bool = False) -> Segment:
    """Open the segment of the file `name` in `folder`. `mend` is as in `Segment`. Raises OSError as `open_inside` and
    `Segment` do."""
    file = open_inside(folder, name + SUFFIX)
    try:
        return Segment(file, Path(folder) / (name + SUFFIX), mend=mend)
    except BaseException:
        file.close()
        raise


def segment_fault(lines: Path) -> str:
    """Return a description of the damage in the segment of a file of lines, or "" if all of it can be read."""
    try:
        with open_segment(lines.parent, lines.name) as segment:
            for number in range(len(segment.frames)):
                segment.lines(number)
                segment.exhibits(number)
    except OSError as fault:
        return str(fault.strerror)
    return ""


def list_packed(run: Path) -> Iterator[str]:
    """Yield the addresses of the exhibits in the segments of a run folder, but for damaged frames. Raises OSError."""
    for segment in _segments(run, mend=True):
        with segment:
            for number in range(len(segment.frames)):
                with suppress(SegmentError):
                    yield from list(segment.exhibits(number))


def read_packed(run: Path, address: str) -> bytes | None:
    """Return the exhibit at an address from a segment of a run folder, or None if none has it. Raises OSError."""
    for segment in _segments(run):
        with segment:
            for number in segment.frames_of(address):
                known = (segment.stamp, number)
                if known not in _recent:
                    exhibits = segment.exhibits(number)
                    if len(_recent) >= _MOST_RECENT:
                        _recent.clear()
                    _recent[known] = exhibits
                found = _recent[known].get(address)
                if found is not None:
                    return found
    return None


_recent: dict[tuple[tuple[int, ...], int], dict[str, bytes]] = {}  # exhibits by frame: the next one is often near
_MOST_RECENT = 8


def _segments(run: Path, *, mend: bool = False) -> Iterator[Segment]:
    for entry in list_entries(run, f"trials-*.jsonl{SUFFIX}"):
        with suppress(FileNotFoundError):
            yield open_segment(run, entry.name.removesuffix(SUFFIX), mend=mend)
