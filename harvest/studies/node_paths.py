"""A way through a conversation tree as people write it: `U ask → S o → U more → S o`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harvest.studies.parted_systems import END, turn_name
from recordings.trees.tree import ConversationTree
from topics.counting import pluralize
from topics.errors import InputError

__all__ = ["ARROW", "find_way", "way_name"]

ARROW = " → "

_ARROW = re.compile(r"→|->")
_MOST = 6  # ways that a message lists


def find_way(tree: ConversationTree, text: str) -> tuple[int, int]:
    """The node that all turns of `text` but the last lead to, and the branch that the last one names: the node itself
    for `end` or `■ …`, stopping there.

    text: turns by speaker and name, as `harvest compare` prints them, with → or -> between them.

    Raises InputError where no conversation went that way, with the nearest ways and how often each was taken; and where
    all that came went that way.
    """
    turns = [" ".join(turn.split()) for turn in _ARROW.split(text)]
    if not all(turns):
        raise InputError(
            f"--node: {text!r} has a turn without a name" if text.strip() else "--node is empty",
            advice='write turns with arrows between them, as harvest compare prints them: "U ask → S o"',
        )
    node = 0
    for turn in turns[:-1]:
        node = _way(tree, node, turn, [*tree.children(node)])
    turn = turns[-1]
    branch = _way(tree, node, turn, _ways(tree, node))
    if len(_ways(tree, node)) < 2:
        raise InputError(
            f"--node: all {pluralize(int(tree.visits[node]), 'conversation')} that came to {_after(tree, node)} went "
            f"on to {turn}, so nothing is known of other ways",
            allowed=_branching(tree),
        )
    return node, branch


def _way(tree: ConversationTree, node: int, turn: str, ways: Sequence[int]) -> int:
    name = END if turn == "end" or turn.startswith(END[0]) else turn
    found = [way for way in ways if way_name(tree, node, way) == name]
    if not found:
        raise _unknown(tree, node, turn)
    return found[0]


def way_name(tree: ConversationTree, node: int, way: int) -> str:
    """What a way on from a node is called: the turn, or `■ end`."""
    return END if way == node else turn_name(tree, way)


def _ways(tree: ConversationTree, node: int) -> list[int]:
    """The branches of a node, and the node itself where conversations stop there."""
    return [*tree.children(node), *([node] if tree.stops[node] else [])]


def _taken(tree: ConversationTree, node: int, way: int) -> int:
    return int(tree.stops[node] if way == node else tree.visits[way])


def _unknown(tree: ConversationTree, node: int, turn: str) -> InputError:
    ways = sorted(_ways(tree, node), key=lambda way: -_taken(tree, node, way))
    listed = [f"{way_name(tree, node, way)} ({_taken(tree, node, way)})" for way in ways[:_MOST]]
    more = [pluralize(len(ways) - _MOST, "other way")] if len(ways) > _MOST else []
    came = pluralize(int(tree.visits[node]), "conversation")
    return InputError(
        f"--node: of {came} that came to {_after(tree, node)}, none went on to {turn!r}",
        allowed=", ".join([*listed, *more]),
        advice="harvest compare and harvest tree show the ways that conversations went",
    )


def _after(tree: ConversationTree, node: int) -> str:
    return ARROW.join(turn_name(tree, turn) for turn in tree.path(node)) or "the start"


def _branching(tree: ConversationTree) -> str:
    """The nodes with several ways on, the most visited first."""
    several = [node for node in range(len(tree)) if len(_ways(tree, node)) > 1]
    several.sort(key=lambda node: (-int(tree.visits[node]), node))
    shown = [f"the ways on from {_after(tree, node)} ({tree.visits[node]} came)" for node in several[:_MOST]]
    return "; ".join(shown) or "no turn of this run has several ways on"
