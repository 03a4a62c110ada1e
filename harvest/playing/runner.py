"""Runner of a plan: all systems are played in parallel and in step, each with as many sessions as its limits allow.

The runner uses users, drivers and the store only through their interfaces, and knows nothing about scores. After an
invalid attempt, the trial is tried again in a new session at the end of the queue, because a system that fails now
may recover. All groups of users of a system share its driver, queue, pace, session limit, and count of invalid
attempts.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol as Seam

from harvest.audits.system import System
from harvest.playing.attempt import AttemptState, Lease, Player
from harvest.playing.plan import Plan, Sitting, Work, queue_sittings
from harvest.systems.driver import UNRECORDED, Driver, Opening
from harvest.systems.limits import BusyTracker, Gate, Gates, OpeningQueue, local_gate
from harvest.systems.load import Load
from harvest.systems.toll import CapReached
from protocols.answer import Exchange
from recordings.conversations.conversation import Outcome, TrialKey
from topics.counting import pluralize
from topics.identity import derived_seed


class Steps:
    """Hands out sittings so that no system gets more than one trial ahead. `queues` has the queue of each system. A
    system that was given up or has an empty queue does not delay the other systems."""

    def __init__(self, queues: Mapping[str, deque[Sitting]]) -> None:
        self._queues = queues
        self._moved = asyncio.Condition()

    async def next_sitting(self, system: str) -> Sitting | None:
        """Wait until the next sitting of a system is due, and return the sitting, or None if nothing is left."""
        queue = self._queues[system]
        async with self._moved:
            await self._moved.wait_for(lambda: not queue or not self._is_ahead(system, queue[0]))
            taken = queue.popleft() if queue else None
            self._moved.notify_all()
        return taken

    async def give_up_system(self, system: str) -> int:
        """Give up a system, and return the number of its unplayed trials."""
        async with self._moved:
            unplayed = sum(len(sitting.works) for sitting in self._queues[system])
            self._queues[system].clear()
            self._moved.notify_all()
        return unplayed

    def _is_ahead(self, system: str, sitting: Sitting) -> bool:
        trial, _ = sitting.block
        return any(
            queue[0].block[0] < trial - 1 for name, queue in self._queues.items() if name != system and len(queue) > 0
        )


class Watcher(Seam):
    """An observer of a run, such as a progress display. Observers make no decisions."""

    def turn_asked(self, work: Work) -> None: ...

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None: ...

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        """Report that a system was given up. `system` is its name without a group."""
        ...

    def pace_lowered(self, system: str, why: str) -> None:
        """Report that a system is asked less often than allowed. `why` continues a sentence after the system's name."""
        ...


async def _close_driver(driver: Driver) -> None:
    with suppress(Exception):  # everything is recorded by now
        await driver.close()


@dataclass(slots=True)
class _Desk:
    """The sittings of a system with all its groups: `queue` has those of the round that is played, `waiting` those of
    later rounds. `drivers` are those of the recorded systems, by name. `left` is the reason why the system was given
    up, or ""."""

    system: System
    drivers: Mapping[str, Driver]
    gate: Gate
    openings: OpeningQueue
    queue: deque[Sitting]
    steps: Steps
    waiting: deque[Sitting]
    tries: dict[TrialKey, int] = field(default_factory=dict)  # in this command; earlier ones do not count
    invalid_in_a_row: int = 0
    left: str = ""
    told_gap: float = 0.5  # seconds between turns; reported again when they double


