"""Agreement of people who judged the same things: how often they agree, and how far beyond chance.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011, with the difference function of interval
data. If all scores are 0 or 1 it equals the alpha of nominal data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """things: how many were judged by two people or more. pairs: pairs of judgments of one thing. equal: the share of
    pairs that agree, in [0, 1]; "does not apply" is a judgment too. alpha: Krippendorff's alpha over scores only, at
    most 1; 1 is full agreement, 0 agreement by chance, below 0 less than by chance. scored: how many things have two
    scores or more; alpha is taken over these.

    equal is NaN without a pair; alpha is NaN where no thing has two scores, and where all those scores are the same,
    since chance would then agree just as well.
    """

    things: int
    pairs: int
    equal: float
    alpha: float
    scored: int


def agreement(judgments: Iterable[Sequence[float | None]]) -> Agreement:
    """The agreement of `judgments`: for each thing the judgment of each person, in any order: a score, or None for
    "does not apply"."""
    judged = [row for row in judgments if len(row) > 1]
    pairs = [first == second for row in judged for first, second in combinations(row, 2)]
    scores = [[score for score in row if score is not None] for row in judged]
    scores = [row for row in scores if len(row) > 1]
    return Agreement(
        things=len(judged),
        pairs=len(pairs),
        equal=sum(pairs) / len(pairs) if pairs else math.nan,
        alpha=_alpha(scores),
        scored=len(scores),
    )


def _alpha(rows: Sequence[Sequence[float]]) -> float:
    every = [score for row in rows for score in row]
    if len(set(every)) < 2:
        return math.nan
    observed = math.fsum(_differences(row) / (len(row) - 1) for row in rows) / len(every)
    expected = _differences(every) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def _differences(scores: Sequence[float]) -> float:
    """The sum of (a − b)² over all ordered pairs."""
    mean = math.fsum(scores) / len(scores)
    return 2 * len(scores) * math.fsum((score - mean) ** 2 for score in scores)
