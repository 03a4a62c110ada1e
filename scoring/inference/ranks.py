"""The ranks that kinds may truly have by their shares, such as "second, and first to fifth".

The order of a sample is never that of the next sample. Kind a is above kind b if the interval of the difference of
their shares over topics lies above 0, with one error probability for all pairs (Holm's method). The first place that a
kind may have is then one more than the number of kinds above it, and the last place is that many before the end as
kinds are below it. All ranges are simultaneous.

Source: M. Klein, T. Wright and J. Wieczorek, A joint confidence region for an overall ranking of populations, Journal
of the Royal Statistical Society C 69 (2020), 589-606.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt

from scoring.inference.differences import guarded_differences
from scoring.inference.interval import FEWEST
from scoring.statistics.exchange import holm_correction


def possible_ranks(
    shares: npt.ArrayLike, sizes: npt.ArrayLike | None = None, *, level: float = 0.95
) -> list[tuple[int, int]]:
    """Return the highest and the lowest rank that each kind may have among these kinds.

    `shares` (U, kinds) are sums over the topics of a unit of the topics' shares, and `sizes` (U,) the numbers of
    topics. With fewer than four units, every kind may have any place.
    """
    each = np.asarray(shares, dtype=np.float64)
    units, kinds = each.shape
    own = np.ones(units) if sizes is None else np.asarray(sizes, dtype=np.float64)
    pairs = list(combinations(range(kinds), 2))
    above, below = np.zeros(kinds, dtype=int), np.zeros(kinds, dtype=int)
    if units >= FEWEST and pairs:
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        apart = each[:, first] - each[:, second]
        found = guarded_differences(apart, own[:, None], level=level, reach=1.0)
        for (one, other), p, value in zip(pairs, holm_correction(found.p.tolist()), apart.sum(axis=0), strict=True):
            if p <= 1 - level + _SAME:
                higher, lower = (one, other) if value > 0 else (other, one)
                above[lower] += 1
                below[higher] += 1
    return [(int(over) + 1, kinds - int(under)) for over, under in zip(above, below, strict=True)]


_SAME = 1e-12  # rounding of a p
