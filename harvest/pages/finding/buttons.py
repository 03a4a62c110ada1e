"""The buttons of a chat that send a turn, open the chat, or begin another conversation."""

from collections.abc import Callable
from dataclasses import dataclass

from harvest.pages.finding.labels import code_of, is_button, is_icon, labels_of, role_of
from harvest.pages.finding.notices import CLOSE
from harvest.pages.finding.weighing import Candidate, Scales, first_match, is_shown, join_words, nodes_around
from harvest.pages.finding.wordings import NEW_CHAT, NOT_SEND, OPEN_CHAT, SEARCH, SEND, Wording, word_set
from harvest.pages.reading.page import Box, Node, Page


@dataclass(frozen=True, slots=True)
class _ComposerRow:
    """A composer and the group of elements around it. `last` holds the button nearest to the end of the line and the
    last button in the document."""

    composer: Node
    group: Node
    last: frozenset[Node]


def find_send(page: Page, composer: Node, *, before: Page | None = None) -> Candidate | None:
    """Find the button that sends the text in `composer`. Returns None if no button is likely to send, so that Enter
    may be needed. `before` is the page before any text was in the composer."""
    box = composer.box
    if box is None:
        return None
    frame = _surrounding_part(composer)
    form = next((parent for parent in composer.ancestors() if parent.tag == "form"), None)
    scope = form if form is not None and form.is_within(frame) else frame
    buttons = [node for node in scope.walk() if is_button(node) and not node.is_within(composer) and is_shown(node)]
    buttons = [node for node in buttons if not any(other is not node and node.is_within(other) for other in buttons)]
    if form is not None and not buttons:
        buttons = [node for node in frame.walk() if is_button(node) and not node.is_within(composer) and is_shown(node)]
    group = _group_of(composer, scope)
    near = [node for node in buttons if node.is_within(group) or (node.box is not None and _is_near(node.box, box))]
    last = min(near, key=lambda node: _distance_from_end(composer, node), default=None)
    ordered = list(group.walk())
    after = [node for node in ordered[ordered.index(composer) :] if node in buttons]
    row = _ComposerRow(composer, group, frozenset(node for node in (last, *after[-1:]) if node is not None))
    found = [_weigh_send(page, node, row, form, alone=len(buttons) == 1, before=before) for node in buttons]
    best = max(found, key=lambda one: one.score, default=None)
    return best if best is not None and best.score >= 0.4 else None


def _weigh_send(
    page: Page, node: Node, row: _ComposerRow, form: Node | None, *, alone: bool, before: Page | None
) -> Candidate:
    scales = Scales(node, -2.0)
    names = labels_of(page, node)
    code = code_of(node, inside=True)
    exact = any(SEND.is_all(name) for name in names)
    refused = "" if exact else first_match(names, NOT_SEND)
    if refused:
        scales.add(-3.5, f"called {refused!r}")
    elif sends := first_match(names, SEND):
        scales.add(3.2 if len(sends) <= 40 else 1.0, f"called {sends!r}")
    elif names and not is_icon(node):
        scales.add(-0.8, f"called {names[0][:40]!r}")
    if alone and not refused:
        scales.add(1.0, "the only button there")
    if code & _SEND_CODE:
        scales.add(2.0, f"named {join_words(code & _SEND_CODE)} in the code")
    elif code & _SEND_PICTURES and is_icon(node):
        scales.add(0.8, f"shows a picture named {join_words(code & _SEND_PICTURES)}")
    if code & _OTHER_CODE and not code & {"send", "submit"}:
        scales.add(-2.5, f"named {join_words(code & _OTHER_CODE)} in the code")
    if form is not None and node.is_within(form):
        kind = node.get("type").lower()
        if kind == "submit" or (node.tag == "button" and not kind):
            scales.add(1.3, "submits the form the box is in")
        else:
            scales.add(0.3, "in the same form")
    if is_icon(node) and not names:
        scales.add(0.5, "an icon without a name")
    if role_of(node) == "link" and node.get("href"):
        scales.add(-3.0, "a link to elsewhere")
    if before is not None and not refused:
        was = before.by_id.get(node.id)
        if was is None or not is_shown(was):
            alive = True
        elif "h-off" in was.attributes or "h-off" in node.attributes:
            alive = "h-off" not in node.attributes
        else:
            alive = was.get("class") != node.get("class") and "h-typed" not in node.attributes
        if alive:
            scales.add(2.0, "came alive with the text")
    for state, weight, why in _STATES:
        if state in node.attributes:
            scales.add(weight, why)
    _weigh_distance(scales, row)
    return scales.candidate()


