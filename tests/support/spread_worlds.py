"""Worlds of known spread: how values vary between topics and between trials of a topic, one function each.

    world(rng, topics, trials) -> (values, truth)

values: (topics, trials) of one system. truth: the variance between topics (`topic`), that between trials of a topic
(`trial`) and the share of the first (`icc`), over all topics that the world has. Topics are drawn independently, so the
values of many studies can be drawn at once and cut apart.

    world(rng, systems, topics, trials) -> (values, truth)

values: (systems, topics, trials). truth: between these systems (`system`), between topics (`topic`), of both (`both`)
and between trials (`trial`), as `scoring.inference.components` has them, and the reliabilities `relative`, `absolute`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CROSSED_WORLDS", "SPREAD_WORLDS", "CrossedWorld", "SpreadWorld", "Truth"]

Floats = npt.NDArray[np.float64]
Truth = dict[str, float]
Draw = Callable[[np.random.Generator, int, int], tuple[Floats, Truth]]
CrossedDraw = Callable[[np.random.Generator, int, int, int], tuple[Floats, Truth]]


@dataclass(frozen=True, slots=True)
class SpreadWorld:
    """bottom, top: the least and the largest value that there can be; top is infinite for what has no top, as R."""

    name: str
    kind: str
    bottom: float
    top: float
    draw: Draw


def truth_of(topic: float, trial: float) -> Truth:
    return {"topic": topic, "trial": trial, "icc": topic / (topic + trial)}


def _answers(rng: np.random.Generator, chances: Floats, trials: int) -> Floats:
    return (rng.random((len(chances), trials)) < chances[:, None]).astype(np.float64)


def beta_answers(mean: float, icc: float) -> Draw:
    """Yes or no; the chances of topics are Beta distributed, or all the same for an ICC of 0."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        size = 1 / icc - 1 if icc else 0.0
        chances = rng.beta(mean * size, (1 - mean) * size, topics) if icc else np.full(topics, mean)
        whole = mean * (1 - mean)
        return _answers(rng, chances, trials), truth_of(whole * icc, whole * (1 - icc))

    return draw


def two_kinds(share: float, one: float, other: float) -> Draw:
    """Yes or no; `share` of the topics have the chance `one`, the others the chance `other`."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        chances = np.where(rng.random(topics) < share, one, other)
        trial = share * one * (1 - one) + (1 - share) * other * (1 - other)
        return _answers(rng, chances, trials), truth_of(share * (1 - share) * (one - other) ** 2, trial)

    return draw


def scores(mean: float, topical: float, own: float, zeros: float = 0.0) -> Draw:
    """Scores in [0, 1]: a topic's mean is Beta distributed with the sizes `topical`, its trials around it with `own`;
    on a share `zeros` of topics every trial is 0."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        level = rng.beta(mean * topical, (1 - mean) * topical, topics)
        values = rng.beta(own * level[:, None] + 1e-9, own * (1 - level[:, None]) + 1e-9, (topics, trials))
        there = rng.random(topics) >= zeros
        between, square = mean * (1 - mean) / (topical + 1), mean**2
        within = (mean * (1 - mean) - between) / (own + 1)
        kept = 1 - zeros
        return values * there[:, None], truth_of(kept * (between + square) - kept**2 * square, kept * within)

    return draw


