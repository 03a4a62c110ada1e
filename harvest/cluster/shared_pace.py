"""One pace for all workers: the one that sends a turn holds the system's semaphore until the next turn may be sent.

The gap is timed by the clock of the worker that sent, from when the turn went out to when the scheduler gets the
semaphore back. So clocks of several machines need not agree, and no two turns are closer than the spacing. If a worker
dies while it holds one, the scheduler takes it back when its lease runs out, by default after 30 seconds
(`distributed.scheduler.locks.lease-timeout`); until then nobody sends.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

from harvest.systems.limits import Gate
from harvest.systems.timing import SENDING, Clock

__all__ = ["Semaphores", "SharedGate", "SharedGates"]

_UNDER_WAY = 0.005
"""Seconds more than the spacing: the way to a system takes now a little longer and now a little less."""

_PATIENCE = 2.0  # seconds of one call to the scheduler, so that a run that is stopped need not wait for its turn


class Semaphore(Protocol):
    """What is used of Dask's, with one lease."""

    def acquire(self, timeout: float | None = None) -> bool: ...
    def release(self) -> bool: ...


class Semaphores(Protocol):
    """Gives the semaphore of a name, the same to all workers."""

    def __call__(self, name: str) -> Semaphore: ...


class SharedGate(Gate):
    """A gate that the turns of all workers pass one by one, at least `spacing` seconds apart."""

    def __init__(self, spacing: float, clock: Clock, semaphore: Semaphore) -> None:
        super().__init__(spacing, clock)
        self._semaphore = semaphore
        self._holding: asyncio.Task[None] | None = None
        self._sent_at = 0.0

    async def passed(self) -> None:
        if not self._spacing:
            return
        async with self._turnstile:
            await self.free()
            while not await self._acquired():
                pass
            self._sent(self.clock.monotonic())
            self._holding = asyncio.create_task(self._held())
            SENDING.set(self._sent)

    async def _acquired(self) -> bool:
        """Whether it got the semaphore within `_PATIENCE`; if the run is stopped meanwhile, it is given back."""
        asking = asyncio.get_running_loop().run_in_executor(None, self._semaphore.acquire, _PATIENCE)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if await asking:
                await asyncio.to_thread(self._semaphore.release)
            raise

    async def free(self) -> None:
        """Wait until this worker holds nothing back."""
        if self._holding is not None:
            holding, self._holding = self._holding, None
            await holding

    def _sent(self, at: float) -> None:
        self._sent_at = at

    async def _held(self) -> None:
        try:
            while (wait := self._sent_at + self._spacing + _UNDER_WAY - self.clock.monotonic()) > 0:
                await self.clock.sleep(wait)
        finally:
            with suppress(Exception):  # without a scheduler there is nobody to give it back to, and nobody to get one
                await asyncio.to_thread(self._semaphore.release)


class SharedGates:
    """The gates of one run. semaphores: of the cluster. named: what each system is called there."""

    def __init__(self, semaphores: Semaphores, named: dict[str, str]) -> None:
        self._semaphores, self._named = semaphores, named
        self._gates: list[SharedGate] = []

    def __call__(self, system: str, spacing: float, clock: Clock) -> Gate:
        if not spacing:
            return Gate(spacing, clock)
        self._gates.append(SharedGate(spacing, clock, self._semaphores(self._named[system])))
        return self._gates[-1]

    async def close(self) -> None:
        """Wait until all is given back: the pace holds beyond the last turn of a worker."""
        for gate in self._gates:
            await gate.free()
