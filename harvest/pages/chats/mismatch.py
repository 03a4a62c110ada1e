"""Checks that a site's selectors match the bubbles of a turn. A site's selectors replace the search for bubbles. A
selector that misses the bubbles of a turn is a mistake in the site file, and an answer found without the selector
would hide the mistake."""

from harvest.pages.reading.echo import find_echoes
from harvest.pages.reading.page import Page, parse_page
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import Habits, ReadTurn, read_turn
from harvest.pages.sites.site import Site


def find_mismatch(
    page: Page,
    source: str,
    said: str,
    turn: ReadTurn,
    site: Site,
    habits: Habits,
    before: PageText | None = None,
    heard: float | None = None,
) -> str:
    """Return a sentence that names the site's selector that misses this turn, or "" if no selector is known to miss
    the turn. `page` is the page with the matches of the site's selectors marked, and `source` is that page as the
    eye wrote it. `turn` was read with `habits`, `before` and `heard`."""
    if site.reply is not None and not (turn.how == "site" and turn.text):
        shown = turn.text  # found by a search if nothing visible is marked
        if turn.how == "site":
            unmarked = parse_page(source)
            for node in unmarked.walk():
                node.attributes.pop("h-site", None)
            shown = read_turn(unmarked, said, habits=habits, before=before, heard=heard).text
        if shown:
            return f"the site's reply {site.reply!r} matches nothing of this turn, though an answer is on the page"
    if site.user is not None and turn.text and _misses_user(page, said, turn):
        return f"the site's user {site.user!r} matches nothing of this turn, though the user's words are on the page"
    return ""


def _misses_user(page: Page, said: str, turn: ReadTurn) -> bool:
    marked = page.marked("user")
    if not marked:
        return True
    shown = [node for node in marked if node.visible]
    ground = PageText(page)
    # Only a copy for screen readers may be marked; and a page that was loaded again does not show what is new.
    if not shown or not ground.has_times or any(ground.is_fresh(node) for node in shown):
        return False
    # A page need not repeat the user's words; an answer may.
    echoes = [one.node for one in find_echoes(ground, said)]
    echoes = [node for node in echoes if not any(node.is_within(bubble) for bubble in turn.bubbles)]
    return bool(echoes) and not any(echo.is_within(node) or node.is_within(echo) for echo in echoes for node in shown)
