"""The difference between two sides over topics like these, allowing for a kind of topic that was not asked.

A t interval uses only the topics that were asked. If one side fails on 5% of topics and 15 topics were asked, a nominal
.95 covers .80. If one side is constant and the other lognormal (sigma 1.5), the t interval covers .67 to .87, and each
miss favours the constant side. So topics get random weights, as for a single figure (`scoring.inference.unseen_topic`),
and part of an unseen topic is added at the far end:

    low     the lower quantile of   Σ W_k·d_k - W_0·far
    high    the upper quantile of   Σ W_k·d_k + W_0·far        (W_1, …, W_K, W_0) ~ Dirichlet(1, …, 1, 3/4)

If the measure has a bounded range, `far` is the largest difference that it allows. If values never come near an end of
the range (R, latency, tokens), `far` follows from the tail of the differences. The distance of the farthest topic from
the median is extended like a Pareto tail:

    far = .8·max|d_k - median| / (1 - ξ),   ξ = Hill's estimate from the 1.5·√K farthest topics, at most .8

So `far` is short if differences look normal, and long if few topics carry the difference. No method can detect kinds of
topics with a share below about 3/K. The factors .8, .8 and 1.5 are our own: docs/calibration.md shows what they cover.

The p of an interval is the smallest error probability at which it excludes 0. A verdict also needs the p of exchanging
sides, which tests whether the sides differ at all, not only in their means.

Sources: N. Gaffke, Mathematical Methods of Statistics 14 (2005), 451-467; B. M. Hill, Annals of Statistics 3 (1975),
1163-1174.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval, too_few_reason
from scoring.inference.unseen_topic import UNSEEN, append_unseen_topic, highest_low_end, interval_ends
from scoring.inference.unseen_topic import weighted_sums as exact_sums
from scoring.statistics.beta import beta_quantile, normal_cdf
from topics.arrays import Counts, Floats
from topics.identity import generator

# Topics below which the tail of a measure without an end near its values cannot be judged: with 20 the interval
# covers .88 to .92 of the heaviest tails (lognormal with sigma 2, Pareto with index 1.5), from 30 on .93.
FEWEST_OPEN = 30

_DRAWS = 20_000  # a p of .05 is then known to ±.0015
_DRAWS_OF_MANY = 4_000  # for thousands of simulated studies: a p of .05 is then known to ±.0034
_MOST_KEPT = 8_000_000  # weights, 64 MB: what is kept stays in memory
_STRETCH, _HEAVIEST, _FARTHEST_TOPICS = 0.8, 0.8, 1.5
_AT_ONCE = 64  # columns: sums of 20,000 draws for each fit in the cache
_NEAR_0 = 1e-12  # relative: a thousand times the rounding of such a sum
_TINY = 1e-300  # keeps numbers above 0 before a logarithm or a division


@dataclass(frozen=True, slots=True)
class GuardedIntervals:
    """Ends and p values of C intervals, (C,) each; NaN if there is no interval.

    `p` is the smallest error probability at which the interval excludes 0.
    """

    low: Floats
    high: Floats
    p: Floats


def guarded_differences(
    above: npt.ArrayLike, below: npt.ArrayLike, *, level: float, reach: float, many: bool = False
) -> GuardedIntervals:
    """Return intervals of C differences over U units, which are topics or clusters of topics.

    `above` (U, C) is the sum of the topics' differences in each unit, and `below`, (U, C) or (U, 1), the positive
    number of topics in each unit. `reach` is the largest possible difference of a topic, infinite if values never come
    near the end of the range. With `many`, for simulations, fewer weights are drawn and the last bits are not exact.

    There is no interval (NaN) for fewer than four units, or fewer than `FEWEST_OPEN` with an infinite reach.
    """
    sums = np.asarray(above, dtype=np.float64)
    sizes = np.broadcast_to(np.asarray(below, dtype=np.float64), sums.shape)
    units, columns = sums.shape
    if units < (FEWEST_OPEN if math.isinf(reach) else FEWEST):
        nothing = np.full(columns, math.nan)
        return GuardedIntervals(nothing, nothing, nothing)
    means = sums / sizes
    far = np.full((2, columns), reach) * [[-1], [1]] if math.isfinite(reach) else unseen_positions(means)
    order = np.lexsort((means, sizes), axis=0)  # the order of topics must not matter, and the weights are in one
    sums, sizes = (np.take_along_axis(side, order, axis=0) for side in (sums, sizes))
    weights = unit_weights(units, many=many)
    values = append_unseen_topic(sums, np.ascontiguousarray(sizes), far[0], far[1])
    products = values.T @ weights if many else exact_sums(values, weights)
    lows, highs = (products[at * columns : (at + 1) * columns] for at in (0, 1))
    whole = products[2 * columns :]
    low, high = interval_ends(lows / whole, highs / whole, level)
    # The share of draws on the wrong side of 0, at least the smallest share that these draws can show.
    wrong = np.minimum((lows <= 0).mean(axis=1), (highs >= 0).mean(axis=1))
    p = np.minimum(1.0, np.maximum(2 * wrong, 2 / weights.shape[1]))
    if math.isfinite(reach):
        # The p is at least the p if all topics were at one end of the range.
        most = -reach + 2 * reach * highest_low_end(units, level)
        low, high = np.minimum(low, most), np.maximum(high, -most)
        p = np.maximum(p, smallest_p(units))
        low, high = np.clip(low, -reach, reach), np.clip(high, -reach, reach)
    return GuardedIntervals(low, high, p)


def guarded_ps(differences: Floats, *, reach: float) -> Floats:
    """Return the (C,) p of `guarded_differences` for (U, C) differences of U topics, without the intervals.

    A p counts on which side of 0 the draws are, so fast sums do where they are not next to 0. Other columns are
    computed as there, so that every p is the same to the last bit.
    """
    units, columns = differences.shape
    if units < (FEWEST_OPEN if math.isinf(reach) else FEWEST):
        return np.full(columns, math.nan)
    weights = unit_weights(units)
    positions = np.full((2, columns), reach) * [[-1], [1]] if math.isfinite(reach) else unseen_positions(differences)
    # Rows are turned so that few of their draws are expected below 0, with the unseen unit at its worst.
    sign = np.where(differences.mean(axis=0) > 0, 1.0, -1.0)
    worst, best = np.where(sign > 0, positions, -positions[::-1])
    ordered = (sign * np.sort(differences, axis=0)).T
    slack = np.maximum(np.abs(ordered).max(axis=1), np.abs(positions).max(axis=0)) * _NEAR_0 + _TINY
    draws, wrong, sure = weights.shape[1], np.empty(columns), np.empty(columns, dtype=bool)
    for start in range(0, columns, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        sums, near = ordered[part] @ weights[:-1], slack[part, None]

        def count_below(at: Floats, sums: Floats = sums, near: Floats = near) -> tuple[Counts, Counts]:
            moved = sums + at[:, None] * weights[-1]
            return (moved <= -near).sum(axis=1), (moved <= near).sum(axis=1)

        fewest, most = count_below(worst[part])
        wrong[part], sure[part] = fewest / draws, fewest == most
        # With more than half of them below 0, those above 0 with the unseen unit at its best may be fewer.
        many = 2 * most >= draws
        if many.any():
            not_above, below = count_below(best[part])
            wrong[part] = np.where(many, np.minimum(fewest, draws - below) / draws, fewest / draws)
            sure[part] &= ~many | (not_above == below)
    least = smallest_p(units) if math.isfinite(reach) else 0.0
    p: Floats = np.maximum(np.minimum(1.0, np.maximum(2 * wrong, 2 / draws)), least)
    for column in np.flatnonzero(~sure).tolist():
        each = differences[:, column, None]
        p[column] = guarded_differences(each, np.ones_like(each), level=0.95, reach=reach).p[0]
    return p


def unit_weights(units: int, *, many: bool = False) -> Floats:
    """Return (units + 1, draws) random weights that sum to 1 in each draw, with the unseen unit last.

    They depend on the arguments alone, and are read-only. With `many`, fewer weights are drawn.
    """
    draws = _DRAWS_OF_MANY if many else _DRAWS
    # A study asks for many intervals over the same units, and to draw the weights takes most of the time of one.
    return (_drawn_once if units * draws <= _MOST_KEPT else _drawn_once.__wrapped__)(units, draws)


@lru_cache(maxsize=2)
def _drawn_once(units: int, draws: int) -> Floats:
    # The unseen unit's weight is a beta variable, independent of the shares of all other units. Each of its quantiles
    # is used once, because an end of the interval depends on the tail. Each draw is also used with the units in the
    # opposite order, so that it does not matter which side is called the first.
    half = draws // 2
    others = generator(0, "difference", str(units)).standard_exponential((units, half))
    unseen = _unseen_weights(units, half)
    others *= (1 - unseen) / others.sum(axis=0)
    weights = np.ascontiguousarray(np.block([[others, others[::-1]], [unseen, unseen]]))
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=128)
def _unseen_weights(units: int, draws: int) -> Floats:
    """Return the quantiles of the unseen unit's weight. Cached, since they cost more than the rest of an interval."""
    return beta_quantile((np.arange(draws) + 0.5) / draws, UNSEEN, float(units))


