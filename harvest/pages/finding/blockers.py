"""Obstacles before a chat and failed turns, recognised by the structure of the page and by its traffic. Words alone
are never evidence of an error, because an answer may be about errors, limits and log-ins. Words only name the kind
of an obstacle that the page's structure, its traffic or the site's own description has shown not to be an answer."""

from collections.abc import Iterator, Sequence

from harvest.pages.browser.traffic import FailedRequest
from harvest.pages.finding.banners import find_banner
from harvest.pages.finding.blocker import Blocker, appeared_after_send
from harvest.pages.finding.failures import find_failure
from harvest.pages.finding.walls import find_wall
from harvest.pages.reading.page import Page, letters
from harvest.pages.reading.turn import ReadTurn
from harvest.pages.sites.site import Site

_TURN_EVENTS = ("rate-limit", "error")  # events of a single turn; the other kinds are states of the page
_LONGEST_NOTICE = 1000  # characters: longer texts are articles


def find_blockers(
    page: Page, *, site: Site | None = None, status: int | None = None, over: bool = False
) -> list[Blocker]:
    """Find everything that is in the way on a chat page. Obstacles that can be clicked away come first. `status` is
    the HTTP status of the document. Set `over` if the page is in a frame that covers the chat."""
    found: list[Blocker | None] = []
    for number in range(1, len(site.dismiss) + 1 if site is not None else 1):
        shown = (one for one in page.marked(f"dismiss-{number}") if one.visible and one.box is not None)
        if (node := next(shown, None)) is not None:
            found.append(Blocker("consent", node.text[:300], node, node, (f"the site's dismiss {number}",)))
    found += [*_named_blockers(page, site), find_banner(page, over=over), find_wall(page, status)]
    return sorted((one for one in found if one is not None), key=lambda one: one.dismiss is None)


def find_named(page: Page, site: Site) -> Blocker | None:
    """Find a state of the site file in which nobody can type. Banners and events of a turn are ignored."""
    return next((one for one in _named_blockers(page, site) if one.kind not in (*_TURN_EVENTS, "consent")), None)


def find_refusal(
    page: Page,
    turn: ReadTurn,
    *,
    site: Site | None = None,
    faults: Sequence[FailedRequest] = (),
    begun: int | None = None,
) -> Blocker | None:
    """Find the sign that the turn just read has failed, or return None. Only signs since the send count. `faults` are
    the requests that failed since the send, and `begun` is the number of requests since the send that may carry an
    answer, or None."""
    # A banner does not end a turn.
    named = next((one for one in _named_blockers(page, site, turn) if one.kind != "consent"), None)
    wall = find_wall(page, None, since=True, unanswered=None if turn.text else turn)
    return named or find_failure(page, turn, faults, begun) or wall


def _named_blockers(page: Page, site: Site | None, turn: ReadTurn | None = None) -> Iterator[Blocker]:
    """Yield the obstacles that the site file names. With `turn`, ignore single-turn events from before the send."""
    said = letters(turn.echo.text) if turn is not None and turn.echo is not None else None
    for name, block in site.each_block() if site is not None else ():
        # Without a selector, any element that is short enough to be a notice, innermost first.
        nodes = page.marked(name) if block.selector is not None else reversed(list(page.walk()))
        for node in nodes:
            if not node.visible or (block.selector is None and not 0 < len(node.text) <= _LONGEST_NOTICE):
                continue
            if turn is not None and block.kind in _TURN_EVENTS and not appeared_after_send(node):
                continue
            if block.pattern is not None and not block.pattern.search(node.text):
                continue
            plain = letters(node.text)
            if block.selector is None and said and said in plain and len(plain) <= len(said) + 40:
                continue  # the user's own words
            yield Blocker(block.kind, node.text[:300], node, None, (f"the site's {name.replace('-', ' ')}",))
            break
