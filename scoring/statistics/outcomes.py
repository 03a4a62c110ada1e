"""Simulated outcomes of two systems with given components of variance, for simulations of power.

A trial of topic k with system s has the value

    mean ± difference/2 + topic + system × topic + trial

If values are bounded, the probabilities (or means) of topics have beta distributions. A normal copula links the two
systems, so that each system has the variance topic + both, and their difference has the variance 2·both. A trial is
then yes or no with that probability, or beta distributed around it. For a mean nearer to an end, variances shrink with
mean·(1 - mean), like the variance of yes-or-no values. Unbounded values are normal in every component.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from scoring.statistics.beta import beta_quantile, normal_cdf, normal_quantile
from topics.arrays import Counts, Floats

# Of each topic: one number, or (studies, topics, 1) of them.
Trials = int | Counts

# The possible values: 0 or 1, any number from `low` to `high`, or any number.
Shape = Literal["yes or no", "bounded", "unbounded"]

_FARTHEST, _POINTS = 5.0, 1001  # of the normal scale on which quantiles are tabled
_SIDE = 100  # of the square of midpoints by which chances are linked
_HALVINGS = 40  # to twelve digits
_EDGE = 1e-9  # a share of 0 or 1 is one distribution alone


@dataclass(frozen=True, slots=True)
class Components:
    """Components of variance of single trials. `mean` is the mean of both systems together. `topic` is the variance
    between topics, `both` the variance of system × topic, and `trial` the variance between trials of a topic, which
    follows from the rest for yes-or-no values. `low` and `high` are the ends of the range. Raises ValueError for
    negative variances, for a mean outside the range, and for more variance than the range permits."""

    shape: Shape
    mean: float
    topic: float
    both: float
    trial: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if min(self.topic, self.both, self.trial) < 0:
            raise ValueError("variances must be at least 0")
        if self.shape == "unbounded":
            return
        if not self.low < self.mean < self.high:
            raise ValueError(f"the mean must be above {self.low:g} and below {self.high:g}, not {self.mean:g}")
        if self.topic + self.both >= self.room:
            raise ValueError(
                f"for a mean of {self.mean:g}, the variance between topics must be at most {self.room:.4g}, "
                f"not {self.topic + self.both:g}"
            )

    @property
    def room(self) -> float:
        """The largest possible variance of a value with this mean."""
        return (self.mean - self.low) * (self.high - self.mean)

    @property
    def within(self) -> float:
        """The variance between trials of a topic. For yes-or-no values it is the rest of the total variance."""
        left = self.room - self.topic - self.both
        return {"yes or no": left, "bounded": min(self.trial, left)}.get(self.shape, self.trial)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Outcomes of many studies of two systems. `values` is (studies, topics, 2), means over trials. `noise` is
    (studies, topics, 2), the variances of these means over new trials, as estimated from the trials; NaN for single
    trials."""

    values: Floats
    noise: Floats


def draw_outcomes(
    components: Components, difference: float, topics: int, trials: Trials, studies: int, rng: np.random.Generator
) -> Outcomes:
    """Draw studies, each with new topics. `difference` is between the systems' means over all possible topics."""
    return _draw_trials(components, draw_centres(components, difference, topics, studies, rng), trials, rng)


def draw_centres(
    components: Components, difference: float, topics: int, studies: int, rng: np.random.Generator
) -> Floats:
    """Draw (studies, topics, 2) expected values of topics. All arguments are as for `draw_outcomes`."""
    if components.shape == "unbounded":
        common = rng.normal(0, math.sqrt(components.topic), (studies, topics, 1))
        own = rng.normal(0, math.sqrt(components.both), (studies, topics, 2))
        return np.asarray(components.mean + _half_differences(difference) + common + own)
    link = _normal_correlation(components, difference)
    shared, apart = rng.standard_normal((2, studies, topics))
    return _linked_means(components, difference, link, shared, apart)


def draw_outcomes_of_these(
    components: Components, difference: float, topics: int, trials: Trials, studies: int, rng: np.random.Generator
) -> Outcomes:
    """Draw studies of the same topics, spread evenly over the distribution of topics; only trials vary. `difference` is
    over these topics. The variation of systems × topics is fixed."""
    centres = centres_of_these(components, difference, topics)
    return _draw_trials(components, np.broadcast_to(centres, (studies, topics, 2)), trials, rng)


