"""The mean under another distribution of the same paths, estimated from paths drawn under a known distribution.

Each conversation has a weight: the probability of all its user's decisions under the other user, divided by their
probability under the user that was played. The mean weight is 1, and E'[f] = E[w·f] for every figure f of a
conversation, if every decision of the other user is possible for the played user.

Weights have heavy tails, and the largest may be missing from the sample: hasty users hardly ever have the long
conversations of patient users. Neither the spread of the sample nor an effective number reliably shows this. But f lies
in [0, 1], so w·f and w·(1 - f) are at least 0 and their means sum to 1. So a lower bound of each mean is enough:

    low     the lower quantile of      Σ W_k·x_k / max(1, Σ W_k·(x_k + y_k))          x_k: the topic's mean of w·f
    high    1 - the lower quantile of  Σ W_k·y_k / max(1, Σ W_k·(x_k + y_k))          y_k: its mean of w·(1 - f)

    (W_1, …, W_K, W_0) ~ Dirichlet(1, …, 1, 1),  W_0 the weight of an unseen topic with x = y = 0

The lower bound of the mean of a nonnegative variable is Gaffke's, which assumes nothing about its tail. The missing
part of the weights' mean, 1 - Σ W·(x + y), counts as 0 below and as 1 above. If the weights' mean exceeds 1, the sums
are divided by this mean, because both ends would otherwise be too narrow.

The interval is withheld if Kish's effective number of topics is below four, or of conversations below ten: samples
without the heavy weights then give short intervals, which cover less. docs/simulators/populations.md reports the
coverage of the intervals and how often they are given.

Sources: D. Precup, R. S. Sutton and S. Singh, ICML 2000, 759-766 (per-decision importance sampling); N. Gaffke,
Mathematical Methods of Statistics 14 (2005), 451-467; L. Kish, Survey Sampling (1965), section 11.7.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import FEWEST, Interval, no_interval, too_few_reason
from scoring.inference.unseen_topic import fixed_weights
from topics.arrays import Floats


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """A weighted mean, NaN without any value, over `n` conversations of `topics` topics.

    `effective` is the number of equally weighted conversations that would be as informative; 0 if there are none.
    """

    value: float
    interval: Interval
    n: int
    effective: float
    topics: int


def effective_number(weights: npt.ArrayLike) -> float:
    """Return Kish's effective number (Σ w)² / Σ w² of nonnegative weights; 0 if no weight is positive."""
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
) -> WeightedMean:
    """Return the weighted mean, or ratio, over the conversations of these topics.

    `above` and `below` are (T, N) by topic, NaN for missing conversations; below is 1 for a mean. `weights` are (T, N),
    not negative. `bottom` and `top` are the lowest and the highest possible value of a topic, infinite if unknown.
    """
    tall, flat, each = (np.asarray(side, dtype=np.float64) for side in (above, below, weights))
    there = ~(np.isnan(tall) | np.isnan(flat) | np.isnan(each)) & (each > 0)
    upper, lower = (np.where(there, side * each, np.nan) for side in (tall, flat))
    whole = float(np.nansum(lower))
    if not whole > 0:
        return WeightedMean(math.nan, no_interval("no value"), 0, 0.0, 0)
    counts = there & (lower > 0)
    found = resampler.ratios(topics, upper[..., None], lower[..., None], bottom=bottom, top=top)[0]
    return WeightedMean(
        float(np.nansum(upper)) / whole,
        found,
        int(counts.sum()),
        effective_number(each[counts]),
        int(counts.any(axis=1).sum()),
    )


# The smallest effective number of conversations for a prediction.
FEWEST_CONVERSATIONS = 10

_METHOD = "Gaffke bounds of weighted"


@dataclass(frozen=True, slots=True)
class PredictedMean:
    """The estimated mean under the other user.

    - `value`: Σ w·f / Σ w, with equal weight for each topic; NaN if withheld, with the reason in the interval's note.
    - `n`: the number of conversations.
    - `effective`, `effective_units`: the numbers of equally weighted conversations and topics that are as informative.
    - `seen`: the mean weight, 1 on average. If it is far below 1, the other user's commonest behaviour is missing.
    """

    value: float
    interval: Interval
    n: int
    effective: float
    effective_units: float
    seen: float


def predict_mean(
    values: npt.ArrayLike, weights: npt.ArrayLike, *, level: float, clusters: Sequence[int] | None = None
) -> PredictedMean:
    """Estimate the mean of `values` under the other user, for topics like these.

    `values` are (K, N) in [0, 1]. Conversations without a value are NaN, and the interval allows for every value that
    these conversations could have. `weights` are (K, N), not negative, NaN for missing conversations; each topic has at
    least one conversation. `clusters` are the (K,) clusters of the topics, None if all topics are independent.
    """
    each, given = np.asarray(weights, dtype=np.float64), np.asarray(values, dtype=np.float64)
    there = ~np.isnan(each)
    counts = there.sum(axis=1)
    shares = np.where(there, each, 0.0) / np.maximum(counts, 1)[:, None]
    known = there & ~np.isnan(given)
    above = np.where(known, given, 0.0) * shares
    below = np.where(known, 1 - given, 0.0) * shares
    # A conversation without a value is in neither sum, and widens the interval at both ends.
    tops, bottoms, wholes = above.sum(axis=1), below.sum(axis=1), shares.sum(axis=1)
    sizes, unit = np.ones(len(each)), "topic"
    if clusters is not None and len(set(clusters)) < len(each):
        own = np.unique(np.asarray(clusters), return_inverse=True)[1]
        tops, bottoms, wholes, sizes = (
            np.bincount(own, side).astype(np.float64) for side in (tops, bottoms, wholes, sizes)
        )
        unit = "cluster"
    n = int(there.sum())
    effective, units = effective_number(shares[there]), effective_number(wholes / sizes)
    seen = float(wholes.sum() / sizes.sum()) if n else math.nan

    def withhold_mean(why: str) -> PredictedMean:
        return PredictedMean(math.nan, no_interval(why), n, effective, units, seen)

    if not n or not known.any():
        return withhold_mean("no value")
    if len(tops) < FEWEST:
        return withhold_mean(too_few_reason(len(tops), unit))
    if units < FEWEST:
        return withhold_mean(
            f"nearly all of the weight is in {units:.1f} {unit}s' worth of conversations (it takes {FEWEST})"
        )
    if effective < FEWEST_CONVERSATIONS:
        return withhold_mean(f"effective n {effective:.1f} of {n} conversations (it takes {FEWEST_CONVERSATIONS})")
    low, high = _lower_bound(tops, wholes, sizes, level), 1 - _lower_bound(bottoms, wholes, sizes, level)
    value = float(tops.sum() / (tops.sum() + bottoms.sum()))
    assumes = f"{unit}s are independent draws; the played user does all that the other may do"
    return PredictedMean(
        value, Interval(low, high, f"{_METHOD} {unit}s", f"{unit}s", assumes=assumes), n, effective, units, seen
    )


def _lower_bound(sums: Floats, wholes: Floats, sizes: Floats, level: float) -> float:
    order = np.lexsort((wholes, sums))
    weights = fixed_weights(len(sums), 1.0)
    tops, whole, size = (
        np.append(side[order], last) @ weights for side, last in ((sums, 0.0), (wholes, 0.0), (sizes, sizes.max()))
    )
    return float(np.quantile(tops / np.maximum(size, whole), (1 - level) / 2))
