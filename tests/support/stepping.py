"""A clock that tests step: what waits by it, or by the event loop it steps with, waits no time of ours."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, TypeVarTuple, Unpack

from harvest.systems.timing import REAL_CLOCK, Clock

__all__ = ["BEGINNING", "Leaping", "Stepped", "hasten"]

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

BEGINNING = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
"""The time of day at second 0 of a stepped clock."""


@dataclass(eq=False)
class Stepped:
    """seconds: the time, which a test may set, and which moves on by itself while `run` is under way and all wait:
    at once, to when the first of them wants to go on. in_threads: calls whose real end is waited for instead.
    """

    seconds: float = 0.0
    in_threads: int = 0

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.seconds, asyncio.sleep, lambda: BEGINNING + timedelta(seconds=self.seconds))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work` in an event loop that goes by this clock, down to `asyncio.timeout`."""
        with asyncio.Runner(loop_factory=lambda: _Loop(self)) as runner:
            return runner.run(work)


class _Steps(selectors.DefaultSelector):
    """Where the loop would wait for the next of its timers, the clock moves on to it."""

    def __init__(self, stepped: Stepped) -> None:
        super().__init__()
        self._stepped = stepped

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or (timeout > 0 and self._stepped.in_threads):
            return super().select(None)
        found = super().select(0)
        if not found:
            self._stepped.seconds += max(0.0, timeout)
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, stepped: Stepped) -> None:
        self._stepped = stepped
        super().__init__(_Steps(stepped))

    def time(self) -> float:
        return self._stepped.seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Arguments]], T], *args: *Arguments
    ) -> asyncio.Future[T]:
        ended = super().run_in_executor(executor, func, *args)
        self._stepped.in_threads += 1
        ended.add_done_callback(self._returned)
        return ended

    def _returned(self, ended: asyncio.Future[Any]) -> None:
        self._stepped.in_threads -= 1


def hasten(seconds: float) -> None:
    """Put the time of the running event loop forward: what waits for so long goes on now, and nothing else changes."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]


@dataclass(eq=False)
class Leaping:
    """A real clock that a test puts forward, with the event loop: for real systems that are late. ahead: in seconds.

    Its time of day stands still at BEGINNING, so that it shows who goes by it.
    """

    ahead: float = 0.0

    def seconds(self) -> float:
        return REAL_CLOCK.monotonic() + self.ahead

    @property
    def clock(self) -> Clock:
        return Clock(self.seconds, now=lambda: BEGINNING)

    def leap(self, seconds: float) -> None:
        self.ahead += seconds
        hasten(seconds)
