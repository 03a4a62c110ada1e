"""How many turns are under way at a time, of systems that are busy and of systems that are not: by a stepped clock."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from harvest.systems.delivery import deliver
from harvest.systems.driver import NotSent, Reply, Unanswered
from harvest.systems.limits import Gate, Limits
from harvest.systems.load import Load
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from tests.support.stepping import Stepped

SECONDS = {1: 4.0, 2: 9.0}
"""What a first and a second turn take, on average, where nobody else is served."""


@dataclass
class System:
    """Answers after times that spread log-normally, and no more than `places` turns at a time: the others wait.

    shared: all are answered at a time, and all take longer, as where one machine computes all answers.
    """

    time: Stepped
    places: int
    spread: float
    seed: int
    shared: bool = False
    inside: int = 0

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.free = asyncio.Semaphore(self.places)

    async def say(self, turn: int, seconds: float | None = None) -> None:
        took = (seconds or SECONDS[turn]) * math.exp(self.rng.normal(0, self.spread) - self.spread**2 / 2)
        if self.shared:
            self.inside += 1
            await asyncio.sleep(took * max(1.0, self.inside / self.places))
            self.inside -= 1
            return
        async with self.free:
            await asyncio.sleep(took)


@dataclass
class Played:
    """seconds: for all turns. eased: the levels that were told. under_way: the most that were at a time, by turn."""

    seconds: float = 0.0
    eased: list[int] = field(default_factory=list)
    under_way: list[int] = field(default_factory=list)

    @property
    def last(self) -> float:
        """The mean of the last fifth of the turns."""
        return float(np.mean(self.under_way[-len(self.under_way) // 5 :]))


def play(
    places: int,
    *,
    most: int = 50,
    turns: int = 4000,
    spread: float = 0.3,
    seed: int = 1,
    adapting: bool = True,
    shared: bool = False,
    seconds: float | None = None,
) -> Played:
    """`most` sessions hold conversations of two turns with a system, until it was asked `turns` of them."""
    time, played = Stepped(), Played()
    system = System(time, places, spread, seed, shared)
    load = Load(most if adapting else None, time.clock, played.eased.append)
    left, under_way = turns, 0

    async def hold() -> None:
        nonlocal left, under_way
        while left > 0:
            for turn in (1, 2):
                left -= 1
                async with load.place(turn):
                    under_way += 1
                    played.under_way.append(under_way)
                    await system.say(turn, seconds)
                    under_way -= 1

    async def all_of_them() -> None:
        await asyncio.gather(*(hold() for _ in range(most)))

    time.run(all_of_them())
    played.seconds = time.seconds
    return played


@pytest.mark.parametrize("shared", [False, True])
def test_a_busy_system_gets_fewer_concurrent_turns_and_answers_as_many(shared: bool) -> None:
    fewer = [play(10, seed=seed, shared=shared) for seed in range(3)]
    whole = [play(10, seed=seed, shared=shared, adapting=False) for seed in range(3)]
    assert all(one.eased[0] == 25 for one in fewer)
    assert all(one.last < 30 < 45 < other.last for one, other in zip(fewer, whole, strict=True))
    assert sum(one.seconds for one in fewer) < 1.03 * sum(one.seconds for one in whole)


@pytest.mark.parametrize(("most", "spread"), [(50, 0.3), (50, 0.8), (8, 0.3), (4, 0.8)])
def test_a_system_that_is_not_busy_gets_as_many_turns_as_allowed(most: int, spread: float) -> None:
    fewer = [play(1000, most=most, spread=spread, seed=seed) for seed in range(3)]
    whole = [play(1000, most=most, spread=spread, seed=seed, adapting=False) for seed in range(3)]
    assert [one.eased for one in fewer] == [[]] * 3
    assert max(max(one.under_way) for one in fewer) == most
    assert sum(one.seconds for one in fewer) < 1.06 * sum(one.seconds for one in whole)


@pytest.mark.soak
@pytest.mark.parametrize("spread", [0.3, 0.8])
@pytest.mark.parametrize("places", [4, 10, 20, 32, 45, 1000])
def test_the_cost_of_the_tries_over_many_runs(places: int, spread: float) -> None:
    """Where a third less than all can be served, some runs stay at half: they take up to a third longer."""
    seeds = range(20)
    longer = [
        play(places, spread=spread, seed=seed, turns=6000).seconds
        / play(places, spread=spread, seed=seed, turns=6000, adapting=False).seconds
        for seed in seeds
    ]
    assert np.mean(longer) < (1.10 if places == 32 else 1.05)
    assert max(longer) < 1.35


def test_a_system_that_is_no_longer_busy_gets_as_many_turns_as_before() -> None:
    time, eased = Stepped(), list[int]()
    load = Load(16, time.clock, eased.append)
    system = System(time, 4, 0.3, 1)
    under_way, most = 0, list[int]()

    async def hold(turns: int) -> None:
        nonlocal under_way
        for number in range(turns):
            async with load.place(number % 2 + 1):
                under_way += 1
                most.append(under_way)
                await system.say(number % 2 + 1)
                under_way -= 1

    async def twice() -> None:
        await asyncio.gather(*(hold(300) for _ in range(16)))
        assert eased
        assert max(most[-500:]) <= 8
        system.free = asyncio.Semaphore(1000)
        await asyncio.gather(*(hold(1500) for _ in range(16)))

    time.run(twice())
    assert np.median(most[-500:]) == 16


@pytest.mark.parametrize("quick", [{"seconds": 0.005}, {"turns": 900}, {"most": 3}])
def test_nothing_is_tried_if_it_would_not_pay_off(quick: dict[str, float]) -> None:
    played = play(1, **{"turns": 3000, "seconds": 4.0, **quick})  # type: ignore[arg-type]
    assert played.eased == []
    most = int(quick.get("most", 50))
    assert min(played.under_way[most:-most]) == most


async def test_turns_are_sent_in_order_of_arrival_and_a_stopped_one_leaves_no_gap() -> None:
    load, out = Load(2), list[int]()
    answered = [asyncio.Event() for _ in range(6)]

    async def turn(number: int) -> None:
        async with load.place(1):
            out.append(number)
            await answered[number].wait()

    turns = [asyncio.create_task(turn(number)) for number in range(6)]
    await asyncio.sleep(0)
    assert out == [0, 1]
    turns[2].cancel()  # while it waits
    await asyncio.sleep(0)
    answered[0].set()
    turns[3].cancel()  # in the moment in which it is let through, or before
    for _ in range(3):
        await asyncio.sleep(0)
    assert out == [0, 1, 4]
    answered[1].set()
    for _ in range(3):
        await asyncio.sleep(0)
    assert out == [0, 1, 4, 5]
    for event in answered:
        event.set()
    await asyncio.gather(*turns, return_exceptions=True)
    async with load.place(1), load.place(1):
        pass


async def test_a_turn_that_is_stopped_right_after_its_admission_passes_its_place_on() -> None:
    load = Load(1)
    first, second, third = (load.place(1) for _ in range(3))
    await first.__aenter__()
    waiting = [asyncio.create_task(place.__aenter__()) for place in (second, third)]
    await asyncio.sleep(0)
    await first.__aexit__(None, None, None)
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)
    await asyncio.wait_for(waiting[1], 5)


def test_a_turn_that_waits_for_a_retry_keeps_no_place_and_its_wait_is_not_an_answer() -> None:
    time = Stepped()
    gate = Gate(0.0, time.clock, Load(1, time.clock))
    said: list[tuple[str, float]] = []

    @dataclass
    class Session:
        name: str
        faults: list[NotSent | Unanswered]

        async def say(self, text: str) -> Reply:
            said.append((self.name, time.seconds))
            if self.faults:
                raise self.faults.pop(0)
            await asyncio.sleep(1.0)
            return Reply(SystemTurn(Answer(text)))

        async def close(self) -> None:
            """Nothing is held."""

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            for session in (Session("failing", [NotSent("http-503")]), Session("well", [])):
                limits = Limits(retries=1, retry_wait=10.0)
                group.create_task(deliver(session, "Hello?", stateful=True, limits=limits, gate=gate, seed=1, turn=1))

    time.run(both())
    assert [name for name, _ in said] == ["failing", "well", "failing"]
    assert said[1][1] == 0.0
    assert said[2][1] >= 10.0
