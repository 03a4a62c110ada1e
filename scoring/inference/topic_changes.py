"""The topics that carry a change: each topic's difference between the audits since a change began and the baseline.

A change is confirmed over several audits, so its topics are looked for over the same audits. The interval of a topic's
difference joins the Wilson intervals of both means (R. G. Newcombe's hybrid interval), with the variance of single
trials expressed as a number of answers of 0 or 1 (the effective number of E. L. Korn and B. I. Graubard), and adds the
variation between audits:

    low = d - √((m - m_low)² + (b_high - b)² + reach²),   reach from the effects of audits on the scale of log odds

All intervals are simultaneous: each has the T-th part of the error (Bonferroni). So of topics that did not change, one
is called changed in at most 5% of the cases, however many topics there are.

If all topics changed alike, some show it by themselves and others do not, by chance alone. So a topic is named only if
neither an equal change of all log odds nor an equal change of all means explains it: its interval excludes both, or
topics differ from both laws. The deviances from a law, their sum and the largest, have the p of worlds in which the law
holds, drawn with both sides' numbers of answers.

If an audit has effects of its own on single topics, audits of the stretch differ by more than their trials do. The
effective numbers of answers are then smaller by that factor.

Sources: R. G. Newcombe, Statistics in Medicine 17 (1998), 873-890, method 10; E. L. Korn and B. I. Graubard, Survey
Methodology 24 (1998), 193-201; the test of an equal change is a parametric bootstrap, and its two laws are our own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.drift import Baseline
from scoring.inference.proportions import wilson_ends
from scoring.inference.run_effects import RunEffects
from topics.arrays import Floats

# The error probability of calling topics unequal if all of them changed alike. The rest of 5% is left for intervals
# that exclude an equal change by chance.
ALPHA = 0.04

# The method of the intervals.
METHOD = "Newcombe over trials and audits, Bonferroni over topics"

_DRAWS = 999  # with one more, for the data themselves, a round number: p in steps of .001


@dataclass(frozen=True, slots=True)
class AuditTopics:
    """The trials of one audit: (T,) counts, means in [0, 1], and unbiased variances (NaN if unknown). Topics without a
    trial have a count of 0, and any mean."""

    counts: Floats
    means: Floats
    variances: Floats


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """The differences of T topics: the pooled audits minus the baseline.

    - `counts`, `means`: (T,) of all audits together; the mean of a topic without a trial is NaN.
    - `values`, `low`, `high`: (T,) the difference, and its interval; all intervals are simultaneous.
    - `unequal`: the p of topics that all changed alike; NaN for fewer than two topics.
    - `apart`: (T,) whether the topic's interval excludes the changes it would have if all changed alike.
    """

    counts: Floats
    means: Floats
    values: Floats
    low: Floats
    high: Floats
    unequal: float
    apart: npt.NDArray[np.bool_]

    @property
    def fell(self) -> npt.NDArray[np.bool_]:
        """(T,) whether the topic's interval lies below 0."""
        return self.high < 0

    @property
    def rose(self) -> npt.NDArray[np.bool_]:
        """(T,) whether the topic's interval lies above 0."""
        return self.low > 0

    @property
    def are_named(self) -> npt.NDArray[np.bool_]:
        """(T,) whether the topic changed, and not only as all topics did."""
        return (self.fell | self.rose) & (self.apart | (self.unequal <= ALPHA))


