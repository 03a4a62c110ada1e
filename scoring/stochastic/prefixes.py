"""Sums and products along a tree that is stored as an array of parents.

    along       the sum (or product) over the path from the root to each node
    sum_below   the sum over each node and all nodes below it

parent: (N,) integers; node 0 is the root with parent -1, and every parent precedes its children, as in
`recordings.trees`. Nothing here recurses, so long conversations and trees of millions of nodes need no special care.
"""

import numpy as np
import numpy.typing as npt

from recordings.trees.preorder import depths, levels

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


def check_parents(parent: npt.ArrayLike) -> Indices:
    """`parent` as indices. Raises ValueError unless node 0 is the only root and parents precede children."""
    nodes = np.asarray(parent)
    if nodes.ndim != 1 or not nodes.size or not np.issubdtype(nodes.dtype, np.integer):
        raise ValueError("parent must be a row of whole numbers with at least the root in it")
    found = nodes.astype(np.intp)
    if found[0] != -1 or np.any(found[1:] < 0) or np.any(found >= np.arange(len(found))):
        raise ValueError("node 0 must be the one root (-1), and every parent must precede its children")
    return found


def along(parent: npt.ArrayLike, values: npt.ArrayLike, *, product: bool = False) -> Floats:
    """(N,) sum of `values` over the path from the root to each node, both included; or their product.

    values: (N,), for example words of each turn, or edge probabilities with 1 at the root (then: reach probabilities).
    """
    nodes, given = check_parents(parent), np.asarray(values, dtype=np.float64)
    if given.shape != nodes.shape:
        raise ValueError(f"there are {len(nodes)} nodes and values of shape {given.shape}")
    return _double_stretches(nodes, given.copy(), np.multiply if product else np.add)


def sum_below(parent: npt.ArrayLike, values: npt.ArrayLike) -> Floats:
    """(N, ...) sum of `values`, (N, ...), over each node and all nodes below it."""
    nodes, total = check_parents(parent), np.array(values, dtype=np.float64)
    if total.shape[:1] != nodes.shape:
        raise ValueError(f"there are {len(nodes)} nodes and values of shape {total.shape}")
    for level in reversed(list(levels(depths(nodes.astype(np.int32))))):  # the deepest first
        np.add.at(total, nodes[level], total[level])
    return total


def _double_stretches(nodes: Indices, values: Floats, combine: np.ufunc) -> Floats:
    """Each round doubles the stretch of path included, so a chain of N nodes takes log N rounds.

    The root is excluded from every stretch until the end; else it would be counted once a round.
    """
    ahead = nodes.copy()
    while True:
        going = np.flatnonzero(ahead > 0)
        if not going.size:
            break
        # Both sides are read before either is written: a stretch must not include one made in the same round.
        values[going], ahead[going] = combine(values[going], values[ahead[going]]), ahead[ahead[going]]
    values[1:] = combine(values[1:], values[0])
    return values
