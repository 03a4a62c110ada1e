"""Signs that a turn has failed: an error that the page shows, or a request that failed. Only signs since the send
count, because the error of an earlier turn stays on the page."""

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from harvest.pages.browser.traffic import CARRYING, FailedRequest
from harvest.pages.finding.blocker import Blocker, appeared_after_send, is_inside_code
from harvest.pages.finding.labels import is_button, role_of
from harvest.pages.finding.notices import FAULT, RATE_LIMIT, SIGN_IN_FIRST
from harvest.pages.finding.wordings import code_words, split_camel_case, word_set
from harvest.pages.reading.page import Node, Page, letters
from harvest.pages.reading.turn import ReadTurn

_ERROR_CODE = word_set("error errors errored danger destructive failed failure fail fault critical")
_TOAST_CODE = word_set("toast toasts toaster toastify snackbar notification notice alert flash sonner")
_SUCCESS_CODE = word_set("success info ok done saved copied")
_ADVICE_CODE = word_set("callout admonition note tip hint caution important")
_DESCRIBING_ATTRIBUTES = ("aria-errormessage", "aria-describedby")
_PICTURE_TAGS = ("svg", "img", "i", "span")
_WRAPPERS = word_set("boundary handler border ring outline markdown")
_WHOLE_SHARE = 0.8  # share of a bubble's letters that an element must have to speak for the bubble
_LONGEST_NOTICE = 400  # characters: longer texts are answers
_SOON, _LATE = 0.5, 3.0  # seconds around a failure within which a page reports it
_TELEMETRY = re.compile(
    r"(?:^|[/._-])(?:analytics|telemetry|collect|beacon|metrics|track(?:ing)?|events?|logs?|logging|stats|pixel|rum|ping"
    r"|sentry|envelope|segment|amplitude|mixpanel|datadog|gtag|hotjar|clarity|heartbeat|presence|typing|title|feedback"
    r"|suggestions?)(?:$|[/._?-])",
    re.IGNORECASE,
)


def find_failure(
    page: Page, turn: ReadTurn, faults: Sequence[FailedRequest], begun: int | None = None
) -> Blocker | None:
    """Find the sign that the turn has failed, or return None. `faults` are the requests that failed since the send,
    and `begun` is the number of requests since the send that may carry an answer, or None."""
    shown = _find_in_bubbles(page, turn) or _find_outside_bubbles(page, turn)
    if shown is None:
        return _find_failed_request(page, turn, faults, begun)
    limited = shown.kind == "error" and any(fault.status == 429 and is_own_request(page, fault) for fault in faults)
    return replace(shown, kind="rate-limit") if limited else shown


def _find_in_bubbles(page: Page, turn: ReadTurn) -> Blocker | None:
    for bubble in turn.bubbles:
        whole = len(letters(bubble.text))
        for node in (bubble, *_wrappers(bubble, turn), *bubble.walk()):
            if is_inside_code(node) or not node.visible or _code_words(node) & _ADVICE_CODE:
                continue
            if any(is_button(one) for one in (node, *node.ancestors()) if one.is_within(bubble)):
                continue  # buttons are named after what they do
            sign = _error_sign(node)
            if not sign or not appeared_after_send(node):
                continue
            share = len(letters(node.text)) / whole if whole else 0.0
            speaks = _mentions_failure(node.text[:_LONGEST_NOTICE])
            if sign == "role" and not speaks:
                continue  # some pages mark every answer as an alert, to have it read aloud
            short = len(node.text) <= _LONGEST_NOTICE
            if (share >= _WHOLE_SHARE and (sign == "code" or short)) or (short and speaks):
                return _shown_blocker(node, f"shown in the place of an answer and {_describe_sign(node)}")
        mark = _error_picture(page, bubble, turn)
        if mark is not None:
            return _shown_blocker(bubble, f"has a picture {_describe_sign(mark)}")
    return None


def _error_picture(page: Page, bubble: Node, turn: ReadTurn) -> Node | None:
    """Find a picture that the page's code calls an error. The picture must be in or next to a short bubble, in the
    position of the speaker's picture in other bubbles."""
    if len(bubble.text) > _LONGEST_NOTICE:
        return None
    around = (bubble, *_wrappers(bubble, turn))[-1]
    if any(node in turn.bubbles and node is not bubble for node in around.walk()):
        around = bubble
    marks = [
        node
        for node in around.walk()
        if node.tag in _PICTURE_TAGS and not node.text and node.visible and _error_sign(node) == "code"
        if not is_inside_code(node) and not any(is_button(one) for one in node.ancestors())
    ]
    if not marks or not appeared_after_send(marks[0]):
        return None
    worn = [
        next((one.text for one in node.ancestors() if one.text), "")
        for node in page.walk()
        if node.tag == marks[0].tag and node.get("class") == marks[0].get("class") and not appeared_after_send(node)
    ]
    # If earlier messages that were not errors have the same picture, it is a face; some are red.
    return marks[0] if all(_mentions_failure(said) for said in worn) else None


def _mentions_failure(text: str) -> bool:
    """Return True if the text uses words for a failure, including words of programs such as `RateLimitError`. These
    words alone do not prove a failure."""
    plain = split_camel_case(text)
    return plain in FAULT or plain in RATE_LIMIT or plain in SIGN_IN_FIRST


