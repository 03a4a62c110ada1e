"""Sums of consecutive groups of numbers, equal to `math.fsum` to the last bit, at the speed of numpy.

Each number is split into a multiple of 2⁻²⁶, whose sum is exact, and a rest of at most 2⁻²⁷, whose sum has an error of
at most n² · 2⁻⁸⁰. A group is summed by `math.fsum` only if that error can change the rounding of its sum.
"""

import math

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats

# The largest group that is summed this way; larger ones use `math.fsum`.
MOST = 2**20
_CUT = 1.5 * 2.0**26  # a number of [0, 1] added to it is rounded to a multiple of 2⁻²⁶


def exact_sums(values: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Return the (groups,) sums of the groups, exactly rounded; 0 for an empty group. `values` is (n,) in [0, 1], group
    after group. `counts` is (groups,), the sizes of the groups, which add up to n."""
    found = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    if not len(filled):
        return found
    counts = counts[filled]
    ends = np.cumsum(counts)
    begins = ends - counts
    upper = values + _CUT
    upper -= _CUT
    above = np.add.reduceat(upper, begins)
    below = np.add.reduceat(np.subtract(values, upper, out=upper), begins)
    sums = above + below
    part = sums - above
    rest = (above - (sums - part)) + (below - part)  # above + below - sums, exactly
    doubt = np.square(counts, dtype=np.float64) * 2.0**-78  # four times the bound: `rest ± doubt` is rounded as well
    sure = (sums + (rest - doubt) == sums) & (sums + (rest + doubt) == sums) & (counts <= MOST)
    sure |= sums == 0  # all zeros
    for group in np.flatnonzero(~sure):
        sums[group] = math.fsum(values[begins[group] : ends[group]].tolist())
    found[filled] = sums
    return found
