"""Intervals of the variance between topics and between trials of a topic.

A variance depends on the topics that lie far out, and a small sample may not include such topics. So topics get random
weights, as in the intervals of means (`scoring.inference.unseen_topic`), and a topic that was not asked is added:

    low     the lower quantile of the variance of the topics that were asked, with weights (W_1, …, W_K)
    high    the upper quantile of the variance with an unseen topic, (W_1, …, W_K, W_0), times K/(K - 1)

(W_1, …, W_K, W_0) ~ Dirichlet(1, …, 1, 3/4). The unseen topic lies at the end of the measure's range that makes the
variance larger. If a measure has no top, such as R or seconds, the data do not show how far out a topic can be. The
unseen topic then lies c times as far from the median as the farthest topic, with

    c = 40^ξ, at least 2 and at most 8,      ξ: Hill's tail index of the fifth of the topics that lie farthest out

which is where a Pareto tail has a topic that occurs once in 40·K topics. c is about 3 for normal topics and 8 for most
tails heavier than the exponential distribution's. Fewer than 45 topics do not show a tail, so there is no interval.

The contribution of trials to the means of topics is subtracted within each draw. A share of the variance (the ICC)
follows from the ends of its two parts: its low end is low / (low + the other part's high), and its high end high /
(high + the other part's low). If the range has two ends, the high end is a quantile of the shares of draws, which is
narrower and suffices. If there is no top, each part has its own c, because trials may have a heavier tail than topics:
with c = 2 in both, the share covered .75 in such simulations.

docs/variance.md reports coverage and widths. Spreads of systems are in `scoring.inference.crossed_spreads`.

Sources: B. M. Hill, Annals of Statistics 3 (1975), 1163-1174, for the tail index. The factors are ours.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scoring.inference.interval import FEWEST, Interval, no_interval, too_few_reason
from scoring.inference.unseen_topic import UNSEEN, fixed_weights
from topics.arrays import Counts, Floats

# The fewest topics for a spread if the measure has no top. With 15, intervals of lognormal and Pareto topics cover
# the truth in .46 to .92, however far out the unseen topic reasonably lies.
FEWEST_WITHOUT_TOP = 45

METHOD = "weights with an unseen topic"

SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_TINY = 1e-300  # keeps numbers above 0 before a logarithm or a division
_ROUNDING = 1e-9  # what rounding leaves beyond a range
_RARER, NEAREST, _FARTHEST = 40.0, 2.0, 8.0
_TAIL = 0.2  # the share of topics behind a tail index


@dataclass(frozen=True, slots=True)
class Range:
    """The lowest and the highest possible value, and whether values come near the highest."""

    bottom: float = -math.inf
    top: float = math.inf
    has_top: bool = True

    @property
    def is_bounded(self) -> bool:
        """True if the lowest and highest values are finite and values come near both."""
        return self.has_top and math.isfinite(self.bottom) and math.isfinite(self.top)

    def clip(self, values: Floats | float) -> Floats:
        return np.clip(values, self.bottom, self.top)

    def check_values(self, values: Floats) -> None:
        if (
            self.is_bounded
            and values.size
            and (values.min() < self.bottom - _ROUNDING or values.max() > self.top + _ROUNDING)
        ):
            raise ValueError(f"values must be in their range, but go from {values.min():g} to {values.max():g}")

    @property
    def largest_variance(self) -> float:
        return (self.top - self.bottom) ** 2 / 4

    def missing_interval_reason(self, topics: int) -> str:
        if topics < FEWEST:
            return too_few_reason(topics)
        if not self.is_bounded and topics < FEWEST_WITHOUT_TOP:
            return (
                f"{topics} topics: where a measure has no top, a spread asks for {FEWEST_WITHOUT_TOP}, since a few "
                "topics far out decide it"
            )
        return ""

    @property
    def assumptions(self) -> str:
        independent = "topics are independent draws"
        return independent if self.is_bounded else f"{independent}, and none is both rare and far beyond those asked"


# The range of values if nothing is known.
UNKNOWN = Range()


def nested_ends(
    mean: Floats, own: Floats, counts: Counts, within: Range, *, level: float
) -> tuple[Interval, Interval, Interval]:
    """Return one system's intervals of the variance between topics, of the variance between trials, and of the ICC.

    `mean`, `own` and `counts` (topics,) are the mean, variance and number of trials of each topic. A topic with one
    trial gets the mean variance of the other topics. `within` is the range of the values, and `level` is in (0, 1).
    """
    several = counts > 1
    why = within.missing_interval_reason(int(several.sum())) or within.missing_interval_reason(len(mean))
    if why:
        what = "" if several.all() else ", counting those with two trials"
        return (no_interval(why + what),) * 3
    order = np.lexsort((own, mean))  # the interval does not depend on the order of the topics
    mean, own, counts, several = mean[order], own[order], counts[order], several[order]
    each = float(several.sum() / (1 / counts[several]).sum())
    tail, far = (1 - level) / 2, unseen_positions(mean, within)
    largest = largest_variance(mean, own, each, within)
    if far is None or not largest > 0:
        why = "every topic has the same value" if far is None else "trials of a topic all agree"
        of_trial = make_interval(_trial_ends(own[several], largest, tail), within) if largest > 0 else no_interval(why)
        of_topic = (
            no_interval(why)
            if far is None
            else make_interval(_topic_ends(mean, own / counts, far, within, tail), within)
        )
        return of_topic, of_trial, no_interval(why)
    topic = _topic_ends(mean, own / counts, far, within, tail)
    trial = _trial_ends(own[several], largest, tail)
    if within.is_bounded:
        # At the high end both parts come from one draw. At the low end that would cover .92 if two topics dominate.
        trials = own @ topic_weights(len(own), UNSEEN)[:-1]
        drawn = [np.maximum(one, 0.0) for one in _topic_draws(mean, own / counts, far)[1:]]
        high = max(_end(one / np.maximum(one + trials, _TINY), 1 - tail) for one in drawn)
        icc = share_ends(topic, trial)[0], high
    else:
        icc = share_ends(topic, trial)
    return make_interval(topic, within), make_interval(trial, within), make_interval(icc, within)


def _topic_ends(
    mean: Floats, noise: Floats, far: tuple[float, float], within: Range, tail: float
) -> tuple[float, float]:
    low, *highs = _topic_draws(mean, noise, far)
    return _end(low, tail), min(max(_end(high, 1 - tail) for high in highs), within.largest_variance)


def _topic_draws(mean: Floats, noise: Floats, far: tuple[float, float]) -> list[Floats]:
    topics = len(mean)
    shifted = mean - mean.mean()
    asked, unseen = topic_weights(topics, 0.0)[:-1], topic_weights(topics, UNSEEN)
    found = [_variance(shifted, asked) - noise @ asked]
    for place in far:
        with_it = np.append(shifted, place - mean.mean())
        found.append(_variance(with_it, unseen) * topics / (topics - 1) - noise @ unseen[:-1])
    return found


def _end(draws: Floats, share: float) -> float:
    return max(0.0, float(np.quantile(draws, share)))


def _trial_ends(own: Floats, largest: float, tail: float) -> tuple[float, float]:
    weights = topic_weights(len(own), UNSEEN)
    drawn = own @ weights[:-1]
    return _end(drawn, tail), _end(drawn + weights[-1] * largest, 1 - tail)


def share_ends(one: tuple[float, float], rest: tuple[float, float]) -> tuple[float, float]:
    """Return the low and high end of one / (one + rest) from the ends of `one` and `rest`; NaN if an end is NaN."""
    low, high = one[0] + rest[1], one[1] + rest[0]
    return (0.0 if low <= 0 else one[0] / low), (1.0 if high <= 0 else one[1] / high)


def unseen_positions(mean: Floats, within: Range) -> tuple[float, float] | None:
    """Return the lowest and the highest position of an unseen topic; None if all topics are alike."""
    if within.is_bounded:
        return within.bottom, within.top
    middle = float(np.median(mean))
    away = np.abs(mean - middle)
    far = distance_factor(away) * float(away.max())
    if not far > SAME:
        return None
    low, high = within.clip(np.array([middle - far, middle + far]))
    return float(low), float(high)


def largest_variance(mean: Floats, own: Floats, values: float, within: Range) -> float:
    """Return the variance of an unseen topic's trials, with a tail at least as heavy as the tail of topics."""
    # A variance of n values in the range is at most n/(n - 1) times the largest variance of a distribution.
    most = within.largest_variance * values / (values - 1)
    if within.is_bounded:
        return most
    c = max(distance_factor(np.sqrt(own)), distance_factor(np.abs(mean - np.median(mean))))
    return float(min(most, c * c * float(own.max())))