def _find_outside_bubbles(page: Page, turn: ReadTurn) -> Blocker | None:
    """Find an alert or a toast that appeared outside the conversation, or an error mark on the user's own bubble."""
    answered = bool(turn.text)
    found: list[Node] = []
    spoken = [*turn.bubbles, *([turn.echo] if turn.echo is not None else [])]
    said = {id(part) for one in spoken for part in (*one.walk(), *one.ancestors())}
    # The elements that say why an input is not valid, by their ids.
    wrong = (node for node in page.walk() if node.get("aria-invalid") == "true")
    invalid = {name for node in wrong for key in _DESCRIBING_ATTRIBUTES for name in node.get(key).split()}
    for node in page.walk():
        if id(node) in said:
            continue
        live = role_of(node) in ("alert", "alertdialog") or node.get("aria-live") == "assertive"
        code = _code_words(node)
        error = _error_sign(node) == "code" or node.get("id") in invalid
        # An error counts as a notice in a part of the page that announces what happens.
        toast = bool(code & _TOAST_CODE) or live
        toast = toast or (
            error
            and any(
                one.get("aria-live") in ("polite", "assertive") or role_of(one) == "status"
                for one in (node, *node.ancestors())
                if id(one) not in said
            )
        )
        if not (toast or error) or not node.visible or not node.text or len(node.text) > _LONGEST_NOTICE:
            continue
        if (
            is_button(node)
            or node.tag in ("input", "textarea", "body")
            or is_inside_code(node)
            or not appeared_after_send(node)
        ):
            continue
        speaks = _mentions_failure(node.text)
        coded = error or any(_error_sign(one) == "code" for one in node.walk() if not is_button(one))
        # A notice that the page itself calls an error is one, whatever its words.
        telling = (toast and (speaks or coded)) or (error and (speaks or not answered))
        if telling and (coded or not code & _SUCCESS_CODE):
            found.append(node)
    if found:
        node = max(found, key=lambda one: len(one.text))
        return _shown_blocker(node, f"came outside the conversation and {_describe_sign(node)}")
    if not answered and turn.echo is not None:
        for node in (turn.echo, *_wrappers(turn.echo, turn)):
            if _error_sign(node) == "code" and appeared_after_send(node):
                return _shown_blocker(node, "the user's own words are marked as failed")
    return None


def _find_failed_request(
    page: Page, turn: ReadTurn, faults: Sequence[FailedRequest], begun: int | None
) -> Blocker | None:
    own = [fault for fault in faults if is_own_request(page, fault)]
    text = turn.text
    notice = len(text) <= _LONGEST_NOTICE and _mentions_failure(text)
    alone = begun is not None and len(own) >= begun and len(text) <= _LONGEST_NOTICE
    for fault in reversed(own):
        broken = fault.status is None and (fault.method != "GET" or fault.kind == "eventsource")
        # An answer that began before the failure, or much later, is not about it.
        follows = turn.began is None or -_SOON <= turn.began - fault.at <= _LATE
        if not text or broken or alone or (notice and follows):
            what = f"HTTP {fault.status}" if fault.status is not None else fault.what
            address = fault.url.partition("?")[0]
            said = text[:300] if text and (notice or not broken) else f"{what} of {fault.method} {address}"
            why = f"{fault.method} {address} ended with {what}"
            return Blocker(_kind_of(said, fault.status), said, turn.bubbles[-1] if turn.bubbles else None, None, (why,))
    return None


def is_own_request(page: Page, fault: FailedRequest) -> bool:
    if fault.kind not in CARRYING or "ERR_ABORTED" in fault.what or "ERR_BLOCKED" in fault.what:
        return False  # pages abort their own requests once they have what they wanted
    parts = urlsplit(fault.url)
    if fault.kind != "eventsource" and _TELEMETRY.search(parts.path):
        return False
    # The last two labels of a host name are enough to distinguish the page's own servers from others.
    hosts = (parts.hostname or "", urlsplit(page.url).hostname or "")
    theirs, ours = (host if re.fullmatch(r"[\d.:]+", host) else ".".join(host.split(".")[-2:]) for host in hosts)
    return fault.method != "GET" or theirs == ours


def _shown_blocker(node: Node, why: str) -> Blocker:
    return Blocker(_kind_of(node.text, None), node.text[:300], node, None, (why,))


def _kind_of(text: str, status: int | None) -> str:
    if status == 429 or (text in RATE_LIMIT and len(text) <= _LONGEST_NOTICE):
        return "rate-limit"
    return "login" if status == 401 or text in SIGN_IN_FIRST else "error"


def _error_sign(node: Node) -> str:
    """Return `code` if the page's code calls the element an error, `role` if it is an alert, otherwise ""."""
    if _code_words(node) & _ERROR_CODE:
        return "code"
    return "role" if role_of(node) in ("alert", "alertdialog") else ""


def _code_words(node: Node) -> frozenset[str]:
    """Return the words in the class, id and data attributes. Names that only mention errors, such as `error-boundary`,
    are left out."""
    found: set[str] = set()
    for name, value in node.attributes.items():
        if name in ("class", "id") or (name.startswith("data-") and len(value) <= 40):
            for token in value.split():
                said = code_words(token)
                if not said & _WRAPPERS:
                    found |= said
    return frozenset(found)


def _describe_sign(node: Node) -> str:
    code = sorted(_code_words(node) & (_ERROR_CODE | _TOAST_CODE))
    role = role_of(node)
    if code:
        return f"called {', '.join(code)} in the code"
    return f"with the role {role}" if role else "read aloud at once"


def _wrappers(node: Node, turn: ReadTurn) -> list[Node]:
    """Return the ancestors that appeared with the node and contain nothing else of the conversation."""
    found = []
    for parent in node.ancestors():
        if parent is turn.container or "h-born" not in parent.attributes:
            break
        found.append(parent)
    return found
