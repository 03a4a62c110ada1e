"""What a model thought before it answered, where the page leaves it in view above the answer.

It has a line of its own over it (`Thought for 3 seconds`), or the page sets it apart: fainter, smaller, behind a line.
And it came first: by the time the answer begins it no longer changes. Without all that, a first paragraph is a first
paragraph.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harvest.pages.reading.bubble import Leaf, in_prose, is_brief, leaves_of
from harvest.pages.reading.elements import is_control, kind
from harvest.pages.reading.looks import Look, look_of
from harvest.pages.reading.page import Node
from harvest.pages.reading.phrases import is_thought_title

_TITLED = 2  # blocks at most that stand before a title: a name, a time
_DEEPEST = 12  # elements around a heading of thoughts
_PAUSE = 100.0  # milliseconds between the last change of the one and the first of the other
_LONG_PAUSE = 300.0  # milliseconds, where one sign alone tells thoughts from a card
_SENTENCE = 20  # characters
_NO_TITLE = frozenset({"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "td"})
_ANSWERS = frozenset({*_NO_TITLE, "dl", "figure", "ol", "table", "ul"})
_PLAIN = frozenset({"b", "em", "i", "p", "span", "strong"})


@dataclass(frozen=True, slots=True)
class Reasoning:
    """title: the line over it; None for none. nodes: what holds it, in the order of the page."""

    title: Node | None
    nodes: tuple[Node, ...]


def find_reasoning(bubbles: Sequence[Node], dropped: Collection[Node]) -> Reasoning | None:
    """The reasoning before the answer in these bubbles; None where none is sure. dropped: what is no answer anyway."""
    blocks = list(bubbles)
    for _ in range(_DEEPEST):
        said = [(block, leaves) for block in blocks if (leaves := _words(block, dropped))]
        if not said:
            return None
        if len(said) > 1 and (found := _titled_reasoning(said) or _set_apart(said)) is not None:
            return found
        inner = said[-1][0]
        if inner.tag in _ANSWERS or any(isinstance(child, str) and child.strip() for child in inner.children):
            return None
        blocks = inner.elements
    return None


def _words(block: Node, dropped: Collection[Node]) -> list[Leaf]:
    said = leaves_of(block, dropped)
    # The line over it may be a button that folds it away.
    return said if said or not is_thought_title(block.text) else leaves_of(block, (), controls=True)


def _titled_reasoning(said: Sequence[tuple[Node, list[Leaf]]]) -> Reasoning | None:
    for place, (block, leaves) in enumerate(said[: _TITLED + 1]):
        if block.tag in _NO_TITLE:
            return None
        later = said[place + 1 :]
        if is_thought_title(block.text):
            return _under(block, later)
        if later and _is_headed(block, leaves):
            # The line and what is under it stand in one frame, and the answer behind it.
            return Reasoning(None, (block,)) if _came_before([(block, leaves)], later) else None
        if not is_brief(block.text):
            return None
    return None


def _is_headed(block: Node, leaves: Sequence[Leaf]) -> bool:
    if any(is_control(one) and is_thought_title(one.text) for one in block.walk()):
        return True
    return is_thought_title(leaves[0].text) and len(leaves) > 1 and not in_prose(leaves[0].parent, block)


def _under(title: Node, later: Sequence[tuple[Node, list[Leaf]]]) -> Reasoning | None:
    """What stands under a title, up to where the page begins to look or to be made otherwise."""
    if not later:
        return None
    looks = [_look(leaves) for _, leaves in later]
    apart = look_of(title.parent) if title.parent is not None else looks[-1]
    until = next((at for at, look in enumerate(looks) if look != looks[0] or _differ(later[0][0], later[at][0])), 0)
    if until:
        if _came_before(later[:until], later[until:]):
            return Reasoning(title, tuple(block for block, _ in later[:until]))
        return None
    # Nothing but reasoning so far: it has a look of its own, or a line at its side.
    if later[0][0].get("h-edge") or looks[0].is_fainter_than(apart) or looks[0].is_smaller_than(apart):
        return Reasoning(title, tuple(block for block, _ in later))
    # Both look alike: what stopped before the other began.
    at = next((at for at in range(1, len(later)) if _has_pause(later[:at], later[at:], _PAUSE)), 0)
    return Reasoning(title, tuple(block for block, _ in later[:at])) if at else None


def _differ(one: Node, other: Node) -> bool:
    """Whether two blocks are made otherwise, beyond how text is: another class, or a line at one side."""
    if bool(one.get("h-edge")) != bool(other.get("h-edge")):
        return True
    return (
        bool(one.classes or other.classes)
        and kind(one) != kind(other)
        and not (one.tag in _ANSWERS or other.tag in _ANSWERS)
    )


def _set_apart(said: Sequence[tuple[Node, list[Leaf]]]) -> Reasoning | None:
    """What came first, with no line over it, and is drawn otherwise than all that follows."""
    looks = [_look(leaves) for _, leaves in said]
    until = next((at for at, look in enumerate(looks) if look != looks[0] or _differ(said[0][0], said[at][0])), 0)
    if not until or any(block.tag in _ANSWERS for block, _ in said[:until]):
        return None
    first, rest = said[:until], said[until:]
    apart, answer = looks[0], looks[until]
    signs = (
        apart.is_fainter_than(answer),
        apart.is_smaller_than(answer),
        all(block.get("h-edge") for block, _ in first) and not any(block.get("h-edge") for block, _ in rest),
        all(_is_slanted(leaf, block) for block, leaves in first for leaf in leaves),
    )
    if sum(len(leaf.text) for _, leaves in first for leaf in leaves) < _SENTENCE or not any(signs):
        return None
    own = first[0][0].tag not in _PLAIN
    if sum(signs) > 1 or (signs[0] and own):
        sure = _has_pause(first, rest, _PAUSE)
    else:
        # A card stands there at once; what is thought grows, and then waits for the answer.
        sure = own and _grew(first) and _has_pause(first, rest, _LONG_PAUSE)
    return Reasoning(None, tuple(block for block, _ in first)) if sure else None


def _is_slanted(leaf: Leaf, block: Node) -> bool:
    around = (one for one in leaf.parent.self_and_ancestors() if one.within(block))
    return any(one.tag in ("em", "i") or "h-slant" in one.attributes for one in around)


def _look(leaves: Sequence[Leaf]) -> Look:
    """That of the longest text: a word in it may be a link, or bold."""
    return look_of(max(leaves, key=lambda leaf: len(leaf.text)).parent)


def _came_before(first: Sequence[tuple[Node, list[Leaf]]], rest: Sequence[tuple[Node, list[Leaf]]]) -> bool:
    """Whether nothing of the one changed after the last change of the other; true where nothing is dated."""
    ends, begins = _changes(first), _changes(rest)
    return not ends or not begins or max(ends) <= max(begins)


def _has_pause(first: Sequence[tuple[Node, list[Leaf]]], rest: Sequence[tuple[Node, list[Leaf]]], least: float) -> bool:
    ends, begins = _changes(first), _changes(rest)
    return bool(ends) and bool(begins) and max(ends) + least <= min(begins)


def _grew(blocks: Sequence[tuple[Node, list[Leaf]]]) -> bool:
    """Whether it was written bit by bit."""
    times = [*_changes(blocks), *(block.born for block, _ in blocks if block.born is not None)]
    return bool(times) and max(times) - min(times) >= _LONG_PAUSE


def _changes(blocks: Sequence[tuple[Node, list[Leaf]]]) -> list[float]:
    """Milliseconds after the send at which each text last changed, as far as the page dates it."""
    found: list[float] = []
    for _, leaves in blocks:
        for leaf in leaves:
            said = leaf.parent.get("h-said")
            time = (
                float(said)
                if said
                else next((one.born for one in leaf.parent.self_and_ancestors() if one.born is not None), None)
            )
            found += [time] if time is not None else []
    return found
