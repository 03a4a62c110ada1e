"""Matched groups of users: the same topics and trials, and how far apart their scores lie.

difference(topics, base, other, …)   mean over topics of (other - base), over trials that both sides have
session_difference(…)                the same, where a trial is one session through all topics
compared(differences, nulls, …)      which lie beyond chance, after Holm's correction, and beyond the null pair
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.bootstrap import Resampler
from scoring.inference.crossed import crossed_interval
from scoring.inference.interval import Interval
from scoring.statistics.exchange import exchange_p, exchange_sessions_p, holm, least_p

__all__ = ["Cell", "Difference", "Trial", "compare", "difference", "session_difference"]

Floats = npt.NDArray[np.float64]

_SAME = 1e-12

Trial = tuple[str, int]
"""A topic's id and the number of a trial."""

Cell = tuple[float, float]
"""What a conversation gives: a sum, and what it is a sum over: (value, 1) for a measure, (useful, asked) for a share.
NaN, or over nothing, where it gives no value. The figure of a topic is the ratio of its sums."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two groups in one measure.

    value: NaN without a pair. n: pairs it is taken over; topics: of how many topics; sessions: of how many sessions
    that run through all topics, 0 where each conversation has its own. invalid: pairs left out because one side or
    both have no valid attempt (failed or interrupted); unplayed: because one is not recorded; undefined: because a
    value of one side is. interval: paired over topics, by itself. p: of exchanging the sides, by itself;
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
    sessions: int = 0

    @property
    def exchanged(self) -> int:
        """How many units the test exchanges: sessions where they run through all topics, else topics."""
        return self.sessions or self.topics


def difference(
    topics: Sequence[str],
    base: Mapping[Trial, Cell],
    other: Mapping[Trial, Cell],
    resampler: Resampler,
    rng: np.random.Generator,
    *,
    invalid: int = 0,
    unplayed: int = 0,
    top: float = 1.0,
) -> Difference:
    """How far `other` lies above `base`, over the trials that both have a value of.

    topics: in the order of the topic set. base, other: of each valid conversation. resampler: draws topics. invalid,
    unplayed: how many pairs there are not, because one side failed or is not recorded. top: how far apart the sides of
    a topic can be; infinite where unknown, as for R.
    """
    found, undefined = _pairs(topics, base, other)
    each = _ratios(found.other) - _ratios(found.base)
    return Difference(
        value=float(each.mean()) if len(each) else math.nan,
        n=int(found.pairs.sum()),
        topics=len(found.topics),
        invalid=invalid,
        unplayed=unplayed,
        undefined=undefined,
        interval=resampler.means(found.topics, each[:, None, None], bottom=-top, top=top)[0],
        p=exchange_p(each, rng),
    )


def session_difference(
    topics: Sequence[str],
    base: Mapping[Trial, Cell],
    other: Mapping[Trial, Cell],
    rng: np.random.Generator,
    *,
    level: float,
    invalid: int = 0,
    unplayed: int = 0,
) -> Difference:
    """`difference` where the trials of one number are one session that runs through all topics. Answers of one session
    are not independent, so the test exchanges whole sessions, and the interval is clustered by session and by topic.
    """
    found, undefined = _pairs(topics, base, other)
    each = _ratios(found.other) - _ratios(found.base)
    value = float(each.mean()) if len(each) else math.nan
    return Difference(
        value=value,
        n=int(found.pairs.sum()),
        topics=len(found.topics),
        invalid=invalid,
        unplayed=unplayed,
        undefined=undefined,
        interval=crossed_interval(value, _influence(found, each), level=level),
        p=exchange_sessions_p(found.base, found.other, rng),
        sessions=found.pairs.shape[1],
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """topics: those with a pair. pairs: (topics, trials) whether both sides have a value. base, other: (topics, trials,
    2), the cells of the pairs, and 0 elsewhere."""

    topics: Sequence[str]
    pairs: npt.NDArray[np.bool_]
    base: Floats
    other: Floats


def _pairs(topics: Sequence[str], base: Mapping[Trial, Cell], other: Mapping[Trial, Cell]) -> tuple[_Pairs, int]:
    """The pairs with a value on both sides, and how many there are without."""
    both = base.keys() & other.keys()
    known = {trial for trial in both if _defined(base[trial]) and _defined(other[trial])}
    with_pair = {topic for topic, _ in known}
    names = [topic for topic in topics if topic in with_pair]
    rows = {topic: row for row, topic in enumerate(names)}
    columns = {trial: column for column, trial in enumerate(sorted({trial for _, trial in known}))}
    shape = len(names), len(columns)
    found = _Pairs(names, np.zeros(shape, dtype=bool), np.zeros((*shape, 2)), np.zeros((*shape, 2)))
    for topic, trial in known:
        place = rows[topic], columns[trial]
        found.pairs[place] = True
        found.base[place], found.other[place] = base[topic, trial], other[topic, trial]
    return found, len(both) - len(known)


def _ratios(cells: Floats) -> Floats:
    """(topics,) ratios of the sums over trials."""
    sums = cells.sum(axis=1)
    return np.asarray(sums[:, 0] / sums[:, 1])


def _influence(found: _Pairs, each: Floats) -> Floats:
    """(topics, trials): what each pair adds to the mean of `each`, the differences of topics, to first order."""

    def of(cells: Floats) -> Floats:
        below = cells.sum(axis=1)[:, 1, None]
        return np.asarray((cells[:, :, 0] - _ratios(cells)[:, None] * cells[:, :, 1]) / below)

    shares = found.pairs / found.pairs.sum(axis=1, keepdims=True)
    between = (each - each.mean())[:, None] * shares if len(each) else shares
    return np.asarray((of(found.other) - of(found.base) + between) / max(1, len(each)))


def _defined(cell: Cell) -> bool:
    return not math.isnan(cell[0]) and cell[1] > 0


def compare(differences: Sequence[Difference], nulls: Sequence[float], *, level: float) -> list[Difference]:
    """The differences, tested. They form one family for Holm's correction; null pairs are not part of it. nulls: for
    each difference, how far apart the null pair of its measure lies, NaN without one.

    Beyond chance: the adjusted p is at most 1 - level, and the difference is larger than the null pair's. If all groups
    are treated alike, the chance that any of them is found is at most 1 - level. None where there is no p, and where no
    p can be that small: too few topics, or sessions, for so many comparisons.
    """
    adjusted = holm([one.p for one in differences])
    family, alpha = sum(not math.isnan(one.p) for one in differences), 1 - level + _SAME
    found = []
    for one, p, null in zip(differences, adjusted, nulls, strict=True):
        told = p <= alpha and not abs(one.value) <= null + _SAME
        possible = least_p(one.exchanged) * family <= alpha
        found.append(replace(one, adjusted=p, null=null, beyond=told if told or possible else None))
    return found
