"""The difference between two systems over the topics that both were asked.

There are two questions, and most confusion about intervals comes from mixing them up:

    topics like these   would other topics of this kind give a difference, too? Topics are the units: the t interval of
                        the differences of topics, and the p of exchanging the sides of topics.
    these topics        would more trials of these very topics give a difference, too? Trials within topics are the
                        units: variances within topics are added up, with Welch and Satterthwaite's degrees of freedom.

A value here is what a topic adds to a figure: its mean over trials, or, for a ratio of sums such as %recovery, its
pseudo-value (`linear_values`), so that in both cases the mean over topics is the figure.

Sources: E. Miller, Adding Error Bars to Evals, arXiv 2411.00640; F. E. Satterthwaite, Biometrics Bulletin 2 (1946),
110-114; B. L. Welch, Biometrika 34 (1947), 28-35; T. Sakai, Laboratory Experiments in Information Retrieval (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval, no_interval, too_few
from scoring.statistics.beta import normal_quantile, student_quantile, student_tails
from scoring.statistics.exchange import exchange_p, fewest_units

__all__ = [
    "ESTIMANDS",
    "Estimand",
    "Needed",
    "Paired",
    "compare_like_these",
    "compare_these",
    "linear_values",
    "needed",
    "residual_variance",
]

Floats = npt.NDArray[np.float64]

Estimand = Literal["like-these", "these"]
"""Whether a difference speaks of topics like these, or of these topics."""

ESTIMANDS: dict[Estimand, str] = {"like-these": "topics like these", "these": "these topics"}
"""How people read them."""

_SAME = 1e-12
_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Paired:
    """value: the first side's figure minus the second's; NaN without a topic. interval: of one difference, by itself.
    p: two-sided, by itself; NaN where there is none."""

    value: float
    interval: Interval
    p: float


def linear_values(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """(T, ...) pseudo-values of topics, whose mean over topics is the ratio of the sums of `above` and `below`.

        r + e_k - mean(e),   e_k = (T - 1)·(a_k - r·b_k) / (Σ b - b_k),   r = Σ a / Σ b

    They are what each topic adds to the ratio, by leaving it out (the jackknife): a topic that brings much of Σ b has
    pulled the ratio towards itself, and to first order alone it would seem to lie nearer. With b_k = 1 they are a_k
    itself. NaN where Σ b = 0; a topic that brings all of Σ b has r.
    """
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    whole = bottom.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = top.sum(axis=0) / whole
        rest = whole - bottom
        each = np.where(rest > 0, (len(top) - 1) * (top - ratio * bottom) / rest, 0.0)
        return np.asarray(ratio + each - each.sum(axis=0) / max(1, len(each)))


def compare_like_these(
    differences: npt.ArrayLike, rng: np.random.Generator, *, level: float, reach: float = math.inf
) -> Paired:
    """The comparison for topics like these. differences: (T,), one per topic. reach: the largest possible difference.

    No interval on fewer than four topics, nor where all differences are the same; no p on fewer than two.
    """
    each = np.asarray(differences, dtype=np.float64)
    if not len(each) or np.isnan(each).any():
        return Paired(math.nan, no_interval("no value"), math.nan)
    value = float(each.mean())
    p = exchange_p(each, rng)
    if len(each) < FEWEST:
        return Paired(value, no_interval(too_few(len(each))), p)
    error = float(each.std(ddof=1)) / math.sqrt(len(each))
    if error <= _SAME:
        return Paired(value, no_interval("every topic has the same difference"), p)
    half = student_quantile(0.5 + level / 2, len(each) - 1) * error
    low, high = max(-reach, value - half), min(reach, value + half)
    return Paired(value, Interval(low, high, "t interval over topics", "nothing"), p)


def compare_these(
    differences: npt.ArrayLike,
    noise: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    level: float,
    reach: float = math.inf,
) -> Paired:
    """The comparison for these very topics. differences: (T,), one per topic. noise: (T, 2), the variance of each
    side's value if other trials of the topic were drawn. trials: (T, 2), how many each side has.

    Degrees of freedom are rounded down. No interval and no p where a topic has a single trial of one side, and where
    trials of a topic never differ.
    """
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    counts = np.asarray(trials, dtype=np.float64)
    if not len(each) or np.isnan(each).any():
        return Paired(math.nan, no_interval("no value"), math.nan)
    value = float(each.mean())
    single = int((counts < 2).any(axis=1).sum())
    if single:
        few = f"{single} of {len(each)} topics have" if len(each) > 1 else "the topic has"
        return Paired(value, no_interval(f"{few} one trial only, so trials cannot be seen to differ"), math.nan)
    variance = float(own.sum())
    if variance <= _SAME**2:
        return Paired(value, no_interval("trials of a topic never differ"), math.nan)
    degrees = max(1, math.floor(variance**2 / float((own**2 / (counts - 1)).sum()) + _SAME))
    error = math.sqrt(variance) / len(each)
    half = student_quantile(0.5 + level / 2, degrees) * error
    low, high = max(-reach, value - half), min(reach, value + half)
    return Paired(
        value,
        Interval(low, high, "t interval over trials within topics", "nothing"),
        student_tails(value / error, degrees),
    )


def residual_variance(values: npt.ArrayLike) -> float:
    """V_E2: the residual variance of a two-way analysis of variance without replication (Sakai 2018, chapter 5).

    values: (T, m) of topics and systems. |difference|/√V_E2 is the effect size that goes with a Tukey HSD test. NaN for
    fewer than two topics or two systems.
    """
    table = np.asarray(values, dtype=np.float64)
    topics, systems = table.shape
    if topics < 2 or systems < 2:
        return math.nan
    rest: Floats = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    return float(np.square(rest).sum() / ((topics - 1) * (systems - 1)))


@dataclass(frozen=True, slots=True)
class Needed:
    """What it would take to detect a difference as large as the observed one at 1 - level, in four studies of five.

    topics: how many, with as many trials of each as now. trials: how many of each topic, with the topics there are.
    Infinite where no number is enough, NaN where it is unknown.
    """

    topics: float
    trials: float


def needed(
    differences: npt.ArrayLike, noise: npt.ArrayLike, trials: npt.ArrayLike, *, alpha: float, estimand: Estimand
) -> Needed:
    """Computed from the variance of the differences between topics, and that part of it which trials explain.

    differences: (T,). noise, trials: (T, 2) as in `compare_these`. alpha: of the test, corrected for other pairs.
    topics: z²·s²/d² + z_α²/2, and never so few that no p can be small enough. trials: such that
    (ω² + w/f)/T = d²/z² (Sakai 2018, ch. 6; Miller 2024, eq. 9).
    """
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    if len(each) < 2 or np.isnan(each).any():
        return Needed(math.nan, math.nan)
    size = float(each.mean()) ** 2
    z_alpha = normal_quantile(1 - alpha / 2)
    squared = (z_alpha + normal_quantile(_POWER)) ** 2
    if size <= _SAME**2:
        return Needed(math.inf, math.inf)
    spread = float(each.var(ddof=1))
    within = float(own.sum(axis=1).mean()) if not np.isnan(own).any() else math.nan
    now = float(np.asarray(trials, dtype=np.float64).mean())
    if estimand == "these":
        return Needed(math.nan, math.ceil(now * squared * within / (len(each) * size)) if within == within else within)
    fewest = fewest_units(alpha)
    topics = max(fewest, math.ceil(squared * spread / size + z_alpha**2 / 2))
    if len(each) < fewest:  # no number of trials makes p smaller
        return Needed(topics, math.inf)
    left = len(each) * size / squared - max(0.0, spread - within)  # for what trials explain
    more = math.nan if math.isnan(within) else math.inf if left <= 0 else math.ceil(now * within / left)
    return Needed(topics, more)
