"""Means over conversations with unequal weights, such as those of a population of users or of its strata.

    value        Σ w·a / Σ w·b        over all conversations of all topics
    effective n  (Σ w)² / Σ w²        the number of equally weighted conversations that would be as informative

Topics are the units, as for every figure: each contributes the sums of its own conversations, so that a topic may have
much or little of a rare stratum. The interval is that of a ratio of sums, whose unseen topic is as large as the largest
one observed (`scoring.inference.unseen_topic`): if few conversations have most of the weight it is wide, and with fewer
than four informative topics there is none.

Source: L. Kish, Survey Sampling (1965), section 11.7, for the effective number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import Interval, no_interval

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted mean.

    value: NaN without a conversation that has one. n: the number of conversations that count. effective: the number of
    equally weighted ones that would be as informative; 0 for none. topics: the number of their topics.
    """

    value: float
    interval: Interval
    n: int
    effective: float
    topics: int


def effective_number(weights: npt.ArrayLike) -> float:
    """Return (Σ w)² / Σ w² of nonnegative weights; 0 if all are 0, or there are none."""
    each = np.asarray(weights, dtype=np.float64)
    squares = float(np.square(each).sum())
    return float(each.sum()) ** 2 / squares if squares else 0.0


def weighted_ratio(
    topics: Sequence[str],
    above: npt.ArrayLike,
    below: npt.ArrayLike,
    weights: npt.ArrayLike,
    resampler: Resampler,
    *,
    bottom: float = 0.0,
    top: float = 1.0,
) -> Weighted:
    """Return the weighted mean, or ratio, over the conversations of these topics.

    topics: (T,) names. above, below: (T, N) of conversations, NaN for missing ones; below is 1 for a mean. weights:
    (T, N), not negative. bottom, top: the least and the largest value of a topic; infinite if unknown.
    """
    tall, flat, each = (np.asarray(side, dtype=np.float64) for side in (above, below, weights))
    there = ~(np.isnan(tall) | np.isnan(flat) | np.isnan(each)) & (each > 0)
    upper, lower = (np.where(there, side * each, np.nan) for side in (tall, flat))
    whole = float(np.nansum(lower))
    if not whole > 0:
        return Weighted(math.nan, no_interval("no value"), 0, 0.0, 0)
    counts = there & (lower > 0)
    found = resampler.ratios(topics, upper[..., None], lower[..., None], bottom=bottom, top=top)[0]
    return Weighted(
        float(np.nansum(upper)) / whole,
        found,
        int(counts.sum()),
        effective_number(each[counts]),
        int(counts.any(axis=1).sum()),
    )
