"""Exact tests of 2×2 tables: within strata, with the estimates of Mantel and Haenszel, and of a single table.

Each stratum s has n_s cases; a_s of the cases are exposed and m_s have the outcome. Given these margins, if exposure
does not matter, the number of exposed cases with the outcome is hypergeometric, independently over strata. The
statistic is the sum of these numbers. Its distribution is the convolution over strata, which infinitely many
permutations of outcomes within strata would also give. The outcome may be common in some strata and rare in others, so
a difference between easy and hard topics does not look like an effect.

Source: N. Mantel and W. Haenszel, J. Natl. Cancer Inst. 22 (1959), 719-748, for the pooled odds ratio and the normal
approximation; S. Greenland and J. M. Robins, Biometrics 41 (1985), 55-68, for the pooled difference.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import normal_cdf
from topics.arrays import Counts, Floats

_MOST = 3 * 10**8  # multiplications of a convolution: a second or so
_TIE = 1e-7  # relative: outcomes as likely as the observed one are as extreme, whatever rounding says


@dataclass(frozen=True, slots=True)
class StratifiedTest:
    """The result of the test. All p are in [0, 1], or NaN if no stratum is informative.

    - `p`: two-sided, over outcomes at most as likely as the observed outcome.
    - `more`: one-sided; the outcome is more frequent among the exposed. `fewer`: the outcome is less frequent.
    - `middle`: the mid-p of `more`, P(more than observed) + P(as many)/2. Without an effect it is uniform on [0, 1]
      except for the discreteness of counts, and its mean is exactly 1/2 (H. O. Lancaster, JASA 56 (1961), 223-234).
    - `difference`: pooled P(outcome|exposed) - P(outcome|not), in [-1, 1].
    - `odds_ratio`: pooled, in [0, inf]; NaN for 0/0.
    - `strata`: the number of informative strata, which have exposed and unexposed cases, and both outcomes. `n`: the
      number of cases in these strata.
    - `method`: `exact conditional`, or `Mantel-Haenszel, normal` for very large tables.

    Without an effect, the exact p-values are at most .05 in at most 5% of cases, and mostly in far fewer, because
    counts are discrete. `middle` is less conservative.
    """

    p: float
    more: float
    fewer: float
    middle: float
    difference: float
    odds_ratio: float
    n: int
    strata: int
    method: str


def compare_within(
    both: npt.ArrayLike,
    exposed: npt.ArrayLike,
    outcomes: npt.ArrayLike,
    cases: npt.ArrayLike,
    *,
    most: float = _MOST,
) -> StratifiedTest:
    """Test and estimate the association within S strata.

    `both` is (S,), the exposed cases with the outcome; `exposed`, `outcomes` and `cases` are (S,) totals. Estimates are
    over all strata with exposed and unexposed cases. The test is exact if it takes at most `most` multiplications.
    Raises ValueError for counts that cannot be a 2×2 table.
    """
    k, a, m, n = (np.atleast_1d(np.asarray(part, dtype=np.int64)) for part in (both, exposed, outcomes, cases))
    if not k.shape == a.shape == m.shape == n.shape or k.ndim != 1:
        raise ValueError("each stratum needs four counts")
    if np.any(k < np.maximum(0, a + m - n)) or np.any(k > np.minimum(a, m)) or np.any(a > n) or np.any(m > n):
        raise ValueError("the counts of a stratum do not form a 2×2 table")
    difference, odds_ratio = _estimates(k, a, m, n)
    telling = (a > 0) & (a < n) & (m > 0) & (m < n)
    k, a, m, n = k[telling], a[telling], m[telling], n[telling]
    if not k.size:
        nothing = (math.nan, math.nan, math.nan, math.nan)
        return StratifiedTest(*nothing, difference, odds_ratio, 0, 0, "")
    low, high = np.maximum(0, a + m - n), np.minimum(a, m)
    sizes = high - low + 1
    if float((np.cumsum(sizes) * sizes).sum()) <= most:
        chances = _test_exactly(k, a, m, n, low, high)
        method = "exact conditional"
    else:
        chances = _test_approximately(k, a, m, n)
        method = "Mantel-Haenszel, normal"
    return StratifiedTest(*chances, difference, odds_ratio, int(n.sum()), len(k), method)


def _estimates(k: Counts, a: Counts, m: Counts, n: Counts) -> tuple[float, float]:
    both_kinds = (a > 0) & (a < n)
    hits, exposed, marked, cases = (part[both_kinds].astype(np.float64) for part in (k, a, m, n))
    if not hits.size:
        return math.nan, math.nan
    other, missed = cases - exposed, marked - hits
    weight = exposed * other / cases
    difference = float((weight * (hits / exposed - missed / other)).sum() / weight.sum())
    above = float((hits * (other - missed) / cases).sum())
    below = float(((exposed - hits) * missed / cases).sum())
    if below > 0:
        return difference, above / below
    return difference, math.inf if above > 0 else math.nan


def _test_exactly(
    k: Counts, a: Counts, m: Counts, n: Counts, low: Counts, high: Counts
) -> tuple[float, float, float, float]:
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, int(n.max()) + 1)))))

    def choose(total: int, some: Counts) -> Floats:
        found: Floats = logs[total] - logs[some] - logs[total - some]
        return found

    law = np.ones(1)
    for first, last, exposed, marked, total in zip(
        low.tolist(), high.tolist(), a.tolist(), m.tolist(), n.tolist(), strict=True
    ):
        support = np.arange(first, last + 1)
        weights = choose(exposed, support) + choose(total - exposed, marked - support)
        chances = np.exp(weights - weights.max())
        law = np.convolve(law, chances / chances.sum())
    law /= law.sum()
    place = int((k - low).sum())
    p = float(law[law <= law[place] * (1 + _TIE)].sum())
    more, fewer = float(law[place:].sum()), float(law[: place + 1].sum())
    middle = float(law[place + 1 :].sum() + law[place] / 2)
    return min(p, 1.0), min(more, 1.0), min(fewer, 1.0), middle


def _test_approximately(k: Counts, a: Counts, m: Counts, n: Counts) -> tuple[float, float, float, float]:
    exposed, marked, cases = (part.astype(np.float64) for part in (a, m, n))  # products of counts leave int64
    expected = float((exposed * marked / cases).sum())
    free = exposed * (cases - exposed) / cases * marked * (cases - marked) / cases
    spread = math.sqrt(float((free / (cases - 1)).sum()))
    beyond = float(k.sum()) - expected
    more, fewer = normal_cdf(-(beyond - 0.5) / spread), normal_cdf((beyond + 0.5) / spread)
    middle = (more + normal_cdf(-(beyond + 0.5) / spread)) / 2
    return min(1.0, 2 * min(more, fewer)), more, fewer, middle


def fisher_exact(both: int, first: int, second: int, neither: int) -> float:
    """Return the one-sided p: the probability of at least `both` if the two properties are independent.

    This is R. A. Fisher's exact test (1935), the tail of the hypergeometric distribution given all four margins. p is 1
    if a margin is 0. Raises ValueError for a negative count.
    """
    if min(both, first, second, neither) < 0:
        raise ValueError(f"counts must be at least 0, not {(both, first, second, neither)}")
    row, column, whole = both + first, both + second, both + first + second + neither
    tail = (_count_ways(row, k) + _count_ways(whole - row, column - k) for k in range(both, min(row, column) + 1))
    return min(1.0, sum(math.exp(ways - _count_ways(whole, column)) for ways in tail))


def _count_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