def centres_of_these(components: Components, difference: float, topics: int) -> Floats:
    """Return (topics, 2) expected values, ascending. All arguments are as for `draw_outcomes_of_these`."""
    spread = np.array([normal_quantile((place + 0.5) / topics) for place in range(topics)])
    if components.shape == "unbounded":
        deviation = math.sqrt(components.topic + components.both)
        return np.asarray(components.mean + deviation * spread[:, None] + _half_differences(difference))
    centres = _linked_means(components, difference, 1.0, spread, np.zeros(topics))
    low, high = components.low, components.high
    for _ in range(_HALVINGS):  # few topics at the quantiles of skewed chances differ a little less, or more
        missing = difference - float((centres[:, 0] - centres[:, 1]).mean())
        centres = np.clip(centres + _half_differences(missing), low, high)
    return centres


def _half_differences(difference: float) -> Floats:
    return np.array([difference / 2, -difference / 2])


def _draw_trials(components: Components, centres: Floats, trials: Trials, rng: np.random.Generator) -> Outcomes:
    counts = np.asarray(trials, dtype=np.int64)
    free = np.where(counts > 1, counts - 1, np.nan)  # NaN: single trials show no variance
    if components.shape == "unbounded":
        values = centres + rng.normal(0, np.sqrt(components.trial / counts), centres.shape)
        if not (counts > 1).any():
            return Outcomes(values, np.full(centres.shape, np.nan))
        scale = components.trial / counts / free
        return Outcomes(values, scale * rng.chisquare(np.maximum(1, counts - 1), centres.shape))
    width = components.high - components.low
    chances = np.clip((centres - components.low) / width, 0.0, 1.0)
    left = components.room - components.topic - components.both
    share = 1.0 if components.shape == "yes or no" else components.within / left
    if share >= 1 - _EDGE:
        means = rng.binomial(counts, chances) / counts
        own = means * (1 - means) / free
    elif share <= _EDGE:
        means, own = chances, np.broadcast_to(0.0 * free, chances.shape)
    else:
        size, inside = 1 / share - 1, np.clip(chances, _EDGE, 1 - _EDGE)[..., None]
        most = int(counts.max())
        each = rng.beta(inside * size, (1 - inside) * size, (*chances.shape, most))
        played = np.broadcast_to(np.arange(most) < counts[..., None], each.shape)
        means = each.mean(axis=-1, where=played)
        squares = np.square(each - means[..., None]).sum(axis=-1, where=played)
        own = squares / free / counts
    return Outcomes(components.low + width * means, width**2 * own)


def _linked_means(components: Components, difference: float, link: float, shared: Floats, apart: Floats) -> Floats:
    near, far = math.sqrt((1 + link) / 2), math.sqrt((1 - link) / 2)
    sides = [
        _topic_means(components, components.mean + half, near * shared + sign * far * apart)
        for half, sign in ((difference / 2, 1), (-difference / 2, -1))
    ]
    return np.stack(sides, axis=-1)


def _topic_means(components: Components, mean: float, normal: Floats) -> Floats:
    width = components.high - components.low
    centre = (mean - components.low) / width
    share = (components.topic + components.both) / components.room
    if share <= _EDGE:
        return np.full(normal.shape, mean)
    table = _quantiles(centre, share)
    return components.low + width * np.interp(normal, np.linspace(-_FARTHEST, _FARTHEST, _POINTS), table)


@lru_cache(maxsize=64)
def _quantiles(mean: float, share: float) -> Floats:
    size = 1 / share - 1
    levels = [normal_cdf(place) for place in np.linspace(-_FARTHEST, _FARTHEST, _POINTS)]
    return beta_quantile(levels, mean * size, (1 - mean) * size)


@lru_cache(maxsize=64)
def _normal_correlation(components: Components, difference: float) -> float:
    """Return the correlation on the normal scale at which differences of topics' means have the variance 2·both."""
    middles = np.array([normal_quantile((place + 0.5) / _SIDE) for place in range(_SIDE)])
    shared, apart = np.meshgrid(middles, middles)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        link = (low + high) / 2
        one, other = np.moveaxis(_linked_means(components, difference, link, shared, apart), -1, 0)
        low, high = (link, high) if float((one - other).var()) > 2 * components.both else (low, link)
    return (low + high) / 2
