"""Sources that a page shows next to the chat, in a panel whose links change with each answer. Such sources are
recognised by time and position: the links are outside the conversation, came between the user's turn and the end of
the answer, and are under a line that announces sources or in an element that had no links until then. Re-rendered
menus, lists of earlier chats and advertisements change, too. Links that may belong to these parts are not read, and
a note says so."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import urlsplit

from harvest.pages.reading.echo import trail
from harvest.pages.reading.elements import hints
from harvest.pages.reading.folds import announces_sources, outward_links, raw_text
from harvest.pages.reading.page import Node, Page, letters
from harvest.pages.reading.turn_place import Spot
from protocols.answer import Source

_Trail = tuple[str, ...]
# The target of a link, and the trail of its elements.
_Link = tuple[str, _Trail]

_SOURCE_WORDS = frozenset({"citation", "citations", "reference", "references", "source", "sources"})
_MENU_TAGS = frozenset({"footer", "header", "nav"})
_MENU_ROLES = frozenset({"banner", "contentinfo", "menu", "menubar", "navigation", "search", "tablist", "tree"})
_MENU_WORDS = frozenset(
    {
        *("ad", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "conversations", "history"),
        *("menu", "nav", "navbar", "promo", "recommended", "sponsor", "sponsored", "threads", "toast"),
    }
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary", "caption", "dt"})
_ROOT_TAGS = frozenset({"body", "h-page", "html"})


@dataclass(frozen=True, slots=True)
class PanelSources:
    """Sources next to the chat that came with an answer. `sources` lists them in page order. `places` holds the trails
    of their elements, by which later turns recognise the panel. `missed` is True if other links in the panel
    changed and were not read, and `stood` if the panel still has the sources of an earlier answer, untouched: this
    answer may have the same sources or none."""

    sources: tuple[Source, ...] = ()
    places: frozenset[_Trail] = frozenset()
    missed: bool = False
    stood: bool = False


def find_panel_sources(
    page: Page, said: str, spot: Spot, before: Page | None, known: Collection[_Trail] = ()
) -> PanelSources:
    """Find the sources of an answer outside its bubbles. `before` is the page when the turn was typed, or None if
    unknown. `known` holds the trails of sources in earlier turns."""
    named = page.marked("sources")
    if named:
        links = [link for one in named if _is_seen(one) for link in outward_links(one) if _is_seen(link)]
        return PanelSources(_sources_of([link for link in links if _is_new(link, before)] or links, page.url))
    container = spot.container
    if page.asked is None or not spot.bubbles or container is None or container.tag in _ROOT_TAGS:
        return PanelSources()
    taken: list[Node] = []
    places: set[_Trail] = set()
    missed = False
    stood = {(one.get("href"), trail(one)) for one in (outward_links(before.root) if before is not None else ())}
    for link in outward_links(page.root):
        if not _is_beside(link, container, page.url) or not _is_new(link, before, stood, known):
            continue
        # The outermost element around it without the conversation.
        outside = takewhile(lambda around: not container.is_within(around), link.ancestors())
        panel = [link, *outside][-1]
        was = before.by_id.get(panel.id) if before is not None and panel.id else None
        had_none = was is not None and not outward_links(was)
        if trail(link) in known or _is_named(link, panel) or had_none:
            taken.append(link)
            places.add(trail(link))
        elif letters(link.text) not in letters(said):
            missed = True
    still = not taken and any(
        trail(link) in known and _is_beside(link, container, page.url) for link in outward_links(page.root)
    )
    return PanelSources(_sources_of(taken, page.url), frozenset(places), missed, still)


def _sources_of(links: Collection[Node], url: str) -> tuple[Source, ...]:
    here = url.partition("#")[0]
    titles: dict[str, str] = {}
    for link in links:
        href = link.get("href")
        if href.partition("#")[0] != here:
            titles.setdefault(href, raw_text(link) or link.get("aria-label") or link.get("title"))
    return tuple(Source(href, "" if title == href else title) for href, title in titles.items())


def _is_beside(link: Node, container: Node, url: str) -> bool:
    around = list(link.ancestors())
    if container in around or link.text == "" or not _is_seen(link):
        return False
    if any(one.tag in _MENU_TAGS or one.get("role") in _MENU_ROLES or hints(one) & _MENU_WORDS for one in around):
        return False
    return urlsplit(link.get("href")).netloc != urlsplit(url).netloc or any(
        hints(one) & _SOURCE_WORDS for one in around
    )


def _is_seen(node: Node) -> bool:
    return node.visible and "leave_out" not in node.get("h-site").split()


def _is_new(link: Node, before: Page | None, stood: Collection[_Link] = (), places: Collection[_Trail] = ()) -> bool:
    """Return True if the link came with the turn. Such a link has a new address, or its element is new and not only
    re-rendered."""
    was = before.by_id.get(link.id) if before is not None and link.id else None
    if was is not None:
        return was.get("href") != link.get("href")
    return link.birth_time is not None and (trail(link) in places or (link.get("href"), trail(link)) not in stood)


def _is_named(link: Node, panel: Node) -> bool:
    for around in link.ancestors():
        if hints(around) & _SOURCE_WORDS or announces_sources(around.get("aria-label")):
            return True
        for one in filter(lambda one: announces_sources(one.text), around.elements):
            line = one
            while len(line.elements) == 1 and line.elements[0].text == line.text:
                line = line.elements[0]
            if line.tag in _HEADINGS or not line.elements:  # one line with nothing else in it
                return True
        if around is panel:
            break
    return False
