"""The similarity of two lists: Jaccard's index of their items, and rank-biased overlap of their order.

Rank-biased overlap (RBO) compares the first d items of both lists at every depth d, and counts depth d with weight (1 -
p)·p^(d-1). A list may be longer than its observed part, so that only bounds are certain, and `value` extrapolates the
observed agreement:

    agreement at depth d     A_d = X_d/d,   X_d = Σ_e c_e(d)·c'_e(d)
    contribution of an item  c_e(d) = the chance that e is among the first d if ties are broken at random

Without ties, c is 0 or 1 and X_d is the number of common items. Items that were cited equally often are tied because
nothing distinguishes them, not because they are equal, so ties are averaged (RBO^a of Corsi and Urbano).

Sources: W. Webber, A. Moffat and J. Zobel, A similarity measure for indefinite rankings, ACM TOIS 28 (2010), article
20, equations 11, 30 and 32; M. Corsi and J. Urbano, The treatment of ties in rank-biased overlap, SIGIR 2024, 251-260.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

# How far readers go down a list: with .9, the first ten ranks have 86% of the weight (Webber et al., section 4.3).
PERSISTENCE = 0.9

# Groups of tied items, the best first.
Ranking = Sequence[Collection[Hashable]]

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RankOverlap:
    """The overlap of two lists: `least` and `most` are the bounds, whatever follows; NaN if a list is empty."""

    value: float
    least: float
    most: float

    @property
    def residual(self) -> float:
        """The part of the overlap that depends on unobserved items."""
        return self.most - self.least


def jaccard(one: Set[Hashable], other: Set[Hashable]) -> float:
    """Return the share of common items among all items of both sets; NaN if a set is empty."""
    return len(one & other) / len(one | other) if one and other else math.nan


def rank_by_count(counts: Mapping[Item, float]) -> list[list[Item]]:
    """Return the items with a positive count, the most frequent first; items with equal counts are tied."""
    groups: dict[float, list[Item]] = {}
    for item, count in counts.items():
        if count > 0:
            groups.setdefault(count, []).append(item)
    return [groups[count] for count in sorted(groups, reverse=True)]


def in_order(items: Sequence[Hashable]) -> Ranking:
    """Return a list without ties, each item at its first place."""
    return [(item,) for item in dict.fromkeys(items)]


def rank_overlap(one: Ranking, other: Ranking, p: float = PERSISTENCE) -> RankOverlap:
    """Return the rank-biased overlap of two lists of any length. `p` is the persistence, in (0, 1).

    Raises ValueError for another p, and if a list has an item twice.
    """
    if not 0 < p < 1:
        raise ValueError(f"the persistence must lie between 0 and 1, not {p}")
    first, second = _places(one), _places(other)
    short, long = (first, second) if len(first) <= len(second) else (second, first)
    s, deep = len(short), len(long)
    if not s:
        return RankOverlap(math.nan, math.nan, math.nan)
    common = [(short[item], long[item]) for item in short if item in long]
    rest = [span for item, span in long.items() if item not in short]
    seen = [sum(_contribution(a, d) * _contribution(b, d) for a, b in common) for d in range(1, deep + 1)]
    at_short, at_long = seen[s - 1] / s, seen[-1]
    value = least = most = 0.0
    for d in range(1, deep + 1):
        weight = p**d / d
        least += weight * seen[d - 1]
        value += weight * seen[d - 1]
        most += weight * seen[d - 1]
        if d > s:
            # The short list could go on with the long one's other items: with all of them, or as often as it did.
            there = [part for part in (_contribution(span, d) for span in rest) if part > 0]
            value += weight * (d - s) * at_short * (math.fsum(there) / len(there) if there else 0.0)
            most += weight * math.fsum(there[: d - s])
    log = -math.log1p(-p)
    heads = math.fsum(p**d / d for d in range(1, deep + 1))
    least += at_long * (log - heads)
    value += (at_long + (deep - s) * at_short) / deep * p ** (deep + 1) / (1 - p)
    # Beyond both lists every new item may be common, until all items of both are.
    whole = math.ceil(deep + s - at_long - _SAME)
    most += math.fsum((2 * d - deep - s + at_long) / d * p**d for d in range(deep + 1, whole + 1))
    most += p ** (max(deep, whole) + 1) / (1 - p)
    scale = (1 - p) / p
    return RankOverlap(*(min(1.0, max(0.0, scale * part)) for part in (value, least, most)))


_SAME = 1e-9  # rounding of a number of items


def _places(ranking: Ranking) -> dict[Hashable, tuple[int, int]]:
    """Return the first and the last place that each item may have."""
    found: dict[Hashable, tuple[int, int]] = {}
    before = 0
    for group in ranking:
        for item in group:
            if item in found:
                raise ValueError(f"{item!r} is in the list twice")
            found[item] = before + 1, before + len(group)
        before += len(group)
    return found


def _contribution(span: tuple[int, int], depth: int) -> float:
    first, last = span
    return min(1.0, max(0.0, (depth - first + 1) / (last - first + 1)))
