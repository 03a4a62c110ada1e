"""Evidence that a figure has changed since its baseline. It may be examined again after every audit.

A test repeated at every audit eventually raises a false alarm. And all trials of one audit share a day, a load and a
region, so audits differ more than their trials explain. The method allows for both problems. The null hypothesis is
that the mean over these topics is still at least m: the baseline's lower limit minus the smallest drop that matters.
Each audit gives

    e = Π (1 + λ·w·(m - z)),     z = y - (b - mean of b)

with y the value of a trial, b the baseline's mean of its topic, and w = n / (T·n_k), so that topics have equal weight
with unequal trials. Under the hypothesis the expectation of e is at most 1, however topics differ: by the inequality of
geometric and arithmetic means, the product of the factors' means is at most the n-th power of 1 + λ·(m - mean over
topics), the mean of these means. Subtracting the baseline's differences between topics leaves the mean over topics
unchanged, and leaves only the spread within topics as noise. Over audits

    W ← e·(W + 1)

for each λ of a grid. The alarm is raised when the mean of W over the grid reaches L / share; the probability of a false
alarm in L audits is then at most `share` (the Shiryaev-Roberts form of an e-detector), plus the probability that the
baseline's true mean lies outside its limits. Since every audit can be the first after a change, a late change is not
diluted. The same test on 1 - y detects a rise.

The test is valid for any measure in [0, 1], if trials are independent given their audit. The guarantee does not cover
differences between audits themselves: the smallest difference that matters and a confirming audit allow for such
differences, as docs/reaudit.md shows by simulation.

Sources: J. Shin, A. Ramdas and A. Rinaldo, E-detectors: a nonparametric framework for sequential change detection,
arXiv 2203.03532; using the differences between topics as control variates is our own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import Interval, no_interval
from scoring.inference.run_effects import FEWEST_RUNS, RunEffects, run_effects
from scoring.statistics.beta import normal_cdf, normal_quantile
from topics.arrays import Floats

# The probability of a false alarm over all looks, including `OUTSIDE` that the baseline's mean is beyond its limits.
BUDGET = 0.05

OUTSIDE = 0.02  # of the 5% of false alarms; the other .03 are the audits'
# The part of the budget for a rise. What is left, .025, is for a drop, which most audits are made to find.
RISE = 0.005

# The one-sided p that a confirming audit needs by itself. It is asked only after an alarm, so it need not be small.
CONFIRMED = 0.15

_GRID = np.geomspace(0.03, 0.9, 12)  # of the largest λ with which no factor is below 0

# 0: a drop. 1: a rise.
Side = int


@dataclass(frozen=True)
class Baseline:
    """One figure in the baseline runs. What follows from it is computed once: `bless` judges thousands of audits by it.

    - `means`, `variances`, `counts`: (T,) mean, unbiased variance (NaN for one trial) and number of a topic's trials.
    - `runs`: (B,) means of each run over topics.
    - `inflation`: the factor, at least 1, by which trials that are alike near each other in time make the variance of a
      mean larger than that of independent trials (`scoring.inference.in_time`). Audits are taken to be like the runs.
    """

    means: Floats
    variances: Floats
    counts: Floats
    runs: Floats
    inflation: float = 1.0

    @cached_property
    def mean(self) -> float:
        """Mean over topics, in [0, 1]; NaN if there are no topics."""
        return float(self.means.mean()) if len(self.means) else math.nan

    @cached_property
    def within_variances(self) -> Floats:
        return self.inflation * trial_variances(self.means, self.variances, self.counts)

    @cached_property
    def slope(self) -> float:
        """The derivative of the mean over topics if the log odds of all topics move alike."""
        return float((self.means * (1 - self.means) + self.within_variances / self.counts).mean())

    def slope_at(self, level: float) -> float:
        """Return the slope if all topics moved alike to a mean of `level`."""
        largest = max(self.mean * (1 - self.mean) + self.sampling_variance, self.slope)
        return level * (1 - level) * self.slope / largest

    @cached_property
    def run_effects(self) -> RunEffects:
        return run_effects(self.runs, self.sampling_variance * len(self.runs), self.slope)

    @cached_property
    def sampling_variance(self) -> float:
        """The part of the mean's variance that comes from trials within topics."""
        return float((self.within_variances / self.counts).sum()) / len(self.means) ** 2

    def run_variance(self) -> float:
        """Return the variance of an audit that trials do not explain, at least 0; NaN for fewer than two runs."""
        if len(self.runs) < 2:
            return math.nan
        return max(0.0, float(self.runs.var(ddof=1)) - self.sampling_variance * len(self.runs))

    def audit_variances(self, means: Floats, variances: Floats, counts: Floats) -> Floats:
        """Return the variances of an audit's trials, (T,), or of several audits' with equal counts, (..., T).

        All topics with one trial get the same variance, estimated from their distances to the baseline.
        """
        within = trial_variances(means, variances, counts)
        alone = counts == 1
        if (number := int(alone.sum())) > 1:
            apart = (means - self.means)[..., alone].var(axis=-1, ddof=1)
            drawn = (means[..., alone].sum(axis=-1) + 0.5) / (number + 1)
            within[..., alone] = np.maximum(apart, drawn * (1 - drawn) / 2)[..., None]
        elif number:
            within[..., alone] = 0.25
        return self.inflation * within


