"""A watch over many looks: e-detectors by direct product, and differences with the variances of sides or of runs."""

import math
from collections.abc import Sequence

from scipy import stats

from tests.support.oracles.means import mean, satterthwaite, variance
from tests.support.oracles.shares import Pair


def e_value(values: Sequence[float], limit: float, stake: float) -> float:
    """Π (1 + λ (m − y)): its mean is at most 1 if the mean of the values in [0, 1] is at least m (Waudby-Smith &
    Ramdas, JRSS B 86, 2024). 0 ≤ λ < 1/(1 − m)."""
    return math.prod(1 + stake * (limit - value) for value in values)


def e_detector(looks: Sequence[Sequence[float]], limit: float, stakes: Sequence[float]) -> list[float]:
    """The Shiryaev–Roberts e-detector after every look (Shin, Ramdas & Rinaldo, arXiv 2203.03532, the SR form): the
    sum over all starts j of the product of e-values from j to now, averaged over stakes. An alarm at A has an average
    run length of at least A, and false alarms within L looks a chance of at most L/A."""
    found = []
    for now in range(1, len(looks) + 1):
        each = []
        for stake in stakes:
            e = [e_value(look, limit, stake) for look in looks[:now]]
            each.append(math.fsum(math.prod(e[start:]) for start in range(now)))
        found.append(mean(each))
    return found


def run_difference(blessed: Sequence[float], audit: float, level: float = 0.95) -> Pair:
    """The interval of one audit's mean minus that of blessed runs, from run means alone: Student's prediction
    interval, s √(1 + 1/n) with n − 1 degrees (Hahn & Meeker, *Statistical Intervals*, 1991, ch. 4), whatever runs vary
    by."""
    n = len(blessed)
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * math.sqrt(variance(blessed) * (1 + 1 / n))
    return audit - mean(blessed) - half, audit - mean(blessed) + half


def topics_difference(
    baseline: Sequence[Sequence[float]], audit: Sequence[Sequence[float]], level: float = 0.95
) -> Pair:
    """The interval of audit − baseline for these topics without run effects: each side has its own variance within
    each topic, Σ s²/n / T², and Satterthwaite's degrees. Each side: for every topic its trials, at least two."""
    parts = [
        (variance(trials) / len(trials) / len(side) ** 2, len(trials) - 1.0)
        for side in (baseline, audit)
        for trials in side
    ]
    parts = [part for part in parts if part[0] > 0]
    difference = mean([mean(trials) for trials in audit]) - mean([mean(trials) for trials in baseline])
    if not parts:
        return difference, difference
    half = float(stats.t.ppf((1 + level) / 2, satterthwaite(parts))) * math.sqrt(sum(part for part, _ in parts))
    return difference - half, difference + half
