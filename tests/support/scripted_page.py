"""A chat page without a browser, on a clock that is stepped: what it shows and sends is written down beforehand.

It stands where a `Window` stands, for what waits in one. Everything else about pages is tested in a real browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from harvest.pages.browser.frame import Frame, Sign, TurnSigns
from harvest.pages.browser.outbox import Outbox
from harvest.pages.browser.part import Cover
from harvest.pages.browser.traffic import Traffic
from harvest.pages.browser.window import Window
from harvest.pages.chats.composer import TypedTurn
from harvest.pages.chats.place import Place
from harvest.pages.reading.page import Box, Page, parse_page
from harvest.systems.driver import DriverError, NotSent
from tests.support.stepping import Stepped

__all__ = ["BOX", "BUTTON", "SAID", "Request", "ScriptedPage", "Showing"]

SAID = "Which film is it?"
BOX, BUTTON, LOG, USER, BOT = 3, 4, 1, 10, 11
"""The eye's numbers for what every such page has."""


@dataclass(frozen=True)
class Showing:
    """Something on the page from one second to another, or until element `number` in it is pressed. share: of the
    window that it takes where it lies over the box."""

    html: str
    begin: float = 0.0
    end: float = float("inf")
    number: int = 0
    goes_when_pressed: bool = True
    fades: float = 0.0
    share: float = 0.1


@dataclass(frozen=True)
class Request:
    """A request, in seconds after what sets it off."""

    begin: float
    end: float = float("inf")
    responds: float | None = None
    method: str = "POST"
    kind: str = "fetch"
    size: int = 10_000
    media_type: str = ""


