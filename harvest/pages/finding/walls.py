"""Pages on which nobody can chat: log-ins, captchas, maintenance, limits. Words are evidence only if the page has no
box to type in."""

import re

from harvest.pages.finding.banners import asks_to_sign_in, can_be_closed, find_dialogs, find_windows
from harvest.pages.finding.blocker import Blocker, appeared_after_send, covers_share, is_inside_code
from harvest.pages.finding.discovery import find_composer, possible_composers
from harvest.pages.finding.labels import role_of
from harvest.pages.finding.notices import COOKIES, HUMAN, MAINTENANCE, RATE_LIMIT, SIGN_IN_FIRST, find_human_check
from harvest.pages.finding.weighing import nodes_around
from harvest.pages.reading.page import Node, Page
from harvest.pages.reading.turn import ReadTurn

_CAPTCHA = re.compile(
    r"recaptcha|hcaptcha|challenges\.cloudflare\.com|turnstile|arkoselabs|funcaptcha|geetest|captcha-delivery|datadome"
    r"|px-captcha|perimeterx|friendlycaptcha|friendly-challenge|mtcaptcha|awswaf.{0,40}captcha|captcha",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"bframe|challenge|hcaptcha.{0,60}frame=challenge|arkoselabs|captcha-delivery|px-captcha", re.IGNORECASE
)
_SHORT_NOTICE = 300  # characters of the instructions of a puzzle
_STEPS = 6  # elements around a puzzle that may contain its instructions
_SHORT_PAGE = 1500  # characters: a longer page is about something else
_STATUS_KINDS = {
    401: "login",
    407: "login",
    429: "rate-limit",
    502: "maintenance",
    503: "maintenance",
    504: "maintenance",
}


def find_wall(
    page: Page, status: int | None, *, since: bool = False, unanswered: ReadTurn | None = None
) -> Blocker | None:
    """Find an obstacle that keeps everybody from typing, or return None if no obstacle is recognised. `status` is the
    HTTP status of the page. Set `since` to consider only obstacles that came after the last send and cover the
    chat. If the turn has no answer, pass it as `unanswered`: a check for humans that has replaced the box to type
    in then counts as well."""
    challenge = _find_challenge(page, since) or _find_puzzle(page, since)
    if challenge is not None:
        return challenge
    if since:
        return (
            _find_login_window(page)
            or _find_blocking_window(page, since)
            or (None if unanswered is None else _find_replacement(page, unanswered.echo))
        )
    if (closed := _find_blocking_window(page, since)) is not None:
        return closed
    if possible_composers(page):
        return None
    if (asks := _find_captcha(page) or _find_login(page)) is not None:
        return asks
    text = page.root.text
    if status is not None and status >= 400:
        human = status == 403 and (text in HUMAN or page.title in HUMAN)
        kind = "captcha" if human else _STATUS_KINDS.get(status, "error")
        said = _excerpt(page, page.root)
        excerpt = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        return Blocker(kind, excerpt, page.root, None, (f"HTTP {status}",))
    if 0 < len(text) <= _SHORT_PAGE and not any(node.tag == "iframe" and node.visible for node in page.walk()):
        for kind, wording in (("maintenance", MAINTENANCE), ("rate-limit", RATE_LIMIT)):
            if text in wording:
                why = f"a short page without a box to talk in that says {wording.find(text)!r}"
                return Blocker(kind, _excerpt(page, page.root), page.root, None, (why,))
    return None


def _find_challenge(page: Page, since: bool) -> Blocker | None:
    """Find a captcha in a frame that must be solved now, whatever else is on the page."""
    for node in page.walk():
        box = node.box
        if node.tag != "iframe" or box is None or box.width < 250 or box.height < 200 or not node.visible:
            continue
        said = f"{node.get('src')} {node.get('title')} {node.get('name')}"
        if _CAPTCHA.search(said) and _CHALLENGE.search(said) and (not since or appeared_after_send(node)):
            why = ("the frame of a captcha that waits to be solved",)
            return Blocker("captcha", _excerpt(page, node), node, None, why)
    return None


