"""A common rate limit for all workers: a worker that sends a turn holds the system's semaphore until the next turn may
be sent.

The gap is timed by the clock of the sending worker, from sending the turn to returning the semaphore to the
scheduler. So the clocks of several machines need not agree, and no two turns are closer than the spacing. If a worker
dies while it holds a semaphore, the scheduler takes it back when its lease expires, by default after 30 seconds
(`distributed.scheduler.locks.lease-timeout`); until then nobody sends.

When a system complains to a worker (429), the worker writes the complaint on a board in the scheduler. The next
worker that gets the semaphore keeps it for the time that the system requested, and widens the gap for all workers. If
that worker dies meanwhile, the next worker waits. Each worker writes only its own complaints. Only the holder of the
semaphore records which complaints were heeded, so no two workers write the same entry. A system without a pace needs
no semaphore until it complains; workers check for complaints now and then.
"""

import asyncio
import math
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from harvest.systems.limits import BusyTracker, Gate, Pace
from harvest.systems.load import Load
from harvest.systems.timing import SENDING, Clock

# Seconds to add to the spacing, because the time to reach a system varies a little.
_SENDING_SECONDS = 0.005

_PATIENCE = 2.0  # seconds of one call to the scheduler, so that a run that is stopped need not wait for its turn
_LOOK_EVERY = 0.2  # seconds between looks at the board for a system without a pace
_HEEDED = "heeded"  # the holder's entry: gap, complaints, and the number of the last one of each worker


class Semaphore(Protocol):
    """A semaphore with one lease. `abandoned` is True if it was acquired at once from a process that died while it held
    it, which may have sent a turn a moment ago."""

    abandoned: bool

    def acquire(self, timeout: float | None = None) -> bool: ...
    def release(self) -> bool: ...


class Board(Protocol):
    """A mapping that all workers can read and write."""

    def read(self) -> Mapping[str, Any]: ...
    def write(self, key: str, value: Any) -> None: ...


# Returns the semaphore and the board of a name, the same for all workers.
Shared: TypeAlias = Callable[[str], tuple[Semaphore, Board]]


class SharedGate(Gate):
    """A gate for the turns of all workers. Turns pass one by one, at least `spacing` seconds apart. After a complaint
    to any worker, the gap grows for all workers."""

    def __init__(
        self,
        spacing: float,
        clock: Clock,
        semaphore: Semaphore,
        board: Board,
        load: Load | None = None,
        busy: BusyTracker | None = None,
    ) -> None:
        super().__init__(spacing, clock, load, busy)
        self._semaphore, self._board = semaphore, board
        self._holding: asyncio.Task[None] | None = None
        self._sent_at = 0.0
        self._name, self._told, self._until = secrets.token_hex(6), 0, 0.0
        self._look_at, self._slowed = float("-inf"), spacing > 0

    async def wait_for_turn(self) -> int:
        await self._read_board()
        self.busy.refuse()
        if not self._slowed:
            return self._pace.complaints
        async with self._turnstile:
            await self.free()
            self.busy.check(self.clock.monotonic())
            while not await self._acquire():
                self.busy.check(self.clock.monotonic())
            try:
                gap = await self._react_to_complaints()
                if self._semaphore.abandoned:
                    until = self.clock.monotonic() + gap + _SENDING_SECONDS
                    await self._rest(lambda: until)
            except BaseException:
                await self._release()
                raise
            self._sent(self.clock.monotonic())
            self._holding = asyncio.create_task(self._keep_for(gap))
            SENDING.set(self._sent)
        return self._pace.complaints

    async def slow_down(self, complaints: int, wait: float, *, told: bool = False) -> None:
        self._slowed = True
        self._told += 1
        now = self.clock.monotonic()
        self._until = max(self._until, now + wait)  # it may replace a complaint that was not heeded yet
        complaint = [self._told, complaints, self._until - now, told]
        await asyncio.to_thread(self._board.write, self._name, complaint)

    async def _read_board(self) -> None:
        if self._slowed or (now := self.clock.monotonic()) < self._look_at:
            return
        self._look_at = now + _LOOK_EVERY
        found = await asyncio.to_thread(self._board.read)
        self._pace, heeded = _last_pace(found, self._spacing)
        self._slowed = self._slowed or bool(self._pace.gap or _new_complaints(found, heeded))

    async def _react_to_complaints(self) -> float:
        """Wait as long as the system requested from any worker, and return the next gap. The semaphore must be held."""
        found = await asyncio.to_thread(self._board.read)
        before = _last_pace(found, self._spacing)
        pace, heeded = before
        while told := _new_complaints(found, heeded):
            new = [one for one in told.values() if one[1] == pace.complaints]
            if new:
                pace = self._slower(pace, max(wait if said else math.inf for _, _, wait, said in new))
            heeded = heeded | {name: number for name, (number, *_) in told.items()}
            until = self.clock.monotonic() + max(wait for _, _, wait, _ in told.values())
            await self._rest(lambda at=until: at)  # type: ignore[misc]
            found = await asyncio.to_thread(self._board.read)
        self._pace = pace.ease(self._spacing)
        self._slowed = self._pace.gap > 0
        if (self._pace, heeded) != before:
            await asyncio.to_thread(self._board.write, _HEEDED, [self._pace.gap, self._pace.complaints, heeded])
        return pace.gap

    async def _acquire(self) -> bool:
        """Return True if the semaphore was acquired within `_PATIENCE`. If the run stops meanwhile, release the
        semaphore."""
        asking = asyncio.get_running_loop().run_in_executor(None, self._semaphore.acquire, _PATIENCE)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if await asking:
                await self._release()
            raise

    async def free(self) -> None:
        """Wait until this worker holds no semaphore. A semaphore is held for the whole gap, even after a stop."""
        if self._holding is not None:
            await asyncio.shield(self._holding)
            self._holding = None

    def _sent(self, at: float) -> None:
        self._sent_at = at

    async def _keep_for(self, gap: float) -> None:
        try:
            while (wait := self._sent_at + gap + _SENDING_SECONDS - self.clock.monotonic()) > 0:
                await self.clock.sleep(wait)
        finally:
            await self._release()

    async def _release(self) -> None:
        with suppress(Exception):  # without a scheduler it cannot be returned, and nobody can get one
            await asyncio.to_thread(self._semaphore.release)


def _last_pace(found: Mapping[str, Any], spacing: float) -> tuple[Pace, dict[str, int]]:
    gap, complaints, heeded = found.get(_HEEDED, (spacing, 0, {}))
    return Pace(max(spacing, gap), complaints), heeded


def _new_complaints(found: Mapping[str, Any], heeded: Mapping[str, int]) -> dict[str, tuple[int, int, float, bool]]:
    """For each worker with a new complaint, return the number of its last complaint, the number of heeded complaints
    when the turn was sent, the seconds to wait, and True if the system named the seconds."""
    return {name: told for name, told in found.items() if name != _HEEDED and told[0] > heeded.get(name, 0)}


class SharedGates:
    """The gates of one run. `shared` returns the semaphore and board of a name, and `named` maps systems to names."""

    def __init__(self, shared: Shared, named: dict[str, str]) -> None:
        self._shared, self._named = shared, named
        self._gates: list[SharedGate] = []

    def __call__(self, system: str, spacing: float, load: Load, busy: BusyTracker) -> Gate:
        self._gates.append(SharedGate(spacing, load.clock, *self._shared(self._named[system]), load, busy))
        return self._gates[-1]

    async def close(self) -> None:
        """Wait until all semaphores are released, because the gap continues after a worker's last turn."""
        for gate in self._gates:
            await gate.free()
