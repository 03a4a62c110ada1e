"""How many more trials settle what an audit cannot tell: a number is promised only where it can be kept.

Settled is a difference from the baseline whose interval lies inside ±`matters`, or outside. After n more trials of each
topic the interval is narrower by what trials add to it; what the baseline is not known by stays. Where the difference
will then lie is not known either, so it is not taken to be as it was seen:

    mean of the system     normal around that of this audit, its variance that of trials and of what audits differ by
    n more trials          normal around that mean, with another such difference, for they are played at another hour

What audits differ by is known from the few runs of the baseline only, so it is taken as larger than they show; fewer
than four runs show nothing, and nothing is promised then. Further trials are another look at the same run, which has
what the looks before it left of the chance of a wrong *same*: the interval that counts is that of the next look.

The chance that they settle it is the smaller one under two priors of the difference: flat, and normal around no
difference with a standard deviation of 3 × `matters`, as most audits differ little. Under the first alone, promises
were kept too seldom where the difference is small; `tests.support.watched_years` counts how often they are kept.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.inference.drift import SAME_SHARE, Baseline, Difference
from scoring.inference.run_effects import FEWEST_RUNS
from scoring.statistics.beta import normal_cdf, normal_quantile

Floats = npt.NDArray[np.float64]

# The chance from which on a number of trials is promised: promises are then kept in four cases of five.
SURE = 0.82

# Up to so many times as many trials as there are is looked for a number.
MOST_TIMES = 32

# On each side, outside the printed interval of 95%.
OUTER = 0.025

_SCEPTICAL = 3.0  # × matters: standard deviation of the differences that most audits have
_NUMBERS = 60  # of topics or trials that are tried
_NODES = 13  # at which halves of intervals are computed; between them they are off by less than a hundredth

# Why no number of trials is promised. settled: the interval lies beyond what matters already. runs: the baseline has
# too few. edge: the difference may lie at the edge of what matters. baseline: the baseline, or what audits differ by,
# is not known well enough.
Hindrance = Literal["", "settled", "runs", "edge", "baseline"]


@dataclass(frozen=True, slots=True)
class Settling:
    """trials: so many more of each topic are promised to settle it; 0 where no number is. chance: that they do, or that
    the best number up to `most` does; NaN where nothing is to be settled, or the chance cannot be told. hindrance: why
    there is no promise."""

    trials: int = 0
    chance: float = math.nan
    most: int = 0
    hindrance: Hindrance = ""


def is_settled(found: Difference, matters: float) -> bool:
    """Whether the interval lies inside ±`matters`, or outside."""
    return found.same or found.beyond(matters)


def trials_to_settle(baseline: Baseline, found: Difference, *, each: float, matters: float) -> Settling:
    """The fewest more trials of each topic, up to `MOST_TIMES` as many as there are, that settle it with a chance of at
    least .82. each: trials of a topic that there are."""
    most = math.ceil(MOST_TIMES * each)
    if is_settled(found, matters):
        return Settling(most=most, hindrance="settled")
    if len(baseline.runs) < FEWEST_RUNS:
        return Settling(most=most, hindrance="runs")
    numbers = np.unique(np.geomspace(1, most, _NUMBERS).round())
    chances = _chances(baseline, found, each, matters, numbers, known=False)
    enough = np.flatnonzero(chances >= SURE)
    if enough.size:
        return Settling(int(numbers[enough[0]]), float(chances[enough[0]]), most)
    exact = _chances(baseline, found, each, matters, numbers, known=True)
    why: Hindrance = "baseline" if exact.max() >= SURE else "edge"
    return Settling(0, float(chances.max()), most, why)


def _chances(
    baseline: Baseline, found: Difference, each: float, matters: float, more: Floats, *, known: bool
) -> Floats:
    """Of each number of further trials. known: as if the baseline were known exactly, and audits did not differ."""
    within = found.own * each
    runs = 0.0 if known else _between_audits(baseline)
    own = within / (each + more)
    inside = _halves(baseline, found, own, SAME_SHARE * (found.left - found.spent), known=known)
    outside = _halves(baseline, found, own, OUTER, known=known)
    part, seen = more / (each + more), within / each + runs
    prior = (_SCEPTICAL * matters) ** 2 + (0.0 if known else baseline.sampling_variance())
    drawn = prior / (prior + seen)  # towards no difference, under the second prior
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


def _halves(baseline: Baseline, found: Difference, own: Floats, tail: float, *, known: bool) -> Floats:
    """Of the interval with `tail` on each side, by the variance that the audit's mean will have of trials."""
    if known:
        return np.asarray(normal_quantile(1 - tail) * np.sqrt(own))
    effects, fixed = baseline.run_effects(), baseline.sampling_variance()
    nodes = np.geomspace(own.min(), own.max(), _NODES)
    halves = [effects.apart(one + fixed, found.slope).reach(tail) for one in nodes.tolist()]
    return np.asarray(np.interp(np.log(own), np.log(nodes), halves))


def _between_audits(baseline: Baseline) -> float:
    """What audits may differ by, as a variance of the mean of one: what the baseline's runs show, and as much more as a
    t distribution with their degrees of freedom is wider than a normal one."""
    runs = len(baseline.runs)
    seen = float(baseline.runs.var(ddof=1)) * (runs - 1) / (runs - 3)
    return max(0.0, seen - baseline.sampling_variance() * runs)


def _chance_to_settle(centre: Floats, spread: Floats, inside: Floats, outside: Floats, matters: float) -> Floats:
    """The chance that a normal value ± `inside` lies inside ±matters, or ± `outside` beyond it."""

    def below(end: Floats) -> Floats:
        return np.array([normal_cdf(float(one)) for one in (end - centre) / spread])

    far, near = matters + outside, np.maximum(0.0, matters - inside)
    return np.asarray(below(-far) + 1 - below(far) + below(near) - below(-near))
