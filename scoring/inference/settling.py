"""The number of further trials that would settle an undecided audit, given only if it is likely to suffice.

An audit is settled if the interval of the difference from the baseline lies entirely inside ±`matters`, or entirely
outside. After n more trials of each topic, the part of the interval that is due to trials is narrower; the uncertainty
of the baseline remains. The future difference need not equal the observed difference, so it has a distribution too:

    mean of the system     normal around the mean of this audit, with the variance of trials and of audits
    n more trials          normal around the system's mean, with a new deviation between audits at another hour

The variance between audits is estimated from the few runs of the baseline, so a larger variance is assumed. With fewer
than four runs, no number is given. Further trials are another look at the same run, so the interval is computed for the
next look, with the probability of a wrong *same* that earlier looks have not used.

The probability that n trials settle the audit is computed under two priors of the difference, and the smaller
probability counts. One prior is flat. The other is normal around no difference with a standard deviation of 3 ×
`matters`, since most audits differ little. Under the flat prior alone, numbers sufficed too seldom if the difference is
small; `tests.support.watched_years` counts how often they do.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.inference.drift import SAME_SHARE, Baseline, Difference
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.statistics.beta import normal_cdf, normal_quantile
from topics.arrays import Floats

# The smallest probability at which a number of trials is proposed. The number then suffices in four cases of five.
SURE = 0.82

# The largest number of trials that is considered, in multiples of the present number.
MOST_TIMES = 32

# The probability outside the printed 95% interval on each side.
OUTER = 0.025

_SCEPTICAL = 3.0  # × matters: standard deviation of the differences that most audits have
_NUMBERS = 60  # numbers of trials that are tried
_NODES = 13  # points at which half widths are computed; interpolation is off by less than a hundredth

# Why no number of trials is proposed. settled: the interval lies beyond what matters already. runs: the baseline has
# too few. edge: the difference may lie at the edge of what matters. baseline: the baseline, or the
# variance between audits, is not known well enough.
Hindrance = Literal["", "settled", "runs", "edge", "baseline"]


@dataclass(frozen=True, slots=True)
class Settling:
    """The number of trials that would settle an audit.

    - `trials`: the number of further trials of each topic; 0 if no number is likely to suffice.
    - `chance`: the probability that `trials` suffice. If `trials` is 0, the probability for the best number up to
      `most`; NaN if the audit is settled already or the probability is unknown.
    - `most`: the largest number that was considered.
    - `hindrance`: the reason why there is no number.
    """

    trials: int = 0
    chance: float = math.nan
    most: int = 0
    hindrance: Hindrance = ""


def is_settled(difference: Difference, matters: float) -> bool:
    """Return True if the interval lies entirely inside ±`matters`, or entirely outside."""
    return difference.same or difference.is_beyond(matters)


def trials_to_settle(baseline: Baseline, difference: Difference, *, each: float, matters: float) -> Settling:
    """Return the smallest number of further trials per topic that settles the audit with probability `SURE`.

    `each` is the present number of trials per topic.
    """
    most = math.ceil(MOST_TIMES * each)
    if is_settled(difference, matters):
        return Settling(most=most, hindrance="settled")
    if len(baseline.runs) < FEWEST_RUNS:
        return Settling(most=most, hindrance="runs")
    numbers = np.unique(np.geomspace(1, most, _NUMBERS).round())
    chances = _chances(baseline, difference, each, matters, numbers, known=False)
    enough = np.flatnonzero(chances >= SURE)
    if enough.size:
        return Settling(int(numbers[enough[0]]), float(chances[enough[0]]), most)
    exact = _chances(baseline, difference, each, matters, numbers, known=True)
    why: Hindrance = "baseline" if exact.max() >= SURE else "edge"
    return Settling(0, float(chances.max()), most, why)


def _chances(
    baseline: Baseline, found: Difference, each: float, matters: float, more: Floats, *, known: bool
) -> Floats:
    within = found.own * each
    runs = 0.0  # the variance between the means of audits
    if not known:
        # The variance of the baseline's runs, widened like a t distribution with their degrees of freedom.
        number = len(baseline.runs)
        shown = float(baseline.runs.var(ddof=1)) * (number - 1) / (number - 3)
        runs = max(0.0, shown - baseline.sampling_variance * number)
    own = within / (each + more)
    inside = _half_widths(baseline, found, own, SAME_SHARE * (found.left - found.spent), known=known)
    outside = _half_widths(baseline, found, own, OUTER, known=known)
    part, seen = more / (each + more), within / each + runs
    prior = (_SCEPTICAL * matters) ** 2 + (0.0 if known else baseline.sampling_variance)
    drawn = prior / (prior + seen)  # shrinks towards no difference, under the second prior
    flat, sceptical = (
        _chance_to_settle(
            found.value * (1 - part * (1 - kept)),
            np.sqrt(part**2 * (kept * seen + runs + within / more)),
            inside,
            outside,
            matters,
        )
        for kept in (1.0, drawn)
    )
    return np.asarray(np.minimum(flat, sceptical))


def _half_widths(baseline: Baseline, found: Difference, own: Floats, tail: float, *, known: bool) -> Floats:
    if known:
        return np.asarray(normal_quantile(1 - tail) * np.sqrt(own))
    effects, fixed = baseline.run_effects, baseline.sampling_variance
    nodes = np.geomspace(own.min(), own.max(), _NODES)
    halves = [effects.difference_distribution(one + fixed, found.slope).tail_distance(tail) for one in nodes.tolist()]
    return np.asarray(np.interp(np.log(own), np.log(nodes), halves))


def _chance_to_settle(centre: Floats, spread: Floats, inside: Floats, outside: Floats, matters: float) -> Floats:
    """Return the probability that a normal value ± `inside` lies in ±matters, or ± `outside` lies beyond ±matters."""

    def chance_below(end: Floats) -> Floats:
        return np.array([normal_cdf(float(one)) for one in (end - centre) / spread])

    far, near = matters + outside, np.maximum(0.0, matters - inside)
    return np.asarray(chance_below(-far) + 1 - chance_below(far) + chance_below(near) - chance_below(-near))
