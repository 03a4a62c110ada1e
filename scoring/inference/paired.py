"""The difference between two systems over the topics that both answered.

There are two questions, which are often confused:

    topics like these   would other topics of this kind also show a difference? The units are topics, or clusters of
                        topics. The interval allows for an unseen topic (`scoring.inference.differences`), and p is
                        from exchanging the sides of topics.
    these topics        would more trials of these very topics also show a difference? The units are trials within
                        topics: variances within topics are added up, with Welch and Satterthwaite's degrees of freedom.

A t interval over the differences of topics is also available. It is valid if the differences are nearly normal, no kind
of topic is missing, and the difference does not rest on a few topics.

A value here is a topic's contribution to a figure: its mean over trials, or its pseudo-value (`linear_values`) for a
ratio of sums such as %recovery, so the mean over topics is the figure.

Sources: E. Miller, Adding Error Bars to Evals, arXiv 2411.00640; F. E. Satterthwaite, Biometrics Bulletin 2 (1946),
110-114; B. L. Welch, Biometrika 34 (1947), 28-35; T. Sakai, Laboratory Experiments in Information Retrieval (2018).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.figure import Good
from scoring.inference.differences import (
    as_interval,
    guarded_differences,
    smallest_p,
    typical_difference,
)
from scoring.inference.interval import FEWEST, Interval, no_interval, too_few_reason
from scoring.settings import Guard
from scoring.statistics.beta import student_quantile, student_tails
from scoring.statistics.exchange import exchange_p, holm_correction
from topics.arrays import Floats

# Verdicts on the first system. higher, lower: for measures without a good end.
# too few: so few topics that no difference, however large, could be found.
Verdict = Literal["better", "worse", "higher", "lower", "cannot tell", "too few", "no value"]
# Whether a difference is about topics like these, or about these topics.
Estimand = Literal["like-these", "these"]
# How verdicts are printed.
ESTIMANDS: dict[Estimand, str] = {"like-these": "topics like these", "these": "these topics"}
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_NEVER_SEEN = 3.5  # (3.7/1.96)²: 3.7 = -log(.025)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A difference between two sides.

    - `value`: the first side's figure minus the second's; NaN without any topic.
    - `p`: the two-sided p of this difference by itself; NaN if there is no test.
    - `outside`: the smallest error probability at which the interval excludes 0; NaN without an interval. A verdict
      needs both `p` and `outside` to be small.
    - `least`: the smallest `outside` possible with this number of units.
    - `typical`: the median of the topics' differences and its interval, if the mean has no interval; else None.
    """

    value: float
    interval: Interval
    p: float
    outside: float = math.nan
    least: float = math.nan
    typical: tuple[float, Interval] | None = None


