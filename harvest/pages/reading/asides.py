"""Lines that a page adds among or into the bubbles.

Examples are a date between two turns, who answered in what time, and the user's words quoted above the answer.
"""

from collections.abc import Iterator, Sequence

from harvest.pages.reading.bubble import leaves_of
from harvest.pages.reading.elements import akin, hints, is_control, leads
from harvest.pages.reading.looks import look_of
from harvest.pages.reading.page import Node, letters
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.turn_place import Spot

_LINE = 90  # characters: more is a message
_BESIDE = 32  # letters of a name and a time that may be in a quotation
_FEWEST = 8  # fewest letters of a quotation that is cut short
_QUOTES = frozenset({"blockquote", "cite", "q"})
_QUOTED = frozenset(
    {"context", "inreply", "original", "parent", "quote", "quoted", "quotation", "reference", "replied", "reply"}
)


def lines_between(ground: PageText, spot: Spot) -> list[Node]:
    """Return those of an answer's bubbles that are lines of the page's own.

    They are short, unlike the user's bubble while another bubble is like it, and have no box or smaller or fainter
    letters than that other bubble.
    """
    if spot.user is None or len(spot.bubbles) < 2:
        return []
    user = spot.user
    bubbles = [bubble for bubble in spot.bubbles if bubble.classes and akin(bubble, user)]
    others = [bubble for bubble in spot.bubbles if not any(akin(bubble, one) for one in (user, *bubbles))]
    lines = [one for one in others if len(one.text) <= _LINE and "\n" not in one.lines]
    return [
        line
        for line in lines
        if not any(one in ground.figures or leads(one) or is_control(one) for one in line.walk())
        and any(_is_set_apart(line, bubble, user) for bubble in bubbles)
    ]


def quotes_in(bubbles: Sequence[Node], said: str) -> Iterator[Node]:
    """Yield the user's own words at the head of a bubble if the page sets them apart as a quotation."""
    wanted = letters(said)
    for bubble in bubbles:
        leaves = leaves_of(bubble, ())
        for element in leaves[0].parent.self_and_ancestors() if leaves and wanted else ():
            after = [leaf for leaf in leaves if not leaf.parent.within(element)]
            if element is bubble or not element.within(bubble) or not after:
                break
            shown = letters(element.text)
            if element.text.rstrip().endswith(("…", "...")):
                repeats = len(shown) >= _FEWEST and wanted.startswith(shown)
            else:
                repeats = wanted in shown and len(shown) - len(wanted) <= _BESIDE
            if repeats and (
                element.tag in _QUOTES
                or hints(element) & _QUOTED
                or look_of(leaves[0].parent).is_smaller_than(look_of(after[0].parent))
                or look_of(leaves[0].parent).is_fainter_than(look_of(after[0].parent))
            ):
                yield element
                break


def _is_set_apart(line: Node, bubble: Node, user: Node) -> bool:
    """True if a line has no box while both speakers' bubbles do, or is in smaller or fainter letters."""
    boxed = [any("h-edge" in inner.attributes for inner in one.walk()) for one in (user, bubble, line)]
    if boxed == [True, True, False]:
        return True
    mine, theirs = (next((leaf.parent for leaf in leaves_of(one, ())), one) for one in (line, bubble))
    return look_of(mine).is_smaller_than(look_of(theirs)) or look_of(mine).is_fainter_than(look_of(theirs))
