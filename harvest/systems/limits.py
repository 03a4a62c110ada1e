"""Load limits for a system: concurrency, pace, time-outs and retries."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

from harvest.systems.driver import Denied, NotSent
from harvest.systems.load import Load
from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.files.times import clock_time

# Seconds: no wait before another try is longer. A Retry-After beyond it is not waited for; the attempt is invalid and
# can be resumed later.
LONGEST_WAIT = 120.0

# Seconds to wait for a system that only complains of too many requests. Together with the time to start and to end,
# this is less than five minutes, so a scheduled job still has time to report it.
BUSY_TIMEOUT = 240.0

# The reason of turns that are no longer sent to a system that only complains.
TOO_MUCH = "asked-too-much"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one system.

    - `concurrency`: the number of simultaneous sessions, and the most turns under way (`Load`).
    - `spacing`: seconds from the start of one user turn to the start of the next, over all sessions (a rate of 30/min
      is a spacing of 2 s, without bursts).
    - `turn_timeout`: seconds to wait for a complete reply.
    - `retries`: how often a turn is sent again if that is safe. Tries at a time named by the system (Retry-After) do
      not count.
    - `retry_wait`: seconds before the first retry, doubled for each further retry; also used between tries to open a
      session.
    - `attempts`: how often one command tries an invalid trial.
    - `give_up_after`: invalid attempts in a row after which the command stops asking the system.
    - `busy_timeout`: seconds during which the system may answer only with 429 or Retry-After before the command stops
      asking the system.
    """

    concurrency: int = 1
    spacing: float = 0.0
    turn_timeout: float = 300.0
    retries: int = 2
    retry_wait: float = 1.0
    attempts: int = 2
    give_up_after: int = 10
    busy_timeout: float = BUSY_TIMEOUT

    def divide_among(self, machines: int) -> Limits:
        """Return the limits of one of several machines that play the same audit. Together, the machines keep the pace
        and the number of sessions. But each machine has at least one session, even if there are more machines than
        sessions."""
        return replace(self, spacing=self.spacing * machines, concurrency=max(1, self.concurrency // machines))


_FIRST_GAP = 0.1  # seconds, after the first complaint of a system without a pace
_LEAST_GAP = 0.005  # seconds; a system without a pace needs no shorter gap
_FEWEST_TRIES = 4  # before a system that only complains is given up
_CHECK_SECONDS = 1.0  # seconds
_NOTICEABLE_WAIT = 5.0  # seconds of a noticeable wait
_WAIT_FACTOR = 2  # times the requested wait: systems round it, and ignore other sessions
_EASE_FACTOR = 0.95  # of the gap, turn after turn: it halves again in 14 turns


@dataclass(frozen=True, slots=True)
class Pace:
    """The current gap between the turns of a system in seconds, and the number of complaints that the gap was too
    short. A complaint doubles the gap, up to a bound. Each turn that passes reduces the gap by a twentieth, down to
    the spacing in the audit. This adapts the pace to systems that allow one turn a minute as well as to systems
    that allow 1,000 a second."""

    gap: float
    complaints: int = 0

    def reduce_rate(self, most: float = LONGEST_WAIT) -> Pace:
        return Pace(max(self.gap, min(most, max(2 * self.gap, _FIRST_GAP))), self.complaints + 1)

    def ease(self, spacing: float) -> Pace:
        gap = max(spacing, _EASE_FACTOR * self.gap)
        return Pace(gap if gap > _LEAST_GAP else spacing, self.complaints)


class BusyTracker:
    """A tracker of how long a system has only reported too many requests, which decides when to give up the system.

    Each wait before a retry is bounded, and so is the number of tries of one turn. But the total is not bounded if
    every trial fails slowly. This class bounds the total. An answer to any turn resets the count. A system is not
    given up while another turn is under way, since that turn may be answered. `longest` is the number of seconds until
    the system is given up. `spacing` is the number of seconds between turns in the audit; several turns must fit into
    `longest`. `tell` is called once, with the time until which Harvest waits. `over` is the reason for giving up, or
    "".
    """

    def __init__(
        self,
        longest: float = BUSY_TIMEOUT,
        clock: Clock = REAL_CLOCK,
        tell: Callable[[str], object] = lambda told: None,
        spacing: float = 0.0,
    ) -> None:
        self._longest, self._clock, self.tell = max(longest, _FEWEST_TRIES * spacing), clock, tell
        self._idle = LONGEST_WAIT + spacing
        self._since: float | None = None
        self._expected = 0.0  # the latest time at which the system is asked again, if there are turns left
        self._told = False
        self._under_way = 0
        self.over = ""

    @property
    def longest(self) -> float:
        """Seconds for which Harvest waits for a system that only reports too many requests."""
        return self._longest

    @property
    def longest_gap(self) -> float:
        """The longest gap in seconds that leaves time for several tries."""
        return min(LONGEST_WAIT, self._longest / _FEWEST_TRIES)

    def note_sent(self) -> float:
        """Note that a turn is sent. Returns the current time in seconds of the clock."""
        self._under_way += 1
        return self._clock.monotonic()

    def note_end(self, *, answered: bool) -> None:
        """Note that a turn was answered or has failed."""
        self._under_way -= 1
        if answered:
            self._since, self._told = None, False

    def note_pause(self, wait: float) -> None:
        """Note that the system asks for a pause of `wait` seconds. If the pause is longer than `longest` and no turn
        is under way, the system is given up at once."""
        if wait > self._longest and not self._under_way:
            asks = f"it asks for a pause of {min(wait, 1e12):.0f} s (Retry-After)"
            self.over = self.over or f"{asks}, and Harvest waits for at most {self._longest:g} s (busy_timeout)"

    def note_complaint(self, sent_at: float, wait: float) -> None:
        """Note a complaint about a turn that was sent at `sent_at`. The next try is `wait` seconds from now."""
        now = self._clock.monotonic()
        self._forget()
        again = self._since is not None and sent_at >= self._since
        if self._since is None:
            self._since, self._told = now, False
        self._expected = max(self._expected, now + wait)
        self._give_up_before(now + wait)
        # A single complaint helps to find the pace; two in a row, or a long wait, should be reported.
        if not self.over and not self._told and (again or wait > _NOTICEABLE_WAIT):
            self._told = True
            end = self._clock.now() + timedelta(seconds=self._since + self._longest - now)
            self.tell(f"says that it gets too many requests: unless it answers, Harvest waits until {clock_time(end)}")

    @property
    def seconds_to_check(self) -> float:
        """Seconds after which a waiting turn should check again, because a turn under way may have failed."""
        if self._since is None:
            return math.inf
        left = self._since + self._longest - self._clock.monotonic()
        return left if left > 0 else _CHECK_SECONDS

    def check(self, until: float) -> None:
        """Raise NotSent (`TOO_MUCH`) if the system will be given up before `until`, the time of the next turn."""
        self._give_up_before(until)
        self.refuse()
        self._expected = max(self._expected, until)

    def refuse(self) -> None:
        """Raise NotSent (`TOO_MUCH`) if the system has been given up."""
        if self.over:
            raise NotSent(TOO_MUCH, self.over)

    def _forget(self) -> None:
        if self._since is not None and self._clock.monotonic() > self._expected + self._idle:
            self._since = None

    def _give_up_before(self, until: float) -> None:
        self._forget()
        if self._since is not None and not self._under_way and until > self._since + self._longest:
            seconds = self._clock.monotonic() - self._since
            said = f"it has only said for {seconds:.0f} s that it gets too many requests"
            self.over = self.over or f"{said}, and Harvest waits for at most {self._longest:g} s (busy_timeout)"


class Gate:
    """A gate through which the user turns of a system pass one by one, in order of arrival. Turns are at least
    `spacing` seconds apart, and further apart for a while after a complaint. `clock` measures the gaps and waits
    before retries. `load` limits the number of turns under way, which is unlimited by default. `busy` decides when
    to give up a system that only reports too many requests."""

    def __init__(
        self, spacing: float, clock: Clock = REAL_CLOCK, load: Load | None = None, busy: BusyTracker | None = None
    ) -> None:
        import asyncio  # late: an audit that is only checked waits for nothing

        self._spacing, self.clock, self.load = spacing, clock, load or Load(clock=clock)
        self.busy = busy or BusyTracker(clock=clock)
        self._pace = Pace(spacing)
        self._turnstile = asyncio.Lock()
        self._free_at = 0.0

    @property
    def gap(self) -> float:
        """The current gap between turns in seconds."""
        return self._pace.gap

    async def wait_for_turn(self) -> int:
        """Wait to send the next turn, and return the count of complaints. Raises NotSent if the system is given up."""
        if self._pace.gap or self._free_at > self.clock.monotonic():
            async with self._turnstile:
                await self._rest(lambda: self._free_at)
                # Counted from the passing itself: a late wake-up must not let two turns out together.
                self._free_at = self.clock.monotonic() + self._pace.gap
                self._pace = self._pace.ease(self._spacing)
        self.busy.refuse()
        return self._pace.complaints

    async def _rest(self, until: Callable[[], float]) -> None:
        while (wait := until() - self.clock.monotonic()) > 0:
            self.busy.check(until())
            await self.clock.sleep(min(wait, self.busy.seconds_to_check))

    async def slow_down(self, complaints: int, wait: float, *, told: bool = False) -> None:
        """Send no turn for `wait` seconds after a complaint, and leave more time between later turns. `complaints` is
        the number that `passed` returned for the turn; complaints about turns that were under way together count as
        one. Set `told` if the system itself said how long to wait, so that its pace need not be found by trial and
        error."""
        if complaints == self._pace.complaints:
            self._pace = self._slower(self._pace, wait if told else math.inf)
        self._free_at = max(self._free_at, self.clock.monotonic() + wait)

    def _slower(self, pace: Pace, asked_for: float) -> Pace:
        """Return the pace after a complaint. `asked_for` is the requested wait in seconds, or infinity if unknown."""
        return pace.reduce_rate(min(self.busy.longest_gap, _WAIT_FACTOR * asked_for))


# Returns the gate of a system, given its name, the seconds between turns, its load with the clock, and how
# long it may complain.
Gates: TypeAlias = Callable[[str, float, Load, BusyTracker], Gate]


def local_gate(system: str, spacing: float, load: Load, busy: BusyTracker) -> Gate:
    """Return a gate for this process alone."""
    return Gate(spacing, load.clock, load, busy)


class OpeningQueue:
    """A queue for opening sessions of one system, which spaces out the tries while they fail. The wait is `wait`
    seconds after the first failure and doubles with each further failure, up to `wait` · 2^`retries`. After a
    failure, sessions are tried one at a time until one opens. Failures of concurrent tries count as one."""

    def __init__(self, wait: float, retries: int, clock: Clock = REAL_CLOCK) -> None:
        import asyncio

        self._wait, self._most, self._clock = wait, retries, clock
        self._turnstile = asyncio.Lock()
        self._failures, self._failed_at = 0, float("-inf")

    @asynccontextmanager
    async def wait_for_opening(self) -> AsyncIterator[None]:
        """Wait until a session may be opened. An exception in the block means that the session could not be opened."""
        if not self._failures:
            async with self._count_opening():
                yield
            return
        async with self._turnstile:
            if self._failures:
                pause = min(LONGEST_WAIT, self._wait * 2 ** min(self._failures - 1, self._most))
                while (left := self._failed_at + pause - self._clock.monotonic()) > 0:
                    await self._clock.sleep(left)
            async with self._count_opening():
                yield

    @asynccontextmanager
    async def _count_opening(self) -> AsyncIterator[None]:
        begun = self._clock.monotonic()
        try:
            yield
        except Denied:
            raise  # it is not asked again, so no other session waits
        except Exception:
            if begun > self._failed_at:
                self._failures += 1
            self._failed_at = self._clock.monotonic()
            raise
        self._failures = 0
