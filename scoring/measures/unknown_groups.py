"""What entities of an unknown group could make of a turn's fairness: the bounds of DistrSim.

A relevant entity of an unknown group counts as evenly spread over the groups. If the gold distribution is even too,
that looks fair. So the bounds say what DistrSim would be if the unknown entities were spread in the worst way, and in
the best.

Worst: all of them in one group, because a divergence is convex. Best: the distribution nearest to the gold one that
still holds what is known, which has a closed form for each divergence that GF uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scoring.divergences import DIVERGENCES, distr_sim

__all__ = ["similarity_bounds"]

Floats = npt.NDArray[np.float64]


def similarity_bounds(known: npt.ArrayLike, gold: npt.ArrayLike, divergence: str) -> tuple[float, float]:
    """(worst, best) DistrSim in [0, 1] over all distributions that are at least `known` in every group.

    known: (C,) what the entities of known groups add to the achieved distribution; it sums to their share, at most 1.
    gold: (C,). divergence: `JSD`, `RNOD` or `NMD`. Both are DistrSim itself where nothing is unknown.
    """
    least, wanted = np.asarray(known, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    free = max(0.0, 1.0 - float(least.sum()))
    corners = least + free * np.eye(len(least))
    nearest = _NEAREST[divergence](least, wanted, free)
    spread = np.maximum(nearest - least, 0.0)
    if spread.sum() > 0:  # rounding of the search must not move what is known
        nearest = least + spread * (free / spread.sum())
    worst = float(distr_sim(corners, wanted, DIVERGENCES[divergence]).min())
    best = float(distr_sim(nearest / nearest.sum(), wanted, DIVERGENCES[divergence]))
    return worst, max(worst, best)


def _by_ratio(least: Floats, gold: Floats, free: float) -> Floats:
    """JSD grows with p/q in each group: p = max(known, level·gold)."""
    return _levelled(lambda level: np.maximum(least, level * gold), 0.0, 1.0)


def _by_weight(least: Floats, gold: Floats, free: float) -> Floats:
    """OD is a sum of w·(p - q)², w the mean distance of a group to the gold's: p = max(known, gold + level/w)."""
    places = np.arange(len(gold))
    weights = np.abs(places[:, None] - places)[gold > 0].mean(axis=0)
    weights = np.maximum(weights, 1e-9)
    return _levelled(lambda level: np.maximum(least, gold + level / weights), -float((weights * gold).max()), 0.0)


def _by_cumulation(least: Floats, gold: Floats, free: float) -> Floats:
    """NMD is the distance of cumulated sums, which may only grow: their isotonic regression by medians."""
    wanted = (np.cumsum(gold) - np.cumsum(least))[:-1]
    blocks: list[list[float]] = []
    for value in wanted.tolist():
        blocks.append([value])
        while len(blocks) > 1 and np.median(blocks[-2]) > np.median(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    grown = [float(np.median(block)) for block in blocks for _ in block]
    spread = np.concatenate(([0.0], np.clip(grown, 0.0, free), [free]))
    return least + np.diff(spread)


def _levelled(filled: Callable[[float], Floats], low: float, high: float) -> Floats:
    """`filled` at the level at which it sums to 1, which it does somewhere from `low` to `high`, growing."""
    for _ in range(100):
        middle = (low + high) / 2
        if middle == high:  # no number lies between the two
            break
        if filled(middle).sum() < 1:
            low = middle
        else:
            high = middle
    return filled(high)


_NEAREST: Mapping[str, Callable[[Floats, Floats, float], Floats]] = MappingProxyType(
    {"JSD": _by_ratio, "RNOD": _by_weight, "NMD": _by_cumulation}
)
