"""Training of the predictor of helpdesk annotations on annotated dialogues. It is deterministic: least squares with a
penalty on the weights (ridge regression), of the annotators' shares on counted features and on words.

Words are used only if the dialogues have texts. The words of a sum are the most informative single words: those whose
presence is associated with the largest differences of shares, in standard errors. Features and words are chosen and
weighted only in the training dialogues, so that `cross_validate` predicts each dialogue without having seen it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scoring.annotations.held_out import split_by_unit
from scoring.annotations.helpdesk_blocks import SIDES, Block, block_values, dialogue_values, words_said
from scoring.annotations.helpdesk_files import AnnotatedDialogue, Estimate, HelpdeskSubmission
from scoring.annotations.helpdesk_predictor import NAME, LinearShares, Predictor
from topics.arrays import Floats
from topics.counting import pluralize
from topics.errors import InputError
from topics.identity import generator

FOLDS = 10  # by convention
FEWEST = 10  # dialogues that a predictor is trained on

_RIDGE = 30.0  # penalty, in dialogues or blocks: features have a spread of 1
_MOST_WORDS = 100  # of one sum
_FEWEST_WITH_WORD = 10  # dialogues or blocks
_DIGITS = 5  # keeps the file small, and its bytes the same on all machines


def train(dialogues: Sequence[AnnotatedDialogue], *, about: Mapping[str, Any] | None = None) -> Predictor:
    """Train a predictor. The order of the dialogues does not matter. `about` is stored in the file.

    Raises InputError for fewer than ten dialogues, for a dialogue without lengths or texts, for a side without blocks,
    and if types, or the levels of a question, differ between dialogues.
    """
    gold = sorted(dialogues, key=lambda one: one.name)
    if len(gold) < FEWEST:
        raise InputError(
            f"training needs more than {pluralize(len(gold), 'annotated dialogue')}", allowed=f"at least {FEWEST}"
        )
    blocks = {one.name: _known_blocks(one) for one in gold}
    quality: dict[str, LinearShares] = {}
    for question in sorted({question for one in gold for question in one.quality}):
        answered = [one for one in gold if question in one.quality]
        scales = {one.levels[question] for one in answered}
        if len(scales) > 1:
            raise InputError(f"the dialogues have different levels of {question}", advice="train on one scale")
        quality[question] = _fit(
            scales.pop(),
            [dialogue_values(blocks[one.name]) for one in answered],
            [words_said(blocks[one.name]) for one in answered],
            [one.quality[question] for one in answered],
        )
    if len({tuple(one.types.items()) for one in gold}) > 1:
        raise InputError("the dialogues have different nugget types", advice="train on one set of types")
    nuggets: dict[str, LinearShares] = {}
    for side in SIDES:
        places = [(one, at) for one in gold for at, its in enumerate(one.sides) if its == side]
        if not places:
            raise InputError(f"the {side} says nothing in these dialogues", advice="add dialogues of two sides")
        nuggets[side] = _fit(
            gold[0].types[side],
            [block_values(blocks[one.name], at) for one, at in places],
            [words_said([blocks[one.name][at]]) for one, at in places],
            [one.nuggets[at] for one, at in places],
        )
    count = {"dialogues": len(gold), "blocks": sum(map(len, blocks.values()))}
    return Predictor(quality, nuggets, {**(about or {}), **count}, tuple(one.name for one in gold))


def _known_blocks(dialogue: AnnotatedDialogue) -> tuple[Block, ...]:
    if dialogue.blocks is None:
        raise InputError(
            f"the turns of dialogue {dialogue.name!r} have no lengths, which the predictor needs",
            allowed="'utterances' (texts) or 'words' (a count) in each turn",
        )
    return dialogue.blocks


def cross_validate(dialogues: Sequence[AnnotatedDialogue], seed: int = 0) -> HelpdeskSubmission:
    """Predict each dialogue with a predictor that was trained on nine tenths of the others."""
    gold = sorted(dialogues, key=lambda one: one.name)
    if len(gold) * (FOLDS - 1) < FEWEST * FOLDS:
        raise InputError(
            f"cross-validation needs more than {pluralize(len(gold), 'annotated dialogue')}",
            allowed=f"at least {FEWEST * FOLDS // (FOLDS - 1) + 1}",
        )
    estimates: dict[str, Estimate] = {}
    parts = split_by_unit([one.name for one in gold], folds=FOLDS, rng=generator(seed, "helpdesk", "folds"))
    for training, test in parts:
        predictor = train([gold[at] for at in np.flatnonzero(training)])
        estimates.update(predictor.predict([gold[at] for at in np.flatnonzero(test)]).estimates)
    return HelpdeskSubmission(f"{NAME}, cross-validated", estimates, nuggets=True, quality=True)


def _fit(
    names: tuple[str, ...],
    values: Sequence[Sequence[float]],
    said: Sequence[frozenset[str]],
    shares: Sequence[Sequence[float]],
) -> LinearShares:
    """Fit (n, F) values and n sets of words to (n, C) shares."""
    rows, wanted = np.asarray(values, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    base = wanted.mean(axis=0)
    words = _telling_words(said, wanted)
    means, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 1e-9, 1 / np.where(spread > 1e-9, spread, 1.0), 0.0)
    present = np.array([[float(word in one) for word in words] for one in said]).reshape(len(rows), len(words))
    often = present.mean(axis=0)
    columns = np.hstack([(rows - means) * scale, present - often])
    inner = columns.T @ columns + _RIDGE * np.eye(columns.shape[1])
    found = np.linalg.solve(inner, columns.T @ (wanted - base))
    of_features, of_words = found[: len(means)] * scale[:, None], found[len(means) :]
    return LinearShares(
        names,
        np.round(base - often @ of_words, _DIGITS) + 0.0,
        np.round(np.stack([means, rows.min(axis=0), rows.max(axis=0)], axis=1), _DIGITS) + 0.0,
        np.round(of_features, _DIGITS) + 0.0,
        {word: tuple((np.round(row, _DIGITS) + 0.0).tolist()) for word, row in zip(words, of_words, strict=True)},
    )


def _telling_words(said: Sequence[frozenset[str]], wanted: Floats) -> list[str]:
    sums: dict[str, Floats] = defaultdict(lambda: np.zeros(wanted.shape[1] + 1))
    for words, row in zip(said, wanted, strict=True):
        for word in words:
            sums[word][:-1] += row
            sums[word][-1] += 1
    total, n = wanted.sum(axis=0), len(wanted)
    weighed = []
    for word, found in sums.items():
        count = found[-1]
        if _FEWEST_WITH_WORD <= count <= n - _FEWEST_WITH_WORD:
            difference = found[:-1] / count - (total - found[:-1]) / (n - count)
            size = float(np.abs(difference).sum()) * (count * (n - count) / n) ** 0.5
            weighed.append((-round(size, 9), word))
    return sorted(word for _, word in sorted(weighed)[:_MOST_WORDS])
