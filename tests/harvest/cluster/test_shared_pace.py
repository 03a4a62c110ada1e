"""One pace for workers that share nothing but a semaphore."""

from __future__ import annotations

import asyncio
import threading
from itertools import pairwise

import pytest

from harvest.cluster.shared_pace import SharedGate, SharedGates
from harvest.systems.limits import Gate
from harvest.systems.timing import REAL_CLOCK, Clock, Stopwatch

SPACING = 0.05


class OneLease:
    """As Dask's semaphore with one lease, for gates of one process. held: how often somebody had it."""

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


async def test_turns_of_several_gates_pass_one_after_the_other() -> None:
    semaphore, passed = OneLease(), list[float]()
    gates = [SharedGate(SPACING, REAL_CLOCK, semaphore) for _ in range(3)]

    async def play(gate: SharedGate) -> None:
        for _ in range(3):
            await gate.passed()
            passed.append(REAL_CLOCK.monotonic())
        await gate.free()

    await asyncio.gather(*map(play, gates))
    gaps = [later - earlier for earlier, later in pairwise(passed)]
    assert semaphore.held == 9
    assert min(gaps) >= SPACING


async def test_the_gap_begins_when_the_turn_goes_out() -> None:
    semaphore = OneLease()
    one, other = (SharedGate(SPACING, REAL_CLOCK, semaphore) for _ in range(2))
    await one.passed()
    await asyncio.sleep(SPACING / 2)  # the connection took its time
    watch = Stopwatch()
    sent = watch.clock.monotonic()
    await other.passed()
    gap = watch.clock.monotonic() - sent
    assert gap >= SPACING
    await other.free()


async def test_a_system_without_a_pace_asks_nobody() -> None:
    gates = SharedGates(lambda name: pytest.fail("no semaphore is needed"), {"A": "harvest A"})
    assert type(gates("A", 0.0, REAL_CLOCK)) is Gate
    await gates.close()


async def test_what_stops_a_run_stops_a_gate_that_waits_for_its_turn() -> None:
    semaphore = OneLease()
    semaphore.acquire()
    slept = Clock(sleep=asyncio.sleep)
    waiting = asyncio.create_task(SharedGate(SPACING, slept, semaphore).passed())
    await asyncio.sleep(0.01)
    waiting.cancel()
    semaphore.release()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert semaphore.acquire(timeout=1)
