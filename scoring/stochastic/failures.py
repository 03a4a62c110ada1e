"""Failure rates: P(score < threshold), P(breakdown), each with the interval of %useful.

If an event happened in none or in all of n trials, the rate has no spread, so the interval is exact (Clopper-Pearson).
To exclude a rate, use the one-sided bound 1 - .05^(1/n): 59 trials without the event exclude 5%, but 58 do not. This
bound is below the upper end of the two-sided interval. Topics are the units, because trials of one topic are alike. If
there is one topic, trials are the units.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.design import INDEPENDENT, Design
from scoring.inference.interval import Interval
from scoring.inference.proportions import clopper_pearson_ends, highest_rate_without_events
from scoring.measures.usefulness import Share, share
from topics.counting import pluralize


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of a bad event.

    - `share`: the rate with the interval of %useful. If the event happened never or always, the interval is exact, over
      the units. `worst` is the rate if all invalid trials had failed, and `best` the rate if none had failed.
    - `highest`: the one-sided upper bound 1 - (1 - level)^(1/units) if the event never happened, else NaN.
    - `units`, `unit`: the number and the name of the independent units: topics, clusters, or trials within one topic or
      of these topics; "" if there are none.
    """

    share: Share
    highest: float
    units: int
    unit: str = "topic"

    @property
    def note(self) -> str:
        """The interval's note, with a remark if the event happened never or always."""
        if self.share.value not in (0, 1):
            return self.share.interval.note
        if not self.share.interval.is_defined:
            return self.share.interval.note
        of = f"; the interval is that of {pluralize(self.units, self.unit)}" if self.unit else ""
        said = f"{'always' if self.share.value else 'never'} seen{of}"
        return "; ".join(filter(None, (self.share.interval.note, said)))


def rate_below(
    topics: Sequence[str],
    values: npt.ArrayLike,
    threshold: float,
    *,
    level: float = 0.95,
    invalid: npt.ArrayLike | None = None,
    design: Design = INDEPENDENT,
) -> Rate:
    """Estimate P(score < threshold) from (topics, trials) values, NaN for a trial without a value."""
    cells = np.asarray(values, dtype=np.float64)
    happened = np.where(np.isnan(cells), np.nan, cells < threshold)
    return rate_of(topics, happened, level=level, invalid=invalid, design=design)


def rate_of(
    topics: Sequence[str],
    happened: npt.ArrayLike,
    *,
    level: float = 0.95,
    invalid: npt.ArrayLike | None = None,
    design: Design = INDEPENDENT,
) -> Rate:
    """Estimate the rate of an event such as a breakdown: the mean over topics of each topic's rate, as for %useful.

    `happened` (topics, trials) is 1.0, 0.0, or NaN if missing. `invalid` marks trials that never became valid.
    """
    cells = np.asarray(happened, dtype=np.float64)
    if cells.ndim != 2 or len(cells) != len(topics) or not np.all((cells == 0) | (cells == 1) | np.isnan(cells)):
        raise ValueError(f"events must be ({len(topics)} topics, trials) of 1, 0 or NaN")
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
        design=design,
    )
    # One more useful answer is good, one more failure is bad.
    found = replace(found, worst=found.best, best=found.worst)
    # With dependent sessions, or trials alike in time, the units are not independent answers.
    one = len(topics) == 1
    exactly = design.inflation == 1 and (one or not design.continued) and found.interval.is_defined
    if found.value in (0, 1) and exactly:
        low, high = clopper_pearson_ends(found.value * found.units, found.units, level)
        exact = Interval(float(low), float(high), "Clopper-Pearson, exact", "nothing")
        found = replace(found, interval=exact)
    highest = highest_rate_without_events(found.units, level) if exactly and found.value == 0 else math.nan
    unit = "trial" if one else design.unit(topics)
    return Rate(found, highest, found.units, unit if exactly else "")
