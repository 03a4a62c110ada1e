"""The contribution of each branch to a score, and the turns at which the variance of a score is settled.

Contributions. A score's expectation is a sum over paths, so it is a sum over branches. A node's contribution is the sum
of P(π)·score(π) over the paths through the node. This is also the sum over the node's children and over the paths that
end at the node. `effect` is how much the expectation changes when a conversation takes the branch.

Spread. Let F_t be the information after t turns: the node reached, or an earlier end of the conversation. By the law of
total variance

    Var(score) = Σ_t E[Var(E[score|F_t] | F_{t-1})] + E[Var(score|F_D)]

The t-th term is the part of the variance that turn t settles. The last term, `rest`, is the variance between
conversations on the same path, which is 0 if the score is a function of the path. If a conversation stops, the stop
counts as part of the turn that was not taken.

From trials, the plain formula overstates what early turns settle: at a node with one trial, scores seem not to vary.
The `corrected` estimate divides by n_v - 1 in each node and assumes that scores at a node with one trial vary as much
as at the turn's nodes with several trials. The estimate is unbiased if each node of positive probability has at least
two trials. `alone` is the share of trials that need the assumption. If all trials need it, the result is NaN.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recordings.trees.preorder import depths
from scoring.stochastic.paths import check_parents, sum_below, weights_of
from topics.arrays import Floats

Depths = npt.NDArray[np.int32]
Estimate = Literal["exact", "corrected", "plain"]


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """The contributions of N nodes to an expected score, (N,) each.

    - `mass`: the probability of passing through the node.
    - `mean`: the expected score of conversations that pass through the node; NaN for mass 0.
    - `contribution`: mass·mean. The root's contribution is the expected score of all conversations.
    - `effect`: mean minus the parent's mean; NaN at the root.
    """

    mass: Floats
    mean: Floats
    contribution: Floats
    effect: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The variance of a score, split by the turns that settle it.

    - `total`: the variance of the score; NaN for fewer than two trials.
    - `settled`: (D,) the parts that turns 1 to D settle. A corrected part can be below 0 by chance.
    - `shares`: settled/total; NaN if the total is 0.
    - `rest`: the part between conversations on the same path.
    - `undecided`: the variance that cannot be attributed to turns, because from some turn on no two trials share a
      node. From that turn on `settled` and `rest` are NaN. All other parts sum to `total`.
    - `alone`: (D,) the share of trials whose node after the turn has no other trial.
    - `n`: the number of paths or trials.
    - `estimate`: `exact` for known probabilities; `corrected` (see the module) or `plain` for trials.
    """

    total: float
    settled: Floats
    shares: Floats
    rest: float
    undecided: float
    alone: Floats
    n: int
    estimate: Estimate