def trial_variances(means: Floats, variances: Floats, counts: Floats) -> Floats:
    """Return (T,) variances of single trials; NaN if unknown.

    If all trials of a topic are equal, the variance follows from the mean with half a trial added on each side
    (Jeffreys).
    """
    drawn = (means * counts + 0.5) / (counts + 1)
    floor = np.minimum(drawn * (1 - drawn), 0.25) * 0.5 ** (counts > 1)
    known = np.where(np.isnan(variances), 0.0, variances)
    return np.asarray(np.where(known > 0, known, floor))


def limits(baseline: Baseline, *, matters: float, outside: float = OUTSIDE) -> tuple[float, float]:
    """Return the limits below and above which a mean over these topics counts as changed.

    The true mean of the baseline lies beyond either of its limits with probability `outside`; `matters` moves both
    limits further outwards. If a limit lies outside [0, 1], no such change is possible. The variance of the mean is
    estimated from trials within topics and from the means of runs, and the larger estimate is used.
    """
    variance = baseline.sampling_variance
    if len(baseline.runs) > 1:
        variance = max(variance, float(baseline.runs.var(ddof=1)) / len(baseline.runs))
    half = normal_quantile(1 - outside) * math.sqrt(variance) + matters
    return baseline.mean - half, baseline.mean + half


# The limits below and above which a mean over these topics counts as changed.
Limits = tuple[float, float]


def evidence(
    baseline: Baseline, values: Sequence[npt.ArrayLike], *, matters: float, against: Limits | None = None
) -> Floats:
    """Return (2, λ) logarithms of one audit's evidence against "no drop" and "no rise".

    `values` are the trials of each baseline topic, in [0, 1]. `against` replaces the baseline's own limits. Raises
    ValueError for a topic without a value, so lost topics must first be removed from the baseline.
    """
    cells = [np.asarray(one, dtype=np.float64) for one in values]
    counts = np.array([len(one) for one in cells], dtype=np.float64)
    if len(cells) != len(baseline.means) or not counts.all():
        raise ValueError("each topic of the baseline needs a value")
    return audit_evidence(baseline, counts, np.concatenate(cells), matters=matters, against=against)


def audit_evidence(
    baseline: Baseline,
    counts: Floats,
    trials: Floats,
    *,
    matters: float,
    against: Limits | None = None,
    sides: Sequence[Side] = (0, 1),
) -> Floats:
    """Return (2, ..., λ) logarithms of the evidence of many audits that have equal numbers of trials (see `evidence`).

    `trials` are the values, (..., N), topic after topic, and `counts`, (T,), the numbers of trials of the topics. The
    evidence is 0 for sides that are not asked for.
    """
    # (T,) the distance of each topic above the baseline's mean; topics with few trials are shrunk to 1/2.
    drawn = (baseline.means * baseline.counts + 0.5) / (baseline.counts + 1)
    shifts = np.repeat(np.asarray(drawn - drawn.mean()), counts.astype(int))
    weights = np.repeat(counts.sum() / (len(counts) * counts), counts.astype(int))
    low, high = against or limits(baseline, matters=matters)
    found = np.zeros((2, *trials.shape[:-1], len(_GRID)))
    for side, bound, seen in ((0, low, trials - shifts), (1, 1 - high, (1 - trials) + shifts)):
        if side not in sides or not 0 < bound < 1:
            continue
        most = float((weights * ((1 - shifts if side == 0 else 1 + shifts) - bound)).max())
        if most > 0:
            factors = (_GRID / most)[:, None] * weights
            found[side] = np.log1p(factors * (bound - seen)[..., None, :]).sum(axis=-1)
    return found


