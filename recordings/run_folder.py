"""Reading a run folder: every attempt that was recorded, and what is wrong with the files.

Reading changes nothing and needs no lock, so a run can be looked at while it is being written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from recordings.attempts import Attempt, Attempts
from recordings.conversation import Conversation, TrialKey
from recordings.errors import RunError
from recordings.event_lines import FORMAT, check_format, decode
from recordings.events import Failed
from recordings.header import Header, topic_order
from recordings.json_text import read_lines
from recordings.store import read_header
from topics.errors import Place

__all__ = ["Run", "RunFolder", "is_run", "read"]


@dataclass(frozen=True)
class Run:
    """A run as read. attempts: in the order of system, topic, trial and attempt; systems and topics in the order
    of the header, names it does not know after them. damage: torn last lines and unknown events, as sentences.
    """

    path: Path
    header: Header
    attempts: tuple[Attempt, ...]
    damage: tuple[str, ...]

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        """Every attempt: valid, invalid and interrupted."""
        return tuple(attempt.conversation() for attempt in self.attempts)

    @cached_property
    def finished(self) -> tuple[Conversation, ...]:
        """One valid conversation for each trial that has one: its first valid attempt."""
        return first_valid(self.conversations)

    @cached_property
    def interrupted(self) -> tuple[Conversation, ...]:
        """Attempts without an end: the writer was stopped, or is still at work."""
        return tuple(conversation for conversation in self.conversations if conversation.outcome is None)

    @property
    def failures(self) -> tuple[Failed, ...]:
        """What broke on the way to a system, in the order of the attempts."""
        return tuple(failure for attempt in self.attempts for failure in attempt.failures)


def first_valid(conversations: Iterable[Conversation]) -> tuple[Conversation, ...]:
    """The first valid attempt of each trial; `conversations` has the attempts of a trial in order."""
    found: dict[TrialKey, Conversation] = {}
    for conversation in conversations:
        if conversation.valid:
            found.setdefault(conversation.key, conversation)
    return tuple(found.values())


def is_run(path: str | PathLike[str]) -> bool:
    """Whether `path` is a run folder (of any version)."""
    return (Path(path) / "run.json").is_file()


def read(path: str | PathLike[str]) -> Run:
    """Read the run in the folder `path`.

    Raises RunError, with file and line, for anything but a torn last line: garbage, turns out of order, events of
    an attempt that was not started, an unknown version.
    """
    folder = Path(path)
    header = read_header(folder)
    attempts, damage = Attempts(), []
    for file in sorted(folder.glob("trials-*.jsonl")):
        damage += _read_file(file, attempts)
    return Run(folder, header, tuple(_ordered(attempts.found.values(), header)), tuple(damage))


def _read_file(file: Path, attempts: Attempts) -> list[str]:
    worker = file.name.removeprefix("trials-").removesuffix(".jsonl")
    rows, torn = read_lines(file, file.parent)
    damage = [torn] if torn else []
    if not rows and not torn:
        damage = [f"{file} is empty: its writer was stopped before its first line, or it was emptied"]
    unknown: dict[str, Place] = {}
    for i, (place, row) in enumerate(rows):
        if i == 0:
            if row.get("event") != "opened":
                raise RunError("the file does not begin with an opened line", place=place)
            check_format(row.get("format"), FORMAT, place)
            continue
        event = decode(row, place)
        if event is None:
            unknown.setdefault(str(row["event"]), place)
        else:
            attempts.take(event, row, worker, place)
    damage += [f"{place}: events {kind!r} are not known here and were left out" for kind, place in unknown.items()]
    return damage


def _ordered(attempts: Iterable[Attempt], header: Header) -> list[Attempt]:
    systems = {name: i for i, name in enumerate(header.systems)}
    topics = topic_order(header)

    def rank(attempt: Attempt) -> tuple[object, ...]:
        key = attempt.started.key
        return (
            systems.get(key.system, len(systems)),
            key.system,
            topics.get(key.topic, len(topics)),
            key.topic,
            key.trial,
            attempt.started.attempt,
            attempt.started.trial_id,
        )

    return sorted(attempts, key=rank)


class RunFolder:
    """What is done to a run folder as a whole, under one name."""

    @staticmethod
    def read(path: str | PathLike[str]) -> Run:
        """The same as `read`."""
        return read(path)
