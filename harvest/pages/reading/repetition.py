"""Detection of a user turn that the page shows twice. The system was then asked twice, so its answer does not belong
to one turn."""

import re

from harvest.pages.reading.echo import find_occurrences, trail
from harvest.pages.reading.page import AT_ONCE, Node, Page, letters
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn import ReadTurn

_SIDE_TOLERANCE = 2.0  # CSS pixels
_DIGITS = re.compile(r"\d+")


def is_repeated(before: Page, page: Page, said: str, turn: ReadTurn, *, again: bool = False) -> bool:
    """Return True if two of the user's bubbles with this text have come since the turn was sent.

    `before` is the page when the turn was typed, and `turn` was read on this page or an earlier one. Set `again` if
    the turn is known to have been sent more than once. A bubble counts as the user's if it has the same markup as the
    bubble in `turn`, is on the same side of the page, and has no other text. An answer that repeats the user's text
    may look like such a bubble. It then counts as the user's only if both bubbles came at the same moment, or if the
    turn was sent more than once.
    """
    echo = turn.echo
    if echo is None:
        return False
    ground = PageText(page)
    made = trail(echo)
    now = [node for node in _elements_holding(ground, said) if trail(node) == made and _is_on_same_side(node, echo)]
    beside = _text_beside(echo, said)
    now = [node for node in now if _text_beside(node, said) == beside]
    if len(now) <= 1:
        return False
    # Other bubbles with the same words belong to earlier turns, even if the page has repainted them.
    earlier = sum(trail(node) == made for node in _elements_holding(PageText(before), said))
    if len(now) - earlier <= 1:
        return False
    first = min(ground.births.get(node, 0.0) for node in now)
    at_once = sum(ground.births.get(node, 0.0) - first <= AT_ONCE for node in now)
    if again or at_once - earlier > 1:
        return True
    # Or the answer has words outside those bubbles, but not in an element made like the user's.
    ids = {node.id for node in now}
    rest = [
        bubble
        for bubble in turn.bubbles
        if _text_beside(bubble, said) != beside or ids.isdisjoint(node.id for node in bubble.walk())
    ]
    return bool(rest) and not any(trail(node) == made for bubble in rest for node in bubble.walk())


def _elements_holding(ground: PageText, said: str) -> list[Node]:
    return list(dict.fromkeys(found.node for found in find_occurrences(ground, said)))


def _text_beside(node: Node, said: str) -> str:
    """Return the bubble's text without the user's text and digits. The rest is a name or a part of a time."""
    return _DIGITS.sub("", letters(node.text).replace(letters(said), "", 1))


def _is_on_same_side(node: Node, other: Node) -> bool:
    if node.box is None or other.box is None:
        return True
    return min(abs(node.box.x - other.box.x), abs(node.box.right - other.box.right)) <= _SIDE_TOLERANCE
