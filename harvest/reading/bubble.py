"""The texts in a bubble, where each stands among the others, and what the user's own bubble shows about them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from harvest.reading.ground import is_control, kind
from harvest.reading.markdown import is_picture
from harvest.reading.page import Node, collapsed

__all__ = [
    "PROSE",
    "SHORT",
    "Edge",
    "Example",
    "Leaf",
    "alone_in_line",
    "among_prose",
    "edges_of",
    "ends_open",
    "in_sentence",
    "leaves_of",
    "one_of_many",
]

Edge = tuple[str, str]
"""How the element of a line at the edge of a bubble is made, and what it says."""


SHORT = 60  # characters: longer lines are never decoration
PROSE = frozenset(
    {
        *("a", "blockquote", "code", "dd", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i", "li", "ol", "p", "pre"),
        *("summary", "table", "tbody", "td", "th", "tr", "ul"),
    }
)


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """A visible text. parent: the element directly around it."""

    text: str
    parent: Node


def leaves_of(node: Node, dropped: Collection[Node], *, controls: bool = False) -> list[Leaf]:
    """The visible texts and pictures in an element. controls: those of buttons too."""
    return list(_each_leaf(node, dropped, controls))


def _each_leaf(node: Node, dropped: Collection[Node], controls: bool) -> Iterator[Leaf]:
    stack: list[tuple[Node | str, Node]] = [(node, node)]
    while stack:
        item, parent = stack.pop()
        if isinstance(item, str):
            text = collapsed(item)
            if text:
                yield Leaf(text, parent)
        elif item.tag == "img":
            if is_picture(item) and not item.hidden and item not in dropped:
                yield Leaf("", item)
        elif not item.hidden and item not in dropped and (controls or not is_control(item)):
            stack.extend((child, item) for child in reversed(item.children))


def edges_of(bubble: Node) -> set[Edge]:
    """The lines at the edges of a bubble that stand in elements of their own, with more in the bubble beside them."""
    leaves = [leaf for leaf in leaves_of(bubble, ()) if leaf.text]
    found: set[Edge] = set()
    whole = len(leaves)
    for leaf in {*leaves[:3], *leaves[-3:]} if whole > 1 else ():
        for element in (leaf.parent, *leaf.parent.ancestors()):
            if element is bubble or sum(other.parent.within(element) for other in leaves) == whole:
                break
            text = element.text
            if len(text) > SHORT or element.tag in PROSE or among_prose(element):
                break
            if element.classes:
                found.add((kind(element), text))
    return found


class Example:
    """What the user's bubble shows: how decorations are made, and how what was said is made."""

    def __init__(self, echo: Node | None, user: Node | None) -> None:
        self.beside: set[str] = set()
        self.cells: set[tuple[int, int]] = set()  # of a row of a table: (place, of how many) of what is not the words
        self.before = ""  # how the line of its own is made that says, before the user's words, who speaks
        self.user = "" if user is None else kind(user)
        self.said: set[str] = set()
        self.named = ""  # the tag around a name with a colon, as <b>You:</b>
        if echo is None or user is None:
            return
        self.before = _speaker_before(user)
        if user.tag == "tr":
            cells = user.elements
            self.cells = {(place, len(cells)) for place, cell in enumerate(cells) if not echo.within(cell)}
        inside = {around for around in (echo, *echo.ancestors()) if around.within(user)}
        self.said = {kind(around) for around in inside if around.classes}
        for leaf in leaves_of(user, ()):
            if leaf.parent in inside and leaf.parent is not user:
                continue
            chain = [around for around in (leaf.parent, *leaf.parent.ancestors()) if around.within(user)]
            if any(around is echo for around in chain):
                self.named = leaf.parent.tag if leaf.parent is not echo and ends_open(leaf.text) else self.named
                continue
            if ends_open(leaf.text):
                self.named = leaf.parent.tag
            for around in chain:
                if around in inside or len(around.text) > SHORT:
                    break
                if around.classes:
                    self.beside.add(kind(around))
        self.beside -= self.said


def ends_open(text: str) -> bool:
    return text.endswith((":", "："))


def in_sentence(node: Node) -> bool:
    """A time that is said: it has words around it in a paragraph, an item or a cell."""
    for around in node.ancestors():
        if around.tag in PROSE:
            return around.text != node.text
        if around.block:
            return False
    return False


def one_of_many(element: Node) -> bool:
    """One of several lines made alike: then it is a line of the text."""
    beside = element.parent.elements if element.parent is not None else []
    return sum(kind(other) == kind(element) and bool(other.text) for other in beside) > 2


def among_prose(element: Node) -> bool:
    """Beside paragraphs, lists, or others made like it: then it is one of them."""
    beside = [other for other in element.parent.elements if other is not element] if element.parent else []
    return any(other.tag in PROSE or kind(other) == kind(element) for other in beside)


def alone_in_line(node: Node, dropped: Collection[Node]) -> bool:
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


def _speaker_before(user: Node) -> str:
    """How the short line is made that stands right before the user's words and came with them; "" for none."""
    beside = user.parent.elements if user.parent is not None else []
    place = next((number for number, node in enumerate(beside) if node is user), 0)
    if not place:
        return ""
    line = beside[place - 1]
    told = bool(line.text) and len(line.text) <= SHORT and line.born == user.born
    return kind(line) if told and kind(line) != kind(user) else ""
