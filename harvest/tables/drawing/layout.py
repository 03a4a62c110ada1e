"""The layout of a tree in a picture: a column for each turn, and a row for each path of conversations.

Branches that are not drawn are never hidden: their parent shows the number of these branches and of their visits.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recordings.trees.tree import ConversationTree


@dataclass(frozen=True, slots=True)
class FoldedBranches:
    """The branches of a node that are not drawn. `drawn` is True if the node also has branches that are drawn."""

    branches: int
    visits: int
    drawn: bool


@dataclass(frozen=True, slots=True)
class ShownTree:
    """The drawn part of a tree: the branches of each node, sorted from the most visited, and its undrawn branches."""

    nodes: tuple[int, ...]
    branches: Mapping[int, tuple[int, ...]]
    folded: Mapping[int, FoldedBranches]


def select_branches(tree: ConversationTree, *, least: float = 0.0, most: int = 12, nodes: int = 400) -> ShownTree:
    """Select the part of a tree to draw: the root, then the most visited branches of selected nodes. `least` is the
    smallest share of the tree's trials that a branch must have, `most` the largest number of branches of a node, and
    `nodes` the largest number of nodes. All further branches are summarized at their parent."""
    kept: dict[int, list[int]] = {}
    drawn = 0
    # By visits, then in the order of the tree; a branch is never visited more often than its parent.
    waiting = [(-int(tree.visits[0]), 0)]
    while waiting and drawn < nodes:
        _, node = heapq.heappop(waiting)
        kept[node] = []
        drawn += 1
        if node:
            kept[int(tree.parent[node])].append(node)
        for branch in tree.children(node)[:most]:
            if tree.visits[branch] >= least * tree.n:
                heapq.heappush(waiting, (-int(tree.visits[branch]), branch))
    folded = {}
    for node, branches in kept.items():
        branches.sort()  # the order of the tree: most visited first
        more = int(tree.branches[node]) - len(branches)
        if more:
            beyond = int(tree.visits[node] - tree.stops[node]) - sum(int(tree.visits[one]) for one in branches)
            folded[node] = FoldedBranches(more, beyond, bool(branches))
    return ShownTree(tuple(sorted(kept)), {node: tuple(branches) for node, branches in kept.items()}, folded)


def row_positions(
    chosen: ShownTree, own: Callable[[int], float], further: Callable[[int], Sequence[float]]
) -> tuple[dict[int, float], dict[int, tuple[float, ...]], float]:
    """Return the middle of each node, the middles of the rows below its branches, and the total height. `own` returns
    the height of a node, and `further` the heights of the rows below its branches, such as the ends of conversations.
    A node is centred on its children, in one pass up and one down the drawn nodes."""
    heights: dict[int, float] = {}
    for node in reversed(chosen.nodes):
        below = sum(heights[one] for one in chosen.branches[node]) + sum(further(node))
        heights[node] = max(own(node), below)
    tops: dict[int, float] = {0: 0.0}
    middles: dict[int, float] = {}
    rows: dict[int, tuple[float, ...]] = {}
    for node in chosen.nodes:
        below = sum(heights[one] for one in chosen.branches[node]) + sum(further(node))
        top = tops[node] + (heights[node] - below) / 2
        for branch in chosen.branches[node]:
            tops[branch] = top
            top += heights[branch]
        found = []
        for height in further(node):
            found.append(top + height / 2)
            top += height
        rows[node] = tuple(found)
    for node in reversed(chosen.nodes):
        hung = [*(middles[one] for one in chosen.branches[node]), *rows[node]]
        middle = (hung[0] + hung[-1]) / 2 if hung else tops[node] + heights[node] / 2
        half = own(node) / 2
        middles[node] = min(max(middle, tops[node] + half), tops[node] + heights[node] - half)
    return middles, rows, heights[0]
