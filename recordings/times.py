"""Time as recordings hold it: an instant as ISO 8601 in UTC, a duration as seconds; both to microseconds.

Nothing else here writes or reads either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["Now", "clock_time", "instant", "moment", "seconds", "stamp", "utc_now"]

Now = Callable[[], datetime]
"""Gives the time, with its time zone."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(time: datetime) -> str:
    """`time` as ISO 8601 in UTC with microseconds. Raises ValueError for a time without a zone."""
    if time.tzinfo is None:
        raise ValueError("a time without a time zone")
    return (time if time.tzinfo is UTC else time.astimezone(UTC)).isoformat(timespec="microseconds")


def moment(written: str) -> float:
    """Seconds since 1970 of an instant in ISO 8601, in UTC where it names no zone; -inf for a text that is none."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return -math.inf
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def instant(written: str) -> str:
    """The same instant as `stamp` writes it, in UTC where it names no zone; the text itself if it is none."""
    try:
        found = datetime.fromisoformat(written)
        return stamp(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return written


def clock_time(time: datetime) -> str:
    """The time of day on the clocks of this machine, for people who wait for it."""
    return time.astimezone().strftime("%H:%M:%S")


def seconds(length: float) -> float:
    """A duration in seconds, rounded to microseconds."""
    return round(length, 6)
