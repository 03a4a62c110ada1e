"""The difference between two ratios of sums, such as %recovery: recoveries over first turns that failed.

The uncertainty of a ratio depends on its denominator: a single failure says next to nothing about a system's rate of
recovery, however often the other system failed. So each side has its own interval, and the distances to the ends are
squared and added (MOVER):

    low  = d - √((a - a_low)² + (b_high - b)²)        high = d + √((a_high - a)² + (b - b_low)²),   d = a - b

For topics like these, each side's interval is that of a ratio (`scoring.inference.unseen_topic`; topics without a
failed turn are not units). For these topics, if failed turns are few, it is Clopper and Pearson's, given the number of
failed turns. Exchanging the pseudo-values of topics, which is exact for means, is not valid here: if one side failed in
one topic only, its pseudo-values are equal except in this topic. All differences then have one sign, and 92 of 100 such
studies would name a winner.

p is the smallest error probability at which the interval excludes 0.

Source: R. G. Newcombe, Statistics in Medicine 17 (1998), 873-890, method 10; G. Y. Zou and A. Donner, Statistics in
Medicine 27 (2008), 1693-1702.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval, no_interval
from scoring.inference.proportions import clopper_pearson_ends
from scoring.inference.unseen_topic import PooledSides, pooled_ends
from topics.arrays import Floats
from topics.counting import pluralize

# From a level of each study, (...), to the low and high ends of both sides: (..., 2) each.
Ends = Callable[[Floats], tuple[Floats, Floats]]

_HALVINGS = 14  # to four digits
_FEW_TURNS, _FEW_OF_A_KIND = 20, 5


def mover_ends(ratios: Floats, lows: Floats, highs: Floats) -> tuple[Floats, Floats]:
    """Return the low and high ends (...) of ratios[..., 0] - ratios[..., 1]. All arguments are (..., 2)."""
    value = ratios[..., 0] - ratios[..., 1]
    down, up = ratios - lows, highs - ratios
    return value - np.hypot(down[..., 0], up[..., 1]), value + np.hypot(up[..., 0], down[..., 1])


def mover_p(ratios: Floats, ends_at: Ends) -> Floats:
    """Return the smallest error probability (...), in (0, 1], at which the interval excludes 0."""
    low, high = np.zeros(ratios.shape[:-1]), np.ones(ratios.shape[:-1])
    least = np.full(low.shape, 2.0**-_HALVINGS)
    # By halving: intervals are nested, so all intervals above some error probability exclude 0. Each study has a
    # separate bracket. Many studies at once, as in `scoring.inference.ratio_power`, need one level only.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        first, last = mover_ends(ratios, *ends_at(1 - middle))
        outside = (first > 0) | (last < 0)
        low, high = np.where(outside, low, middle), np.where(outside, middle, high)
    return np.asarray(np.maximum(high, least))


def ratios_like_these(
    above: npt.ArrayLike, below: npt.ArrayLike, *, level: float, unit: str = "topic"
) -> tuple[Interval, float]:
    """Return the interval and p of the difference for topics like these, NaN if undefined.

    `above` and `below` (U, 2) are numerators and denominators of both sides by unit. There is no interval and no p if a
    side has a positive denominator in fewer than four units, as in `score`.
    """
    tops, bottoms = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    there = (bottoms > 0).sum(axis=0)
    few = int(there.min())
    if few < FEWEST:
        side = "the first" if there[0] == few else "the second"
        return no_interval(
            f"{side} system has {pluralize(few, unit)} with a first turn that failed, too few to tell"
        ), math.nan

    ratios = tops.sum(axis=0) / bottoms.sum(axis=0)
    low, high = mover_ends(ratios, *ratio_ends(tops, bottoms, level))
    p = float(ratio_ps(tops, bottoms, [(0, 1)])[0])
    interval = Interval(
        float(low),
        float(high),
        f"two intervals with an unseen {unit}, squared and added",
        f"{unit}s",
        assumes=f"{unit}s are independent draws; one of a kind that was not asked may have a ratio of 0 or 1",
    )
    return interval, p


def ratio_ps(above: Floats, below: Floats, places: Sequence[tuple[int, int]]) -> Floats:
    """Return the (pairs,) p of `ratios_like_these` for two columns each, at `places`, of (U, m) numerators and
    denominators."""
    there = below > 0
    pairs = np.array(places).reshape(-1, 2)
    known = (there.sum(axis=0) >= FEWEST)[pairs].all(axis=1)
    columns = np.unique(pairs[known])
    rows = np.zeros(below.shape[1], dtype=np.int64)
    rows[columns] = np.arange(len(columns))
    sides = PooledSides([(above[there[:, at], at], below[there[:, at], at]) for at in columns])
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (above.sum(axis=0) / below.sum(axis=0))[pairs[known]]
    found = np.full(len(pairs), math.nan)
    found[known] = mover_p(ratios, lambda levels: sides.ends(rows[pairs[known]], levels[:, None]))
    return found


def ratio_ends(above: Floats, below: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the low and high ends, (2,) each, of each side's ratio for topics like these.

    `above` and `below` (U, 2) are numerators and denominators by unit. A unit without a denominator does not count.
    """
    sides = []
    for column in (0, 1):
        own = below[:, column] > 0
        sides.append(pooled_ends(above[own, column], below[own, column], level))
    low, high = np.array(sides).T
    return low, high


def has_few_turns(above: npt.ArrayLike, below: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return True (...) if a side's turns, (..., 2), are too few or too one-sided for all but the exact interval."""
    tops, bottoms = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    few = (bottoms < _FEW_TURNS) | (np.minimum(tops, bottoms - tops) < _FEW_OF_A_KIND)
    return np.asarray(few.any(axis=-1))


def exact_ratios(above: npt.ArrayLike, below: npt.ArrayLike, *, level: float) -> tuple[Interval, float]:
    """Return the interval and p of the difference for these very topics, given the number of failed turns.

    `above` (2,) holds the recoveries of each side, and `below` (2,) its failed turns. If a system recovers at different
    rates in different topics, the number of recoveries varies less than a binomial number (W. Hoeffding, Annals of
    Mathematical Statistics 27 (1956), 713-721), so the interval is conservative. Interval and p are NaN if a side has
    no failed turn.
    """
    tops, bottoms = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if bottoms.min() <= 0:
        return no_interval("a side has no first turn that failed"), math.nan
    ratios = tops / bottoms

    low, high = mover_ends(ratios, *clopper_pearson_ends(tops, bottoms, level))
    p = float(mover_p(ratios, lambda chosen: clopper_pearson_ends(tops, bottoms, float(chosen))))
    method = "two Clopper-Pearson intervals, squared and added"
    return Interval(float(low), float(high), method, "nothing", assumes="trials are independent"), p
