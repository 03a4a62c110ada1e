"""Questions to a model, which are asked only once, several at a time. Replies are stored in a folder of the run.

Each command writes its replies to a new file, `extraction/<model>-<version>/000001.jsonl` or `judge/…`, with one JSON
object on each line. A reply is on disk before the next question is asked. If a command is killed, the last line of its
file may be incomplete; the question of this line then counts as not asked. Files are never changed. Each command parses
the stored replies again, but scores are read from the layer that the command writes.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from harvest.systems.driver import DriverError
from recordings.events.event_lines import check_format
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import fsync_folder, inner_folder
from recordings.files.json_text import encode_line, read_lines
from recordings.files.lock import Lock
from recordings.log.journal import Journal
from recordings.secrets.redaction import Redactor
from simulators.outside import Message, Prompt, Sample, WordingSource
from topics.errors import HarvestError
from topics.identity import derived_seed
from topics.names import ascii_name


@dataclass(frozen=True, slots=True)
class ReplyKind:
    """A kind of replies: its folder in the run and the format of its files."""

    folder: str
    format: str


EXTRACTION_REPLIES = ReplyKind("extraction", "harvest-extraction/1")
JUDGE_REPLIES = ReplyKind("judge", "harvest-judge-replies/1")

_FILE_NUMBER = re.compile(r"(\d{6,})\.jsonl")


class KeptReplies:
    """An async context manager for the replies of one version of a model in one run. A reply is identified by the
    key of its question and the number of its sample, from 0."""

    def __init__(self, run: Path, kind: ReplyKind, author: str, version: str, redactor: Redactor) -> None:
        """Read the stored replies and lock their folder. Raises RunError, with file and line, for replies of
        another author or version, and if another process is asking. Raises StoreError if the folder cannot be
        written."""
        slug = ascii_name(author.lower(), "[^a-z0-9]+", 40) or "unknown"
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
        """Write a reply to disk, with secrets removed, and return it as written. `about` has the first item of the
        question, for people who read the file. Raises StoreError."""
        sample = Sample(self._redactor.text(sample.text), sample.finish)
        journal = self._journal or self._open_journal()
        row = {"key": key, "sample": number, **about, "finish": sample.finish, "text": sample.text}
        journal.write(encode_line(row))
        await journal.sync()
        self._kept[key, number] = sample
        return sample

    def release(self) -> None:
        """Release the lock without writing."""
        self._lock.release()

    async def __aenter__(self) -> "KeptReplies":
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
        numbers = [int(found[1]) for file in self._folder.iterdir() if (found := _FILE_NUMBER.fullmatch(file.name))]
        path = self._folder / f"{max(numbers, default=0) + 1:06d}.jsonl"
        try:
            self._journal = Journal.create(path)
        except OSError as fault:
            raise StoreError(path, fault) from fault
        self._journal.write(
            encode_line({"format": self._kind.format, "author": self._author, "version": self._version})
        )
        return self._journal

    def _read(self, file: Path) -> None:
        rows, _ = read_lines(file, file.parent)
        for i, (place, row) in enumerate(rows):
            if i == 0:
                check_format(row.get("format"), self._kind.format, place)
                if (row.get("author"), row.get("version")) != (self._author, self._version):
                    raise RunError(
                        f"these replies are from {row.get('author')}/{row.get('version')}, not from "
                        f"{self._author}/{self._version}",
                        place=place,
                        advice="move the file to another folder",
                    )
                continue
            match row:
                case {"key": str(key), "sample": int(number), "text": str(text), "finish": str(finish)}:
                    self._kept.setdefault((key, number), Sample(text, finish))
                case _:
                    raise RunError("a reply must have 'key', 'sample', 'finish' and 'text'", place=place)


_SEED_RANGE = 2**31  # endpoints take seeds of 31 bits
# Failures in a row after which nothing more is asked.
_MOST_FAILURES = 10


class Question(Protocol):
    """A question to a model. `key` is a hash of its messages, and `about` the first thing that the question is
    about."""

    @property
    def key(self) -> str: ...

    @property
    def messages(self) -> tuple[Message, ...]: ...

    @property
    def about(self) -> Mapping[str, str | int]: ...


class Reading(Protocol):
    """The content of a reply. `fault` is the reason why the reply could not be read, or ""."""

    @property
    def fault(self) -> str: ...


QuestionT = TypeVar("QuestionT", bound=Question)
ReadingT = TypeVar("ReadingT", bound=Reading)


@dataclass(frozen=True, slots=True)
class Asking(Generic[QuestionT, ReadingT]):
    """Settings for asking a set of questions.

    `name` is the name of the endpoint, and `act` names the task in its prompts. `stream` is the name of the random
    stream. The seed of a sample depends on this name, on `version` (the hash of prompt and sampling), on the
    question and on the number of the sample. `tries` is the largest number of samples of one question if replies
    cannot be read. `read` reads a reply. `of_question` returns True for a failure that is due to the question and
    so does not count as a failure of the endpoint. `most` is the largest number of requests, or None.
    """

    name: str
    act: str
    stream: str
    version: str
    tries: int
    concurrency: int
    read: Callable[[Sample, QuestionT], ReadingT]
    of_question: Callable[[str], bool] = lambda _: False
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Answers(Generic[ReadingT]):
    """The answers, by the key of the question. `readings` has the last reply to each question, readable or not.
    `failures` has the reason for each question without a reply, but not for questions in neither, which were not asked
    because of `Asking.most`. `requests` counts the requests that were sent and answered."""

    readings: Mapping[str, ReadingT]
    failures: Mapping[str, str]
    requests: int


async def ask_all(
    questions: Iterable[QuestionT],
    source: WordingSource,
    kept: KeptReplies,
    how: Asking[QuestionT, ReadingT],
    tell: Callable[[], None] = lambda: None,
) -> Answers[ReadingT]:
    """Ask every question without a stored reply, and call `tell` after each question. Failures of the endpoint
    become `failures`. After ten failures in a row, no further question is asked. Raises StoreError."""
    once = {one.key: one for one in questions}
    left = iter(once.values())
    readings: dict[str, ReadingT] = {}
    failures: dict[str, str] = {}
    requests = in_a_row = sent = 0
    last = ""

    async def answer(question: QuestionT) -> ReadingT | None:
        nonlocal requests, in_a_row, sent
        reading = None
        for number in range(how.tries):
            sample = kept.get(question.key, number)
            if sample is None:
                if how.most is not None and sent >= how.most:
                    break
                sent += 1  # before it goes out
                seed = derived_seed(0, how.stream, how.version, question.key, number) % _SEED_RANGE
                prompt = Prompt(how.name, how.act, question.messages, (question.key, number), seed)
                sample = await source.sample(prompt)
                requests, in_a_row = requests + 1, 0
                sample = await kept.keep(question.key, number, sample, {**question.about, "seed": seed})
            reading = how.read(sample, question)
            if not reading.fault:
                break
        return reading

    async def work() -> None:
        nonlocal in_a_row, last
        for question in left:
            if in_a_row >= _MOST_FAILURES and kept.get(question.key, 0) is None:
                failures[question.key] = f"not asked, after {_MOST_FAILURES} failures in a row; the last was: {last}"
            else:
                try:
                    if (reading := await answer(question)) is not None:
                        readings[question.key] = reading
                except DriverError as fault:
                    failures[question.key] = last = str(fault)
                    in_a_row = 0 if how.of_question(last) else in_a_row + 1
            tell()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(how.concurrency, len(once))):
                group.create_task(work())
    except* HarvestError as faults:
        raise faults.exceptions[0] from None  # the others are its echo
    return Answers(readings, failures, requests)


def strict_json(text: str) -> Any:
    """Parse a reply as strict JSON. Raises ValueError for invalid JSON, repeated keys, NaN and Infinity. Raises
    RecursionError if the reply is nested too deeply."""

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key appears twice")
        return found

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is not a JSON number")

    return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant)