@dataclass(eq=False)
class ScriptedPage:
    """time: by which it goes. In seconds from its second 0: composer: when its box is there, and when it has gone;
    off: until when its button is off, and its box, too, where it rests; shown: what else stands on it; moves: every so
    many seconds something stirs. taken_by: what sends a turn; held: seconds from the press to the turn's going from the
    box.

    In seconds after the turn was taken: echoes: when the user's words are there; writes: when which text of the answer
    comes, with a bubble around it; signs: (name, from, to); sends: requests; documents: when another document comes;
    trouble: (from, to, text) of an error that is shown.
    """

    time: Stepped = field(default_factory=Stepped)
    composer: tuple[float, float] = (0.0, float("inf"))
    off: float = 0.0
    rests: bool = False
    shown: Sequence[Showing] = ()
    moves: float = 0.0
    taken_by: str = "button"
    held: float = 0.0
    echoes: float = 0.0
    writes: Sequence[tuple[float, str]] = ()
    signs: Sequence[tuple[str, float, float]] = ()
    sends: Sequence[Request] = ()
    documents: Sequence[float] = ()
    trouble: tuple[float, float, str] | None = None
    ready: float | None = None
    faults: dict[str, DriverError] = field(default_factory=dict)
    value: str = ""
    pressed: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = self.time.clock
        self.traffic, self.outbox = Traffic(self.clock), Outbox()
        self.recorder = None
        self.frame = ScriptedFrame(self)
        self.viewport = (1280, 800)
        self.url, self.gone, self.events = "https://chat.test/", None, list[str]()
        self.marked: float | None = None
        self.taken: float | None = None
        self.followed = 0

    @property
    def window(self) -> Window:
        return cast(Window, self)

    @property
    def place(self) -> Place:
        return Place(cast(Frame, self.frame), self.page(), BOX, BUTTON)

    def frames(self) -> list[Frame]:
        return [cast(Frame, self.frame)]

    def mark(self) -> None:
        self.traffic.mark()
        self.outbox.mark()

    def note(self, event: str) -> None:
        self.events.append(event)

    async def goto(self, url: str, seconds: float) -> int | None:
        return 200

    def expect_window(self, expected: bool) -> None:
        """No page of these opens a window."""

    async def enter_window(self) -> bool:
        return False

    async def typed(self, text: str = SAID) -> TypedTurn:
        self.value = text
        return TypedTurn(text, text)

    def take(self) -> None:
        """The page takes the turn now."""
        self.taken = self.time.seconds
        for number, request in enumerate(self.sends):
            self.send((self.taken, number), request)

    def send(self, key: object, request: Request) -> None:
        later = asyncio.get_running_loop().call_later
        later(request.begin, self.traffic.note_request, key, request.method, self.url + "say", request.kind)
        later(request.begin, self.outbox.note_request, request.method, self.url + "say", request.kind, SAID.encode())
        if request.responds is not None:
            later(request.responds, self.traffic.note_response, key, 200, request.media_type)
        if request.end < float("inf"):
            later(request.end, self._ended, key, request)

    def _ended(self, key: object, request: Request) -> None:
        if self.traffic.note_end(key):
            self.traffic.note_size(request.size, self.traffic.marked)

    def press(self, way: str) -> None:
        self.pressed.append((self.time.seconds, way))
        if way == self.taken_by and self.taken is None:
            asyncio.get_running_loop().call_later(self.held, self.take)

    @property
    def since(self) -> float:
        """Seconds after the turn was taken; below 0: it was not."""
        return -1.0 if self.taken is None else self.time.seconds - self.taken

    def _written(self) -> list[float]:
        """When text changed, in seconds after the sending."""
        if self.taken is None or self.marked is None:
            return []
        lag, since = self.taken - self.marked, self.since
        moments = sorted({0.0, *(at for at in (self.echoes, *(at for at, _ in self.writes)) if at <= since)})
        return [lag + at for at in moments if lag + at >= 0]  # what stood in a document when it came did not change

    def sample(self) -> TurnSigns:
        now = self.time.seconds
        stirred = int(now / self.moves) if self.moves else 0
        if self.trouble is not None:
            stirred += sum(at <= self.since for at in self.trouble[:2])
        if self.marked is None or self._documents() > self.followed:
            return TurnSigns(None, mutations=stirred)
        asked, lag = now - self.marked, (self.taken or self.marked) - self.marked
        written = self._written()
        signs = {}
        for name, begin, end in self.signs if self.taken is not None else ():
            if begin <= self.since:
                last = max(0.0, self.since - end)
                signs[name] = Sign(True, self.since < end, last, lag + begin)
        pauses = tuple((after - before, before) for before, after in pairwise([0.0, *written]))
        return TurnSigns(
            asked,
            asked - (written[-1] if written else 0.0),
            changes=len(written),
            pauses=pauses,
            signs=signs,
            mutations=stirred + len(written),
        )

    def _documents(self) -> int:
        return sum(at <= self.since for at in self.documents)

    def body(self) -> str:
        now, since = self.time.seconds, self.since
        turns = box = ""
        if self.taken is not None:
            born = 1000 * (self.taken - (self.marked or 0.0))
            words = "".join(text for at, text in self.writes if at <= since)
            if self.echoes <= since:
                shown = born + 1000 * self.echoes
                turns += f'<div h-id="{USER}" class="user" h-box="0,0,900,30" h-born="{shown}">{SAID}</div>'
            if any(at <= since for at, _ in self.writes):
                first, last = self.writes[0][0], max(at for at, _ in self.writes if at <= since)
                when = f'h-born="{born + 1000 * first}" h-said="{born + 1000 * last}"'
                turns += f'<div h-id="{BOT}" class="bot" h-box="0,40,900,30" {when}><p>{words}</p></div>'
        if self.composer[0] <= now < self.composer[1]:
            off = ' h-off="1" disabled=""' if now < self.off else ""
            edit = 'h-off="1" disabled=""' if off and self.rests else 'h-edit="1"'
            ready = ' h-site="ready"' if self.ready is not None and now >= self.ready else ""
            box = (
                f'<form h-id="2" h-box="0,700,1000,60"{ready}><textarea h-id="{BOX}" {edit} h-box="0,700,900,40" '
                f'placeholder="Message"/><button h-id="{BUTTON}" h-box="910,700,80,40"{off}>Send</button></form>'
            )
        over = "".join(one.html for one in self.shown if self._is_shown(one))
        if self.trouble is not None and self.trouble[0] <= since < self.trouble[1]:
            born = 1000 * ((self.taken or 0.0) - (self.marked or 0.0) + self.trouble[0])
            made = f'h-id="12" role="alert" class="toast error" h-box="900,20,300,60" h-born="{born}"'
            over += f"<div {made}>{self.trouble[2]}</div>"
        return f'<main h-id="{LOG}" role="log" h-box="0,0,1000,680">{turns}</main>{box}{over}'

    def _is_shown(self, one: Showing) -> bool:
        now, gone = self.time.seconds, one.end
        if one.number and one.goes_when_pressed:
            gone = min([gone, *(at + one.fades for at, what in self.pressed if what == str(one.number))])
        return one.begin <= now < gone

    def source(self) -> str:
        asked = "" if self.marked is None or self._documents() > self.followed else f' asked="{self._asked()}"'
        head = f'<h-page url="{self.url}" title="A page" width="1280" height="800"{asked}>'
        return f"{head}{self.body()}</h-page>"

    def page(self) -> Page:
        return parse_page(self.source())

    def _asked(self) -> float:
        return 1000 * (self.time.seconds - (self.marked or 0.0))

    def covered(self) -> Cover | None:
        over = [one for one in self.shown if one.number and self._is_shown(one)]
        return Cover("Buy now", over[0].share) if over else None


