"""Pairs of systems whose figures have a known ratio, in worlds that are hostile to intervals of ratios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.paired import Estimand
from scoring.inference.ratios import Ratio, compare_ratio
from scoring.inference.sides import compare_sides

Floats = npt.NDArray[np.float64]
# (topics, 2) levels of the two systems; the ratio of their means over all topics is known.
Law = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True, slots=True)
class RatioWorld:
    """`law` draws topics, and `ratio` is that of the first system's mean to the second's. `noise` draws the trials of a
    topic: answers that are useful or not with the level as their chance, or lognormal values with a sigma around it.
    """

    name: str
    law: Law
    ratio: float
    topics: tuple[int, ...]
    trials: int = 5
    noise: float | None = None

    @property
    def reach(self) -> float:
        return 1.0 if self.noise is None else np.inf


def _rare(share: float, low: float) -> Law:
    """The second system has a value in a share of the topics alone, and the first in each second of these."""

    def law(rng: np.random.Generator, topics: int) -> Floats:
        there = rng.random(topics) < share
        return np.stack([there * (rng.random(topics) < low), there * 1.0], axis=1)

    return law


def _shares(mean: float, other: float, size: float) -> Law:
    def law(rng: np.random.Generator, topics: int) -> Floats:
        return np.stack([rng.beta(size * of, size * (1 - of), topics) for of in (mean, other)], axis=1)

    return law


def _failing(share: float) -> Law:
    """The first system fails on a few topics altogether, and the second never."""
    return lambda rng, topics: np.stack([1.0 * (rng.random(topics) >= share), np.ones(topics)], axis=1)


def _levels(ratio: float, sigma: float, correlation: float) -> Law:
    """Lognormal levels; the means are ratio and 1, times exp(sigma²/2)."""

    def law(rng: np.random.Generator, topics: int) -> Floats:
        common, own = rng.normal(size=(2, topics, 1)), rng.normal(size=(2, topics, 1))
        mixed = np.sqrt(correlation) * common[0] + np.sqrt(1 - correlation) * np.concatenate([*own], axis=1)
        levels: Floats = np.exp(sigma * mixed) * [ratio, 1.0]
        return levels

    return law


def _empty_handed(ratio: float, share: float, sigma: float) -> Law:
    """As R is: 0 on a share of the topics, apart for both systems, and lognormal on the others."""

    def law(rng: np.random.Generator, topics: int) -> Floats:
        there = rng.random((topics, 2)) >= share
        return np.exp(sigma * rng.normal(size=(topics, 2))) * there * [ratio, 1.0]

    return law


WORLDS = (
    RatioWorld("shares, a tenth", _shares(0.08, 0.8, 4), 0.1, (4, 8, 15, 45)),
    RatioWorld("shares, alike", _shares(0.6, 0.6, 1), 1.0, (4, 8, 15, 45)),
    RatioWorld("shares, both seldom", _shares(0.03, 0.06, 2), 0.5, (8, 15, 45)),
    RatioWorld("one topic in twenty has a value", _rare(0.05, 0.5), 0.5, (8, 15, 45, 100)),
    RatioWorld("one system fails on a topic in twenty", _failing(0.05), 0.95, (8, 15, 45, 100)),
    RatioWorld("levels, sigma 1, correlated", _levels(0.1, 1.0, 0.7), 0.1, (30, 45, 100), noise=0.3),
    RatioWorld("levels, sigma 1.5, apart", _levels(0.1, 1.5, 0.0), 0.1, (30, 45, 100), noise=0.3),
    RatioWorld("levels, sigma 2, correlated", _levels(0.7, 2.0, 0.5), 0.7, (30, 45, 100), noise=0.3),
    RatioWorld("levels, 0 on half of the topics", _empty_handed(0.1, 0.5, 1.0), 0.1, (30, 45, 100), noise=0.3),
)


def _cells(values: Floats) -> dict[Trial, Cell]:
    return {(f"T{row:03}", trial): (float(value), 1.0) for (row, trial), value in np.ndenumerate(values)}


def drawn_pair(rng: np.random.Generator, levels: Floats, trials: int, noise: float | None) -> Aligned:
    """Trials of two systems on topics of these levels, (topics, 2)."""
    sides = {}
    for column, name in enumerate("AB"):
        level, shape = levels[:, [column]], (len(levels), trials)
        values: Floats = (
            (rng.random(shape) < level).astype(np.float64)
            if noise is None
            else level * np.exp(noise * rng.normal(size=shape) - noise**2 / 2)
        )
        sides[name] = _cells(values)
    return align([f"T{row:03}" for row in range(len(levels))], ["A", "B"], sides, pooled=False)


def ratio_of(aligned: Aligned, *, estimand: Estimand = "like-these", reach: float = 1.0, level: float = 0.95) -> Ratio:
    """The ratio of the two systems, as `compare_pairs` has it, without the rest of the comparison."""
    rng = np.random.default_rng(1)
    difference = compare_sides(aligned, 0, 1, rng, estimand=estimand, level=level, reach=reach).interval
    return compare_ratio(aligned, 0, 1, difference, rng, estimand=estimand, level=level, reach=reach)


def covers(found: Ratio, ratio: float) -> bool:
    """Whether the interval covers the ratio of A to B, whichever of the two has the lower figure in the sample."""
    true = ratio if found.above == "A" else 1 / ratio
    return found.interval.low <= true * (1 + 1e-9) and true * (1 - 1e-9) <= found.interval.high
