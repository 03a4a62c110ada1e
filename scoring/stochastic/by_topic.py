"""Shares of a tree over several topics, with intervals whose unit is the topic.

Trials of one topic are alike, so 225 trials of 45 topics are not 225 independent answers. If topics have several trials
at a node, the intervals are those of the label chain and of %useful: topics get random weights, and part of an unseen
topic is added (`scoring.inference.unseen_topic`).
"""

import numpy as np
import numpy.typing as npt

from scoring.inference.unseen import Unseen, unseen_mass
from scoring.inference.unseen_topic import share_ends

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def by_topic(size: npt.ArrayLike, ends: npt.ArrayLike, topics: npt.ArrayLike) -> Counts:
    """(N, T) how many trials of each topic pass through each node.

    size: (N,) of the subtrees, in pre-order. ends: (n,) the node where each trial ends. topics: (n,) its topic, from 0.
    """
    span, where = np.asarray(size, dtype=np.int64), np.asarray(topics, dtype=np.int64)
    ended = np.zeros((len(span) + 1, int(where.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(ended, (np.asarray(ends, dtype=np.int64) + 1, where), 1)
    before = np.cumsum(ended, axis=0)
    found: Counts = before[np.arange(len(span)) + span] - before[:-1]
    return found


def varies_within_topic(below: Counts) -> npt.NDArray[np.bool_]:
    """(J,) True if any topic gave several answers. below: (J, T) answers of each topic."""
    return np.asarray(below.max(axis=1, initial=0) > 1)


def topic_shares(above: Counts, below: Counts, level: float) -> tuple[Floats, Floats]:
    """(J,) low, (J,) high ends of shares pooled over topics. above, below: (J, T); a topic with 0 below is not
    a unit.
    """
    order = np.lexsort((above, below), axis=1)
    both = np.concatenate([np.take_along_axis(side, order, axis=1) for side in (above, below)], axis=1)
    different, back = np.unique(both, axis=0, return_inverse=True)  # a large tree has few different ones
    tops, bottoms = np.split(different, 2, axis=1)
    units = (bottoms > 0).sum(axis=1)
    low, high = np.full(len(different), np.nan), np.full(len(different), np.nan)
    for count in np.unique(units[units > 0]).tolist():
        rows = units == count
        above_here, below_here = (side[rows, -count:].T.astype(np.float64) for side in (tops, bottoms))
        low[rows], high[rows] = share_ends(above_here, below_here, level, pooled=True)
    return low[back.reshape(-1)], high[back.reshape(-1)]


def visits_alone(branches: Counts, parent: npt.ArrayLike, size: int) -> Counts:
    """(size, T) trials at each node, by topic, that took a branch which no other topic took.

    branches: (M, T) trials of each branch. parent: (M,) the node where it begins.
    """
    own = branches * ((branches > 0).sum(axis=1) == 1)[:, None]
    found = np.zeros((size, branches.shape[1]), dtype=np.int64)
    np.add.at(found, np.asarray(parent, dtype=np.int64), own)
    return found


def unseen_over_topics(own: Counts, trials: Counts, once: Counts, twice: Counts, level: float) -> Unseen:
    """Probability that a trial of another topic is of a kind not seen so far.

    own: (J, T) trials of each topic of kinds that no other topic showed. trials: (J, T). once, twice: (J,) kinds seen
    in exactly one and two trials; used if each topic has one trial.
    """
    plain = unseen_mass(once, twice, trials.sum(axis=1), level)
    several = varies_within_topic(trials)
    estimate, low, high = plain.estimate.copy(), plain.low.copy(), plain.high.copy()
    if several.any():
        found = own[several].sum(axis=1), trials[several].sum(axis=1)
        estimate[several] = found[0] / found[1]
        low[several], high[several] = topic_shares(own[several], trials[several], level)
    counted = np.where(several, own.sum(axis=1), plain.once)
    return Unseen(estimate, np.minimum(low, estimate), np.maximum(high, estimate), plain.n, counted, plain.twice)
