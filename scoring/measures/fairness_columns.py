"""GF of many conversations at once, equal to the last bit to the values computed by `scoring.fairness`.

For a single conversation numpy takes many times as long as the cached functions in `scoring.fairness`, which also
compute single turns, notes, and settings that are not `has_equal_turns`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.columns import Conversations
from scoring.divergences import DIVERGENCES, distribution_similarity
from scoring.fairness import divergence_names, similarity_bounds
from scoring.settings import Settings
from topics.arrays import Counts, Floats
from topics.attributes import AttributeSet

# A sum of shares this close to 1 is 1 to nine decimals, however its last bits were rounded.
_NEGLIGIBLE = 4e-10


@dataclass(frozen=True, slots=True)
class FairnessColumns:
    """GF for one attribute set and one divergence; all arrays are (conversations,), as in `scoring.fairness`."""

    divergence: str
    value: Floats
    worst: Floats
    best: Floats


def has_equal_turns(settings: Settings) -> bool:
    """Return whether all turns that count have equal weights and a relevant nugget. Other settings are rare and
    slower."""
    return settings.irrelevant != "uniform" and settings.turn_weight == "one"


def fairness_columns(
    many: Conversations, attribute: AttributeSet, settings: Settings, *, cumulative: bool = False
) -> tuple[FairnessColumns, ...]:
    """Return `group_fairness` of many conversations by each divergence of the attribute set. The settings must be
    `has_equal_turns`."""
    slots = _Slots.from_columns(many)
    shares, sure = many.memberships(attribute.name), ~many.has_unknown_group(attribute.name)
    here, count = slots.sum_nuggets(shares), slots.count.astype(np.float64)
    known = here if sure.all() else slots.sum_nuggets(shares, sure)
    if cumulative:
        count = slots.cumulate_turns(count[:, None])[:, 0]
        whole = slots.cumulate_turns(here)
        here, known = whole, whole if known is here else slots.cumulate_turns(known)
    achieved, certain = here / count[:, None], known / count[:, None]
    # The groups of some entities are unknown in rows whose sum differs from 1 in nine decimals.
    near = np.flatnonzero(np.abs(1.0 - certain.sum(axis=1)) > _NEGLIGIBLE)
    below = [round(1.0 - math.fsum(row), 9) != 0 for row in certain[near].tolist()]
    unsure: Counts = near[np.array(below, dtype=bool)]
    rows, which = np.unique(certain[unsure], axis=0, return_inverse=True)
    found = []
    for name in divergence_names(attribute, settings):
        similar = distribution_similarity(achieved, attribute.gold, DIVERGENCES[name]) if len(achieved) else np.zeros(0)
        value = slots.mean_by_conversation(similar)
        worst = best = value
        if len(unsure):
            least, most = similar.copy(), similar.copy()
            lows, highs = similarity_bounds(rows, attribute.gold, name)
            least[unsure], most[unsure] = lows[which.ravel()], highs[which.ravel()]
            worst, best = slots.mean_by_conversation(least), slots.mean_by_conversation(most)
        found.append(FairnessColumns(name, value, worst, best))
    return tuple(found)


def combine_columns(values: Mapping[str, Floats], weights: Mapping[str, float], n: int) -> Floats:
    """Return the (n,) weighted means over attribute sets, equal to `combine` for each conversation."""
    scale = [weights.get(name, 1.0) for name in values]
    whole = math.fsum(scale)
    if whole <= 0:
        return np.full(n, math.nan)
    parts = [weight * one for weight, one in zip(scale, values.values(), strict=True)]
    if len(parts) <= 2:  # the sum of two numbers is rounded once
        sums: Floats = parts[0] + parts[1] if len(parts) == 2 else parts[0]
    else:
        sums = np.array([math.fsum(each) for each in zip(*(part.tolist() for part in parts), strict=True)])
    return sums / whole


@dataclass(frozen=True, slots=True)
class _Slots:
    """The turns with a relevant nugget, ordered by conversation. `slot` has each nugget's turn, and `count` (turns,)
    is the number of nuggets. `sizes` (n,) and `starts` (n,) locate the turns of each conversation."""

    slot: Counts
    count: Counts
    sizes: Counts
    starts: Counts

    @classmethod
    def from_columns(cls, many: Conversations) -> "_Slots":
        return many.compute_once("turns that count", lambda: cls._build(many))

    @classmethod
    def _build(cls, many: Conversations) -> "_Slots":
        first = np.ones(len(many.of), dtype=bool)
        first[1:] = (many.of[1:] != many.of[:-1]) | (many.turn[1:] != many.turn[:-1])
        slot = np.cumsum(first) - 1
        sizes = np.bincount(many.of[first], minlength=len(many))
        return cls(slot, np.bincount(slot, minlength=0), sizes, np.cumsum(sizes) - sizes)

    def sum_nuggets(self, shares: Floats, only: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Return (turns, groups) sums over all or selected nuggets, added one after the other."""
        slot = self.slot if only is None else self.slot[only]
        rows = shares if only is None else shares[only]
        each = [np.bincount(slot, weights=column, minlength=len(self.count)) for column in rows.T]
        return np.stack(each, axis=1)

    def cumulate_turns(self, rows: Floats) -> Floats:
        """Return (turns, columns) cumulative sums over the turns of each conversation, added one after the other."""
        found = rows.copy()
        place = np.arange(len(rows)) - np.repeat(self.starts, self.sizes)
        for further in range(1, int(place.max(initial=0)) + 1):
            here = np.flatnonzero(place == further)
            found[here] = found[here - 1] + found[here]
        return found

    def mean_by_conversation(self, values: Floats) -> Floats:
        found = np.zeros(len(self.sizes))
        one, two, more = self.sizes == 1, self.sizes == 2, np.flatnonzero(self.sizes > 2)
        found[one] = values[self.starts[one]]
        found[two] = (values[self.starts[two]] + values[self.starts[two] + 1]) / 2.0  # rounded once, as by `fsum`
        for at, start, size in zip(more.tolist(), self.starts[more].tolist(), self.sizes[more].tolist(), strict=True):
            found[at] = math.fsum(values[start : start + size].tolist()) / size
        return found
