"""Dialogue breakdown detection (DBDC3): how well a predictor predicts the annotators' labels of each system turn.

Each annotator labels a system turn O (not a breakdown, NB), T (a possible breakdown, PB) or X (a breakdown, B). The
gold distribution of a turn is the distribution of its annotators' labels, and the gold label is the most frequent
label; in a tie O precedes T, and T precedes X. A predictor gives a distribution, and a label (or its argmax with the
same order in ties).

    accuracy                share of turns with the gold label                                 1 is good
    P(B), R(B), F1(B)       precision, recall and F1 of the label X                            1 is good
    P(PB+B) …               precision, … with T and X as one label                             1 is good
    JSD(O,T,X) …            mean over turns of the divergence, in bits                         0 is good
    MSE(O,T,X) …            mean over turns of the mean over bins of (p - q)²                  0 is good
    SNOD(O,T,X)             mean over turns of the order-aware divergence                      0 is good
    rate(B), rate(PB+B)     mean over turns of the predicted probability: a level, not a quality

JSD and MSE exist for three groupings: (O,T,X), (O,T+X) and (O+T,X). MSE(O,T,X) lies in [0, 2/3]; its two-bin forms
and all other measures lie in [0, 1]. Only SNOD uses the order O, T, X: if all annotators say O, the prediction T is
half as far off as X. With two bins it would equal MSE. Every figure is a ratio of sums over turns, so all turns weigh
the same.

F1(PB+B) alone means little: calling every turn a breakdown reaches .79 on the development data of DBDC3, and .90 on
the evaluation data. Print it together with baselines, as `harvest metrics breakdown eval` does.

Sources: R. Higashinaka et al., "Overview of Dialogue Breakdown Detection Challenge 3", DSTC6 2017; SNOD from [STC3]
(Sakai, EVIA 2017) Eq. 10, whose §2.2 observes that MSE and JSD ignore the order of the bins.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scoring.divergences import jsd, snod
from scoring.figure import Good
from scoring.measure import Declaration
from topics.arrays import Floats

Indices = npt.NDArray[np.int64]

# In the order that breaks ties.
LABELS = ("O", "T", "X")

# Labels that form one bin, by the printed name.
GROUPINGS: Mapping[str, tuple[tuple[int, ...], ...]] = MappingProxyType(
    {"O,T,X": ((0,), (1,), (2,)), "O,T+X": ((0,), (1, 2)), "O+T,X": ((0, 1), (2,))}
)

_POSITIVE: Mapping[str, tuple[int, ...]] = MappingProxyType({"B": (2,), "PB+B": (1, 2)})


@dataclass(frozen=True, eq=False)
class Figure:
    """A measure as a ratio over turns: `above` and `below` are (turns,), and `n` counts turns or labels."""

    measure: str
    of: Declaration
    above: Floats
    below: Floats
    n: int

    @property
    def value(self) -> float:
        """The sum of `above` over the sum of `below`, or NaN if `below` sums to 0."""
        whole = math.fsum(self.below.tolist())
        return math.fsum(self.above.tolist()) / whole if whole > 0 else math.nan


def label_shares(counts: npt.ArrayLike) -> Floats:
    """Return (..., 3) distributions over O, T, X from (..., 3) numbers of annotators. Raises ValueError for counts
    that are negative or not finite, and for a row of zeros."""
    rows = np.asarray(counts, dtype=np.float64)
    whole = rows.sum(axis=-1, keepdims=True)
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (whole > 0).all()):
        raise ValueError("counts must be finite and not negative, and each row must have a count above 0")
    found: Floats = rows / whole
    return found


def likeliest_labels(weights: npt.ArrayLike) -> Indices:
    """Return the (...) indices of the largest of the (..., 3) weights. In a tie, O precedes T, and T precedes X."""
    found: Indices = np.argmax(np.asarray(weights, dtype=np.float64), axis=-1)  # argmax returns the first of equals
    return found


def sum_bins(rows: npt.ArrayLike, grouping: str) -> Floats:
    """Sum (..., 3) values over O, T, X to (..., C) values over the bins of a grouping in `GROUPINGS`."""
    values = np.asarray(rows, dtype=np.float64)
    return np.stack([values[..., list(bins)].sum(axis=-1) for bins in GROUPINGS[grouping]], axis=-1)


def figures(
    predicted: npt.ArrayLike,
    gold: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    gold_labels: npt.ArrayLike | None = None,
) -> tuple[Figure, ...]:
    """Return all quality measures of one predictor in the order of the module's table.

    `predicted` and `gold` are (turns, 3) probabilities of O, T, X. `labels` and `gold_labels` are (turns,) indices
    into `LABELS`; None derives them from the distributions. A figure is NaN with n = 0 if there are no turns, no
    predicted label for a precision, no gold label for a recall, or neither for an F1. Raises ValueError if the shapes
    do not match.
    """
    p, q = np.asarray(predicted, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    said = likeliest_labels(p) if labels is None else np.asarray(labels, dtype=np.int64)
    true = likeliest_labels(q) if gold_labels is None else np.asarray(gold_labels, dtype=np.int64)
    if not p.shape == q.shape == (*said.shape, len(LABELS)) == (*true.shape, len(LABELS)):
        raise ValueError(
            f"all arguments must have one row per turn, not {p.shape}, {q.shape}, {said.shape}, {true.shape}"
        )
    one = np.ones(len(p))
    found = [Figure(ACCURACY.name, ACCURACY, (said == true).astype(np.float64), one, len(p))]
    for name, positive in _POSITIVE.items():
        ours, theirs = np.isin(said, positive), np.isin(true, positive)
        hit = (ours & theirs).astype(np.float64)
        found += [
            Figure(f"{PRECISION.name}({name})", PRECISION, hit, ours.astype(np.float64), int(ours.sum())),
            Figure(f"{RECALL.name}({name})", RECALL, hit, theirs.astype(np.float64), int(theirs.sum())),
            Figure(f"{F1.name}({name})", F1, hit, (ours.astype(np.float64) + theirs) / 2, int((ours | theirs).sum())),
        ]
    bins = {name: (sum_bins(p, name), sum_bins(q, name)) for name in GROUPINGS}
    distances = ((DIVERGENCE, jsd), (SQUARED_ERROR, lambda p, q: np.square(p - q).mean(axis=-1)))
    found += [
        Figure(f"{of.name}({name})", of, distance(a, b), one, len(p))
        for of, distance in distances
        for name, (a, b) in bins.items()
    ]
    found.append(Figure(f"{ORDERED_DIVERGENCE.name}({','.join(LABELS)})", ORDERED_DIVERGENCE, snod(p, q), one, len(p)))
    return tuple(found)


def rate_figures(predicted: npt.ArrayLike) -> tuple[Figure, ...]:
    """Return rate(B) and rate(PB+B), the expected shares of annotators for X and for T or X, from (turns, 3) values."""
    p = np.asarray(predicted, dtype=np.float64)
    one = np.ones(len(p))
    return tuple(
        Figure(f"{LEVEL.name}({name})", LEVEL, p[:, list(positive)].sum(axis=-1), one, len(p))
        for name, positive in _POSITIVE.items()
    )


def annotator_halves(counts: npt.ArrayLike, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Split each turn's annotators at random into two halves, to see how well people predict other people.

    `counts` (..., 3) are whole numbers, with at least two annotators per turn. Returns two (..., 3) arrays of
    probabilities. If the number of annotators is odd, the first half has one annotator fewer. Counts do not identify
    annotators across turns, so each turn is split separately.
    """
    rows = np.asarray(counts, dtype=np.int64)
    sizes = rows.sum(axis=-1)
    if (sizes < 2).any():
        raise ValueError("each turn must have at least two annotators")
    o = rng.hypergeometric(rows[..., 0], rows[..., 1] + rows[..., 2], sizes // 2)
    t = rng.hypergeometric(rows[..., 1], rows[..., 2], sizes // 2 - o)
    first = np.stack([o, t, sizes // 2 - o - t], axis=-1)
    return label_shares(first), label_shares(rows - first)


def _declare(
    name: str,
    sentence: str,
    formula: str,
    n: str = "turns",
    good: Good = "high",
    example: str = "",
    undefined: str = "no turn",
    top: bool = True,
    source: str = "DBDC3 (Higashinaka et al., DSTC6 2017)",
) -> Declaration:
    return Declaration(
        name=name,
        sentence=sentence,
        of="predictor",
        formula=formula,
        source=source,
        undefined=undefined,
        example=example or f"{name}(B)",
        n=n,
        needs=("annotations",),
        good=good,
        has_top=top,
    )


ACCURACY = _declare("accuracy", "How often the predicted label is the gold one.", "hits / turns", example="accuracy")
PRECISION = _declare(
    "P", "The share of turns labelled as breakdowns that are breakdowns.", "hits / labels given", "labels given"
)
RECALL = _declare("R", "The share of breakdowns that are found.", "hits / gold labels", "gold labels")
F1 = _declare(
    "F1", "Precision and recall together.", "hits / mean of labels given and gold labels", "turns with either"
)
DIVERGENCE = _declare(
    "JSD",
    "How far the predicted distribution is from that of the annotators.",
    "mean over turns of the Jensen-Shannon divergence, in bits",
    good="low",
    example="JSD(O,T,X)",
    top=False,
)
SQUARED_ERROR = _declare(
    "MSE",
    "How far the predicted distribution is from that of the annotators, as a squared error.",
    "mean over turns of the mean over bins of (p - q)²",
    good="low",
    example="MSE(O,T,X)",
    top=False,
)
ORDERED_DIVERGENCE = _declare(
    "SNOD",
    "How far the predicted distribution is from that of the annotators, by the distance between labels.",
    "mean over turns of (OD(p,q) + OD(q,p)) / 2 / (L - 1), for L = 3 labels in the order O, T, X",
    good="low",
    example="SNOD(O,T,X)",
    top=False,
    source="[STC3] Eq. 10, §2.2",
)
LEVEL = _declare(
    "rate",
    "The predicted rate of breakdowns, which is not a measure of quality.",
    "mean predicted probability",
    good="neither",
)
