"""Small pictures that replace words: an emoji drawn as an image, a tick labelled `available`, four stars out of five.
Screen readers read the labels of these pictures, so the labels belong to the text. Unlike the face of a speaker,
such a picture is in a line with words, or in a paragraph, a list item or a table cell of its own."""

import re
import unicodedata
from itertools import islice

from harvest.pages.reading.figures import enclosing_frames, is_figure, is_picture
from harvest.pages.reading.page import Node, collapse_spaces, letters
from harvest.pages.reading.phrases import is_placeholder

_LONGEST = 200  # characters: a longer text describes the picture
_PRESSABLE_TAGS = frozenset({"button", "input", "select", "textarea"})
_PROSE_TAGS = frozenset(
    {
        *("blockquote", "caption", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "summary"),
        *("td", "th"),
    }
)
_FACE_NAMES = re.compile(
    r"(?<![a-z])(?:avatar|face|logo|profile|portrait|sender|author|favicon)s?(?![a-z])", re.IGNORECASE
)
_FACE_WORDS = re.compile(r"(?i)\bavatar\b|profile (?:picture|photo|image)|^logo\b|\blogo$|\bicon$|\bfav-?icon\b")
_VOTE_NAMES = re.compile(r"(?<![a-z])(?:feedback|reaction|thumb|vote)s?(?![a-z])", re.IGNORECASE)
_DECORATIVE_ROLES = frozenset({"none", "presentation"})


def alternative_text(node: Node) -> str:
    """Return the words for which a small picture stands, or "" for any other element."""
    if node.tag != "img" and node.get("role") != "img" and not (node.tag == "svg" and node.get("h-drawn")):
        return ""
    words = node.get("alt")
    if node.tag != "img":
        named = node.get("role") == "img"
        drawn = node.get("title") if named and node.tag in ("svg", "canvas") else ""
        words = (node.get("aria-label") if named else "") or drawn or node.get("h-drawn")
    words = collapse_spaces(words)
    if not words or len(words) > _LONGEST or is_placeholder(words) or _is_apart(node):
        return ""
    if is_emoji(words):
        return "" if any(_VOTE_NAMES.search(one.names) for one in islice(node.self_and_ancestors(), 4)) else words
    if is_picture(node) if node.tag == "img" else is_figure(node):
        return ""  # large enough to count as a picture
    # It must be in a line with words, or in a paragraph, an item or a cell without other blocks.
    block = next((around for around in node.ancestors() if around.block), None)
    in_prose = (
        not node.block
        and block is not None
        and block.tag in _PROSE_TAGS
        and not any(one.block and one.text for one in block.walk() if one is not block)
    )
    if _FACE_WORDS.search(words) or not (_in_line(node) or in_prose):
        return ""
    link = next((around for around in node.ancestors() if around.tag == "a"), None)
    return "" if link is not None and letters(words) in letters(link.text) else words


def is_emoji(words: str) -> bool:
    """Return True if the text consists of emoji. Ticks, stars and arrows are often status marks and do not count."""
    signs = [
        sign for sign in words if not sign.isspace() and unicodedata.category(sign) not in ("Mn", "Me", "Cf", "Sk")
    ]
    return bool(signs) and all(ord(sign) >= 0x1F000 or sign in "❤☺☹✅❌⭐❓❗✨⚠☀☁♥✊✋✌☝" for sign in signs)


def add_spaces(node: Node, words: str) -> str:
    """Add spaces around the words of a picture if these words touch other words."""
    if is_emoji(words) or node.parent is None:
        return words
    beside = node.parent.children
    at = beside.index(node)
    before, after = (beside[at - 1] if at else ""), (beside[at + 1] if at + 1 < len(beside) else "")
    left = not isinstance(before, str) or before[-1:].isalnum()
    right = not isinstance(after, str) or after[:1].isalnum()
    return f"{' ' if left else ''}{words}{' ' if right else ''}"


def _is_apart(node: Node) -> bool:
    if node.get("role") in _DECORATIVE_ROLES or any(_FACE_NAMES.search(one.names) for one in enclosing_frames(node)):
        return True
    return any(
        one.hidden or one.get("aria-hidden") == "true" or one.tag in _PRESSABLE_TAGS or one.get("role") == "button"
        for one in node.self_and_ancestors()
    )


def _in_line(node: Node) -> bool:
    while node.parent is not None and not node.block:
        children = node.parent.children
        at = children.index(node)
        for side in (children[at + 1 :], reversed(children[:at])):
            for child in side:
                if isinstance(child, str):
                    if child.strip():
                        return True
                elif child.block or child.tag == "br":
                    break
                elif not child.hidden and child.tag not in _PRESSABLE_TAGS and child.text:
                    return True
        node = node.parent
    return False
