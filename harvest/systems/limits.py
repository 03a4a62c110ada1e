"""How hard a system may be loaded: concurrency, pace, time-outs, and how often something is tried."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from harvest.systems.driver import Denied
from harvest.systems.load import Load
from harvest.systems.timing import REAL_CLOCK, Clock

__all__ = ["LONGEST_WAIT", "Gate", "Gates", "Limits", "Openings", "Pace", "own_gate"]

LONGEST_WAIT = 120.0
"""Seconds: no wait before another try is longer. A Retry-After beyond it is not waited for; the attempt is invalid
and can be resumed later."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one system.

    concurrency: sessions at the same time, with at most as many turns under way (`Load`). spacing: seconds from the
    start of one user turn to the start of the next, over all sessions (a rate of 30/min is a spacing of 2 s: no
    bursts). turn_timeout: seconds to wait for a whole reply. retries: how often a turn is sent again where that is
    safe. retry_wait: seconds before the first retry, doubling for each further one; also between tries to open a
    session. attempts: how often an invalid trial is tried in one command. give_up_after: invalid attempts in a row
    after which this command no longer asks the system.
    """

    concurrency: int = 1
    spacing: float = 0.0
    turn_timeout: float = 300.0
    retries: int = 2
    retry_wait: float = 1.0
    attempts: int = 2
    give_up_after: int = 10

    def shared_by(self, machines: int) -> Limits:
        """The share of each of several machines. Together they keep the pace, and the sessions at a time where these
        are at least as many as the machines: each has at least one."""
        return replace(self, spacing=self.spacing * machines, concurrency=max(1, self.concurrency // machines))


_FIRST_GAP = 0.1  # seconds, after the first complaint of a system without a pace
_LEAST_GAP = 0.005  # seconds; a shorter gap of a system without a pace is none
_EASE = 0.95  # of the gap, turn after turn: it halves again in 14 turns


@dataclass(frozen=True, slots=True)
class Pace:
    """How far apart the turns of a system are now, in seconds, and how often it complained that this is too fast.

    A complaint doubles the gap, up to `LONGEST_WAIT`; each turn that passes takes a twentieth off, down to the spacing
    of the audit. So it finds the pace of systems that allow a turn a minute and of those that allow 1,000 a second.
    """

    gap: float
    complaints: int = 0

    def slower(self) -> Pace:
        return Pace(max(self.gap, min(LONGEST_WAIT, max(2 * self.gap, _FIRST_GAP))), self.complaints + 1)

    def eased(self, spacing: float) -> Pace:
        gap = max(spacing, _EASE * self.gap)
        return Pace(gap if gap > _LEAST_GAP else spacing, self.complaints)


class Gate:
    """Lets a system's user turns pass one by one, at least `spacing` seconds apart, in the order in which they come;
    further apart for a while after the system complained.

    clock: times these gaps and the waits before a turn is sent again. load: how many turns may be under way; where none
    is given, any number.
    """

    def __init__(self, spacing: float, clock: Clock = REAL_CLOCK, load: Load | None = None) -> None:
        import asyncio  # late: an audit that is only checked waits for nothing

        self._spacing, self.clock, self.load = spacing, clock, load or Load(clock=clock)
        self._pace = Pace(spacing)
        self._turnstile = asyncio.Lock()
        self._free_at = 0.0

    @property
    def gap(self) -> float:
        """Seconds between turns now."""
        return self._pace.gap

    async def passed(self) -> int:
        """Wait until the next turn may be sent. Returns how often the system had complained by then."""
        if self._pace.gap or self._free_at > self.clock.monotonic():
            async with self._turnstile:
                while (wait := self._free_at - self.clock.monotonic()) > 0:
                    await self.clock.sleep(wait)
                # Counted from the passing itself: a late wake-up must not let two turns out together.
                self._free_at = self.clock.monotonic() + self._pace.gap
                self._pace = self._pace.eased(self._spacing)
        return self._pace.complaints

    async def slow(self, complaints: int, wait: float) -> None:
        """The system complained of a turn: none is sent for `wait` seconds, and those that follow are further apart.

        complaints: what `passed` returned for the turn. Complaints of turns that were under way together count as one.
        """
        if complaints == self._pace.complaints:
            self._pace = self._pace.slower()
        self._free_at = max(self._free_at, self.clock.monotonic() + wait)


Gates: TypeAlias = Callable[[str, float, Load], Gate]
"""Gives the gate of a system by its name, the seconds between turns, and its load, with the clock that times them."""


def own_gate(system: str, spacing: float, load: Load) -> Gate:
    """A gate of this process alone."""
    return Gate(spacing, load.clock, load)


class Openings:
    """Spaces out the tries to open a session of one system while they fail.

    After the first failure the next try waits `wait` seconds, after the second twice as long, and so on up to `wait` ·
    2^`retries`; then sessions are tried one at a time, until one opens. Failures of tries that were under way at the
    same time count as one.
    """

    def __init__(self, wait: float, retries: int, clock: Clock = REAL_CLOCK) -> None:
        import asyncio

        self._wait, self._most, self._clock = wait, retries, clock
        self._turnstile = asyncio.Lock()
        self._failures, self._failed_at = 0, float("-inf")

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[None]:
        """Waits until a session may be opened; what is raised within says that it could not be."""
        if not self._failures:
            async with self._counted():
                yield
            return
        async with self._turnstile:
            if self._failures:
                pause = min(LONGEST_WAIT, self._wait * 2 ** min(self._failures - 1, self._most))
                while (left := self._failed_at + pause - self._clock.monotonic()) > 0:
                    await self._clock.sleep(left)
            async with self._counted():
                yield

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        begun = self._clock.monotonic()
        try:
            yield
        except Denied:
            raise  # it is not asked again, so nobody is kept waiting
        except Exception:
            if begun > self._failed_at:
                self._failures += 1
            self._failed_at = self._clock.monotonic()
            raise
        self._failures = 0
