"""Signal detection over topics: d' and c if topics have several trials, which are not independent.

Point estimates are computed by `scoring.measures.signal_detection` from the pooled counts of all topics. The
intervals do not assume that trials of one topic are independent:

1. For each rate, compute the interval of a share over topics (`scoring.measures.usefulness.share`).
2. Transform the ends by z, and combine them with the correlation r of the two rates, estimated from the contributions
   of each topic. The lower end of z(H) - z(F) is d' - sqrt(a² + b² - 2 r a b), where a = z(H) - z(low of H) and b =
   z(high of F) - z(F). The other ends are similar; c uses -r.

r is needed because topics on which a system gives way more often move both rates together, which leaves d' unchanged
and makes c uncertain. If every topic has one trial, nothing is nested, and the intervals are those of
`signal_detection`. With fewer than FEWEST topics there is no interval: r is then arbitrary (over two topics always -1
or 1), and intervals that treat it as known cover as little as .72. For coverage of the nominal 95% in simulation, see
docs/simulators/probe.md.

Source: G. Y. Zou, Psychological Methods 12 (2007), 399-413 (recovered variances of correlated estimates). The
combination with intervals over topics is our own; the simulation supports it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import Interval, no_interval
from scoring.measures.signal_detection import Detection, signal_detection
from scoring.measures.usefulness import Share, share
from scoring.statistics.beta import normal_quantile
from topics.arrays import Floats

METHOD = "intervals of the rates over topics, recovered variances"

# How many units with several trials an interval needs.
FEWEST = 5


@dataclass(frozen=True, slots=True)
class ClusteredDetection:
    """Signal detection over the `units` topics that have a trial. The intervals are NaN, with a note, if topics have
    several trials and there are fewer than FEWEST topics. `correlation` of the two rates over units is in [-1, 1], 0
    if nothing is nested, and NaN for too few units."""

    detection: Detection
    correlation: float
    units: int


def detection_over(
    units: Sequence[str],
    hits: npt.ArrayLike,
    signals: npt.ArrayLike,
    false_alarms: npt.ArrayLike,
    noises: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> ClusteredDetection:
    """Return d' and c of one system over topics or, within one topic, over its trials. `units` (U,) are names; the
    other arrays are (U,) counts. If all trials are of one kind, d' and c are NaN, but both counts are given. Raises
    ValueError as `signal_detection` does."""
    h, s, f, n = (np.asarray(part, dtype=np.float64) for part in (hits, signals, false_alarms, noises))
    if not h.shape == s.shape == f.shape == n.shape == (len(units),):
        raise ValueError("hits, signals, false alarms and noises need one count per unit")
    whole = signal_detection(*(round(float(part.sum())) for part in (h, s, f, n)), level=level)
    seen = int(((s + n) > 0).sum())
    if math.isnan(whole.d_prime) or (s.max() <= 1 and n.max() <= 1 and not np.any((s > 0) & (n > 0))):
        return ClusteredDetection(whole, 0.0, seen)
    if seen < FEWEST:
        few = f"no interval: it needs {FEWEST} topics (within one topic: {FEWEST} trials), and there are {seen}"
        none = no_interval("; ".join(filter(None, (few, whole.d_prime_interval.note))))
        return ClusteredDetection(replace(whole, d_prime_interval=none, criterion_interval=none), math.nan, seen)
    invalid = np.zeros((len(units), 1), dtype=bool)
    rates = [
        share(units, above[:, None], below[:, None], invalid, level=level, pooled=True)
        for above, below in ((h, s), (f, n))
    ]
    r = _correlation(h, s, f, n)
    hit, alarm = _corrected_rate(h, s), _corrected_rate(f, n)
    (hit_low, hit_high), (alarm_low, alarm_high) = (_quantiles(rate.interval) for rate in rates)
    down, up, alarm_down, alarm_up = hit - hit_low, hit_high - hit, alarm - alarm_low, alarm_high - alarm
    effective = ", ".join(_effective_n(rate) for rate in rates)
    notes = [f"effective n = {effective} of {rates[0].n} and {rates[1].n}"]
    if whole.d_prime_interval.note:
        notes.append(whole.d_prime_interval.note)

    def interval(value: float, below: float, above: float) -> Interval:
        return Interval(value - below, value + above, METHOD, "nothing", "; ".join(notes))

    found = replace(
        whole,
        d_prime_interval=interval(whole.d_prime, _joint_reach(down, alarm_up, r), _joint_reach(up, alarm_down, r)),
        criterion_interval=interval(
            whole.criterion, _joint_reach(up, alarm_up, -r) / 2, _joint_reach(down, alarm_down, -r) / 2
        ),
    )
    return ClusteredDetection(found, r, seen)


def _correlation(h: Floats, s: Floats, f: Floats, n: Floats) -> float:
    """Return the correlation of the two rates' errors, from the leverage of each unit, or 0 if a rate does not vary."""
    first = (h - h.sum() / s.sum() * s) / s.sum()
    second = (f - f.sum() / n.sum() * n) / n.sum()
    spread = float((first**2).sum() * (second**2).sum())
    if spread <= 0:
        return 0.0
    return float(np.clip((first * second).sum() / math.sqrt(spread), -1, 1))


def _corrected_rate(kept: Floats, trials: Floats) -> float:
    return normal_quantile((float(kept.sum()) + 0.5) / (float(trials.sum()) + 1))


def _quantiles(interval: Interval) -> tuple[float, float]:
    low, high = interval.low, interval.high
    return (
        normal_quantile(low) if low > 0 else -math.inf,
        normal_quantile(high) if high < 1 else math.inf,
    )


def _joint_reach(one: float, other: float, r: float) -> float:
    if math.isinf(one) or math.isinf(other):
        return math.inf
    # An end of a rate's interval can lie on the other side of the corrected rate; that side then has no length.
    one, other = max(one, 0.0), max(other, 0.0)
    return math.sqrt(max(one * one + other * other - 2 * r * one * other, 0.0))


def _effective_n(rate: Share) -> str:
    said = rate.interval.note.removeprefix("effective n = ")
    return said if said != rate.interval.note else f"{rate.n}"
