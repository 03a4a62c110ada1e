"""Replies of every kind, wished for on a chat page through the browser driver and held to the truth of the back end.

A wish is a user turn of `servers.wishes`. What came of it is an answer, which must be whole and hold nothing else, or a
named fault, never half an answer.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Driver, DriverError, Opening, Reply, Surroundings
from tests.servers.short_answers import SHORT
from tests.support.interfaces import Interface, Truth
from tests.support.same_words import ALLOWED, allowed_between, brought

__all__ = ["ANSWERS", "FAULTS", "SHORT_ANSWERS", "Came", "play", "quantile", "wishes"]

ANSWERS = (
    "stream pause=0.2 pauses=5",
    "anchors",
    "stream pause=1 pauses=2",
    "table count=12",
    "bubbles count=3 pause=0.5",
    "code",
    "stream pause=3",
    "lists",
    "quick",
    "long chars=20000",
    "headings",
    "bubbles count=2 pause=2",
    "cjk",
    "mixed pause=0.2",
    "burst chars=20000",
    "rtl",
    "slow",
    "emphasis",
    "quote",
    "quoting",
    "prose",
    "anchors pause=1",
    "table pause=3",
)
"""What is answered: with pauses, in bubbles, long, at once, and in all that Markdown has."""

SHORT_ANSWERS = tuple(f"short count={place}" for place in range(len(SHORT)))
"""What is answered in one to five words."""

FAULTS: dict[str, frozenset[str]] = {
    "error status=500": frozenset({"error"}),
    "error status=429": frozenset({"error", "rate-limit"}),
    "prose error=1": frozenset({"error"}),
    "prose broken=1": frozenset({"error", "unfinished"}),
}
"""What comes to nothing, or to half of it, and the reasons that name it right."""


@dataclass(frozen=True, slots=True)
class Came:
    """What came of one wish. reply or fault: one of them is None. returned: time.time() when the driver handed it over.
    truth: what the back end did."""

    said: str
    truth: Truth
    reply: Reply | None
    fault: DriverError | None
    returned: float

    @property
    def wish(self) -> str:
        return self.said.removeprefix("scenario ").partition(" n=")[0]

    @property
    def text(self) -> str:
        return self.reply.turn.answer.text if self.reply is not None else ""

    @property
    def extra_wait(self) -> float:
        """Seconds from the last character leaving the back end to the answer being handed over, with its evidence."""
        assert self.truth.last is not None
        return self.returned - self.truth.last

    @property
    def cut(self) -> bool:
        """Whether something of an answer that was handed over is missing at its end."""
        return self.reply is not None and f"End {self.truth.token}." not in self.text

    @property
    def noise(self) -> tuple[str, ...]:
        """Lines that were read and that the system never wrote."""
        written = set(_lines(self.truth.answer))
        return tuple(line for line in _lines(self.text) if line not in written)

    @property
    def named_right(self) -> bool:
        """Whether this wish was to come to nothing, and did so under a name that says why."""
        return self.fault is not None and self.fault.reason in FAULTS.get(self.wish, frozenset())

    def differences(self) -> tuple[str, ...]:
        """The allowed differences from what was written, see `same_words`. Raises AssertionError for others."""
        assert self.reply is not None, f"{self.said}: {self.fault}; there was {self.fault and self.fault.partial!r}"
        found = allowed_between(self.truth.answer, self.text)
        links = tuple((link.text, link.href) for link in self.reply.turn.answer.links)
        assert links == self.truth.links, f"{self.said}: {links} instead of {self.truth.links}"
        return found


def _lines(text: str) -> list[str]:
    return [line.strip() for line in brought(text, tuple(ALLOWED)).split("\n") if line.strip()]


def wishes(number: int) -> list[str]:
    """So many user turns, all different: every kind in turn, one in eight a fault."""
    answers, faults = deque(ANSWERS), deque(FAULTS)
    found = []
    for place in range(number):
        kinds = faults if place % 8 == 7 else answers
        found.append(f"scenario {kinds[0]} n={place}")
        kinds.rotate(-1)
    return found


async def play(
    interface: Interface, turns: Iterable[str], *, contexts: int = 2, together: int = 5, **options: Any
) -> list[Came]:
    """Say every turn on the interface's page, `together` of them in one conversation, unless a fault ends it before."""
    driver = build_driver("browser", {"url": interface.url, **options}, Surroundings("page", Path()))
    queue = deque(turns)
    came: list[Came] = []
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(contexts):
                group.create_task(_work_through(driver, interface, queue, came, together))
    finally:
        await driver.close()
    return came


async def _work_through(
    driver: Driver, interface: Interface, queue: deque[str], came: list[Came], together: int
) -> None:
    while queue:
        session = await driver.open(Opening("page", "M001", 1, 1))
        try:
            for said in [queue.popleft() for _ in range(min(together, len(queue)))]:
                reply, fault = None, None
                try:
                    reply = await session.say(said)
                except DriverError as raised:
                    fault = raised
                returned = time.time()
                truth = await asyncio.to_thread(interface.truth_of, said)
                came.append(Came(said, truth, reply, fault, returned))
                if fault is not None:
                    await session.close()
                    session = await driver.open(Opening("page", "M001", 1, 1))
        finally:
            await session.close()


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie; NaN for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
