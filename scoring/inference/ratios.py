"""The ratio of two systems' figures, such as "only about 9.8% of the R score" ([GFRC] §6.2).

A ratio r is plausible if the first figure and r times the second one may be equal, so the interval is

    { r >= 0 : the interval of the difference  a - r·b  includes 0 }          a, b: the figures of both sides

(Fieller's method, with the interval of a difference that fits the design). So a ratio covers its true value as often
as a difference does, and no figure is divided by one that may be 0. The interval includes 1 whenever that of the
difference includes 0. If b itself may be 0, the interval has no upper end; to leave it out then would keep those
studies in which b happened to be large.

The search is by the angle t of a·cos(t) - b·sin(t), which treats both sides alike: r = tan(t). For topics like these,
topics get random weights and part of an unseen topic is added, as in `scoring.inference.differences`. The unseen
topic's a·cos(t) - b·sin(t) lies between -top·sin(t) and top·cos(t), since values are never below 0. If the measure has
no end near its values, the unseen topic lies within the tail that was seen, and top is the end of that side's tail or
of the tail of the difference, whichever is further away. With each side's own tail alone, the ratio excluded 1 in 118
of 400 studies of lognormal levels in which the difference included 0.

Sources: E. C. Fieller, Journal of the Royal Statistical Society B 16 (1954), 175-185; for figures that are themselves
ratios of sums, R. G. Newcombe, Statistical Methods in Medical Research 25 (2016), 1774-1778 (MOVER-R).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.inference.aligned import Aligned
from scoring.inference.differences import unit_weights, unseen_positions
from scoring.inference.interval import Interval, no_interval
from scoring.inference.paired import Estimand, compare_these
from scoring.inference.proportions import clopper_pearson_ends
from scoring.inference.ratio_differences import has_few_turns, mover_ends, ratio_ends
from scoring.inference.sides import compare_sides
from scoring.inference.unseen_topic import highest_low_end, weighted_sums
from scoring.settings import Guard
from topics.arrays import Floats

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_HALVINGS = 24  # the end of an interval is then known to 1e-7 of the angle

# Whether a·cos(t) - b·sin(t) may be 0, for an angle t from 0 (a alone) to π/2 (b alone).
MayBeZero = Callable[[float], bool]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The figure of one system divided by the figure of another.

    - `above`, `below`: the names of the systems. `below` has the higher figure of a pair.
    - `value`: from 0 to 1; NaN if both figures are 0, or one is undefined or below 0.
    - `interval`: its upper end is infinite if the figure of `below` may be 0.
    """

    above: str
    below: str
    value: float
    interval: Interval


def compare_ratio(
    aligned: Aligned,
    first: int,
    second: int,
    difference: Interval,
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    reach: float,
    guard: Guard = "unseen",
    bounds: Sequence[Aligned] = (),
) -> Ratio:
    """Return the lower figure of two columns as a share of the higher one.

    `difference` is the interval of the columns' difference: without it, the ratio has none for the same reason. The
    other arguments are those of `compare_sides`. `bounds` are the alignments with all losses of the first side at the
    low end of the measure and those of the second at the high end, and the other way round; the interval then spans
    the intervals of both.
    """
    figures = aligned.figures[[first, second]]
    if figures[0] > figures[1]:
        first, second = second, first
    names = aligned.systems[first], aligned.systems[second]
    low, high = sorted(figures)
    if not high >= low:
        return Ratio(*names, math.nan, no_interval("no value"))
    if low < 0 or (aligned.topic_figures[:, [first, second]] < 0).any():
        return Ratio(*names, math.nan, no_interval("values below 0 have no meaningful ratio"))
    if high <= _SAME:
        return Ratio(*names, math.nan, no_interval("both figures are 0"))
    if not difference.is_defined:
        return Ratio(*names, float(low / high), no_interval(difference.note))
    if aligned.pooled and aligned.sessions[[first, second]].any():
        why = "sessions go on from topic to topic, and each figure is itself a ratio of sums"
        return Ratio(*names, float(low / high), no_interval(why))

    def ends_of(one: Aligned) -> tuple[float, float]:
        may_be_zero = _may_be_zero(one, first, second, rng, estimand, level, reach, guard)
        return _search_ends(float(one.figures[first]), float(one.figures[second]), difference, may_be_zero)

    ends = [ends_of(one) for one in (aligned, *bounds)]
    interval = replace(
        difference,
        low=min(end[0] for end in ends),
        high=max(end[1] for end in ends),
        method=f"{difference.method}, solved for the ratio (Fieller)",
    )
    if math.isinf(interval.high):
        interval = replace(interval, note=f"no upper end, for the figure of {names[1]} may be 0")
    return Ratio(*names, float(low / high), interval)


