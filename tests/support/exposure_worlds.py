"""Worlds of citations, hostile on purpose: power laws, rare domains, publishers, bursts, few topics.

A world draws, for each topic and trial, how often each domain is cited.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats
from topics.identity import generator

Counts = npt.NDArray[np.int64]
_POPULATION = 20_000  # topics of which a truth is made


@dataclass(frozen=True, kw_only=True)
class ExposureWorld:
    """Domains are cited by a power law, which each topic may bend.

    - `domains`, `exponent`: the number of domains, and the exponent of their law.
    - `alike`: how much topics are alike: the sum of the parameters of their Dirichlet laws; 0 if all have one law.
    - `rare`: the share of the first domain, if it is not of the law.
    - `publishers`: the share of citations that go to the domain of a topic's field.
    - `cites`: the mean number of citations of an answer beyond the first.
    - `burst`: the share of an answer's citations that repeat its first one.
    - `tied`: how many times as many sources an answer has if it is likely to show the first domain.
    - `many`: the share of topics whose answers have fifteen times as many sources.
    - `alone`: the share of topics whose answers show the first domain alone.
    """

    name: str
    domains: int = 60
    exponent: float = 1.0
    alike: float = 0.0
    rare: float = 0.0
    publishers: float = 0.0
    cites: float = 3.0
    burst: float = 0.0
    tied: int = 1
    many: float = 0.0
    alone: float = 0.0

    def __str__(self) -> str:
        return self.name

    @property
    def law(self) -> Floats:
        """(domains,) the law of all topics together."""
        weights = np.arange(1, self.domains + 1) ** -self.exponent
        if not self.rare:
            return np.asarray(weights / weights.sum())
        return np.concatenate([[self.rare], (1 - self.rare) * weights[:-1] / weights[:-1].sum()])

    def draw(self, rng: np.random.Generator, topics: int, trials: int) -> Counts:
        """(topics, trials, domains) how often each domain is cited."""
        laws = np.repeat(self.law[None], topics, axis=0)
        if self.alike:
            bent = rng.standard_gamma(np.maximum(self.alike * laws, 1e-3))
            sums = bent.sum(axis=1, keepdims=True)
            laws = np.where(sums > 1e-12, bent / np.maximum(sums, 1e-12), laws)
        if self.publishers:
            fields = rng.choice(self.domains, size=topics, p=self.law)
            laws = (1 - self.publishers) * laws
            laws[np.arange(topics), fields] += self.publishers
        if self.alone:
            laws[rng.random(topics) < self.alone] = np.eye(self.domains)[0]
        number = 1 + rng.poisson(self.cites, (topics, trials))
        if self.many:
            number = np.where(rng.random((topics, 1)) < self.many, 15 * number, number)
        if self.tied > 1:
            number = np.where(rng.random((topics, trials)) < 2 * laws[:, :1], self.tied * number, number)
        own = 1 + rng.binomial(number - 1, 1 - self.burst)
        found = rng.multinomial(own, np.repeat(laws[:, None] / laws.sum(axis=1)[:, None, None], trials, axis=1))
        if self.burst:
            at = rng.random((topics, trials, 1)) * own[..., None] < found.cumsum(axis=-1)
            first = at.argmax(axis=-1)[..., None]
            np.put_along_axis(found, first, np.take_along_axis(found, first, -1) + (number - own)[..., None], -1)
        return np.asarray(found, dtype=np.int64)

    def true_shares(self) -> Floats:
        """(domains,) the mean over topics of the share of each domain in an answer."""
        rng, sums = generator(1, "exposure", self.name), np.zeros(self.domains)
        for _ in range(_POPULATION // 2000):
            sums += topic_shares(self.draw(rng, 2000, 1)).sum(axis=0)
        return sums / _POPULATION


def topic_shares(counts: Counts) -> Floats:
    """(topics, domains) the mean over a topic's trials of the shares of domains in an answer."""
    return np.asarray((counts / counts.sum(axis=-1, keepdims=True)).mean(axis=1))


WORLDS = (
    ExposureWorld(name="power law 1"),
    ExposureWorld(name="power law 2", exponent=2.0),
    ExposureWorld(name="one citation an answer", exponent=2.0, cites=0.0),
    ExposureWorld(name="mostly singletons", domains=600, exponent=0.0, cites=0.0),
    ExposureWorld(name="a domain in one of 200", rare=0.005),
    ExposureWorld(name="topics differ", exponent=1.5, alike=1.0),
    ExposureWorld(name="topics have nothing in common", exponent=1.5, alike=0.2),
    ExposureWorld(name="publishers of fields", exponent=1.5, publishers=0.5),
    ExposureWorld(name="bursts", exponent=1.5, burst=0.7, cites=8.0),
    ExposureWorld(name="more sources with the first domain", exponent=1.5, tied=5),
    ExposureWorld(name="ten equal domains", domains=10, exponent=0.0),
    ExposureWorld(name="two equal domains", domains=2, exponent=0.0),
    ExposureWorld(name="nearly one domain", domains=5, exponent=4.0, alike=0.5),
)
SIZES = ((8, 1), (8, 3), (15, 3), (45, 1), (45, 3), (200, 1))
"""Topics and trials."""
