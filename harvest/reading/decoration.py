"""What stands in a bubble beside the answer: buttons, names, times, avatars, states.

The user's own bubble shows it best: whatever is in it beside the words that were sent is decoration, and so is what is
made alike in the reply. What could be the answer stays: a line is left out only at the edge of a bubble, in an element
of its own, and for a reason.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice, pairwise

from harvest.reading.boxes import is_editor
from harvest.reading.bubble import (
    PROSE,
    SHORT,
    Edge,
    Example,
    Leaf,
    Siblings,
    alone_in_line,
    ends_open,
    in_sentence,
    leaves_of,
)
from harvest.reading.ground import hints, hints_last, is_control, kind, signature
from harvest.reading.listing import bar_of, is_listing
from harvest.reading.markdown import is_picture
from harvest.reading.page import Node, Page, collapsed
from harvest.reading.phrases import (
    is_counter,
    is_label,
    is_named_time,
    is_placeholder,
    is_reasoning,
    is_role,
    is_status,
    is_time,
)

__all__ = ["Decorations", "find_decorations", "names_on", "pressed_on"]

_NEAR = 8  # texts: an element with more of them is no decoration
_INITIALS = 3  # characters that may stand in place of a picture
_STAMPS = frozenset(
    {
        *("author", "avatar", "byline", "date", "datetime", "meta", "metadata", "name", "nickname", "reaction"),
        *("reactions", "receipt", "sender", "speaker", "time", "timestamp", "username"),
    }
)
_CONTENT = re.compile(r"(?:^|[-_])(?:text|content|body|prose|markdown|md)$|markdown|prose", re.IGNORECASE)
_WAITING = frozenset({"caret", "cursor", "dots", "loader", "loading", "spinner", "typing"})
_FACE = re.compile(r"\b(?:avatar|profile picture|logo|icon)\b(?: (?:for|of))?", re.IGNORECASE)
_NOTES = frozenset({"reasoning", "thinking", "thought", "thoughts"})


class _Reason(IntEnum):
    NONE = 0
    WEAK = 1  # not enough to leave a reply without any text
    STRONG = 2


@dataclass(slots=True)
class Decorations:
    """nodes: what is left out of the reply, each with all in it. texts: what they say, in the order they were found."""

    nodes: set[Node] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)


def find_decorations(
    bubbles: Sequence[Node],
    *,
    echo: Node | None = None,
    user: Node | None = None,
    names: Collection[str] = (),
    pressed: Collection[str] = (),
    known: Collection[Edge] = (),
) -> Decorations:
    """What in the bubbles of one turn is no part of the answer.

    echo, user: the user's words, and the bubble they stand in. names: what the page calls who speaks. pressed: what
    its buttons say, as the name of a model that is chosen there. known: edges of other replies of this conversation.
    """
    search = _Search(bubbles, Example(echo, user), frozenset(names), frozenset(pressed), frozenset(known))
    for bubble in bubbles:
        search.plain(bubble)
    for bubble in bubbles:
        search.edges(bubble)
        if search.announces(bubble):
            search.drop(bubble)
    search.spare()
    return Decorations(search.dropped, [text for text in search.texts.values() if text])


def names_on(page: Page, bubbles: Sequence[Node] = ()) -> frozenset[str]:
    """What this page may call its bot: its title, its headings, what its pictures are said to show.

    bubbles: of the answer. What those and others made like them say and show is no name.
    """
    found = re.split(r"\s[-|–—·•:]\s", page.title)
    said, made = set(bubbles), {signature(bubble) for bubble in bubbles if bubble.classes}
    stack = [page.root]
    while stack:
        node = stack.pop()
        answers = node in said or signature(node) in made
        if node.tag in ("h1", "h2") and not node.hidden and len(node.children) < 4:
            found.append(node.text)
        for inner in node.walk() if answers else (node,):
            if inner.tag == "img" and inner.get("alt") and not (answers and is_picture(inner)):
                found.append(_FACE.sub("", inner.get("alt")))
        stack.extend(() if answers else node.elements)
    return frozenset(name.strip() for name in found if 1 < len(name.strip()) <= 40)


def pressed_on(page: Page) -> frozenset[str]:
    """What the buttons and selections of a page say, where it is short."""
    found: set[str] = set()
    for node in page.walk():
        if is_control(node) and not node.hidden and len(node.children) < 6:
            found.update(text for text in (node.text, node.get("h-value")) if 1 < len(text) <= 40)
    return frozenset(found)


class _Search:
    def __init__(
        self,
        bubbles: Sequence[Node],
        example: Example,
        names: frozenset[str],
        pressed: frozenset[str],
        known: frozenset[Edge],
    ) -> None:
        self.bubbles, self.example, self.names, self.known = bubbles, example, names, known
        self.pressed = {text.casefold() for text in pressed}
        self.dropped: set[Node] = set()
        self.texts: dict[Node, str] = {}
        self.weak: list[Node] = []
        self.siblings = Siblings()
        self.next = dict(pairwise(bubbles))

    def plain(self, bubble: Node) -> None:
        """Buttons, times, avatars, notes of reasoning, bars of code: decoration wherever it stands."""
        stack = [bubble]
        while stack:
            node = stack.pop()
            if node.hidden or (node.tag == "input" and node.get("type") == "checkbox"):
                continue
            if self._is_plain(node, bubble):
                self.drop(node)
                continue
            if is_listing(node):
                # Nothing but these: names of colours in code are made like anything.
                for part in (*bar_of(node), *(inner for inner in node.walk() if is_control(inner))):
                    if part.within(bubble) and part not in self.dropped:
                        self.drop(part)
                continue
            stack.extend(reversed(node.elements))

    def _is_plain(self, node: Node, bubble: Node) -> bool:
        if "leave_out" in node.get("h-site").split() or is_control(node):
            return True
        if node.tag == "time":
            return not in_sentence(node)
        if node.tag == "details":
            return _is_notes(node)
        if node.tag == "img" and re.search(r"(?i)\bavatar\b|profile picture", node.get("alt")):
            return True
        words = hints(node)
        if words & _WAITING:
            text = node.text
            return bool(text) and node is not bubble and is_placeholder(text)
        if words & _NOTES and node is not bubble:
            # Some name so what is no note at all; a note can be opened and shut.
            return any(is_control(inner) and is_reasoning(inner.text) for inner in node.walk())
        return "avatar" in hints_last(node) and node is not bubble and len(node.text) <= _INITIALS

    def edges(self, bubble: Node) -> None:
        """Names, times and states before and after what is said."""
        leaves = deque(leaves_of(bubble, self.dropped))
        for first, remove in ((True, leaves.popleft), (False, leaves.pop)):
            while leaves:
                near = list(islice(leaves if first else reversed(leaves), _NEAR + 1))
                element, reason = self._line(near, bubble, first)
                if element is None:
                    break
                self.drop(element)
                if reason is _Reason.WEAK:
                    self.weak.append(element)
                while leaves and leaves[0 if first else -1].parent.within(element):
                    remove()

    def spare(self) -> None:
        """Give back what is left out for a weak reason, if nothing else is left."""
        if self.weak and not any(leaves_of(bubble, self.dropped) for bubble in self.bubbles):
            for node in self.weak:
                self.dropped.discard(node)
                self.texts.pop(node, None)

    def drop(self, node: Node) -> None:
        self.texts[node] = " ".join(leaf.text for leaf in leaves_of(node, self.dropped, controls=True))
        self.dropped.add(node)

    def _line(self, near: list[Leaf], bubble: Node, first: bool) -> tuple[Node | None, _Reason]:
        """The largest element with a text at its edge that is decoration. near: the texts from that edge on."""
        best: Node | None = None
        why = _Reason.NONE
        prose = hinted = False
        for element in (near[0].parent, *near[0].parent.ancestors()):
            inside = 0
            while inside < len(near) and inside < _NEAR and near[inside].parent.within(element):
                inside += 1
            text = collapsed(" ".join(inner.text for inner in (near[:inside] if first else near[:inside][::-1])))
            if inside == _NEAR or len(text) > SHORT + 30 or not element.within(bubble):
                break
            if element is bubble and len(self.bubbles) == 1 and not self._alike(element):
                break
            placed = bubble.tag in ("tr", "tbody") and element.tag in ("td", "tbody", "tr")
            prose = prose or (element.tag in PROSE and not placed) or is_editor(element)
            hinted = hinted or bool(hints_last(element) & _STAMPS) or element.tag == "time"
            prose = prose or _is_all_of_content(element, near, inside, bubble)
            reason = self._reason(element, text, prose=prose, hinted=hinted, first=first)
            if reason is not _Reason.NONE:
                best, why = element, reason
        return best, why

    def _reason(self, element: Node, text: str, *, prose: bool, hinted: bool, first: bool) -> _Reason:
        if _is_content(element) and not hints_last(element) & _STAMPS:
            return _Reason.NONE
        made = kind(element)
        if element.classes and made in self.example.said and not hints_last(element) & _STAMPS:
            return _Reason.NONE
        if len(text) <= SHORT and self._alike(element):
            return _Reason.STRONG
        if hinted and _is_brief(text):
            return _Reason.STRONG
        if (made, text) in self.known and not prose and not self.siblings.among_prose(element):
            return _Reason.STRONG
        if first and ends_open(text) and element.tag in ("b", "strong", "span"):
            named = is_label(text, self.names) or (element.tag == self.example.named and _is_brief(text))
            return _Reason.STRONG if named else _Reason.NONE
        if prose or not alone_in_line(element, self.dropped, self.siblings):
            return _Reason.NONE
        if is_role(text) and first:
            return _Reason.STRONG
        if self.siblings.one_of_many(element):
            return _Reason.NONE
        if is_time(text) or is_label(text, self.names):
            return _Reason.STRONG if element.tag not in ("b", "strong") else _Reason.WEAK
        if first and (text.casefold() in self.pressed or is_named_time(text)):
            return _Reason.WEAK
        if not first and "h-click" in element.attributes and not any(inner.tag == "a" for inner in element.walk()):
            return _Reason.WEAK  # what one might say next
        if is_status(text) or is_counter(text) or text in ("·", "•", "|", "–", "-", "✓", "✓✓", "✔"):
            return _Reason.WEAK
        return _Reason.NONE

    def _alike(self, element: Node) -> bool:
        """Made like what stands beside the user's words."""
        if element.tag in ("td", "th") and element.parent is not None and element.parent.tag == "tr":
            cells = element.parent.elements
            place = next(number for number, cell in enumerate(cells) if cell is element)
            if (place, len(cells)) in self.example.cells:
                return True
        return bool(element.classes) and element.tag not in ("p", "li", "pre") and kind(element) in self.example.beside

    def announces(self, bubble: Node) -> bool:
        """A line of its own that says who speaks next, as one does before the user's words."""
        after = self.next.get(bubble)
        made = bool(self.example.before) and kind(bubble) == self.example.before
        return made and after is not None and kind(after) == self.example.user and _is_brief(bubble.text)


def _is_all_of_content(element: Node, near: list[Leaf], count: int, bubble: Node) -> bool:
    """Whether an element for what is said holds just this: the first `count` of the texts from the edge on."""
    content = next((around for around in element.ancestors() if _is_content(around)), None)
    if content is None or not content.within(bubble):
        return False
    return len(near) == count or not near[count].parent.within(content)


def _is_content(element: Node) -> bool:
    return any(_CONTENT.search(name) for name in element.classes if ":" not in name and "[" not in name)


def _is_brief(text: str) -> bool:
    """A name or a time, not a sentence."""
    return is_time(text) or (len(text) <= 40 and len(text.split()) <= 5 and not re.search(r"[.!?。！？]$", text))


def _is_notes(details: Node) -> bool:
    """A model's notes to itself, open or not; or what is shut and says nothing but its title before an answer."""
    summary = next((child.text for child in details.elements if child.tag == "summary"), "")
    return is_reasoning(summary) or bool(hints(details) & _NOTES)
