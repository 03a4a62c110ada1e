"""Clearing the way to a chat by closing banners and windows and pressing launchers, each at most once. A button may
take a while to show that it was pressed: a frame loads, or a window fades. A second press would undo the first. If
a window stays or comes back at once, the next stronger button is pressed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from harvest.pages.browser.frame import Frame
from harvest.pages.browser.window import Window
from harvest.pages.chats.place import GOOD_SCORE
from harvest.pages.finding.blocker import Blocker, overlap_area
from harvest.pages.finding.blockers import find_blockers
from harvest.pages.finding.buttons import find_launcher
from harvest.pages.finding.discovery import find_composer
from harvest.pages.finding.labels import labels_of
from harvest.pages.finding.selectors import selector_for
from harvest.pages.reading.page import Box, Node, Page, letters
from harvest.pages.sites.site import Site
from harvest.systems.driver import NotSent

_STEP = 0.2  # seconds after a press before the page is looked at again
_FADE_SECONDS = 1.5  # seconds for a window to go once it is answered
_SETTLE_SECONDS = 3.0  # seconds without loading for a page to show what a launcher has opened
_LOAD_SECONDS = 20.0  # seconds after which requests started by a launcher are no longer awaited
_MOST_PRESSES = 6  # presses in one clearing


# The address and the number of elements of each frame; a launcher that opens something changes one of them.
Shape = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Press:
    """A press of a button, described for people. `kind` is the kind of a Blocker, or `launcher`. `selector` is a CSS
    selector of the button, or None if no selector could be made."""

    kind: str
    name: str
    selector: str | None


@dataclass(eq=False)
class Clearing:
    """An attempt to clear the way while a page opens or before a turn is typed. `noted` is called after each press."""

    window: Window
    site: Site
    noted: Callable[[Press], None]
    _presses: int = 0
    _done: set[tuple[object, ...]] = field(default_factory=set)
    _last: float = float("-inf")  # when something was pressed
    _early: dict[tuple[object, ...], Shape] = field(default_factory=dict)  # the shape when a launcher was pressed early
    _loaded: float = float("-inf")  # when the page was last seen loading after a launcher

    async def dismiss(self, looks: Sequence[tuple[Frame, Page]]) -> bool:
        """Close anything that covers the page. Returns True after a press or if a cover is about to disappear."""
        for frame, page in looks:
            over = not frame.is_main and await self._covers_chat(frame, looks)
            for blocker in find_blockers(page, site=self.site, over=over)[:1]:
                if blocker.dismiss is None:
                    continue
                if (
                    frame,
                    blocker.dismiss.id,
                ) in self._done and self.window.clock.monotonic() - self._last < _FADE_SECONDS:
                    await self.window.clock.sleep(_STEP)
                    return True
                return await self._press_answer(frame, page, blocker)
        return False

    async def _covers_chat(self, frame: Frame, looks: Sequence[tuple[Frame, Page]]) -> bool:
        elsewhere = any(
            one.score >= GOOD_SCORE for other, page in looks if other is not frame for one in find_composer(page)[:1]
        )
        box = await frame.box() if elsewhere else None
        width, height = self.window.viewport
        middle = Box(width / 2, height / 2, 1, 1)
        return box is not None and overlap_area(box, middle) > 0

    async def launch(self, looks: Sequence[tuple[Frame, Page]], known: Collection[str] | None = None) -> bool:
        """Press the button that opens a chat, unless an earlier press is still taking effect. Returns True if a button
        was pressed. If `known` is set, only launchers with these selectors are pressed, perhaps before the page
        reacts to presses. A press without effect is then repeated once."""
        for frame, page in looks:
            launcher = find_launcher(page)
            if launcher is None or launcher.score < GOOD_SCORE:
                continue
            selector = selector_for(page, launcher.node)
            made = (page.url, selector or labels_of(page, launcher.node))
            if (known is not None and selector not in known) or self._early.get(made) not in (None, _page_shape(looks)):
                continue
            self.window.expect_window(True)
            if made not in self._done and await self._press(frame, page, launcher.node, "launcher"):
                if known is None:
                    self._done.add(made)
                else:
                    self._early[made] = _page_shape(looks)
                    self._done.discard((frame, launcher.node.id))
                self._loaded = self._last
                return True
        return False

    def is_settled(self) -> bool:
        """Return True if the chat that a launcher opened has had time to appear."""
        now = self.window.clock.monotonic()
        if self.window.traffic.is_loading and now - self._last < _LOAD_SECONDS:
            self._loaded = now
        return now - self._loaded >= _SETTLE_SECONDS

    async def _press_answer(self, frame: Frame, page: Page, blocker: Blocker) -> bool:
        about = letters(blocker.excerpt)
        for button in (blocker.dismiss, *blocker.stronger):
            if button is None:
                continue
            said = (about, labels_of(page, button) or button.get("class"))
            if said not in self._done and await self._press(frame, page, button, blocker.kind):
                self._done.add(said)
                return True
        return False

    async def _press(self, frame: Frame, page: Page, node: Node, kind: str) -> bool:
        if (frame, node.id) in self._done or self._presses >= _MOST_PRESSES:
            return False
        part = await frame.node(node.id)
        if part is None:
            return False
        self.window.traffic.mark()
        try:
            await part.click()
        except NotSent:
            return False
        self._done.add((frame, node.id))
        self._last = self.window.clock.monotonic()
        self._presses += 1
        self.noted(Press(kind, (node.text or node.get("aria-label") or node.tag)[:60], selector_for(page, node)))
        await self.window.clock.sleep(_STEP)
        return True


def _page_shape(looks: Sequence[tuple[Frame, Page]]) -> Shape:
    return tuple((page.url, sum(1 for _ in page.walk())) for _, page in looks)
