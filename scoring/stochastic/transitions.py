"""Transition probabilities of a conversation tree, each with its uncertainty.

    edge        k/n: k trials went on to the child, n came through its parent. The interval is Wilson's or Jeffreys',
                or the exact one for fewer than four trials
    stop        trials that ended at the node / trials that came through it, with the interval of edges
    unseen      probability that the next trial goes on from here in a new way: branches seen once / n
                (`scoring.inference.unseen`); stopping is not a branch and has its own probability

At each node the edge probabilities and the stop probability sum to 1 and leave no share to unseen ways, so the unseen
mass is always shown as well. Trials are independent within one topic, but not over several topics: if topics have
several trials at a node, topics are the units of all intervals there (`scoring.stochastic.parting`), and a way counts
as seen once if only one topic showed it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from recordings.trees.preorder import depths, subtree_sizes
from scoring.inference.proportions import FEW, clopper_pearson_ends, jeffreys_ends, wilson_ends
from scoring.inference.unseen import UnseenMass, unseen_mass
from scoring.stochastic import parting
from scoring.stochastic.parting import Ends
from scoring.stochastic.paths import check_parents, reach_probabilities
from topics.arrays import Counts, Floats
from topics.errors import InputError

IntervalName = Literal["wilson", "jeffreys"]

_INTERVALS = {"wilson": wilson_ends, "jeffreys": jeffreys_ends}


class CountedTree(Protocol):
    """The arrays of `recordings.trees.tree.ConversationTree` that are used here."""

    @property
    def parent(self) -> npt.NDArray[np.int32]: ...
    @property
    def visits(self) -> npt.NDArray[np.int64]: ...
    @property
    def stops(self) -> npt.NDArray[np.int64]: ...
    @property
    def ends(self) -> npt.NDArray[np.int32]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """Transition probabilities over the N nodes of a tree, in [0, 1], NaN if nothing was observed.

    - `n`: (N,) trials behind the edge into the node: the visits of its parent, or all trials for the root.
    - `probability`, `low`, `high`: (N,) estimate and interval of that edge; 1 and NaN for the root.
    - `reach`: (N,) the product of the probabilities from the root.
    - `stop`, `stop_low`, `stop_high`: (N,) estimate and interval of stopping, from the node's own visits.
    - `branches`: (N,) the number of different children.
    - `unseen`: (N,) the mass of unseen branches, with the node's own visits as its n.
    - `level`, `interval`: the level and the name of the intervals, if trials are independent.
    - `over_topics`: True if topics are the unit of any interval.
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
    unseen: UnseenMass
    level: float
    interval: IntervalName
    over_topics: bool


def transitions(
    tree: CountedTree,
    *,
    level: float = 0.95,
    interval: IntervalName = "wilson",
    topics: npt.ArrayLike | None = None,
    sessions: npt.ArrayLike | None = None,
    withheld: bool = False,
) -> Transitions:
    """Estimate all transition probabilities of a tree.

    - `level`: the confidence level, from .5 to .9999.
    - `topics`: (n,) the topic of each trial, from 0, in the order of `tree.ends`, or the topic's cluster; None if all
      trials are of one topic.
    - `sessions`: (n,) the session of each trial, from 0, if sessions go through all topics. The distances of the ends
      over topics and over sessions are then squared and added.
    - `withheld`: compute no intervals of shares, because there are too few units.

    Raises InputError for a level out of range or an unknown interval, and ValueError for impossible counts.
    """
    if interval not in _INTERVALS:
        raise InputError(f"there is no kind of interval called {interval!r}", allowed=", ".join(_INTERVALS))
    if not 0.5 <= level <= 0.9999:
        raise InputError(
            f"{level} is not a level of confidence", allowed="a number from 0.5 to 0.9999, for example 0.95"
        )
    parent = check_parents(tree.parent)
    visits, stops = np.asarray(tree.visits, dtype=np.int64), np.asarray(tree.stops, dtype=np.int64)
    size = len(parent)
    onward = np.bincount(parent[1:], weights=visits[1:], minlength=size)
    if visits.shape != (size,) or stops.shape != (size,) or np.any(stops + onward != visits) or np.any(stops < 0):
        raise ValueError("the visits of every node must equal its stops plus the visits of its children")
    bounds = _INTERVALS[interval]
    above = np.concatenate(([visits[0]], visits[parent[1:]]))
    with np.errstate(invalid="ignore"):
        edge, stop = visits / above, stops / visits
    low, high = _bounds(bounds, visits, above, level)
    low[0] = high[0] = np.nan
    stop_low, stop_high = _bounds(bounds, stops, visits, level)
    reached = (
        reach_probabilities(parent, np.where(np.arange(size) == 0, 1.0, edge)) if visits[0] else np.full(size, np.nan)
    )
    branches, once, twice = (
        np.bincount(parent[1:][chosen], minlength=size)
        for chosen in (np.ones(size - 1, dtype=bool), visits[1:] == 1, visits[1:] == 2)
    )
    unseen, over_topics = unseen_mass(once, twice, visits, level), False
    if _has_several_topics(topics):
        counts = parting.visits_by_topic(subtree_sizes(tree.parent, depths(tree.parent)), tree.ends, np.asarray(topics))
        onward = np.zeros_like(counts)
        np.add.at(onward, parent[1:], counts[1:])
        several = parting.varies_within_topic(counts)
        edges = np.flatnonzero(several[parent[1:]]) + 1
        low[edges], high[edges] = parting.topic_shares(counts[edges], counts[parent[edges]], level)
        stop_low[several], stop_high[several] = parting.topic_shares((counts - onward)[several], counts[several], level)
        unseen = parting.unseen_over_topics(
            parting.visits_of_one_topic(counts[1:], parent[1:], size), counts, once, twice, level
        )
        over_topics = bool(several.any())
        if sessions is not None:
            own = parting.visits_by_topic(
                subtree_sizes(tree.parent, depths(tree.parent)), tree.ends, np.asarray(sessions)
            )
            on = np.zeros_like(own)
            np.add.at(on, parent[1:], own[1:])
            low[1:], high[1:] = _add_distances(
                edge[1:], low[1:], high[1:], parting.topic_shares(own[1:], own[parent[1:]], level)
            )
            stop_low, stop_high = _add_distances(stop, stop_low, stop_high, parting.topic_shares(own - on, own, level))
            over_topics = True
    if withheld:
        low, high, stop_low, stop_high = (np.full(size, np.nan) for _ in range(4))
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
        unseen=unseen,
        level=level,
        interval=interval,
        over_topics=over_topics,
    )


