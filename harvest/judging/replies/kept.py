"""A model's replies, kept in a folder of the run so that no question is asked twice.

Each command writes a file of its own, `extraction/<model>-<version>/000001.jsonl` or `judge/…`, one reply a line, which
is on disk before the next question is asked. A line cut short by a killed command stays the last of its file and
counts as not asked. Files are never changed. Replies are parsed anew each time; scores use the layer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from recordings.events.event_lines import check_format
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import fsync_folder
from recordings.files.inner_folder import inner_folder
from recordings.files.json_text import line, read_lines
from recordings.files.lock import Lock
from recordings.log.journal import Journal
from recordings.secrets.redaction import Redactor
from simulators.outside import Sample


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of replies: its folder in the run and the format of its files."""

    folder: str
    format: str


EXTRACTION_REPLIES = Kind("extraction", "harvest-extraction/1")
JUDGE_REPLIES = Kind("judge", "harvest-judge-replies/1")

_NUMBER = re.compile(r"(\d{6,})\.jsonl")


class KeptReplies:
    """An async context manager for the replies of one model, under one version, in one run. Replies are identified by
    the key of the question and the number of the sample, from 0."""

    def __init__(self, run: Path, kind: Kind, author: str, version: str, redactor: Redactor) -> None:
        """Read the kept replies and lock their folder. Raises RunError, with file and line, for a file from elsewhere
        and if another process is asking; StoreError if the folder cannot be written."""
        slug = re.sub(r"[^a-z0-9]+", "-", author.lower()).strip("-")[:40] or "unknown"
        self._kind = kind
        self._author, self._version, self._redactor = author, version, redactor
        self._journal: Journal | None = None
        self._kept: dict[tuple[str, int], Sample] = {}
        for name in (kind.folder, f"{kind.folder}/{slug}-{version}"):
            self._folder = inner_folder(run, name, "replies")
            try:
                self._folder.mkdir(exist_ok=True)
                fsync_folder(self._folder.parent)
            except OSError as fault:
                raise StoreError(self._folder, fault) from fault
        self._lock = Lock(self._folder)
        try:
            for file in sorted(self._folder.glob("*.jsonl")):
                self._read(file)
        except BaseException:
            self._lock.release()
            raise

    def get(self, key: str, number: int) -> Sample | None:
        return self._kept.get((key, number))

    async def keep(self, key: str, number: int, sample: Sample, about: Mapping[str, Any]) -> Sample:
        """Write a reply to disk without secrets, and return it as written. `about` is where the question was asked
        first, for people to read. Raises StoreError."""
        sample = Sample(self._redactor.text(sample.text), sample.finish)
        journal = self._journal or self._open_journal()
        row = {"key": key, "sample": number, **about, "finish": sample.finish, "text": sample.text}
        journal.write(line(row))
        await journal.sync()
        self._kept[key, number] = sample
        return sample

    def release(self) -> None:
        """Release the lock without writing."""
        self._lock.release()

    async def __aenter__(self) -> KeptReplies:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._journal is not None:
                await self._journal.close()
        finally:
            self._lock.release()

    def _open_journal(self) -> Journal:
        numbers = [int(found[1]) for file in self._folder.iterdir() if (found := _NUMBER.fullmatch(file.name))]
        path = self._folder / f"{max(numbers, default=0) + 1:06d}.jsonl"
        try:
            self._journal = Journal.create(path)
        except OSError as fault:
            raise StoreError(path, fault) from fault
        self._journal.write(line({"format": self._kind.format, "author": self._author, "version": self._version}))
        return self._journal

    def _read(self, file: Path) -> None:
        rows, _ = read_lines(file, file.parent)
        for i, (place, row) in enumerate(rows):
            if i == 0:
                check_format(row.get("format"), self._kind.format, place)
                if (row.get("author"), row.get("version")) != (self._author, self._version):
                    raise RunError(
                        f"these are replies of {row.get('author')}/{row.get('version')}, instead of those of "
                        f"{self._author}/{self._version}",
                        place=place,
                        advice="move the file away",
                    )
                continue
            match row:
                case {"key": str(key), "sample": int(number), "text": str(text), "finish": str(finish)}:
                    self._kept.setdefault((key, number), Sample(text, finish))
                case _:
                    raise RunError("a reply must have 'key', 'sample', 'finish' and 'text'", place=place)
