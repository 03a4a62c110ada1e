"""The results of a comparison of systems: frozen values for tables and JSON."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.inference.interval import Interval
from scoring.inference.needed import Needed
from scoring.inference.paired import Estimand
from scoring.inference.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Driver:
    """A topic's part in a difference. share: of the difference, 1 over all topics together; below 0 if the topic
    favours the other system. without: the difference without the topic.
    """

    topic: str
    share: float
    without: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems in one measure. value: the first's figure minus the second's; NaN if undefined.

    interval, p: of this difference alone. corrected: p with one probability of error over all pairs of the measure.
    outside: the smallest probability of error, over all pairs, at which the interval leaves out 0; NaN without an
    interval. least: the smallest p that so many topics can give; NaN if any p is possible. effect: |value|/√V_E2 over
    the systems compared. why: the reason why the systems cannot be told apart, unless it is a large p. bounds: the
    difference with all lost attempts of the first system at the low end of the measure and those of the second at the
    high end, and the other way round; None unless they lost different shares, or many. typical: the median of the
    topics' differences and its interval, if the measure has no end near its values and topics are too few for a mean;
    else None. wins, ties, losses: topics in which the first system's own figure is better (higher, if neither end is
    good), equal, worse. drivers: every topic by its share, largest first; () if the value is 0. needed: the study that
    would settle the comparison.
    """

    first: str
    second: str
    value: float
    interval: Interval
    p: float
    corrected: float
    least: float
    effect: float
    wins: int
    ties: int
    losses: int
    drivers: tuple[Driver, ...]
    needed: Needed
    verdict: Verdict
    outside: float = math.nan
    why: str = ""
    bounds: tuple[float, float] | None = None
    typical: tuple[float, Interval] | None = None

    @property
    def found(self) -> bool:
        """True if the systems are told apart."""
        return self.verdict in ("better", "worse", "higher", "lower")


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """All pairs of systems in one measure, over the topics for which all have a value.

    turn: of a system turn; None for whole conversations. topic_type: None for all types. estimand: what intervals
    describe. figures: by system. topics: those compared. left_out: those for which some system has no value. trials:
    fewest and most conversations of a topic with a system. pairs: in the order of the systems. letters: systems that
    share a letter cannot be told apart. pooled: the figures are ratios of sums over all conversations, as %recovery is.
    sessions: how many sessions run through all topics, by system, without systems that have a fresh one for each
    conversation. clusters: how many clusters of topics are the units; 0 if topics are. in_time: notes about trials that
    are alike near each other in time, by system, without systems that need none.
    """

    measure: str
    turn: int | None
    topic_type: str | None
    estimand: Estimand
    figures: Mapping[str, float]
    topics: tuple[str, ...]
    left_out: tuple[str, ...]
    trials: tuple[int, int]
    pairs: tuple[Pair, ...]
    letters: Mapping[str, str]
    pooled: bool = False
    sessions: Mapping[str, int] = field(default_factory=dict)
    clusters: int = 0
    in_time: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The measure as people read it: `%useful S1`."""
        return f"{self.measure} S{self.turn}" if self.turn else self.measure
