"""The design of a figure: the population that its interval is about, and the dependence between observations.

An interval resamples independent units. The design determines them:

    topics              if nothing else is known
    clusters of topics  if topics belong to clusters: several wordings of one question are one question
    trials              for these topics, or one topic: each trial's difference from its topic's other trials
    sessions            if one session goes through all topics, which then share a state

Topics like these, asked in continued sessions, are resampled both ways: for each end, the distance from the value in
the interval over topics and the distance in the interval over sessions are squared and added. This counts the variation
of single answers twice, which is conservative. All studies pass on one `Design`, and do not choose units themselves.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval
from topics.arrays import Floats

Estimand = Literal["like-these", "these"]


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a figure.

    - `clusters`: the name of each clustered topic's cluster, by topic id.
    - `continued`: True if a session goes through all topics, so that all i-th trials belong to the i-th session.
    - `estimand`: whether intervals describe these very topics, or topics like them.
    - `inflation`: the factor by which dependence in time increases the variance of trials
      (`scoring.inference.in_time`), at least 1.
    """

    clusters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    continued: bool = False
    estimand: Estimand = "like-these"
    inflation: float = 1.0

    @property
    def is_about_these_topics(self) -> bool:
        return self.estimand == "these"

    def has_independent_topics(self, topics: Sequence[str]) -> bool:
        """Return True if the units are topics, each with all its trials."""
        return not self.is_about_these_topics and not self.continued and not self.has_clusters(topics)

    def has_clusters(self, topics: Sequence[str]) -> bool:
        """Return True if any two of these topics are in one cluster."""
        named = [self.clusters[topic] for topic in topics if topic in self.clusters]
        return len(set(named)) < len(named)

    def unit(self, topics: Sequence[str]) -> str:
        """Return the name of a unit over these topics: session, trial, cluster or topic."""
        if self.is_about_these_topics:
            return "session" if self.continued else "trial"
        return "cluster" if self.has_clusters(topics) else "topic"

    def rows(self, topics: Sequence[str]) -> tuple[list[str], npt.NDArray[np.intp]]:
        """Return the names of the units of these topics, and each topic's index into them, (topics,)."""
        own = [f"cluster {self.clusters[topic]}" if topic in self.clusters else topic for topic in topics]
        names = list(dict.fromkeys(own))
        place = {name: row for row, name in enumerate(names)}
        return names, np.array([place[name] for name in own], dtype=np.intp)

    def group_topics(self, topics: Sequence[str], *cells: Floats) -> tuple[list[str], list[Floats]]:
        """Group topics into units. Returns the names of the units and the grouped arrays.

        A (topics, trials, …) array becomes (units, cells, …), padded with NaN.
        """
        names, of = self.rows(topics)
        most, found = int(np.bincount(of).max(initial=0)), []
        for values in cells:
            trials = values.shape[1]
            laid = np.full((len(names), most * trials, *values.shape[2:]), np.nan)
            filled = [0] * len(names)
            for row, unit in enumerate(of.tolist()):
                laid[unit, filled[unit] : filled[unit] + trials] = values[row]
                filled[unit] += trials
            found.append(laid)
        return names, found


# Independent topics, with intervals for topics like these.
INDEPENDENT = Design()


def too_few_sessions_reason(sessions: int) -> str:
    if sessions >= FEWEST:
        return ""
    return "one session: nothing to compare it with" if sessions == 1 else f"{sessions} sessions: too few to compare"


def combine_intervals(
    value: float, topics: Interval, sessions: Interval, *, bottom: float = -math.inf, top: float = math.inf
) -> Interval:
    """Combine the intervals over topics and over sessions into one, clipped to `bottom` and `top`."""
    for one in (sessions, topics):
        if not one.is_defined:
            return one
    low = value - math.hypot(value - topics.low, value - sessions.low)
    high = value + math.hypot(topics.high - value, sessions.high - value)
    drawn = [one.resampled for one in (topics, sessions) if one.resampled != "nothing"]
    return Interval(
        max(bottom, low),
        min(top, high),
        f"{topics.method} and session",
        "+".join(drawn) or "nothing",
        "",
        f"{' and '.join(drawn) or 'topics and sessions'} are independent draws",
    )
