"""Agreement of people who judged the same things: how often they agree, and how far beyond chance.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011, with the difference function of interval
data; of values without an order, with that of nominal data. If all scores are 0 or 1 the two are equal. Its interval is
that of a jackknife of log(1 − α) over units, with Student's t: with 20 units it covers .94 to .96 of a nominal .95,
with 10 as little as .75.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import student_quantile

__all__ = ["FEWEST_UNITS", "Agreement", "agreement"]

Rows = npt.NDArray[np.float64]

FEWEST_UNITS = 20
"""Units that an interval of alpha needs."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """things: how many were judged by two people or more. pairs: pairs of judgments of one thing. equal: the share of
    pairs that agree, in [0, 1]; "does not apply" is a judgment too. alpha: Krippendorff's alpha over scores or values
    only, at most 1; 1 is full agreement, 0 agreement by chance, below 0 less than by chance. scored: how many things
    have two scores or more; alpha is taken over these. low, high: the interval of alpha; NaN for fewer than twenty
    units, and where alpha is undefined without one of them, or 1.

    equal is NaN without a pair; alpha is NaN where no thing has two scores, and where all those scores are the same,
    since chance would then agree just as well.
    """

    things: int
    pairs: int
    equal: float
    alpha: float
    scored: int
    low: float = math.nan
    high: float = math.nan


def agreement(
    judgments: Iterable[Sequence[float | str | None]], units: Iterable[Hashable] | None = None, *, level: float = 0.95
) -> Agreement:
    """The agreement of `judgments`: for each thing the judgment of each person, in any order: a score, or a value as
    text, or None for "does not apply"; scores or values, not both. units: of each thing, what it is a part of, a
    conversation for example; None: it stands alone."""
    rows = [list(row) for row in judgments]
    named = list(range(len(rows))) if units is None else list(units)
    places = [place for place, row in zip(named, rows, strict=True) if sum(score is not None for score in row) > 1]
    judged = [row for row in rows if len(row) > 1]
    pairs = [first == second for row in judged for first, second in combinations(row, 2)]
    told = [[one for one in row if one is not None] for row in judged]
    scores = _coded([row for row in told if len(row) > 1])
    alpha = _alpha(scores)
    low, high = _ends(alpha, scores, places, level)
    return Agreement(
        things=len(judged),
        pairs=len(pairs),
        equal=sum(pairs) / len(pairs) if pairs else math.nan,
        alpha=alpha,
        scored=len(scores),
        low=low,
        high=high,
    )


def _coded(rows: Sequence[Sequence[float | str]]) -> list[Rows]:
    """For each thing its judgments, (people, d): scores as they are, and values each as a corner of a simplex, on which
    half the squared distance is 1 between different ones."""
    place = {
        value: column
        for column, value in enumerate(sorted({one for row in rows for one in row if isinstance(one, str)}))
    }
    if not place:
        return [np.array(row, dtype=np.float64)[:, None] for row in rows]
    return [np.eye(len(place))[[place[str(one)] for one in row]] for row in rows]


def _ends(alpha: float, rows: Sequence[Rows], units: Sequence[Hashable], level: float) -> tuple[float, float]:
    """The ends of the interval. units: of each row."""
    place = {unit: column for column, unit in enumerate(dict.fromkeys(units))}
    if len(place) < FEWEST_UNITS or math.isnan(alpha) or alpha >= 1:
        return math.nan, math.nan
    parts = [[_differences(row) / (len(row) - 1), len(row), (row**2).sum(), *row.sum(axis=0)] for row in rows]
    sums = np.zeros((len(place), len(parts[0])))
    np.add.at(sums, [place[unit] for unit in units], np.array(parts))
    within, n, squares, *totals = (sums.sum(axis=0) - sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        without = np.log((within / n) / (2 * (n * squares - sum(total**2 for total in totals)) / (n * (n - 1))))
    if not np.isfinite(without).all():
        return math.nan, math.nan
    whole, units_left = math.log(1 - alpha), len(place)
    reach = student_quantile(0.5 + level / 2, units_left - 1) * math.sqrt(
        (units_left - 1) / units_left * float(((without - without.mean()) ** 2).sum())
    )
    return 1 - math.exp(whole + reach), 1 - math.exp(whole - reach)


def _alpha(rows: Sequence[Rows]) -> float:
    every = np.concatenate(rows) if rows else np.empty((0, 1))
    if len(np.unique(every, axis=0)) < 2:
        return math.nan
    observed = math.fsum(_differences(row) / (len(row) - 1) for row in rows) / len(every)
    expected = _differences(every) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def _differences(scores: Rows) -> float:
    """The sum of (a − b)² over all ordered pairs."""
    total = math.fsum(_spread(column) for column in scores.T.tolist())
    return 2 * len(scores) * total


def _spread(scores: Sequence[float]) -> float:
    mean = math.fsum(scores) / len(scores)
    return math.fsum((score - mean) ** 2 for score in scores)
