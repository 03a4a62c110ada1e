"""Bounds of a turn's DistrSim if the groups of some entities are unknown.

A relevant entity of an unknown group counts as evenly spread over the groups. If the gold distribution is even too,
that looks fair. The bounds are DistrSim with the unknown entities spread in the worst way, and in the best.

Worst: all of them in one group, because a divergence is convex. Best: the distribution nearest to the gold one that
agrees with what is known, which has a closed form for each divergence that GF uses.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scoring.divergences import DIVERGENCES, distr_sim

Floats = npt.NDArray[np.float64]


def similarity_bounds(known: npt.ArrayLike, gold: npt.ArrayLike, divergence: str) -> tuple[Floats, Floats]:
    """(...) worst and (...) best DistrSim in [0, 1] over all distributions that are at least `known` in every group.

    known: (..., C) what the entities of known groups add to the achieved distribution; each row sums to their share, at
    most 1. gold: (C,). divergence: `JSD`, `RNOD` or `NMD`. If nothing is unknown, both bounds are DistrSim itself.
    """
    rows, wanted = np.asarray(known, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    least = rows.reshape(-1, rows.shape[-1])
    free = np.maximum(0.0, 1.0 - least.sum(axis=1, keepdims=True))
    corners = least[:, None, :] + free[:, :, None] * np.eye(least.shape[1])
    nearest = _NEAREST[divergence](least, wanted, free)
    spread = np.maximum(nearest - least, 0.0)
    sums = spread.sum(axis=1, keepdims=True)
    moved = least + spread * np.divide(free, sums, out=np.zeros_like(free), where=sums > 0)
    nearest = np.where(sums > 0, moved, nearest)  # rounding in the search must not change known shares
    worst = distr_sim(corners, wanted, DIVERGENCES[divergence]).min(axis=1)
    best = distr_sim(nearest / nearest.sum(axis=1, keepdims=True), wanted, DIVERGENCES[divergence])
    return worst.reshape(rows.shape[:-1]), np.maximum(worst, best).reshape(rows.shape[:-1])


def _by_ratio(least: Floats, gold: Floats, free: Floats) -> Floats:
    """JSD grows with p/q in each group: p = max(known, level·gold)."""
    return _level_rows(lambda level: np.maximum(least, level * gold), np.zeros_like(free), np.ones_like(free))


def _by_weight(least: Floats, gold: Floats, free: Floats) -> Floats:
    """OD is a sum of w·(p - q)², w the mean distance of a group to the gold's: p = max(known, gold + level/w)."""
    places = np.arange(len(gold))
    weights = np.abs(places[:, None] - places)[gold > 0].mean(axis=0)
    weights = np.maximum(weights, 1e-9)
    lowest = np.full_like(free, -float((weights * gold).max()))
    return _level_rows(lambda level: np.maximum(least, gold + level / weights), lowest, np.zeros_like(free))


def _by_cumulation(least: Floats, gold: Floats, free: Floats) -> Floats:
    """NMD is the distance of cumulated sums, which may only grow: their isotonic regression by medians."""
    wanted = (np.cumsum(gold) - np.cumsum(least, axis=1))[:, :-1]
    grown = np.array([_grown(row) for row in wanted.tolist()]).reshape(wanted.shape)
    spread = np.concatenate([np.zeros_like(free), np.clip(grown, 0.0, free), free], axis=1)
    return least + np.diff(spread, axis=1)


def _grown(wanted: Sequence[float]) -> list[float]:
    blocks: list[list[float]] = []
    for value in wanted:
        blocks.append([value])
        while len(blocks) > 1 and median(blocks[-2]) > median(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return [median(block) for block in blocks for _ in block]


def _level_rows(filled: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return `filled(level)` for the level in [low, high] at which each row sums to 1; the sums grow with the level."""
    for _ in range(100):
        middle = (low + high) / 2
        between = middle != high  # else there is no number between the two
        if not between.any():
            break
        less = filled(middle).sum(axis=1, keepdims=True) < 1
        low, high = np.where(between & less, middle, low), np.where(between & ~less, middle, high)
    return filled(high)


_NEAREST: Mapping[str, Callable[[Floats, Floats, Floats], Floats]] = MappingProxyType(
    {"JSD": _by_ratio, "RNOD": _by_weight, "NMD": _by_cumulation}
)
