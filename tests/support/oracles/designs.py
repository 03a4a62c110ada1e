"""What a design does to a variance: clusters, two ways of clustering, ratios of sums, trials in time."""

import itertools
import math
from collections.abc import Hashable, Sequence

from tests.support.oracles.means import mean


def design_effect(size: float, icc: float) -> float:
    """1 + (b − 1) ρ for clusters of b (Kish, *Survey Sampling*, 1965, ch. 5)."""
    return 1 + (size - 1) * icc


def effective_size(weights: Sequence[float]) -> float:
    """(Σw)² / Σw² (Kish 1965, ch. 11): the number of equally weighted units that would have the same variance."""
    return math.fsum(weights) ** 2 / math.fsum(weight**2 for weight in weights)


def clustered(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """The variance of a mean: the sum over clusters of squared sums of deviations, over n² (Liang & Zeger, Biometrika
    73, 1986, of a constant; without a correction for few clusters)."""
    middle = mean(values)
    sums: dict[Hashable, float] = {}
    for value, cluster in zip(values, clusters):
        sums[cluster] = sums.get(cluster, 0.0) + value - middle
    return math.fsum(one**2 for one in sums.values()) / len(values) ** 2


def two_way_clustered(values: Sequence[float], one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """V_G + V_H − V_{G∩H} (Cameron, Gelbach & Miller, J. Business & Economic Statistics 29, 2011); may be negative."""
    both = list(zip(one, other))
    return clustered(values, one) + clustered(values, other) - clustered(values, both)


def ratio_variance(tops: Sequence[float], bottoms: Sequence[float]) -> float:
    """The linearised variance of Σtop/Σbottom over independent units (Cochran, *Sampling Techniques*, 1977, ch. 2,
    with no finite population): Σ (y − r x)² / (n (n − 1) x̄²)."""
    n, share = len(tops), math.fsum(tops) / math.fsum(bottoms)
    squares = math.fsum((top - share * bottom) ** 2 for top, bottom in zip(tops, bottoms))
    return squares / (n * (n - 1) * mean(bottoms) ** 2)


def lag_one(series: Sequence[float]) -> float:
    """r₁ of one series (Box & Jenkins, *Time Series Analysis*, ch. 2): Σ (x_t − x̄)(x_{t+1} − x̄) / Σ (x_t − x̄)²."""
    middle = mean(series)
    squares = math.fsum((value - middle) ** 2 for value in series)
    if not squares:
        return math.nan
    return math.fsum((a - middle) * (b - middle) for a, b in itertools.pairwise(series)) / squares


def inflation(n: int, phi: float) -> float:
    """How many times larger the variance of a mean of n values of an AR(1) is than that of independent ones (Box &
    Jenkins, ch. 2): 1 + 2 Σ_{k<n} (1 − k/n) φ^k."""
    return 1 + 2 * math.fsum((1 - lag / n) * phi**lag for lag in range(1, n))