def _find_puzzle(page: Page, since: bool) -> Blocker | None:
    """Find a captcha drawn by the page itself: words about being human next to something to solve. The captcha counts
    only in a window or an element that covers the box. With `since` it must have come after the last send."""
    for node in page.walk():
        solved = node.tag in ("canvas", "iframe") or role_of(node) in ("slider", "range", "checkbox")
        if not (solved and node.visible and node.box is not None) or is_inside_code(node):
            continue
        for region in (node, *nodes_around(node, _STEPS)):
            if len(region.text) > _SHORT_NOTICE or region is page.root:
                break
            words = find_human_check(region.text)
            if words and (
                appeared_after_send(region) if since else any(region.is_within(one) for one in find_windows(page))
            ):
                why = (f"says {words!r} over something to solve",)
                return Blocker("captcha", region.text[:300], region, None, why)
    return None


def _find_blocking_window(page: Page, since: bool) -> Blocker | None:
    for region in find_windows(page):
        text = region.text
        if not 0 < len(text) <= _SHORT_PAGE or text in COOKIES or (since and not appeared_after_send(region)):
            continue
        if words := find_human_check(text):
            return Blocker("captcha", text[:300], region, None, (f"the window over the chat says {words!r}",))
        if asks_to_sign_in(page, region) and not can_be_closed(page, region):
            return Blocker("login", text[:300], region, None, ("the window over the chat asks for a log-in",))
    return None


def _find_replacement(page: Page, echo: Node | None) -> Blocker | None:
    """Find an element that asks for proof of being human and appeared when the box to type in disappeared."""
    if possible_composers(page):
        return None
    asking = [
        node
        for node in page.walk()
        if node.visible
        and appeared_after_send(node)
        and 0 < len(node.text) <= _SHORT_NOTICE
        and find_human_check(node.text)
        if echo is None or not (node.is_within(echo) or echo.is_within(node))
    ]
    if not asking:
        return None
    node = min(asking, key=lambda one: len(one.text))
    why = (f"says {find_human_check(node.text)!r} where the box to type in was",)
    return Blocker("captcha", node.text, node, None, why)


def _find_captcha(page: Page) -> Blocker | None:
    for node in page.walk():
        if node.box is None or node.box.height < 40 or not node.visible:
            continue
        said = f"{node.get('id')} {node.get('class')}"
        if node.tag == "iframe":
            said += f" {node.get('src')} {node.get('title')} {node.get('name')}"
        # The badge in the corner and the invisible kind do not ask for anything.
        if _CAPTCHA.search(said) and "badge" not in said and "invisible" not in said:
            why = f"a {'frame' if node.tag == 'iframe' else 'part'} of a captcha, without a box to talk in"
            return Blocker("captcha", _excerpt(page, node), node, None, (why,))
    if len(page.root.text) <= _SHORT_PAGE and (page.root.text in HUMAN or page.title in HUMAN):
        words = HUMAN.find(page.root.text) or HUMAN.find(page.title)
        return Blocker("captcha", _excerpt(page, page.root), page.root, None, (f"a short page that says {words!r}",))
    return None


def _find_login(page: Page) -> Blocker | None:
    for node in page.walk():
        if node.tag == "input" and node.get("type") == "password" and node.visible and node.box is not None:
            return Blocker(
                "login", _excerpt(page, page.root), node, None, ("asks for a password, and no box to talk in",)
            )
    text = page.root.text
    if len(text) <= _SHORT_PAGE and text in SIGN_IN_FIRST and asks_to_sign_in(page, page.root):
        return Blocker("login", _excerpt(page, page.root), page.root, None, (f"says {SIGN_IN_FIRST.find(text)!r}",))
    narrow = len(text) <= 400 and any(node.get("type") == "email" and node.visible for node in page.walk())
    if narrow and asks_to_sign_in(page, page.root):
        return Blocker("login", _excerpt(page, page.root), page.root, None, ("asks for an address to log in with",))
    return None


def _find_login_window(page: Page) -> Blocker | None:
    boxes = [one.node for one in find_composer(page)]
    for region in find_dialogs(page):
        if not appeared_after_send(region) or any(box.is_within(region) for box in boxes if box.get("type") != "email"):
            continue
        asks = region.text in SIGN_IN_FIRST or any(node.get("type") == "password" for node in region.walk())
        if (
            asks
            and asks_to_sign_in(page, region)
            and (covers_share(page, region, 0.1) or region.get("aria-modal") == "true")
        ):
            return Blocker("login", region.text[:300], region, None, ("a new window that asks for a log-in",))
    return None


def _excerpt(page: Page, node: Node) -> str:
    return (node.text or node.get("title") or page.root.text or page.title)[:300]