def linear_values(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Return (T, ...) pseudo-values of topics, whose mean is the ratio of the sums of `above` and `below`.

        r + e_k - mean(e),   e_k = (T - 1)·(a_k - r·b_k) / (Σ b - b_k),   r = Σ a / Σ b

    Pseudo-values measure the effect of leaving a topic out (the jackknife). A first-order approximation would place a
    topic with much of Σ b too near the ratio. If all b_k are 1, the pseudo-values are the a_k. If Σ b = 0, they are
    NaN, and a topic with all of Σ b gets r.
    """
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    whole = bottom.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = top.sum(axis=0) / whole
        rest = whole - bottom
        each = np.where(rest > 0, (len(top) - 1) * (top - ratio * bottom) / rest, 0.0)
        return np.asarray(ratio + each - each.sum(axis=0) / max(1, len(each)))


def compare_like_these(
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    level: float,
    reach: float = math.inf,
    guard: Guard = "unseen",
    clusters: npt.ArrayLike | None = None,
) -> PairedTest:
    """Compare two sides for topics like these.

    `differences` is (T,). `reach` is the largest possible difference, infinite if values never come near the end of the
    range. `guard` chooses whether the interval allows for a kind of topic that was not asked. `clusters` is (T,)
    cluster numbers, None if all topics are independent. Four units are needed for an interval, and two for a p.
    """
    each = np.asarray(differences, dtype=np.float64)
    if not len(each) or np.isnan(each).any():
        return PairedTest(math.nan, no_interval("no value"), math.nan)
    value = float(each.mean()) + 0.0
    if clusters is None:
        sums, sizes, unit = each, np.ones(len(each)), "topic"
    else:
        groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
        sums, unit = np.asarray(np.bincount(groups, each)), "cluster"
        sizes = np.bincount(groups).astype(np.float64)
    p = exchange_p(sums, rng)
    if guard == "none":
        return _compare_by_t(value, sums, sizes, p, level, reach, unit)
    found = guarded_differences(sums[:, None], sizes[:, None], level=level, reach=reach)
    interval = as_interval(found, 0, reach=reach, units=len(sums), unit=unit)
    typical = None if interval.is_defined or len(sums) < FEWEST else typical_difference(sums / sizes, level=level)
    return PairedTest(
        value, interval, p, float(found.p[0]), smallest_p(len(sums)) if reach < math.inf else 0.0, typical
    )


def _compare_by_t(
    value: float, sums: Floats, sizes: Floats, p: float, level: float, reach: float, unit: str
) -> PairedTest:
    units = len(sums)
    if units < FEWEST:
        return PairedTest(value, no_interval(too_few_reason(units, unit)), p)
    rest = sums - value * sizes
    error = math.sqrt(units / (units - 1) * float(np.square(rest).sum())) / float(sizes.sum())
    if error <= _SAME:
        return PairedTest(value, no_interval(f"every {unit} has the same difference"), p)
    half = student_quantile(0.5 + level / 2, units - 1) * error
    interval = Interval(
        max(-reach, value - half),
        min(reach, value + half),
        f"t interval over {unit}s",
        "nothing",
        assumes=f"differences of {unit}s are nearly normal",
    )
    return PairedTest(value, interval, p, student_tails(value / error, units - 1), 0.0)


def compare_these(
    differences: npt.ArrayLike,
    noise: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    level: float,
    reach: float = math.inf,
) -> PairedTest:
    """Compare two sides for these very topics.

    `differences` is (T,), `noise` (T, 2) is the variance of each side's value over other trials, and `trials` (T, 2) is
    the number of trials. Degrees of freedom are rounded down. There is no interval and no p if a topic has a single
    trial on either side. If the measure is bounded, a side whose trials hardly ever differ has the variance of a rare
    failure that was not observed (`hidden_noise`). If not, there is no interval if the trials of a topic never differ.
    """
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    counts = np.asarray(trials, dtype=np.float64)
    if not len(each) or np.isnan(each).any():
        return PairedTest(math.nan, no_interval("no value"), math.nan)
    value = float(each.mean()) + 0.0
    single = int((counts < 2).any(axis=1).sum())
    if single:
        few = f"{single} of {len(each)} topics have" if len(each) > 1 else "the topic has"
        return PairedTest(value, no_interval(f"{few} one trial only, so trials cannot be seen to differ"), math.nan)
    hidden, behind = hidden_noise(own, counts, reach)
    variance = float(own.sum() + hidden.sum())
    if variance <= _SAME**2:
        return PairedTest(value, no_interval("trials of a topic never differ"), math.nan)
    squares = (own**2 / (counts - 1)).sum() + (hidden**2 / behind).sum()
    degrees = max(1, math.floor(variance**2 / float(squares) + _SAME))
    error = math.sqrt(variance) / len(each)
    half = student_quantile(0.5 + level / 2, degrees) * error
    p = student_tails(value / error, degrees)
    interval = Interval(
        max(-reach, value - half),
        min(reach, value + half),
        "t interval over trials within topics",
        "nothing",
        assumes="trials of a topic are independent",
    )
    return PairedTest(value, interval, p, p, 0.0)


def hidden_noise(noise: npt.ArrayLike, trials: npt.ArrayLike, reach: float) -> tuple[Floats, Floats]:
    """Return (..., 2) extra variance of each side for topics whose trials never differed, and its degrees of freedom.

    If all n trials were useful, the true share may still be 1 - 3.7/n by the exact interval, as if its standard error
    were 1.87/n. Without this variance, a side that did not fail in a few trials would count as known exactly. The
    topics of a side whose trials never differed are combined, and the noise of all other topics is observed. Add the
    result to the sum over topics of each side's noise. It is 0 for an unbounded measure. Degrees of freedom are at
    least 1. `noise` and `trials` are (..., T, 2).
    """
    own, counts = np.asarray(noise, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    still = own <= _SAME**2
    n, topics = np.where(still, counts, 0.0).sum(axis=-2), still.sum(axis=-2)
    each = 0.0 if math.isinf(reach) else reach**2 * _NEVER_SEEN
    return each * np.square(topics / np.maximum(n, 1.0)), np.maximum(n - topics, 1.0)


def residual_variance(values: npt.ArrayLike) -> float:
    """Return V_E2, the residual variance of a two-way analysis of variance without replication.

    `values` are (T, m). The effect size of Tukey's HSD test is |difference|/√V_E2 (Sakai 2018, chapter 5). If T or m is
    below 2, the result is NaN.
    """
    table = np.asarray(values, dtype=np.float64)
    topics, systems = table.shape
    if topics < 2 or systems < 2:
        return math.nan
    rest: Floats = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    return float(np.square(rest).sum() / ((topics - 1) * (systems - 1)))


def correct_intervals(tests: Sequence[PairedTest]) -> list[float]:
    """Return the p of the intervals of a family of differences, corrected by Holm's method; NaN without an interval."""
    return holm_correction([one.outside for one in tests])


def tells_apart(p: float, outside: float, alpha: float) -> bool:
    """Return True if a winner is named. The arguments are as in `decide`; `outside` is NaN without an interval."""
    return p <= alpha + _SAME and outside <= alpha + _SAME


def decide(
    test: PairedTest, p: float, outside: float, least: float, *, alpha: float, good: Good, pairs: int = 1
) -> tuple[Verdict, str]:
    """Return the verdict, and the reason for `cannot tell` unless the reason is a large p, else "".

    A winner needs both p and the interval. The p of exchanging sides tests whether the sides differ at all, and rejects
    equal means too often if few topics carry the difference. The interval is about the means alone, and allows for
    topics that were not asked. `p` is for the difference and `outside` for its interval, both corrected over a family
    of `pairs`. `least` is the smallest p possible with this number of units. `alpha` is the error probability.
    """
    if math.isnan(test.value):
        return "no value", ""
    if np.fmax(least, test.least) > alpha + _SAME:
        return "too few", ""
    if not test.interval.is_defined:
        return "cannot tell", test.interval.note
    if tells_apart(p, outside, alpha):
        if good == "neither":
            return ("higher" if test.value > 0 else "lower"), ""
        return ("better" if (test.value > 0) == (good == "high") else "worse"), ""
    floor = float(np.fmax(least, test.least))
    if pairs * floor > alpha + _SAME and max(test.p, test.outside) <= alpha:
        return "cannot tell", (
            f"no p is below {floor:.2g}, and among {pairs} pairs none can be told apart: compare at most "
            f"{math.floor(alpha / floor + _SAME)} pairs at a time"
        )
    if p <= alpha + _SAME:
        inside = test.interval.contains(0.0)
        return "cannot tell", (
            "the interval includes 0, because topics of a kind that was not asked could reverse the difference"
            if inside
            else f"the interval would include 0 at the level that allows for all {pairs} pairs"
        )
    return "cannot tell", ""
