"""Worlds of citations with a known share of one site: what answers cite, topic by topic and trial by trial.

A world draws topics, each with a chance that a citation goes to the site and a habit of citing, and then trials. The
share that an unlimited number of topics would show is E[citations of the site] / E[citations].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoring.columns import Flags
from scoring.inference.design import Design
from topics.arrays import Floats

# (rng, topics) -> chances (topics,) and mean numbers of citations of a trial (topics,).
Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class CitedWorld:
    """One world. `bursts` is the share of trials that cite at all; those cite as much more. `lost` is the largest
    chance of a topic to lose a trial. `cluster` topics share a publisher, and all they have in common."""

    name: str
    topics: int
    trials: int
    draw: Draw
    bursts: float = 1.0
    lost: float = 0.0
    cluster: int = 1

    @property
    def names(self) -> list[str]:
        return [f"T{number}" for number in range(self.topics)]

    @property
    def design(self) -> Design:
        if self.cluster == 1:
            return Design()
        return Design({name: f"C{number // self.cluster}" for number, name in enumerate(self.names)})

    def truth(self) -> float:
        chances, means = self.draw(np.random.default_rng(0), 400_000)
        return float((chances * means).sum() / means.sum())

    def play(self, rng: np.random.Generator, systems: int = 1) -> list[tuple[Floats, Floats, Flags]]:
        """Return, for each of some systems that are alike, (topics, trials) citations of the site, citations, and
        whether the trial was lost."""
        groups = -(-self.topics // self.cluster)
        chances, means = (np.repeat(one, self.cluster)[: self.topics, None] for one in self.draw(rng, groups))
        return [self._play(rng, chances, means) for _ in range(systems)]

    def _play(self, rng: np.random.Generator, chances: Floats, means: Floats) -> tuple[Floats, Floats, Flags]:
        shape = (self.topics, self.trials)
        cites = rng.random(shape) < self.bursts
        below = rng.poisson(np.broadcast_to(means, shape) / self.bursts) * cites
        above = rng.binomial(below, np.broadcast_to(chances, shape))
        lost = rng.random(shape) < self.lost * rng.random((self.topics, 1))
        return np.where(lost, np.nan, above), np.where(lost, np.nan, below), lost


def _beta(mean: float, weight: float, *, more: float = 0.0) -> Draw:
    """Chances of a beta distribution; topics cite 3 sources on average, and those with a high chance `more`."""

    def draw(rng: np.random.Generator, topics: int) -> tuple[Floats, Floats]:
        chances = rng.beta(mean * weight, (1 - mean) * weight, topics)
        return chances, 3 * np.exp(more * (chances - mean))

    return draw


def _power_law(exponent: float) -> Draw:
    """The site is third of 200 by a power law, in an order that each topic partly has of its own."""

    def draw(rng: np.random.Generator, topics: int) -> tuple[Floats, Floats]:
        ranks = np.clip(np.rint(3 * rng.lognormal(0, 0.8, topics)), 1, 200)
        whole = (np.arange(1, 201.0) ** -exponent).sum()
        return ranks**-exponent / whole, 1 + rng.gamma(2.0, 1.0, topics)

    return draw


WORLDS = (
    CitedWorld("power law, exponent 1", 24, 4, _power_law(1.0)),
    CitedWorld("power law, exponent 2", 24, 4, _power_law(2.0)),
    CitedWorld("one in 200 answers", 40, 5, _beta(1 / 600, 20)),
    CitedWorld("clusters by publisher", 40, 3, _beta(0.2, 2), cluster=4),
    CitedWorld("bursts", 24, 4, _beta(0.3, 4), bursts=0.15),
    CitedWorld("more citations where the site is", 24, 4, _beta(0.2, 2, more=2.0)),
    CitedWorld("few topics", 8, 3, _beta(0.3, 3)),
    CitedWorld("few topics, one trial", 8, 1, _beta(0.1, 3)),
    CitedWorld("unequal loss", 24, 4, _beta(0.3, 3), lost=0.8),
)
