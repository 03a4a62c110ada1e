"""Opening a chat page: waiting for its composer and clearing the way to it."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harvest.pages.browser.frame import Frame
from harvest.pages.browser.part import Cover
from harvest.pages.browser.window import Window
from harvest.pages.chats.clearing import Clearing, Press
from harvest.pages.chats.place import GOOD_SCORE, Place, find_place
from harvest.pages.finding.blocker import Blocker
from harvest.pages.finding.blockers import find_blockers, find_named
from harvest.pages.finding.buttons import find_new_chat
from harvest.pages.finding.doors import Door, find_door
from harvest.pages.reading.page import Node, Page
from harvest.pages.sites.site import Site
from harvest.systems.driver import Denied, DriverError, NotSent, Unanswered

# Obstacles that cannot be clicked away. A log-in or a captcha asks for a person: the system is left alone.
WALLS: dict[str, type[DriverError]] = {
    "login": Denied,
    "captcha": Denied,
    "rate-limit": NotSent,
    "maintenance": NotSent,
    "error": NotSent,
}

_REMEDIES = {
    "login": " (log in once by hand with `harvest pages login`, and name its file in the option `login`)",
    "captcha": " (Harvest does not solve them: ask the site's operator for a way in)",
}
_COVERED = "something covers the box to type in"
_RENEWAL_ADVICE = (
    " (though the log-in in {0} was used: it may have expired; renew it with `harvest pages login … --out {0}`, with "
    "the options of the audit, since some sites tie a log-in to them)"
)
_UNKNOWN_COVER = Cover("", 0.0)
_STEP = 0.2  # seconds between looks
_GRACE_SECONDS = 3.0  # seconds for a page to show its composer before a launcher is pressed or a wall is believed
_CALM_SECONDS = 0.4  # seconds without a change after which a page counts as ready
_LONGEST_CALM_WAIT = 5.0  # … or after this, even if something still moves
_MOST_FRAMES = 20  # looked at; whether a frame is shown depends on all frames around it


class Opening:
    """A page that is being opened. `login` is the file with the log-in that its window was given.

    - `did`: the presses, described for people.
    - `found`: the pressed elements that the site file does not name, in order, each with its kind (of a Blocker, or
      `launcher`) and its selector.
    - `launchers`: selectors of the launchers that opened this site's chat before. This opening adds any new launcher.
    - `door`: the form before the chat, if a form stopped the opening.
    """

    def __init__(
        self, window: Window, site: Site, login: Path | None = None, launchers: set[str] | None = None
    ) -> None:
        self._window, self._site, self._login, self._clock = window, site, login, window.clock
        self._launchers = set() if launchers is None else launchers
        self.did: list[str] = []
        self.found: list[tuple[str, str | None]] = []
        self._clearing = Clearing(window, site, self._note_press)
        self._filled: set[tuple[Frame, int]] = set()
        self.door: Door | None = None

    async def place(self, status: int | None, seconds: float) -> Place:
        """Find the place to type in and wait until nothing is in the way. `status` is the HTTP status of the page.
        Raises Denied (`login`, `captcha`, `asks-first`) or NotSent (`maintenance`, `rate-limit`, `error`,
        `not-openable`, `composer-covered`, `no-composer`)."""
        begun = self._clock.monotonic()
        self.clear()
        self._filled.clear()
        looks: list[tuple[Frame, Page]] = []
        await self._press_in_order(begun + seconds)
        sought = f"; the site's composer {self._site.composer!r} matches nothing there" if self._site.composer else ""
        why = NotSent("no-composer", f"no box to type in was found within {seconds:g} s at {self._window.url}{sought}")
        while (waited := self._clock.monotonic() - begun) < seconds:
            looks = await self.view_frames()
            found = find_place(looks, self._site)
            if await self.dismiss(looks):
                continue
            if found is not None:
                cover = await self.find_cover(found)
                # The site's own sign that anybody may type, if it has one.
                signs = (node for _, page in looks for node in page.marked("ready"))
                if not cover and (not self._site.ready or any(node.visible for node in signs)):
                    self._window.expect_window(False)
                    await self._await_calm(found)
                    self._learn()
                    return found
                said = f": {cover.text[:200]!r}" if cover is not None and cover.text else ""
                why = cover_error(looks, self._site) or NotSent("composer-covered", _COVERED + said)
                if cover and waited > _GRACE_SECONDS:
                    self.raise_walls(looks, status, for_people=True)
                    self.raise_door(looks)
            elif await self._window.enter_window():
                continue  # the chat has a window of its own
            elif waited > _GRACE_SECONDS and self._clearing.is_settled():
                self.raise_walls(looks, status)
                if not await self._clearing.launch(looks):
                    self.raise_door(looks)
            elif waited >= _CALM_SECONDS and self._clearing.is_settled() and not self._window.traffic.pending:
                await self._clearing.launch(looks, self._launchers)
            await self._fill_fields(looks)
            await self._clock.sleep(_STEP)
        self._launchers.difference_update(self._launchers_pressed)
        if why.reason == "no-composer":
            texts = " / ".join(page.root.text for _, page in looks if page.root.text)
            why = NotSent(why.reason, f"{why.detail}; the page says {repr(texts[:200]) if texts else 'nothing'}")
        raise why

    def raise_walls(
        self, looks: Sequence[tuple[Frame, Page]], status: int | None = None, *, for_people: bool = False
    ) -> None:
        """Raise the error in WALLS for the first wall. If `for_people` is set, consider only walls that only a person
        can pass."""
        for _, page in looks:
            for wall in find_blockers(page, site=self._site, status=status):
                if wall.kind in WALLS and (not for_people or WALLS[wall.kind] is Denied):
                    raise self.wall_error(wall)

    def raise_door(self, looks: Sequence[tuple[Frame, Page]]) -> None:
        """Raise Denied (`asks-first`) if a page has a form to fill in before anybody may type."""
        for _, page in looks:
            self.door = find_door(page)
            if self.door is not None:
                asked = ", ".join(repr(what) for what in self.door.asks)
                advice = f"; to answer, write in a site file: {self.door.advice}" if self.door.advice else ""
                raise Denied("asks-first", f"before the chat the page asks for {asked}{advice}")

    def raise_named(self, looks: Sequence[tuple[Frame, Page]]) -> None:
        """Raise the error for a state that the site file itself names, whatever else the page shows."""
        for _, page in looks:
            named = find_named(page, self._site)
            if named is not None:
                raise self.wall_error(named)

    def wall_error(self, wall: Blocker) -> DriverError:
        """Return the error for the wall, with advice for a person."""
        remedy = _REMEDIES.get(wall.kind, "")
        if wall.kind == "login" and self._login is not None:
            remedy = _RENEWAL_ADVICE.format(self._login)
        return WALLS[wall.kind](wall.kind, wall.excerpt + remedy)

    async def new_chat(self) -> bool:
        """Press `new_chat` or a likely button to begin a conversation. Returns True if a button was pressed."""
        for frame, page in await self.view_frames():
            if self._site.new_chat is not None:
                marked = [node for node in page.marked("new_chat") if node.visible]
            else:
                found = find_new_chat(page)
                marked = [found.node] if found is not None and found.score >= GOOD_SCORE else []
            if marked and await self._press(frame, marked[0], "new chat"):
                return True
        return False

    async def view_frames(self) -> list[tuple[Frame, Page]]:
        looks = []
        for frame in self._window.frames()[:_MOST_FRAMES]:
            try:
                if frame.is_main or await frame.box() is not None:
                    looks.append((frame, await frame.look(self._site.selectors)))
            except Unanswered:
                # A frame that hangs or has just gone may be an advertisement: the page is not given up.
                if frame.is_main or self._window.gone:
                    raise
        return looks

    def clear(self) -> None:
        """Start clearing the way again. Buttons that were pressed for an earlier turn may be pressed again."""
        self._clearing = Clearing(self._window, self._site, self._note_press)

    async def dismiss(self, looks: Sequence[tuple[Frame, Page]]) -> bool:
        """Click away anything that covers the page. Returns True after a click or if a cover is about to disappear."""
        return await self._clearing.dismiss(looks)

    @property
    def _launchers_pressed(self) -> list[str]:
        return [selector for kind, selector in self.found if kind == "launcher" and selector is not None]

    def _learn(self) -> None:
        """Remember the launcher that opened the chat, unless its first press came too early and was repeated."""
        pressed = self._launchers_pressed
        self._launchers.difference_update(pressed)
        if pressed and pressed.count(pressed[-1]) == 1:
            self._launchers.add(pressed[-1])

    def _note_press(self, press: Press) -> None:
        self.did.append(f"{press.kind}: pressed {press.name!r}")
        self.found.append((press.kind, press.selector))

    async def _press_in_order(self, until: float) -> None:
        for place, selector in enumerate(self._site.open, 1):
            while True:
                self._window.expect_window(True)
                await self._window.enter_window()
                looks = await self.view_frames()
                await self._fill_fields(looks)
                marked = [
                    (frame, node) for frame, page in looks for node in page.marked(f"open-{place}") if node.visible
                ]
                if marked and await self._press(*marked[0], "open"):
                    break
                await self.dismiss(looks)
                if self._clock.monotonic() > until:
                    raise NotSent("not-openable", f"no element on the page matches {selector!r}, which `open` names")
                await self._clock.sleep(_STEP)

    async def _fill_fields(self, looks: Sequence[tuple[Frame, Page]]) -> None:
        for number, text in enumerate(self._site.fill.values(), 1):
            for frame, page in looks:
                for node in page.marked(f"fill-{number}"):
                    if (frame, node.id) in self._filled or not (node.visible or node.get("type") == "checkbox"):
                        continue
                    part = await frame.node(node.id)
                    if part is None:
                        continue
                    with suppress(NotSent):
                        if text is True:
                            await part.tick()
                        elif node.tag == "select":
                            await part.choose(text)
                        else:
                            await part.fill(text)
                        self._filled.add((frame, node.id))
                        self.did.append(f"fill: {'ticked a box' if text is True else f'wrote {text!r}'}")

    async def _press(self, frame: Frame, node: Node, kind: str) -> bool:
        part = await frame.node(node.id)
        if part is None:
            return False
        try:
            await part.click()
        except NotSent:
            return False
        self.did.append(f"{kind}: pressed {(node.text or node.get('aria-label') or node.tag)[:60]!r}")
        await self._clock.sleep(_STEP)
        return True

    async def find_cover(self, place: Place) -> Cover | None:
        """Return the element that covers the box to type in, or None if the box is not covered."""
        if await place.frame.is_reachable(place.composer):
            return None
        part = await place.frame.node(place.composer)
        if part is None:
            return _UNKNOWN_COVER
        try:
            await part.scroll()
        except NotSent:
            return _UNKNOWN_COVER  # it moves, or has gone: it is looked for again
        return await part.cover() or await place.frame.cover()

    async def _await_calm(self, place: Place) -> None:
        """Wait until nothing changes, because a new page may still add listeners and would lose typed text."""
        await place.frame.arm(place.composer)
        await place.frame.mark_sent()
        traffic, begun, before = self._window.traffic, self._clock.monotonic(), -1
        since = begun
        # Text typed before its web socket is connected is lost as well.
        while traffic.is_connecting or self._clock.monotonic() - begun < _LONGEST_CALM_WAIT:
            seen = await place.frame.sample()
            if seen.asked is None or seen.mutations != before:
                before, since = seen.mutations, self._clock.monotonic()
            elif self._clock.monotonic() - since >= _CALM_SECONDS and traffic.has_settled and not traffic.is_connecting:
                return
            await self._clock.sleep(_STEP / 4)


def cover_error(looks: Sequence[tuple[Frame, Page]], site: Site) -> NotSent | None:
    """Return the error that names the window over the page, or None if no such window is recognised."""
    for _, page in looks:
        for blocker in find_blockers(page, site=site):
            if blocker.kind in ("consent", "modal"):
                detail = f"a {blocker.kind} window covers the box to type in: {blocker.excerpt}"
                return NotSent("composer-covered", detail)
    return None
