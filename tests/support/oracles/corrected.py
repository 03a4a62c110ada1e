"""A judge's labels corrected by people's: PPI++."""

import math
from collections.abc import Sequence

from tests.support.oracles.means import mean


def _covariance(one: Sequence[float], other: Sequence[float]) -> float:
    a, b = mean(one), mean(other)
    return math.fsum((x - a) * (y - b) for x, y in zip(one, other)) / (len(one) - 1)


def best_weight(people: Sequence[float], judged: Sequence[float], alone: Sequence[float]) -> float:
    """λ = Cov(Y, f) / ((1 + n/N) Var f) (Angelopoulos, Duchi & Zrnic, PPI++, arXiv 2311.01453), with the variance of f
    over all of its labels. people, judged: of the things that people labelled. alone: the judge's labels of the
    others."""
    n, others = len(people), len(alone)
    every = [*judged, *alone]
    return _covariance(people, judged) / ((1 + n / others) * _covariance(every, every))


def estimate(people: Sequence[float], judged: Sequence[float], alone: Sequence[float], weight: float) -> float:
    """θ̂ = λ mean(f of the others) + mean(Y − λ f) (PPI++, of a mean)."""
    return weight * mean(alone) + mean([y - weight * f for y, f in zip(people, judged)])


def error(people: Sequence[float], judged: Sequence[float], alone: Sequence[float], weight: float) -> float:
    """√(λ² Var(f)/N + Var(Y − λ f)/n) (PPI++, of a mean)."""
    left = [y - weight * f for y, f in zip(people, judged)]
    return math.sqrt(weight**2 * _covariance(alone, alone) / len(alone) + _covariance(left, left) / len(people))
