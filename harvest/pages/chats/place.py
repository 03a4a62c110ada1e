"""Where on a page one talks: the frame, the box to type in, the button that sends, and what worked so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harvest.pages.browser.frame import Frame
from harvest.pages.finding.buttons import find_send
from harvest.pages.finding.discovery import find_composer
from harvest.pages.reading.elements import signature
from harvest.pages.reading.page import Node, Page
from harvest.pages.sites.site import Site

# A candidate that is less sure than this is neither typed into nor pressed.
GOOD = 0.5

_SURE = 0.7  # a button that is less sure is told by its place alone: it may just as well record or attach something


@dataclass(eq=False)
class Place:
    """composer, send: the eye's numbers in that frame (send: 0 where there is none).

    page: what the frame showed then. ways: how to send, the likeliest first: `button`, or a key. guessed: nothing but
    its place tells that the button sends. proven: the first has worked in
    this conversation.
    """

    frame: Frame
    page: Page
    composer: int
    send: int = 0
    ways: list[str] = field(default_factory=lambda: ["button", "Enter", "Control+Enter"])
    guessed: bool = False
    proven: bool = False

    def find_button(self, page: Page, site: Site, *, typed: bool = False) -> None:
        """Which button sends on the page as it is now. typed: the turn stands in the box.

        A key comes before a button of which nothing is known but where it stands."""
        composer = page.by_id.get(self.composer)
        if composer is None:
            return
        if site.send and not site.send_key:
            marked = [node for node in page.marked("send") if node.visible]
            self.send = marked[-1].id if marked else 0
            return
        found = find_send(page, composer, before=self.page if typed else None)
        self.send = found.node.id if found is not None and found.score >= GOOD else 0
        self.guessed = found is not None and GOOD <= found.score < _SURE
        if not self.proven and not site.send_key:
            self.ways = ["Enter", "button", "Control+Enter"] if self.guessed else ["button", "Enter", "Control+Enter"]

    def worked(self, way: str) -> None:
        """Try it first from now on."""
        self.ways.remove(way)
        self.ways.insert(0, way)
        self.proven = True

    def follow(self, earlier: Place) -> None:
        """What worked before is tried first, though the page may have made its box anew."""
        self.ways, self.proven = earlier.ways, earlier.proven

    def resting(self, looks: Sequence[tuple[Frame, Page]]) -> bool:
        """Whether the box, or one made like it in its place, is still to be seen and only takes no text now."""
        before = self.page.by_id.get(self.composer)
        return before is not None and any(
            "h-off" in node.attributes and node.visible and signature(node) == signature(before)
            for frame, page in looks
            if frame is self.frame
            for node in page.walk()
        )


def place_on(looks: Sequence[tuple[Frame, Page]], site: Site) -> Place | None:
    """The best place to talk in these frames; None where nothing is sure enough."""
    best: tuple[float, Frame, Page, Node] | None = None
    for frame, page in looks:
        if site.frame and site.frame not in page.url:
            continue
        for node, score in _composers(page, site):
            if score >= GOOD and (best is None or score > best[0]):
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


def _composers(page: Page, site: Site) -> list[tuple[Node, float]]:
    if site.composer:
        return [(node, 1.0) for node in page.marked("composer") if node.visible]
    return [(found.node, found.score) for found in find_composer(page)]