_OTHER_CODE = word_set("""
    attach attachment upload file mic microphone voice record recorder audio speech emoji settings clear reset
    delete stop cancel camera image photo plus tools model close menu dictate dictation paperclip clip
    suggestion
""")


_SEND_CODE = word_set("send submit sender submitter")


_SEND_PICTURES = word_set("arrow plane paperplane up")


_LAUNCHER_CODE = word_set("chat chatbot messenger widget bot assistant")


def _weigh_distance(scales: Scales, row: _ComposerRow) -> None:
    """Weigh the button's position. A button in one group with the box counts as near whatever its pixel position,
    because its width and its line depend on the fonts of the machine."""
    place, box = scales.node.box, row.composer.box
    if place is None or box is None:
        return
    last = scales.node in row.last
    if scales.node.is_within(row.group) or _is_near(place, box):
        if last or _distance_from_end(row.composer, scales.node) < box.width / 2:
            scales.add(1.0, "at the end of the box")
        elif _distance_from_end(row.composer, scales.node) >= box.width:
            scales.add(-0.2, "before the box")
        if last:
            scales.add(0.7, "the last one there")
    elif box.bottom - 4 <= place.y <= box.bottom + 90 and place.right > box.x and place.x < box.right + 60:
        scales.add(0.6, "right below the box")
    else:
        scales.add(-1.5, "away from the box")
    if place.width > 260 or place.height > 110:
        scales.add(-0.8, "too large for a button next to a box")


_STATES = (
    ("aria-haspopup", -2.0, "opens a menu"),
    ("aria-expanded", -1.5, "opens and closes something"),
    ("aria-pressed", -2.0, "switches something on and off"),
    ("aria-checked", -2.0, "switches something on and off"),
    ("aria-selected", -1.5, "chooses a tab"),
)


def _distance_from_end(composer: Node, node: Node) -> float:
    """Return the pixels from the end of the composer's line, where writing ends, back to the middle of the button."""
    box, place = composer.box, node.box
    assert box is not None
    assert place is not None
    middle = place.x + place.width / 2
    direction = next((one.get("dir") for one in (composer, *composer.ancestors()) if one.get("dir")), "")
    return middle - box.x if direction == "rtl" else box.right - middle


def _is_near(place: Box, box: Box) -> bool:
    level = place.bottom > box.y - 12 and place.y < box.bottom + 64
    return level and box.x - 120 <= place.x and place.right <= box.right + 200


def find_launcher(page: Page) -> Candidate | None:
    """Find the button that opens a chat that is not shown yet, or return None if there is no likely button."""
    return _best_candidate(page, _weigh_launcher)