def unequal_scores(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
    """Scores in [0, 1] whose trials spread much on one topic in five and little on the others."""
    level = rng.beta(6, 3, topics)
    own = np.where(rng.random(topics) < 0.2, 1.0, 60.0)[:, None]
    values = rng.beta(own * level[:, None], own * (1 - level[:, None]), (topics, trials))
    between = 18 / 810
    return values, truth_of(between, (2 / 9 - between) * (0.2 / 2 + 0.8 / 61))


_STEPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def tied_ratings(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
    """Ratings on five steps: three kinds of topic with their own chances of each step."""
    kinds = np.array([[0.0, 0.02, 0.08, 0.3, 0.6], [0.05, 0.15, 0.4, 0.3, 0.1], [0.5, 0.3, 0.1, 0.1, 0.0]])
    shares = np.array([0.6, 0.3, 0.1])
    of = rng.choice(3, p=shares, size=topics)
    values = _STEPS[(rng.random((topics, trials, 1)) > kinds.cumsum(axis=1)[of][:, None, :4]).sum(axis=2)]
    means, squares = kinds @ _STEPS, kinds @ _STEPS**2
    mean = float(shares @ means)
    return values, truth_of(float(shares @ means**2) - mean**2, float(shares @ (squares - means**2)))


def few_ties(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
    """Ratings on five steps, nearly all of them the best one."""
    kinds = np.array([[0.0, 0.0, 0.0, 0.1, 0.9], [0.0, 0.1, 0.4, 0.3, 0.2]])
    shares = np.array([0.85, 0.15])
    of = rng.choice(2, p=shares, size=topics)
    values = _STEPS[(rng.random((topics, trials, 1)) > kinds.cumsum(axis=1)[of][:, None, :4]).sum(axis=2)]
    means, squares = kinds @ _STEPS, kinds @ _STEPS**2
    mean = float(shares @ means)
    return values, truth_of(float(shares @ means**2) - mean**2, float(shares @ (squares - means**2)))


def normal(icc: float) -> Draw:
    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        values = math.sqrt(icc) * rng.normal(size=(topics, 1)) + math.sqrt(1 - icc) * rng.normal(size=(topics, trials))
        return 10 + values, truth_of(icc, 1 - icc)

    return draw


def unequal_normal(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
    """Normal, with trials whose standard deviation is lognormal over topics (σ .7)."""
    own = np.exp(0.7 * rng.normal(size=(topics, 1)))
    values = rng.normal(size=(topics, 1)) + own * rng.normal(size=(topics, trials))
    return 10 + values, truth_of(1.0, math.exp(2 * 0.49))


def lognormal(sigma: float, own: float = 0.5) -> Draw:
    """As R: the level of topics is lognormal, and trials multiply it by lognormal noise with the mean 1."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        level = np.exp(sigma * rng.normal(size=(topics, 1)) - sigma**2 / 2)
        noise = np.exp(own * rng.normal(size=(topics, trials)) - own**2 / 2)
        return level * noise, truth_of(math.exp(sigma**2) - 1, math.exp(sigma**2) * (math.exp(own**2) - 1))

    return draw


def heavy_trials(sigma: float) -> Draw:
    """The level of topics is normal, and what trials add to it is lognormal with σ, less its mean."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        noise = np.exp(sigma * rng.normal(size=(topics, trials)) - sigma**2 / 2) - 1
        return 10 + rng.normal(size=(topics, 1)) + noise, truth_of(1.0, math.exp(sigma**2) - 1)

    return draw


def pareto(tail: float) -> Draw:
    """The level of topics is Pareto distributed, trials are gamma distributed around it."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        level = 1 + rng.pareto(tail, (topics, 1))
        square = tail / (tail - 2)
        mean = tail / (tail - 1)
        return level * rng.gamma(4, 0.25, (topics, trials)), truth_of(square - mean**2, square / 4)

    return draw


def gamma_levels(shape: float, zeros: float = 0.0) -> Draw:
    """The level of topics is gamma distributed (1: exponential), trials are gamma distributed around it; on a share
    `zeros` of topics every trial is 0."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        level = rng.gamma(shape, 1 / shape, (topics, 1)) * (rng.random((topics, 1)) >= zeros)
        square = (1 - zeros) * (1 + 1 / shape)
        return level * rng.gamma(4, 0.25, (topics, trials)), truth_of(square - (1 - zeros) ** 2, square / 4)

    return draw


def slow_topics(share: float, times: float) -> Draw:
    """As latency: `share` of topics take `times` as long."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> tuple[Floats, Truth]:
        level = np.where(rng.random((topics, 1)) < share, times, 1.0)
        square, mean = share * times**2 + 1 - share, share * times + 1 - share
        return level * rng.gamma(16, 1 / 16, (topics, trials)), truth_of(square - mean**2, square / 16)

    return draw


SPREAD_WORLDS = (
    *(
        SpreadWorld(f"yes or no, Beta, mean {mean:g}, ICC {icc:g}", kind, 0.0, 1.0, beta_answers(mean, icc))
        for mean, icc, kind in (
            (0.6, 0.0, "ordinary"),
            (0.6, 0.2, "ordinary"),
            (0.6, 0.45, "ordinary"),
            (0.6, 0.8, "ordinary"),
            (0.85, 0.2, "high mean"),
            (0.95, 0.2, "high mean"),
            (0.95, 0.0, "high mean"),
            (0.9, 0.5, "high mean"),
        )
    ),
    *(
        SpreadWorld(f"yes or no, {share:.0%} of topics never, others .95", "rare", 0.0, 1.0, two_kinds(share, 0, 0.95))
        for share in (0.03, 0.05, 0.1)
    ),
    SpreadWorld("yes or no, 30% of topics .1, others .9", "two kinds", 0.0, 1.0, two_kinds(0.3, 0.1, 0.9)),
    SpreadWorld("yes or no, 5% of topics .3, others always", "rare", 0.0, 1.0, two_kinds(0.05, 0.3, 1.0)),
    SpreadWorld("yes or no, half of the topics .45, others .55", "alike", 0.0, 1.0, two_kinds(0.5, 0.45, 0.55)),
    SpreadWorld("scores, Beta", "ordinary", 0.0, 1.0, scores(0.6, 4, 8)),
    SpreadWorld("scores, Beta, topics alike", "alike", 0.0, 1.0, scores(0.7, 200, 10)),
    SpreadWorld("scores, 30% of topics 0", "zeros", 0.0, 1.0, scores(0.6, 6, 8, 0.3)),
    SpreadWorld("scores, 3% of topics 0", "rare", 0.0, 1.0, scores(0.7, 20, 20, 0.03)),
    SpreadWorld("scores, 80% of topics 0", "zeros", 0.0, 1.0, scores(0.5, 6, 8, 0.8)),
    SpreadWorld("scores, trials of unequal spread", "unequal", 0.0, 1.0, unequal_scores),
    SpreadWorld("ratings with ties", "ties", 0.0, 1.0, tied_ratings),
    SpreadWorld("ratings, mostly the best", "ties", 0.0, 1.0, few_ties),
    *(SpreadWorld(f"normal, ICC {icc:g}", "ordinary", 0.0, math.inf, normal(icc)) for icc in (0.0, 0.2, 0.45, 0.8)),
    SpreadWorld("normal, trials of unequal spread", "unequal", 0.0, math.inf, unequal_normal),
    *(SpreadWorld(f"lognormal σ {s:g}", "heavy", 0.0, math.inf, lognormal(s)) for s in (0.5, 1.0, 1.5)),
    SpreadWorld("lognormal σ 1, trials σ 1", "heavy", 0.0, math.inf, lognormal(1.0, 1.0)),
    SpreadWorld("normal, trials lognormal σ 1", "heavy", 0.0, math.inf, heavy_trials(1.0)),
    *(SpreadWorld(f"Pareto {tail:g}", "heavy", 0.0, math.inf, pareto(tail)) for tail in (2.1, 3.0)),
    SpreadWorld("exponential", "skewed", 0.0, math.inf, gamma_levels(1.0)),
    SpreadWorld("gamma, 80% of topics 0", "zeros", 0.0, math.inf, gamma_levels(2.0, 0.8)),
    SpreadWorld("one topic in ten ten times as slow", "rare", 0.0, math.inf, slow_topics(0.1, 10.0)),
    SpreadWorld("3% of topics five times as slow", "rare", 0.0, math.inf, slow_topics(0.03, 5.0)),
)


@dataclass(frozen=True, slots=True)
class CrossedWorld:
    """As `SpreadWorld`, of several systems."""

    name: str
    kind: str
    bottom: float
    top: float
    draw: CrossedDraw


def crossed_truth(means: Floats, covariance: Floats, trial: float, topics: int, trials: int) -> Truth:
    """means: (systems,) of the systems. covariance: (systems, systems) of their means of topics. trial: variance."""
    systems = len(means)
    common = float(covariance.sum() - np.trace(covariance)) / (systems * (systems - 1))
    own, system = float(np.trace(covariance)) / systems - common, float(np.var(means, ddof=1))
    error = (own + trial / trials) / topics
    truth = {"system": system, "topic": max(0.0, common), "both": own, "trial": trial}
    if not system + error > 0:
        return truth
    return truth | {
        "relative": system / (system + error),
        "absolute": system / (system + error + max(0.0, common) / topics),
    }


def crossed_kinds(shares: list[float], chances: Callable[[int], list[Floats]]) -> CrossedDraw:
    """Yes or no; kinds of topics with these shares. chances: of so many systems, by kind, (systems,) each."""

    def draw(rng: np.random.Generator, systems: int, topics: int, trials: int) -> tuple[Floats, Truth]:
        each, weights = np.array(chances(systems)), np.array(shares)
        of = each[rng.choice(len(weights), p=weights, size=topics)].T
        values = (rng.random((systems, topics, trials)) < of[:, :, None]).astype(np.float64)
        means = weights @ each
        covariance = (each - means).T @ (weights[:, None] * (each - means))
        trial = float(weights @ (each * (1 - each)).mean(axis=1))
        return values, crossed_truth(means, covariance, trial, topics, trials)

    return draw


def crossed_normal(apart: float) -> CrossedDraw:
    """Normal: systems lie `apart` (a standard deviation), topics 1, both .5, trials 1."""

    def draw(rng: np.random.Generator, systems: int, topics: int, trials: int) -> tuple[Floats, Truth]:
        own = np.linspace(-1, 1, systems)
        own *= apart / float(own.std(ddof=1))
        cells = own[:, None] + rng.normal(size=topics) + 0.5 * rng.normal(size=(systems, topics))
        values = 10 + cells[:, :, None] + rng.normal(size=(systems, topics, trials))
        covariance = np.ones((systems, systems)) + 0.25 * np.eye(systems)
        return values, crossed_truth(own, covariance, 1.0, topics, trials)

    return draw


def crossed_lognormal(sigma: float, apart: float) -> CrossedDraw:
    """As R: topics are lognormal with σ, both with .3, trials with .5; systems multiply them by up to 1 + `apart`."""

    def draw(rng: np.random.Generator, systems: int, topics: int, trials: int) -> tuple[Floats, Truth]:
        own = 1 + apart * np.linspace(0, 1, systems)
        level = np.exp(sigma * rng.normal(size=topics) - sigma**2 / 2)
        both = np.exp(0.3 * rng.normal(size=(systems, topics)) - 0.045)
        noise = np.exp(0.5 * rng.normal(size=(systems, topics, trials)) - 0.125)
        square = np.outer(own, own)
        covariance = square * (math.exp(sigma**2) - 1)
        np.fill_diagonal(covariance, own**2 * (math.exp(sigma**2 + 0.09) - 1))
        trial = float((own**2).mean()) * math.exp(sigma**2 + 0.09) * (math.exp(0.25) - 1)
        values = (own[:, None] * level * both)[:, :, None] * noise
        return values, crossed_truth(own, covariance, trial, topics, trials)

    return draw


def _even(low: float, high: float) -> Callable[[int], Floats]:
    return lambda systems: np.linspace(low, high, systems)


CROSSED_WORLDS = (
    CrossedWorld(
        "yes or no, three kinds, apart",
        "ordinary",
        0.0,
        1.0,
        crossed_kinds([0.3, 0.4, 0.3], lambda n: [_even(0.2, 0.5)(n), _even(0.5, 0.8)(n), _even(0.9, 0.8)(n)]),
    ),
    CrossedWorld(
        "yes or no, three kinds, systems alike",
        "alike",
        0.0,
        1.0,
        crossed_kinds([0.3, 0.4, 0.3], lambda n: [np.full(n, 0.3), np.full(n, 0.6), np.full(n, 0.9)]),
    ),
    CrossedWorld(
        "yes or no, 5% of topics never",
        "rare",
        0.0,
        1.0,
        crossed_kinds([0.05, 0.95], lambda n: [np.zeros(n), _even(0.9, 0.97)(n)]),
    ),
    CrossedWorld(
        "yes or no, 5% of topics: one system never",
        "rare",
        0.0,
        1.0,
        crossed_kinds([0.05, 0.95], lambda n: [np.where(np.arange(n) == 0, 0.0, 0.95), np.full(n, 0.95)]),
    ),
    CrossedWorld(
        "yes or no, 5% of topics make up for the rest",
        "rare",
        0.0,
        1.0,
        crossed_kinds(
            [0.05, 0.95], lambda n: [np.where(np.arange(n) == 0, 0.0, 0.95), np.where(np.arange(n) == 0, 1.0, 0.95)]
        ),
    ),
    CrossedWorld(
        "yes or no, half of the topics turn the systems round",
        "both",
        0.0,
        1.0,
        crossed_kinds([0.5, 0.5], lambda n: [_even(0.2, 0.8)(n), _even(0.8, 0.2)(n)]),
    ),
    CrossedWorld("normal, systems apart", "ordinary", 0.0, math.inf, crossed_normal(0.5)),
    CrossedWorld("normal, systems alike", "alike", 0.0, math.inf, crossed_normal(0.0)),
    *(
        CrossedWorld(
            f"lognormal σ {s:g}, systems {'apart' if a else 'alike'}", "heavy", 0.0, math.inf, crossed_lognormal(s, a)
        )
        for s in (0.5, 1.0, 1.5)
        for a in (0.0, 1.0)
    ),
)
