"""The shape of a tree given by its parents, and its canonical order. No function loops over nodes.

`parent` is always (N,), with -1 for the root at index 0, and the parent of every other node comes before the node.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]
_Integer = TypeVar("_Integer", np.int32, np.int64)


def depths(parent: Nodes) -> Nodes:
    """Return the number of turns from the root to each node, shape (N,). Pointer doubling needs log2(depth) passes."""
    depth = np.ones(len(parent), dtype=np.int32)
    depth[0] = 0
    above = np.maximum(parent, 0)
    while above.any():
        depth += depth[above]
        above = above[above]
    return depth


def levels(depth: Nodes) -> Iterator[Index]:
    """Return the nodes of depth 1, 2, …, each level in ascending order."""
    order = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[order], np.arange(1, int(depth.max()) + 2))
    for start, stop in pairwise(edges):
        yield order[start:stop]


def subtree_sizes(parent: Nodes, depth: Nodes) -> Nodes:
    """Return the number of nodes in each node's subtree, including the node, shape (N,)."""
    return subtotals(parent, depth, np.ones(len(parent), dtype=np.int32))


def subtotals(parent: Nodes, depth: Nodes, values: npt.NDArray[_Integer]) -> npt.NDArray[_Integer]:
    """Return the sum of `values` over each node's subtree, including the node, shape (N,)."""
    found = values.copy()
    deepest = int(depth.max())
    if deepest * 16 > len(parent):
        # Small or long and thin: one addition a node costs less than one call a level.
        sums, above = found.tolist(), parent.tolist()
        for node in range(len(sums) - 1, 0, -1):
            sums[above[node]] += sums[node]
        return np.array(sums, dtype=values.dtype)
    for level in reversed(list(levels(depth))):
        np.add.at(found, parent[level], found[level])
    return found


def group_branches(parent: Nodes) -> tuple[Nodes, Index]:
    """Group the branches by node: node v has `branches[starts[v]:starts[v + 1]]`, in ascending order."""
    branches = np.argsort(parent[1:], kind="stable").astype(np.int32) + np.int32(1)
    starts = np.searchsorted(parent[1:][branches - 1], np.arange(len(parent) + 1))
    return branches, starts


def canonical_positions(parent: Nodes, symbol: Nodes, visits: npt.NDArray[np.int64], depth: Nodes) -> Nodes:
    """Return the (N,) positions of nodes in pre-order, with branches sorted by descending visits, then symbol."""
    size = subtotals(parent, depth, np.ones(len(parent), dtype=np.int32))
    # The nodes below the root by parent, visits descending, symbol.
    parents, symbols, fewer = parent[1:], symbol[1:], visits[0] - visits[1:]
    symbol_bits, visit_bits = int(symbol.max()).bit_length(), int(visits[0]).bit_length()
    if len(parent).bit_length() + symbol_bits + visit_bits > 63:
        order = np.lexsort((symbols, fewer, parents)) + 1
    else:  # one number that sorts like the three: a third of the time
        ranks = (((parents.astype(np.int64) << visit_bits) | fewer) << symbol_bits) | symbols
        order = np.argsort(ranks, kind="stable") + 1
    above = parent[order]
    before = np.cumsum(size[order], dtype=np.int64) - size[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = above[1:] != above[:-1]
    base = np.maximum.accumulate(np.where(first, before, 0))
    place = np.zeros(len(parent), dtype=np.int32)
    place[order] = 1 + before - base  # the step down from its parent
    for level in levels(depth):
        place[level] += place[parent[level]]
    return place


def is_out_of_order(parent: Nodes, symbol: Nodes, visits: npt.NDArray[np.int64], depth: Nodes) -> bool:
    """Return True if the nodes are not in the order of `canonical_positions`."""
    if np.any(depth[1:] > depth[:-1] + 1):
        return True
    above: Index = np.zeros(1, dtype=np.int64)
    for level in levels(depth):
        # No step down skips a level, so a parent is the last earlier node of the level above.
        if not np.array_equal(above[np.searchsorted(above, level) - 1], parent[level]):
            return True
        siblings = parent[level[1:]] == parent[level[:-1]]
        one, two = level[:-1][siblings], level[1:][siblings]
        more, same = visits[one] > visits[two], visits[one] == visits[two]
        if not np.all(more | (same & (symbol[one] < symbol[two]))):
            return True
        above = level
    return False