def topic_changes(
    baseline: Baseline, audits: Sequence[AuditTopics], rng: np.random.Generator, *, level: float = 0.95
) -> TopicChanges:
    """Compare each topic of the audits together with the baseline.

    `baseline` and all `audits` have the same topics. `level` is the simultaneous level of all intervals. `rng` draws
    the worlds of the test. Trials are independent given their audit.
    """
    each = np.stack([one.counts for one in audits])
    counts = each.sum(axis=0)
    sums = sum(one.counts * np.where(one.counts > 0, one.means, 0.0) for one in audits)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums / counts, math.nan)
    there = counts > 0
    low, high, values = (np.full(len(counts), math.nan) for _ in range(3))
    if not there.any():
        return TopicChanges(counts, means, values, low, high, math.nan, there)
    sides = _answers(baseline, audits, means, there)
    ends = [wilson_ends(mean * n, n, 1 - (1 - level) / there.sum()) for mean, n in sides]
    (b, _), (m, _) = sides
    (b_low, b_high), (m_low, m_high) = ends
    effects = _audit_reach(baseline, sides, len(audits), 1 - level)
    values[there] = m - b
    low[there] = m - b - np.sqrt((m - m_low) ** 2 + (b_high - b) ** 2 + effects**2)
    high[there] = m - b + np.sqrt((m_high - m) ** 2 + (b - b_low) ** 2 + effects**2)
    low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
    unequal, alike = _equal_changes(sides, rng)
    apart = np.zeros(len(counts), dtype=bool)
    apart[there] = np.all([(high[there] < one) | (one < low[there]) for one in alike], axis=0) & (there.sum() > 1)
    return TopicChanges(counts, means, values, low, high, unequal, apart)


# Mean and effective number of answers, (T,) each, of the baseline and of the audits.
_Sides = tuple[tuple[Floats, Floats], tuple[Floats, Floats]]


def _answers(baseline: Baseline, audits: Sequence[AuditTopics], means: Floats, there: npt.NDArray[np.bool_]) -> _Sides:
    """Return both sides of the topics that are `there`, with the numbers of answers of 0 or 1 that vary alike."""
    parts = [(baseline.counts, baseline.means, baseline.variances)]
    parts += [(one.counts, one.means, one.variances) for one in audits]
    # Unbiased variances and those of answers of 0 or 1 with the same means, summed over parts with several trials.
    seen, most = np.zeros(len(means)), np.zeros(len(means))
    for counts, middle, variances in parts:
        known = (counts > 1) & ~np.isnan(variances)
        seen += np.where(known, counts * variances, 0.0)
        most += np.where(known, counts * middle * (1 - middle) * counts / np.maximum(counts - 1, 1), 0.0)
    whole = min(1.0, float(seen.sum() / most.sum())) if most.sum() > 0 else 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.where(most > 0, np.minimum(seen / most, 1.0), 1.0)
    # A topic's own ratio is known from few trials: it may make its variance larger, and never smaller.
    ratio = np.maximum(np.maximum(whole, own), _LEAST_RATIO)
    ratio = ratio * _spread_between(audits, means, ratio)
    counts = np.stack([one.counts for one in audits]).sum(axis=0)
    n = (baseline.counts[there] / ratio[there], counts[there] / ratio[there])
    return (baseline.means[there], n[0]), (means[there], n[1])


def _spread_between(audits: Sequence[AuditTopics], means: Floats, ratio: Floats) -> float:
    """Return the factor, at least 1, by which topics differ more between these audits than their trials explain."""
    squares, degrees = 0.0, 0
    for one in audits:
        here = one.counts > 0
        variance = ratio * np.maximum(means * (1 - means), 1e-9)
        squares += float((one.counts * (one.means - means) ** 2 / variance)[here & (means > 0) & (means < 1)].sum())
    each = np.stack([one.counts > 0 for one in audits])
    degrees = int(np.maximum(each.sum(axis=0) - 1, 0)[(means > 0) & (means < 1)].sum())
    return max(1.0, squares / degrees) if degrees else 1.0


def _audit_reach(baseline: Baseline, sides: _Sides, audits: int, error: float) -> Floats:
    """Return (T,) how far audits alone can move a topic's difference, with this error probability.

    An audit moves all topics alike, so its effect is one unknown number, and not one for each topic.
    """
    (b, _), (m, _) = sides
    known = baseline.run_effects
    found = np.zeros(len(b))
    for place, (before, now) in enumerate(zip((b * (1 - b)).tolist(), (m * (1 - m)).tolist(), strict=True)):
        if not len(known.sizes) > 1 or not before + now:
            continue
        effects = RunEffects(known.sizes, known.weights, before, known.runs)
        found[place] = effects.difference_distribution(_NOTHING, now, audits=audits).tail_distance(error / 2)
    return found


