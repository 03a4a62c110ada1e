"""One pace for workers that share nothing but a semaphore and a board."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from harvest.cluster.shared_pace import SharedGate, SharedGates
from harvest.systems.driver import NotSent
from harvest.systems.limits import BusyTracker
from harvest.systems.load import Load
from harvest.systems.timing import REAL_CLOCK, Clock, Stopwatch

SPACING = 0.05


class OneLease:
    """As Dask's semaphore with one lease, for gates of one process. held: how often somebody had it."""

    abandoned = False

    def __init__(self) -> None:
        self.held = 0
        self._lock = threading.Lock()

    def acquire(self, timeout: float | None = None) -> bool:
        got = self._lock.acquire(timeout=timeout or -1)
        self.held += got
        return got

    def release(self) -> bool:
        self._lock.release()
        return True


class Memory(dict[str, Any]):
    """A board for gates of one process."""

    def read(self) -> Mapping[str, Any]:
        return dict(self)

    def write(self, key: str, value: Any) -> None:
        self[key] = value


async def test_turns_of_several_gates_pass_one_at_a_time() -> None:
    semaphore, passed = OneLease(), list[float]()
    board = Memory()
    gates = [SharedGate(SPACING, REAL_CLOCK, semaphore, board) for _ in range(3)]

    async def play(gate: SharedGate) -> None:
        for _ in range(3):
            await gate.wait_for_turn()
            passed.append(REAL_CLOCK.monotonic())
        await gate.free()

    await asyncio.gather(*map(play, gates))
    gaps = [later - earlier for earlier, later in pairwise(passed)]
    assert semaphore.held == 9
    assert min(gaps) >= SPACING
    assert not board, "nothing is written while nobody complains"


async def test_the_gap_begins_when_the_turn_is_sent() -> None:
    semaphore, board = OneLease(), Memory()
    one, other = (SharedGate(SPACING, REAL_CLOCK, semaphore, board) for _ in range(2))
    await one.wait_for_turn()
    await asyncio.sleep(SPACING / 2)  # the connection took its time
    watch = Stopwatch()
    sent = watch.clock.monotonic()
    await other.wait_for_turn()
    gap = watch.clock.monotonic() - sent
    assert gap >= SPACING
    await other.free()


async def test_a_system_without_a_pace_needs_no_semaphore_until_it_complains() -> None:
    semaphore, board = OneLease(), Memory()
    gates = SharedGates(lambda name: (semaphore, board), {"A": "harvest A"})
    one, other = (gates("A", 0.0, Load(), BusyTracker()) for _ in range(2))
    complaints = await one.wait_for_turn()
    for _ in range(100):
        await other.wait_for_turn()
    assert semaphore.held == 0
    began = REAL_CLOCK.monotonic()
    await one.slow_down(complaints, 0.3)
    await asyncio.sleep(0.2)  # in which the other looks
    await other.wait_for_turn()
    waited = REAL_CLOCK.monotonic() - began
    assert waited >= 0.3
    assert semaphore.held == 1
    await gates.close()


async def test_a_complaint_to_one_worker_delays_all_and_then_spaces_their_turns() -> None:
    semaphore, board = OneLease(), Memory()
    one, other = (SharedGate(SPACING, REAL_CLOCK, semaphore, board) for _ in range(2))
    complaints = await one.wait_for_turn()
    assert await other.wait_for_turn() == complaints == 0
    began = REAL_CLOCK.monotonic()
    await one.slow_down(complaints, 0.2)
    await other.slow_down(complaints, 0.3)  # of a turn that was under way at the same time
    passed = []
    for gate in (other, one, other):
        assert await gate.wait_for_turn() == 1
        passed.append(REAL_CLOCK.monotonic())
    assert passed[0] - began >= 0.3
    assert min(later - earlier for earlier, later in pairwise(passed)) >= 2 * 0.95 * SPACING
    assert await one.wait_for_turn() == 1
    await one.slow_down(1, 0.0)
    assert await other.wait_for_turn() == 2
    for gate in (one, other):
        await gate.free()


async def test_if_the_leading_waiter_is_stopped_the_next_one_waits() -> None:
    semaphore, board = OneLease(), Memory()
    one, other = (SharedGate(SPACING, REAL_CLOCK, semaphore, board) for _ in range(2))
    await one.slow_down(await one.wait_for_turn(), 0.3)
    waiting = asyncio.create_task(one.wait_for_turn())
    await asyncio.sleep(0.2)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    began = REAL_CLOCK.monotonic()
    await other.wait_for_turn()
    waited = REAL_CLOCK.monotonic() - began
    assert waited >= 0.3
    await other.free()


async def test_a_stop_ends_a_gate_that_waits_for_its_turn() -> None:
    semaphore = OneLease()
    semaphore.acquire()
    slept = Clock(sleep=asyncio.sleep)
    waiting = asyncio.create_task(SharedGate(SPACING, slept, semaphore, Memory()).wait_for_turn())
    await asyncio.sleep(0.01)
    waiting.cancel()
    semaphore.release()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert semaphore.acquire(timeout=1)


async def test_a_worker_that_is_stopped_while_it_waits_keeps_the_rate_limit_for_the_others() -> None:
    semaphore, board = OneLease(), Memory()
    gates = SharedGates(lambda name: (semaphore, board), {"A": "harvest A"})
    over = asyncio.Event()

    async def sleep(_: float) -> None:
        await over.wait()

    one = gates("A", 60.0, Load(clock=Clock(lambda: 120.0 * over.is_set(), sleep)), BusyTracker())
    await one.wait_for_turn()
    waiting = asyncio.create_task(one.wait_for_turn())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not semaphore.acquire(timeout=0.01), "the gap is not over"
    over.set()
    await gates.close()
    assert semaphore.acquire(timeout=1)


async def test_a_worker_stops_waiting_for_a_system_that_only_complains_and_does_not_block_the_others() -> None:
    semaphore, board, time = OneLease(), Memory(), 0.0

    async def sleep(seconds: float) -> None:
        nonlocal time
        time += seconds
        await asyncio.sleep(0)

    clock = Clock(lambda: time, sleep)
    one, other = (SharedGate(0.0, clock, semaphore, board, busy=BusyTracker(240.0, clock)) for _ in range(2))
    sent = 0

    async def complain() -> None:
        nonlocal sent
        while True:
            complaints = await one.wait_for_turn()
            sent_at = one.busy.note_sent()
            one.busy.note_end(answered=False)
            await one.slow_down(complaints, 1.0)
            one.busy.note_complaint(sent_at, 1.0)
            sent += 1
            await one.free()

    with pytest.raises(NotSent, match="asked-too-much: it has only said for"):
        await complain()
    assert sent >= 4
    assert time <= 300
    await other.wait_for_turn()  # the semaphore is free, and this one has heard no complaint itself
    await other.free()
