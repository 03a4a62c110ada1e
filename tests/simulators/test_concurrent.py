"""Many conversations at once: neither their order nor how many run beside each other changes a single turn."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harvest.audits.system import System
from harvest.drivers.parrot import Options, build
from harvest.playing.attempt import Player
from harvest.playing.plan import Plan, Sitting, Work
from harvest.playing.play import SilentWatcher
from harvest.playing.runner import Runner
from harvest.systems.driver import Driver, Opening, Reply, Session, Surroundings
from harvest.systems.limits import Limits
from protocols.library import load_protocol
from recordings.conversations.conversation import TrialKey
from recordings.events.events import Answered, Asked, Event, Routed, TrialEnded
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from topics.library import load_topics

TOPICS = load_topics("fairweb-45")
PROTOCOL = """\
format: harvest-protocol/1
name: wander
version: 1
turn_limit: 5
rules: {useful: {urls: {kind: asked}}}
users:
  visitor:
    simulator: random
    leave: 0.3
    acts: {more: 2, insist: 1, detail: 1}
start: ask
states:
  ask:
    say: "{{ topic.request }} Format: {{ topic.asks_for }}"
    edges: [{if: useful, label: o, go: wander}, {otherwise: true, label: x, go: wander}]
  wander:
    user: visitor
    edges: [{if: useful, label: o, go: wander}, {otherwise: true, label: x, go: wander}]
"""


@dataclass
class Memory:
    """A store without a disk."""

    events: list[Event] = field(default_factory=list)

    async def append(self, *events: Event, sync: bool = False) -> tuple[Event, ...]:
        self.events.extend(events)
        await asyncio.sleep(0)
        return events

    def redacted(self, value: Any) -> Any:
        return value

    async def keep_all(self, exhibits: Sequence[tuple[str, str, bytes]]) -> dict[str, str]:
        return {}

    def conversations(self) -> dict[str, list[object]]:
        found: dict[str, list[object]] = {}
        for event in self.events:
            said = found.setdefault(event.trial_id, [])
            match event:
                case Asked():
                    said.append((event.turn, event.state, event.user, event.act, event.text))
                case Answered():
                    said.append(event.reply.answer.text)
                case Routed():
                    said.append((event.route.label, event.route.target))
                case TrialEnded():
                    said.append(event.outcome)
        return found


class Jittery:
    """A driver whose answers come after the others have had their turns, or have not."""

    def __init__(self, inner: Driver, seed: int) -> None:
        self.inner, self.capabilities, self.jitter = inner, inner.capabilities, random.Random(seed)

    async def open(self, opening: Opening) -> Session:
        return Late(await self.inner.open(opening), self.jitter)

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class Late:
    inner: Session
    jitter: random.Random

    async def say(self, text: str) -> Reply:
        for _ in range(self.jitter.randrange(4)):
            await asyncio.sleep(0)
        return await self.inner.say(text)

    async def close(self) -> None:
        await self.inner.close()


class Failing(SilentWatcher):
    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        raise AssertionError(reason)


async def played(path: Path, works: Sequence[Work], concurrency: int, jitter: int) -> dict[str, list[object]]:
    protocol = load_protocol(path)
    store = Memory()
    system = System("P", "parrot", {}, "fresh", Limits(concurrency=concurrency), ())
    driver = build(Options(profile="erratic"), Surroundings("P", Path(), topics=TOPICS))
    player = Player(store, ScriptedUser(protocol, build_users(protocol)), seed=11)  # type: ignore[arg-type]
    plan = Plan({"P": tuple(Sitting((work,)) for work in works)}, len(works), 0, 0, 0)
    await Runner(player, (system,), {"P": Jittery(driver, jitter)}, Failing()).play(plan)
    return store.conversations()


@pytest.mark.parametrize("number", [300, pytest.param(3000, marks=pytest.mark.soak)])
async def test_conversations_are_the_same_in_any_order_and_at_any_concurrency(number: int, tmp_path: Path) -> None:
    path = tmp_path / "wander.yaml"
    path.write_text(PROTOCOL)
    works = [
        Work(TrialKey("P", topic.id, trial), topic, f"{topic.id} {trial}")
        for topic in TOPICS.topics
        for trial in range(1, 68)
    ]
    works = works[:: len(works) // number][:number]  # of all topics
    one_by_one = await played(path, works, 3, 1)
    shuffled = list(works)
    random.Random(7).shuffle(shuffled)
    at_once = await played(path, shuffled, number, 2)
    assert len(one_by_one) == number
    assert one_by_one == at_once
    # Trials are trials: ten repeats are not one, and conversations of several lengths are among them.
    assert len({str(turns) for turns in one_by_one.values()}) > number * 2 / 3
    assert len({len(turns) for turns in one_by_one.values()}) > 3
