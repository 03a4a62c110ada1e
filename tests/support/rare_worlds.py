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

from scoring.inference.prediction_powered import ComparedItems

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


Rows = list[list[float | str | None]]
Judges = Callable[[np.random.Generator, int, int], Rows]
"""(rng, topics, trials) to what was said of each of topics · trials things."""


def _rows(said: Floats, unsaid: float, rng: np.random.Generator) -> Rows:
    """unsaid: the share of judgments that are missing."""
    given = rng.random(said.shape) >= unsaid
    return [[one for one, there in zip(row, own, strict=True) if there] for row, own in zip(said.tolist(), given)]


def yes_or_no(share: float, wrong: float, judges: int, unsaid: float = 0.0) -> Judges:
    """A share of the things is harmful, and each judge is wrong now and then."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Rows:
        harmful = rng.random((topics * trials, 1)) < share
        said = harmful ^ (rng.random((topics * trials, judges)) < wrong)
        return _rows(said.astype(np.float64), unsaid, rng)

    return draw


def levels(bad: float, wrong: float, judges: int, unsaid: float = 0.0) -> Judges:
    """Scores of five levels: most things have one of the best two, a few the worst; judges are a level off at times."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Rows:
        things = topics * trials
        level = np.where(rng.random((things, 1)) < bad, 0, rng.integers(3, 5, (things, 1)))
        off = rng.choice([-1, 0, 1], p=[wrong / 2, 1 - wrong, wrong / 2], size=(things, judges))
        return _rows(np.clip(level + off, 0, 4) / 4, unsaid, rng)

    return draw


