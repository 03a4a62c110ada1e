"""Worlds in which little decides: slow topics, heavy tails, rare judgments, and preferences that few topics turn.

Each function draws one study: (rng, topics, trials, …) to its data and the true value that an interval is to hold, of
topics (or things) like those that are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Waits = Callable[[np.random.Generator, int, int], Floats]

_GRID = 1_000_000  # scores that a truth is taken over


def slow_topics(share: float, factor: float) -> Waits:
    """A share of the topics takes `factor` times as long as the others; lognormal within topics."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Floats:
        level = np.where(rng.random((topics, 1)) < share, factor, 1.0) * np.exp(0.2 * rng.normal(size=(topics, 1)))
        return np.asarray(level * np.exp(0.3 * rng.normal(size=(topics, trials))))

    return draw


def lognormal_waits(between: float, within: float = 0.3) -> Waits:
    """between, within: standard deviations of the logarithm."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Floats:
        level = np.exp(between * rng.normal(size=(topics, 1)))
        return np.asarray(level * np.exp(within * rng.normal(size=(topics, trials))))

    return draw


def pareto_waits(exponent: float) -> Waits:
    """Topics with a Pareto tail; below an exponent of 2 they have no variance."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Floats:
        level = (1 - rng.random((topics, 1))) ** (-1 / exponent)
        return np.asarray(level * np.exp(0.3 * rng.normal(size=(topics, trials))))

    return draw


def slow_trials(share: float, factor: float) -> Waits:
    """Now and then an answer of any topic takes `factor` times as long, as after a time-out."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Floats:
        often = np.where(rng.random((topics, trials)) < share, factor, 1.0)
        return np.asarray(often * lognormal_waits(0.3)(rng, topics, trials))

    return draw


def free_topics(share: float) -> Waits:
    """A share of the topics costs nothing, the others are lognormal."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Floats:
        paid = rng.random((topics, 1)) >= share
        return np.asarray(paid * lognormal_waits(1.0)(rng, topics, trials))

    return draw


WAITS: dict[str, Waits] = {
    "1 in 10 slow": slow_topics(0.1, 10),
    "1 in 10 very slow": slow_topics(0.1, 30),
    "1 in 20 slow": slow_topics(0.05, 10),
    "3 in 100 slow": slow_topics(0.03, 10),
    "lognormal 0.5": lognormal_waits(0.5),
    "lognormal 1": lognormal_waits(1.0),
    "lognormal 1.5": lognormal_waits(1.5),
    "Pareto 2.1": pareto_waits(2.1),
    "Pareto 1.7": pareto_waits(1.7),
    "3 trials in 100 slow": slow_trials(0.03, 20),
    "60% cost nothing": free_topics(0.6),
}


@lru_cache(maxsize=64)
def _sorted_waits(world: str) -> Floats:
    return np.sort(WAITS[world](np.random.default_rng(1), _GRID, 1).ravel())


def quantile_of_waits(
    rng: np.random.Generator, topics: int, trials: int, *, world: str, beta: float
) -> tuple[Floats, float]:
    """(topics, trials) seconds, tokens or costs, and the true quantile at `beta`."""
    ordered = _sorted_waits(world)
    return WAITS[world](rng, topics, trials), float(ordered[math.ceil(beta * _GRID - 1e-6) - 1])


def mean_of_longest_waits(
    rng: np.random.Generator, topics: int, trials: int, *, world: str, beta: float
) -> tuple[Floats, float]:
    """(topics, trials), and the true mean of the longest share `beta`."""
    return WAITS[world](rng, topics, trials), float(_sorted_waits(world)[-round(beta * _GRID) :].mean())


def scores_with_zeros(rng: np.random.Generator, topics: int, trials: int, *, zeros: float, by_topic: bool) -> Floats:
    """(topics, trials) scores in [0, 1] as of SWAN, of which a share is 0: of whole topics, or of single trials."""
    mean = rng.beta(8, 3, (topics, 1))
    none = rng.random((topics, 1 if by_topic else trials)) < zeros
    return np.asarray(np.where(none, 0.0, rng.beta(12 * mean, 12 * (1 - mean), (topics, trials))))