def evidence_shares(audits: Sequence[Floats], *, looks: int, share: float = 1.0) -> Floats:
    """Return (audits, 2) levels of evidence after each audit, as a share of the alarm threshold.

    A level of 1 or more raises the alarm. The scale is logarithmic, so .5 is halfway. `audits` are results of
    `evidence` in order of time, and `looks` is the number of audits in the budget. If several figures are watched,
    `share` is this figure's part of the budget.
    """
    found, kept = np.zeros((len(audits), 2)), initial_evidence()
    for at, one in enumerate(audits):
        kept = update_evidence(kept, one)
        found[at] = evidence_levels(kept, looks=looks, share=share)
    return found


def initial_evidence() -> Floats:
    """Return (2, λ) logarithms of the evidence before the first audit."""
    return np.full((2, len(_GRID)), -np.inf)


def update_evidence(kept: Floats, one: Floats) -> Floats:
    """Return (2, λ) logarithms of the updated evidence, W ← e·(W + 1)."""
    return np.asarray(one + np.logaddexp(kept, 0))


def evidence_levels(kept: Floats, *, looks: int, share: float = 1.0) -> Floats:
    """Return the levels of accumulated evidence of shape (2, ..., λ), without the last axis, as a share of the
    threshold (see `evidence_shares`)."""
    top = kept.max(axis=-1)
    if not np.isfinite(top).all():
        return np.zeros(top.shape)
    bounds = np.log(looks / (share * np.array([BUDGET - OUTSIDE - RISE, RISE]))).reshape(2, *[1] * (top.ndim - 1))
    mean = top + np.log(np.exp(kept - top[..., None]).mean(axis=-1))
    return np.asarray(np.maximum(mean, 0) / bounds)


def confirms_alarm(
    baseline: Baseline,
    values: Sequence[npt.ArrayLike],
    side: Side,
    *,
    matters: float,
    against: Limits | None = None,
) -> bool:
    """Return True if this audit alone lies beyond the limit of an alarm: one-sided p ≤ `CONFIRMED`."""
    means, _, counts = _moments([np.asarray(one, dtype=np.float64) for one in values])
    low, high = against or limits(baseline, matters=matters)
    beyond = low - means.mean() if side == 0 else means.mean() - high
    error = math.sqrt(float((baseline.within_variances / counts).sum())) / len(means)
    return bool(1 - normal_cdf(beyond / error) <= CONFIRMED)


# The probability of a wrong *same* over all looks at one run, however often the run is extended by more trials. Looks
# at 5% each were wrong in 10% of runs (45 × 5, extended seven times by five trials, at the very edge of what matters).
SAME_BUDGET = 0.05

