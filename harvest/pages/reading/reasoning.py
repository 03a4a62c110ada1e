"""A model's reasoning before the answer, if the page leaves the reasoning in view above the answer. The reasoning has
a title (`Thought for 3 seconds`) or a different look: fainter, smaller, or with a line at its side. It also came
first and no longer changes once the answer begins. Without these signs the first paragraph is part of the answer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from harvest.pages.reading.bubble import Leaf, Look, is_brief, is_in_prose, read_look, visible_leaves
from harvest.pages.reading.elements import is_control, kind
from harvest.pages.reading.page import Node
from harvest.pages.reading.phrases import is_thought_title

_MOST_BLOCKS_ABOVE = 2  # most blocks before a title: a name, a time
_DEEPEST = 12  # most levels around a title
_PAUSE_MILLISECONDS = 100.0  # milliseconds between the last change of one and the first of the other
_LONG_PAUSE_MILLISECONDS = 300.0  # milliseconds, if only one sign distinguishes reasoning from a card
_SENTENCE_LENGTH = 20  # characters
_UNTITLED_TAGS = frozenset({"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "td"})
_ANSWER_TAGS = frozenset({*_UNTITLED_TAGS, "dl", "figure", "ol", "table", "ul"})
_PLAIN_TAGS = frozenset({"b", "em", "i", "p", "span", "strong"})


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The reasoning. `title` is the line above it, or None. `nodes` are its elements, in page order."""

    title: Node | None
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class _Block:
    node: Node
    leaves: list[Leaf]

    @cached_property
    def look(self) -> Look:
        """The look of the longest text, because shorter texts may be links or bold words."""
        return read_look(max(self.leaves, key=lambda leaf: len(leaf.text)).parent)

    @cached_property
    def changes(self) -> list[float]:
        """Milliseconds after the send at which each text last changed, for texts with a date on the page."""
        found: list[float | None] = []
        for leaf in self.leaves:
            said = leaf.parent.get("h-said")
            births = (one.birth_time for one in leaf.parent.self_and_ancestors() if one.birth_time is not None)
            found.append(float(said) if said else next(births, None))
        return [time for time in found if time is not None]

    @property
    def has_title(self) -> bool:
        """True if the block's first line, or a button in it, is the title of thoughts."""
        if any(is_control(one) and is_thought_title(one.text) for one in self.node.walk()):
            return True
        first = self.leaves[0]
        return is_thought_title(first.text) and len(self.leaves) > 1 and not is_in_prose(first.parent, self.node)

    @property
    def is_slanted(self) -> bool:
        return all(
            any(
                one.tag in ("em", "i") or "h-slant" in one.attributes
                for one in leaf.parent.self_and_ancestors()
                if one.is_within(self.node)
            )
            for leaf in self.leaves
        )

    def differs_from(self, other: "_Block") -> bool:
        mine, theirs = self.node, other.node
        if self.look != other.look or bool(mine.get("h-edge")) != bool(theirs.get("h-edge")):
            return True
        return (
            bool(mine.classes or theirs.classes)
            and kind(mine) != kind(theirs)
            and not (mine.tag in _ANSWER_TAGS or theirs.tag in _ANSWER_TAGS)
        )


def find_reasoning(bubbles: Sequence[Node], dropped: Collection[Node]) -> Reasoning | None:
    """Find the reasoning before the answer in these bubbles, or return None if in doubt. `dropped` are elements that
    were already left out."""
    nodes = list(bubbles)
    for _ in range(_DEEPEST):
        blocks = []
        for node in nodes:
            leaves = visible_leaves(node, dropped)
            if not leaves and is_thought_title(node.text):
                leaves = visible_leaves(node, (), controls=True)  # the title may be a button that folds it away
            if leaves:
                blocks.append(_Block(node, leaves))
        if not blocks:
            return None
        if len(blocks) > 1 and (found := _titled_reasoning(blocks) or _set_apart(blocks)) is not None:
            return found
        inner = blocks[-1].node
        if inner.tag in _ANSWER_TAGS or inner.has_text:
            return None
        nodes = inner.elements
    return None


