"""Agreement between people who judged the same items, with and without correction for chance.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011, with the difference function for interval
data, or for nominal data if values have no order. If all scores are 0 or 1, both functions give the same alpha. The
interval of alpha comes from `scoring.inference.alpha`.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from scoring.inference.alpha import alpha_interval
from scoring.inference.interval import Interval, no_interval

Rows = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over the items that at least two people judged.

    `things` is the number of such items and `pairs` the number of pairs of judgments of one item. `equal` is the share
    of pairs that agree, in [0, 1], with "does not apply" as a judgment too; NaN if there is no pair. `alpha` is
    Krippendorff's alpha over scores or values only: 1 is full agreement, 0 agreement by chance, and below 0 less than
    by chance. It is NaN if no item has two scores, or if all scores are equal and chance would agree just as well.
    `scored` is the number of items with at least two scores, over which alpha is computed. `rare` counts scored items
    with a judgment other than the most frequent judgment; alpha depends on these items. `units` is the number of
    separate units among the scored items.
    """

    things: int
    pairs: int
    equal: float
    alpha: float
    scored: int
    interval: Interval = field(default_factory=no_interval)
    rare: int = 0
    units: int = 0


def agreement(
    judgments: Iterable[Sequence[float | str | None]], units: Iterable[Hashable] | None = None, *, level: float = 0.95
) -> Agreement:
    """Compute the agreement of `judgments`, which has one row per item with one judgment per person, in any order.

    A judgment is a score, the name of a value, or None for "does not apply"; scores and values are not mixed. `units`
    are larger units that contain the items, for example conversations; by default each item is a separate unit.
    """
    rows = [list(row) for row in judgments]
    named = list(range(len(rows))) if units is None else list(units)
    places = [place for place, row in zip(named, rows, strict=True) if sum(score is not None for score in row) > 1]
    judged = [row for row in rows if len(row) > 1]
    pairs = [first == second for row in judged for first, second in combinations(row, 2)]
    told = [[one for one in row if one is not None] for row in judged]
    given = [row for row in told if len(row) > 1]
    scores = _code_rows(given)
    every = np.concatenate(scores) if scores else np.empty((0, 1))
    alpha = math.nan
    if len(np.unique(every, axis=0)) > 1:
        observed = math.fsum(_sum_differences(row) / (len(row) - 1) for row in scores) / len(every)
        alpha = 1 - observed / (_sum_differences(every) / (len(every) * (len(every) - 1)))
    often = Counter(one for row in given for one in row)
    usual = max(often, key=lambda one: (often[one], str(one)), default=None)
    values = any(isinstance(one, str) for one in often)
    interval = alpha_interval(alpha, scores, places, level=level, values=values) if scores else no_interval("no pair")
    return Agreement(
        things=len(judged),
        pairs=len(pairs),
        equal=sum(pairs) / len(pairs) if pairs else math.nan,
        alpha=alpha,
        scored=len(scores),
        interval=interval,
        rare=sum(any(one != usual for one in row) for row in given),
        units=len(set(places)),
    )


def _code_rows(rows: Sequence[Sequence[float | str]]) -> list[Rows]:
    """Return judgments as (people, d) rows by item. Values are corners of a simplex: half squared distances are 1."""
    place = {
        value: column
        for column, value in enumerate(sorted({one for row in rows for one in row if isinstance(one, str)}))
    }
    if not place:
        return [np.array(row, dtype=np.float64)[:, None] for row in rows]
    return [np.eye(len(place))[[place[str(one)] for one in row]] for row in rows]


def _sum_differences(scores: Rows) -> float:
    means = ((column, math.fsum(column) / len(column)) for column in scores.T.tolist())
    return 2 * len(scores) * math.fsum(math.fsum((one - mean) ** 2 for one in column) for column, mean in means)
