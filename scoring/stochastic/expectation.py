"""The readings of "the score of a system that answers differently each time".

    (a) expected    Σ_π P(π)·WAN(π): what one user gets on average. This is the main figure.
    (b) pooled      Σ_π P(π)·Num(π) / Σ_π P(π)·Den(π) = Σ ρ·NW·S / Σ ρ·NW: nuggets of all branches together, each with
                    its probability, as in [SWAN]; long conversations and those with many nuggets weigh more

They differ by (b) - (a) = Cov_P(WAN, Den) / E[Den]. A measure with a fixed normaliser (R, U-measure, M-measure) has one
denominator for all paths, so the covariance is 0 and the two readings agree: `mean` computes both.

Group fairness has a third reading, (c): DistrSim of the distribution that all branches achieve together. If each user
sees one of two groups only, and half of the users see either group, (c) is perfect although no user was treated fairly.
So `FairnessReadings` has all three readings, and no function returns (c) alone.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.divergences import Divergence, distribution_similarity
from scoring.stochastic.paths import weights_of
from topics.arrays import Floats


@dataclass(frozen=True, slots=True)
class RatioReadings:
    """Both readings of a ratio measure such as WAN, in the range of the measure; NaN for n = 0.

    - `expected`, `pooled`: readings (a) and (b). The expectation is conditional on paths with Den > 0.
    - `covariance`: Cov_P(WAN, Den)/E[Den] = pooled - expected.
    - `defined`, `n`: the probability and the number of paths with Den > 0.
    """

    expected: float
    pooled: float
    covariance: float
    defined: float
    n: int


@dataclass(frozen=True, slots=True)
class FairnessReadings:
    """The three readings of GF for one attribute set, each in [0, 1].

    - `expected`: (a) Σ P(π)·GF(π); a path without a turn that counts has GF = 0, as in [GFRC].
    - `pooled`: (b) the mean of DistrSim over turns, weighted by their probabilities; NaN without any turn.
    - `of_pooled_distribution`: (c) DistrSim of `achieved`, which overstates fairness; NaN without any turn.
    - `achieved`: (C,) the mean membership over the relevant nuggets of all branches, weighted by probability.
    - `without`: the probability of the paths on which no turn counts.
    - `paths`, `turns`: the numbers of paths and of turns.
    """

    expected: float
    pooled: float
    of_pooled_distribution: float
    achieved: tuple[float, ...]
    without: float
    paths: int
    turns: int


def mean(values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """Return Σ P(π)·value(π) of (n,) finite values with a fixed normaliser, for which both readings are equal.

    The result is NaN for n = 0. `weights` are (n,); None means equal weights.
    """
    given = _finite("values", values)
    return float((given * weights_of(weights, len(given))).sum()) if len(given) else math.nan


def ratio(
    numerators: npt.ArrayLike, denominators: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> RatioReadings:
    """Compute both readings of a measure Num(π)/Den(π), for example WAN with Num = Σ NW·S and Den = Σ NW.

    `numerators` and `denominators` are (n,) and finite, and denominators are at least 0. A path with Den = 0 has no
    value and adds nothing to the pooled reading. `weights` (n,) are scaled to sum to 1; None means equal weights.
    """
    top, bottom = _finite("numerators", numerators), _finite("denominators", denominators)
    if top.shape != bottom.shape or np.any(bottom < 0) or np.any(top[bottom == 0] != 0):
        raise ValueError("each path needs a numerator and a denominator of at least 0, both 0 if undefined")
    share = weights_of(weights, len(top))
    seen = (bottom > 0) & (share > 0)
    defined = float(share[seen].sum())
    if not seen.any():
        return RatioReadings(math.nan, math.nan, math.nan, 0.0, 0)
    top, bottom, share = top[seen], bottom[seen], share[seen] / share[seen].sum()
    each = top / bottom
    middle, expected = float((share * bottom).sum()), float((share * each).sum())
    covariance = float((share * (each - expected) * (bottom - middle)).sum()) / middle
    pooled = float((share * top).sum()) / middle
    return RatioReadings(expected, pooled, covariance, min(defined, 1.0), int(seen.sum()))


def pooled_over_nodes(numerators: npt.ArrayLike, denominators: npt.ArrayLike, reach: npt.ArrayLike) -> float:
    """Return `ratio(...).pooled` as Σ_v ρ(v)·Num(v) / Σ_v ρ(v)·Den(v) over (N,) turns; NaN if all Den are 0."""
    share = _finite("reach", reach)
    bottom = float((share * _finite("denominators", denominators)).sum())
    return float((share * _finite("numerators", numerators)).sum()) / bottom if bottom > 0 else math.nan


def fairness(
    path: npt.ArrayLike,
    achieved: npt.ArrayLike,
    nuggets: npt.ArrayLike,
    gold: npt.ArrayLike,
    divergence: Divergence,
    *,
    paths: int,
    weights: npt.ArrayLike | None = None,
    turn_weights: npt.ArrayLike | None = None,
) -> FairnessReadings:
    """Compute all readings of GF from the m turns with a relevant nugget; all are NaN if there are no paths.

    `path` (m,) is the path of each turn, from 0. A turn that several paths share is repeated for each of these paths,
    so the weights of the repetitions sum to ρ of its node. `achieved` (m, C) is the mean membership of the turn's
    relevant nuggets, and `nuggets` (m,) the number of these nuggets, above 0. `gold` (C,) is the target distribution.
    `paths` is n, the number of paths, including paths without a relevant nugget. `weights` (n,) are path weights,
    scaled to sum to 1, and equal by default. `turn_weights` (m,) are PW(S) of each turn, at least 0, and 1 by default.
    """
    where, rows = np.asarray(path, dtype=np.intp), np.asarray(achieved, dtype=np.float64)
    counts, target = _finite("nuggets", nuggets), np.asarray(gold, dtype=np.float64)
    heavy = np.ones(len(where)) if turn_weights is None else _finite("turn_weights", turn_weights)
    if rows.shape != (len(where), len(target)) or counts.shape != where.shape or heavy.shape != where.shape:
        raise ValueError("each turn needs a path, a distribution over the gold's groups, a count and a weight")
    if len(where) and (where.min() < 0 or where.max() >= paths or np.any(counts <= 0) or np.any(heavy < 0)):
        raise ValueError(
            f"turns must belong to paths 0 to {paths - 1}, and have at least one nugget and weights of at least 0"
        )
    share = weights_of(weights, paths)
    if not paths:
        return FairnessReadings(math.nan, math.nan, math.nan, (math.nan,) * len(target), math.nan, 0, 0)
    similar = distribution_similarity(rows, target, divergence) if len(where) else np.empty(0)
    below = np.bincount(where, weights=heavy, minlength=paths)
    each = np.divide(
        np.bincount(where, weights=heavy * similar, minlength=paths), below, out=np.zeros(paths), where=below > 0
    )
    without = float(share[below == 0].sum())
    chance = share[where]
    weighing = float((chance * heavy).sum())
    pooled = float((chance * heavy * similar).sum()) / weighing if weighing > 0 else math.nan
    nugget_mass = chance * counts
    if nugget_mass.sum() > 0:
        together = (nugget_mass[:, None] * rows).sum(axis=0) / nugget_mass.sum()
        together = together / together.sum()
        overall = float(distribution_similarity(together, target, divergence))
    else:
        together, overall = np.full(len(target), math.nan), math.nan
    expected = float((share * each).sum())
    return FairnessReadings(expected, pooled, overall, tuple(together.tolist()), without, paths, len(where))


def _finite(name: str, values: npt.ArrayLike) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be a one-dimensional array of finite numbers; leave out undefined paths")
    return found


@dataclass(frozen=True, slots=True)
class SwanReadings:
    """Both readings of SWAN.

    - `expected`, `pooled`: the two readings, in [0, 1]; NaN if no criterion is defined on any path.
    - `criteria`: both readings of each WAN^c, and the probability that WAN^c is defined.
    - `defined`, `n`: the probability and the number of paths on which any criterion of positive weight is defined.
    """

    expected: float
    pooled: float
    criteria: tuple[RatioReadings, ...]
    defined: float
    n: int


def path_scores(numerators: npt.ArrayLike, denominators: npt.ArrayLike, criterion_weights: npt.ArrayLike) -> Floats:
    """Return the (n,) SWAN of each path, for decompositions and tails; NaN if no weighted criterion is defined.

    `numerators` and `denominators` (n, C) are parts of WAN^c, 0/0 if undefined. `criterion_weights` are (C,) CW >= 0.
    """
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    heavy = np.asarray(criterion_weights, dtype=np.float64)
    if top.ndim != 2 or top.shape != bottom.shape or heavy.shape != top.shape[1:]:
        raise ValueError(
            "each path needs a numerator and a denominator for each criterion, and each criterion a weight"
        )
    if np.any(heavy < 0) or not np.all(np.isfinite(heavy)):
        raise ValueError("a criterion weight must be a finite number of at least 0")
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
    """Compute both readings of SWAN over several criteria ([SWAN] Eq. 1 and 2).

        (a) expected    Σ_π P(π)·SWAN(π), where SWAN(π) is the weighted mean of the WAN^c that are defined on π
        (b) pooled      the weighted mean over criteria of the pooled WAN^c, each from the nuggets of all branches

    A path without a nugget of some criterion leaves this criterion undefined, and (a) then averages the remaining
    criteria on that path. So (a) need not equal the weighted mean of the expected WAN^c (the `criteria` of the result)
    unless every criterion is defined on every path. `weights` are (n,) path weights; None means equal weights. All
    other arguments are as for `path_scores`.
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
