"""The element that contains the words in a bubble (the slot). The slot is found by comparison with the user's own
bubble, or known from earlier replies. Widgets use the same markup for both sides, level by level from the bubble
inwards. Names, times and states are outside the slot. A short answer is inside, whatever its look."""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile

from harvest.pages.reading.bubble import PROSE, SHORT_LINE, Edge, is_brief, visible_leaves
from harvest.pages.reading.elements import is_control, kind
from harvest.pages.reading.page import Node
from harvest.pages.reading.phrases import is_label, is_notice, is_origin_note, is_status

_LEAST_LIKENESS = 0.2  # least share of their names that two corresponding elements have in common
_DEEPEST = 30  # most levels that are compared
_MOST_ELEMENTS = 2000  # most elements of a bubble that are examined


def find_slots(bubbles: Sequence[Node], dropped: Collection[Node], edges: Collection[Edge]) -> set[str]:
    """Return the kinds of the elements that contain the words of a reply. The text of such an element is longer than
    any name, or differs from the text of earlier replies (given by `edges`) in an element of the same kind."""
    found: set[str] = set()
    for made, text in _held_texts(bubbles, dropped):
        others = {said for one, said in edges if one == made}
        if len(text) > SHORT_LINE or (others and text not in others):
            found.add(made)
    return found


def find_earlier_slots(replies: Sequence[Node], bubbles: Sequence[Node]) -> set[str]:
    """Return the kinds of the elements that contain the words of replies that were never read, such as a greeting. The
    text of such an element is longer than any name, or is a sentence that `bubbles` do not repeat."""
    again = set(_held_texts(bubbles, ()))
    return {
        made
        for made, text in _held_texts(replies, ())
        if len(text) > SHORT_LINE
        or (
            not ((made, text) in again or is_brief(text) or is_label(text))
            and not (is_status(text) or is_notice(text) or is_origin_note(text))
        )
    }


def _held_texts(bubbles: Sequence[Node], dropped: Collection[Node]) -> Iterator[Edge]:
    for bubble in bubbles:
        for leaf in islice(visible_leaves(bubble, dropped), _MOST_ELEMENTS):
            holder = leaf.parent
            while holder is not bubble and (holder.tag in PROSE or not holder.classes) and holder.parent is not None:
                holder = holder.parent
            if holder is not bubble:
                yield kind(holder), leaf.text


def find_slot(bubble: Node, echo: Node | None, user: Node | None, known: Collection[str] = ()) -> Node | None:
    """Return the element of a reply's bubble that corresponds to the element with the user's text or with earlier
    replies, or None if in doubt. `echo` is the element with the user's text, and `user` is the user's bubble.
    `known` is the result of `find_slots` for earlier replies."""
    found: Node | None = None
    if echo is not None and user is not None and echo.is_within(user):
        chain = [*takewhile(lambda around: around is not user, echo.self_and_ancestors())]
        inner, outer = bubble, user
        for step in reversed(chain[-_DEEPEST:]):
            match = _counterpart(step, outer, inner) if step.tag not in PROSE else None
            if match is None or match.tag in PROSE:
                break
            found, inner, outer = match, match, step
    if found is None and known:
        inside = islice(bubble.walk(), 1, _MOST_ELEMENTS)
        found = next((node for node in inside if node.classes and not node.hidden and kind(node) in known), None)
    return found


def _counterpart(step: Node, outer: Node, inner: Node) -> Node | None:
    """Return the part of `inner` that corresponds to `step` in `outer`. No other pair of parts may be more alike."""
    others, candidates = _visible_parts(outer), _visible_parts(inner)
    best = max((likeness(step, one) for one in candidates), default=0.0)
    matches = [one for one in candidates if likeness(step, one) == best]
    if best < _LEAST_LIKENESS:
        return None
    if len(matches) > 1:
        place = others.index(step)
        match = candidates[place] if len(candidates) == len(others) else None
        return match if match in matches else None
    rivals = [one for one in others if one is not step and likeness(one, matches[0]) >= best]
    return None if rivals else matches[0]


def _visible_parts(node: Node) -> list[Node]:
    return [one for one in node.elements if not one.hidden and one.tag not in ("img", "svg") and not is_control(one)]


def likeness(one: Node, other: Node) -> float:
    """Return the share of tag and classes, without the speaker, that two elements have in common, in [0, 1]."""
    mine, theirs = _name_words(kind(one)), _name_words(kind(other))
    return len(mine & theirs) / len(mine | theirs)


@lru_cache(maxsize=4096)
def _name_words(made: str) -> frozenset[str]:
    return frozenset(made.split("."))
