"""Worlds in which something hangs together or lies far out, each a function of a generator and a size.

A world gives values of topics × trials for many studies at once, (S, K, n), and what is true: (S,) of these topics, or
a number for topics like these. Each is a kind of failure that intervals for independent, well-behaved topics do not
survive: topics in clusters, sessions with a state, trials that drift, tails, topics that never recover.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "LEVELS",
    "Played",
    "clustered",
    "in_sessions",
    "in_time",
    "levels",
    "never_recovering",
    "of_these",
]

Floats = npt.NDArray[np.float64]
Law = Callable[[np.random.Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """values: (S, K, n). these: (S,) the mean over these topics. like_these: that of topics like these.

    below: (S, K, n) what a ratio of sums is over; None for a mean. clusters: the cluster of each topic, (K,).
    """

    values: Floats
    these: Floats
    like_these: float
    below: Floats | None = None
    clusters: tuple[int, ...] = ()


LEVELS: Mapping[str, tuple[Law, float]] = {
    "beta": (lambda rng, shape: rng.beta(2, 5, shape), 2 / 7),
    "two kinds": (lambda rng, shape: np.where(rng.random(shape) < 0.3, 0.003, 0.02), 0.0149),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0),
    "lognormal .5": (lambda rng, shape: np.exp(0.5 * rng.normal(size=shape)), math.exp(0.125)),
    "lognormal 1": (lambda rng, shape: np.exp(rng.normal(size=shape)), math.exp(0.5)),
    "lognormal 1.5": (lambda rng, shape: np.exp(1.5 * rng.normal(size=shape)), math.exp(1.125)),
    "lognormal 2": (lambda rng, shape: np.exp(2 * rng.normal(size=shape)), math.exp(2)),
    "Pareto 1.5": (lambda rng, shape: 1 + rng.pareto(1.5, shape), 3.0),
    "Pareto 2.1": (lambda rng, shape: 1 + rng.pareto(2.1, shape), 2.1 / 1.1),
    "Lomax 2.1": (lambda rng, shape: rng.pareto(2.1, shape), 1 / 1.1),
    "mostly 0": (
        lambda rng, shape: np.where(rng.random(shape) < 0.8, 0, np.exp(0.5 * rng.normal(size=shape))),
        0.2 * math.exp(0.125),
    ),
    "half 0": (
        lambda rng, shape: np.where(rng.random(shape) < 0.5, 0, np.exp(rng.normal(size=shape))),
        0.5 * math.exp(0.5),
    ),
}
"""Laws of a topic's level of a measure without a top, and their means."""


def levels(name: str, rng: np.random.Generator, shape: tuple[int, int, int]) -> Played:
    """A measure without a top: a level of each topic, times Gamma(4) noise of each trial."""
    law, mean = LEVELS[name]
    level = law(rng, shape[:2])
    return Played(level[:, :, None] * rng.gamma(4, 0.25, shape), level.mean(axis=1), mean)


def never_recovering(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    *,
    share: float = 0.03,
    fails: float = 0.1,
    recovers: float = 0.9,
) -> Played:
    """%recovery: a share of the topics always fails at first and never recovers; the others fail and recover so often.
    values: recoveries."""
    bad = rng.random(shape[:2]) < share
    often, well = np.where(bad, 1.0, fails), np.where(bad, 0.0, recovers)
    failed = (rng.random(shape) < often[:, :, None]).astype(float)
    recovered = failed * (rng.random(shape) < well[:, :, None])
    below = (1 - share) * fails + share
    these = (often * well).sum(axis=1) / often.sum(axis=1)
    return Played(recovered, these, (1 - share) * fails * recovers / below, failed)


def clustered(
    rng: np.random.Generator, shape: tuple[int, int, int], *, sizes: tuple[int, ...] = (5,), law: Law | None = None
) -> Played:
    """%useful of topics in clusters, all topics of one being equally hard. sizes: of the clusters, drawn at random for
    each study's whole; law: of a cluster's rate, Beta(1.2, .8) by default."""
    studies, topics, _ = shape
    counts: list[int] = []
    while sum(counts) < topics:
        counts.append(int(rng.choice(sizes)))
    counts[-1] -= sum(counts) - topics
    of = np.repeat(np.arange(len(counts)), counts)
    draw = law or (lambda drawn, size: drawn.beta(1.2, 0.8, size))
    rates = draw(rng, (studies, len(counts)))[:, of]
    truth = float(draw(np.random.default_rng(1), (400_000,)).mean())
    values = (rng.random(shape) < rates[:, :, None]).astype(float)
    return Played(values, rates.mean(axis=1), truth, clusters=tuple(of.tolist()))


