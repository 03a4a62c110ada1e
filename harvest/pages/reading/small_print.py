"""The sentence that a page writes under every answer: a warning, a greeting from its owner."""

from collections.abc import Collection

from harvest.pages.reading.bubble import Edge, Leaf, Siblings, closing_of, in_prose, is_brief, leaves_of
from harvest.pages.reading.elements import hints, kind
from harvest.pages.reading.looks import look_of
from harvest.pages.reading.page import Node
from harvest.pages.reading.phrases import is_fine_print

_NAMES = frozenset({"disclaimer", "fineprint", "footer", "footnote", "legal", "notice", "warning"})
_WHO = frozenset({"agent", "author", "byline", "meta", "name", "sender", "speaker", "time", "timestamp"})
_TAGS = frozenset({"aside", "footer", "small"})


def find_small_print(
    bubble: Node, dropped: Collection[Node], known: Collection[Edge], siblings: Siblings, slot: Node | None = None
) -> Node | None:
    """Return the element at the end of a bubble with the page's own sentence; None if there is none.

    It is recognised by its words if it is set apart or no paragraph, and with any words by earlier replies if it is set
    apart from the text. In a first reply an unknown sentence is read: it may be the answer's own. slot: the place of
    the words, if known.
    """
    leaves = leaves_of(bubble, dropped)
    for element in closing_of(leaves, bubble):
        rest = [leaf for leaf in leaves if not leaf.parent.within(element)]
        beside = slot is not None and not (element.within(slot) or slot.within(element))
        told = beside and slot is not None and any(leaf.parent.within(slot) for leaf in rest)
        # Below just a name, the text is the answer, and the same answer may come twice.
        if not told and not any(_is_said(leaf, bubble) for leaf in rest):
            return None
        text = element.text
        look, main = look_of(element), look_of(rest[-1].parent)
        named = bool(hints(element) & _NAMES) or element.tag in _TAGS
        apart = named or look.is_smaller_than(main) or look.is_fainter_than(main)
        plain = in_prose(element, bubble)
        if is_fine_print(text) and (apart or not plain) and not siblings.one_of_many(element):
            return element
        again = (f"end:{kind(element)}", text) in known and not is_brief(text)
        again = again and (told or says_more(element, bubble, dropped))
        if again and not apart and not plain:
            # An element made like the one before it is the next paragraph of the text.
            beside_it = element.parent.elements if element.parent is not None else [element]
            at = beside_it.index(element)
            apart = at == 0 or kind(beside_it[at - 1]) != kind(element)
        if again and apart:
            return element
    return None


def says_more(element: Node, bubble: Node, dropped: Collection[Node]) -> bool:
    """True if a bubble has more than names and times beside the element."""
    return any(not is_brief(leaf.text) for leaf in leaves_of(bubble, dropped) if not leaf.parent.within(element))


def _is_said(leaf: Leaf, bubble: Node) -> bool:
    around = (one for one in leaf.parent.self_and_ancestors() if one is not bubble and one.within(bubble))
    return not is_brief(leaf.text) or (in_prose(leaf.parent, bubble) and not any(hints(one) & _WHO for one in around))