def distance_factor(away: Floats) -> float:
    """Return the factor 40^ξ, in [2, 8], by which an unseen topic may lie further out than the farthest topic.

    `away` (topics,) is the distance of each topic, at least 0. ξ is the mean of the logarithm of the farthest fifth
    divided by the next topic: 0.3 for normal topics, 0.6 for exponential topics, 0.5 to 0.9 with one outlier in ten.
    """
    falling = -np.sort(-away)
    some = math.ceil(_TAIL * len(away))
    next_one = max(float(falling[some]), 1e-3 * float(falling[0]))
    if not next_one > 0:
        return NEAREST
    index = float(np.log(np.maximum(falling[:some], next_one) / next_one).mean())
    return float(min(_FARTHEST, max(NEAREST, _RARER**index)))


def _variance(values: Floats, weights: Floats) -> Floats:
    first: Floats = values @ weights
    return np.asarray((values * values) @ weights - first * first)


@lru_cache(maxsize=8)
def topic_weights(topics: int, unseen: float) -> Floats:
    """Return (topics + 1, draws) weights that sum to 1 in each draw; the last row is for the unseen topic."""
    weights = fixed_weights(topics, unseen)
    return np.asarray(weights / weights.sum(axis=0))


def make_interval(ends: tuple[float, float], within: Range) -> Interval:
    """Return an interval, or the reason for none if the noise of trials hides any variance between topics."""
    if not ends[1] > ends[0]:
        return no_interval("trials of a topic differ by so much that nothing can be seen between topics")
    return Interval(*ends, METHOD, "topics", assumes=within.assumptions)
