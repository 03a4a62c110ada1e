"""Training of a breakdown detector on annotated dialogues. Training is deterministic.

The linear part is fitted to the distributions of labels. The trees are fitted to the difference between a turn and
the mean of its system, because the differences between two systems say little about a third system. Then both parts
are combined. Weights are rounded, because their last digits depend on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from protocols.breakdown.detector import Detector
from protocols.breakdown.features import Utterance, feature_values, word_grams
from protocols.breakdown.trees import Trees, fit_trees
from topics.arrays import Floats
from topics.counting import pluralize
from topics.errors import InputError
from topics.identity import generator

_TREES = 300  # rounds of boosting
_TREES_SHARE = 0.45  # weight of the trees; the linear part has the rest
_RIDGE = 3.0  # penalty of the linear part
_FEATURE_SCALE = 0.1  # against n-grams, which are 0 or 1
_LEAST_DIALOGUES = 3  # an n-gram in fewer dialogues is a name or a slip
_DIGITS = 5  # keeps the shipped file small


@dataclass(frozen=True, slots=True)
class AnnotatedDialogue:
    """An annotated dialogue with the `turns` of both sides. `gold` maps the index of a turn to the shares of
    annotators who chose O, T and X."""

    name: str
    system: str
    turns: tuple[Utterance, ...]
    gold: Mapping[int, tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class Examples:
    """Annotated turns as n rows: features (n, features), n sets of words, gold shares (n, 3), and the n names of
    dialogues and systems."""

    rows: Floats
    words: tuple[frozenset[str], ...]
    gold: Floats
    dialogues: tuple[str, ...]
    systems: tuple[str, ...]

    def select(self, mask: npt.NDArray[np.bool_]) -> Examples:
        some = np.flatnonzero(mask)
        words, names = tuple(self.words[k] for k in some), tuple(self.dialogues[k] for k in some)
        return Examples(self.rows[mask], words, self.gold[mask], names, tuple(self.systems[k] for k in some))


def collect_examples(dialogues: Sequence[AnnotatedDialogue]) -> Examples:
    """Return the annotated turns of all dialogues, sorted by name so that the order of files does not matter."""
    ordered = sorted(dialogues, key=lambda dialogue: dialogue.name)
    places = [(dialogue, at) for dialogue in ordered for at in sorted(dialogue.gold)]
    return Examples(
        np.array([feature_values(dialogue.turns, at) for dialogue, at in places], dtype=np.float64),
        tuple(word_grams(dialogue.turns, at) for dialogue, at in places),
        np.array([dialogue.gold[at] for dialogue, at in places], dtype=np.float64),
        tuple(dialogue.name for dialogue, _ in places),
        tuple(dialogue.system for dialogue, _ in places),
    )


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
    prior = examples.gold.mean(axis=0)
    wanted = examples.gold - prior
    # (n, 3) the gold of each turn minus the mean of its system.
    found = examples.gold.copy()
    systems = np.array(examples.systems)
    for system in sorted(set(examples.systems)):
        found[systems == system] -= examples.gold[systems == system].mean(axis=0)
    trees = fit_trees(examples.rows, found, units, _TREES, generator(seed, "breakdown", "trees"))
    words = _choose_words(examples)
    means, spread = examples.rows.mean(axis=0), examples.rows.std(axis=0)
    scale = np.where(spread > 1e-9, _FEATURE_SCALE / np.where(spread > 1e-9, spread, 1.0), 0.0)
    said = _word_weights(examples, words)
    middle = said.mean(axis=0)
    weights = _fit_ridge(np.hstack([said - middle, (examples.rows - means) * scale]), wanted)
    weights = (1 - _TREES_SHARE) * weights
    of_words, of_features = weights[: len(words)], weights[len(words) :] * scale[:, None]
    return Detector(
        np.round(prior - middle @ of_words, _DIGITS),
        np.round(means, _DIGITS),
        np.round(of_features, _DIGITS),
        {gram: (float(o), float(t), float(x)) for gram, (o, t, x) in zip(words, np.round(of_words, 4), strict=True)},
        Trees(trees.features, trees.bounds, np.round(trees.leaves * _TREES_SHARE, _DIGITS)),
        {**(about or {}), "dialogues": len(names), "turns": len(units), "seed": seed},
        tuple(names),
    )


def _choose_words(examples: Examples) -> list[str]:
    """Return the words and pairs that occur in at least three dialogues, to avoid memorising single dialogues."""
    seen: dict[str, set[str]] = {}
    for found, name in zip(examples.words, examples.dialogues, strict=True):
        for gram in found:
            seen.setdefault(gram, set()).add(name)
    return sorted(gram for gram, names in seen.items() if len(names) >= _LEAST_DIALOGUES)


def _word_weights(examples: Examples, words: Sequence[str]) -> Floats:
    """Return an array (n, words) with 1/√k for each of the k known words of a turn, and 0 elsewhere."""
    column = {gram: number for number, gram in enumerate(words)}
    found = np.zeros((len(examples.words), len(words)))
    for row, grams_of_turn in zip(found, examples.words, strict=True):
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
