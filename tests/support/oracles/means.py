"""Means, their differences, bounds without a shape, and equivalence."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from scipy import stats

from tests.support.oracles.shares import Pair, bisected


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """The unbiased variance."""
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def student(values: Sequence[float], level: float = 0.95) -> Pair:
    """Student's interval of a mean (1908); of differences by topic it is the paired one."""
    half = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * math.sqrt(variance(values) / len(values))
    return mean(values) - half, mean(values) + half


def welch(one: Sequence[float], other: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """(low, high, degrees) of a difference of two means with variances of their own: Welch, Biometrika 34, 1947, with
    the degrees of Satterthwaite, Biometrics 2, 1946: (Σ v/n)² / Σ (v/n)²/(n − 1)."""
    parts = [(variance(side) / len(side), len(side) - 1) for side in (one, other)]
    degrees = sum(part for part, _ in parts) ** 2 / sum(part**2 / free for part, free in parts)
    half = float(stats.t.ppf((1 + level) / 2, degrees)) * math.sqrt(sum(part for part, _ in parts))
    difference = mean(one) - mean(other)
    return difference - half, difference + half, degrees


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """The degrees of a sum of independent variance estimates (Satterthwaite 1946). parts: (estimate, degrees) each."""
    return sum(part for part, _ in parts) ** 2 / sum(part**2 / free for part, free in parts)


def fieller(tops: Sequence[float], bottoms: Sequence[float], level: float = 0.95) -> Pair:
    """The interval of a ratio of means of pairs (Fieller, JRSS B 16, 1954): the r for which Student's test of top −
    r·bottom is not significant. Only where the mean of the bottoms is itself significant."""
    n = len(tops)
    t = float(stats.t.ppf((1 + level) / 2, n - 1))
    x, y = mean(bottoms), mean(tops)
    vx, vy = variance(bottoms) / n, variance(tops) / n
    vxy = math.fsum((a - x) * (b - y) for a, b in zip(bottoms, tops)) / (n - 1) / n
    a, b, c = x**2 - t**2 * vx, x * y - t**2 * vxy, y**2 - t**2 * vy
    if a <= 0:
        raise ValueError("the bottom's mean does not differ from 0: the set of ratios has no ends")
    root = math.sqrt(b**2 - a * c)
    return (b - root) / a, (b + root) / a


def _weighted_at_most(points: Sequence[Fraction], at: Fraction) -> Fraction:
    """P(Σ D_i x_i ≤ at) for D uniform on the simplex and different points x: a divided difference of (x − at)₊^(m−1)
    (Curry & Schoenberg 1966; the distribution function of a B-spline)."""
    n = len(points) - 1
    above = Fraction(0)
    for i, point in enumerate(points):
        if point > at:
            below = Fraction(1)
            for j, other in enumerate(points):
                if j != i:
                    below *= point - other
            above += (point - at) ** n / below
    return 1 - above


def gaffke(values: Sequence[float], top: float, level: float = 0.975) -> float:
    """Gaffke's upper confidence limit of a mean of values that are at most `top` (Gaffke, "Three test statistics for a
    nonparametric one-sided hypothesis on the mean of a nonnegative variable", Math. Methods of Statistics 14, 2005;
    Learned-Miller & Thomas, arXiv 1905.06208): the quantile of 1 − Σ U_(i) (z_(i+1) − z_(i)), which is that of a mean
    with weights uniform on the simplex over the values and the top.

    Ties are told apart by 1e-9 of the range, which moves the limit by no more than that."""
    ordered = sorted(Fraction(value) for value in (*values, top))
    if ordered[0] == ordered[-1]:
        return top
    step = (ordered[-1] - ordered[0]) / 10**9
    points = [point + step * i / len(ordered) for i, point in enumerate(ordered)]
    return bisected(
        lambda at: float(_weighted_at_most(points, Fraction(at))), level, float(points[0]), float(points[-1])
    )


def gaffke_both(values: Sequence[float], ends: Pair, level: float = 0.95) -> Pair:
    """Gaffke's limits on both sides, each with half of the error, for a measure between two ends."""
    side = (1 + level) / 2
    low = -gaffke([-value for value in values], -ends[0], side)
    return low, gaffke(values, ends[1], side)


def equivalent(values: Sequence[float], margin: float) -> float:
    """The p of "the mean differs from 0 by the margin or more" (two one-sided t tests: Schuirmann, J. Pharmacokin.
    Biopharm. 15, 1987): the larger one. It is ≤ α just if Student's interval of 1 − 2α lies within ± margin."""
    error, free = math.sqrt(variance(values) / len(values)), len(values) - 1
    lower = float(stats.t.sf((mean(values) + margin) / error, free))
    upper = float(stats.t.cdf((mean(values) - margin) / error, free))
    return max(lower, upper)


def sign_flips(differences: Sequence[float]) -> float:
    """The two-sided p of Fisher's randomisation test of paired differences (*The Design of Experiments*, 1935, §21):
    the share of all 2^n choices of signs whose sum is as far from 0."""
    seen = abs(math.fsum(differences))
    every = list(itertools.product((1, -1), repeat=len(differences)))
    as_far = sum(
        abs(math.fsum(sign * difference for sign, difference in zip(signs, differences))) >= seen - 1e-12
        for signs in every
    )
    return as_far / len(every)
