"""Quantiles and tails of a sample or of a distribution on points."""

import math
from collections.abc import Sequence


def quantile(values: Sequence[float], beta: float, weights: Sequence[float] | None = None) -> float:
    """The lower β-quantile inf{x : P(X ≤ x) ≥ β} (Acerbi & Tasche, J. Banking & Finance 26, 2002, Definition 2.1)."""
    shares = weights or [1 / len(values)] * len(values)
    for point in sorted(set(values)):
        if math.fsum(share for value, share in zip(values, shares) if value <= point) >= beta - 1e-12:
            return point
    raise ValueError("the weights do not sum to 1")


def lower_tail(values: Sequence[float], beta: float, weights: Sequence[float] | None = None) -> float:
    """The mean of the lowest β of probability (the tail mean, Acerbi & Tasche 2002, Definition 2.6): (E[X; X ≤ x_β] +
    x_β (β − P(X ≤ x_β))) / β. CVaR of a measure where high is good."""
    shares = weights or [1 / len(values)] * len(values)
    at = quantile(values, beta, shares)
    below = math.fsum(value * share for value, share in zip(values, shares) if value <= at)
    reached = math.fsum(share for value, share in zip(values, shares) if value <= at)
    return (below + at * (beta - reached)) / beta


def upper_tail(values: Sequence[float], beta: float, weights: Sequence[float] | None = None) -> float:
    """The mean of the highest β of probability: CVaR of a measure where low is good."""
    return -lower_tail([-value for value in values], beta, weights)


def order_statistics(n: int, beta: float, level: float = 0.95) -> tuple[int, int]:
    """Ranks (1-based) of the order statistics between which the β-quantile lies with at least this probability, each
    side missing with at most half of the error; 0 or n + 1 if no value is far enough out (Conover, *Practical
    Nonparametric Statistics*, ch. 3)."""
    tail = (1 - level) / 2

    def at_most(k: int) -> float:
        return math.fsum(math.comb(n, i) * beta**i * (1 - beta) ** (n - i) for i in range(k + 1))

    low = max(rank for rank in range(n + 1) if rank == 0 or at_most(rank - 1) <= tail)
    high = min(rank for rank in range(1, n + 2) if rank == n + 1 or 1 - at_most(rank - 1) <= tail)
    return low, high
