"""The texts in a bubble, their positions, and the evidence about them in the user's own bubble."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harvest.pages.reading.alternatives import alternative_text, is_emoji
from harvest.pages.reading.elements import editor_text, is_control, is_editor, kind, leads_outward
from harvest.pages.reading.figures import is_figure, is_file_button, is_icon
from harvest.pages.reading.page import ICON_LETTERS, Node, collapse_spaces
from harvest.pages.reading.phrases import is_role, is_time

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?%?")
_LIGHTNESS_STEP = 0.07  # least difference in lightness, on a scale from 0 to 1
_HEADING_FACTOR = 1.2  # times the size of the letters
_SMALLER_FACTOR = 0.94  # of the size of the letters


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a text. `ink` is the colour as the page gives it, or None. `size` is the font size in CSS pixels, or
    None. `strength` is the opacity, in [0, 1]."""

    ink: str | None
    size: float | None
    strength: float

    def is_fainter_than(self, other: Look) -> bool:
        """Return True if this text has less contrast with the background than the other text."""
        if self.strength < other.strength - _LIGHTNESS_STEP:
            return True
        mine, theirs = _lightness(self.ink), _lightness(other.ink)
        if mine is None or theirs is None:
            return False
        # Light letters are on a dark background.
        return mine < theirs - _LIGHTNESS_STEP if theirs > 0.5 else mine > theirs + _LIGHTNESS_STEP

    def is_smaller_than(self, other: Look) -> bool:
        return self.size is not None and other.size is not None and self.size <= other.size * _SMALLER_FACTOR

    def is_heading_over(self, other: Look) -> bool:
        """Return True if this text is much larger than the other text. Headings are much larger, but names are not."""
        return self.size is not None and other.size is not None and self.size >= other.size * _HEADING_FACTOR


def read_look(node: Node) -> Look:
    ink, size, strength = None, None, 1.0
    for around in node.self_and_ancestors():
        ink = ink or around.get("h-ink") or None
        size = size if size is not None or not around.get("h-font") else float(around.get("h-font"))
        strength *= float(around.get("h-dim") or 1)
    parts = _NUMBERS.findall(ink.partition("(")[2]) if ink else []
    if ink and ("/" in ink or (ink.startswith("rgba") and len(parts) == 4)):
        strength *= float(parts[-1].rstrip("%")) / (100 if parts[-1].endswith("%") else 1)
    return Look(ink, size, strength)


def _lightness(ink: str | None) -> float | None:
    """Return the lightness, from 0 (black) to 1 (white), or None if the colour cannot be parsed."""
    parts = _NUMBERS.findall(ink.partition("(")[2]) if ink else []
    if not ink or len(parts) < 3:
        return None
    first = [float(part.rstrip("%")) for part in parts[:3]]
    match ink.partition("(")[0]:
        case "rgb" | "rgba":
            red, green, blue = (value / 255 for value in first)
        case "color":
            red, green, blue = first
        case "oklch" | "oklab":
            return first[0]
        case "lab" | "lch":
            return first[0] / 100
        case _:
            return None
    return 0.3 * red + 0.59 * green + 0.11 * blue


# The kind of the element of a line at the edge of a bubble, and its text.
Edge = tuple[str, str]