# The share of the remaining budget that a look may use. A look uses less, or nothing, if its interval is so wide that
# it would seldom, or never, lie inside what matters.
SAME_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Difference:
    """An audit minus the baseline, for these topics.

    - `value`: the difference, in [-1, 1].
    - `low`, `high`: the interval, clipped to [-1, 1]. If the baseline has too few runs to show how much
      audits differ, both are NaN, as are `inner_low`, `inner_high` and `p`, and `note` states the reason.
    - `inner_low`, `inner_high`: the interval with `tail` on each side. Audit and baseline are the same if it lies
      inside ±`matters`.
    - `error`: standard error, from the trials on both sides and from the differences between runs.
    - `runs`: the standard deviation between audits, which is part of `error`; NaN if unknown.
    - `p`: the two-sided p for no difference at all, at a single look.
    - `these_low`, `these_high`: the interval, from trials alone, of the difference between these very runs at their
      hours. It covers the difference between the systems only if audits do not differ.
    - `own`: the variance of the audit's mean due to its trials.
    - `slope`: g of the audit (`scoring.inference.run_effects`).
    - `left`, `tail`: the part of `SAME_BUDGET` left before this look, and the part used for this look.
    - `spent`: the probability of the verdict *same* if the true difference is exactly `matters`.
    - `assumes`: the assumptions of the interval.
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
    these_low: float = math.nan
    these_high: float = math.nan
    own: float = math.nan
    slope: float = math.nan
    left: float = SAME_BUDGET
    tail: float = SAME_BUDGET
    spent: float = 0.0
    note: str = ""
    assumes: str = ""

    @property
    def interval(self) -> Interval:
        if math.isnan(self.low):
            return no_interval(self.note)
        return Interval(self.low, self.high, METHOD, "nothing", assumes=self.assumes)

    @property
    def printed_ends(self) -> tuple[float, float]:
        """The ends of the interval between audits or, if there is none, of the interval between these very runs."""
        return (self.these_low, self.these_high) if math.isnan(self.low) else (self.low, self.high)

    def is_beyond(self, matters: float) -> bool:
        """Return True if the interval that is shown lies entirely beyond ±`matters`."""
        low, high = self.printed_ends
        return low > matters or high < -matters


# The method of the interval of a difference.
METHOD = "normal, mixed over what audits differ by"

_ASSUMES = "trials are independent given their audit, and audits differ by independent effects of a normal law"


def difference(
    baseline: Baseline,
    values: Sequence[npt.ArrayLike],
    *,
    matters: float,
    level: float,
    audits: int = 1,
    left: float = SAME_BUDGET,
) -> Difference:
    """Return the difference between an audit and the baseline, and whether they are the same.

    The verdict *same* is from two one-sided tests (D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics
    15 (1987), 657-680). Each side has the variance of its own trials: if the baseline's variance was used for both
    sides, the interval after a fall from .95 to .55 covered the truth in 71% of studies. The variance between audits is
    estimated from the baseline's runs (`scoring.inference.run_effects`); fewer than four runs are not enough.

    `values` are as for `evidence`, from the given number of `audits` together. `left` is the part of `SAME_BUDGET` that
    remains after earlier looks at this run, with fewer trials.
    """
    means, variances, counts = _moments([np.asarray(one, dtype=np.float64) for one in values])
    own_each = baseline.audit_variances(means, variances, counts) / counts
    own = float(own_each.sum()) / len(means) ** 2
    # If trials near each other in time are alike, those of one audit differ too little, and its own slope is too small.
    # The baseline's slope, at the audit's level, is of trials of several runs.
    slope = max(float((means * (1 - means) + own_each).mean()), baseline.slope_at(float(means.mean())))
    sampling = own + baseline.sampling_variance
    runs = baseline.run_variance()
    value = float(means.mean()) - baseline.mean
    known = len(baseline.runs) >= FEWEST_RUNS
    moving = runs > 0 and baseline.slope > 0
    between = runs * ((slope / baseline.slope) ** 2 / audits + 1 / len(baseline.runs)) if moving else 0.0
    apart = baseline.run_effects.difference_distribution(sampling, slope, audits=audits)
    tail = SAME_SHARE * left
    outer, inner = apart.tail_distance((1 - level) / 2), apart.tail_distance(tail)
    # Not cut where this baseline would end: its own true mean may lie beyond, as after a fall to nothing.
    low, high = max(value - outer, -1.0), min(value + outer, 1.0)
    nothing = math.nan
    return Difference(
        value=value,
        low=low if known else nothing,
        high=high if known else nothing,
        inner_low=value - inner if known else nothing,
        inner_high=value + inner if known else nothing,
        error=math.sqrt(sampling + between),
        runs=math.sqrt(runs) if runs >= 0 else nothing,
        same=bool(known and -matters < value - inner and value + inner < matters),
        p=2 * apart.tail_probability(abs(value)) if known else nothing,
        these_low=nothing if known else low,
        these_high=nothing if known else high,
        own=own,
        slope=slope,
        left=left,
        tail=tail,
        spent=tail - apart.tail_probability(2 * matters - inner) if known and inner < matters else 0.0,
        note="" if known else too_few_runs_reason(len(baseline.runs)),
        assumes=_ASSUMES if known else "",
    )


def too_few_runs_reason(runs: int) -> str:
    had = "one blessed run does" if runs == 1 else f"{runs} blessed runs do"
    return f"{had} not show how much audits differ by themselves"


def _moments(cells: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    counts = np.array([len(one) for one in cells], dtype=np.float64)
    if counts.min() == counts.max() > 1:  # at once: simulations of years ask this a million times
        each = np.stack(cells)
        return each.mean(axis=1), each.var(axis=1, ddof=1), counts
    variances = [one.var(ddof=1) if len(one) > 1 else math.nan for one in cells]
    return np.array([one.mean() for one in cells]), np.array(variances), counts