_LEAST_RATIO = 0.1  # trials that hardly ever differed do not count as more than ten times as many
_NOTHING = 1e-12  # a variance above 0, as a mixture has no law for a spread of 0


# Fits the means of both sides, (W, T) each, to equal changes `by`, (W, 1): with `useful` the sum of both sides' answers
# of 1, (W, T), of (T,) numbers of answers before and now.
_Law = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats]]


def _equal_odds(useful: Floats, n: Floats, k: Floats, by: Floats) -> tuple[Floats, Floats]:
    # The most likely mean before solves n·x + k·r·x / (1 - x + r·x) = useful, with r the ratio of odds.
    ratio = np.exp(by)
    middle = n + k * ratio - useful * (ratio - 1)
    root = np.sqrt(np.maximum(middle**2 + 4 * (ratio - 1) * n * useful, 0.0))
    before = np.clip(2 * useful / (middle + root), 0.0, 1.0)
    return before, ratio * before / (1 - before + ratio * before)


def _equal_means(useful: Floats, n: Floats, k: Floats, by: Floats) -> tuple[Floats, Floats]:
    before = (useful - k * by) / (n + k)
    before = np.where(before + by > 1, (useful - k) / n, np.where(before + by < 0, useful / n, before))
    before = np.clip(before, 0.0, 1.0)
    return before, np.clip(before + by, 0.0, 1.0)


_LAWS: tuple[tuple[_Law, float], ...] = ((_equal_odds, 14.0), (_equal_means, 1.0))  # with the largest change


def _equal_changes(sides: _Sides, rng: np.random.Generator) -> tuple[float, list[Floats]]:
    """Return the p of topics that all changed alike, the larger of both laws, and the (T,) changes by each law."""
    (b, n), (m, k) = sides
    largest, alike, whole = 0.0, [], (n.round().clip(1), k.round().clip(1))
    for law, reach in _LAWS:
        found, before, now = _deviances(law, reach, b[None], m[None], n, k)
        alike.append(now[0] - before[0])
        worlds = [
            rng.binomial(size.astype(np.int64), mean, (_DRAWS, len(b))) / size
            for size, mean in zip(whole, (before[0], now[0]), strict=True)
        ]
        others = _deviances(law, reach, worlds[0], worlds[1], *whole)[0]
        # The sum finds several topics, and the maximum a single one among many.
        tests = [int((of(others, axis=1) >= of(found) - 1e-9).sum()) + 1 for of in (np.sum, np.max)]
        largest = max(largest, min(1.0, len(tests) * min(tests) / (_DRAWS + 1)))
    return (largest if len(b) > 1 else math.nan), alike


def _deviances(law: _Law, reach: float, b: Floats, m: Floats, n: Floats, k: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (W, T) deviances of W worlds from an equal change, and the means of both sides that fit it best.

    `b` and `m` are the (W, T) means, of (T,) numbers of answers `n` and `k`.
    """
    useful, wanted = n * b + k * m, (k * m).sum(axis=1, keepdims=True)
    low, high = (np.full((len(b), 1), end) for end in (-reach, reach))
    for _ in range(30):
        by = (low + high) / 2
        above = (k * law(useful, n, k, by)[1]).sum(axis=1, keepdims=True) > wanted
        low, high = np.where(above, low, by), np.where(above, by, high)
    before, now = law(useful, n, k, (low + high) / 2)
    return n * _divergence(b, before) + k * _divergence(m, now), before, now


def _divergence(seen: Floats, expected: Floats) -> Floats:
    """Return twice the Kullback-Leibler divergence of answers of 0 or 1, by which rare failures are not far away."""
    found = np.zeros(seen.shape)
    for own, other in ((seen, expected), (1 - seen, 1 - expected)):
        found += 2 * np.where(own > 0, own * np.log(np.maximum(own, _EDGE) / np.maximum(other, _EDGE)), 0.0)
    return found


_EDGE = 1e-4  # a mean that is expected to be exactly 0 or 1 does not make a single answer infinitely unlikely
