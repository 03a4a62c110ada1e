"""Training of a breakdown detector on annotated dialogues. Training is deterministic.

The linear part and the trees are fitted to the difference between a turn and the mean of its system, because the
differences between two systems say little about a third system. The means themselves, the levels, are stored
separately. Weights are rounded, because their last digits depend on the machine.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from protocols.breakdown.detector import Detector
from protocols.breakdown.examples import Examples
from protocols.breakdown.familiarity import fit_familiarity, frequent_grams
from protocols.breakdown.features import FEATURES
from protocols.breakdown.moments import values_of
from protocols.breakdown.trees import Trees, fit_trees
from topics.arrays import Floats
from topics.counting import pluralize
from topics.errors import InputError
from topics.identity import generator

_TREES = 300  # rounds of boosting
_RIDGE = 6.0  # penalty of the linear part
_FEATURE_SCALE = 0.1  # against n-grams, which are 0 or 1
_DIGITS = 5  # keeps the shipped file small


def train(examples: Examples, *, seed: int = 0, about: Mapping[str, Any] | None = None) -> Detector:
    """Fit a detector to the examples. Raises InputError for fewer than ten dialogues. `about` is stored in the file."""
    names = sorted(set(examples.dialogues))
    if len(names) < 10:
        raise InputError(
            f"training needs more than {pluralize(len(names), 'annotated dialogue')} with text",
            allowed="at least 10",
            advice="give more files, with the texts of the turns",
        )
    place = {name: number for number, name in enumerate(names)}
    units = np.array([place[name] for name in examples.dialogues], dtype=np.int64)
    # (n, 3) the gold of each turn minus the mean of its system.
    wanted = examples.gold.copy()
    systems = np.array(examples.systems)
    for system in sorted(set(examples.systems)):
        wanted[systems == system] -= examples.gold[systems == system].mean(axis=0)
    values = values_of(examples.moments)
    trees = fit_trees(values, wanted, units, _TREES, generator(seed, "breakdown", "trees"))
    rows = values[:, : len(FEATURES)]
    words = frequent_grams(examples)
    means, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 1e-9, _FEATURE_SCALE / np.where(spread > 1e-9, spread, 1.0), 0.0)
    said = _word_weights([moment.grams[-1] for moment in examples.moments], words)
    middle = said.mean(axis=0)
    weights = _fit_ridge(np.hstack([said - middle, (rows - means) * scale]), wanted)
    of_words, of_features = weights[: len(words)], weights[len(words) :] * scale[:, None]
    return Detector(
        np.round(-middle @ of_words, _DIGITS),
        np.round(means, _DIGITS),
        np.round(of_features, _DIGITS),
        {gram: (float(o), float(t), float(x)) for gram, (o, t, x) in zip(words, np.round(of_words, 4), strict=True)},
        Trees(trees.features, trees.bounds, np.round(trees.leaves, _DIGITS)),
        fit_familiarity(examples, words, 4),
        {**(about or {}), "dialogues": len(names), "turns": len(units), "seed": seed},
        tuple(names),
    )


def _word_weights(grams: Sequence[frozenset[str]], words: Sequence[str]) -> Floats:
    """Return an array (n, words) with 1/√k for each of the k known words of a turn, and 0 elsewhere."""
    column = {gram: number for number, gram in enumerate(words)}
    found = np.zeros((len(grams), len(words)))
    for row, grams_of_turn in zip(found, grams, strict=True):
        known = [column[gram] for gram in grams_of_turn if gram in column]
        if known:
            row[known] = len(known) ** -0.5
    return found


def _fit_ridge(columns: Floats, wanted: Floats) -> Floats:
    """Return the coefficients (c, 3) of a ridge regression on `columns` (n, c), which must have mean 0."""
    n, c = columns.shape
    if c <= n:
        inner = columns.T @ columns + np.diag(np.full(c, _RIDGE))
        return np.asarray(np.linalg.solve(inner, columns.T @ wanted), dtype=np.float64)
    outer = columns @ columns.T + np.diag(np.full(n, _RIDGE))
    return np.asarray(columns.T @ np.linalg.solve(outer, wanted), dtype=np.float64)