def _titled_reasoning(blocks: Sequence[_Block]) -> Reasoning | None:
    for place, block in enumerate(blocks[: _MOST_BLOCKS_ABOVE + 1]):
        if block.node.tag in _UNTITLED_TAGS:
            return None
        later = blocks[place + 1 :]
        if is_thought_title(block.node.text):
            return _reasoning_under(block.node, later)
        if later and block.has_title:
            # The title and what is under it are in one frame, and the answer comes after it.
            return Reasoning(None, (block.node,)) if _came_before([block], later) else None
        if not is_brief(block.node.text):
            return None
    return None


def _reasoning_under(title: Node, later: Sequence[_Block]) -> Reasoning | None:
    if not later:
        return None
    apart = read_look(title.parent) if title.parent is not None else later[-1].look
    until = next((at for at, block in enumerate(later) if block.differs_from(later[0])), 0)
    if not until and not (
        later[0].node.get("h-edge") or later[0].look.is_fainter_than(apart) or later[0].look.is_smaller_than(apart)
    ):
        # Both look alike: the reasoning is what stopped before the rest began.
        until = next((at for at in range(1, len(later)) if _has_pause(later[:at], later[at:], _PAUSE_MILLISECONDS)), 0)
        return Reasoning(title, tuple(block.node for block in later[:until])) if until else None
    # Without an end it is all reasoning so far: it has a look of its own, or a line at its side.
    sure = not until or _came_before(later[:until], later[until:])
    return Reasoning(title, tuple(block.node for block in later[: until or None])) if sure else None


def _set_apart(blocks: Sequence[_Block]) -> Reasoning | None:
    """Find a first part without a title that looks different from the rest."""
    until = next((at for at, block in enumerate(blocks) if block.differs_from(blocks[0])), 0)
    first, rest = blocks[:until], blocks[until:]
    if not until or any(block.node.tag in _ANSWER_TAGS for block in first):
        return None
    if blocks[until].look.is_smaller_than(blocks[0].look):
        return None  # what is set apart is the rest: reactions, a state
    signs = (
        blocks[0].look.is_fainter_than(blocks[until].look),
        blocks[0].look.is_smaller_than(blocks[until].look),
        all(block.node.get("h-edge") for block in first) and not any(block.node.get("h-edge") for block in rest),
        all(block.is_slanted for block in first),
    )
    if sum(len(leaf.text) for block in first for leaf in block.leaves) < _SENTENCE_LENGTH or not any(signs):
        return None
    own = first[0].node.tag not in _PLAIN_TAGS
    if sum(signs) > 1 or (signs[0] and own):
        sure = _has_pause(first, rest, _PAUSE_MILLISECONDS)
    else:
        # A card is there at once; reasoning is written bit by bit, and then there is a pause before the answer.
        times = [
            *_change_times(first),
            *(block.node.birth_time for block in first if block.node.birth_time is not None),
        ]
        grew = bool(times) and max(times) - min(times) >= _LONG_PAUSE_MILLISECONDS
        sure = own and grew and _has_pause(first, rest, _LONG_PAUSE_MILLISECONDS)
    return Reasoning(None, tuple(block.node for block in first)) if sure else None


def _change_times(blocks: Sequence[_Block]) -> list[float]:
    return [time for block in blocks for time in block.changes]


def _came_before(first: Sequence[_Block], rest: Sequence[_Block]) -> bool:
    """Return True unless `first` changed after the last change in `rest`. Without dates, the result is True."""
    ends, begins = _change_times(first), _change_times(rest)
    return not ends or not begins or max(ends) <= max(begins)


def _has_pause(first: Sequence[_Block], rest: Sequence[_Block], least: float) -> bool:
    ends, begins = _change_times(first), _change_times(rest)
    return bool(ends) and bool(begins) and max(ends) + least <= min(begins)
