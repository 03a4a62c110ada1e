"""What stands in a bubble beside the answer: buttons, names, times, avatars, states.

The user's own bubble shows it best: whatever is in it beside the words that were sent is decoration, and so is what is
made alike in the reply. What could be the answer stays: a line is left out only at the edge of a bubble, in an element
of its own, and for a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from harvest.browser.ground import hints, is_control, kind
from harvest.browser.listing import bar_of, is_listing
from harvest.browser.markdown import is_picture
from harvest.browser.page import Node, Page, collapsed
from harvest.browser.phrases import is_counter, is_label, is_placeholder, is_reasoning, is_role, is_status, is_time

__all__ = ["Decorations", "Edge", "edges_of", "find_decorations", "names_on"]

Edge = tuple[str, str]
"""How the element of a line at the edge of a bubble is made, and what it says."""

_SHORT = 60  # characters: longer lines are never decoration
_PROSE = frozenset(
    {
        *("a", "blockquote", "code", "dd", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i", "li", "ol", "p", "pre"),
        *("summary", "table", "tbody", "td", "th", "tr", "ul"),
    }
)
_STAMPS = frozenset(
    {
        *("author", "avatar", "byline", "date", "datetime", "meta", "metadata", "name", "nickname", "reaction"),
        *("reactions", "receipt", "sender", "speaker", "time", "timestamp", "username"),
    }
)
_CONTENT = re.compile(r"(?:^|[-_])(?:text|content|body|prose|markdown|md)$|markdown|prose", re.IGNORECASE)
_WAITING = frozenset({"caret", "cursor", "dots", "loader", "loading", "spinner", "typing"})
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
    known: Collection[Edge] = (),
) -> Decorations:
    """What in the bubbles of one turn is no part of the answer.

    echo, user: the user's words, and the bubble they stand in. names: what the page calls who speaks. known: edges of
    other replies of this conversation.
    """
    search = _Search(bubbles, _Example(echo, user), frozenset(names), frozenset(known))
    for bubble in bubbles:
        search.plain(bubble)
    for bubble in bubbles:
        search.edges(bubble)
    search.spare()
    return Decorations(search.dropped, [text for text in search.texts.values() if text])


def edges_of(bubble: Node) -> set[Edge]:
    """The lines at the edges of a bubble that stand in elements of their own, with more in the bubble beside them."""
    leaves = [leaf for leaf in _leaves(bubble, ()) if leaf.text]
    found: set[Edge] = set()
    whole = len(leaves)
    for leaf in {*leaves[:3], *leaves[-3:]} if whole > 1 else ():
        for element in (leaf.parent, *leaf.parent.ancestors()):
            if element is bubble or sum(other.parent.within(element) for other in leaves) == whole:
                break
            text = element.text
            if len(text) > _SHORT or element.tag in _PROSE or _among_prose(element):
                break
            if element.classes:
                found.add((kind(element), text))
    return found


def names_on(page: Page) -> frozenset[str]:
    """What this page may call its bot: its title, its headings, what its pictures are said to show."""
    found = re.split(r"\s[-|–—·•:]\s", page.title)
    for node in page.walk():
        if node.tag in ("h1", "h2") and not node.hidden and len(node.children) < 4:
            found.append(node.text)
        elif node.tag == "img" and node.get("alt"):
            found.append(re.sub(r"(?i)\b(?:avatar|profile picture|logo|icon)\b(?: (?:for|of))?", "", node.get("alt")))
    return frozenset(name.strip() for name in found if 1 < len(name.strip()) <= 40)


@dataclass(frozen=True, eq=False, slots=True)
class _Leaf:
    """A visible text. parent: the element directly around it."""

    text: str
    parent: Node


class _Example:
    """What the user's bubble shows: how decorations are made, and how what was said is made."""

    def __init__(self, echo: Node | None, user: Node | None) -> None:
        self.beside: set[str] = set()
        self.said: set[str] = set()
        self.named = ""  # the tag around a name with a colon, as <b>You:</b>
        if echo is None or user is None:
            return
        inside = {around for around in (echo, *echo.ancestors()) if around.within(user)}
        self.said = {kind(around) for around in inside if around.classes}
        for leaf in _leaves(user, ()):
            if leaf.parent in inside and leaf.parent is not user:
                continue
            chain = [around for around in (leaf.parent, *leaf.parent.ancestors()) if around.within(user)]
            if any(around is echo for around in chain):
                self.named = leaf.parent.tag if leaf.parent is not echo and _called(leaf.text) else self.named
                continue
            if _called(leaf.text):
                self.named = leaf.parent.tag
            for around in chain:
                if around in inside or len(around.text) > _SHORT:
                    break
                if around.classes:
                    self.beside.add(kind(around))
        self.beside -= self.said


