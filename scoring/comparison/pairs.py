"""Pairs of systems in one measure: their values, and the verdict on each pair."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import overload

from scoring.inference.interval import Interval
from scoring.inference.needed import NeededSize
from scoring.inference.paired import Estimand, Verdict
from scoring.inference.ratios import Ratio
from scoring.inference.sameness import Sameness
from topics.counting import pluralize

# Ends the reason why no winner is named, whatever the figures.
SEE_BOUNDS = ": see the bounds"


@dataclass(frozen=True, slots=True)
class Driver:
    """The part of one topic in the difference between two systems.

    `share` is the topic's part of the difference: shares sum to 1 over all topics, and are negative for topics that
    favour the other system. `without` is the difference over all other topics.
    """

    topic: str
    share: float
    without: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems compared in one measure.

    - `value`: the first system's figure minus the second's; NaN if undefined.
    - `interval`, `p`: the interval and the p of this difference alone.
    - `corrected`: p with one error probability over all pairs of the measure.
    - `outside`: the smallest error probability, over all pairs, at which the interval excludes 0, or NaN.
    - `least`: the smallest p possible with this number of topics; NaN if any p is possible.
    - `effect`: |value|/√V_E2 over the systems compared.
    - `why`: the reason why the systems cannot be told apart, unless the reason is a large p.
    - `bounds`: the lowest and the highest difference: one system's lost attempts are set to the low end of the measure
      and the other system's to the high end. None if losses do not matter.
    - `selected`: True if what was lost depended on the answers. What is left is a selection then, and only the bounds
      are known.
    - `typical`: the median of the topics' differences and its interval, if the measure has no end near its values and
      topics are too few for a mean; else None.
    - `wins`, `ties`, `losses`: the numbers of topics on which the first system's own figure is better (higher, if
      neither end is good), equal, and worse.
    - `drivers`: every topic by its share, largest first; empty if the value is 0.
    - `needed`: the size of study that would settle the comparison.
    - `sameness`: what the study shows about the size of a study that would show the two to be the same; None if
      unknown.
    - `ratio`: the lower figure as a share of the higher one, if ratios were requested; else None.
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
    needed: NeededSize
    verdict: Verdict
    outside: float = math.nan
    why: str = ""
    bounds: tuple[float, float] | None = None
    selected: bool = False
    typical: tuple[float, Interval] | None = None
    ratio: Ratio | None = None
    sameness: Sameness | None = None

    @property
    def is_distinguished(self) -> bool:
        return self.verdict in ("better", "worse", "higher", "lower")


class Pairs(Sequence[Pair]):
    """Pairs that are described when they are looked at: of 1,225 pairs, 49 are printed."""

    def __init__(self, count: int, describe: Callable[[int], Pair]) -> None:
        self._count, self._describe = count, cache(describe)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Pair: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, at: int | slice) -> Pair | tuple[Pair, ...]:
        places = range(self._count)[at]
        return self._describe(places) if isinstance(places, int) else tuple(map(self._describe, places))


@dataclass(frozen=True, slots=True, repr=False)
class MeasureComparison:
    """All pairs of systems in one measure, over the topics for which all of them have a value.

    - `turn`, `topic_type`: the system turn compared and the type of topics; None for whole conversations and all types.
    - `estimand`: the population that intervals are about.
    - `figures`, `pairs`: the figure of each system, and the comparisons in the order of the systems.
    - `ranges`: the lowest and the highest figure of each system in a pair of which only the bounds are known.
    - `topics`, `left_out`: the topics compared, and the topics for which some system has no value.
    - `trials`: the fewest and the most conversations of a topic with a system.
    - `letters`: systems that share a letter cannot be told apart; "" if a system has no figure.
    - `pooled`: True if the figures are ratios of sums over all conversations, such as %recovery.
    - `sessions`: the number of sessions that run through all topics, for each system with such sessions.
    - `clusters`: the number of clusters of topics that are the units; 0 if topics are the units.
    - `in_time`: notes for systems whose trials are alike if they are near in time.
    - `standardised`: True if scores are relative to those of a reference group (`scoring.comparison.standardised`).
    """

    measure: str
    turn: int | None
    topic_type: str | None
    estimand: Estimand
    figures: Mapping[str, float]
    topics: tuple[str, ...]
    left_out: tuple[str, ...]
    trials: tuple[int, int]
    pairs: Sequence[Pair]
    letters: Mapping[str, str]
    pooled: bool = False
    sessions: Mapping[str, int] = field(default_factory=dict)
    clusters: int = 0
    in_time: Mapping[str, str] = field(default_factory=dict)
    standardised: bool = False
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The printed name of the measure, such as `%useful S1`."""
        return f"{self.measure} S{self.turn}" if self.turn else self.measure

    def __repr__(self) -> str:
        of = f" of {self.topic_type}" if self.topic_type else ""
        compared = f"{pluralize(len(self.pairs), 'pair')} over {pluralize(len(self.topics), 'topic')}"
        return f"<MeasureComparison in {self.label}{of}: {compared}>"

    def pairs_of(self, system: str) -> tuple[Pair, ...]:
        """Return all pairs that include `system`."""
        places = enumerate(combinations(self.figures, 2))
        return tuple(self.pairs[at] for at, names in places if system in names)
