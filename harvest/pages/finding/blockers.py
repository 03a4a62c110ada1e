"""What stands in the way of a chat, or says that a turn came to nothing: told by structure and traffic.

Words alone make nothing an error: an answer may be about errors, limits and log-ins. They only name the kind of what
the page's structure, its traffic or the site's own description has shown to be no answer.
"""

from collections.abc import Iterator, Sequence

from harvest.pages.browser.traffic import Fault
from harvest.pages.finding.banners import find_banner
from harvest.pages.finding.blocker import Blocker, came_since
from harvest.pages.finding.failures import find_failure
from harvest.pages.finding.walls import find_wall
from harvest.pages.reading.page import Node, Page, letters
from harvest.pages.reading.turn import ReadTurn
from harvest.pages.sites.site import Block, Site

_EVENTS = ("rate-limit", "error")  # what happens to one turn; the others are states of the page
_LONGEST_NOTICE = 1000  # characters: longer ones are articles


def find_blockers(
    page: Page, *, site: Site | None = None, status: int | None = None, over: bool = False
) -> list[Blocker]:
    """Everything in the way on a page on which one wants to talk: what can be clicked away first, then what cannot.

    status: of HTTP, of its document. over: it is the page of a frame that lies over the chat.
    """
    found = [
        *_dismissed_blockers(page, site),
        *_named_blockers(page, site),
        find_banner(page, over=over),
        find_wall(page, status),
    ]
    return sorted((one for one in found if one is not None), key=lambda one: one.dismiss is None)


def find_named(page: Page, site: Site) -> Blocker | None:
    """What the site says lets nobody talk now; what happens to single turns, and banners, do not count."""
    return next((one for one in _named_blockers(page, site) if one.kind not in (*_EVENTS, "consent")), None)


def find_refusal(
    page: Page, turn: ReadTurn, *, site: Site | None = None, faults: Sequence[Fault] = (), begun: int | None = None
) -> Blocker | None:
    """What says that the turn that was just read came to nothing; None where nothing does. Only what came since the
    sending counts.

    faults: the requests that failed since then; begun: how many that may carry an answer began since then (None: not
    known).
    """
    named = next(
        (one for one in _named_blockers(page, site, turn) if one.kind != "consent"), None
    )  # a banner ends no turn
    wall = find_wall(page, None, since=True, unanswered=None if turn.text else turn)
    return named or find_failure(page, turn, faults, begun) or wall


def _dismissed_blockers(page: Page, site: Site | None) -> Iterator[Blocker]:
    """What the site says is clicked away."""
    for number in range(1, len(site.dismiss) + 1 if site is not None else 1):
        for node in page.marked(f"dismiss-{number}"):
            if node.visible and node.box is not None:
                yield Blocker("consent", node.text[:300], node, node, (f"the site's dismiss {number}",))
                break


def _named_blockers(page: Page, site: Site | None, turn: ReadTurn | None = None) -> Iterator[Blocker]:
    """What the site says lets nobody talk, or makes the turn none."""
    for name, block in site.each_block() if site is not None else ():
        node = _hit(page, name, block, turn)
        if node is not None:
            yield Blocker(block.kind, node.text[:300], node, None, (f"the site's {name.replace('-', ' ')}",))


def _hit(page: Page, name: str, block: Block, turn: ReadTurn | None) -> Node | None:
    """The element that the entry is about; None where it is not there, or was there before the turn."""
    said = letters(turn.echo.text) if turn is not None and turn.echo is not None else None
    nodes = page.marked(name) if block.selector is not None else _notices(page)
    for node in nodes:
        if not node.visible or (turn is not None and block.kind in _EVENTS and not came_since(node)):
            continue
        if block.pattern is not None and not block.pattern.search(node.text):
            continue
        if block.selector is None and said and said in letters(node.text) and len(letters(node.text)) <= len(said) + 40:
            continue  # the user's own words
        return node
    return None


def _notices(page: Page) -> list[Node]:
    """Elements that may say something, innermost first."""
    found = [node for node in page.walk() if node.visible and 0 < len(node.text) <= _LONGEST_NOTICE]
    return list(reversed(found))
