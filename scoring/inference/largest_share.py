"""The share of the most frequent kind, such as the domain with the most citations.

The kind with the largest share in a sample is often there by luck, so that its share is too high: of 200 equally
frequent domains, the largest of 45 citations has .05 and not .005. The figure is therefore the largest share of any
kind, max_d π_d, whichever kind that is, and its ends are made differently:

    high    the highest upper end of any kind's interval, also of one that was never seen. The kind that truly is the
            largest is one of them, and it was not chosen by the sample: no correction is needed.
    low     the highest lower end of any kind's interval, each with the error probability divided by the number of kinds
            that can be as large. At most 1/m kinds can have a share of m.

The lower end does not say which kind is the largest: intervals of differences do (`scoring.inference.ranks`).
"""

import math

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval, too_few_reason
from scoring.inference.unseen_topic import share_ends

# Kinds with the largest shares, of which the ends are computed: a smaller share has no higher end but if its topics are
# fewer and larger.
_CANDIDATES, _FIRST = 12, 4


def largest_share(
    shares: npt.ArrayLike, sizes: npt.ArrayLike | None = None, *, level: float = 0.95, unit: str = "topic"
) -> tuple[int, float, Interval]:
    """Return the column of the kind with the largest share here, its share here, and the interval of the largest share.

    `shares` (U, kinds) are sums over the topics of a unit of the topics' shares, which sum to at most 1 in each topic,
    and `sizes` (U,) the numbers of topics. The column is -1 and the share NaN if there is no kind. There is no interval
    on fewer than four units.
    """
    each = np.asarray(shares, dtype=np.float64)
    units, kinds = each.shape
    own = np.ones(units) if sizes is None else np.asarray(sizes, dtype=np.float64)
    if not kinds or not units:
        return -1, math.nan, no_interval("no value")
    means = each.sum(axis=0) / own.sum()
    best = int(np.argmax(means))
    value = float(means[best])
    if units < FEWEST:
        return best, value, no_interval(too_few_reason(units, unit))
    order = np.argsort(-means, kind="stable")[:_CANDIDATES]
    above = np.concatenate([each[:, order], np.zeros((units, 1))], axis=1)  # and a kind that was never seen
    below = np.broadcast_to(own[:, None], above.shape)
    high = float(share_ends(above, below, level)[1].max())
    few = slice(0, _FIRST)
    alike = min(kinds, math.ceil(1 / value))
    while True:  # the more kinds share the error probability, the lower the end, and the more kinds can be as large
        low = float(share_ends(above[:, few], below[:, few], 1 - (1 - level) / alike)[0].max())
        needed = min(kinds, math.ceil(1 / low)) if low > 0 else kinds
        if needed <= alike:
            break
        alike = needed
    assumes = f"{unit}s are independent draws; one of a kind that was not asked may cite anything"
    return best, value, Interval(low, high, f"{METHOD} {unit}, over all kinds", f"{unit}s", assumes=assumes)
