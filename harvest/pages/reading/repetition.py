"""Whether a page shows a user turn twice: then the system was asked twice, and its answer is no answer to one turn."""

from __future__ import annotations

from harvest.pages.reading.echo import occurrences, trail
from harvest.pages.reading.page import Node, Page, letters
from harvest.pages.reading.page_text import PageText

__all__ = ["is_repeated"]

_SAME_SIDE = 2.0  # CSS pixels


def is_repeated(before: Page, page: Page, said: str, *, echo: Node, answer: str = "") -> bool:
    """Whether two bubbles with the user's words have come since the turn was sent.

    before: the page when it was typed. echo: the bubble with the words on `page`; others of the user's are made like it
    and set at the same side. answer: what was read as such. Where a page makes no difference between the speakers, an
    answer that says the user's words again and nothing else is the system's.
    """
    if letters(answer) == letters(said):
        return False
    now = [node for node in _holding(page, said) if trail(node) == trail(echo) and _same_side(node, echo)]
    # Other bubbles with the same words are of earlier turns, though the page may have made them anew.
    earlier = [node for node in _holding(before, said) if trail(node) == trail(echo)]
    return len(now) - len(earlier) > 1


def _holding(page: Page, said: str) -> list[Node]:
    return list(dict.fromkeys(found.node for found in occurrences(PageText(page), said)))


def _same_side(node: Node, other: Node) -> bool:
    if node.box is None or other.box is None:
        return True
    return min(abs(node.box.x - other.box.x), abs(node.box.right - other.box.right)) <= _SAME_SIDE
