"""Sums of consecutive groups of numbers, to the last bit those of `math.fsum`, at the pace of numpy.

Each number is cut in two: multiples of 2⁻²⁶, whose sum is exact, and a rest of at most 2⁻²⁷, whose sum is wrong by at
most n² · 2⁻⁸⁰. Where that can change how the whole is rounded, and only there, `math.fsum` adds up the group itself.
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
# Numbers in a group that may be added up like this; a larger group is left to `math.fsum`.
MOST = 2**20
_CUT = 1.5 * 2.0**26  # a number of [0, 1] added to it is rounded to a multiple of 2⁻²⁶


def exact_sums(values: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """(groups,) the sum of each group, exactly rounded, 0 of an empty one.

    values: (n,) in [0, 1], group after group. counts: (groups,) how many belong to each; they sum to n.
    """
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
    sure |= sums == 0  # nothing but zeros
    for group in np.flatnonzero(~sure):
        sums[group] = math.fsum(values[begins[group] : ends[group]].tolist())
    found[filled] = sums
    return found
