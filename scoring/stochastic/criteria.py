"""SWAN over conversations that branch: expected and pooled, over several criteria ([SWAN] Eq. 1 and 2).

    (a) expected    Σ_π P(π)·SWAN(π), where SWAN(π) is the weighted mean of the WAN^c that are defined on π
    (b) pooled      the weighted mean over criteria of the pooled WAN^c, each from the nuggets of all branches

A criterion that is undefined on some paths (no nugget of its kind) enters (a) only on the others. So (a) is certain to
be the weighted mean of the expected WAN^c only if every criterion is defined on every path; see `criteria`.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.stochastic.expectation import RatioReadings, ratio
from scoring.stochastic.paths import weights_of

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SwanReadings:
    """Both readings of SWAN.

    expected, pooled: in [0, 1]; NaN if no criterion is defined on any path.
    criteria: both readings of each WAN^c, with the probability that it is defined.
    defined, n: the probability and the number of paths on which any criterion of positive weight is defined.
    """

    expected: float
    pooled: float
    criteria: tuple[RatioReadings, ...]
    defined: float
    n: int


def path_scores(numerators: npt.ArrayLike, denominators: npt.ArrayLike, criterion_weights: npt.ArrayLike) -> Floats:
    """Return the (n,) SWAN of each path, for decompositions and tails; NaN if no weighted criterion is defined.

    `numerators` and `denominators` are (n, C) parts of WAN^c, 0/0 if undefined. `criterion_weights` are (C,) CW, at
    least 0.
    """
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    heavy = np.asarray(criterion_weights, dtype=np.float64)
    if top.ndim != 2 or top.shape != bottom.shape or heavy.shape != top.shape[1:]:
        raise ValueError(
            "each path needs a numerator and a denominator for each criterion, and each criterion a weight"
        )
    if np.any(heavy < 0) or not np.all(np.isfinite(heavy)):
        raise ValueError("a criterion weight is a finite number of at least 0")
    wan = np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0)
    counted = np.where(bottom > 0, heavy, 0.0)
    whole = counted.sum(axis=1)
    scores: Floats = np.divide((wan * counted).sum(axis=1), whole, out=np.full(len(top), np.nan), where=whole > 0)
    return scores


def swan_readings(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    criterion_weights: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
) -> SwanReadings:
    """Compute both readings of SWAN.

    All arguments are as for `path_scores`, with (n,) path weights, None for even ones.
    """
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    heavy = np.asarray(criterion_weights, dtype=np.float64)
    scores = path_scores(top, bottom, heavy)
    share = weights_of(weights, len(scores))
    seen = ~np.isnan(scores) & (share > 0)
    criteria = tuple(ratio(above, below, weights) for above, below in zip(top.T, bottom.T, strict=True))
    defined = float(share[seen].sum())
    if not seen.any():
        return SwanReadings(math.nan, math.nan, criteria, 0.0, 0)
    covered = [(cw, found.pooled) for cw, found in zip(heavy.tolist(), criteria) if found.n and cw > 0]
    pooled = math.fsum(cw * value for cw, value in covered) / math.fsum(cw for cw, _ in covered)
    expected = float((share[seen] * scores[seen]).sum()) / defined
    return SwanReadings(expected, pooled, criteria, min(defined, 1.0), int(seen.sum()))