class _Search:
    def __init__(
        self, bubbles: Sequence[Node], example: _Example, names: frozenset[str], known: frozenset[Edge]
    ) -> None:
        self.bubbles, self.example, self.names, self.known = bubbles, example, names, known
        self.dropped: set[Node] = set()
        self.texts: dict[Node, str] = {}
        self.weak: list[Node] = []

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
                for bar in bar_of(node):
                    if bar.within(bubble):
                        self.drop(bar)
                continue
            stack.extend(reversed(node.elements))

    def _is_plain(self, node: Node, bubble: Node) -> bool:
        if "leave_out" in node.get("h-site").split() or is_control(node):
            return True
        if node.tag == "time":
            return not _in_sentence(node)
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
        return (
            bool(words & {"avatar", "avatars"})
            and node is not bubble
            and len(node.text) <= _SHORT
            and not _prose_in(node)
        )

    def edges(self, bubble: Node) -> None:
        """Names, times and states before and after what is said."""
        for first in (True, False):
            while leaves := _leaves(bubble, self.dropped):
                leaf = leaves[0 if first else -1]
                element, reason = self._line(leaf, leaves, bubble, first)
                if element is None:
                    break
                self.drop(element)
                if reason is _Reason.WEAK:
                    self.weak.append(element)

    def spare(self) -> None:
        """Give back what is left out for a weak reason, if nothing else is left."""
        if self.weak and not any(_leaves(bubble, self.dropped) for bubble in self.bubbles):
            for node in self.weak:
                self.dropped.discard(node)
                self.texts.pop(node, None)

    def drop(self, node: Node) -> None:
        self.texts[node] = (
            node.text if is_control(node) else " ".join(leaf.text for leaf in _leaves(node, self.dropped))
        )
        self.dropped.add(node)

    def _line(self, leaf: _Leaf, leaves: list[_Leaf], bubble: Node, first: bool) -> tuple[Node | None, _Reason]:
        """The largest element with this text at its edge that is decoration."""
        best: Node | None = None
        why = _Reason.NONE
        prose = hinted = False
        ordered = leaves if first else leaves[::-1]
        for element in (leaf.parent, *leaf.parent.ancestors()):
            inside = 0
            while inside < len(ordered) and inside < 8 and ordered[inside].parent.within(element):
                inside += 1
            text = collapsed(" ".join(inner.text for inner in (ordered[:inside] if first else ordered[:inside][::-1])))
            if inside == 8 or len(text) > _SHORT + 30 or not element.within(bubble):
                break
            if element is bubble and len(self.bubbles) == 1 and not self._alike(element):
                break
            placed = bubble.tag in ("tr", "tbody") and element.tag in ("td", "tbody", "tr")
            prose = prose or (element.tag in _PROSE and not placed)
            hinted = hinted or bool(hints(element) & _STAMPS) or element.tag == "time"
            reason = self._reason(element, text, prose=prose, hinted=hinted, first=first)
            if reason is not _Reason.NONE:
                best, why = element, reason
        return best, why

    def _reason(self, element: Node, text: str, *, prose: bool, hinted: bool, first: bool) -> _Reason:
        if _is_content(element) and not hints(element) & _STAMPS:
            return _Reason.NONE
        made = kind(element)
        if element.classes and made in self.example.said and not hints(element) & _STAMPS:
            return _Reason.NONE
        if len(text) <= _SHORT and self._alike(element):
            return _Reason.STRONG
        if hinted and _is_brief(text):
            return _Reason.STRONG
        if (made, text) in self.known and not prose and not _among_prose(element):
            return _Reason.STRONG
        if first and _called(text) and element.tag in ("b", "strong", "span"):
            named = is_label(text, self.names) or (element.tag == self.example.named and _is_brief(text))
            return _Reason.STRONG if named else _Reason.NONE
        if prose or not _alone_in_line(element, self.dropped):
            return _Reason.NONE
        if is_time(text) or is_label(text, self.names):
            return _Reason.STRONG if element.tag not in ("b", "strong") or is_role(text) else _Reason.WEAK
        if is_status(text) or is_counter(text) or text in ("·", "•", "|", "–", "-", "✓", "✓✓", "✔"):
            return _Reason.WEAK
        return _Reason.NONE

    def _alike(self, element: Node) -> bool:
        """Made like what stands beside the user's words."""
        return bool(element.classes) and element.tag not in ("p", "li", "pre") and kind(element) in self.example.beside


