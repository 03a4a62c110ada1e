"""Has a figure changed since a baseline was blessed? Evidence that may be looked at again after every audit.

A test at every look alarms sooner or later although nothing has changed, and all trials of one audit share a day, a
load and a region, so that audits differ by more than their trials do. Both are paid for here. Against "the mean over
these topics is still at least m", where m is the lower limit of the baseline's mean less the smallest drop that
matters, each audit gives

    e = Π (1 + λ·w·(m - z)),     z = y - (b - mean of b)

with y the value of a trial, b the baseline's mean of its topic, and w = n / (T·n_k), so that topics count alike though
some have fewer trials. Under the hypothesis the expectation of e is at most 1, however topics differ: the product of
the factors' means is at most the n-th power of their mean (geometric and arithmetic means), which is
1 + λ·(m - mean over topics). Taking the baseline's own differences between topics out (b) leaves the mean over topics
as it is and only the spread within topics as noise. Over audits

    W ← e·(W + 1)

for each λ of a grid; the alarm is raised when their mean reaches L / share, and the chance of a false alarm in L audits
is then at most `share` (the Shiryaev-Roberts form of an e-detector), plus the chance that the baseline's true mean lies
outside its limits. Since every audit can be the first one after a change, a late change is not diluted. The same with
1 - y watches for a rise.

It holds for any measure in [0, 1], for trials that are independent given their audit. That audits themselves differ
is not in the guarantee: the smallest difference that matters and a confirming audit pay for it, as docs/reaudit.md
shows by simulation.

Sources: J. Shin, A. Ramdas and A. Rinaldo, E-detectors: a nonparametric framework for sequential change detection,
arXiv 2203.03532; the differences between topics as control variates are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import normal_cdf, normal_quantile, student_quantile, student_tails

__all__ = [
    "Baseline",
    "Difference",
    "Side",
    "confirms",
    "difference",
    "evidence",
    "levels",
    "limits",
]

Floats = npt.NDArray[np.float64]

BUDGET = 0.05
"""The chance of a false alarm over all looks: `OUTSIDE` of it that the baseline's mean lies outside its limits."""

OUTSIDE = 0.02
RISE = 0.005
"""The part of the budget for a rise. What is left, .025, is for a drop, which most audits are made to find."""

CONFIRMED = 0.15
"""The one-sided p that a confirming audit needs by itself. It is asked only after an alarm, so it need not be small."""

_GRID = np.geomspace(0.03, 0.9, 12)  # of the largest λ with which no factor is below 0

Side = int
"""0: a drop. 1: a rise."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the blessed runs say of one figure.

    means: (T,) mean of each topic over its trials of all runs. variances: (T,) of its trials, unbiased; NaN for one
    trial. counts: (T,) trials. runs: (B,) mean over topics of each run.
    """

    means: Floats
    variances: Floats
    counts: Floats
    runs: Floats

    @property
    def mean(self) -> float:
        """Mean over topics, in [0, 1]; NaN without a topic."""
        return float(self.means.mean()) if len(self.means) else math.nan

    def within(self) -> Floats:
        """(T,) variances of single trials. A topic whose trials were all alike has a small one all the same: that of
        its mean drawn to 1/2 by half a trial on each side (Jeffreys)."""
        drawn = (self.means * self.counts + 0.5) / (self.counts + 1)
        floor = np.minimum(drawn * (1 - drawn), 0.25) * 0.5 ** (self.counts > 1)
        known = np.where(np.isnan(self.variances), 0.0, self.variances)
        return np.asarray(np.where(known > 0, known, floor))

    def sampling_variance(self) -> float:
        """Of the mean, from trials within topics alone."""
        return float((self.within() / self.counts).sum()) / len(self.means) ** 2

    def run_variance(self) -> float:
        """What audits differ by beyond their trials, as a variance of the mean of one audit; at least 0, and NaN for
        fewer than two runs."""
        if len(self.runs) < 2:
            return math.nan
        return max(0.0, float(self.runs.var(ddof=1)) - self.sampling_variance() * len(self.runs))


def limits(baseline: Baseline, *, matters: float, outside: float = OUTSIDE) -> tuple[float, float]:
    """Below and above which a mean over these topics counts as changed: the limits of the baseline's mean, each missed
    with probability `outside`, moved outwards by `matters`. May lie outside [0, 1]: then there is no such change.

    The variance of the mean is that within topics or, if it is larger, that between runs.
    """
    variance = baseline.sampling_variance()
    if len(baseline.runs) > 1:
        variance = max(variance, float(baseline.runs.var(ddof=1)) / len(baseline.runs))
    half = normal_quantile(1 - outside) * math.sqrt(variance) + matters
    return baseline.mean - half, baseline.mean + half


