"""Consent banners and modal windows: what lies over a page until a person has answered, and the button to do so.

Of a banner's buttons the one that agrees to least is taken: reject, then only what is necessary, then close, and
accept only where there is nothing else.
"""

from collections.abc import Iterator

from harvest.pages.finding.blocker import Blocker, covers, overlap
from harvest.pages.finding.discovery import find_composer
from harvest.pages.finding.labels import code_of, is_button, labels_of, role_of
from harvest.pages.finding.notices import (
    ACCEPT,
    CLOSE,
    COOKIES,
    NECESSARY,
    REJECT,
    SIGN_IN,
    SIGN_IN_FIRST,
    TERMS,
    human_check,
)
from harvest.pages.finding.wordings import Wording, words
from harvest.pages.reading.page import Node, Page

_DIALOG_CODE = words("modal popup lightbox interstitial dialog overlay")
_CONSENT_CODE = words(
    """
    consent cookie cookies gdpr cmp onetrust cookiebot didomi usercentrics quantcast truste klaro osano iubenda termly
    complianz borlabs sourcepoint cky ccpa
    """
)
_CROSSES = frozenset("×✕✖╳xX⨯✗")
_SETTINGS = Wording("""
settings | preferences | manage* | customi* | options | more | learn more | details | policy | notice | vendors |
partners | einstellungen | mehr | anpassen | verwalten | paramétrer | paramètres | personnaliser |
en savoir plus | configurar | personalizar | más información | saiba mais | gerenciar | personalizza | gestisci | meer |
instellen | настройки | подробнее | إعدادات | المزيد | सेटिंग | अधिक | 設定 | 詳細 | 设置 | 更多 | 设定 | 설정 | 자세히
""")
_LONGEST = 4000  # characters of a banner; what says more is the page itself
_LONGEST_NAME = 60  # characters: longer ones are sentences, and no buttons
_STEPS = 10  # up from a button to its banner
_ANSWERS = (REJECT, NECESSARY, CLOSE, ACCEPT)  # the one that agrees to least first


def find_banner(page: Page, *, over: bool = False) -> Blocker | None:
    """What lies over the page and can be clicked away (or, of a modal window, cannot): consent, modal, login.

    None where nothing does, and where all it holds is the chat itself. over: the page itself, in a frame, lies over
    another one in which the chat is.
    """
    boxes = [one.node for one in find_composer(page) if one.score >= 0.25]
    composer = boxes[0] if boxes else None
    for region in _consents(page, composer):
        choices = _choices(page, region, _ANSWERS)
        if choices:
            return _blocker("consent", region, choices, "speaks of cookies or consent")
    for region in windows(page):
        if _holds_frame(region) or human_check(region.text):
            continue  # it may be the chat; and what asks for a human is not answered
        asks = region.text in SIGN_IN_FIRST or (region.text in SIGN_IN and _asks_for_password(region))
        choices = _choices(page, region, (CLOSE, REJECT) if asks else (CLOSE, REJECT, NECESSARY, ACCEPT))
        asks = asks or (not choices and asks_to_sign_in(page, region))
        if asks:
            return _blocker("login", region, choices, "a window that asks for a log-in")
        if choices:
            return _blocker("consent" if region.text in TERMS else "modal", region, choices, "a window over the page")
    if over and composer is None and len(page.root.text) <= _LONGEST and not human_check(page.root.text):
        choices = _choices(page, page.root, _ANSWERS)
        if choices:
            kind = "consent" if page.root.text in TERMS or page.root.text in COOKIES else "modal"
            return _blocker(kind, page.root, choices, "a frame over the chat")
    return None


def asks_to_sign_in(page: Page, region: Node) -> bool:
    """Whether one of its buttons leads to a log-in or a new account."""
    return any(_to_sign_in(name) for node in _buttons(region) for name in labels_of(page, node))


def closes(page: Page, region: Node) -> bool:
    """Whether it can be closed without agreeing to anything."""
    return bool(_choices(page, region, (CLOSE, REJECT)))


def _to_sign_in(name: str) -> bool:
    """`Continue with …`, but not `Continue without …`."""
    return name in SIGN_IN and not (name in CLOSE or name in REJECT or name in NECESSARY)


def _blocker(kind: str, region: Node, choices: dict[Node, str], why: str) -> Blocker:
    first, *stronger = choices or [None]
    how = choices[first] if first is not None else "no button to answer it"
    others = tuple(node for node in stronger if node is not None)
    return Blocker(kind, region.text[:300], region, first, (why, how), others)


def dialogs(page: Page) -> Iterator[Node]:
    """Windows within the page, outermost only."""
    last: Node | None = None
    for node in page.walk():
        if last is not None and node.within(last):
            continue
        box = node.box
        if box is None or box.width < 120 or box.height < 40 or not node.visible or node is page.root:
            continue
        said = role_of(node) in ("dialog", "alertdialog") or node.get("aria-modal") == "true"
        coded = node.tag not in ("body", "html", "main") and code_of(node) & _DIALOG_CODE and _buttons(node)
        if said or (coded and covers(page, node, 0.08) and len(node.text) <= _LONGEST):
            last = node
            yield node


