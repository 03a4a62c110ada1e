"""The basis of the figures in a study of sources: independent units, their intervals, and overlaps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from harvest.studies.scores.gathered import Gathered
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.inference.interval import Interval, no_interval
from scoring.settings import Settings
from scoring.statistics.rank_overlap import in_order, jaccard, rank_overlap
from topics.arrays import Floats
from topics.identity import generator

# The measures of overlap of two lists.
SIMILARITIES = ("Jaccard", "RBO")


@dataclass(frozen=True, slots=True)
class Described:
    """A figure with its interval, or the reason why there is none; `n` is the number of topics or trials behind it."""

    value: float
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Basis:
    """The runs of a study, its settings, and the seed of resampling."""

    gathered: Gathered
    settings: Settings
    seed: int

    def resampler(self, *systems: str) -> Resampler:
        """Return intervals that resample whole sessions if the systems' sessions continue from topic to topic."""
        rng = generator(self.seed, "sources")
        settings = self.settings
        found = Resampler(rng, replications=settings.replications, level=settings.level, resample="topics")
        return found.with_design(Design(self.gathered.material.topics.clusters, not self.is_fresh(*systems)))

    def described(
        self,
        topics: Sequence[str],
        each: Floats,
        systems: Sequence[str],
        why: str,
        none: str = "no topic has two trials",
    ) -> Described:
        """Return the mean of (topics,) values with its interval, or with the reason `why` there is none. `none` is the
        reason if no topic has a value."""
        there = ~np.isnan(each)
        if not there.any():
            return Described(math.nan, no_interval(f"{none} with a source"), 0)
        (interval,) = self.resampler(*systems).means(topics, each[:, None, None])
        return Described(float(each[there].mean()), no_interval(why) if why else interval, int(there.sum()))

    def is_fresh(self, *systems: str) -> bool:
        """Return true if no session of these systems continues from topic to topic."""
        return not any(one in self.gathered.material.continued for one in systems)

    def no_interval_reason(self, *systems: str) -> str:
        """Return why figures over pairs of topics have no interval; "" if they have one."""
        if self.is_fresh(*systems):
            return ""
        return "sessions go on from topic to topic, so pairs of topics are not independent"

    def sums_by_unit(self, topics: Sequence[str], each: Floats) -> tuple[Floats, Floats]:
        """Return sums over units of independent topics, and the number of topics in each."""
        names, of = Design(self.gathered.material.topics.clusters).rows(topics)
        own = (np.arange(len(names))[:, None] == of).astype(np.float64)
        return own @ each, own.sum(axis=1)

    def unit(self, topics: Sequence[str]) -> str:
        return Design(self.gathered.material.topics.clusters).unit(topics)


def overlaps(lists: Sequence[tuple[str, ...]]) -> dict[str, Floats]:
    """Return the (trials, trials) overlaps of lists of names, by measure of overlap; NaN if a list is empty."""
    found = {name: np.full((len(lists), len(lists)), np.nan) for name in SIMILARITIES}
    sets = [frozenset(one) for one in lists]
    for one, other in combinations(range(len(lists)), 2):
        found["Jaccard"][one, other] = found["Jaccard"][other, one] = jaccard(sets[one], sets[other])
        found["RBO"][one, other] = found["RBO"][other, one] = _rank_overlap(lists[one], lists[other])
    return found


# A system is compared with several others, and each time its own trials with each other.
@lru_cache(2**15)
def _rank_overlap(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    return rank_overlap(in_order(one), in_order(other)).value
