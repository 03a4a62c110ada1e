"""A permutation test of whole users: do the users of two sides behave alike, in several measures at once?

If both sides are users of one kind, it does not matter which user is called real and which simulated. Users, with all
their dialogues, are dealt to the two sides many times. p is the share of deals, including the observed one, in which a
measure is at least as large as observed. With strata, users are only dealt within their stratum. The test is exact for
any number of users if users are independent and all have equally many dialogues. If simulated users have one dialogue
each and people several, it tends to be conservative.

A verdict over several measures compares their smallest p with the smallest p of each deal. The verdict keeps the level
over all measures, and loses little power if measures are correlated.

Source: R. A. Fisher, The Design of Experiments, 1935; P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing,
1993, §2.3 (min-p); B. Phipson, G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010 (including the observed deal).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topics.arrays import Floats

# From the sums over the users of each side, (B, K) twice, to (B, M) measures, larger the further apart the sides are;
# NaN if nothing can be compared.
Statistic = Callable[[Floats, Floats], Floats]

_SAME = 1e-9  # sums in another order differ by rounding
_CELLS = 2**22  # of one batch of deals


@dataclass(frozen=True, slots=True)
class RelabellingTest:
    """The result of the test; all NaN if every stratum has users of one side only.

    `p` (M,) is the p of each measure, NaN without a value, and `together` the p of all measures together. `users` and
    `draws` are the numbers of users on each side and of deals.
    """

    p: tuple[float, ...]
    together: float
    users: tuple[int, int]
    draws: int


def compare_with_relabelled(
    first: Floats,
    second: Floats,
    statistic: Statistic,
    rng: np.random.Generator,
    *,
    strata: tuple[Sequence[str], Sequence[str]] | None = None,
    draws: int = 999,
) -> RelabellingTest:
    """Run the test on each user's sums of K quantities, (n, K) and (m, K), and on the strata of each side's users."""
    rows = np.concatenate([first, second])
    users = (len(first), len(second))
    names = [*strata[0], *strata[1]] if strata else [""] * len(rows)
    own = np.zeros(len(rows))
    own[: len(first)] = 1.0
    groups = [np.flatnonzero([name == one for name in names]) for one in sorted(set(names))]
    seen = statistic(own[None] @ rows, (1 - own)[None] @ rows)
    nothing = RelabellingTest((math.nan,) * seen.shape[1], math.nan, users, draws)
    if not any(0 < own[group].sum() < len(group) for group in groups):
        return nothing
    found = [seen]
    batch = max(1, _CELLS // rows.size)
    for start in range(0, draws, batch):
        labels = np.tile(own, (min(batch, draws - start), 1))
        for group in groups:
            labels[:, group] = rng.permuted(labels[:, group], axis=1)
        found.append(statistic(labels @ rows, (1 - labels) @ rows))
    values = np.concatenate(found)
    # A deal in which a measure has no value is counted as far apart, which is conservative.
    values = np.where(np.isnan(values), np.inf, values)
    known = ~np.isnan(seen[0])
    if not known.any():
        return nothing
    each = np.stack([_deal_shares(column) for column in values[:, known].T])
    p = np.full(seen.shape[1], np.nan)
    p[known] = each[:, 0]
    least = each.min(axis=0)
    return RelabellingTest(tuple(p.tolist()), float((least <= least[0] + _SAME).mean()), users, draws)


def _deal_shares(values: Floats) -> Floats:
    scale = np.abs(values[np.isfinite(values)]).max(initial=1.0)
    order = np.sort(values)
    found: Floats = (len(values) - np.searchsorted(order, values - _SAME * scale, side="left")) / len(values)
    return found
