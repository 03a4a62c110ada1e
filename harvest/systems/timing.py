"""Time: the clock for all waiting, and the times of system turns.

All waiting uses a `Clock`; no other code in this package reads the time or sleeps. Time limits that asyncio keeps
itself (`asyncio.timeout`) use the event loop's time, so a test that advances a clock must also advance the loop.
"""

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

from recordings.files.times import Now, seconds, stamp, utc_now

# A stream of any length keeps at most this many time stamps; see `Stopwatch.pieces`.
MOST_PIECES = 256


async def _real_sleep(seconds: float) -> None:
    import asyncio  # late: an audit that is only checked waits for nothing

    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Clock:
    """A source of time. `monotonic` returns seconds since an arbitrary start and never decreases. `sleep` waits for a
    number of seconds. `now` returns the date and time with the time zone."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = _real_sleep
    now: Now = utc_now


REAL_CLOCK = Clock()


# Called with the time when the user turn of this task goes out; the last call counts.
SENDING: ContextVar[Callable[[float], None]] = ContextVar("sending", default=lambda at: None)


class Stopwatch:
    """A stopwatch for one system turn, started when the user turn is sent. Seconds are rounded to microseconds."""

    def __init__(self, clock: Clock = REAL_CLOCK) -> None:
        self.clock = clock
        self._kept: list[tuple[float, int]] = []
        self._last: tuple[float, int] | None = None
        self._seen, self._stride = 0, 1
        self.first_seconds: float | None = None
        self.seconds: float | None = None
        self.start()

    def start(self) -> None:
        """Start timing now. Call this method again if the turn is sent later, for example after a slow connection."""
        self.asked_at = stamp(self.clock.now())
        self._begin = self.clock.monotonic()
        SENDING.get()(self._begin)

    def mark(self) -> None:
        """Note that a part of the reply has arrived. This sets `seconds`; the first call also sets `first_seconds`."""
        self.seconds = seconds(self.clock.monotonic() - self._begin)
        if self.first_seconds is None:
            self.first_seconds = self.seconds

    def piece(self, characters: int) -> None:
        """Note that a piece of a stream has arrived. `characters` is the length of the text received so far."""
        self.mark()
        assert self.seconds is not None
        self._last = (self.seconds, characters)
        if self._seen % self._stride == 0:
            self._kept.append(self._last)
            if len(self._kept) >= MOST_PIECES:
                self._kept = self._kept[::2]
                self._stride *= 2
        self._seen += 1

    @property
    def pieces(self) -> tuple[tuple[float, int], ...]:
        """Pairs of seconds since sending and characters received so far, one for each piece of a stream. If there are
        more than `MOST_PIECES`, only every second, fourth, … piece is included, besides the first and the last."""
        if self._last is None or self._last == self._kept[-1]:
            return tuple(self._kept)
        return (*self._kept, self._last)