@dataclass(eq=False)
class ScriptedFrame:
    """The page's only document."""

    of: ScriptedPage
    is_main: bool = True
    watched: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.of.url

    async def box(self) -> Box:
        return Box(0, 0, 1280, 800)

    async def look(self, site: Mapping[str, str] | None = None) -> Page:
        return self.of.page()

    async def source(self, site: Mapping[str, str] | None = None) -> str:
        return self.of.source()

    async def arm(
        self, composer: int, send: int = 0, site: Mapping[str, str] | None = None, *, filled: bool = False
    ) -> None:
        """Nothing is typed yet."""
        if "arm" in self.of.faults:
            raise self.of.faults["arm"]

    async def mark_sent(self) -> None:
        self.of.marked = self.of.time.seconds

    async def follow(self, site: Mapping[str, str] | None = None) -> None:
        self.of.followed += 1
        self.of.marked = self.of.time.seconds

    async def cover(self) -> None:
        """There is no page around it."""

    async def watch(self, ids: Sequence[int]) -> None:
        self.watched.extend(ids)

    async def sample(self) -> TurnSigns:
        if "sample" in self.of.faults:
            raise self.of.faults["sample"]
        return self.of.sample()

    async def node(self, number: int) -> ScriptedPart | None:
        return ScriptedPart(self.of, number) if number in self.of.page().by_id else None

    async def typed_text(self, number: int) -> str | None:
        part = await self.node(number)
        return None if part is None else await part.value()

    async def kind_of_box(self, number: int) -> str:
        return "form"

    async def is_disabled(self, number: int) -> bool:
        return self.of.time.seconds < self.of.off

    async def is_reachable(self, number: int) -> bool:
        return self.of.covered() is None


@dataclass(eq=False)
class ScriptedPart:
    """One element of it."""

    of: ScriptedPage
    number: int

    async def value(self) -> str:
        return "" if self.of.taken is not None else self.of.value

    async def click(self) -> None:
        if self.number == BUTTON and self.of.time.seconds < self.of.off:
            raise NotSent("part-off", "it is off")
        self.of.press("button" if self.number == BUTTON else str(self.number))

    async def press(self, key: str) -> None:
        self.of.press(key)

    async def clear(self) -> None:
        self.of.value = ""

    async def fill(self, text: str) -> None:
        self.of.value = text

    async def insert(self, text: str) -> None:
        self.of.value += text

    async def focus(self) -> None:
        """It has it."""

    async def scroll(self) -> None:
        """It is in view."""

    async def cover(self) -> Cover | None:
        return self.of.covered()
