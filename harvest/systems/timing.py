"""When a reply came: the stamps that go with a system turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["MOST_PIECES", "Clock", "Now", "Stopwatch", "utc_now"]

MOST_PIECES = 256
"""A stream of any length keeps at most this many time stamps; see `Stopwatch.pieces`."""

Clock = Callable[[], float]
Now = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Stopwatch:
    """Times one system turn, from the moment the user turn goes out. Seconds are rounded to microseconds."""

    def __init__(self, clock: Clock = time.monotonic, now: Now = utc_now) -> None:
        self._clock, self._now = clock, now
        self._kept: list[tuple[float, int]] = []
        self._last: tuple[float, int] | None = None
        self._seen, self._stride = 0, 1
        self.first_seconds: float | None = None
        self.seconds: float | None = None
        self.start()

    def start(self) -> None:
        """The user turn goes out now. Called again where only now it really does (a connection took its time)."""
        self.asked_at = self._now().isoformat(timespec="microseconds")
        self._begin = self._clock()

    def mark(self) -> None:
        """Something of the reply has come: the first call sets `first_seconds`, each one `seconds`."""
        self.seconds = round(self._clock() - self._begin, 6)
        if self.first_seconds is None:
            self.first_seconds = self.seconds

    def piece(self, characters: int) -> None:
        """A piece of a stream has come, and `characters` of text are there altogether."""
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
        """(seconds since sending, characters so far): first and last piece, and every one between or, once there
        are more than `MOST_PIECES`, every second, fourth, … of them.
        """
        if self._last is None or self._last == self._kept[-1]:
            return tuple(self._kept)
        return (*self._kept, self._last)
