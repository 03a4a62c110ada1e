"""Conversations as weighted paths. Every stochastic score is an average over paths.

With repeated trials, each trial is a path of weight 1/n. If the probabilities are known (a parrot, a simulated user
over recorded answers) the tree is expanded instead: a path π ends at a node v, and P(π) = ρ(v)·q(v), where ρ(v) is the
product of the edge probabilities from the root and q(v) = 1 - sum of p(w|v) is the probability of stopping at v.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.trees.preorder import depths, levels
from topics.arrays import Floats

Indices = npt.NDArray[np.intp]


def check_parents(parent: npt.ArrayLike) -> Indices:
    """Return `parent` as indices. Raises ValueError unless node 0 is the only root and parents precede children."""
    nodes = np.asarray(parent)
    if nodes.ndim != 1 or not nodes.size or not np.issubdtype(nodes.dtype, np.integer):
        raise ValueError("parent must be a one-dimensional array of integers with at least the root")
    found = nodes.astype(np.intp)
    if found[0] != -1 or np.any(found[1:] < 0) or np.any(found >= np.arange(len(found))):
        raise ValueError("node 0 must be the only root (-1), and every parent must precede its children")
    return found


def accumulate_along(parent: npt.ArrayLike, values: npt.ArrayLike, *, product: bool = False) -> Floats:
    """Return the (N,) sum, or product, of `values` over the path from the root to each node, both included.

    `values` are (N,), such as the words of each turn. The product of edge probabilities is the probability of reaching
    a node if the root has the value 1.
    """
    nodes, given = check_parents(parent), np.asarray(values, dtype=np.float64)
    if given.shape != nodes.shape:
        raise ValueError(f"values must be ({len(nodes)},), one for each node, not {given.shape}")
    return _double_stretches(nodes, given.copy(), np.multiply if product else np.add)


def sum_below(parent: npt.ArrayLike, values: npt.ArrayLike) -> Floats:
    """Return the sum of (N, ...) values over each node and all nodes below it."""
    nodes, total = check_parents(parent), np.array(values, dtype=np.float64)
    if total.shape[:1] != nodes.shape:
        raise ValueError(f"values must have a row for each of {len(nodes)} nodes, not the shape {total.shape}")
    for level in reversed(list(levels(depths(nodes.astype(np.int32))))):  # the deepest first
        np.add.at(total, nodes[level], total[level])
    return total


def _double_stretches(nodes: Indices, values: Floats, combine: np.ufunc) -> Floats:
    """Combine values along paths, doubling the length of stretches in each round: N nodes in a chain take log N rounds.

    The root joins at the end only, since it would otherwise be counted once in each round.
    """
    ahead = nodes.copy()
    while True:
        going = np.flatnonzero(ahead > 0)
        if not going.size:
            break
        # Both sides are read before either is written, so that no stretch includes a stretch of the same round.
        values[going], ahead[going] = combine(values[going], values[ahead[going]]), ahead[ahead[going]]
    values[1:] = combine(values[1:], values[0])
    return values


_ROUNDING = 1e-9  # tolerance for the sum of the probabilities at a node


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPaths:
    """Paths as the (n,) nodes at which they end, and (n,) probabilities, which sum to 1 if n >= 1."""

    ends: npt.NDArray[np.intp]
    weights: Floats


def equal_paths(ends: npt.ArrayLike) -> WeightedPaths:
    """Give each recorded trial the weight 1/n. `ends` are (n,) nodes, such as `ConversationTree.ends`."""
    nodes = np.asarray(ends).astype(np.intp)
    return WeightedPaths(nodes, np.full(len(nodes), 1.0 / len(nodes) if len(nodes) else np.nan))


def enumerate_paths(parent: npt.ArrayLike, probability: npt.ArrayLike) -> WeightedPaths:
    """Return every path of positive probability in a tree of known probabilities, by its end node.

    `parent` is (N,). `probability` (N,) is the probability of each node given its parent, 1 for the root. Raises
    ValueError, naming the node, for values that are not probabilities or that sum to more than 1.
    """
    stops = stop_probabilities(parent, probability)
    chances = reach_probabilities(parent, probability) * stops
    ends = np.flatnonzero(chances > 0)
    return WeightedPaths(ends, chances[ends])


def reach_probabilities(parent: npt.ArrayLike, probability: npt.ArrayLike) -> Floats:
    """Return ρ(v), the probability that a conversation passes through each node, (N,)."""
    return accumulate_along(parent, _probabilities(probability), product=True)


def stop_probabilities(parent: npt.ArrayLike, probability: npt.ArrayLike) -> Floats:
    """Return (N,) q(v) = 1 - sum of p(w|v) over the children w. A remainder below 1e-9 is rounding and becomes 0."""
    nodes, chances = check_parents(parent), _probabilities(probability)
    if chances.shape != nodes.shape:
        raise ValueError(f"{len(nodes)} nodes need as many probabilities, not {chances.size}")
    if chances[0] != 1:
        raise ValueError(f"the root is always reached: its probability is 1, not {chances[0]:g}")
    rest = 1.0 - np.bincount(nodes[1:], weights=chances[1:], minlength=len(nodes))
    if np.any(rest < -_ROUNDING):
        node = int(np.argmin(rest))
        raise ValueError(f"node {node}: probabilities of children must sum to at most 1, not {1 - rest[node]:.10g}")
    stops: Floats = np.where(rest < _ROUNDING, 0.0, rest)
    return stops


def weights_of(weights: npt.ArrayLike | None, n: int) -> Floats:
    """Return (n,) weights that sum to 1. None means equal weights. Raises ValueError for invalid weights."""
    if weights is None:
        return np.full(n, 1.0 / n) if n else np.empty(0)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,) or not np.all(np.isfinite(given)) or np.any(given < 0) or (n and given.sum() <= 0):
        raise ValueError(f"weights must be {n} finite numbers of at least 0 that are not all 0")
    return given / given.sum() if n else given


def _probabilities(values: npt.ArrayLike) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    wrong = np.flatnonzero(~((found >= 0) & (found <= 1)))
    if wrong.size:
        raise ValueError(f"node {int(wrong[0])}: {found.flat[wrong[0]]:g} is not a probability in [0, 1]")
    return found
