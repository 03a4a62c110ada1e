"""From a user turn just sent to its whole answer: sampling, finding the turn on the page, judging, reading.

The eye notes every change from before the sending, so nothing that happens between two samples is missed. As soon as
the turn is found on the page only its surroundings are watched; a clock elsewhere then no longer counts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from harvest.browser.completion import Completion, Sample, Verdict
from harvest.browser.glance import Glance
from harvest.browser.page import Page, parse_page
from harvest.browser.place import Place
from harvest.browser.reading import Habits, ReadTurn, read_turn
from harvest.browser.window import Window
from harvest.drivers.driver import Unanswered

__all__ = ["Awaited", "Waiting"]

_STEP = 0.1  # seconds between samples
_CARRIED = 0.25  # bytes received for each byte of the answer that make it plausible that they carried it


@dataclass(frozen=True, slots=True)
class Awaited:
    """What waiting came to. source: the page as the eye wrote it, for evidence.

    verdict: None where the turn was given up; why: then `timeout`, or `no-reply` where the page stayed silent.
    sample: the last one.
    """

    source: str
    page: Page
    turn: ReadTurn
    verdict: Verdict | None
    why: str
    sample: Sample


class Waiting:
    """For one turn on one page."""

    def __init__(
        self,
        window: Window,
        place: Place,
        said: str,
        *,
        habits: Habits,
        completion: Completion,
        selectors: Mapping[str, str],
    ) -> None:
        self._window, self._place, self._said = window, place, said
        self._habits, self._completion, self._selectors = habits, completion, selectors
        self._began: float | None = None
        self._container = 0
        self._bytes = 0

    async def answer(self, seconds: float) -> Awaited:
        """Wait for the whole answer, for at most `seconds`. Raises DriverError where page or browser are lost."""
        until = time.monotonic() + seconds
        looked_at = -1
        while True:
            seen = await self._glance()
            if (self._began is None or seen.stale) and seen.mutations != looked_at:
                looked_at = seen.mutations
                await self._look()
                seen = await self._glance()
            sample = self._sample(seen)
            verdict = self._completion.judge(sample)
            silent = verdict is None and self._began is None and self._completion.silent(sample)
            late = time.monotonic() >= until
            if verdict or silent or late:
                source, page, turn = await self._look()
                went_on = (await self._glance()).changes != seen.changes
                if not turn.text:
                    self._began = None  # what was there has gone again
                if late or (verdict and turn.text and not went_on) or (silent and not turn.text):
                    why = "" if verdict and turn.text and not went_on else "timeout" if late else "no-reply"
                    return Awaited(source, page, turn, None if why else verdict, why, self._sample(seen))
            await asyncio.sleep(_STEP)

    async def _glance(self) -> Glance:
        seen = await self._place.frame.sample()
        if seen.asked is None:
            raise Unanswered("page-reloaded", "the page was loaded anew while its answer was awaited")
        return seen

    async def _look(self) -> tuple[str, Page, ReadTurn]:
        source = await self._place.frame.source(self._selectors)
        page = parse_page(source)
        turn = read_turn(page, self._said, habits=self._habits)
        self._bytes = len(turn.text.encode())
        if turn.text and self._began is None:
            self._began = turn.began
        container = turn.container.id if turn.container is not None else 0
        if container and container != self._container:
            self._container = container
            await self._place.frame.watch([container])
        return source, page, turn

    def _sample(self, seen: Glance) -> Sample:
        at = seen.asked or 0.0
        now = {name for name, sign in seen.signs.items() if sign.now}
        ended = {name: at - sign.last for name, sign in seen.signs.items() if sign.last is not None and not sign.now}
        traffic = self._window.traffic
        if traffic.pending:
            now.add("network")
        elif traffic.last_ended is not None and self._carried():
            ended["network"] = traffic.last_ended
        return Sample(at, seen.quiet, self._began, seen.pauses, frozenset(now), ended)

    def _carried(self) -> bool:
        """Whether the requests that ended may have brought the answer: one that received next to nothing has only
        taken the turn, and the answer comes by another way."""
        traffic = self._window.traffic
        return traffic.streamed or traffic.received >= max(traffic.framed, _CARRIED * self._bytes)