def contributions(
    parent: npt.ArrayLike, ends: npt.ArrayLike, values: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Contributions:
    """Compute the contribution of each node to the expected score.

    `parent` is (N,). `ends` are the (n,) nodes at which paths end, and `values` are the finite scores of these paths.
    `weights` are the (n,) probabilities of paths; None means equal probabilities.
    """
    nodes, where, given = _paths(parent, ends, values)
    share = weights_of(weights, len(given))
    both = np.stack(
        [np.bincount(where, weights=part, minlength=len(nodes)) for part in (share, share * given)], axis=-1
    )
    mass, total = sum_below(nodes, both).T
    mean = np.divide(total, mass, out=np.full(len(nodes), np.nan), where=mass > 0)
    effect = np.full(len(nodes), np.nan)
    effect[1:] = mean[1:] - mean[nodes[1:]]
    return Contributions(mass, mean, total, effect)


def pooled_contributions(numerators: npt.ArrayLike, denominators: npt.ArrayLike, reach: npt.ArrayLike) -> Floats:
    """Return (N,) the contribution ρ(v)·Num(v) / Σ ρ·Den of each turn to the pooled reading; NaN if all Den are 0."""
    top, bottom, share = (np.asarray(part, dtype=np.float64) for part in (numerators, denominators, reach))
    whole = float((share * bottom).sum())
    parts: Floats = share * top / whole if whole > 0 else np.full(share.shape, np.nan)
    return parts


def spread(
    parent: npt.ArrayLike,
    ends: npt.ArrayLike,
    values: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    plain: bool = False,
) -> Spread:
    """Split the variance of a score by the turns that settle it.

    `parent`, `ends`, `values` and `weights` are as for `contributions`. With weights the result is exact. Without
    weights each path is a trial, and the estimate is corrected unless `plain`.
    """
    nodes, where, given = _paths(parent, ends, values)
    known = weights is not None
    share: Floats = weights_of(weights, len(given)) if known else np.ones(len(given))  # each trial counts 1
    size, n = len(nodes), len(given)
    depth = depths(nodes.astype(np.int32))
    deepest = int(depth.max())
    if not n or (n < 2 and not known and not plain):
        nothing = np.full(deepest, np.nan)
        kind: Estimate = "plain" if plain else "corrected"
        return Spread(np.nan, nothing, nothing, np.nan, np.nan, nothing, n, kind)
    off = given - (share * given).sum() / share.sum()  # centred, so that sums of squares lose no precision
    ended: Floats = np.stack(
        [np.bincount(where, weights=share * part, minlength=size) for part in (1.0, off, off * off)], -1
    )
    through = sum_below(nodes, ended)
    corrected = not known and not plain
    # By turn: nodes of that depth with all paths through them, and shallower nodes with the paths that ended there.
    at_depth, ended_at = (_variance_by_depth(part, depth, deepest, corrected) for part in (through, ended))
    ended_before = np.concatenate([np.zeros((3, 1)), np.cumsum(ended_at, axis=1)[:, :-1]], axis=1)
    squares, weight, lonely = at_depth + ended_before
    within = np.divide(squares, weight, out=np.full(deepest + 1, np.nan), where=weight > 0)
    alone = lonely / share.sum()
    total = float(within[0])
    settled = within[:-1] - within[1:]
    defined = np.flatnonzero(~np.isnan(within))
    undecided = float(within[defined[-1]]) if defined[-1] < deepest else 0.0
    rest = float(within[-1])
    shares = settled / total if total > 0 else np.full(deepest, np.nan)
    estimate: Estimate = "exact" if known else "plain" if plain else "corrected"
    return Spread(total, settled, shares, rest, undecided, alone[1:], n, estimate)


def _variance_by_depth(sums: Floats, depth: Depths, deepest: int, corrected: bool) -> Floats:
    weight, first, second = sums.T
    squares = np.maximum(second - np.divide(first * first, weight, out=np.zeros(len(weight)), where=weight > 0), 0.0)
    lonely = weight == 1 if corrected else np.zeros(len(weight), dtype=bool)
    if corrected:
        several = weight > 1
        squares = np.divide(squares * weight, weight - 1, out=np.zeros(len(weight)), where=several)
        counted = np.where(several, weight, 0.0)
    else:
        counted = weight
    return np.stack(
        [np.bincount(depth, weights=part, minlength=deepest + 1) for part in (squares, counted, lonely * weight)]
    )


def _paths(
    parent: npt.ArrayLike, ends: npt.ArrayLike, values: npt.ArrayLike
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
    nodes, where, given = check_parents(parent), np.asarray(ends, dtype=np.intp), np.asarray(values, dtype=np.float64)
    if where.ndim != 1 or where.shape != given.shape or not np.all(np.isfinite(given)):
        raise ValueError("each path needs an end node and a finite score; leave out paths without a score")
    if len(where) and (where.min() < 0 or where.max() >= len(nodes)):
        raise ValueError(f"the end nodes of paths must be in 0 to {len(nodes) - 1}")
    return nodes, where, given