def smallest_p(units: int) -> float:
    """Return the smallest p possible over this number of units, however large the difference.

    The smallest p occurs if all differences are at one end of the range. It is the larger of the p from Clopper and
    Pearson's and from Wilson's interval of a share, compared with 1/2 (`highest_low_end`).
    """
    return max(2.0 ** (1 - units), 2 * (1 - normal_cdf(math.sqrt(units))))


def unseen_positions(means: Floats) -> Floats:
    """Return (2, C) positions of the unseen unit, below and above, extrapolated from the tails of (U, C) values."""
    units = len(means)
    middle = np.median(means, axis=0)
    away = -np.sort(-np.abs(means - middle), axis=0)
    farthest = min(units - 1, max(3, round(_FARTHEST_TOPICS * math.sqrt(units))))
    logs = np.log(np.maximum(away[: farthest + 1], _TINY))
    index = np.minimum(_HEAVIEST, (logs[:farthest] - logs[farthest]).mean(axis=0))
    far = _STRETCH * away[0] / (1 - index)
    return np.stack([middle - far, middle + far])


def as_interval(intervals: GuardedIntervals, column: int, *, reach: float, units: int, unit: str = "topic") -> Interval:
    """Return the interval of one column, or the reason why there is none."""
    if not math.isnan(intervals.low[column]):
        assumes = (
            f"{unit}s are independent draws; one of a kind that was not asked may lie anywhere in the range"
            if math.isfinite(reach)
            else f"{unit}s are independent draws; one of a kind that was not asked lies within the tail that was seen"
        )
        return Interval(
            float(intervals.low[column]), float(intervals.high[column]), f"{METHOD} {unit}", f"{unit}s", assumes=assumes
        )
    if units < FEWEST:
        return no_interval(too_few_reason(units, unit) if units else "no value")
    return no_interval(
        f"the measure has no end near its values, and {units} {unit}s are too few to show its tail "
        f"(it takes {FEWEST_OPEN})"
    )


def typical_difference(each: npt.ArrayLike, *, level: float) -> tuple[float, Interval]:
    """Return the median of the topics' differences, (K,), and its interval from order statistics.

    The median is a different estimand from the mean, and is not moved by a few extreme topics. The interval inverts the
    sign test (P. Savur 1937; W. J. Conover, Practical Nonparametric Statistics, 1999, section 3.2). It reaches from the
    l-th smallest to the l-th largest difference, with l the largest number for which P(Binomial(K, ½) < l) <= (1 -
    level)/2. The coverage is at least `level` for every distribution. At .95, six topics are needed.
    """
    ordered = np.sort(np.asarray(each, dtype=np.float64))
    count = len(ordered)
    if not count:
        return math.nan, no_interval("no value")
    middle, tail, chance, rank = float(np.median(ordered)), (1 - level) / 2, 0.0, 0
    for below in range(count):
        chance += math.comb(count, below) / 2**count
        if chance > tail:
            break
        rank = below + 1
    if not rank:
        return middle, no_interval(f"{count} topics: too few for an interval of their median")
    low, high = float(ordered[rank - 1]), float(ordered[count - rank])
    return middle, Interval(low, high, "sign test", "nothing", assumes="topics are independent draws")
