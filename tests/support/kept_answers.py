"""Runs written by the store from answers of the browser driver, with the evidence they came with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harvest.systems.driver import Reply
from protocols.answer import Answer, Exchange
from protocols.interpreter import retrace
from protocols.protocol import Protocol
from protocols.route import Ask, Say, Stop
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Routed, TrialEnded, TrialStarted
from recordings.log.header import make_header, trial_identity
from recordings.log.store import RunWriter
from topics.topic import Topic, TopicSet, TopicType

__all__ = ["EVERY", "keep_answers", "record_conversation", "topic_of"]

EVERY = ("page", "reply", "watch")

Worse = Callable[[int, Answer], Answer]
"""What a poorer reading made of the answer to a turn."""


def topic_of(name: str) -> Topic:
    return Topic(name, TopicType("unknown"), name)


async def keep_answers(
    path: Path, said: Mapping[str, Sequence[tuple[str, Reply]]], *, exhibits: Collection[str] = EVERY
) -> None:
    """A run without a protocol: one conversation for each topic, with what was said and answered in it."""
    topics = TopicSet("kept", tuple(map(topic_of, said)), {})
    header = make_header(audit={"name": "kept"}, protocol=None, topics=topics, systems={"page": {}})
    async with RunWriter.create(path, header) as writer:
        for name, turns in said.items():
            await record_conversation(writer, None, topic_of(name), turns, exhibits=exhibits)


async def record_conversation(
    writer: RunWriter,
    protocol: Protocol | None,
    topic: Topic,
    turns: Sequence[tuple[str, Reply]],
    *,
    trial: int = 1,
    exhibits: Collection[str] = EVERY,
    worse: Worse = lambda turn, answer: answer,
    session: str = "",
    place: int = 1,
) -> None:
    """Record one conversation of the system `page` as the runner would, with its routes where there is a protocol."""
    identity = trial_identity(protocol, topic, writer.header.systems["page"], trial)
    start = TrialStarted(identity, TrialKey("page", topic.id, trial), 1, session or f"page/{trial}/{topic.id}", place)
    await writer.append(start)
    exchanges: list[Exchange] = []
    action: Say | Ask | Stop | None = None if protocol is None else retrace(protocol, topic, ())[0]
    for number, (text, reply) in enumerate(turns, 1):
        state = "" if action is None or isinstance(action, Stop) else action.state
        await writer.append(Asked(identity, 1, number, state, text))
        evidence = {
            exhibit.name: await writer.keep(exhibit.name, exhibit.media_type, exhibit.data)
            for exhibit in reply.exhibits
            if exhibit.name in exhibits
        }
        given: SystemTurn = replace(reply.turn, answer=worse(number, reply.turn.answer), evidence=evidence)
        turn = writer.redacted(given)
        await writer.append(Answered(identity, 1, number, turn))
        if protocol is not None:
            exchanges.append(Exchange(text, turn.answer))
            action = retrace(protocol, topic, exchanges)[number]
            assert action.route is not None
            await writer.append(Routed(identity, 1, action.route))
    outcome = Outcome(action.outcome, action.reason) if isinstance(action, Stop) else Outcome("completed")
    await writer.append(TrialEnded(identity, 1, outcome), sync=True)
