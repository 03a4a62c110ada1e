"""How unequal counts are: entropy, Gini's index and the largest share, of the given counts.

All three describe a sample. For few citations of many domains, entropy is too low, the largest share is too high, and
Gini's index depends on the number of observed domains, so they do not estimate the values of a larger sample:
`scoring.inference.same_kind` has the index that is. They have no interval.
"""

import math

import numpy as np
import numpy.typing as npt


def entropy(counts: npt.ArrayLike) -> float:
    """Return Shannon's entropy -Σ p·log2(p) of positive counts, in bits, from 0; NaN without counts."""
    shares = _shares(counts)
    return float(-(shares * np.log2(shares)).sum()) + 0.0 if len(shares) else math.nan


def gini(counts: npt.ArrayLike) -> float:
    """Return Gini's index Σ (2i - n - 1)·x_i / (n·Σ x) of n positive counts in ascending order, in [0, 1); NaN without
    counts. It is 0 if all counts are equal."""
    shares = np.sort(_shares(counts))
    n = len(shares)
    return float(((2 * np.arange(1, n + 1) - n - 1) * shares).sum() / n) + 0.0 if n else math.nan


def _shares(counts: npt.ArrayLike) -> npt.NDArray[np.float64]:
    each = np.asarray(counts, dtype=np.float64)
    each = each[each > 0]
    return each / each.sum() if len(each) else each
