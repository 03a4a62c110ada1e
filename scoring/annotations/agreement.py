"""Agreement of people who judged the same things, plain and beyond chance.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011, with the difference function of interval
data, or that of nominal data for values without an order. If all scores are 0 or 1 the two are equal. The interval of
alpha is that of `scoring.inference.alpha`.
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
    """things: how many were judged by at least two people. pairs: pairs of judgments of one thing. equal: the share of
    pairs that agree, in [0, 1]; "does not apply" is a judgment too. alpha: Krippendorff's alpha over scores or values
    only, at most 1; 1 is full agreement, 0 agreement by chance, below 0 less than by chance. scored: how many things
    have at least two scores; alpha is over these. interval: of alpha. rare: how many of these things have a judgment
    other than the most frequent one; alpha depends on them.

    equal is NaN without a pair; alpha is NaN if no thing has two scores, or if all those scores are the same, since
    chance would then agree just as well.
    """

    things: int
    pairs: int
    equal: float
    alpha: float
    scored: int
    interval: Interval = field(default_factory=no_interval)
    rare: int = 0


def agreement(
    judgments: Iterable[Sequence[float | str | None]], units: Iterable[Hashable] | None = None, *, level: float = 0.95
) -> Agreement:
    """Compute the agreement of `judgments`: for each thing one judgment of each person, in any order.

    A judgment is a score, a value as text, or None for "does not apply"; scores and values are not mixed. units: the
    unit that each thing is part of, for example its conversation; None if each thing is its own unit.
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
        observed = math.fsum(_differences(row) / (len(row) - 1) for row in scores) / len(every)
        alpha = 1 - observed / (_differences(every) / (len(every) * (len(every) - 1)))
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
    )


def _code_rows(rows: Sequence[Sequence[float | str]]) -> list[Rows]:
    """The (people, d) judgments of each thing; values are corners of a simplex, half the squared distance 1 apart."""
    place = {
        value: column
        for column, value in enumerate(sorted({one for row in rows for one in row if isinstance(one, str)}))
    }
    if not place:
        return [np.array(row, dtype=np.float64)[:, None] for row in rows]
    return [np.eye(len(place))[[place[str(one)] for one in row]] for row in rows]


def _differences(scores: Rows) -> float:
    means = ((column, math.fsum(column) / len(column)) for column in scores.T.tolist())
    return 2 * len(scores) * math.fsum(math.fsum((one - mean) ** 2 for one in column) for column, mean in means)
