"""Runs of systems that cite, written by the store: what each answer cites is given, or drawn from a world."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from protocols.answer import Answer
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, TrialEnded, TrialStarted
from recordings.log.header import make_header, trial_identity
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from tests.support.exposure_worlds import ExposureWorld
from topics.identity import generator
from topics.topic import Topic, TopicSet, TopicType

# The addresses in the answer of a system to a topic in a trial, one list for each turn; or the answer itself.
Cited = Callable[[str, int, int], Sequence[Sequence[str] | Answer]]

TABLE = """domain,kind,owner
s1.example,broadcaster,One Group
s2.example,newspaper,One Group
s3.example,newspaper,Three Ltd
s4.example,authority,State
s5.example,blog,
"""
"""Of the first domains of `draw_addresses`."""


def record_cited(
    path: Path,
    cited: Cited,
    *,
    systems: Sequence[str] | Mapping[str, Mapping[str, Any]] = ("A",),
    topics: int = 15,
    trials: int = 3,
    lost: Collection[tuple[str, int, int]] = (),
    words: str = "things",
    audit: Mapping[str, Any] | None = None,
) -> Run:
    """Write a run. `systems` may have definitions, with an arm for example; `lost` are trials without an answer;
    `audit` is added to what the header says of the audit, such as its factors."""
    asyncio.run(_record(path, cited, systems, topics, trials, lost, words, audit or {}))
    return read(path)


async def _record(
    path: Path,
    cited: Cited,
    systems: Sequence[str] | Mapping[str, Mapping[str, Any]],
    topics: int,
    trials: int,
    lost: Collection[tuple[str, int, int]],
    words: str,
    audit: Mapping[str, Any],
) -> None:
    every = TopicSet("made-up", tuple(Topic(f"T{at:03}", TopicType("t"), f"{words} {at}") for at in range(topics)), {})
    definitions = {name: dict(systems[name]) if isinstance(systems, Mapping) else {} for name in systems}
    header = make_header(
        audit={"name": "citing", "trials": trials, **audit},
        protocol=None,
        topics=every,
        systems=dict(definitions),
    )
    async with RunWriter.create(path, header) as writer:
        for at, topic in enumerate(every.topics):
            for trial in range(1, trials + 1):
                for name, definition in definitions.items():
                    identity = trial_identity(None, topic.id, {"name": name, **definition}, trial)
                    await writer.append(TrialStarted(identity, TrialKey(name, topic.id, trial), 1))
                    if (name, at, trial) in lost:
                        await writer.append(TrialEnded(identity, 1, Outcome("invalid", "timeout")), sync=True)
                        continue
                    for number, own in enumerate(cited(name, at, trial), 1):
                        answer = (
                            own if isinstance(own, Answer) else Answer.of(" ".join(["Here is what I found.", *own]))
                        )
                        await writer.append(Asked(identity, 1, number, "asking", topic.request))
                        await writer.append(Answered(identity, 1, number, SystemTurn(answer)))
                    await writer.append(TrialEnded(identity, 1, Outcome("completed")), sync=True)


def draw_addresses(world: ExposureWorld, seed: int = 0) -> Callable[[str, int, int], list[list[str]]]:
    """Cite domains `s1.example`, `s2.example`, … by the law of a world; each topic has one law for all systems."""

    def cited(system: str, topic: int, trial: int) -> list[list[str]]:
        counts = world.draw(generator(seed, "cited", str(world), system, str(topic), str(trial)), 1, 1)[0, 0]
        rng = generator(seed, "order", system, str(topic), str(trial))
        found = np.repeat(np.flatnonzero(counts), counts[np.flatnonzero(counts)])
        rng.shuffle(found)
        return [[f"https://s{domain + 1}.example/{topic}/{place}" for place, domain in enumerate(found.tolist())]]

    return cited
