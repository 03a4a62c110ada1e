"""How hard a system may be asked: concurrency, pace, time-outs, and how often something is tried."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

__all__ = ["Gate", "Limits", "Sleep"]

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """For one system.

    concurrency: sessions at the same time. spacing: seconds from the start of one user turn to the start of the
    next, over all sessions (a rate of 30/min is a spacing of 2 s: no bursts). turn_timeout: seconds to wait for
    a whole reply. retries: how often a turn is sent again where that is safe; retry_wait: seconds before the
    first of them, doubling. attempts: how often an invalid trial is tried in one command.
    give_up_after: invalid attempts in a row after which the system is left alone for this command.
    """

    concurrency: int = 1
    spacing: float = 0.0
    turn_timeout: float = 300.0
    retries: int = 2
    retry_wait: float = 1.0
    attempts: int = 2
    give_up_after: int = 10


class Gate:
    """Lets a system's user turns pass one by one, at least `spacing` seconds apart, in the order in which they come."""

    def __init__(
        self, spacing: float, *, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._spacing, self._sleep, self._clock = spacing, sleep, clock
        self._turnstile = asyncio.Lock()
        self._free_at = 0.0

    async def passed(self) -> None:
        """Wait until the next turn may be sent."""
        if not self._spacing:
            return
        async with self._turnstile:
            while (wait := self._free_at - self._clock()) > 0:
                await self._sleep(wait)
            # Counted from the passing itself: a late wake-up must not let two turns out together.
            self._free_at = self._clock() + self._spacing
