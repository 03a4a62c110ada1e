"""How often it goes wrong: P(score < threshold), P(breakdown), each with the interval of %useful.

Where something happened in none of n trials, or in all, the interval is the exact one (Clopper-Pearson), since there is
no spread to make another one from. To exclude a rate, use the one-sided bound 1 - .05^(1/n): 59 trials without the
event exclude 5%, 58 do not. It is below the upper end of the interval, which has two sides. The units are topics, since
trials of one topic are alike, and trials where there is one topic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import Interval
from scoring.inference.proportions import clopper_pearson, highest_rate_after_none
from scoring.measures.usefulness import Share, share
from topics.counting import pluralize

__all__ = ["rate_below", "rate_of"]


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something bad happens. share: with the interval of %useful, the exact one over the units where it was
    never seen or always; its `worst` and `best` are the rates had all invalid trials failed, or none. highest: where it
    was never seen, the one-sided upper bound 1 - (1 - level)^(1/units), for who wants to exclude a rate; NaN else.
    units: topics, or trials within one topic. within: whether it is of one topic.
    """

    share: Share
    highest: float
    units: int
    within: bool = False

    @property
    def note(self) -> str:
        """What a reader must know of the share: that of its interval, and that nothing was seen, or nothing else."""
        if self.share.value not in (0, 1):
            return self.share.interval.note
        units = pluralize(self.units, "trial" if self.within else "topic")
        said = f"{'always' if self.share.value else 'never'} seen; the interval is that of {units}"
        return "; ".join(filter(None, (self.share.interval.note, said)))


def rate_below(
    topics: Sequence[str],
    values: npt.ArrayLike,
    threshold: float,
    *,
    level: float = 0.95,
    invalid: npt.ArrayLike | None = None,
) -> Rate:
    """P(score < threshold) over topics and trials. values: (topics, trials), NaN where a trial gave none."""
    cells = np.asarray(values, dtype=np.float64)
    return rate_of(topics, np.where(np.isnan(cells), np.nan, cells < threshold), level=level, invalid=invalid)


def rate_of(
    topics: Sequence[str], happened: npt.ArrayLike, *, level: float = 0.95, invalid: npt.ArrayLike | None = None
) -> Rate:
    """The rate of an event such as a breakdown. happened: (topics, trials) 1.0, 0.0, or NaN where there is no trial.

    invalid: (topics, trials) bool, trials that never became valid. Mean over topics of each topic's rate, as %useful.
    """
    cells = np.asarray(happened, dtype=np.float64)
    if cells.ndim != 2 or len(cells) != len(topics) or not np.all((cells == 0) | (cells == 1) | np.isnan(cells)):
        raise ValueError(f"there must be a 1, a 0 or NaN for each of {len(topics)} topics × trials")
    lost = np.zeros(cells.shape, dtype=bool) if invalid is None else np.asarray(invalid, dtype=bool)
    names: Sequence[str] = topics
    if len(topics) == 1:  # within one topic the trials are the units
        cells, lost = cells.T, lost.T
        names = [str(number) for number in range(1, len(cells) + 1)]
    found = share(
        names,
        cells,
        np.where(np.isnan(cells), np.nan, 1.0),
        lost,
        level=level,
        pooled=False,
        unit="trial" if len(topics) == 1 else "topic",
    )
    found = replace(found, worst=found.best, best=found.worst)  # a useful answer more is good, a failure more is not
    if found.value in (0, 1):
        low, high = clopper_pearson(found.value * found.topics, found.topics, level)
        exact = Interval(float(low), float(high), "Clopper-Pearson, exact", "nothing")
        found = replace(found, interval=exact)
    highest = highest_rate_after_none(found.topics, level) if found.n and found.value == 0 else math.nan
    return Rate(found, highest, found.topics, len(topics) == 1)