@dataclass(frozen=True, slots=True)
class Runner:
    """Plays a plan. `player` plays attempts into the store. `systems` are the systems as recorded. `drivers` has a
    driver for each system that is asked, from each place; `play` closes the drivers at its end. `gates` set the pace
    of each system.
    """

    player: Player
    systems: tuple[System, ...]
    drivers: Mapping[str, Driver]
    watcher: Watcher
    gates: Gates = local_gate

    async def play(self, plan: Plan) -> None:
        """Play every sitting of the plan, or, with a cap, as many rounds as the cap allows. Raises StoreError if a turn
        cannot be written to disk, and InputError if the cap cannot be kept."""
        meter = self.player.meter
        async with AsyncExitStack() as stack:
            queues: dict[str, deque[Sitting]] = {}
            steps = Steps(queues)
            desks: list[_Desk] = []
            for asked in dict.fromkeys(system.asked for system in self.systems):
                systems = [system for system in self.systems if system.asked == asked]
                limits = systems[0].limits
                for door in dict.fromkeys(system.door for system in systems):
                    stack.push_async_callback(_close_driver, self.drivers[door])
                drivers = {system.name: self.drivers[system.door] for system in systems}
                queue = queues[asked] = deque()
                load = Load(limits.concurrency, self.player.clock, partial(self._ease_pace, asked))
                told = partial(self.watcher.pace_lowered, asked)
                busy = BusyTracker(limits.busy_timeout, self.player.clock, told, limits.spacing)
                gate = self.gates(asked, limits.spacing, load, busy)
                openings = OpeningQueue(limits.retry_wait, limits.retries, self.player.clock)
                waiting = deque(queue_sittings(plan, systems, self.player.seed))
                desks.append(_Desk(systems[0], drivers, gate, openings, queue, steps, waiting))
            while any(desk.waiting for desk in desks):
                number = None
                if meter is not None:
                    number = min(meter.round(desk.waiting[0].block[0]) for desk in desks if desk.waiting)
                    if not meter.ledger.may_begin(number):
                        break
                for desk in desks:
                    while desk.waiting and (meter is None or number == meter.round(desk.waiting[0].block[0])):
                        desk.queue.append(desk.waiting.popleft())
                async with asyncio.TaskGroup() as group:
                    for desk in desks:
                        for _ in range(min(desk.system.limits.concurrency, len(desk.queue))):
                            group.create_task(self._work_through(desk))
                if meter is not None and meter.over:
                    break
        if meter is not None and meter.fault is not None:
            raise meter.fault

    async def _work_through(self, desk: _Desk) -> None:
        asked = desk.system.asked
        with suppress(CapReached):
            while not desk.left and (sitting := await desk.steps.next_sitting(asked)) is not None:
                desk.queue.extend(await self._play_sitting(desk, sitting))
                if desk.left and (unplayed := await desk.steps.give_up_system(asked)):
                    unplayed += sum(len(sitting.works) for sitting in desk.waiting)
                    desk.waiting.clear()
                    self.watcher.system_left(asked, desk.left, unplayed)
            return
        await desk.steps.give_up_system(asked)  # others need not wait for it

    async def _play_sitting(self, desk: _Desk, sitting: Sitting) -> list[Sitting]:
        lease, history = self._make_lease(desk, sitting)
        try:
            for i, work in enumerate(sitting.works):
                place = lease.place
                played = await self.player.play(
                    work, desk.system, lease, desk.gate, partial(self.watcher.turn_asked, work)
                )
                again = self._judge_attempt(desk, work, played)
                if desk.gate.gap >= max(2 * desk.told_gap, 2 * desk.system.limits.spacing):
                    desk.told_gap = desk.gate.gap
                    told = f"gets a turn every {desk.gate.gap:.1f} s: it says that it gets too many requests"
                    self.watcher.pace_lowered(desk.system.asked, told)
                self.watcher.attempt_ended(work, played.outcome, tuple(played.labels), again=again)
                if not played.outcome.valid:
                    rest = sitting.works[i + 1 :]
                    if again:
                        rest = (work.next_attempt(), *rest)
                    return [Sitting(rest, tuple(history), place)] if rest else []
                history.extend(played.exchanges)
                if played.outcome.kind == "system-ended" and i + 1 < len(sitting.works):
                    # A turn sent into a closed session would fail, and the next topic lose an attempt.
                    await lease.close()
                    lease, history = self._make_lease(desk, Sitting(sitting.works[i + 1 :]))
        finally:
            await lease.close()
        return []

    def _ease_pace(self, asked: str, turns: int) -> None:
        told = f"gets {pluralize(turns, 'turn')} at a time: more would only make its answers slower"
        self.watcher.pace_lowered(asked, told)

    def _make_lease(self, desk: _Desk, sitting: Sitting) -> tuple[Lease, list[Exchange]]:
        first = sitting.works[0]
        driver = desk.drivers[first.key.system]
        resumable = driver.capabilities.editable_history
        history, place = (list(sitting.history), sitting.place) if resumable else ([], 0)
        key = first.key
        opening = Opening(
            system=key.system,
            topic=key.topic,
            trial=key.trial,
            # Not of the attempt: a trial that is played again after a kill draws the same numbers.
            seed=derived_seed(self.player.seed, key.system, key.topic, key.trial, "system"),
            history=tuple(history),
        )
        name = f"{key.system}/{key.trial}/{key.topic}/{first.attempt}"
        return Lease(driver, opening, desk.openings, name, place), history

    def _judge_attempt(self, desk: _Desk, work: Work, played: AttemptState) -> bool:
        if played.outcome.valid:
            desk.invalid_in_a_row = 0
            return False
        if played.outcome.reason in UNRECORDED:  # no sign of trouble
            return False
        desk.invalid_in_a_row += 1
        desk.tries[work.key] = desk.tries.get(work.key, 0) + 1
        if played.denied:
            desk.left = f"it refuses every request ({played.outcome.reason}: {played.outcome.detail})"
        elif desk.gate.busy.over:
            desk.left = desk.gate.busy.over
        elif desk.invalid_in_a_row >= desk.system.limits.give_up_after:
            failed = pluralize(desk.invalid_in_a_row, "invalid attempt")
            desk.left = f"{failed} in a row (the last: {played.outcome.reason})"
        return not desk.left and desk.tries[work.key] < desk.system.limits.attempts
