"""The place to type on a page: the frame, the box, the send button, and the way of sending that has worked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from harvest.pages.browser.frame import Frame
from harvest.pages.finding.buttons import find_send
from harvest.pages.finding.discovery import find_composer
from harvest.pages.reading.elements import signature
from harvest.pages.reading.page import Node, Page
from harvest.pages.sites.site import Site

# Candidates with a lower score are not used.
GOOD_SCORE = 0.5

_SURE_SCORE = 0.7  # a button with a lower score has only its place in favour: it may also record or attach something


@dataclass(eq=False)
class Place:
    """A place to type in a frame, and the ways to send. `composer` and `send` are the numbers that the eye gave these
    elements in the frame; `send` is 0 if there is no button. `page` is the frame's content when the place was
    found. `ways` lists the ways to send, the most likely first: `button`, or the name of a key. `guessed` is True
    if only the position of the button suggests that it sends. `proven` is True if the first way has worked in this
    conversation. `filled` is True if the button is on only because files are attached."""

    frame: Frame
    page: Page
    composer: int
    send: int = 0
    ways: list[str] = field(default_factory=lambda: ["button", "Enter", "Control+Enter"])
    guessed: bool = False
    proven: bool = False
    filled: bool = False

    def find_button(self, page: Page, site: Site, *, typed: bool = False) -> None:
        """Find the send button on the page as it is now, and order the ways to send. Set `typed` if the box contains
        the turn. If only the button's position suggests its purpose, a key comes first."""
        composer = page.by_id.get(self.composer)
        if composer is None:
            return
        if site.send and not site.send_key:
            marked = [node for node in page.marked("send") if node.visible]
            self.send = marked[-1].id if marked else 0
            return
        found = find_send(page, composer, before=self.page if typed else None)
        self.send = found.node.id if found is not None and found.score >= GOOD_SCORE else 0
        self.guessed = found is not None and GOOD_SCORE <= found.score < _SURE_SCORE
        if not self.proven and not site.send_key:
            self.ways = ["Enter", "button", "Control+Enter"] if self.guessed else ["button", "Enter", "Control+Enter"]

    def prefer(self, way: str) -> None:
        self.ways.remove(way)
        self.ways.insert(0, way)
        self.proven = True

    def adopt(self, earlier: "Place") -> None:
        """Adopt the order of ways from an earlier place, even if the page has rebuilt its box."""
        self.ways, self.proven = earlier.ways, earlier.proven

    def with_files(self, earlier: "Place") -> Self:
        """Return this place as one to which files were attached since it was the `earlier` place. Its send button is
        that of before, if that was certain and is still there: what shows a file has buttons, too."""
        button = earlier.page.by_id.get(earlier.send)
        self.filled = button is None or not button.visible or "h-off" in button.attributes
        if earlier.send and not earlier.guessed and earlier.send in self.page.by_id:
            self.send, self.guessed = earlier.send, False
        return self

    def is_resting(self, looks: Sequence[tuple[Frame, Page]]) -> bool:
        """Return True if the box, or a box with equal markup in its position, is visible and only disabled for now."""
        before = self.page.by_id.get(self.composer)
        return before is not None and any(
            "h-off" in node.attributes and node.visible and signature(node) == signature(before)
            for frame, page in looks
            if frame is self.frame
            for node in page.walk()
        )


def find_place(looks: Sequence[tuple[Frame, Page]], site: Site) -> Place | None:
    """Return the best place to type in these frames, or None if no candidate is certain enough."""
    best: tuple[float, Frame, Page, Node] | None = None
    for frame, page in looks:
        if site.frame and site.frame not in page.url:
            continue
        if site.composer:
            composers = [(node, 1.0) for node in page.marked("composer") if node.visible]
        else:
            composers = [(found.node, found.score) for found in find_composer(page)]
        for node, score in composers:
            if score >= GOOD_SCORE and (best is None or score > best[0]):
                best = (score, frame, page, node)
    if best is None:
        return None
    _, frame, page, node = best
    place = Place(frame, page, node.id)
    place.find_button(page, site)
    if site.send_key:
        place.ways = [site.send_key]
    elif site.send:
        place.ways = ["button"]
    return place