def evidence(baseline: Baseline, values: Sequence[npt.ArrayLike], *, matters: float) -> Floats:
    """(2, λ) logarithms of what one audit says against "no drop" and "no rise".

    values: for each of the baseline's topics, the values of its trials in [0, 1]; at least one each. Raises ValueError
    for a topic without a value: topics that were lost must leave the baseline first.
    """
    cells = [np.asarray(one, dtype=np.float64) for one in values]
    counts = np.array([len(one) for one in cells], dtype=np.float64)
    if len(cells) != len(baseline.means) or not counts.all():
        raise ValueError("each topic of the baseline needs a value")
    shifts = np.repeat(_control(baseline), counts.astype(int))
    weights = np.repeat(counts.sum() / (len(cells) * counts), counts.astype(int))
    flat = np.concatenate(cells)
    low, high = limits(baseline, matters=matters)
    found = np.zeros((2, len(_GRID)))
    for side, bound, seen in ((0, low, flat - shifts), (1, 1 - high, (1 - flat) + shifts)):
        if not 0 < bound < 1:
            continue
        most = float((weights * ((1 - shifts if side == 0 else 1 + shifts) - bound)).max())
        if most > 0:
            found[side] = np.log1p((_GRID / most)[:, None] * weights * (bound - seen)).sum(axis=1)
    return found


def _control(baseline: Baseline) -> Floats:
    """(T,) by how much each topic lies above the mean of the baseline; topics seen little are drawn to 1/2."""
    drawn = (baseline.means * baseline.counts + 0.5) / (baseline.counts + 1)
    return np.asarray(drawn - drawn.mean())


def levels(audits: Sequence[Floats], *, looks: int, share: float = 1.0) -> Floats:
    """(audits, 2) how much evidence there is after each audit, as a share of what raises the alarm: 1 or more is one.
    On a scale of logarithms, so .5 is half the way.

    audits: what `evidence` gave, in order of time. looks: audits over which the budget must last. share: of the budget
    for this figure, where several are watched.
    """
    bounds = np.log(looks / (share * np.array([BUDGET - OUTSIDE - RISE, RISE])))
    state = np.full((2, len(_GRID)), -np.inf)
    found = np.zeros((len(audits), 2))
    for at, one in enumerate(audits):
        state = one + np.logaddexp(state, 0)
        top = state.max(axis=1)
        mean = top + np.log(np.exp(state - top[:, None]).mean(axis=1))
        found[at] = np.maximum(mean, 0) / bounds
    return found


def confirms(baseline: Baseline, values: Sequence[npt.ArrayLike], side: Side, *, matters: float) -> bool:
    """Whether an audit by itself lies beyond the limit that an alarm was raised against: one-sided p ≤ `CONFIRMED`."""
    means = np.array([np.mean(np.asarray(one, dtype=np.float64)) for one in values])
    counts = np.array([len(np.atleast_1d(np.asarray(one))) for one in values], dtype=np.float64)
    low, high = limits(baseline, matters=matters)
    beyond = low - means.mean() if side == 0 else means.mean() - high
    error = math.sqrt(float((baseline.within() / counts).sum())) / len(means)
    return bool(1 - normal_cdf(beyond / error) <= CONFIRMED)


@dataclass(frozen=True, slots=True)
class Difference:
    """An audit minus the baseline, for these topics.

    value: in [-1, 1]. low, high: interval at the level asked, cut to what is possible. inner_low, inner_high: the
    interval at 1 - 2·(1 - level), which lies inside ±`matters` where the two are the same. error: standard error. runs:
    standard deviation between audits that is part of it, NaN where it is not known. same: whether they are the same
    within `matters`. p: two-sided, of no difference at all, by itself and for one look.
    """

    value: float
    low: float
    high: float
    inner_low: float
    inner_high: float
    error: float
    runs: float
    same: bool
    p: float


def difference(
    baseline: Baseline, values: Sequence[npt.ArrayLike], *, matters: float, level: float, audits: int = 1
) -> Difference:
    """How far an audit lies from the baseline, and whether they are the same (two one-sided tests: D. J. Schuirmann,
    Journal of Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680).

    values: as for `evidence`, of one audit or of `audits` of them together. What audits differ by is added as far as
    the baseline's runs show it, with their degrees of freedom; one run shows nothing of it.
    """
    cells = [np.asarray(one, dtype=np.float64) for one in values]
    means = np.array([one.mean() for one in cells])
    counts = np.array([len(one) for one in cells], dtype=np.float64)
    within = baseline.within()
    runs = baseline.run_variance()
    own = float((within / counts).sum()) / len(cells) ** 2 + baseline.sampling_variance()
    between = 0.0 if math.isnan(runs) else runs * (1 / audits + 1 / len(baseline.runs))
    error = math.sqrt(own + between)
    freedom = math.inf if between <= 0 else (own + between) ** 2 / (between**2 / (len(baseline.runs) - 1))
    value = float(means.mean()) - baseline.mean

    def reach(tail: float) -> float:
        return error * (
            normal_quantile(1 - tail) if freedom > 1e6 else student_quantile(1 - tail, max(1, math.floor(freedom)))
        )

    outer, inner = reach((1 - level) / 2), reach(1 - level)
    tails = student_tails(value / error, min(freedom, 1e6)) if error > 0 else math.nan
    return Difference(
        value=value,
        low=max(value - outer, -baseline.mean),
        high=min(value + outer, 1 - baseline.mean),
        inner_low=value - inner,
        inner_high=value + inner,
        error=error,
        runs=math.sqrt(runs) if runs >= 0 else math.nan,
        same=bool(-matters < value - inner and value + inner < matters),
        p=tails,
    )