def in_sessions(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    *,
    spread: float = 0.15,
    broken: float = 0.0,
    quality: Law | None = None,
) -> Played:
    """%useful where trial i of every topic is of session i, which has a state. spread: standard deviation of the state,
    in points. broken: how many sessions are down to a tenth. quality: of topics, Beta(6, 3) by default."""
    draw = quality or (lambda drawn, size: drawn.beta(6, 3, size))
    topic = draw(rng, shape[:2])
    state = spread * rng.normal(size=(shape[0], 1, shape[2]))
    down = np.where(rng.random((shape[0], 1, shape[2])) < broken, 0.1, 1.0)
    rates = np.clip(topic[:, :, None] + state, 0, 1) * down
    other = np.random.default_rng(1)
    many = np.clip(draw(other, (400_000,)) + spread * other.normal(size=400_000), 0, 1)
    # These topics, in sessions like these: the state's mean over many sessions.
    states = spread * other.normal(size=200)
    these = np.clip(topic[:, :, None] + states, 0, 1).mean(axis=(1, 2)) * (1 - 0.9 * broken)
    truth = float(many.mean() * (1 - 0.9 * broken))
    return Played((rng.random(shape) < rates).astype(float), these, truth)


def in_time(
    rng: np.random.Generator, shape: tuple[int, int, int], *, phi: float, rate: float = 0.6, whole: bool = False
) -> Played:
    """%useful whose log odds follow an AR(1) process over the trials of a topic. phi: its lag-1 correlation; the
    standard deviation of the log odds is 2. whole: one process for all topics (load of the whole run)."""
    noise = rng.normal(size=(shape[0], 1 if whole else shape[1], shape[2]))
    state = np.empty_like(noise)
    state[:, :, 0] = noise[:, :, 0]
    for at in range(1, shape[2]):
        state[:, :, at] = phi * state[:, :, at - 1] + math.sqrt(1 - phi**2) * noise[:, :, at]
    centre = math.log(rate / (1 - rate))
    chances = np.broadcast_to(1 / (1 + np.exp(-(centre + 2 * state))), shape)
    grid = 1 / (1 + np.exp(-(centre + 2 * np.random.default_rng(1).normal(size=400_000))))
    truth = float(grid.mean())
    return Played((rng.random(shape) < chances).astype(float), np.full(shape[0], truth), truth)


def of_these(name: str, rng: np.random.Generator, shape: tuple[int, int, int]) -> Played:
    """Scores or answers whose truth is of these topics, in worlds by `name`."""
    studies, topics, _ = shape
    if name in _SCORES:
        return _SCORES[name](rng, shape)
    rates = _RATES[name](rng, (studies, topics))
    values = (rng.random(shape) < rates[:, :, None]).astype(float)
    return Played(values, rates.mean(axis=1), math.nan)


def _beta_scores(rng: np.random.Generator, shape: tuple[int, int, int]) -> Played:
    mean = rng.beta(4, 2, shape[:2])
    values = rng.beta(8 * mean[:, :, None], 8 * (1 - mean[:, :, None]), shape)
    return Played(values, mean.mean(axis=1), math.nan)


def _rare_zeros(rng: np.random.Generator, shape: tuple[int, int, int]) -> Played:
    values = np.where(rng.random(shape) < 0.05, 0.0, np.clip(0.9 + 0.02 * rng.normal(size=shape), 0, 1))
    return Played(values, np.full(shape[0], 0.95 * 0.9), math.nan)


def _some_zeros(rng: np.random.Generator, shape: tuple[int, int, int]) -> Played:
    often = rng.random(shape[:2])
    values = np.where(rng.random(shape) < often[:, :, None], rng.beta(4, 2, shape), 0.0)
    return Played(values, (often * 4 / 6).mean(axis=1), math.nan)


def _one_topic(rng: np.random.Generator, shape: tuple[int, ...], count: int) -> Floats:
    return np.broadcast_to(np.where(np.arange(shape[1]) < count, 0.5, 1.0), shape)


_RATES: Mapping[str, Law] = {
    "high": lambda rng, shape: np.full(shape, 0.95),
    "low": lambda rng, shape: np.full(shape, 0.02),
    "even": lambda rng, shape: np.full(shape, 0.5),
    "unlike": lambda rng, shape: rng.beta(0.73, 0.49, shape),
    "0 or 1": lambda rng, shape: (rng.random(shape) < 0.6).astype(float),
    "0, 1 or half": lambda rng, shape: np.where(rng.random(shape) < 0.9, rng.random(shape) < 0.6, 0.5),
    "1 or .9": lambda rng, shape: np.where(rng.random(shape) < 0.5, 1.0, 0.9),
    "one of them half": lambda rng, shape: _one_topic(rng, shape, 1),
    "two of them half": lambda rng, shape: _one_topic(rng, shape, 2),
    "four of them half": lambda rng, shape: _one_topic(rng, shape, 4),
}
_SCORES: Mapping[str, Callable[[np.random.Generator, tuple[int, int, int]], Played]] = {
    "scores": _beta_scores,
    "rare zeros": _rare_zeros,
    "some zeros": _some_zeros,
}
THESE = (*_RATES, *_SCORES)
"""The names of the worlds of `of_these`."""