def _search_ends(above: float, below: float, difference: Interval, may_be_zero: MayBeZero) -> tuple[float, float]:
    """Return the ends of the ratios around above/below that may be true: 0 or more, and infinity or less. If the
    interval of the difference includes 0, they lie around 1, too."""
    middle, equal = math.atan2(above, below), math.pi / 4

    def search(inside: float, outside: float) -> float:
        if may_be_zero(outside):
            return outside
        for _ in range(_HALVINGS):
            half = (inside + outside) / 2
            inside, outside = (half, outside) if may_be_zero(half) else (inside, half)
        return outside

    first, last = search(middle, 0.0), search(middle, math.pi / 2)
    if difference.contains(0.0):  # what is plausible need not be one interval, and halving may pass over a part of it
        first = first if first <= equal else search(equal, 0.0)
        last = last if last >= equal else search(equal, math.pi / 2)
    return math.tan(first), math.inf if last == math.pi / 2 else math.tan(last)


def _may_be_zero(
    aligned: Aligned,
    first: int,
    second: int,
    rng: np.random.Generator,
    estimand: Estimand,
    level: float,
    reach: float,
    guard: Guard,
) -> MayBeZero:
    sides = [first, second]
    above, below = aligned.above[:, sides], aligned.below[:, sides]
    if estimand == "like-these" and aligned.clusters is not None:
        own = (np.arange(aligned.clusters.max() + 1)[:, None] == aligned.clusters).astype(np.float64)
        above, below = own @ above, own @ below
    tops, bottoms = above.sum(axis=0), below.sum(axis=0)
    if aligned.pooled and estimand == "like-these":
        return _ratios_may_be_equal(tops / bottoms, *ratio_ends(above, below, level))
    if aligned.pooled and has_few_turns(tops, bottoms):
        return _ratios_may_be_equal(tops / bottoms, *clopper_pearson_ends(tops, bottoms, level))
    if not aligned.sessions[sides].any() and estimand == "like-these" and guard == "unseen":
        return _means_may_be_equal(above, below[:, 0], level, reach)

    def may_be_zero(angle: float) -> bool:
        scale = np.ones(len(aligned.systems))
        scale[first], scale[second] = math.cos(angle), math.sin(angle)
        noise = aligned.noise * scale**2
        if aligned.pooled:
            values = aligned.values * scale
            each = values[:, first] - values[:, second]
            found = compare_these(each, noise[:, sides], aligned.trials[:, sides], level=level, reach=reach)
        else:
            scaled = replace(aligned, above=aligned.above * scale, noise=noise, shared=aligned.shared * scale**2)
            found = compare_sides(scaled, first, second, rng, estimand=estimand, level=level, reach=reach, guard=guard)
        # If the difference has an interval, an angle has none only if nothing varies there.
        return found.interval.contains(0.0) if found.interval.is_defined else abs(found.value) <= _SAME

    return may_be_zero


def _ratios_may_be_equal(ratios: Floats, lows: Floats, highs: Floats) -> MayBeZero:
    def may_be_zero(angle: float) -> bool:
        scale = np.array([math.cos(angle), math.sin(angle)])
        low, high = mover_ends(ratios * scale, lows * scale, highs * scale)
        return bool(low <= 0 <= high)

    return may_be_zero


def _means_may_be_equal(above: Floats, sizes: Floats, level: float, reach: float) -> MayBeZero:
    """Compare means over units with an unseen unit. `above` (U, 2) are sums over units, and `sizes` (U,) the numbers of
    topics in them."""
    order = np.lexsort((above[:, 1], above[:, 0], sizes))
    sums, sizes = above[order], sizes[order]
    means = sums / sizes[:, None]
    weights = unit_weights(len(sums))
    one, other = weighted_sums(np.ascontiguousarray(sums), np.ascontiguousarray(weights[:-1]))
    unseen = weights[-1] * sizes.max()
    if math.isfinite(reach):
        tops = np.full(2, reach)
    else:
        low, high = unseen_positions(means[:, :1] - means[:, 1:])[:, 0]
        tops = np.maximum(unseen_positions(means)[1], [high, -low])
    most, tail = highest_low_end(len(sums), level), (1 - level) / 2

    def may_be_zero(angle: float) -> bool:
        cos, sin = math.cos(angle), math.sin(angle)
        lowest, highest = -tops[1] * sin, tops[0] * cos
        surely_above = surely_below = True
        if math.isinf(reach):
            low, high = unseen_positions(means[:, :1] * cos - means[:, 1:] * sin)[:, 0]
            lowest, highest = max(lowest, low), min(highest, high)
        else:  # what an interval could exclude if all units were at one end of the range
            span = highest - lowest
            surely_above, surely_below = -lowest / span < most, highest / span < most
        values = one * cos - other * sin
        surely_above &= (values + unseen * lowest <= 0).mean() <= tail
        surely_below &= (values + unseen * highest >= 0).mean() <= tail
        return not (surely_above or surely_below)

    return may_be_zero
