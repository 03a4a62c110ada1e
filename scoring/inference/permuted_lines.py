"""The expected statistics of a line of trials if the order of the trials of each topic is random.

A million trials take minutes to permute a few thousand times. For many trials the statistics are nearly normal, and
their mean and variance under permutation are known:

    products of neighbours   E x_i·x_j = -m/(n-1) within a topic and 0 between topics; Var x_i·x_j = m_i·m_j
    sum with fixed weights   0; Σ_topics n·m/(n-1) · Σ(r - r̄)²

for trials x minus their topic's mean, with mean square m of n trials. The variance of products is good to 1/n, and two
products are as good as uncorrelated. A few large values among many small ones are not nearly normal (`is_settled`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from scoring.statistics.beta import normal_cdf
from topics.arrays import Counts, Floats

_FEWEST = 20_000  # trials of a line; fewer are permuted in a second
_FEWEST_OF_TOPIC = 100
# The largest Σ E y⁴ / (Σ E y²)² of products y: of rare answers, 200 or more then meet by chance.
_UNEVEN = 0.005


@dataclass(frozen=True, slots=True)
class PermutedLine:
    """A line of n trials. Each value is a trial's value minus the mean of its topic. All arrays are (n,): the trials'
    topics, and the mean square and mean fourth power of the topic's values. `sizes` has the number of trials of each
    topic."""

    topic: Counts
    square: Floats
    fourth: Floats
    sizes: Counts

    @classmethod
    def of(cls, rows: Sequence[Floats], order: Counts | None = None) -> Self:
        """Return the line of the trials of several topics, one after the other, or in this order of all of them."""
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        topic = np.repeat(np.arange(len(rows)), sizes)
        topic = topic if order is None else topic[order]
        square, fourth = (np.array([float((row**power).mean()) for row in rows]) for power in (2, 4))
        return cls(topic, square[topic], fourth[topic], sizes)

    def is_settled(self) -> bool:
        """Return true if there are so many trials, and so evenly spread, that the statistics are nearly normal."""
        if len(self.topic) < _FEWEST or int(self.sizes.min()) < _FEWEST_OF_TOPIC:
            return False
        total = float(self.square[1:] @ self.square[:-1])
        return total > 0 and float(self.fourth[1:] @ self.fourth[:-1]) <= _UNEVEN * total**2

    def products(self, weights: Sequence[float]) -> tuple[float, float]:
        """Return mean and variance of the weighted sum of products of trials that are 1, 2, … apart."""
        mean = variance = 0.0
        for lag, weight in enumerate(weights, 1):
            same = self.topic[lag:] == self.topic[:-lag]
            mean -= weight * float((self.square / (self.sizes[self.topic] - 1))[lag:][same].sum())
            variance += weight**2 * float(self.square[lag:] @ self.square[:-lag])
        return mean, variance

    def weighted_variance(self, weights: Floats) -> float:
        """Return the variance of the weighted sum of all trials; the weights are (n,). Its mean is 0."""
        n = self.sizes[self.topic]
        sums = np.bincount(self.topic, weights=weights)
        return float((self.square * n / (n - 1)) @ (weights - (sums / self.sizes)[self.topic]) ** 2)


def upper_p(observed: float, mean: float, variance: float) -> float:
    """Return the chance of a normal number of at least `observed`."""
    return normal_cdf((mean - observed) / variance**0.5)
