"""What a site says of the bubbles of a turn, compared with the page of the turn.

What a site names is used instead of searching: a selector that misses the bubbles of a turn is a mistake in the site,
and an answer that was found another way would hide it.
"""

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
    """Which selector of the site misses this turn, as a sentence; "" where none does, or where that cannot be told.

    page: with what the site matches marked; source: the same as the eye wrote it. turn: what was read of it,
    with habits, before and heard.
    """
    if site.reply is not None and _misses_reply(source, said, turn, habits, before, heard):
        return f"the site's reply {site.reply!r} matches nothing of this turn, though an answer stands on the page"
    if site.user is not None and turn.text and _misses_user(page, said, turn):
        return f"the site's user {site.user!r} matches nothing of this turn, though the user's words stand on the page"
    return ""


def _misses_reply(
    source: str, said: str, turn: ReadTurn, habits: Habits, before: PageText | None, heard: float | None
) -> bool:
    if turn.how != "site":  # a search, because nothing that is seen is marked
        return bool(turn.text)
    if turn.text:
        return False
    unmarked = parse_page(source)
    for node in unmarked.walk():
        node.attributes.pop("h-site", None)
    return bool(read_turn(unmarked, said, habits=habits, before=before, heard=heard).text)


def _misses_user(page: Page, said: str, turn: ReadTurn) -> bool:
    marked = page.marked("user")
    if not marked:
        return True
    shown = [node for node in marked if node.visible]
    ground = PageText(page)
    # A copy for screen readers may be marked alone; and a page that was loaded anew does not say what is new.
    if not shown or not ground.dated or any(ground.fresh(node) for node in shown):
        return False
    # A page need not repeat what was said; an answer may.
    echoes = [one.node for one in find_echoes(ground, said)]
    echoes = [node for node in echoes if not any(node.within(bubble) for bubble in turn.bubbles)]
    return bool(echoes) and not any(echo.within(node) or node.within(echo) for echo in echoes for node in shown)
