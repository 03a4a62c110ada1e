"""WAN and SWAN: weighted averages of scores over items, and of criteria over a schema ([SWAN] Eq. 1 and 2).

Eq. 2 is printed with U in the denominator, but U^c is meant: an average over U^c is divided by the weights in U^c.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.exact_sums import exact_sums
from scoring.swan.item import ScoredItem
from scoring.swan.weighting import Places, Weighting
from topics.arrays import Floats

_OUTSIDE_RANGE = "a score for {} is {!r}, which is not in [0, 1]"
_ITEMS_AT_ONCE = 2**16  # items that fit the processor's cache; fewer would need many small steps


@dataclass(frozen=True, slots=True)
class Wan:
    """WAN^c over the `n` scored of all `items`: `numerator` is the sum of NW·S and `denominator` the sum of NW."""

    criterion: str
    numerator: float
    denominator: float
    n: int
    items: int

    @property
    def value(self) -> float:
        """The weighted mean in [0, 1], where 1 is good, or NaN if the weights of the scored items sum to 0."""
        if self.denominator <= 0:
            return math.nan
        return min(1.0, max(0.0, self.numerator / self.denominator))


@dataclass(frozen=True, slots=True)
class Swan:
    """SWAN, in [0, 1], with the WANs of all requested criteria, or NaN if no criterion is defined. `covered` are the
    criteria in the value, and `undefined` are the criteria without a WAN. Criteria of weight 0 are in neither. `n` is
    the number of scored items of the covered criteria."""

    value: float
    wans: Mapping[str, Wan]
    covered: tuple[str, ...]
    undefined: tuple[str, ...]
    n: int


@dataclass(frozen=True, slots=True)
class SessionMean:
    """A mean over the `n` conversations with a defined value. The mean is NaN for n = 0."""

    value: float
    n: int


def wan(scored: Sequence[ScoredItem], criterion: str, weighting: Weighting, *, items: int | None = None) -> Wan:
    """Return WAN^c(U^c), Eq. 2, where U^c are the `scored` items, in any order. The number of `items` includes items
    without a score. Raises ValueError for a score outside [0, 1]."""
    own = weighting.weights(Places.from_items([one.item for one in scored])).tolist()
    weights = [weight * one.share for weight, one in zip(own, scored, strict=True)]
    for one in scored:
        if not 0 <= one.value <= 1:
            raise ValueError(_OUTSIDE_RANGE.format(criterion, one.value))
    return Wan(
        criterion,
        math.fsum(weight * one.value for weight, one in zip(weights, scored, strict=True)),
        math.fsum(weights),
        len(scored),
        len(scored) if items is None else items,
    )


def wans(
    conversations: Sequence[Sequence[ScoredItem]], criterion: str, weighting: Weighting, items: Sequence[int]
) -> list[Wan]:
    """Return `wan` for each of many conversations, equal to the last bit. Scores outside [0, 1] raise ValueError."""
    flat = [one for scored in conversations for one in scored]
    counts = np.array([len(scored) for scored in conversations], dtype=np.int64)
    values = np.array([one.value for one in flat], dtype=np.float64)
    for value in values[~((values >= 0) & (values <= 1))][:1].tolist():
        raise ValueError(_OUTSIDE_RANGE.format(criterion, value))
    shares = np.array([one.share for one in flat], dtype=np.float64)
    above, below = weighted_sums(
        counts, Places.from_items([one.item for one in flat]), values, weighting, shares=shares
    )
    columns = zip(above.tolist(), below.tolist(), counts.tolist(), items, strict=True)
    return [Wan(criterion, top, bottom, n, asked) for top, bottom, n, asked in columns]


def weighted_sums(
    counts: npt.NDArray[np.int64], places: Places, values: Floats, weighting: Weighting, *, shares: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the exactly rounded numerators (conversations,) and denominators (conversations,) of Eq. 2. Both are 0
    without items. `counts` (conversations,) is the number of items of each conversation. `places` and `values` (in
    [0, 1]) describe n items, ordered by conversation. `shares` (n,) are factors of the weights in (0, 1], or None for
    1."""
    above, below = np.empty(len(counts)), np.empty(len(counts))
    ends = np.concatenate([[0], np.cumsum(counts)])
    first = 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _ITEMS_AT_ONCE, side="right")) - 1)
        part = slice(ends[first], ends[last])
        weights = weighting.weights(places[part])
        if shares is not None:
            weights = weights * shares[part]
        above[first:last] = exact_sums(weights * values[part], counts[first:last])
        below[first:last] = exact_sums(weights, counts[first:last])
        first = last
    return above, below


def pool_wans(wans: Iterable[Wan]) -> Wan:
    """Apply Eq. 2 to all items of several conversations, so that long conversations weigh more. Raises ValueError if
    there is no WAN, or if the WANs are of several criteria."""
    parts = tuple(wans)
    names = {part.criterion for part in parts}
    if len(names) != 1:
        raise ValueError(f"only items of one criterion can be pooled, not of {', '.join(sorted(names)) or 'none'}")
    return Wan(
        parts[0].criterion,
        math.fsum(part.numerator for part in parts),
        math.fsum(part.denominator for part in parts),
        sum(part.n for part in parts),
        sum(part.items for part in parts),
    )


def mean_per_session(values: Iterable[float]) -> SessionMean:
    """Return the unweighted mean of the defined values, one per conversation. Without defined values it is NaN with n
    = 0."""
    known = [value for value in values if not math.isnan(value)]
    return SessionMean(math.fsum(known) / len(known) if known else math.nan, len(known))


def swan(wans: Mapping[str, Wan], weights: Mapping[str, float]) -> Swan:
    """Return Eq. 1: the sum of CW·WAN over the sum of CW, for the criteria with a defined WAN. The default weight is
    1. Raises ValueError for a weight that is negative or not finite."""
    asked = {name: weights.get(name, 1.0) for name in wans}
    wrong = [name for name, weight in asked.items() if not (weight >= 0 and math.isfinite(weight))]
    if wrong:
        raise ValueError(f"these criteria have negative or infinite weights: {', '.join(wrong)}")
    counted = [name for name, weight in asked.items() if weight > 0]
    covered = tuple(name for name in counted if not math.isnan(wans[name].value))
    whole = math.fsum(asked[name] for name in covered)
    value = math.fsum(asked[name] * wans[name].value for name in covered) / whole if covered else math.nan
    if covered:
        value = min(1.0, max(0.0, value))
    undefined = tuple(name for name in counted if name not in covered)
    return Swan(value, dict(wans), covered, undefined, sum(wans[name].n for name in covered))
