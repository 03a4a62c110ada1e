"""Intervals over topics that allow for a kind of topic that was not asked.

Five topics that all went well say little about a sixth. An interval from the spread of the observed topics alone (a t
interval, a percentile of the bootstrap) misses the true value whenever a kind of topic is missing from the sample. So
the topics get random weights, as in the Bayesian bootstrap, and three quarters of a topic that was not asked are added:

    low     the lower quantile of   Σ W_k·x_k + W_0·bottom        (W_1, …, W_K, W_0) ~ Dirichlet(1, …, 1, 3/4)
    high    the upper quantile of   Σ W_k·x_k + W_0·top

`bottom` and `top` are the lowest and the highest possible value of a topic. In a ratio of sums each topic contributes
its numerator and its denominator, and the unseen topic is as large as the largest observed topic. With the mean or the
quadratic mean of the observed denominators instead, %recovery would cover .81 with 45 topics if 3% of topics always
fail and never recover: missing topics do not have the usual size. For shares that are ratios of sums (`pooled`), a
whole unseen topic is added.

With a whole topic this is Gaffke's bound, and Clopper and Pearson's interval if every topic has one of two values; with
half a topic it is nearly Jeffreys'. If topics are all good or all bad, the lowest coverage over all true shares, for 4
to 200 topics at a level of .95, is .92 with half a topic, .938 with three quarters and .95 with a whole topic. Both
ends are weighted means with weights of at least 0, so a better answer never lowers an end.

If scores never come near the end of the range, as for R, the end is not a usable top. The unseen topic then lies beyond
the best observed topic, at a distance that follows from the tail. Beyond x, values of a tail with Hill's index h are
x/(1 - h) on average. The unseen topic lies at twice this mean with up to 15 topics, and at 1.5 times with many. To
allow for a tail 30% heavier than observed, its distance is 2/(1 - 1.3·h) times the best topic's, with h from the
sqrt(K) best topics. The factor is at least `smallest_reach`, 1 + 4/sqrt(K), which is 3 for 4 topics and 1.6 for 45. It
is at most 8·(1 + 16/K), since a few lognormal topics would otherwise give no usable interval. With `smallest_reach`
alone, means of lognormal levels cover .82 with 4 topics at a σ of 1.5, and .87 with 200 at 2; means of Pareto levels
with an index of 1.5 cover .86. The numbers are our own; docs/calibration.md shows what they cover. The interval does
not allow for a kind of topic rarer than 4/K that lies further out, because no data show it.

Sources: D. B. Rubin, Annals of Statistics 9 (1981), 130-134; N. Gaffke, Three test statistics for a nonparametric
one-sided hypothesis on the mean of a nonnegative variable, Mathematical Methods of Statistics 14 (2005), 451-467; B. M.
Hill, Annals of Statistics 3 (1975), 1163-1174.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import beta_quantile, normal_quantile
from topics.arrays import Counts, Floats
from topics.identity import generator

# The size of the unseen topic, in topics.
UNSEEN = 0.75

# The same for a ratio of sums: with three quarters, ratios of five topics cover .92 if one topic dominates the sums.
_UNSEEN_OF_RATIOS = 1.0

_ROUNDING = 1e-9  # rounding of a sum, and no difference
_HEAVIER = 1.3  # how much heavier the tail may be than the observed tail
_FARTHEST = 8.0  # largest distance in multiples of the best topic's, with many topics; twice as far with 16 topics
_AS_MEAN, _FEW = 1.5, 15  # the unseen topic, in means beyond the best topic; half a mean more with few topics
_SOME_TAIL = 0.6  # the smallest tail index if the best topics are compared with topics that score 0
_DRAWS = 5_000  # at most, and fewer for many units, so that memory is bounded
_AT_ONCE = 2_000_000  # weights at a time, for one number of topics
_COLUMNS = 256  # shares that are computed at a time


def drawn_weights(rng: np.random.Generator, units: int, size: int, unseen: float = UNSEEN) -> Floats:
    """Draw (units + 1, size) unnormalised weights, with the unseen topic last."""
    shapes = np.append(np.ones(units), unseen)
    return np.ascontiguousarray(rng.standard_gamma(shapes, (size, units + 1)).T)  # draw after draw, in parts or at once


def append_unseen_topic(above: Floats, below: Floats, bottom: npt.ArrayLike, top: npt.ArrayLike) -> Floats:
    """Return the (K + 1, 2·C + D) values to be weighted: numerators for the low and the high end, then denominators.

    `above` and `below` are (K, C), `bottom` and `top` ratios of the unseen topic. D is 1 for equal denominators, else
    C.
    """
    size = np.sqrt((below**2).sum(axis=0) / np.maximum((below > 0).sum(axis=0), 1))
    largest = below.max(axis=0)
    size = np.where(largest > size * (1 + _ROUNDING), largest, size)  # equal sizes stay the same to the last bit
    low, high = (np.concatenate([above, (size * np.asarray(end))[None]]) for end in (bottom, top))
    whole = np.concatenate([below, size[None]])
    return np.concatenate([low, high, whole[:, :1] if (whole == whole[:, :1]).all() else whole], axis=1)


def interval_ends(low: Floats, high: Floats, level: float) -> tuple[Floats, Floats]:
    """Return (C,) low and high ends from (C, B) weighted means with the unseen topic at the bottom and at the top."""
    tail = (1 - level) / 2
    return _quantile(low, tail), _quantile(high, 1 - tail)


def weighted_means(products: Floats, columns: int) -> tuple[Floats, Floats]:
    """Return (C, B) low and high means from (2·C + D, B) weighted sums of the values of `append_unseen_topic`."""
    low, high, whole = np.split(products, (columns, 2 * columns))
    return low / whole, high / whole


def _quantile(rows: Floats, share: float) -> Floats:
    """Return (C,) quantiles of (C, B) numbers, as `np.quantile` does, in half the time."""
    place = (rows.shape[1] - 1) * share
    at = int(place)
    after, part = min(at + 1, rows.shape[1] - 1), place - at
    ordered = np.partition(rows, (at, after), axis=1)
    return _between(ordered[:, at], ordered[:, after], part)


def _between(least: Floats, most: Floats, part: float) -> Floats:
    return least + (most - least) * part if part < 0.5 else most - (most - least) * (1 - part)


def weighted_sums(values: Floats, weights: Floats) -> Floats:
    """Return the (C, B) sums of (rows, C) values with (rows, B) weights.

    BLAS is not used, because its last bits vary with the number of threads.
    """
    found: Floats = np.einsum("kc,kb->cb", values, weights)
    return found


def highest_low_end(units: int, level: float) -> float:
    """Return the lower of Clopper-Pearson's and Wilson's low end of a share, for `units` topics that all went well."""
    z = normal_quantile(0.5 + level / 2)
    return min(math.exp(math.log((1 - level) / 2) / units), units / (units + z * z))


def smallest_reach(units: int) -> float:
    """Return the smallest allowed ratio of an unseen topic to the best of `units`, for a measure without a top."""
    return 1 + 4 / math.sqrt(units)


def unseen_distance(values: Floats) -> Floats:
    """Return (C,) distances from 0 that an unseen topic may have, for a measure without a top.

    `values` is (K, C), K >= 2. The distance is at least `smallest_reach` times the best topic's. Hill's estimate
    compares the best sqrt(K) topics, at least two, with the next topic, or with the smallest score above 0 if the next
    is 0.
    """
    size = np.abs(values)
    units = len(size)
    best = min(units - 1, max(2, round(math.sqrt(units))))
    ordered = -np.sort(-size, axis=0)
    base = ordered[best]
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.log(ordered[:best] / base).mean(axis=0)
        for column in np.flatnonzero((base == 0) & (ordered[0] > 0)).tolist():
            above = ordered[:, column][ordered[:, column] > 0]
            known = float(np.log(above[:-1] / above[-1]).mean()) if len(above) > 1 else 0.0
            tail[column] = max(known, _SOME_TAIL)
        tail = np.where(ordered[0] > 0, tail, 0.0)
    most = _FARTHEST * (1 + 16 / units)
    mean = _AS_MEAN + 0.5 * min(1.0, _FEW / units)
    factor = mean / np.maximum(1 - _HEAVIER * tail, mean / most)
    found: Floats = np.maximum(factor, smallest_reach(units)) * ordered[0]
    return found


@cache
def answer_ends(useful: float, answers: float, level: float) -> tuple[float, float]:
    """Return the low and high end of a share for which every topic gave one answer.

    The weights of the useful answers sum to a beta variable, so no draws are needed. `useful` and `answers` are counts,
    answers > 0. For 4 to 225 answers the interval covers at least .938 at every rate. Wilson's interval is 5% shorter
    at a rate of .5, but covers .84 to .93.
    """
    tail, rest = (1 - level) / 2, answers - useful
    low = float(beta_quantile(tail, useful, rest + UNSEEN)) if useful > 0 else 0.0
    high = float(beta_quantile(1 - tail, useful + UNSEEN, rest)) if rest > 0 else 1.0
    most = highest_low_end(round(answers), level)
    return min(low, most), max(high, 1 - most)


def share_ends(above: Floats, below: Floats, level: float, *, pooled: bool = False) -> tuple[Floats, Floats]:
    """Return the low and the high ends, (C,) each and in [0, 1], of the intervals of C shares.

    `above` (K, C) counts the useful answers to each topic, and `below` (K, C), above 0, counts all answers. With below
    = 1, topics have equal weight. Set `pooled` for ratios of sums, in which topics have unequal weights. Weights depend
    on K alone, and the order of topics does not matter. More useful answers never lower an end.
    """
    units, columns = below.shape
    low, high = np.empty(columns), np.empty(columns)
    weights = fixed_weights(units, _UNSEEN_OF_RATIOS if pooled else UNSEEN)
    for start in range(0, columns, _COLUMNS):
        part = slice(start, start + _COLUMNS)
        order = np.lexsort((above[:, part], below[:, part]), axis=0)
        tops, bottoms = (np.take_along_axis(side[:, part], order, axis=0) for side in (above, below))
        sums = weighted_sums(append_unseen_topic(tops, bottoms, 0.0, 1.0), weights)
        low[part], high[part] = interval_ends(*weighted_means(sums, tops.shape[1]), level)
    most = highest_low_end(units, level)
    return np.minimum(low, most), np.maximum(high, 1 - most)


def pooled_ends(above: Floats, below: Floats, level: float) -> tuple[float, float]:
    """Return the low and high end of one ratio of sums, (K,) each, as `share_ends` does if `pooled`. A p asks for them
    at many levels, and so does each pair of a system, so the weighted ratios are kept, in order."""
    tail, units = (1 - level) / 2, len(below)
    low, high = _ordered_ratios(above.tobytes(), below.tobytes())
    most = highest_low_end(units, level)
    return min(_ordered_quantile(low, tail), most), max(_ordered_quantile(high, 1 - tail), 1 - most)


class PooledSides:
    """Ratios of sums, (K,) numerators and denominators each, of which `pooled_ends` are needed at many levels."""

    def __init__(self, sides: Sequence[tuple[Floats, Floats]]) -> None:
        ordered = [_ordered_ratios(above.tobytes(), below.tobytes()) for above, below in sides]
        self._units = [len(below) for _, below in sides]
        self._draws = np.array([len(low) for low, _ in ordered], dtype=np.int64)
        padded = np.full((2, len(sides), int(self._draws.max(initial=0))), math.nan)
        for row, both in enumerate(ordered):
            padded[:, row, : self._draws[row]] = both
        self._low, self._high = padded

    def ends(self, rows: Counts, levels: Floats) -> tuple[Floats, Floats]:
        """Return low and high ends of the sides in `rows`, each at its own level. Both arrays broadcast."""
        at, level = np.broadcast_arrays(rows, levels)
        tail = (1 - level) / 2
        least = [highest_low_end(self._units[row], one) for row, one in zip(at.flat, level.flat, strict=True)]
        most = np.array(least).reshape(at.shape)
        low, high = self._quantile(self._low, at, tail), self._quantile(self._high, at, 1 - tail)
        return np.minimum(low, most), np.maximum(high, 1 - most)

    def _quantile(self, ordered: Floats, rows: Counts, share: Floats) -> Floats:
        last = self._draws[rows] - 1
        place = last * share
        at = place.astype(np.int64)
        least, most, part = ordered[rows, at], ordered[rows, np.minimum(at + 1, last)], place - at
        return np.where(part < 0.5, least + (most - least) * part, most - (most - least) * (1 - part))


@lru_cache(maxsize=256)
def _ordered_ratios(above: bytes, below: bytes) -> tuple[Floats, Floats]:
    tops, bottoms = (np.frombuffer(side) for side in (above, below))
    order = np.lexsort((tops, bottoms))
    values = append_unseen_topic(tops[order][:, None], bottoms[order][:, None], 0.0, 1.0)
    low, high = weighted_means(weighted_sums(values, share_weights(len(order))), 1)
    return np.sort(low[0]), np.sort(high[0])


def _ordered_quantile(ordered: Floats, share: float) -> float:
    place = (len(ordered) - 1) * share
    at = int(place)
    return float(_between(ordered[at], ordered[min(at + 1, len(ordered) - 1)], place - at))


def share_weights(units: int) -> Floats:
    """Return the (units + 1, B) weights that `share_ends` uses for a ratio of sums."""
    return fixed_weights(units, _UNSEEN_OF_RATIOS)


def drawn_ratios(
    above: Floats, below: Floats, bottom: float, top: float, level: float, *, unseen: float = 1.0
) -> tuple[float, float]:
    """Return the low and high end of a ratio of sums over (K,) units, below > 0.

    The weights depend on the number of units alone. `bottom` and `top` are finite ratios of the unseen unit, whose size
    is `unseen` times the largest unit's size.
    """
    order = np.lexsort((above, below))
    sides = append_unseen_topic(above[order][:, None], below[order][:, None], bottom, top)
    sides[-1] *= unseen
    lows, highs = interval_ends(*weighted_means(weighted_sums(sides, fixed_weights(len(above), UNSEEN)), 1), level)
    return float(lows[0]), float(highs[0])


@lru_cache(maxsize=16)
def fixed_weights(units: int, unseen: float) -> Floats:
    """Return (units + 1, draws) unnormalised weights, with the unseen topic last.

    The weights depend on the arguments alone. `unseen` is the size of the unseen topic, in topics; 0 gives it no
    weight. There are 1,000 to 5,000 draws, fewer with more topics.
    """
    size = max(1000, min(_DRAWS, _AT_ONCE // units)) // 2
    half = drawn_weights(generator(0, "unseen topic", str(units)), units, size, unseen)
    # Each draw is used with both orders of topics, so that it does not matter which answer is called useful.
    return np.concatenate([half, np.concatenate([half[-2::-1], half[-1:]])], axis=1)
