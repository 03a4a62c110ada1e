"""Consent banners and modal windows, which cover a page until a person answers them, and the button that answers. The
button that agrees to least is preferred: reject, then necessary only, then close, and accept only if there is no
other button."""

from collections.abc import Iterator

from harvest.pages.finding import notices
from harvest.pages.finding.blocker import Blocker, covers_share, overlap_area
from harvest.pages.finding.discovery import possible_composers
from harvest.pages.finding.labels import code_of, is_button, labels_of, role_of
from harvest.pages.finding.weighing import nodes_around
from harvest.pages.finding.wordings import Wording, word_set
from harvest.pages.reading.page import Node, Page

_DIALOG_CODE = word_set("modal popup lightbox interstitial dialog overlay")
_CONSENT_CODE = word_set("""
    consent cookie cookies gdpr cmp onetrust cookiebot didomi usercentrics quantcast truste klaro osano iubenda termly
    complianz borlabs sourcepoint cky ccpa
""")
_CROSSES = frozenset("×✕✖╳xX⨯✗")
_SETTINGS = Wording("""
settings | preferences | manage* | customi* | options | more | learn more | details | policy | notice | vendors |
partners | einstellungen | mehr | anpassen | verwalten | paramétrer | paramètres | personnaliser |
en savoir plus | configurar | personalizar | más información | saiba mais | gerenciar | personalizza | gestisci | meer |
instellen | настройки | подробнее | إعدادات | المزيد | सेटिंग | अधिक | 設定 | 詳細 | 设置 | 更多 | 设定 | 설정 | 자세히
""")
_LONGEST = 4000  # characters of a banner; a longer text is the page itself
_LONGEST_NAME = 60  # characters: longer names are sentences and not on buttons
_STEPS = 10  # up from a button to its banner
_ANSWERS = (notices.REJECT, notices.NECESSARY, notices.CLOSE, notices.ACCEPT)  # the one that agrees to least first


def find_banner(page: Page, *, over: bool = False) -> Blocker | None:
    """Find a consent banner, a modal window or a log-in window over the page. A log-in window is returned even if it
    has no button that closes it. Returns None if there is no such window, or if the window only contains the chat
    itself. Set `over` if the page is in a frame that covers the frame with the chat."""
    composer = next(iter(possible_composers(page)), None)
    for region in _find_consents(page, composer):
        choices = _find_answers(page, region, _ANSWERS)
        if choices:
            return _make_blocker("consent", region, choices, "speaks of cookies or consent")
    for region in find_windows(page):
        frames = [node.box for node in region.walk() if node.tag == "iframe" and node.visible and node.box is not None]
        if any(box.width * box.height >= 40000 for box in frames) or notices.find_human_check(region.text):
            continue  # a frame may contain the chat; a check for humans is not answered
        fields = (node.get("type") for node in region.walk() if node.visible)
        asks = region.text in notices.SIGN_IN_FIRST or (
            region.text in notices.SIGN_IN and any(kind in ("password", "email") for kind in fields)
        )
        choices = _find_answers(
            page,
            region,
            (notices.CLOSE, notices.REJECT)
            if asks
            else (notices.CLOSE, notices.REJECT, notices.NECESSARY, notices.ACCEPT),
        )
        asks = asks or (not choices and asks_to_sign_in(page, region))
        if asks:
            return _make_blocker("login", region, choices, "a window that asks for a log-in")
        if choices:
            return _make_blocker(
                "consent" if region.text in notices.TERMS else "modal", region, choices, "a window over the page"
            )
    if over and composer is None and len(page.root.text) <= _LONGEST and not notices.find_human_check(page.root.text):
        choices = _find_answers(page, page.root, _ANSWERS)
        if choices:
            kind = "consent" if page.root.text in notices.TERMS or page.root.text in notices.COOKIES else "modal"
            return _make_blocker(kind, page.root, choices, "a frame over the chat")
    return None


def asks_to_sign_in(page: Page, region: Node) -> bool:
    """Return True if one of the region's buttons leads to a log-in or a new account."""
    return any(_is_sign_in(name) for node in _buttons(region) for name in labels_of(page, node))


def can_be_closed(page: Page, region: Node) -> bool:
    """Return True if the region can be closed without agreeing to anything."""
    return bool(_find_answers(page, region, (notices.CLOSE, notices.REJECT)))


def _is_sign_in(name: str) -> bool:
    return name in notices.SIGN_IN and not (
        name in notices.CLOSE or name in notices.REJECT or name in notices.NECESSARY
    )


def _make_blocker(kind: str, region: Node, choices: dict[Node, str], why: str) -> Blocker:
    first, *stronger = choices or [None]
    how = choices[first] if first is not None else "no button to answer it"
    others = tuple(node for node in stronger if node is not None)
    return Blocker(kind, region.text[:300], region, first, (why, how), others)


