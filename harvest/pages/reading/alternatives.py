"""Small pictures that are words: an emoji drawn as an image, a tick that is called `available`, four stars of five.

What a page calls such a picture is read by those who do not see it, and belongs to the text as the picture does. It is
told from the face of who speaks by its place: in a line with words, or in a paragraph, an item or a cell of its own.
"""

import re
import unicodedata
from collections.abc import Iterable

from harvest.pages.reading.figures import is_figure, is_picture
from harvest.pages.reading.page import Node, collapse_spaces, letters
from harvest.pages.reading.phrases import is_placeholder

_LONGEST = 200  # characters: more describes a picture, and is no word
_PRESSED = frozenset({"button", "input", "select", "textarea"})
_PROSE = frozenset(
    {
        *("blockquote", "caption", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "summary"),
        *("td", "th"),
    }
)
_FACE = re.compile(r"(?<![a-z])(?:avatar|face|logo|profile|portrait|sender|author|favicon)s?(?![a-z])", re.IGNORECASE)
_FACE_WORDS = re.compile(r"(?i)\bavatar\b|profile (?:picture|photo|image)|^logo\b|\blogo$|\bicon$|\bfav-?icon\b")
_VOTES = re.compile(r"(?<![a-z])(?:feedback|reaction|thumb|vote)s?(?![a-z])", re.IGNORECASE)
_DECORATIVE = frozenset({"none", "presentation"})


def alternative_of(node: Node) -> str:
    """The words that a small picture stands for; "" for any other element."""
    if node.tag != "img" and node.get("role") != "img" and not (node.tag == "svg" and node.get("h-drawn")):
        return ""
    words = collapse_spaces(_name(node))
    if not words or len(words) > _LONGEST or is_placeholder(words) or _is_apart(node):
        return ""
    if is_emoji(words):
        return "" if any(_VOTES.search(name) for name in _names(_around(node))) else words
    if is_picture(node) if node.tag == "img" else is_figure(node):
        return ""  # large enough to be looked at: it is written as a picture
    if _FACE_WORDS.search(words) or not (_in_line(node) or _is_prose(node)):
        return ""
    link = next((around for around in node.ancestors() if around.tag == "a"), None)
    return "" if link is not None and letters(words) in letters(link.text) else words


def is_emoji(words: str) -> bool:
    """Nothing but emoji. Ticks, stars and arrows of the text are none: they are states as often."""
    signs = [
        sign for sign in words if not sign.isspace() and unicodedata.category(sign) not in ("Mn", "Me", "Cf", "Sk")
    ]
    return bool(signs) and all(ord(sign) >= 0x1F000 or sign in "❤☺☹✅❌⭐❓❗✨⚠☀☁♥✊✋✌☝" for sign in signs)


def spaced(node: Node, words: str) -> str:
    """The words apart from those that stand right beside the picture, as pictures stand apart."""
    if is_emoji(words) or node.parent is None:
        return words
    beside = node.parent.children
    at = next(number for number, child in enumerate(beside) if child is node)
    before, after = (beside[at - 1] if at else ""), (beside[at + 1] if at + 1 < len(beside) else "")
    left = not isinstance(before, str) or before[-1:].isalnum()
    right = not isinstance(after, str) or after[:1].isalnum()
    return f"{' ' if left else ''}{words}{' ' if right else ''}"


def _name(node: Node) -> str:
    if node.tag == "img":
        return node.get("alt")
    named = node.get("role") == "img"
    drawn = node.get("title") if named and node.tag in ("svg", "canvas") else ""
    return (node.get("aria-label") if named else "") or drawn or node.get("h-drawn")


def _is_apart(node: Node) -> bool:
    """Whether it only decorates, shows who speaks, or is a part of something to press."""
    if node.get("role") in _DECORATIVE or any(map(_FACE.search, _names(_framing(node)))):
        return True
    return any(
        one.hidden or one.get("aria-hidden") == "true" or one.tag in _PRESSED or one.get("role") == "button"
        for one in (node, *node.ancestors())
    )


def _names(nodes: Iterable[Node]) -> list[str]:
    return [f"{one.get('class')} {one.get('id')} {one.get('data-testid')}" for one in nodes]


def _around(node: Node) -> Iterable[Node]:
    yield node
    for around, _ in zip(node.ancestors(), range(3), strict=False):
        yield around


def _framing(node: Node) -> Iterable[Node]:
    """The node and what only frames it."""
    yield node
    for around in node.ancestors():
        if len(around.elements) > 1 or around.text:
            return
        yield around


def _in_line(node: Node) -> bool:
    """Whether words stand in one line with it."""
    while node.parent is not None and not node.block:
        children = node.parent.children
        at = next(number for number, child in enumerate(children) if child is node)
        for side in (children[at + 1 :], children[:at][::-1]):
            for child in side:
                if isinstance(child, str):
                    if child.strip():
                        return True
                elif child.block or child.tag == "br":
                    break
                elif not child.hidden and child.tag not in _PRESSED and child.text:
                    return True
        node = node.parent
    return False


def _is_prose(node: Node) -> bool:
    """Whether it stands in a paragraph, an item or a cell with no other block in it."""
    block = next((around for around in node.ancestors() if around.block), None)
    if node.block or block is None or block.tag not in _PROSE:
        return False
    return not any(one.block and one.text for one in block.walk() if one is not block)
