"""Verdicts on two sides: one is better, or that cannot be told, for a reason.

A winner needs both p and the interval. The p of exchanging sides tests whether the sides differ in anything, and
rejects equal means too often if few topics carry the difference; the interval is about the means alone, and allows for
topics that were not asked.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from scoring.figure import Good
from scoring.inference.paired import Paired
from scoring.statistics.exchange import holm

# Verdicts on the first system. higher, lower: for measures without a good end.
# too few: so few topics that no difference, however large, could be found.
Verdict = Literal["better", "worse", "higher", "lower", "cannot tell", "too few", "no value"]

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


def correct_intervals(found: Sequence[Paired]) -> list[float]:
    """Return the p of the intervals of a family of differences, corrected by Holm's method; NaN without an interval."""
    return holm([one.outside for one in found])


def decide(
    found: Paired, p: float, outside: float, least: float, *, alpha: float, good: Good, pairs: int = 1
) -> tuple[Verdict, str]:
    """Return the verdict and, if it is `cannot tell` for another reason than a large p, that reason, else "".

    `p` and `outside` are for the difference and for its interval, corrected over a family of `pairs`. `least` is the
    smallest p possible with this number of units. `alpha` is the error probability.
    """
    if math.isnan(found.value):
        return "no value", ""
    if np.fmax(least, found.least) > alpha + _SAME:
        return "too few", ""
    if not found.interval.printed:
        return "cannot tell", found.interval.note
    if p <= alpha + _SAME and outside <= alpha + _SAME:
        if good == "neither":
            return ("higher" if found.value > 0 else "lower"), ""
        return ("better" if (found.value > 0) == (good == "high") else "worse"), ""
    if p <= alpha + _SAME:
        inside = found.interval.holds(0.0)
        return "cannot tell", (
            "its interval includes 0, for a kind of topic that was not asked could turn it round"
            if inside
            else f"its interval would include 0 at the level that allows for all {pairs} pairs"
        )
    return "cannot tell", ""
