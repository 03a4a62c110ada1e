"""Whether a turn came to nothing: told by how the page shows what it says, and by the requests that failed.

Only what came since the sending counts: the error of an earlier turn stays on the page.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from urllib.parse import urlsplit

from harvest.pages.browser.traffic import CARRYING, Fault
from harvest.pages.finding.blocker import Blocker, came_since, inside_code
from harvest.pages.finding.labels import is_button, role_of
from harvest.pages.finding.notices import FAULT, RATE_LIMIT, SIGN_IN_FIRST
from harvest.pages.finding.wordings import camel_split, code_words, words
from harvest.pages.reading.page import Node, Page, letters
from harvest.pages.reading.turn import ReadTurn

_ERROR_CODE = words("error errors errored danger destructive failed failure fail fault critical")
_TOAST_CODE = words("toast toasts toaster toastify snackbar notification notice alert flash sonner")
_FINE_CODE = words("success info ok done saved copied")
_ADVICE_CODE = words("callout admonition note tip hint caution important")
_PICTURES = ("svg", "img", "i", "span")
_WRAPPERS = words("boundary handler border ring outline markdown")
_NEARLY = 0.8  # share of a bubble's letters that an element must hold to speak for the bubble
_LONGEST_NOTICE = 400  # characters: longer ones are answers
_SOON, _LATE = 0.5, 3.0  # seconds around a failure in which a page tells of it
_TELEMETRY = re.compile(
    r"(?:^|[/._-])(?:analytics|telemetry|collect|beacon|metrics|track(?:ing)?|events?|logs?|logging|stats|pixel|rum|ping"
    r"|sentry|envelope|segment|amplitude|mixpanel|datadog|gtag|hotjar|clarity|heartbeat|presence|typing|title|feedback"
    r"|suggestions?)(?:$|[/._?-])",
    re.IGNORECASE,
)


def find_failure(page: Page, turn: ReadTurn, faults: Sequence[Fault], begun: int | None = None) -> Blocker | None:
    """What shows that the turn came to nothing; None where nothing does.

    faults: requests that failed since the sending. begun: how many that may carry an answer began; None: not known.
    """
    shown = _in_bubbles(page, turn) or _beside(page, turn)
    if shown is None:
        return _by_traffic(page, turn, faults, begun)
    limited = shown.kind == "error" and any(fault.status == 429 and _may_carry(page, fault) for fault in faults)
    return replace(shown, kind="rate-limit") if limited else shown


def _in_bubbles(page: Page, turn: ReadTurn) -> Blocker | None:
    """An error shown in the place of an answer, or at the end of half of one."""
    bubbles = frozenset(turn.bubbles)
    for bubble in turn.bubbles:
        whole = len(letters(bubble.text))
        for node in (bubble, *_wrappers(bubble, turn), *bubble.walk()):
            if inside_code(node) or not node.visible or _is_button(node, bubble) or _code(node) & _ADVICE_CODE:
                continue
            sign = _error_sign(node)
            if not sign or not came_since(node):
                continue
            share = len(letters(node.text)) / whole if whole else 0.0
            said = node.text[:_LONGEST_NOTICE]
            if sign == "role" and not _speaks(said):
                continue  # some pages call every answer an alert, to have it read aloud
            short = len(node.text) <= _LONGEST_NOTICE
            if (share >= _NEARLY and (sign == "code" or short)) or (short and _speaks(said)):
                return _shown(node, f"stands in the place of an answer and is {_in_words(node)}")
        mark = _mark(page, bubble, turn, bubbles)
        if mark is not None:
            return _shown(bubble, f"bears a picture {_in_words(mark)}")
    return None


def _mark(page: Page, bubble: Node, turn: ReadTurn, bubbles: Set[Node]) -> Node | None:
    """A picture in or beside a short bubble that is called an error, as others put a face. bubbles: of the turn."""
    if len(bubble.text) > _LONGEST_NOTICE:
        return None
    around = (bubble, *_wrappers(bubble, turn))[-1]
    if any(node in bubbles and node is not bubble for node in around.walk()):
        around = bubble
    marks = [
        node
        for node in around.walk()
        if node.tag in _PICTURES and not node.text and node.visible and _error_sign(node) == "code"
        if not inside_code(node) and not any(is_button(one) for one in node.ancestors())
    ]
    if not marks or not came_since(marks[0]):
        return None
    worn = [
        next((one.text for one in node.ancestors() if one.text), "")
        for node in page.walk()
        if node.tag == marks[0].tag and node.get("class") == marks[0].get("class") and not came_since(node)
    ]
    # Where what was said before bears the same, and was no error, it is a face; some are red.
    return marks[0] if all(_speaks(said) for said in worn) else None


def _speaks(text: str) -> bool:
    """Whether it uses words of a failure, also as programs write them (`RateLimitError`). Words alone prove nothing."""
    plain = camel_split(text)
    return plain in FAULT or plain in RATE_LIMIT or plain in SIGN_IN_FIRST


def _beside(page: Page, turn: ReadTurn) -> Blocker | None:
    """An alert or a toast that came outside the conversation, or a mark on the user's own words."""
    answered = bool(turn.text)
    found: list[Node] = []
    spoken = [*turn.bubbles, *([turn.echo] if turn.echo is not None else [])]
    said = {id(part) for one in spoken for part in (*one.walk(), *one.ancestors())}
    invalid = _described_as_invalid(page)
    for node in page.walk():
        if id(node) in said:
            continue
        live = role_of(node) in ("alert", "alertdialog") or node.get("aria-live") == "assertive"
        code = _code(node)
        error = _error_sign(node) == "code" or node.get("id") in invalid
        toast = bool(code & _TOAST_CODE) or live or (error and _is_notice(node, said))
        if not (toast or error) or not node.visible or not node.text or len(node.text) > _LONGEST_NOTICE:
            continue
        if is_button(node) or node.tag in ("input", "textarea", "body") or inside_code(node) or not came_since(node):
            continue
        speaks = _speaks(node.text)
        coded = error or any(_error_sign(one) == "code" for one in node.walk() if not is_button(one))
        # A notice that the page itself calls an error is one, whatever its words.
        telling = (toast and (speaks or coded)) or (error and (speaks or not answered))
        if telling and (coded or not code & _FINE_CODE):
            found.append(node)
    if found:
        node = max(found, key=lambda one: len(one.text))
        return _shown(node, f"came beside the conversation and is {_in_words(node)}")
    if not answered and turn.echo is not None:
        for node in (turn.echo, *_wrappers(turn.echo, turn)):
            if _error_sign(node) == "code" and came_since(node):
                return _shown(node, "the user's own words are marked as failed")
    return None


