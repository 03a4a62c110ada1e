"""The chance that citations of two different topics are of the same kind (one domain, one owner): concentration.

Plug-in indices of few citations say that a system is more concentrated than it is: Σ s_d² of five citations is at least
1/5. Two citations of different topics are independent, so the share of such pairs that are of one kind is an unbiased
estimate of Σ π_d² (the index of Herfindahl and Hirschman, or Simpson's), whatever the number of citations, and however
often an answer repeats a source:

    value = Σ_{i≠j} p_i·p_j / (K(K - 1)),     p_i: shares of the kinds in topic i, the mean over its trials

1/value is the number of equally frequent kinds that would give this chance. The interval gives topics random weights
and adds part of a topic that was not asked (`scoring.inference.unseen_topic`). At the low end, its citations are of
kinds that no other topic has. At the high end, they are all of the kind that is the most frequent.

Sources: E. H. Simpson, Nature 163 (1949), 688; W. Hoeffding, Annals of Mathematical Statistics 19 (1948), 293-325 (a
mean over pairs of units); B. Efron and C. Stein, Annals of Statistics 9 (1981), 586-596.
"""

import math

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval, too_few_reason
from scoring.inference.unseen_topic import UNSEEN, fixed_weights, highest_low_end


def same_kind_chance(shares: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> float:
    """Return the chance that citations of two units are of one kind, in [0, 1]; NaN for fewer than two units.

    `shares` (U, kinds) are sums over the topics of a unit of the topics' shares. `sizes` (U,) are the numbers of
    topics, all 1 by default. Pairs are of topics from different units.
    """
    each = np.asarray(shares, dtype=np.float64)
    own = np.ones(len(each)) if sizes is None else np.asarray(sizes, dtype=np.float64)
    pairs = float(own.sum() ** 2 - np.square(own).sum())
    if not pairs > 0:
        return math.nan
    return float(np.square(each.sum(axis=0)).sum() - np.square(each).sum()) / pairs


def same_kind_interval(
    shares: npt.ArrayLike, sizes: npt.ArrayLike | None = None, *, level: float = 0.95, unit: str = "topic"
) -> Interval:
    """Return the interval of `same_kind_chance`; there is none on fewer than four units."""
    each = np.asarray(shares, dtype=np.float64)
    own = np.ones(len(each)) if sizes is None else np.asarray(sizes, dtype=np.float64)
    units = len(each)
    if units < FEWEST:
        return no_interval(too_few_reason(units, unit) if units else "no value")
    order = np.lexsort((*each.T[::-1], own))  # the order of topics must not matter
    each, own = each[order], own[order]
    weights = fixed_weights(units, UNSEEN)
    inside, unseen = weights[:-1], weights[-1] * own.max()
    alike = np.einsum("ik,jk->ij", each, each)
    np.fill_diagonal(alike, 0.0)
    common = np.einsum("ib,ib->b", inside, np.einsum("ij,jb->ib", alike, inside))
    whole = np.einsum("i,ib->b", own, inside)
    pairs = np.square(whole) - np.einsum("i,ib->b", np.square(own), np.square(inside))
    further = 2 * unseen * whole + np.square(unseen)
    frequent = each[:, int(np.argmax(each.sum(axis=0)))]
    likest = 2 * unseen * np.einsum("i,ib->b", frequent, inside) + np.square(unseen)
    tail = (1 - level) / 2
    low = float(np.quantile(common / (pairs + further), tail))
    high = min(1.0, float(np.quantile((common + likest) / (pairs + further), 1 - tail)))  # sums are rounded
    # If all topics agreed, another kind may still have had the share that an exact interval allows.
    low = min(low, highest_low_end(units, level) ** 2)
    return Interval(
        low,
        high,
        f"{METHOD} {unit}, over pairs",
        f"{unit}s",
        assumes=f"{unit}s are independent draws; one of a kind that was not asked may cite anything",
    )