def fine_scores(bad: float, misread: float, judges: int, unsaid: float = 0.0) -> Judges:
    """Scores on a fine scale that lie close together; a few things are bad, and a few are misread by one judge."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Rows:
        things = topics * trials
        quality = np.where(rng.random((things, 1)) < bad, 0.05, rng.normal(0.75, 0.12, (things, 1)))
        said = np.clip(quality + 0.06 * rng.normal(size=(things, judges)), 0, 1)
        said[rng.random(things) < misread, 0] = 0.0
        return _rows(said, unsaid, rng)

    return draw


def kinds(shares: tuple[float, ...], wrong: float, judges: int) -> Judges:
    """Values without an order, of which some are rare."""

    def draw(rng: np.random.Generator, topics: int, trials: int) -> Rows:
        things = topics * trials
        kind = rng.choice(len(shares), p=shares, size=(things, 1))
        guess = rng.choice(len(shares), size=(things, judges))
        said = np.where(rng.random((things, judges)) < wrong, guess, kind)
        return [[f"kind {one}" for one in row] for row in said.tolist()]

    return draw


JUDGED: dict[str, Judges] = {
    "3 in 100, two judges": yes_or_no(0.03, 0.02, 2),
    "3 in 100, five judges": yes_or_no(0.03, 0.02, 5),
    "1 in 20, three judges, a third unsaid": yes_or_no(0.05, 0.02, 3, 0.3),
    "1 in 10, two judges": yes_or_no(0.1, 0.05, 2),
    "1 in 10, five judges": yes_or_no(0.1, 0.02, 5),
    "half, two judges": yes_or_no(0.5, 0.02, 2),
    "half, by chance": yes_or_no(0.5, 0.5, 3),
    "five levels, 3 in 100 bad": levels(0.03, 0.2, 2),
    "five levels, 1 in 10 bad, a third unsaid": levels(0.1, 0.4, 4, 0.3),
    "fine scores": fine_scores(0.0, 0.0, 2),
    "3 in 100 bad": fine_scores(0.03, 0.0, 3),
    "3 in 100 misread": fine_scores(0.0, 0.03, 2),
    "three values, rare": kinds((0.9, 0.05, 0.05), 0.03, 2),
    "five values": kinds((0.6, 0.3, 0.04, 0.03, 0.03), 0.1, 3),
}


Law = Callable[[np.random.Generator, int], Floats]
"""(rng, topics) to how good each topic is, in [0, 1]."""


def bad_topics(share: float, bad: float = 0.1, good: float = 0.8) -> Law:
    return lambda rng, topics: np.where(rng.random(topics) < share, bad, good)


QUALITIES: dict[str, tuple[Law, float]] = {
    "alike": (lambda rng, topics: np.full(topics, 0.7), 0.7),
    "smooth": (lambda rng, topics: rng.beta(3.0, 2.0, topics), 0.6),
    "3 in 100 bad": (bad_topics(0.03), 0.779),
    "1 in 20 bad": (bad_topics(0.05), 0.765),
    "1 in 20 bad, the rest right": (bad_topics(0.05, 0.1, 1.0), 0.955),
    "1 in 10 bad": (bad_topics(0.1), 0.73),
    "heavy": (lambda rng, topics: rng.beta(0.6, 0.15, topics), 0.8),
}
"""How topics differ, and their mean."""

JUDGES = ("good", "noise", "constant", "kind to bad topics", "silent on bad items", "taken in by length", "contrary")


def corrected_judge(
    rng: np.random.Generator, topics: int, trials: int, *, quality: str, judge: str, checked: int = 2
) -> tuple[list[ComparedItems], float]:
    """A judge's score of all of `trials` items of each topic, and people's of `checked` drawn ones, with the true mean
    of what people would say."""
    law, truth = QUALITIES[quality]
    level = law(rng, topics)[:, None]
    shape = topics, trials
    good = rng.random(shape) < level
    noise = rng.random(shape)
    if judge == "noise":
        says = noise
    elif judge == "constant":
        says = np.full(shape, 0.6)
    elif judge == "kind to bad topics":
        says = np.where(level < 0.5, 0.9, np.where(noise < 0.85, good, ~good))
    elif judge == "silent on bad items":
        says = np.where(good | (noise < 0.3), np.where(noise < 0.9, good, ~good), math.nan)
    elif judge == "taken in by length":
        says = np.clip(0.5 * good + 0.5 * noise * rng.lognormal(0.0, 1.0, shape), 0, 1)
    else:
        says = np.where(noise < (0.1 if judge == "contrary" else 0.9), good, ~good).astype(np.float64)
    drawn = rng.random(shape).argsort(axis=1) < checked
    people = np.where(drawn, good, math.nan)
    compared = [
        ComparedItems(np.asarray(own, dtype=np.float64), said, np.ones(trials))
        for own, said in zip(says, people, strict=True)
    ]
    return compared, truth


PREFERRED: dict[str, tuple[Law, float, float]] = {
    "neither": (lambda rng, topics: np.full(topics, 0.5), 0.0, 0.5),
    "neither, mostly ties": (lambda rng, topics: np.full(topics, 0.5), 0.6, 0.5),
    "topics differ": (lambda rng, topics: rng.beta(1.5, 1.5, topics), 0.1, 0.5),
    "wins, loses 1 in 20": (bad_topics(0.05, 0.0, 0.9), 0.0, 0.855),
    "wins, loses 3 in 100": (bad_topics(0.03, 0.0, 0.9), 0.0, 0.873),
    "a little better, loses 1 in 20": (bad_topics(0.05, 0.0, 0.5 / 0.95), 0.0, 0.5),
    "a little better, loses 1 in 10": (bad_topics(0.1, 0.0, 0.5 / 0.9), 0.3, 0.5),
}
"""How likely the first system wins in each topic, the share of ties, and how far it is preferred where none tie."""


def preferred_system(
    rng: np.random.Generator, topics: int, trials: int, *, world: str, cluster: int = 1
) -> tuple[Floats, list[int], float]:
    """(topics, trials) 1 where the first system is preferred, 1/2 for a tie, else 0; the cluster of each topic, of
    which all topics are alike; and how far the first is preferred over topics like these."""
    law, ties, truth = PREFERRED[world]
    clusters = np.arange(topics) // cluster
    chance = law(rng, int(clusters[-1]) + 1)[clusters][:, None]
    said = np.where(rng.random((topics, trials)) < ties, 0.5, rng.random((topics, trials)) < chance)
    return said, clusters.tolist(), ties * 0.5 + (1 - ties) * truth
