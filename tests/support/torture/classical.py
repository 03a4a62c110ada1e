"""Engines of the textbook, t intervals and paired t tests: how hostile a world is, and the unit of widths."""

import itertools
import math

import numpy as np
from scipy import stats

from tests.support.torture.cells import Engine, Said, Size, winner
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import World

ONE: tuple[Size, ...] = (
    (2, 5, 1),
    (4, 5, 1),
    (5, 20, 1),
    (8, 1, 1),
    (8, 3, 1),
    (8, 5, 1),
    (15, 5, 1),
    (45, 1, 1),
    (45, 5, 1),
    (200, 1, 1),
)
"""The sizes for one system."""
TWO: tuple[Size, ...] = (*((topics, trials, 2) for topics, trials, _ in ONE), (15, 20, 2), (45, 10, 2), (45, 2, 2))
"""The sizes for a pair."""
VALUES = frozenset({Kind.SHARE, Kind.SCORE, Kind.UNBOUNDED})


def topic_means(study: Study) -> Floats:
    """(systems, topics) the mean of what was not lost; NaN where all was."""
    kept = np.isfinite(study.values)
    sums, counts = np.where(kept, study.values, 0.0).sum(axis=-1), kept.sum(axis=-1)
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


def student(values: Floats) -> tuple[float, float]:
    """Student's interval of the mean of what is not NaN; NaN with fewer than two values."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return math.nan, math.nan
    half = float(stats.t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def t_of_mean(world: World, study: Study) -> list[Said]:
    """Student's interval over topics, of every system."""
    truth = world.truth("mean", study)
    said = []
    for system, means in enumerate(topic_means(study)):
        low, high = student(means)
        said.append(Said(math.nan if truth is None else float(truth[system]), low, high, "", high - low))
    return said


def t_of_difference(world: World, study: Study) -> list[Said]:
    """The paired t interval of every pair; the verdict is whether it excludes 0."""
    truth, means = world.truth("mean", study), topic_means(study)
    said = []
    for one, other in itertools.combinations(range(len(means)), 2):
        low, high = student(means[one] - means[other])
        true = math.nan if truth is None else float(truth[one] - truth[other])
        said.append(winner(Said(true, low, high, "", high - low), low > 0 or high < 0, low + high))
    return said


ENGINES = (
    Engine("t of a mean", VALUES, t_of_mean, ONE),
    Engine("paired t of a difference", VALUES, t_of_difference, TWO),
)
