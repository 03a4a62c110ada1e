"""An exact test of association between two yes-or-no properties."""

from math import exp, lgamma


def fisher_exact(both: int, first: int, second: int, neither: int) -> float:
    """Return the one-sided p: the probability of at least `both` if the two properties are independent.

    This is R. A. Fisher's exact test (1935), the tail of the hypergeometric distribution given all four margins. p is 1
    if a margin is 0. Raises ValueError for a negative count.
    """
    if min(both, first, second, neither) < 0:
        raise ValueError(f"counts cannot be negative: {(both, first, second, neither)}")
    row, column, whole = both + first, both + second, both + first + second + neither
    tail = (_ways(row, k) + _ways(whole - row, column - k) for k in range(both, min(row, column) + 1))
    return min(1.0, sum(exp(ways - _ways(whole, column)) for ways in tail))


def _ways(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
