"""Two audits of a made-up system with one thing changed between them, recorded as a chat page would be."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harvest.systems.driver import Exhibit, Reply
from protocols.answer import Answer
from protocols.library import load_protocol
from recordings.conversations.conversation import SystemTurn
from recordings.log.header import make_header
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from tests.support.kept_answers import record_conversation
from topics.links import links_in
from topics.topic import Topic, TopicSet, TopicType

__all__ = ["CHANGES", "World", "record_world", "two_audits"]

_PROTOCOL = """\
format: harvest-protocol/1
name: linked
version: 1
rules:
  linked: {{urls: {{kind: any, at_least: {at_least}}}}}
start: ask
states:
  ask:
    say: "{says}"
    edges:
      - {{if: linked, label: o, stop: completed}}
      - {{otherwise: true, label: x, stop: breakdown}}
"""


@dataclass(frozen=True, slots=True)
class World:
    """chance: of an answer with links to the usual words; curt: to others. at_least: links that the rules ask for.
    lost: chance that a poorer reader missed the links of an answer, whose bubble was kept. hard: topics of which
    hardly any gets an answer with links, in place of as many others."""

    chance: float = 0.8
    curt: float = 0.4
    says: str = "Please name some {{ topic.request }}."
    at_least: int = 1
    lost: float = 0.0
    hard: int = 0


BEFORE = World()
CHANGES = {
    "system": replace(BEFORE, chance=0.45),
    "users": replace(BEFORE, says="{{ topic.request }}!"),
    "rules": replace(BEFORE, at_least=2),
    "reading": replace(BEFORE, lost=0.45),
    "topics": replace(BEFORE, hard=7),
}


def two_audits(folder: Path, changed: World, seed: int, *, topics: int = 15, trials: int = 5) -> tuple[Run, Run]:
    """The audits before and after; what chance decides is drawn anew in each."""
    rng = np.random.default_rng([31, seed])
    return (
        record_world(folder / "before", BEFORE, rng, topics=topics, trials=trials),
        record_world(folder / "after", changed, rng, topics=topics, trials=trials),
    )


def record_world(path: Path, world: World, rng: np.random.Generator, *, topics: int, trials: int) -> Run:
    path.mkdir(parents=True)
    text = path / "protocol.yaml"
    text.write_text(_PROTOCOL.format(at_least=world.at_least, says=world.says), encoding="utf-8")
    asyncio.run(_record(path / "run", world, rng, text, topics, trials))
    return read(path / "run")


async def _record(path: Path, world: World, rng: np.random.Generator, text: Path, topics: int, trials: int) -> None:
    protocol = load_protocol(str(text))
    usual = [Topic(f"T{number:02}", TopicType("t"), f"things {number}") for number in range(topics - world.hard)]
    hard = [Topic(f"H{number:02}", TopicType("t"), f"secrets {number}") for number in range(world.hard)]
    every = TopicSet("made-up", (*usual, *hard), {})
    header = make_header(audit={"name": "t", "trials": trials}, protocol=protocol, topics=every, systems={"page": {}})
    async with RunWriter.create(path, header) as writer:
        for topic in every.topics:
            said = world.says.replace("{{ topic.request }}", topic.request)
            chance = 0.1 if topic in hard else world.chance if said.startswith("Please") else world.curt
            for trial in range(1, trials + 1):
                links = int(rng.integers(1, 4)) if rng.random() < chance else 0
                turn = (said, _reply(links))
                lost = rng.random() < world.lost
                await record_conversation(
                    writer,
                    protocol,
                    topic,
                    [turn],
                    trial=trial,
                    exhibits=("reply",),
                    worse=lambda _, answer, lost=lost: Answer("Here:", ()) if lost else answer,  # type: ignore[misc]
                )


def _reply(links: int) -> Reply:
    addresses = [f"https://example.org/{number}" for number in range(links)]
    text = "\n".join(("Here:", *addresses))
    bubble = "".join(f'<p><a href="{one}">{one}</a></p>' for one in addresses)
    page = f'<h-page url="https://chat.example/" width="1280" height="800"><div><p>Here:</p>{bubble}</div></h-page>'
    turn = SystemTurn(Answer(text, links_in(text)))
    return Reply(turn, exhibits=(Exhibit("reply", "text/html", page.encode()),))
