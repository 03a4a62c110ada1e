"""Comparison of two sides. This module chooses the method, by the design and the kind of figure.

    figure             topics like these                              these topics
    mean over topics   unseen topic (or t), exchanging sides          t over trials within topics
    ratio of sums      each ratio's own interval, squared and added   t over trials; exact, or none, if turns are few
    continued sessions t clustered by topic and session               t clustered by session

Studies pass the sides and the estimand, and choose no method themselves.
"""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scoring.inference.aligned import Aligned
from scoring.inference.differences import smallest_p
from scoring.inference.interval import Interval, no_interval
from scoring.inference.paired import Estimand, PairedTest, compare_like_these, compare_these
from scoring.inference.ratio_differences import exact_ratios, has_few_turns, ratios_like_these
from scoring.inference.sessions import compare_sessions
from scoring.settings import Guard
from topics.arrays import Floats


def compare_sides(
    aligned: Aligned,
    first: int,
    second: int,
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    reach: float,
    guard: Guard = "unseen",
) -> PairedTest:
    """Compare the figures of two columns, first minus second.

    `reach` is the largest possible difference of a topic, infinite if values never come near the end of the range. For
    topics like these, `guard` chooses whether the interval allows for an unseen kind of topic. p is NaN if no test is
    exact.
    """
    sides = [first, second]
    values = aligned.values[:, sides]
    each = values[:, 0] - values[:, 1]
    if not len(each) or np.isnan(each).any():
        return compare_like_these(each, rng, level=level)
    noise, trials = aligned.noise[:, sides], aligned.trials[:, sides]
    clusters = aligned.clusters if estimand == "like-these" else None
    if aligned.sessions[sides].any():
        found = compare_sessions(
            each,
            noise,
            aligned.shared[sides],
            aligned.sessions[sides],
            estimand=estimand,
            level=level,
            reach=reach,
            clusters=clusters,
        )
        if not found.interval.is_defined or (guard == "none" and not aligned.pooled):
            return found
        alone = _compare_fresh(aligned, sides, each, noise, trials, clusters, rng, estimand, level, reach, guard)
        # The hull of two intervals of one difference, and the larger of their p.
        if not alone.interval.is_defined:
            return replace(found, interval=alone.interval, p=math.nan, outside=math.nan, typical=alone.typical)
        ends = found.interval, alone.interval
        interval = Interval(
            min(end.low for end in ends),
            max(end.high for end in ends),
            found.interval.method,
            found.interval.resampled,
            assumes=f"{found.interval.assumes}; {alone.interval.assumes}",
        )
        return replace(found, interval=interval, outside=max(found.outside, alone.outside), least=alone.least)
    return _compare_fresh(aligned, sides, each, noise, trials, clusters, rng, estimand, level, reach, guard)


def _compare_fresh(
    aligned: Aligned,
    sides: list[int],
    each: Floats,
    noise: Floats,
    trials: npt.NDArray[np.int64],
    clusters: npt.NDArray[np.int64] | None,
    rng: np.random.Generator,
    estimand: Estimand,
    level: float,
    reach: float,
    guard: Guard,
) -> PairedTest:
    above, below = aligned.above[:, sides], aligned.below[:, sides]
    if not aligned.pooled:
        if estimand == "these":
            return compare_these(each, noise, trials, level=level, reach=reach)
        return compare_like_these(each, rng, level=level, reach=reach, guard=guard, clusters=clusters)
    value = float(each.mean()) + 0.0
    if estimand == "these":
        if aligned.scarce[sides].any():
            why = "too few conversations of a kind, which count several times each"
            return PairedTest(value, no_interval(why), math.nan, math.nan, 0.0)
        if not has_few_turns(above.sum(axis=0), below.sum(axis=0)):
            return compare_these(each, noise, trials, level=level, reach=reach)
        interval, p = exact_ratios(above.sum(axis=0), below.sum(axis=0), level=level)
        return PairedTest(value, interval, p, p, 0.0)
    units, unit = above, "topic"
    sizes = below
    if clusters is not None:
        own = np.arange(clusters.max() + 1)[:, None] == clusters
        units, sizes, unit = own @ above, own @ below, "cluster"
    interval, p = ratios_like_these(units, sizes, level=level, unit=unit)
    return PairedTest(value, interval, p, p, smallest_p(len(units)))


def combine_extremes(test: PairedTest, ends: tuple[PairedTest, PairedTest]) -> PairedTest:
    """Combine the extremes of a difference: the hull of both intervals, and the larger p, or 1 if signs differ."""
    low, high = sorted(ends, key=lambda one: one.value)
    if not (low.interval.is_defined and high.interval.is_defined):
        missing = low if not low.interval.is_defined else high
        return replace(test, interval=missing.interval, p=math.nan, outside=math.nan)
    interval = Interval(
        low.interval.low,
        high.interval.high,
        f"{test.interval.method or low.interval.method}, within the bounds of what was lost",
        low.interval.resampled,
        assumes=low.interval.assumes,
    )
    agree = low.value * high.value > 0
    p, outside = (max(low.p, high.p), max(low.outside, high.outside)) if agree else (1.0, 1.0)
    return replace(test, interval=interval, p=p, outside=outside)
