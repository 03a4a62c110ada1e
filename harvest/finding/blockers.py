"""What stands in the way of a chat, or says that a turn came to nothing: told by structure and traffic.

Words alone make nothing an error: an answer may be about errors, limits and log-ins. They only name the kind of what
the page's structure, its traffic or the site's own description has shown to be no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from harvest.browser.traffic import Fault
from harvest.finding.banners import find_banner
from harvest.finding.blocker import Blocker, came_since
from harvest.finding.failures import find_failure
from harvest.finding.walls import find_wall
from harvest.reading.page import Node, Page, letters
from harvest.reading.turn import ReadTurn
from harvest.sites.site import Block, Site

__all__ = ["Blocker", "find_blocker", "find_blockers"]

_EVENTS = ("rate-limit", "error")  # what happens to one turn; the others are states of the page
_LONGEST_NOTICE = 1000


def find_blocker(
    page: Page,
    *,
    site: Site | None = None,
    status: int | None = None,
    faults: Sequence[Fault] = (),
    begun: int | None = None,
    turn: ReadTurn | None = None,
) -> Blocker | None:
    """The first of `find_blockers`."""
    return next(iter(find_blockers(page, site=site, status=status, faults=faults, begun=begun, turn=turn)), None)


def find_blockers(
    page: Page,
    *,
    site: Site | None = None,
    status: int | None = None,
    faults: Sequence[Fault] = (),
    begun: int | None = None,
    turn: ReadTurn | None = None,
) -> list[Blocker]:
    """Everything in the way: what can be clicked away first, then what cannot.

    Without `turn`: of a page on which one wants to talk; status: of HTTP, of its document. With it: of the turn that
    was just read, where only what came since the sending counts; faults: the requests that failed since then; begun:
    how many requests that may carry an answer began since then (None: not known).
    """
    described = _described(page, site, turn) if site is not None else []
    if turn is not None:
        found = [find_failure(page, turn, faults, begun), find_wall(page, None, since=True)]
    else:
        found = [find_banner(page), find_wall(page, status)]
    every = [*described, *(one for one in found if one is not None)]
    return sorted(every, key=lambda one: one.dismiss is None)


def _described(page: Page, site: Site, turn: ReadTurn | None) -> list[Blocker]:
    """What the site's own description names."""
    found = []
    if turn is None:
        for number in range(1, len(site.dismiss) + 1):
            shown = [node for node in page.marked(f"dismiss-{number}") if node.visible and node.box is not None]
            if shown:
                found.append(
                    Blocker("consent", shown[0].text[:300], shown[0], shown[0], (f"the site's dismiss {number}",))
                )
    for name, block in site.each_block():
        node = _hit(page, name, block, turn)
        if node is not None:
            found.append(Blocker(block.kind, node.text[:300], node, None, (f"the site's {name.replace('-', ' ')}",)))
    return found


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
