"""Transition probabilities of a conversation tree, each with what is known of it.

    edge        k/n: k trials went on to the child, n came through its parent; Wilson's or Jeffreys' interval
    stop        trials that ended at the node / trials that came through it; the same interval
    unseen      probability that the next trial goes on from here in a way none did: branches seen once / n
                (`scoring.statistics.unseen`); stopping is no branch, and has its own probability

At each node the edge probabilities and the stop probability sum to 1: what was not seen has no share in them, which is
why the unseen mass is always shown beside them. The intervals take trials for independent. In a tree pooled over topics
they are not: `scoring.stochastic.chain` has intervals whose unit is the topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from scoring.statistics.proportions import jeffreys, wilson
from scoring.statistics.unseen import Unseen, unseen_mass
from scoring.stochastic.paths import reach
from scoring.stochastic.prefixes import checked
from topics.errors import InputError

__all__ = ["CountedTree", "IntervalName", "Transitions", "transitions", "unseen_paths"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
IntervalName = Literal["wilson", "jeffreys"]

_INTERVALS = {"wilson": wilson, "jeffreys": jeffreys}


class CountedTree(Protocol):
    """What is needed of `recordings.trees.tree.ConversationTree`; its docstring says what the arrays are."""

    @property
    def parent(self) -> npt.NDArray[np.int32]: ...
    @property
    def visits(self) -> npt.NDArray[np.int64]: ...
    @property
    def stops(self) -> npt.NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """Arrays over the N nodes of a tree; probabilities in [0, 1], NaN where nothing was observed.

    n: (N,) trials the edge into the node was estimated from, which are the visits of its parent; for the root all.
    probability, low, high: (N,) of that edge; the root is always reached: 1, with no interval (NaN).
    reach: (N,) product of the probabilities from the root. stop, stop_low, stop_high: (N,), from the node's own visits.
    branches: (N,) different children. unseen: (N,) mass beyond them, with its n, the node's own visits.
    level, interval: what `low` and `high` are.
    """

    n: Counts
    probability: Floats
    low: Floats
    high: Floats
    reach: Floats
    stop: Floats
    stop_low: Floats
    stop_high: Floats
    branches: Counts
    unseen: Unseen
    level: float
    interval: IntervalName


def transitions(tree: CountedTree, *, level: float = 0.95, interval: IntervalName = "wilson") -> Transitions:
    """All transition probabilities of a tree. level: confidence, from .5 to .9999.

    Raises InputError for a level or an interval that there is not, ValueError for counts that are no tree's.
    """
    if interval not in _INTERVALS:
        raise InputError(f"there is no interval {interval!r}", allowed=", ".join(_INTERVALS))
    if not 0.5 <= level <= 0.9999:
        raise InputError(f"{level} is no level of confidence", allowed="a number from 0.5 to 0.9999, for example 0.95")
    parent = checked(tree.parent)
    visits, stops = np.asarray(tree.visits, dtype=np.int64), np.asarray(tree.stops, dtype=np.int64)
    size = len(parent)
    onward = np.bincount(parent[1:], weights=visits[1:], minlength=size)
    if visits.shape != (size,) or stops.shape != (size,) or np.any(stops + onward != visits) or np.any(stops < 0):
        raise ValueError("at every node the visits must be the stops and the visits of the children together")
    bounds = _INTERVALS[interval]
    above = np.concatenate(([visits[0]], visits[parent[1:]]))
    with np.errstate(invalid="ignore"):
        edge, stop = visits / above, stops / visits
    low, high = _bounds(bounds, visits, above, level)
    low[0] = high[0] = np.nan
    stop_low, stop_high = _bounds(bounds, stops, visits, level)
    reached = reach(parent, np.where(np.arange(size) == 0, 1.0, edge)) if visits[0] else np.full(size, np.nan)
    branches, once, twice = (
        np.bincount(parent[1:][chosen], minlength=size)
        for chosen in (np.ones(size - 1, dtype=bool), visits[1:] == 1, visits[1:] == 2)
    )
    return Transitions(
        n=above,
        probability=edge,
        low=low,
        high=high,
        reach=reached,
        stop=stop,
        stop_low=stop_low,
        stop_high=stop_high,
        branches=branches,
        unseen=unseen_mass(once, twice, visits, level),
        level=level,
        interval=interval,
    )


def unseen_paths(tree: CountedTree, *, level: float = 0.95) -> Unseen:
    """Probability that the next whole conversation is none of those in the tree; n: trials. Scalars (0-d arrays)."""
    stops = np.asarray(tree.stops, dtype=np.int64)
    return unseen_mass(int((stops == 1).sum()), int((stops == 2).sum()), int(stops.sum()), level)


class _Bounds(Protocol):
    def __call__(self, successes: npt.ArrayLike, n: npt.ArrayLike, level: float = ...) -> tuple[Floats, Floats]: ...


def _bounds(interval: _Bounds, k: Counts, n: Counts, level: float) -> tuple[Floats, Floats]:
    """(low, high), reckoned once for each pair of counts that occurs: large trees have few different ones."""
    width = int(n.max(initial=0)) + 1
    pairs, back = np.unique(k * width + n, return_inverse=True)
    low, high = interval(pairs // width, pairs % width, level)
    return low[back], high[back]