SHORT_LINE = 60  # characters: longer lines are never decoration
_LONGEST_CLOSING = 200  # characters of a sentence under an answer
PROSE = frozenset(
    {
        *("a", "blockquote", "code", "dd", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i", "li", "ol", "p", "pre"),
        *("summary", "table", "tbody", "td", "textarea", "th", "tr", "ul"),
    }
)
_PROSE_BLOCKS = PROSE - {"a", "em", "i"}


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """A visible text. `parent` is the element directly around the text."""

    text: str
    parent: Node


def visible_leaves(node: Node, dropped: Collection[Node], *, controls: bool = False) -> list[Leaf]:
    """Return the visible texts and pictures in an element. With `controls`, the texts of buttons are included."""
    found: list[Leaf] = []
    stack: list[tuple[Node | str, Node]] = [(node, node)]
    while stack:
        item, parent = stack.pop()
        if isinstance(item, str):
            text = collapse_spaces(ICON_LETTERS.sub("", item))
            if text:
                found.append(Leaf(text, parent))
        elif item in dropped:
            continue
        elif words := alternative_text(item):
            found.append(Leaf(words, item))
        elif item.hidden:
            continue
        elif item.tag == "math":  # one text: no number in a formula is a time or a name
            if item.text:
                found.append(Leaf(item.text, item))
        elif is_editor(item) or item.tag == "textarea":
            text = collapse_spaces(editor_text(item) if is_editor(item) else item.get("h-value"))
            if text:
                found.append(Leaf(text, item))
        elif is_figure(item) or (not controls and is_file_button(item)):
            found.append(Leaf("", item))
        elif item.tag != "img" and not is_icon(item) and (controls or not is_control(item)):
            stack.extend((child, item) for child in reversed(item.children))
    return found


def closing_elements(leaves: Sequence[Leaf], bubble: Node) -> list[Node]:
    """Return the elements that contain the last text but not the first, largest first. Elements longer than a sentence
    are left out."""
    said = [leaf for leaf in leaves if leaf.text]
    found: list[Node] = []
    for element in said[-1].parent.self_and_ancestors() if len(said) > 1 else ():
        if element is bubble or said[0].parent.is_within(element) or len(element.text) > _LONGEST_CLOSING:
            break
        found.append(element)
    return found[::-1]


def is_in_prose(node: Node, bubble: Node) -> bool:
    """Return True if the element is in a heading, a paragraph, a list item or a table cell, so that its text is a part
    of the answer. If the bubble is a row of a table, its cells are only layout and do not count."""
    row = bubble.tag in ("tr", "tbody", "table")
    return any(
        one.tag in _PROSE_BLOCKS or one.get("role") == "heading" or is_editor(one)
        for one in node.self_and_ancestors()
        if one is not bubble and one.is_within(bubble) and not (row and one.tag in ("td", "th"))
    )


def is_citation(element: Node) -> bool:
    """Return True if most of an element's text is in links to web addresses. Such an element names sources, and several
    answers can have the same source."""
    linked = whole = 0
    for leaf in visible_leaves(element, ()):
        whole += len(leaf.text)
        linked += len(leaf.text) * any(map(leads_outward, leaf.parent.self_and_ancestors()))
    return 2 * linked > whole


def find_edges(bubble: Node) -> set[Edge]:
    """Return the lines at the edges of a bubble that are in separate elements next to other content. Sentences at the
    end of the bubble are included; their kind begins with `end:`."""
    leaves = [leaf for leaf in visible_leaves(bubble, ()) if leaf.text]
    found: set[Edge] = {(f"end:{kind(element)}", element.text) for element in closing_elements(leaves, bubble)}
    whole, siblings = len(leaves), Siblings()
    for leaf in {*leaves[:3], *leaves[-3:]} if whole > 1 else ():
        if is_in_prose(leaf.parent, bubble):
            continue
        if leaf is leaves[0] and alternative_text(leaf.parent) and not is_emoji(leaf.text):
            found.add((kind(leaf.parent), leaf.text))
        for element in leaf.parent.self_and_ancestors():
            if element is bubble or sum(other.parent.is_within(element) for other in leaves) == whole:
                break
            text = element.text
            if len(text) > SHORT_LINE or element.tag in PROSE or siblings.is_among_prose(element):
                break
            if element.classes:
                found.add((kind(element), text))
    return found


class Example:
    """The markup of the user's bubble: its decorations, and the element that contains the text."""

    def __init__(self, echo: Node | None, user: Node | None) -> None:
        self.beside: set[str] = set()
        self.cells: set[tuple[int, int]] = set()  # in a table row: (position, number of cells) of the other cells
        self.before = ""  # kind of the separate line before the user's words that names the speaker
        self.user = "" if user is None else kind(user)
        self.said: set[str] = set()
        self.times: list[Node] = []  # elements with a time
        self.tells_who = False  # a line before the words names the user in general terms
        self.named = ""  # the tag around a name with a colon, as in <b>You:</b>
        self.look = None if echo is None else read_look(echo)
        self.pictured = False  # a picture with a name is before the words
        self.boxed = False  # the words have a box of their own, with a border or a background
        if echo is None or user is None:
            return
        beside = user.parent.elements if user.parent is not None else [user]
        place = beside.index(user)
        line = beside[place - 1]
        if (
            place
            and line.text
            and len(line.text) <= SHORT_LINE
            and line.birth_time == user.birth_time
            and kind(line) != self.user
        ):
            self.before = kind(line)
        leaves = visible_leaves(user, ())
        self.pictured = bool(leaves) and alternative_text(leaves[0].parent) != ""
        if user.tag == "tr":
            cells = user.elements
            self.cells = {(place, len(cells)) for place, cell in enumerate(cells) if not echo.is_within(cell)}
        inside = {around for around in echo.self_and_ancestors() if around.is_within(user)}
        self.boxed = any("h-edge" in around.attributes for around in inside)
        self.said = {kind(around) for around in inside if around.classes}
        self.tells_who = bool(leaves) and leaves[0].parent not in inside and is_role(leaves[0].text)
        for leaf in leaves:
            if leaf.parent in inside and leaf.parent is not user:
                continue
            chain = [around for around in leaf.parent.self_and_ancestors() if around.is_within(user)]
            if any(around is echo for around in chain):
                self.named = leaf.parent.tag if leaf.parent is not echo and ends_with_colon(leaf.text) else self.named
                continue
            if ends_with_colon(leaf.text):
                self.named = leaf.parent.tag
            if leaf.parent.classes and is_time(leaf.text):
                self.times.append(leaf.parent)
            for around in chain:
                if around in inside or len(around.text) > SHORT_LINE:
                    break
                if around.classes:
                    self.beside.add(kind(around))
        self.beside -= self.said


def ends_with_colon(text: str) -> bool:
    return text.endswith((":", "："))


def is_brief(text: str) -> bool:
    """Return True for a name or a time, and False for a sentence."""
    return is_time(text) or (len(text) <= 40 and len(text.split()) <= 5 and not re.search(r"[.!?。！？]$", text))


def is_in_sentence(node: Node) -> bool:
    """Return True if a time is part of a sentence, because its paragraph, list item or table cell has more words."""
    for around in node.ancestors():
        if around.tag in PROSE:
            return around.text != node.text
        if around.block:
            return False
    return False


class Siblings:
    """The siblings of elements, counted once for each parent, because on some pages a parent has 100,000 children."""

    def __init__(self) -> None:
        self._counts: dict[Node, _Count] = {}

    def is_one_of_many(self, element: Node) -> bool:
        """Return True for a line that is one of three or more lines of one kind. Such a line belongs to the text."""
        return element.parent is not None and self._count(element.parent).telling[kind(element)] > 2

    def is_among_prose(self, element: Node) -> bool:
        """Return True if the element's siblings include paragraphs, lists or elements of its kind, so that it is part
        of the text."""
        if element.parent is None:
            return False
        count = self._count(element.parent)
        return count.prose > (element.tag in PROSE) or count.made[kind(element)] > 1

    def place(self, element: Node) -> int:
        """Return the index of the element among the children of its parent."""
        assert element.parent is not None
        return self._count(element.parent).places[element]

    def _count(self, parent: Node) -> _Count:
        if parent not in self._counts:
            self._counts[parent] = _Count(parent)
        return self._counts[parent]


class _Count:
    """Counts of a parent's children. `prose` counts the prose elements, `made` the elements of each kind, and
    `telling` the elements of each kind that have text."""

    def __init__(self, parent: Node) -> None:
        elements = parent.elements
        self.prose = sum(node.tag in PROSE for node in elements)
        self.made = Counter(kind(node) for node in elements)
        self.telling = Counter(kind(node) for node in elements if node.text)
        self.places = {child: number for number, child in enumerate(parent.children) if isinstance(child, Node)}


def is_alone_in_line(node: Node, dropped: Collection[Node], siblings: Siblings) -> bool:
    if node.block:
        return True
    while node.parent is not None:
        children = node.parent.children
        at = siblings.place(node)
        for side in (range(at + 1, len(children)), range(at - 1, -1, -1)):
            for child in map(children.__getitem__, side):
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