def find_dialogs(page: Page) -> Iterator[Node]:
    """Yield the dialog windows within the page, without dialogs inside other dialogs."""
    last: Node | None = None
    for node in page.walk():
        if last is not None and node.is_within(last):
            continue
        box = node.box
        if box is None or box.width < 120 or box.height < 40 or not node.visible or node is page.root:
            continue
        coded = node.tag not in ("body", "html", "main") and code_of(node) & _DIALOG_CODE and _buttons(node)
        if _is_dialog(node) or (coded and covers_share(page, node, 0.08) and len(node.text) <= _LONGEST):
            last = node
            yield node


def _is_dialog(node: Node) -> bool:
    return role_of(node) in ("dialog", "alertdialog") or node.get("aria-modal") == "true"


def _find_consents(page: Page, composer: Node | None) -> Iterator[Node]:
    seen: set[int] = set()
    for button in page.walk():
        if not _is_pressable(button):
            continue
        names = [name for name in labels_of(page, button) if len(name) <= _LONGEST_NAME]
        if not any(name in wording for wording in _ANSWERS for name in names):
            continue
        # The smallest element around the button that speaks of cookies or consent apart from the button itself.
        for around in nodes_around(button, _STEPS):
            if len(around.text) > _LONGEST or (composer is not None and composer.is_within(around)):
                break
            rest = around.text.replace(button.text, " ")
            if rest in notices.COOKIES and len(rest) >= 20:
                if id(around) not in seen and _is_banner(page, around, composer):
                    yield around
                seen.add(id(around))
                break


def _is_banner(page: Page, region: Node, composer: Node | None) -> bool:
    """Return True if the region is in a dialog, over the box, at an edge of the window, or over much of the page."""
    around = [region, *nodes_around(region, 5)]
    if any(_is_dialog(one) for one in around) or any(code_of(one) & _CONSENT_CODE for one in around):
        return True
    box = region.box
    if box is None:
        return False
    if composer is not None and composer.box is not None and overlap_area(box, composer.box) > 0:
        return True
    if composer is None and 2 * len(region.text) >= len(page.root.text):
        return True  # the page says nothing else, as in a frame of its own
    if covers_share(page, region, 0.4):
        return True
    edge = box.bottom >= page.height - 40 or box.y <= 40
    inside = box.y < page.height and box.bottom > 0
    return inside and edge and box.width >= 200 and box.height <= page.height * 0.6


def find_windows(page: Page) -> Iterator[Node]:
    """Yield the dialogs over the chat, and other elements that cover both half of the page and the box to type in."""
    composer = next(iter(possible_composers(page)), None)
    for region in find_dialogs(page):
        if composer is None or (not composer.is_within(region) and _covers_chat(page, region, composer)):
            yield region
    if composer is None or composer.box is None:
        return
    around = {composer, *composer.ancestors()}
    x, y = composer.box.x + composer.box.width / 2, composer.box.y + composer.box.height / 2
    later = False  # later elements of the page are drawn over earlier ones
    for node in page.walk():
        later = later or node is composer
        box = node.box
        if not later or box is None or node.parent not in around or node in around or not node.visible:
            continue
        if box.x <= x <= box.right and box.y <= y <= box.bottom and covers_share(page, node, 0.5):
            yield node


def _covers_chat(page: Page, region: Node, composer: Node) -> bool:
    if any(one.get("aria-modal") == "true" for one in (region, *region.ancestors())) or region.tag == "dialog":
        return True
    if region.box is None or composer.box is None:
        return False
    return overlap_area(region.box, composer.box) > 0 or any(
        covers_share(page, one, 0.5) for one in (region, *region.elements)
    )


def _find_answers(page: Page, region: Node, wordings: tuple[Wording, ...]) -> dict[Node, str]:
    here = page.url.partition("#")[0]
    buttons = [
        node for node in _buttons(region) if role_of(node) != "link" or node.get("href").partition("#")[0] in ("", here)
    ]
    found: dict[Node, str] = {}
    for wording in wordings:
        for exact in (True, False):
            for node in buttons:
                for name in labels_of(page, node):
                    if len(name) > _LONGEST_NAME or (wording is notices.ACCEPT and _is_sign_in(name)):
                        continue
                    if wording.is_all(name) or (not exact and name in wording and name not in _SETTINGS):
                        found.setdefault(node, f"answered by {name!r}")
                        break
        if wording is notices.CLOSE:
            for node in buttons:
                if node.text in _CROSSES or code_of(node, inside=True) & {"close", "dismiss"}:
                    found.setdefault(node, "answered by its close button")
    return found


def _buttons(region: Node) -> list[Node]:
    return [node for node in region.walk() if _is_pressable(node)]


def _is_pressable(node: Node) -> bool:
    box = node.box
    return is_button(node) and box is not None and box.width >= 6 and box.height >= 6 and node.visible
