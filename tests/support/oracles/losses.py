"""What can be said of a mean if some values were lost, whatever they were."""

import math
from collections.abc import Sequence

from scipy import stats

from tests.support.oracles.means import mean
from tests.support.oracles.shares import Pair, bisected


def bounds(values: Sequence[float], ends: Pair) -> Pair:
    """The worst and best mean if each NaN was at an end of the measure (Manski, American Economic Review 80, 1990;
    Horowitz & Manski, J. Econometrics 84, 1998)."""
    return (
        mean([ends[0] if math.isnan(value) else value for value in values]),
        mean([ends[1] if math.isnan(value) else value for value in values]),
    )


def difference_bounds(one: Sequence[float], other: Sequence[float], ends: Pair) -> Pair:
    """The smallest and largest difference of means (Manski 1990): one side's worst against the other's best."""
    (low, high), (other_low, other_high) = bounds(one, ends), bounds(other, ends)
    return low - other_high, high - other_low


def imbens_manski(low: Pair, high: Pair, level: float = 0.95) -> Pair:
    """An interval that holds the true value, wherever it is between two bounds, with this probability (Imbens &
    Manski, Econometrica 72, 2004). low, high: (estimate, standard error) of each bound.

    C solves Φ(C + Δ/max(σ_l, σ_u)) − Φ(−C) = level."""
    width, largest = high[0] - low[0], max(low[1], high[1])

    def covered(c: float) -> float:
        return float(stats.norm.cdf(c + (width / largest if largest else 0.0)) - stats.norm.cdf(-c))

    c = bisected(covered, level, 0.0, 10.0)
    return low[0] - c * low[1], high[0] + c * high[1]
