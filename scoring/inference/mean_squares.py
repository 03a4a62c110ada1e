"""Sums of squares of systems and topics in tables with empty cells, over weighted topics.

Henderson's method III (fitting constants): each effect is adjusted for the other one, so a system that missed hard
topics is not favoured. In a balanced table this is the analysis of variance. Weights state how often each topic counts:
weights of 1 give the sums for the topics themselves, and random weights show how far these sums can be trusted.

Source: C. R. Henderson, Biometrics 9 (1953), 226-252, method III.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


@dataclass(frozen=True, slots=True, eq=False)
class MeanSquares:
    """Mean squares for W sets of weights, (W,) each.

    system, topic, both: two arrays each: the mean square over its coefficient, and the component that remains after the
        other components and the trials are subtracted, which can be negative by chance.
    trial: the variance of trials.
    error: the error variance of a system's mean.
    effects: (W, systems) effects of systems, adjusted for topics, summing to 0.
    degrees: the degrees of freedom of systems × topics.
    form: (systems, systems) quadratic form. The first mean square of systems is e'·form·e with the first effects e.
    """

    system: tuple[Floats, Floats]
    topic: tuple[Floats, Floats]
    both: tuple[Floats, Floats]
    trial: Floats
    error: Floats
    effects: Floats
    form: Floats
    degrees: Floats


def mean_squares(
    mean: Floats,
    own: Floats,
    counts: npt.NDArray[np.int64] | Floats,
    weights: Floats,
    *,
    degrees: float | None = None,
) -> MeanSquares | None:
    """Return the mean squares for each set of weights, or None if systems share too few topics.

    `mean`, `own` and `counts` are (systems, topics): the cells' means, variances of trials, and numbers of trials
    (infinite for a cell whose mean is exact). `weights` is (W, topics), not negative. `degrees` are the degrees of
    freedom of systems × topics; by default each set of weights has its own, which can be almost 0 if weights fall on
    topics with empty cells.

    Topics with their weights w are absorbed. With d in {0, 1} for the cells that exist, B their number in a topic, v =
    d(e - d/B) the contribution of a system's cell to its adjusted sum r, and e the error variance of a cell's mean,

        C = Σ w (diag d - dd'/B),  R(s|t) = r'C⁻r,  E R(s|t) = σ²_s tr C + σ²_st (S - 1) + Σ w e v'C⁻v
    """
    there = (counts > 0).astype(np.float64)
    systems = len(there)
    error = np.divide(own, counts, out=np.zeros_like(own), where=counts > 0)
    shifted = (mean - mean[counts > 0].mean()) * there  # sums of squares of large numbers lose digits
    in_topic = there.sum(axis=0)
    # (system of the cell, systems, topics)
    adjusted = (np.eye(systems)[:, :, None] - there / in_topic) * there[:, None]
    sums = weights @ np.einsum("ist,it->ts", adjusted, shifted)
    crossing = _weighted_sums(weights, np.einsum("irt,ist->trs", adjusted, adjusted))
    noisy = _weighted_sums(weights, np.einsum("it,irt,ist->trs", error, adjusted, adjusted))
    cells, drawn = weights @ in_topic, weights.sum(axis=1)
    free = cells - drawn - systems + 1 if degrees is None else np.full(len(weights), degrees)
    if (free < 1).any():
        return None
    if there.all():  # each set of weights gives a multiple of one projection, which is its own inverse
        inverse = (np.eye(systems) - 1 / systems) / drawn[:, None, None]
    elif (np.linalg.matrix_rank(crossing, hermitian=True) < systems - 1).any():
        return None
    else:
        inverse = np.linalg.pinv(crossing, hermitian=True)
    by_system = np.einsum("br,brs,bs->b", sums, inverse, sums)
    of_system = np.einsum("brs,bsr->b", inverse, noisy)
    size = np.einsum("brr->b", crossing)
    within = weights @ (shifted**2 - shifted.sum(axis=0) * shifted / in_topic).sum(axis=0)
    of_within = weights @ (error.sum(axis=0) - error.sum(axis=0) / in_topic)
    each = weights @ there.T
    topical = weights @ (shifted**2).sum(axis=0) - ((weights @ shifted.T) ** 2 / each).sum(axis=1)
    of_topical = weights @ error.sum(axis=0) - ((weights @ error.T) / each).sum(axis=1)
    rest, of_rest = _positive(within - by_system), of_within - of_system
    both = (rest - of_rest) / free
    system = (by_system - (systems - 1) * both - of_system) / size
    others = cells - systems
    topical, of_topical = _positive(topical - rest), of_topical - of_rest
    topic = (topical - (others - free) * both - of_topical) / others
    return MeanSquares(
        system=(_positive(by_system) / size, system),
        topic=(topical / others, topic),
        both=(rest / free, both),
        trial=weights @ own.sum(axis=0) / cells,
        error=rest / free * (systems - 1) / size,
        effects=np.einsum("brs,bs->br", inverse, sums),
        form=crossing[0] / size[0],
        degrees=free,
    )


def _weighted_sums(weights: Floats, each: Floats) -> Floats:
    return np.asarray((weights @ each.reshape(len(each), -1)).reshape(len(weights), *each.shape[1:]))


def _positive(squares: Floats) -> Floats:
    return np.where(squares < _SAME, 0.0, squares)