def _weigh_launcher(page: Page, node: Node) -> Candidate:
    scales = Scales(node, -2.5)
    names, code = labels_of(page, node), code_of(node, inside=True)
    if (name := first_match(names, OPEN_CHAT)) and len(name) <= 60:
        scales.add(2.4, f"called {name!r}")
        if OPEN_CHAT.is_all(name):
            scales.add(0.6, "called that and nothing more")
    if code & {"launcher", "launch"}:
        scales.add(2.2, "named launcher in the code")
    elif code & _LAUNCHER_CODE:
        scales.add(1.2, f"named {join_words(code & _LAUNCHER_CODE)} in the code")
    elif any(code_of(parent) & {"launcher", "chatbot", "messenger", "livechat"} for parent in nodes_around(node, 3)):
        scales.add(1.2, "in something the code calls a launcher or a messenger")
    if first_match(names, SEARCH):
        scales.add(-2.5, "called a search")
    href = node.get("href")
    if role_of(node) == "link" and href and not href.startswith(f"{page.url.partition('#')[0]}#"):
        scales.add(-2.0, "a link to elsewhere")
    box = node.box
    if box is not None and page.width and page.height:
        if box.bottom > page.height * 0.75 and (box.x > page.width * 0.6 or box.right < page.width * 0.2):
            if box.width <= 260 and box.height <= 120 and box.y < page.height:
                scales.add(1.3, "small, in a lower corner of the window")
        elif box.y > page.height * 1.5:
            scales.add(-0.8, "far down the page")
        small = page.width <= 140 and page.height <= 140
        if small and box.width * box.height > page.width * page.height / 3:
            scales.add(2.0, "fills a small frame of its own")
    if any(parent.tag in ("nav", "footer", "header") for parent in node.ancestors()):
        scales.add(-0.9, "in a menu, the header or the footer")
    if "h-off" in node.attributes:
        scales.add(-2.0, "disabled")
    if node.get("aria-expanded") == "true":
        scales.add(-5.0, "has opened what it opens")
    elif name := next((name for name in names if name in CLOSE or name in _MINIMIZE), ""):
        scales.add(-5.0, f"called {name[:60]!r}: it closes something")
    return scales.candidate()


_MINIMIZE = Wording(
    "minimi* | collapse | minimieren | réduire | minimizar | riduci | свернуть | 最小化 | 最小化する | 최소화"
)


def find_new_chat(page: Page) -> Candidate | None:
    """Find the button that begins another conversation, or return None if there is no likely button."""
    return _best_candidate(page, _weigh_new_chat)


def _weigh_new_chat(page: Page, node: Node) -> Candidate:
    scales = Scales(node, -2.5)
    names, code = labels_of(page, node), code_of(node, inside=True)
    if name := first_match([name for name in names if len(name) <= 60], NEW_CHAT):
        scales.add(3.2, f"called {name!r}")
        if NEW_CHAT.is_all(name):
            scales.add(0.8, "called that and nothing more")
    if {"new", "chat"} <= code or {"new", "conversation"} <= code or {"new", "thread"} <= code:
        scales.add(2.6, "named new chat in the code")
    elif code & {"restart"}:
        scales.add(0.8, "named restart in the code")
    if "h-off" in node.attributes:
        scales.add(-0.5, "disabled")
    if any(parent.tag == "form" for parent in nodes_around(node, 3)):
        scales.add(-0.5, "in a form")
    return scales.candidate()


def _best_candidate(page: Page, weigh: Callable[[Page, Node], Candidate]) -> Candidate | None:
    found = [weigh(page, node) for node in page.walk() if is_button(node) and is_shown(node)]
    best = max(found, key=lambda one: one.score, default=None)
    return best if best is not None and best.score >= 0.5 else None


def _group_of(composer: Node, scope: Node) -> Node:
    """Return the element that groups the box with its buttons: its form, or otherwise the nearest ancestor that also
    contains a button. The group grows to further ancestors while these add only more buttons."""
    if scope.tag == "form":
        return scope
    group = composer
    for parent in composer.ancestors():
        if not parent.is_within(scope):
            break
        others = [one for one in parent.children if one is not group]
        if _buttons_in(group, composer) and any(_has_more(one) for one in others):
            break
        group = parent
    return group


def _has_more(part: Node | str) -> bool:
    stack = [part]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            if one.strip():
                return True
        elif "h-edit" in one.attributes or (role_of(one) == "link" and one.get("href")):
            return True
        elif not one.hidden and not is_button(one):
            stack.extend(one.children)
    return False


def _surrounding_part(composer: Node) -> Node:
    """Return the part of the page with the composer and its send button that is not much higher than the box."""
    box, best = composer.box, composer
    assert box is not None
    for steps, parent in enumerate(composer.ancestors()):
        place = parent.box
        if place is not None and place.height > box.height + 200 and steps >= 1:
            return parent if best is composer or not _buttons_in(best, composer) else best
        best = parent
        if steps >= 12:
            break
    return best


def _buttons_in(scope: Node, composer: Node) -> bool:
    return any(is_button(node) and not node.is_within(composer) for node in scope.walk())