def _consents(page: Page, composer: Node | None) -> Iterator[Node]:
    """Regions that speak of cookies, have a button to answer with, and stand where banners do."""
    seen: set[int] = set()
    for button in page.walk():
        if not _pressable(button):
            continue
        names = [name for name in labels_of(page, button) if len(name) <= _LONGEST_NAME]
        if not any(name in wording for wording in _ANSWERS for name in names):
            continue
        region = _speaking(button, composer)
        if region is None or id(region) in seen:
            continue
        seen.add(id(region))
        if _as_banner(page, region, composer):
            yield region


def _speaking(button: Node, composer: Node | None) -> Node | None:
    """The smallest element around the button that speaks of cookies or consent beside what the button says."""
    for _, around in zip(range(_STEPS), button.ancestors()):
        if composer is not None and composer.within(around):
            return None
        if len(around.text) > _LONGEST:
            return None
        rest = around.text.replace(button.text, " ")
        if rest in COOKIES and len(rest) >= 20:
            return around
    return None


def _as_banner(page: Page, region: Node, composer: Node | None) -> bool:
    """Whether it stands as banners do: in a window, over the box to type in, along an edge, over much of the page."""
    around = [region, *(one for _, one in zip(range(5), region.ancestors()))]
    if any(role_of(one) in ("dialog", "alertdialog") or one.get("aria-modal") == "true" for one in around):
        return True
    if any(code_of(one) & _CONSENT_CODE for one in around):
        return True
    box = region.box
    if box is None:
        return False
    if composer is not None and composer.box is not None and overlap(box, composer.box) > 0:
        return True
    if composer is None and 2 * len(region.text) >= len(page.root.text):
        return True  # the page says nothing else, as in a frame of its own
    if covers(page, region, 0.4):
        return True
    edge = box.bottom >= page.height - 40 or box.y <= 40
    inside = box.y < page.height and box.bottom > 0
    return inside and edge and box.width >= 200 and box.height <= page.height * 0.6


def windows(page: Page) -> Iterator[Node]:
    """Windows over the chat, and whatever else lies over half of the page and the box to type in."""
    composer = next((one.node for one in find_composer(page) if one.score >= 0.25), None)
    for region in dialogs(page):
        if composer is None or (not composer.within(region) and _over(page, region, composer)):
            yield region
    if composer is None or composer.box is None:
        return
    around = {composer, *composer.ancestors()}
    x, y = composer.box.x + composer.box.width / 2, composer.box.y + composer.box.height / 2
    later = False  # what comes later in the page lies over what was before
    for node in page.walk():
        later = later or node is composer
        box = node.box
        if not later or box is None or node.parent not in around or node in around or not node.visible:
            continue
        if box.x <= x <= box.right and box.y <= y <= box.bottom and covers(page, node, 0.5):
            yield node


def _over(page: Page, region: Node, composer: Node) -> bool:
    """Whether it lies over the box to type in, or over the middle of the page."""
    modal = [region, *region.ancestors()]
    if any(one.get("aria-modal") == "true" for one in modal) or region.tag == "dialog":
        return True
    if region.box is None or composer.box is None:
        return False
    return overlap(region.box, composer.box) > 0 or any(covers(page, one, 0.5) for one in (region, *region.elements))


def _choices(page: Page, region: Node, wordings: tuple[Wording, ...]) -> dict[Node, str]:
    """The buttons that answer it, in the order of `wordings`, and how each was told."""
    buttons = [node for node in _buttons(region) if not _leads_away(page, node)]
    found: dict[Node, str] = {}
    for wording in wordings:
        for exact in (True, False):
            for node in buttons:
                name = _button_name(page, node, wording, exact=exact)
                if name:
                    found.setdefault(node, f"answered by {name!r}")
        if wording is CLOSE:
            for node in buttons:
                if node.text in _CROSSES or code_of(node, inside=True) & {"close", "dismiss"}:
                    found.setdefault(node, "answered by its close button")
    return found


def _button_name(page: Page, node: Node, wording: Wording, *, exact: bool = False) -> str:
    """The short name of the button that says so; "" for none."""
    for name in labels_of(page, node):
        if len(name) > _LONGEST_NAME:
            continue
        if wording is ACCEPT and _to_sign_in(name):
            continue
        if wording.is_all(name) or (not exact and name in wording and name not in _SETTINGS):
            return name
    return ""


def _buttons(region: Node) -> list[Node]:
    return [node for node in region.walk() if _pressable(node)]


def _pressable(node: Node) -> bool:
    box = node.box
    return is_button(node) and box is not None and box.width >= 6 and box.height >= 6 and node.visible


def _leads_away(page: Page, node: Node) -> bool:
    href = node.get("href")
    return role_of(node) == "link" and bool(href) and href.partition("#")[0] not in ("", page.url.partition("#")[0])


def _asks_for_password(region: Node) -> bool:
    return any(node.get("type") in ("password", "email") and node.visible for node in region.walk())


def _holds_frame(region: Node) -> bool:
    """Whether a frame fills it: the chat may be in there."""
    return any(
        node.tag == "iframe" and node.visible and node.box is not None and node.box.width * node.box.height >= 40000
        for node in region.walk()
    )