def _leaves(node: Node, dropped: Collection[Node]) -> list[_Leaf]:
    return list(_each_leaf(node, dropped))


def _each_leaf(node: Node, dropped: Collection[Node]) -> Iterator[_Leaf]:
    stack: list[tuple[Node | str, Node]] = [(node, node)]
    while stack:
        item, parent = stack.pop()
        if isinstance(item, str):
            text = collapsed(item)
            if text:
                yield _Leaf(text, parent)
        elif item.tag == "img":
            if is_picture(item) and not item.hidden and item not in dropped:
                yield _Leaf("", item)
        elif not item.hidden and item not in dropped and not is_control(item):
            stack.extend((child, item) for child in reversed(item.children))


def _is_content(element: Node) -> bool:
    return any(_CONTENT.search(name) for name in element.classes if ":" not in name and "[" not in name)


def _called(text: str) -> bool:
    return text.endswith((":", "："))


def _is_brief(text: str) -> bool:
    """A name or a time, not a sentence."""
    return is_time(text) or (len(text) <= 40 and len(text.split()) <= 5 and not re.search(r"[.!?。！？]$", text))


def _in_sentence(node: Node) -> bool:
    """A time that is said: it has words around it in a paragraph, an item or a cell."""
    for around in node.ancestors():
        if around.tag in _PROSE:
            return around.text != node.text
        if around.block:
            return False
    return False


def _is_notes(details: Node) -> bool:
    """A model's notes to itself, open or not; or what is shut and says nothing but its title before an answer."""
    summary = next((child.text for child in details.elements if child.tag == "summary"), "")
    return is_reasoning(summary) or bool(hints(details) & _NOTES)


def _prose_in(node: Node) -> bool:
    return any(inner.tag in ("p", "li", "pre", "table") for inner in node.walk())


def _among_prose(element: Node) -> bool:
    """Beside paragraphs, lists, or others made like it: then it is one of them."""
    beside = [other for other in element.parent.elements if other is not element] if element.parent else []
    return any(other.tag in _PROSE or kind(other) == kind(element) for other in beside)


def _alone_in_line(node: Node, dropped: Collection[Node]) -> bool:
    if node.block:
        return True
    while node.parent is not None:
        children = node.parent.children
        at = next(number for number, child in enumerate(children) if child is node)
        for side in (children[at + 1 :], children[:at][::-1]):
            for child in side:
                if isinstance(child, str):
                    if child.strip():
                        return False
                elif child.block or child.tag == "br":
                    break
                elif child not in dropped and not child.hidden and not is_control(child) and child.text:
                    return False
        if node.parent.block:
            return True
        node = node.parent
    return True