def _is_notice(node: Node, said: Set[int]) -> bool:
    """Whether it stands in a part of the page that announces what happens. said: the parts of the conversation."""
    around = (one for one in (node, *node.ancestors()) if id(one) not in said)
    return any(one.get("aria-live") in ("polite", "assertive") or role_of(one) == "status" for one in around)


def _described_as_invalid(page: Page) -> frozenset[str]:
    """The ids of the elements that say why an input is not valid."""
    wrong = (node for node in page.walk() if node.get("aria-invalid") == "true")
    told = (f"{node.get('aria-errormessage')} {node.get('aria-describedby')}".split() for node in wrong)
    return frozenset(name for names in told for name in names)


def _by_traffic(page: Page, turn: ReadTurn, faults: Sequence[Fault], begun: int | None) -> Blocker | None:
    """A request that should have carried the answer and failed."""
    own = [fault for fault in faults if _may_carry(page, fault)]
    if not own:
        return None
    text = turn.text
    notice = len(text) <= _LONGEST_NOTICE and _speaks(text)
    alone = begun is not None and len(own) >= begun and len(text) <= _LONGEST_NOTICE
    for fault in reversed(own):
        broken = fault.status is None and (fault.method != "GET" or fault.kind == "eventsource")
        if not text or broken or alone or (notice and _follows_failure(turn, fault)):
            what = f"HTTP {fault.status}" if fault.status is not None else fault.what
            address = fault.url.partition("?")[0]
            said = text[:300] if text and (notice or not broken) else f"{what} of {fault.method} {address}"
            why = f"{fault.method} {address} ended with {what}"
            return Blocker(_kind(said, fault.status), said, turn.bubbles[-1] if turn.bubbles else None, None, (why,))
    return None


def _follows_failure(turn: ReadTurn, fault: Fault) -> bool:
    """Whether the words came upon the failure: an answer that had begun before, or came much later, is not about it."""
    return turn.began is None or -_SOON <= turn.began - fault.at <= _LATE


def _may_carry(page: Page, fault: Fault) -> bool:
    """Whether the request may have carried the turn or its answer."""
    if fault.kind not in CARRYING or "ERR_ABORTED" in fault.what or "ERR_BLOCKED" in fault.what:
        return False  # pages break off their own requests once they have what they wanted
    parts, here = urlsplit(fault.url), urlsplit(page.url)
    if fault.kind != "eventsource" and _TELEMETRY.search(parts.path):
        return False
    return fault.method != "GET" or _site(parts.hostname) == _site(here.hostname)


def _site(host: str | None) -> str:
    """The last two labels of a host's name: near enough to tell the page's own servers from strangers'."""
    name = host or ""
    return name if re.fullmatch(r"[\d.:]+", name) else ".".join(name.split(".")[-2:])


def _shown(node: Node, why: str) -> Blocker:
    return Blocker(_kind(node.text, None), node.text[:300], node, None, (why,))


def _kind(text: str, status: int | None) -> str:
    if status == 429 or (text in RATE_LIMIT and len(text) <= _LONGEST_NOTICE):
        return "rate-limit"
    return "login" if status == 401 or text in SIGN_IN_FIRST else "error"


def _error_sign(node: Node) -> str:
    """`code`: its author calls it an error. `role`: it is an alert. "": neither."""
    if _code(node) & _ERROR_CODE:
        return "code"
    return "role" if role_of(node) in ("alert", "alertdialog") else ""


def _code(node: Node) -> frozenset[str]:
    """The words of its class and marks, each class name for itself: `error-boundary` is not an error."""
    found: set[str] = set()
    for name, value in node.attributes.items():
        if name in ("class", "id") or (name.startswith("data-") and len(value) <= 40):
            for token in value.split():
                said = code_words(token)
                if not said & _WRAPPERS:
                    found |= said
    return frozenset(found)


def _in_words(node: Node) -> str:
    code = sorted(_code(node) & (_ERROR_CODE | _TOAST_CODE))
    role = role_of(node)
    return f"called {', '.join(code)} in the code" if code else f"of role {role}" if role else "read aloud at once"


def _wrappers(node: Node, turn: ReadTurn) -> list[Node]:
    """What is around it and came with it, and holds nothing else of the conversation."""
    found = []
    for parent in node.ancestors():
        if parent is turn.container or "h-born" not in parent.attributes:
            break
        found.append(parent)
    return found


def _is_button(node: Node, bubble: Node) -> bool:
    """Whether it is, or is in, a button: those are called after what they do."""
    return any(is_button(one) for one in (node, *node.ancestors()) if one.within(bubble))
