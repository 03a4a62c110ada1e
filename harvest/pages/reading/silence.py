"""Detection of an answer without words: a bubble came, and the system said nothing, as is possible over an API. If
nothing at all came, the page may have lost the turn, which is not treated here."""

from collections.abc import Iterator, Sequence

from harvest.pages.reading.bubble import visible_leaves
from harvest.pages.reading.elements import hints, is_akin, is_control, is_vote
from harvest.pages.reading.folds import is_pressable
from harvest.pages.reading.page import AT_ONCE, Node
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.phrases import is_placeholder
from harvest.pages.reading.turn_place import Spot

_SMALLEST_BUBBLE = 8.0  # CSS pixels: smaller elements mark ends of lists and scroll positions
_WAITING_WORDS = frozenset({"caret", "cursor", "dots", "loader", "loading", "skeleton", "spinner", "typing"})


def is_wordless(ground: PageText, spot: Spot, left_out: Sequence[str], heard: float | None = None) -> bool:
    """Return True if the turn has a bubble of its own that contains at most names and times. Returns False if a sign
    shows that more will come. `left_out` holds texts of decorations, and `heard` is as in `offered_choices`."""
    if any(map(is_placeholder, left_out)) or not ground.has_times:
        return False
    if spot.bubbles:
        return not any(is_waiting(bubble) for bubble in spot.bubbles)
    replies = [node for node in ground.page.marked("reply") if node.birth_time is not None and node.visible]
    return (
        any(_is_bubble(node) for node in replies)
        or bool(offered_choices(ground, spot, heard))
        or any(
            _is_bubble(node) and (is_akin(node, branch) or any(map(is_control, node.walk())))
            for node, branch in _later_nodes(spot)
        )
    )


def offered_choices(ground: PageText, spot: Spot, heard: float | None = None) -> tuple[Node, ...]:
    """Return the elements after the user's text that have only buttons: an answer that consists only of choices.
    Elements that came together with that text, before the first byte came back, are left out because they belong to
    the text. `heard` is the milliseconds from the send to the first byte, or None if unknown."""
    if spot.bubbles or spot.echo is None or not ground.has_times:
        return ()
    came = (ground.births.get(spot.echo) or spot.echo.birth_time or 0.0) + AT_ONCE
    came = came if heard is None else min(came, heard)
    found = (node for node, _ in _later_nodes(spot) if node.birth_time is not None and node.birth_time >= came)
    return tuple(dict.fromkeys(filter(_has_only_offers, found)))


def _has_only_offers(node: Node) -> bool:
    if not node.visible or is_waiting(node):
        return False
    pressed = any(is_pressable(one) and (one.text or one.get("h-options")) and one.visible for one in node.walk())
    return pressed and all(
        any(is_pressable(one) for one in leaf.parent.self_and_ancestors() if one.is_within(node))
        for leaf in visible_leaves(node, ())
    )


def _later_nodes(spot: Spot) -> Iterator[tuple[Node, Node]]:
    branch = spot.echo
    while branch is not None and branch.parent is not None and branch is not spot.container:
        beside = branch.parent.elements
        at = beside.index(branch)
        for node in beside[:at] if spot.rising else beside[at + 1 :]:
            if node.birth_time is not None and not any("h-edit" in one.attributes for one in node.walk()):
                yield node, branch
        branch = branch.parent


def _is_bubble(node: Node) -> bool:
    box = node.box
    seen = node.visible and box is not None and box.width >= _SMALLEST_BUBBLE and box.height >= _SMALLEST_BUBBLE
    said = visible_leaves(node, [one for one in node.walk() if is_vote(one)])
    return seen and not said and not is_control(node) and not is_waiting(node)


def is_waiting(node: Node) -> bool:
    """Return True if a name or a state in the element shows that work is in progress."""
    return any(one.visible and (hints(one) & _WAITING_WORDS or one.get("aria-busy") == "true") for one in node.walk())
