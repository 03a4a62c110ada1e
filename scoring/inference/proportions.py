"""Intervals for k successes in n independent trials: Wilson, Jeffreys and exact (Clopper-Pearson).

Each function takes `successes` from 0 to n, `n` from 0, and the confidence `level` in (0, 1). The arrays broadcast, and
`successes` and `n` may be fractions, for averages over unequal parts. The results are arrays of the low and of the high
end, in [0, 1], NaN if n is 0. Values outside these ranges raise ValueError.
"""

import math

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import beta_quantile, normal_quantile
from topics.arrays import Floats

# The exact interval is printed for fewer answers: with one answer Wilson's misses a rate of .2 in one case of five.
FEW = 4


def wilson_ends(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return Wilson's score interval: the rates p with |k/n - p| <= z·sqrt(p(1-p)/n).

    On average over p the interval covers its level. If p is close to 0 or 1, the coverage can be a few points lower.
    """
    k, n = _counts(successes, n, level)
    z = normal_quantile(0.5 + level / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = k / n
        centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # The formula gives exactly 0 and 1 at the ends; rounding does not.
    return _close_ends(k, n, np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1))


def jeffreys_ends(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return Jeffreys' interval: the middle `level` of Beta(k + 1/2, n - k + 1/2).

    The low end is 0 for k = 0, and the high end is 1 for k = n.
    """
    k, n = _counts(successes, n, level)
    tail = (1 - level) / 2
    return _close_ends(k, n, beta_quantile(tail, k + 0.5, n - k + 0.5), beta_quantile(1 - tail, k + 0.5, n - k + 0.5))


def clopper_pearson_ends(successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the exact interval, which covers at least `level` at every rate and is therefore wide."""
    k, n = _counts(successes, n, level)
    tail = (1 - level) / 2
    some, rest = np.maximum(k, _ALMOST_NONE), np.maximum(n - k, _ALMOST_NONE)
    return _close_ends(k, n, beta_quantile(tail, some, rest + 1), beta_quantile(1 - tail, some + 1, rest))


def highest_rate_without_events(n: int, level: float = 0.95) -> float:
    """Return 1 - (1 - level)^(1/n), the upper bound on the rate of an event not seen in n trials; NaN for n = 0."""
    if n < 0 or not 0 < level < 1:
        raise ValueError("n must be at least 0, and the level inside (0, 1)")
    return -math.expm1(math.log1p(-level) / n) if n else math.nan


_ALMOST_NONE = 1e-9  # a beta parameter must be above 0; the end it would give is closed by `_close_ends`


def _counts(successes: npt.ArrayLike, n: npt.ArrayLike, level: float) -> tuple[Floats, Floats]:
    k, total = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64))
    if not 0 < level < 1:
        raise ValueError(f"level must be inside (0, 1), not {level}")
    if not (np.all(np.isfinite(total)) and np.all((k >= 0) & (k <= total))):
        raise ValueError("successes must lie between 0 and n, and n must be finite")
    return k, total


def _close_ends(k: Floats, n: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    low = np.where(k == 0, 0.0, low)
    high = np.where(k == n, 1.0, high)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
