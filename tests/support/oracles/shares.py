"""Shares, differences and ratios of shares, and tables of two by two."""

import math
from collections.abc import Callable
from fractions import Fraction

from scipy import stats

Pair = tuple[float, float]


def bisected(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """The point between low and high at which a function that does not fall reaches the wanted value."""
    for _ in range(80):
        middle = (low + high) / 2
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def at_least(k: int, n: int, p: float) -> float:
    """P(at least k of n) with chance p, summed."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Pair:
    """The exact interval of a share (Clopper & Pearson, Biometrika 26, 1934): the chances under which neither "at
    least k" nor "at most k" has a probability of (1 − level)/2 or less."""
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else bisected(lambda p: at_least(k, n, p), tail, 0.0, 1.0)
    high = 1.0 if k == n else bisected(lambda p: at_least(k + 1, n, p), 1 - tail, 0.0, 1.0)
    return low, high


def no_failure_in(n: int, level: float = 0.95) -> float:
    """The one-sided upper limit of a failure rate after n clean trials: (1 − p)^n = 1 − level."""
    return float(1 - (1 - level) ** (1 / n))


def wilson(k: float, n: float, level: float = 0.95) -> Pair:
    """The score interval of a share (Wilson, JASA 22, 1927), in closed form. k, n: may be fractions."""
    z = float(stats.norm.ppf((1 + level) / 2))
    p = k / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


def square_and_add(one: float, of_one: Pair, other: float, of_other: Pair) -> Pair:
    """The interval of one − other from their own (MOVER: Zou & Donner, Statist. Med. 27, 2008; of two Wilson intervals
    it is method 10 of Newcombe, Statist. Med. 17, 1998, p. 873–890)."""
    difference = one - other
    low = difference - math.sqrt((one - of_one[0]) ** 2 + (of_other[1] - other) ** 2)
    high = difference + math.sqrt((of_one[1] - one) ** 2 + (other - of_other[0]) ** 2)
    return low, high


def newcombe(k: int, n: int, other_k: int, other_n: int, level: float = 0.95) -> Pair:
    """The hybrid score interval of a difference of two independent shares (Newcombe 1998, method 10)."""
    return square_and_add(k / n, wilson(k, n, level), other_k / other_n, wilson(other_k, other_n, level))


def ratio(one: float, of_one: Pair, other: float, of_other: Pair) -> Pair:
    """The interval of one / other from their own (MOVER-R: Donner & Zou, Statist. Methods Med. Res. 21, 2012). All
    limits must be positive."""
    (l1, u1), (l2, u2), product = of_one, of_other, one * other
    low = (product - math.sqrt(product**2 - l1 * u2 * (2 * one - l1) * (2 * other - u2))) / (u2 * (2 * other - u2))
    high = (product + math.sqrt(product**2 - u1 * l2 * (2 * one - u1) * (2 * other - l2))) / (l2 * (2 * other - l2))
    return low, high


def fisher(a: int, b: int, c: int, d: int) -> float:
    """The two-sided p of the table ((a, b), (c, d)): the probability of all tables with its margins that are not more
    probable than it (Fisher 1935, "The logic of inductive inference"), by enumeration in exact fractions."""
    row, column, total = a + b, a + c, a + b + c + d

    def probability(x: int) -> Fraction:
        return Fraction(math.comb(row, x) * math.comb(total - row, column - x), math.comb(total, column))

    seen = probability(a)
    tables = range(max(0, column - (total - row)), min(row, column) + 1)
    return float(sum(probability(x) for x in tables if probability(x) <= seen))


def korn_graubard(share: float, variance: float, n: int, degrees: int, level: float = 0.95) -> Pair:
    """The exact interval of a share from a clustered sample (Korn & Graubard, Survey Methodology 24, 1998, p.
    193–201): Clopper–Pearson with the effective size, times the squared ratio of t quantiles with n − 1 and the
    design's degrees.

    variance: the design's variance of the share. degrees: clusters − 1. A share of 0 or 1 keeps n."""
    tail = (1 - level) / 2
    effective: float = n
    if 0 < share < 1:
        effective = share * (1 - share) / variance
        effective *= float(stats.t.ppf(tail, n - 1) / stats.t.ppf(tail, degrees)) ** 2
        effective = min(effective, n)
    x = share * effective
    low = 0.0 if x == 0 else float(stats.beta.ppf(tail, x, effective - x + 1))
    high = 1.0 if share == 1 else float(stats.beta.ppf(1 - tail, x + 1, effective - x))
    return low, high


def sign_test(wins: int, losses: int) -> float:
    """The two-sided exact p of wins and losses under a fair coin; ties are left out (Conover, Practical Nonparametric
    Statistics, ch. 3)."""
    n = wins + losses
    return min(1.0, 2 * at_least(max(wins, losses), n, 0.5)) if n else 1.0
