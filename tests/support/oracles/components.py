"""Spread: analysis of variance by its sums of squares, components, ICC, reliability, pass^k."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from tests.support.oracles.means import mean
from tests.support.oracles.shares import Pair

Rows = Sequence[Sequence[float]]
"""Topics, each with its trials."""


@dataclass(frozen=True)
class OneWay:
    """A one-way random-effects analysis (Searle, Casella & McCulloch, *Variance Components*, 1992, ch. 3)."""

    mean_square_between: float
    mean_square_within: float
    trials: float
    """n₀: the trials a topic; with unequal numbers (N − Σn²/N)/(T − 1)."""
    degrees: tuple[int, int]

    @property
    def between(self) -> float:
        """The variance between topics; may be negative."""
        return (self.mean_square_between - self.mean_square_within) / self.trials

    @property
    def icc(self) -> float:
        """ICC(1) (McGraw & Wong, Psychological Methods 1, 1996, Table 4): (MSB − MSW) / (MSB + (n − 1) MSW)."""
        return (self.mean_square_between - self.mean_square_within) / (
            self.mean_square_between + (self.trials - 1) * self.mean_square_within
        )

    def icc_interval(self, level: float = 0.95) -> Pair:
        """The exact interval of ICC(1) under normal effects and equal trials (McGraw & Wong 1996, Table 7)."""
        tail, (above, below) = (1 + level) / 2, self.degrees
        f = self.mean_square_between / self.mean_square_within
        low = f / float(stats.f.ppf(tail, above, below))
        high = f * float(stats.f.ppf(tail, below, above))
        return (low - 1) / (low + self.trials - 1), (high - 1) / (high + self.trials - 1)

    def within_interval(self, level: float = 0.95) -> Pair:
        """The exact interval of the variance within topics under normal effects (Searle et al. 1992, ch. 3)."""
        squares, tail = self.mean_square_within * self.degrees[1], (1 - level) / 2
        return (
            squares / float(stats.chi2.ppf(1 - tail, self.degrees[1])),
            squares / float(stats.chi2.ppf(tail, self.degrees[1])),
        )


def one_way(rows: Rows) -> OneWay:
    """Mean squares between and within topics."""
    sizes = [len(row) for row in rows]
    total, grand = sum(sizes), mean([value for row in rows for value in row])
    between = math.fsum(len(row) * (mean(row) - grand) ** 2 for row in rows)
    within = math.fsum((value - mean(row)) ** 2 for row in rows for value in row)
    trials = (total - sum(size**2 for size in sizes) / total) / (len(rows) - 1)
    return OneWay(between / (len(rows) - 1), within / (total - len(rows)), trials, (len(rows) - 1, total - len(rows)))


@dataclass(frozen=True)
class Components:
    """Variances of a system × topic × trial table."""

    system: float
    topic: float
    interaction: float
    trial: float

    def relative(self, topics: int, trials: int) -> float:
        """Eρ² for systems in a design of so many topics and trials (Brennan, *Generalizability Theory*, 2001)."""
        error = self.interaction / topics + self.trial / (topics * trials)
        return self.system / (self.system + error)

    def absolute(self, topics: int, trials: int) -> float:
        """Φ (Brennan 2001): the topics' own variance counts as an error, too."""
        error = (self.topic + self.interaction) / topics + self.trial / (topics * trials)
        return self.system / (self.system + error)


def two_way(table: Sequence[Rows]) -> Components:
    """Components by equating mean squares with their expectations, both factors random (Searle, *Linear Models*, 1971,
    ch. 9). table: systems, each with topics of equally many trials, at least two."""
    a, b, n = len(table), len(table[0]), len(table[0][0])
    cells = [[mean(trials) for trials in system] for system in table]
    rows = [mean(system) for system in cells]
    columns = [mean([system[t] for system in cells]) for t in range(b)]
    grand = mean(rows)
    ms_system = n * b * math.fsum((row - grand) ** 2 for row in rows) / (a - 1)
    ms_topic = n * a * math.fsum((column - grand) ** 2 for column in columns) / (b - 1)
    ms_both = (
        n
        * math.fsum((cells[s][t] - rows[s] - columns[t] + grand) ** 2 for s in range(a) for t in range(b))
        / ((a - 1) * (b - 1))
    )
    ms_trial = math.fsum((value - cells[s][t]) ** 2 for s in range(a) for t in range(b) for value in table[s][t]) / (
        a * b * (n - 1)
    )
    return Components(
        (ms_system - ms_both) / (n * b), (ms_topic - ms_both) / (n * a), (ms_both - ms_trial) / n, ms_trial
    )


def passes(rows: Rows, k: int) -> float:
    """pass^k (Yao et al., τ-bench, arXiv 2406.12045): the mean over topics of the chance that k trials, drawn without
    replacement, are all good; by enumerating the draws. NaN if a topic has fewer trials than k."""
    if any(len(row) < k for row in rows):
        return math.nan
    return mean([mean([float(all(draw)) for draw in itertools.combinations(row, k)]) for row in rows])
