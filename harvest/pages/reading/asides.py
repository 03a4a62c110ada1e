"""Lines that a page puts among the bubbles or into them, and that nobody said: a date between two turns, who answered
in what time, the user's words quoted over the answer to them.
"""

from collections.abc import Iterator, Sequence

from harvest.pages.reading.bubble import leaves_of
from harvest.pages.reading.looks import look_of
from harvest.pages.reading.page import Node, letters
from harvest.pages.reading.page_text import PageText, akin, hints, is_control, leads
from harvest.pages.reading.turn_place import Spot

_LINE = 90  # characters: more is a message
_BESIDE = 32  # letters of a name and a time that may stand with a quotation
_FEWEST = 8  # letters of a quotation that is cut short
_QUOTES = frozenset({"blockquote", "cite", "q"})
_QUOTED = frozenset(
    {"context", "inreply", "original", "parent", "quote", "quoted", "quotation", "reference", "replied", "reply"}
)


def lines_between(ground: PageText, spot: Spot) -> list[Node]:
    """Those of an answer's bubbles that are lines of the conversation's own: short, made unlike the user's bubble where
    another is made like it, and without the box or in smaller or fainter letters than that."""
    if spot.user is None or len(spot.bubbles) < 2:
        return []
    user = spot.user
    bubbles = [bubble for bubble in spot.bubbles if bubble.classes and akin(bubble, user)]
    others = [bubble for bubble in spot.bubbles if not any(akin(bubble, one) for one in (user, *bubbles))]
    return [one for one in others if _is_line(ground, one) and any(_set_apart(one, bubble, user) for bubble in bubbles)]


def quotes_in(bubbles: Sequence[Node], said: str) -> Iterator[Node]:
    """The user's own words at the head of a bubble, where the page sets them apart as a quotation."""
    wanted = letters(said)
    for bubble in bubbles:
        leaves = leaves_of(bubble, ())
        for element in (leaves[0].parent, *leaves[0].parent.ancestors()) if leaves and wanted else ():
            after = [leaf for leaf in leaves if not leaf.parent.within(element)]
            if element is bubble or not element.within(bubble) or not after:
                break
            if _repeats(element.text, wanted) and (
                element.tag in _QUOTES
                or hints(element) & _QUOTED
                or look_of(leaves[0].parent).is_smaller_than(look_of(after[0].parent))
                or look_of(leaves[0].parent).is_fainter_than(look_of(after[0].parent))
            ):
                yield element
                break


def _is_line(ground: PageText, node: Node) -> bool:
    if len(node.text) > _LINE or "\n" in node.lines or not ground.figures.isdisjoint(node.walk()):
        return False
    return not any(leads(one) or is_control(one) for one in node.walk())


def _set_apart(line: Node, bubble: Node, user: Node) -> bool:
    """Whether it looks unlike a bubble: not in a box where both speakers' words are, or in letters that stand back."""
    if _is_boxed(user) and _is_boxed(bubble) and not _is_boxed(line):
        return True
    mine, theirs = (next((leaf.parent for leaf in leaves_of(one, ())), one) for one in (line, bubble))
    return look_of(mine).is_smaller_than(look_of(theirs)) or look_of(mine).is_fainter_than(look_of(theirs))


def _is_boxed(node: Node) -> bool:
    return any("h-edge" in one.attributes for one in node.walk())


def _repeats(text: str, wanted: str) -> bool:
    """Whether it is those letters, cut short or with a name beside them."""
    shown = letters(text)
    if text.rstrip().endswith(("…", "...")):
        return len(shown) >= _FEWEST and wanted.startswith(shown)
    return wanted in shown and len(shown) - len(wanted) <= _BESIDE
