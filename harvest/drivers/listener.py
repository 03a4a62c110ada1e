"""Announcements: a stream of events, open beside the conversation, that says when there is something to fetch.

The announcements only say when to fetch. What the system said is fetched by `poll`, so a stream that breaks off, begins
late or leaves an event out loses no message: until it is open again, messages are fetched every few seconds.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable

from harvest.drivers.event_stream import Events
from harvest.drivers.reply_path import Condition
from harvest.systems.driver import Denied, DriverError
from harvest.systems.timing import SENDING, Clock, Stopwatch

_LONGEST_PAUSE = 60.0  # seconds between two attempts to open the stream
_UNANNOUNCED = 10.0  # seconds after which an open stream is no longer trusted to announce everything


class Listener(Events):
    """The announcements of one session. `ask` opens the stream and reads it to its end. `when` is the condition of
    events that announce something, and `begins` that of events that show a part of a reply before it can be fetched.
    `every` is the number of seconds between looks without a stream. `begun` is called when a reply begins."""

    media_type, partial = "text/event-stream", ""
    is_complete, ends_with_body = False, True

    def __init__(
        self,
        ask: Callable[[Events], Awaitable[object]],
        when: Condition,
        begins: Condition,
        clock: Clock,
        every: float,
    ) -> None:
        self._ask, self._when, self._begins, self._clock, self._every = ask, when, begins, clock, every
        self.begun: Callable[[], object] = lambda: None
        self._announced, self._is_open = asyncio.Event(), False
        self._refused: Denied | None = None
        self._reading = asyncio.create_task(self._listen())

    @property
    def patience(self) -> float:
        """The longest time in seconds to wait for an announcement before fetching without one."""
        return max(self._every, _UNANNOUNCED) if self._is_open else self._every

    async def wait(self, seconds: float) -> None:
        """Wait for an announcement, but at most for `seconds`. Raises Denied if the system refuses the stream."""
        ways = [asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(self._announced.wait())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
        self._announced.clear()
        if self._refused is not None:
            raise self._refused

    def read_event(self, event: str, data: str, watch: Stopwatch) -> bool:
        """Note an event; every event shows that the stream is open."""
        self._is_open = True
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):  # such as `ping`
            return False
        if self._begins.holds(value):
            self.begun()
        elif not self._when.terms or self._when.holds(value):
            self._announced.set()
        return False

    async def _listen(self) -> None:
        SENDING.set(lambda at: None)  # only user turns count for the pace
        failures = 0
        while True:
            try:
                await self._ask(self)
            except Denied as fault:
                fault.detail = f"the stream of announcements cannot be opened: {fault.detail}"
                self._refused = fault
                self._announced.set()
                return
            except DriverError:
                pass  # messages are fetched without it
            failures = 0 if self._is_open else failures + 1
            self._is_open = False
            self._announced.set()  # what was said when nobody listened
            await self._clock.sleep(min(self._every * 2**failures, _LONGEST_PAUSE))

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.wait([self._reading])
