"""The design of a figure: what its interval speaks of, and what hangs together in it.

An interval draws units that are independent of each other. Which these are, the design says:

    topics              where nothing else is known
    clusters of topics  where topics name theirs: wordings of one question are one question
    trials              of these topics, or of one: each trial as it differs from the others of its topic
    sessions            where one session goes through all topics, which then share its state

Topics like these, asked in sessions that go on, are drawn both ways: from the interval over topics and from that over
sessions, whose distances from the value are squared and added. This counts what single answers add twice, once in each,
and errs on the safe side. All studies pass on one `Design` and decide nothing of this themselves.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval

Floats = npt.NDArray[np.float64]
Estimand = Literal["like-these", "these"]


@dataclass(frozen=True, slots=True)
class Design:
    """clusters: the cluster of each topic that has one, by id. continued: whether a session goes through all topics,
    the i-th trial of each being of the i-th session. estimand: topics like these, or these topics. inflation: how many
    times the variance of trials is what it would be if those near each other in time were independent, at least 1
    (`scoring.inference.in_time`).
    """

    clusters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    continued: bool = False
    estimand: Estimand = "like-these"
    inflation: float = 1.0

    @property
    def these(self) -> bool:
        """Whether intervals speak of these topics."""
        return self.estimand == "these"

    def independent(self, topics: Sequence[str]) -> bool:
        """Whether these topics, each with all its trials, are the units."""
        return not self.these and not self.continued and not self.clustered(topics)

    def clustered(self, topics: Sequence[str]) -> bool:
        """Whether any two of these topics are in one cluster."""
        named = [self.clusters[topic] for topic in topics if topic in self.clusters]
        return len(set(named)) < len(named)

    def unit(self, topics: Sequence[str]) -> str:
        """What the units over these topics are called."""
        if self.these:
            return "session" if self.continued else "trial"
        return "cluster" if self.clustered(topics) else "topic"

    def rows(self, topics: Sequence[str]) -> tuple[list[str], npt.NDArray[np.intp]]:
        """The names of the units that these topics are in, and (topics,) the number of each topic's."""
        own = [f"cluster {self.clusters[topic]}" if topic in self.clusters else topic for topic in topics]
        names = list(dict.fromkeys(own))
        place = {name: row for row, name in enumerate(names)}
        return names, np.array([place[name] for name in own], dtype=np.intp)

    def gathered(self, topics: Sequence[str], *cells: Floats) -> tuple[list[str], list[Floats]]:
        """The names of the units, and each (topics, trials, …) as (units, cells, …): all cells of a cluster side by
        side, NaN where it has fewer than the largest one."""
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


# Topics that are independent of each other, and speak of topics like these.
INDEPENDENT = Design()


def too_few_sessions(sessions: int) -> str:
    """Why nothing is said of sessions like these; "" where there are enough of them."""
    if sessions >= FEWEST:
        return ""
    return "one session: nothing to compare it with" if sessions == 1 else f"{sessions} sessions: too few to compare"


def crossed(
    value: float, topics: Interval, sessions: Interval, *, bottom: float = -math.inf, top: float = math.inf
) -> Interval:
    """The interval over topics and sessions, from those over each. bottom, top: to which it is cut."""
    for one in (sessions, topics):
        if not one.printed:
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
