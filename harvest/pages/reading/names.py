"""The names that a page gives to speakers, and the texts of its buttons. Names and button texts may precede an
answer."""

import re
from collections.abc import Collection, Sequence

from harvest.pages.reading.alternatives import alternative_text
from harvest.pages.reading.bubble import find_edges, read_look, visible_leaves
from harvest.pages.reading.elements import is_control, kind, signature
from harvest.pages.reading.figures import is_picture
from harvest.pages.reading.page import Node, Page

_FACE = re.compile(r"\b(?:avatar|profile picture|logo|icon)\b(?: (?:for|of))?", re.IGNORECASE)


def find_names(page: Page, bubbles: Sequence[Node] = ()) -> frozenset[str]:
    """Return possible names of the bot on this page: its title, its headings, and the labels of its pictures. Text and
    pictures in the answer's `bubbles`, or in elements with the same markup, are not names."""
    found = re.split(r"\s[-|–—·•:]\s", page.title)
    said, made = set(bubbles), {signature(bubble) for bubble in bubbles if bubble.classes}
    stack = [page.root]
    while stack:
        node = stack.pop()
        answers = node in said or signature(node) in made
        if node.tag in ("h1", "h2") and not node.hidden and len(node.children) < 4:
            found.append(node.text)
        for inner in node.walk() if answers else (node,):
            if (
                inner.tag == "img"
                and inner.get("alt")
                and not (answers and (is_picture(inner) or alternative_text(inner)))
            ):
                found.append(_FACE.sub("", inner.get("alt")))
        stack.extend(() if answers else node.elements)
    return frozenset(name.strip() for name in found if 1 < len(name.strip()) <= 40)


def may_begin_with_name(bubble: Node, dropped: Collection[Node]) -> bool:
    """Return True if an answer's first line may be the speaker's name without other evidence. Such a line has one to
    three words in an element of its own above all the rest, and is not a heading."""
    leaves = [leaf for leaf in visible_leaves(bubble, dropped) if leaf.text]
    if len(leaves) < 2 or (kind(leaves[0].parent), leaves[0].text) not in find_edges(bubble):
        return False
    line, rest = leaves[0], leaves[1]
    if (
        line.parent.is_within(rest.parent)
        or not line.parent.block
        or read_look(line.parent).is_heading_over(read_look(rest.parent))
    ):
        return False
    words = line.text.split()
    return len(words) <= 3 and all(word[0].isupper() and word.isalpha() for word in words)


def find_button_texts(page: Page) -> frozenset[str]:
    """Return the short texts of the buttons and selections of a page."""
    found: set[str] = set()
    for node in page.walk():
        if is_control(node) and not node.hidden and len(node.children) < 6:
            found.update(text for text in (node.text, node.get("h-value")) if 1 < len(text) <= 40)
    return frozenset(found)
