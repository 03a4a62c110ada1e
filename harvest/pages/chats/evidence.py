"""Evidence of a turn on a live page in addition to its answer, for people and for `harvest pages read-again`."""

import contextlib
import json
import math
from dataclasses import dataclass

from harvest.pages.browser.frame import Frame
from harvest.pages.browser.window import Window
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.opening import Opening
from harvest.pages.chats.sending import SentTurn
from harvest.pages.chats.waiting import AwaitedAnswer
from harvest.pages.reading.page import collapse_spaces, markup
from harvest.pages.reading.turn import Habits
from harvest.pages.sites.site import Site
from harvest.systems.driver import DriverError, Exhibit

_XHTML = "application/xhtml+xml"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one conversation. `wanted` names the evidence to keep of each turn, as in `Manners`.
    `experience` is the experience with the site, and `opening` describes how its page was opened."""

    window: Window
    site: Site
    wanted: frozenset[str]
    experience: Experience
    opening: Opening

    async def picture(self) -> bytes | None:
        """Take a screenshot if screenshots are kept, and return it as PNG. Returns None otherwise."""
        return await self.window.screenshot() if "screenshot" in self.wanted else None

    async def of_turn(
        self, awaited: AwaitedAnswer, said: str, sent: SentTurn, sent_as: str, habits: Habits
    ) -> tuple[Exhibit, ...]:
        """Collect the evidence of an answered turn. `sent_as` is as in `ChatAnswer`. `habits` are the habits with
        which the answer was read."""
        kept: list[Exhibit] = []
        picture = awaited.picture or await self.picture()
        if picture is not None:
            kept.append(Exhibit("screenshot", "image/png", picture))
        if "reply" in self.wanted:
            reply = markup(awaited.page, awaited.turn.bubbles, awaited.turn.decorations)
            kept.append(Exhibit("reply", _XHTML, reply.encode()))
        if "page" in self.wanted:
            kept.append(_page_exhibit(awaited.source))
        if "watch" in self.wanted:
            kept.append(Exhibit("watch", "application/json", self._record(awaited, said, sent, sent_as, habits)))
        return tuple(kept)

    async def of_failure(self, frame: Frame | None) -> tuple[Exhibit, ...]:
        """Collect any evidence that a failed page still gives. `frame` is the chat's frame if known. Never raises."""
        kept: list[Exhibit] = []
        with contextlib.suppress(DriverError):
            if "screenshot" in self.wanted:
                kept.append(Exhibit("screenshot", "image/png", await self.window.screenshot()))
        with contextlib.suppress(DriverError):
            if "page" in self.wanted:
                shown = frame or self.window.frames()[0]
                kept.append(_page_exhibit(await shown.source(self.site.selectors)))
        with contextlib.suppress(DriverError):
            trace = await self.window.trace()
            if trace is not None:
                kept.append(Exhibit("trace", "application/zip", trace))
        return tuple(kept)

    def _record(self, awaited: AwaitedAnswer, said: str, sent: SentTurn, sent_as: str, habits: Habits) -> bytes:
        """Return the record of the turn, with everything that `harvest pages read-again` needs except the page."""
        sample, verdict, window = awaited.sample, awaited.verdict, self.window
        shown = awaited.turn.echo.lines if awaited.turn.echo is not None else ""
        plain = [line for line in map(collapse_spaces, said.split("\n")) if line]
        record = {
            "format": "harvest-watch/1",
            "url": window.url,
            "sent_by": sent.by,
            "presses": sent.presses,
            "typed": list(sent.typed.differences),
            "sent_as": sent_as,
            "shown_as": "" if shown.split("\n") == plain else shown,
            "finish": verdict.how if verdict else awaited.why,
            "quiet_asked_for": verdict.asked_for if verdict else None,
            "first_word": sample.began,
            "last_change": round(sample.last_change, 3),
            "waited": round(sample.quiet, 3),
            "signs_there": sorted(sample.now),
            "signs_ended": {name: round(at, 3) for name, at in sorted(sample.ended.items())},
            "signs_mistrusted": sorted(self.experience.mistrusted),
            "signs_outlasting": sorted(self.experience.stayed),
            "stalls": [[round(length, 3), round(since, 3)] for length, since in sample.stalls],
            "pauses": [[round(length, 3), round(since, 3)] for length, since in sample.pauses],
            "faults": [
                [fault.method, fault.url.partition("?")[0], fault.status, fault.what] for fault in window.traffic.faults
            ],
            "events": window.events,
            "opened_by": self.opening.did,
            "read_by": awaited.turn.how,
            "first_byte": "none" if awaited.heard == math.inf else awaited.heard,
            "left_out": list(awaited.turn.left_out),
            "rest_offered": awaited.turn.rest,
            "notes": list(awaited.turn.notes),
            "habits": habits.as_json(),
            "selectors": self.site.selectors,
        }
        return json.dumps(record, ensure_ascii=False, indent=1).encode()


def _page_exhibit(source: str) -> Exhibit:
    return Exhibit("page", _XHTML, source.encode())
