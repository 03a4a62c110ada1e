"""Groups of users that are matched: the same topics and trials, and how far apart their scores lie.

difference(topics, base, other, …)   mean over topics of (other - base), over trials that both sides have
compared(differences, nulls, …)      which lie beyond chance, after Holm's correction, and beyond the null pair
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.statistics.bootstrap import Interval, Resampler
from scoring.statistics.exchange import exchange_p, holm, least_p

__all__ = ["Cell", "Difference", "Trial", "compared", "difference"]

_SAME = 1e-12

Trial = tuple[str, int]
"""A topic's id and the number of a trial."""

Cell = tuple[float, float]
"""What a conversation gives: a sum, and what it is a sum over: (value, 1) for a measure, (useful, asked) for a share.
NaN, or over nothing, where it gives no value. The figure of a topic is the ratio of its sums."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What lies between two groups in one measure.

    value: NaN without a pair. n: pairs it is taken over; topics: of how many topics. invalid: pairs left out because
    one side or both have no valid attempt (failed or interrupted); unplayed: because one is not recorded; undefined:
    because a value of one side is. interval: paired over topics, by itself. p: of exchanging the sides, by itself;
    adjusted: after Holm's correction, NaN for a null pair, which is not tested. null: the largest distance of a
    null pair in this measure, NaN without one. beyond: whether it is found to be more than chance, and further
    apart than the null pair; None where that cannot be said.
    """

    value: float
    n: int
    topics: int
    invalid: int
    unplayed: int
    undefined: int
    interval: Interval
    p: float
    adjusted: float = math.nan
    null: float = math.nan
    beyond: bool | None = None


def difference(
    topics: Sequence[str],
    base: Mapping[Trial, Cell],
    other: Mapping[Trial, Cell],
    resampler: Resampler,
    rng: np.random.Generator,
    *,
    invalid: int = 0,
    unplayed: int = 0,
) -> Difference:
    """How far `other` lies above `base`, over the trials that both have a value of.

    topics: in the order of the topic set. base, other: of each valid conversation. resampler: draws topics. invalid,
    unplayed: how many pairs there are not, because one side failed or is not recorded.
    """
    both = base.keys() & other.keys()
    known: dict[str, list[Trial]] = {}
    for trial in sorted(both):
        if _defined(base[trial]) and _defined(other[trial]):
            known.setdefault(trial[0], []).append(trial)
    named = [topic for topic in topics if topic in known]
    each = np.array([_ratio(other, known[topic]) - _ratio(base, known[topic]) for topic in named])
    n = sum(map(len, known.values()))
    return Difference(
        value=float(each.mean()) if named else math.nan,
        n=n,
        topics=len(named),
        invalid=invalid,
        unplayed=unplayed,
        undefined=len(both) - n,
        interval=resampler.means(named, each[:, None, None])[0],
        p=exchange_p(each, rng),
    )


def _defined(cell: Cell) -> bool:
    return not math.isnan(cell[0]) and cell[1] > 0


def _ratio(cells: Mapping[Trial, Cell], trials: Sequence[Trial]) -> float:
    return math.fsum(cells[trial][0] for trial in trials) / math.fsum(cells[trial][1] for trial in trials)


def compared(differences: Sequence[Difference], nulls: Sequence[float], *, level: float) -> list[Difference]:
    """The differences with what can be said of them. They are one family, which Holm's correction is over; null pairs
    are no part of it. nulls: for each difference, how far apart the null pair of its measure lies, NaN without one.

    Beyond chance: the adjusted p is at most 1 - level, and the difference is larger than the null pair's. Of groups
    that are treated alike that is said, of any of them, at most as often as 1 - level. None where there is no p, and
    where none can be that small: too few topics for so many comparisons.
    """
    adjusted = holm([one.p for one in differences])
    family, alpha = sum(not math.isnan(one.p) for one in differences), 1 - level + _SAME
    found = []
    for one, p, null in zip(differences, adjusted, nulls, strict=True):
        told = p <= alpha and not abs(one.value) <= null + _SAME
        possible = least_p(one.topics) * family <= alpha
        found.append(replace(one, adjusted=p, null=null, beyond=told if told or possible else None))
    return found
