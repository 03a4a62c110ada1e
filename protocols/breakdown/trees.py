"""Boosted trees of depth three, which model interactions of counted features.

Each tree asks three questions about every turn (whether a feature exceeds a bound) and so sorts turns into eight
leaves. A leaf adds a value to the probabilities of O, T and X. The trees are fitted one after another to the
residuals of the earlier trees, each on a subset of the dialogues and of the features.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats

Indices = npt.NDArray[np.int64]

DEPTH = 3  # interactions of three features at most
_BINS = 24  # bounds tried for each feature
_PART_OF_ROWS = 0.6  # seen by each tree, so that trees differ
_PART_OF_FEATURES = 0.4  # tried at each split, for the same reason
_SHRINK = 30.0  # rows of value 0 added to each leaf, because small leaves are unreliable
_RATE = 0.1  # learning rate


@dataclass(frozen=True, eq=False)
class Trees:
    """A sequence of fitted trees.

    `features` (trees, 3) has the feature index of each question, `bounds` (trees, 3) the bound of each question, and
    `leaves` (trees, 8, 3) the values added to O, T and X. The leaf of a row is a three-digit binary number. The first
    question gives the highest digit, and a digit is 1 if the value exceeds the bound.
    """

    features: Indices
    bounds: Floats
    leaves: Floats

    def leaf_of(self, rows: Floats) -> Indices:
        """Return the index of the leaf in each tree as an array (n, trees) for `rows` (n, features)."""
        above = rows[:, self.features] > self.bounds  # (n, trees, 3)
        found: Indices = above @ (2 ** np.arange(DEPTH - 1, -1, -1))
        return found

    def predict(self, rows: Floats) -> Floats:
        """Return the sum of all trees as an array (n, 3) for `rows` (n, features)."""
        leaf = self.leaf_of(rows)
        found = np.zeros((len(rows), 3))
        for tree, values in enumerate(self.leaves):
            found += values[leaf[:, tree]]
        return found


def fit_trees(rows: Floats, targets: Floats, units: Indices, trees: int, rng: np.random.Generator) -> Trees:
    """Fit trees whose sum approximates `targets` by least squares. `rows` has the shape (n, features). `targets` (n, 3)
    has rows that sum to 0. `units` (n,) has the dialogue index of each row, because each tree is fitted to whole
    dialogues. `rng` draws the dialogues and features of each tree."""
    cuts = [_choose_bounds(column) for column in rows.T]
    binned = np.stack([np.searchsorted(cut, column) for cut, column in zip(cuts, rows.T, strict=True)], axis=1)
    possible = np.array([feature for feature, cut in enumerate(cuts) if len(cut)], dtype=np.int64)
    left = targets.copy()
    count = int(units.max()) + 1
    asked, bounds, leaves = [], [], []
    for _ in range(trees if len(possible) else 0):
        seen = rng.permutation(count)[: max(1, round(_PART_OF_ROWS * count))]
        inside = np.isin(units, seen)
        some = np.sort(rng.permutation(possible)[: max(1, round(_PART_OF_FEATURES * len(possible)))])
        node = np.zeros(len(rows), dtype=np.int64)
        questions, at = [], []
        for depth in range(DEPTH):
            feature, place = _best_question(binned[inside][:, some], left[inside], node[inside], 2**depth)
            questions.append(int(some[feature]))
            at.append(float(cuts[some[feature]][min(place, len(cuts[some[feature]]) - 1)]))
            node = 2 * node + (rows[:, questions[-1]] > at[-1])
        sums = np.stack([np.bincount(node[inside], left[inside, k], 2**DEPTH) for k in range(3)], axis=1)
        values = _RATE * sums / (np.bincount(node[inside], minlength=2**DEPTH)[:, None] + _SHRINK)
        left -= values[node]
        asked.append(questions)
        bounds.append(at)
        leaves.append(values)
    return Trees(
        np.array(asked, dtype=np.int64).reshape(-1, DEPTH),
        np.array(bounds, dtype=np.float64).reshape(-1, DEPTH),
        np.array(leaves, dtype=np.float64).reshape(-1, 2**DEPTH, 3),
    )


def _choose_bounds(column: Floats) -> Floats:
    values = np.unique(column)
    if len(values) > _BINS:
        values = np.unique(np.quantile(column, np.linspace(0, 1, _BINS)))
    found: Floats = np.unique(np.round((values[1:] + values[:-1]) / 2, 4))
    return found


def _best_question(binned: Indices, left: Floats, node: Indices, nodes: int) -> tuple[int, int]:
    features = binned.shape[1]
    cell = ((node[:, None] * features + np.arange(features)) * _BINS + binned).ravel()
    size = nodes * features * _BINS
    shape = (nodes, features, _BINS)
    n = np.bincount(cell, minlength=size).reshape(shape).cumsum(axis=2)
    whole = n[:, :, -1:]
    gain = np.zeros(shape)
    for k in range(3):
        below = np.bincount(cell, np.repeat(left[:, k], features), size).reshape(shape).cumsum(axis=2)
        gain += below**2 / (n + _SHRINK) + (below[:, :, -1:] - below) ** 2 / (whole - n + _SHRINK)
    feature, place = np.unravel_index(int(np.argmax(gain.sum(axis=0)[:, :-1])), (features, _BINS - 1))
    return int(feature), int(place)
