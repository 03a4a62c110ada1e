"""Asking a model for the nuggets of many passages: each once, some at a time, and no longer than it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from harvest.judging.extraction.kept import KeptReplies
from harvest.judging.extraction.prompting import prompt_messages
from harvest.judging.extraction.reply import Reading, read_reply
from harvest.systems.driver import DriverError
from recordings.conversation import Conversation
from scoring.words import Passage, passages
from simulators.outside import Message, Prompt, WordingSource
from topics.errors import HarvestError
from topics.identity import content_hash, derived_seed

__all__ = ["Answers", "Question", "ask_all", "questions"]

_SEEDS = 2**31
_GIVE_UP = 10
"""Failures in a row after which nothing more is asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """One passage and what is asked about it. key: of the words that are sent, so that a passage that is said again
    after the same words is the same question, and has the same nuggets. about: where it stands first.
    """

    key: str
    passage: Passage
    messages: tuple[Message, ...]
    about: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Answers:
    """What came, by the key of the question. readings: also those that could not be read, after the last sample.
    failures: where nothing came, why. requests: how many were sent and answered.
    """

    readings: Mapping[str, Reading]
    failures: Mapping[str, str]
    requests: int


def questions(conversation: Conversation) -> tuple[Question, ...]:
    """Every passage of a conversation that has a word in it, in order; the others have no nugget."""
    found, earlier = [], list[Passage]()
    for passage in passages(conversation):
        if passage.words:
            messages = prompt_messages(passage, earlier)
            key = content_hash("harvest-passage", [[one.role, one.text] for one in messages])
            about: dict[str, str | int] = {"trial": conversation.trial_id, "attempt": conversation.attempt}
            found.append(Question(key, passage, messages, {**about, "turn": passage.turn, "speaker": passage.speaker}))
        earlier.append(passage)
    return tuple(found)


async def ask_all(
    wanted: Iterable[Question],
    source: WordingSource,
    kept: KeptReplies,
    *,
    name: str,
    version: str,
    tries: int,
    concurrency: int,
    tell: Callable[[], None] = lambda: None,
) -> Answers:
    """Ask every question once, unless its reply is kept. An unreadable reply costs another sample, with a seed of its
    own, up to `tries` of them. name: of the endpoint. tell: called after each question.

    Failures of the endpoint become `failures`; after ten in a row nothing more is asked. Raises StoreError.
    """
    once = {one.key: one for one in wanted}
    left = iter(once.values())
    readings: dict[str, Reading] = {}
    failures: dict[str, str] = {}
    requests = in_a_row = 0
    last = ""

    async def answer(question: Question) -> Reading:
        nonlocal requests, in_a_row
        reading = Reading()
        for number in range(tries):
            sample = kept.get(question.key, number)
            if sample is None:
                seed = derived_seed(0, "nuggets", version, question.key, number) % _SEEDS
                prompt = Prompt(name, "extract", question.messages, (question.key, number), seed)
                sample = await source.sample(prompt)
                requests, in_a_row = requests + 1, 0
                sample = await kept.keep(question.key, number, sample, {**question.about, "seed": seed})
            reading = read_reply(sample, question.passage)
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
                    in_a_row += 1
                    failures[question.key] = last = str(fault)
            tell()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(once))):
                group.create_task(work())
    except* HarvestError as faults:
        raise faults.exceptions[0] from None  # the others are its echo
    return Answers(readings, failures, requests)