@dataclass(frozen=True, slots=True, eq=False)
class EndShares:
    """Shares of the E ends that any trial came to.

    `k` of the `n` trials at the node came to the end, and `low` and `high` bound this share.
    """

    ends: Ends
    k: Counts
    n: Counts
    low: Floats
    high: Floats


def end_shares(
    tree: CountedTree,
    names: Sequence[str],
    found: Transitions,
    topics: npt.ArrayLike | None = None,
    sessions: npt.ArrayLike | None = None,
    *,
    withheld: bool = False,
) -> EndShares:
    """Estimate how often conversations end in each way at a node.

    The shares of a node's ends sum to the probability of stopping there. `names` (n,) state how each trial ended, in
    the order of `tree.ends`, and `found` are the transitions of the tree. All other arguments are as for `transitions`.
    """
    places, visits = np.asarray(tree.ends, dtype=np.intp), np.asarray(tree.visits, dtype=np.int64)
    every = parting.find_ends(len(visits), places, names)
    used, at = np.unique(every.at, return_inverse=True)
    ends = Ends(every.node[used], tuple(every.name[end] for end in used.tolist()), at.reshape(-1))
    k, n = np.bincount(ends.at, minlength=len(used)), visits[ends.node]
    low, high = found.stop_low[ends.node].copy(), found.stop_high[ends.node].copy()
    several = np.flatnonzero(np.bincount(ends.node, minlength=len(visits))[ends.node] > 1)
    if several.size:
        low[several], high[several] = _bounds(_INTERVALS[found.interval], k[several], n[several], found.level)
    if several.size and _has_several_topics(topics):
        order, size = np.argsort(places, kind="stable"), subtree_sizes(tree.parent, depths(tree.parent))
        spans = np.searchsorted(places[order], [ends.node[several], ends.node[several] + size[ends.node[several]]]).T

        def count_units(units: npt.ArrayLike) -> tuple[Counts, Counts]:
            own = np.asarray(units, dtype=np.int64)
            count = int(own.max()) + 1
            came = np.array([np.bincount(own[order[start:stop]], minlength=count) for start, stop in spans])
            return np.array([np.bincount(own[ends.at == end], minlength=count) for end in several]), came

        took, came = count_units(topics if topics is not None else [])
        varied = parting.varies_within_topic(came)
        low[several[varied]], high[several[varied]] = parting.topic_shares(took[varied], came[varied], found.level)
        if sessions is not None:
            share, over = k[several] / n[several], parting.topic_shares(*count_units(sessions), found.level)
            low[several], high[several] = _add_distances(share, low[several], high[several], over)
    if withheld:
        low, high = np.full(len(k), np.nan), np.full(len(k), np.nan)
    return EndShares(ends, k, n, low, high)


def unseen_paths(tree: CountedTree, *, level: float = 0.95, topics: npt.ArrayLike | None = None) -> UnseenMass:
    """Estimate the probability, as 0-d arrays, that the next conversation follows no path of the tree."""
    stops = np.asarray(tree.stops, dtype=np.int64)
    once, twice = int((stops == 1).sum()), int((stops == 2).sum())
    if not _has_several_topics(topics):
        return unseen_mass(once, twice, int(stops.sum()), level)
    ended = parting.visits_by_topic(np.ones(len(stops), dtype=np.int64), tree.ends, np.asarray(topics))
    own = parting.visits_of_one_topic(ended, np.zeros(len(stops), dtype=np.int64), 1)
    found = parting.unseen_over_topics(own, ended.sum(axis=0)[None], np.array([once]), np.array([twice]), level)
    return UnseenMass(*(part[0] for part in (found.estimate, found.low, found.high, found.n, found.once, found.twice)))


def _has_several_topics(topics: npt.ArrayLike | None) -> bool:
    return topics is not None and len(np.unique(np.asarray(topics))) > 1


def _add_distances(value: Floats, low: Floats, high: Floats, sessions: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    least, most = sessions
    return (
        np.maximum(0.0, value - np.hypot(value - low, value - least)),
        np.minimum(1.0, value + np.hypot(high - value, most - value)),
    )


class _Bounds(Protocol):
    def __call__(self, successes: npt.ArrayLike, n: npt.ArrayLike, level: float = ...) -> tuple[Floats, Floats]: ...


def _bounds(interval: _Bounds, k: Counts, n: Counts, level: float) -> tuple[Floats, Floats]:
    """Return the low and high ends. Equal pairs of counts, common in large trees, are computed once."""
    width = int(n.max(initial=0)) + 1
    pairs, back = np.unique(k * width + n, return_inverse=True)
    taken, of = pairs // width, pairs % width
    low, high = interval(taken, of, level)
    few = of < FEW
    if few.any():
        low[few], high[few] = clopper_pearson_ends(taken[few], of[few], level)
    return low[back], high[back]
