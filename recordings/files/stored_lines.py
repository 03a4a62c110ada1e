"""Files of lines as they are stored: as a file or, once compacted, as a segment (`recordings.files.segments`).

A file becomes a segment, or a file again, while others read it. The new form is there before the old one goes.
"""

import io
import os
from contextlib import suppress
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from recordings.files.segments import SUFFIX, Segment, SegmentError, open_segment, segment_of
from topics.regular_file import open_inside

# A file without lines of its own: versions of Harvest that do not know segments refuse a run with it.
NOTICE = "trials-compacted.jsonl"


def open_lines(folder: str | PathLike[str], name: str | PathLike[str], *, mend: bool = False) -> BinaryIO:
    """Open the file of lines `name` in `folder`, or its segment if there is no such file. Raises OSError as
    `open_inside` does, also if the segment is damaged; reading raises it, too. With `mend`, a damaged frame of a
    segment is read as one line of NUL, and the end of one without an index is missing."""
    name = os.fspath(name)
    for last in (False, True):
        with suppress(FileNotFoundError):
            return open_inside(folder, name)
        try:
            return io.BufferedReader(_SegmentLines(open_segment(folder, name, mend=mend), mend=mend), 2**17)
        except FileNotFoundError:
            if last:  # in between, the segment may have become a file again
                break
    return open_inside(folder, name)


def read_lines(folder: str | PathLike[str], name: str, most: int = -1) -> bytes:
    """Return the bytes of the file of lines `name` in `folder`, at most `most` bytes (-1: all). Raises OSError."""
    with open_lines(folder, name) as file:
        return file.read(most)


def size_of_lines(lines: Path) -> int:
    """Return the size in bytes of a file of lines, or of the content of its segment; for a damaged segment, the size of
    the segment itself. Raises OSError."""
    try:
        return lines.lstat().st_size
    except FileNotFoundError:
        pass
    try:
        with open_lines(lines.parent, lines.name) as file:
            return file.seek(0, os.SEEK_END)
    except SegmentError:
        return segment_of(lines).lstat().st_size


def has_lines(lines: Path) -> bool:
    """Return True if there is something in the place of a file of lines or of its segment."""
    return os.path.lexists(lines) or os.path.lexists(segment_of(lines))


def files_of_lines(run: Path, pattern: str) -> list[Path]:
    """Return the files of lines in `run` whose names match, in order, including files that only exist as a segment."""
    names: set[str] = set()
    for _ in range(2):  # a file that becomes a segment meanwhile, or the other way round, is in one of two lists
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            names.update(entry.name.removesuffix(SUFFIX) for entry in run.iterdir())
    return [run / name for name in sorted(names - {NOTICE}) if fnmatchcase(name, pattern)]


class _SegmentLines(io.RawIOBase):
    """The lines of a segment as a file that can be read and sought in."""

    def __init__(self, segment: Segment, *, mend: bool) -> None:
        super().__init__()
        self._segment, self._mend = segment, mend
        self._at = 0
        self._number, self._begins, self._data = -1, 0, b""  # the frame in memory, and the position of its first byte

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._segment.size}[whence]
        self._at = max(0, origin + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        rest = self._rest()
        given = rest[: len(buffer)]
        buffer[: len(given)] = given
        self._at += len(given)
        return len(given)

    def readall(self) -> bytes:
        found = []
        while rest := self._rest():
            found.append(rest.tobytes())
            self._at += len(rest)
        return b"".join(found)

    def _rest(self) -> memoryview:
        """Return what the frame at this position still contains, or b"" at the end."""
        if not self._begins <= self._at < self._begins + len(self._data):
            if self._at < self._begins or self._number < 0:
                self._number, self._begins = 0, 0
            else:
                self._begins += len(self._data)
                self._number += 1
            while self._number < len(self._segment.frames):
                size = self._segment.frames[self._number].size
                if self._at < self._begins + size:
                    break
                self._begins += size
                self._number += 1
            self._data = self._read_frame(self._number) if self._number < len(self._segment.frames) else b""
        return memoryview(self._data)[self._at - self._begins :]

    def _read_frame(self, number: int) -> bytes:
        try:
            return self._segment.lines(number)
        except SegmentError:
            if not self._mend:
                raise
            return b"\0\n"  # shorter than the frame, but mended lines are only read from beginning to end

    def close(self) -> None:
        self._segment.close()
        super().close()
