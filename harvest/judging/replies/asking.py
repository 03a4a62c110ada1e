"""Asking a model many questions: each once, several at a time, until it stops answering."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from harvest.judging.replies.kept import KeptReplies
from harvest.systems.driver import DriverError
from simulators.outside import Message, Prompt, Sample, WordingSource
from topics.errors import HarvestError
from topics.identity import derived_seed

_SEEDS = 2**31  # endpoints take seeds of 31 bits
# Failures in a row after which nothing more is asked.
_GIVE_UP = 10


class Question(Protocol):
    """A question to a model. `key` is a hash of its messages, and `about` the first place that it is about."""

    @property
    def key(self) -> str: ...

    @property
    def messages(self) -> tuple[Message, ...]: ...

    @property
    def about(self) -> Mapping[str, str | int]: ...


class Reading(Protocol):
    """The content of a reply. `fault` says why it could not be read; "" if it could."""

    @property
    def fault(self) -> str: ...


AskedT = TypeVar("AskedT", bound=Question)
ReadT = TypeVar("ReadT", bound=Reading)


@dataclass(frozen=True, slots=True)
class Asking(Generic[AskedT, ReadT]):
    """How questions are asked.

    `name` is that of the endpoint, and `act` the task, as a word for its prompts. `stream` is the name of the random
    stream; seeds depend on it, on `version` (the hash of prompt and sampling) and on the question. `tries` is the
    most samples of one question while replies are unreadable, each with its own seed. `read` reads replies.
    `of_question` is true if a failure is due to the question, and does not predict the next one.
    """

    name: str
    act: str
    stream: str
    version: str
    tries: int
    concurrency: int
    read: Callable[[Sample, AskedT], ReadT]
    of_question: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Answers(Generic[ReadT]):
    """The answers, by the key of the question: `readings` are the last replies, readable or not, and `failures` say
    why a question has no reply. `requests` counts those sent and answered."""

    readings: Mapping[str, ReadT]
    failures: Mapping[str, str]
    requests: int


async def ask_all(
    wanted: Iterable[AskedT],
    source: WordingSource,
    kept: KeptReplies,
    how: Asking[AskedT, ReadT],
    tell: Callable[[], None] = lambda: None,
) -> Answers[ReadT]:
    """Ask every question once, unless its reply is kept, and call `tell` after each. Failures of the endpoint become
    `failures`; after ten in a row nothing more is asked. Raises StoreError."""
    once = {one.key: one for one in wanted}
    left = iter(once.values())
    readings: dict[str, ReadT] = {}
    failures: dict[str, str] = {}
    requests = in_a_row = 0
    last = ""

    async def answer(question: AskedT) -> ReadT:
        nonlocal requests, in_a_row
        for number in range(how.tries):
            sample = kept.get(question.key, number)
            if sample is None:
                seed = derived_seed(0, how.stream, how.version, question.key, number) % _SEEDS
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
            if in_a_row >= _GIVE_UP and kept.get(question.key, 0) is None:
                failures[question.key] = f"not asked, after {_GIVE_UP} failures in a row; the last was: {last}"
            else:
                try:
                    readings[question.key] = await answer(question)
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
    """Parse a reply as strict JSON. Raises ValueError for invalid JSON, repeated keys, NaN and Infinity, and
    RecursionError if it is nested too deeply."""

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key appears twice")
        return found

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is not a number in JSON")

    return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant)
