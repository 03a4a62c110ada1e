"""The number of turns of a system that are under way at the same time, which is at most the audit's limit.

A busy system does not answer more turns in a minute if more turns are under way: the additional turns only wait. With
half as many turns under way, the rate stays the same, and each turn takes half as long. So now and then the number is
halved for a while, or doubled if it was halved before. The durations of turns are then compared with the durations
before the change, at the same position in the conversation, because durations differ by position. Without a clear
difference, the previous number is restored.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from harvest.systems.driver import DriverError
from harvest.systems.timing import REAL_CLOCK, Clock

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

_FEWEST_TURNS = 4  # turns at a time; below that, no other number is tried
_SHORTEST_TURN = 0.5  # seconds; in shorter turns, Harvest's own work would count as the system's
_TURNS, _ROUNDS = 60, 4  # turns of a stretch: a fixed number, and a number for each turn under way
_STRETCHES = 3  # of a try, at most
_TURNS_PER_CHECK = 20  # turns of a try from one look to the next
_BUSY_LOG_RATIO = math.log(0.57)  # ratio of durations at half the turns: half if the others only wait, 1 if none waits
_SURE, _RATHER_SURE = 3.0, 2.0  # standard errors, for accepting a change and for rejecting it
_REST, _LONGEST_REST = 1_000, 8_000  # turns before a try, four times as many each time that one changes nothing


class Load:
    """A limit on the turns of one system that are under way, in order of arrival. `most` is the limit, or None for any
    number. `clock` times the turns. `eased` is called with each new lowest number of turns."""

    def __init__(
        self, most: int | None = None, clock: Clock = REAL_CLOCK, eased: Callable[[int], object] = lambda level: None
    ) -> None:
        self.clock = clock
        self._level = None if most is None else Level(most)
        self._lowest, self._eased = most or 0, eased
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def place(self, turn: int) -> LoadSlot:
        """Return a context manager for one turn, from the time it may be sent until it is answered or has failed."""
        return LoadSlot(self, turn)

    async def enter(self) -> int:
        """Wait for a free slot. Returns the number of the current period of the level, to be passed to `leave`."""
        if self._waiting or not self._has_room():
            import asyncio  # late: an audit that is only checked waits for nothing

            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if not waiter.cancelled():  # the place was given to it in the same moment
                    self._release_place()
                raise
        else:
            self._under_way += 1
        return 0 if self._level is None else self._level.era

    def leave(self, turn: int, era: int, seconds: float | None) -> None:
        """Release the slot. `seconds` is the turn's duration, or None after a failure other than a time-out."""
        if seconds is not None and self._level is not None:
            self._level.add_turn(turn, era, seconds)
            if self._level.settled < self._lowest:
                self._lowest = self._level.settled
                self._eased(self._lowest)
        self._release_place()

    def _has_room(self) -> bool:
        return self._level is None or self._under_way < self._level.now

    def _release_place(self) -> None:
        self._under_way -= 1
        while self._waiting and self._has_room():
            waiter = self._waiting.popleft()
            if not waiter.cancelled():
                waiter.set_result(None)
                self._under_way += 1


class LoadSlot:
    """The slot of one turn. Call `sent` if the turn had to wait for the pace and is only now sent."""

    def __init__(self, load: Load, turn: int) -> None:
        self._load, self._turn = load, turn

    async def __aenter__(self) -> Self:
        self._era = await self._load.enter()
        self.mark_sent()
        return self

    def mark_sent(self) -> None:
        self._begun = self._load.clock.monotonic()

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        late = isinstance(fault, DriverError) and fault.reason == "timeout"
        took = self._load.clock.monotonic() - self._begun if fault is None or late else None
        self._load.leave(self._turn, self._era, took)


class Level:
    """The number of turns under way, adapted to the duration of turns. `now` is the current number, and `settled` the
    number before the current trial. `era` increases whenever `now` changes, because turns from before a change
    cannot be compared with later turns."""

    def __init__(self, most: int) -> None:
        self._most = self.now = self.settled = most
        self.era = 0
        self._before, self._seen = _Seconds(), _Seconds()
        self._rest = self._patience = _REST
        self._lowered = self._found = False
        self._first = most  # share answered in an era: quick turns come first, and slow ones are still under way

    def add_turn(self, turn: int, era: int, seconds: float) -> None:
        """Add the duration of a turn that was sent in `era` and was answered, or timed out, after `seconds`."""
        if era != self.era or self._most < _FEWEST_TURNS:
            return
        if self._first:
            self._first -= 1
            return
        self._seen.add(turn, seconds)
        stretch = max(_TURNS, _ROUNDS * self.now)
        if self.now != self.settled:
            if self._seen.count % _TURNS_PER_CHECK == 0:
                self._compare_levels(last=self._seen.count >= _STRETCHES * stretch)
            return
        if self._seen.count < stretch:
            return
        self._rest -= self._seen.count
        self._before, self._seen = self._seen, _Seconds()
        if self._rest <= 0 and self._before.mean >= _SHORTEST_TURN:
            # Go on in a direction that helped, and turn around after one that did not.
            self._lowered = self.now == self._most or (self.now > 1 and self._lowered == self._found)
            self._change_level(math.ceil(self.now / 2) if self._lowered else min(self._most, 2 * self.now))

    def _compare_levels(self, *, last: bool) -> None:
        lower, higher = (self._seen, self._before) if self._lowered else (self._before, self._seen)
        shorter, error = lower.log_ratio_to(higher)
        better = _BUSY_LOG_RATIO - shorter if self._lowered else shorter - _BUSY_LOG_RATIO
        self._found = better > _SURE * error
        if self._found:
            self._before, self.settled = self._seen, self.now
            self._seen, self._rest, self._patience = _Seconds(), 0, _REST // 4
        elif last or -better > _RATHER_SURE * error:
            self._patience = min(4 * self._patience, _LONGEST_REST)
            self._rest = self._patience
            self._change_level(self.settled)

    def _change_level(self, level: int) -> None:
        self.now = level
        self.era += 1
        self._seen, self._first = _Seconds(), level


@dataclass(slots=True)
class _Seconds:
    count: int = 0
    turns: dict[int, tuple[int, float, float]] = field(default_factory=dict)

    def add(self, turn: int, seconds: float) -> None:
        n, mean, squares = self.turns.get(turn, (0, 0.0, 0.0))
        off = seconds - mean
        mean += off / (n + 1)
        self.turns[turn] = n + 1, mean, squares + off * (seconds - mean)
        self.count += 1

    @property
    def mean(self) -> float:
        return sum(n * mean for n, mean, _ in self.turns.values()) / self.count

    def log_ratio_to(self, other: _Seconds) -> tuple[float, float]:
        """Return the logarithm of the ratio of these durations to the durations in the argument, averaged over turn
        numbers, and its standard error. The error is infinite if nothing can be compared. Means are compared, not
        logarithms, because the number of turns under way is the rate times the mean duration, whatever the
        distribution (J. D. C. Little, A proof for the queuing formula: L = λW, Operations Research 9 (1961),
        383-387)."""
        found = weights = 0.0
        for turn in self.turns.keys() & other.turns.keys():
            (n, mean, squares), (m, others, further) = self.turns[turn], other.turns[turn]
            if min(n, m) > 1 and squares > 0 and further > 0:
                variance = squares / (n * (n - 1) * mean**2) + further / (m * (m - 1) * others**2)
                found += math.log(mean / others) / variance
                weights += 1 / variance
        return (found / weights, math.sqrt(1 / weights)) if weights else (0.0, math.inf)
