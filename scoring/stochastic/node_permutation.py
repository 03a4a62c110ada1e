"""Permutation tests of the differences between two systems, at each node of a tree and over whole conversations.

    whole_tree_test    do the two trees differ at all? Whole trials are randomly reassigned to the sides within each
                       topic. The test is exact for all trees, and the mean divergence of the draws is due to chance
    node_tests         do the sides differ at this node, given that both reached it? The continuations of conversations
                       from the node are randomly reassigned to the sides within each topic

A node's statistic is the largest |z| over its ways to go on. Each z is Cochran, Mantel and Haenszel's, with topics as
strata:

    z = Σ_k (x_k - n_k·c_k/m_k) / √ Σ_k n_k·(m_k - n_k)·c_k·(m_k - c_k) / (m_k²·(m_k - 1))

Of the m_k trials of topic k that came to the node, n_k are of the second side, c_k took the way, and x_k did both. The
margins n, m and c stay as observed. Given that trials came to a node, their next step does not depend on earlier turns.
So under a node's null hypothesis the node's draws are valid whatever happened at other nodes, and draws of different
nodes are independent. The largest statistic over nodes in a draw (single-step maxT: P. H. Westfall and S. S. Young,
Resampling-Based Multiple Testing, 1993, 2.3) then keeps the probability of naming any wrong node near the level.

Nodes are not tested by reassigning whole conversations: if the sides part early, reassignments would send equal parts
of both sides to later nodes, unlike the data. In simulations in which 95% of trials part at the first turn, such a test
named a wrong later node in 7 to 13% of runs at a level of 5% (tests/benchmarks/parting.py).

Each test in the family makes the correction stronger, so nodes that cannot reach the level even with their most extreme
draw are removed from the family first (R. E. Tarone, Biometrics 46 (1990), 515-522). With K nodes in the family, a node
is removed if its most extreme value is more frequent than level/K among all draws, including the observed one. If a
node's trials can be dealt in few ways, all ways are enumerated with their probabilities, and its removal does not
depend on random draws. If all nodes of the family are enumerated, every p is exact: nodes are independent, so the
probability that no node reaches z is a product over nodes. All p are for these topics, and assume that trials of a
topic are independent.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.divergences import jsd
from scoring.stochastic.parting import BothSides
from topics.arrays import Counts, Floats
from topics.errors import InputError

DRAWS = 4999  # a round number together with the observed data: p in steps of .0002
WHOLE_DRAWS = 1999  # for the whole tree; each costs as much as a draw of all nodes
_SAME = 1e-9  # values that differ only by rounding must rank as equal on every machine
_CELLS = 2**21  # cells of draws in memory at a time
# The largest number of deals that are enumerated.
ENUMERATED = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class NodeTests:
    """The tests of the N nodes of a tree.

    - `p`: (N,) corrected for the family; NaN for nodes outside the family.
    - `z`: (N,) the largest |z| of a node, at least 0; NaN without a topic in which both sides came and trials differ.
    - `family`, `out`: the numbers of nodes that were tested, and of nodes that could not have reached the level.
    - `topics`, `draws`: the number of topics used, and of draws for each node.
    - `critical`: the value that z must exceed for a p of at most the level; NaN if no node was tested.
    """

    p: Floats
    z: Floats
    family: int
    out: int
    topics: int
    draws: int
    critical: float = np.nan


@dataclass(frozen=True, slots=True)
class WholeTest:
    """The test of whole conversations.

    `p` is the share of draws with a divergence at least as large as the observed divergence, and `by_chance` the mean
    divergence over the draws, in bits.
    """

    p: float
    by_chance: float


def node_tests(
    sides: BothSides,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    level: float = 0.05,
    enumerated: int = ENUMERATED,
    excluded: Collection[int] = (),
) -> NodeTests:
    """Test the difference between two systems at each node that is not in `excluded`. Topics with one trial on either
    side are left out.

    `draws` is at least 1. If a node's trials can be dealt in at most `enumerated` ways, all ways are used: p is then
    exact, and does not depend on the seed. Raises InputError if no topic is left, or if no node could reach `level`
    with this number of draws.
    """
    if draws < 1 or not 1 / (draws + 1) <= level < 1:
        raise InputError(
            f"{draws} draws give no p below {1 / (max(draws, 0) + 1):.2g}, so no p can reach {level}",
            allowed=f"at least {int(np.ceil(1 / level - 1 - _SAME))} draws" if 0 < level < 1 else "a level from 0 to 1",
        )
    several = (sides.trials > 1).any(axis=0)
    if not several.any():
        raise InputError(
            "every topic has one trial on either side, so no difference within a topic can be tested",
            allowed="topics with several trials on at least one side",
            advice="play more trials of each topic",
        )
    size = len(sides.tree)
    through, taken = sides.through[:, several], sides.way_counts[:, several]
    z, nodes, found, every = np.full(size, np.nan), list[int](), list[Floats | None](), list[_AllDeals | None]()
    for node in np.setdiff1d(np.flatnonzero(np.bincount(sides.nodes, minlength=size) > 1), [*excluded]).tolist():
        came, took = through[:, :, node], taken[:, :, sides.nodes == node]
        whole = _AllDeals.enumerate_deals(came, took, enumerated)
        dealt = None if whole is not None else _dealt_statistics(came, took, draws, rng)
        if whole is not None or dealt is not None:
            nodes.append(node)
            found.append(dealt)
            every.append(whole)
            z[node] = dealt[0] if dealt is not None else whole.seen  # type: ignore[union-attr]
    p = np.full(size, np.nan)
    if not nodes:
        return NodeTests(p, z, 0, 0, int(several.sum()), draws)
    largest = np.array(
        [
            whole.tail_probability(float(whole.values.max()))
            if whole is not None
            else math.nan
            if one is None
            else float((one >= one.max() - _SAME).mean())
            for one, whole in zip(found, every, strict=True)
        ]
    )
    exact = np.array([whole is not None for whole in every])
    kept, critical = _test_family(largest, level, np.where(exact, 0.0, 1 / (draws + 1))), np.nan
    if kept.any():
        chosen = np.array(nodes)[kept]
        known = [whole for whole, own in zip(every, kept.tolist(), strict=True) if own and whole is not None]
        if len(known) == len(chosen):
            p[chosen] = [_chance_of_none(known, float(one)) for one in z[chosen]]
            values = np.unique(np.concatenate([one.values for one in known]))
            critical = max(float(one) for one in values if _chance_of_none(known, float(one)) > level + _SAME)
        else:
            family = [whole.draw_statistics(draws, rng) for whole in known]
            family += [dealt for dealt, own in zip(found, kept.tolist(), strict=True) if own and dealt is not None]
            over = np.sort(np.maximum.reduce(family))
            p[chosen] = 1 - np.searchsorted(over, z[chosen] - _SAME) / (draws + 1)
            critical = float(over[draws - int(level * (draws + 1) + _SAME)])
    return NodeTests(p, z, int(kept.sum()), int((~kept).sum()), int(several.sum()), draws, critical)


@dataclass(frozen=True, slots=True, eq=False)
class _AllDeals:
    values: Floats
    chances: Floats
    seen: float

    @classmethod
    def enumerate_deals(cls, came: Counts, took: Counts, most: int) -> "_AllDeals | None":
        """Deal a node's trials in every way; None if there are more than `most` ways, or if no topic is informative."""
        m, n, c = came.sum(axis=0), came[1], took.sum(axis=0)
        telling = _informative(m, n, c)
        if not telling or _ways_to_deal([(c[topic], int(n[topic])) for topic in telling], most) > most:
            return None
        ways = c.shape[1]
        beyond, chances, seen, spread = np.zeros((1, ways)), np.ones(1), np.zeros(ways), np.zeros(ways)
        for topic in telling:
            whole, side, counts = int(m[topic]), int(n[topic]), c[topic]
            dealt, likely = _arrangements(counts, side)
            expected = side * counts / whole
            beyond = (beyond[:, None, :] + (dealt - expected)[None, :, :]).reshape(-1, ways)
            chances = np.outer(chances, likely).ravel()
            seen += took[1, topic] - expected
            spread += side * (whole - side) * counts * (whole - counts) / (whole**2 * (whole - 1))
        some = spread > 0
        root = np.sqrt(spread[some])
        values: Floats = (np.abs(beyond[:, some]) / root).max(axis=1)
        return cls(values, chances / chances.sum(), float((np.abs(seen[some]) / root).max()))

    def tail_probability(self, z: float) -> float:
        return min(1.0, float(self.chances[self.values >= z - _SAME].sum()))

    def draw_statistics(self, draws: int, rng: np.random.Generator) -> Floats:
        return np.concatenate([[self.seen], rng.choice(self.values, size=draws, p=self.chances)])


def _chance_of_none(family: Sequence[_AllDeals], z: float) -> float:
    return 1 - math.prod(1 - one.tail_probability(z) for one in family)


def _informative(m: Counts, n: Counts, c: Counts) -> list[int]:
    return np.flatnonzero((n > 0) & (n < m) & (c.max(axis=1) < m)).tolist()


def _ways_to_deal(topics: Sequence[tuple[Counts, int]], most: int) -> int:
    found = 1
    for counts, side in topics:
        ways = np.array([1], dtype=object)
        for count in counts.tolist():
            ways = np.convolve(ways, np.ones(count + 1, dtype=object))[: side + 1]
        found *= int(ways[side])
        if found > most:
            break
    return found


def _arrangements(counts: Counts, side: int) -> tuple[Floats, Floats]:
    """Return the (A, W) ways to draw `side` trials from counts, and the (A,) hypergeometric probability of each."""
    limits = counts.tolist()
    rest = [sum(limits[place + 1 :]) for place in range(len(limits))]
    partial: list[tuple[int, ...]] = [()]
    for place, limit in enumerate(limits):
        partial = [
            (*taken, more)
            for taken in partial
            for more in range(max(0, side - sum(taken) - rest[place]), min(limit, side - sum(taken)) + 1)
        ]
    whole = math.comb(sum(limits), side)
    likely = [math.prod(map(math.comb, limits, one)) / whole for one in partial]
    return np.array(partial, dtype=np.float64), np.array(likely)


def _dealt_statistics(came: Counts, took: Counts, draws: int, rng: np.random.Generator) -> Floats | None:
    """Return a node's (1 + draws,) statistics, observed first, from (2, K) trials; None if no topic is informative."""
    m, n, c = came.sum(axis=0), came[1], took.sum(axis=0)
    telling = _informative(m, n, c)
    if not telling:
        return None
    beyond, spread = np.zeros((c.shape[1], draws + 1)), np.zeros(c.shape[1])
    for topic in telling:
        whole, side, ways = int(m[topic]), int(n[topic]), np.flatnonzero(c[topic])
        counts = c[topic, ways]
        dealt = rng.multivariate_hypergeometric(counts, side, size=draws, method="marginals")
        for place, way in enumerate(ways.tolist()):  # row by row, because several rows at once would be copied twice
            beyond[way, 0] += took[1, topic, way]
            beyond[way, 1:] += dealt[:, place]
            beyond[way] -= side * counts[place] / whole
        spread[ways] += side * (whole - side) * counts * (whole - counts) / (whole**2 * (whole - 1))
    some = spread > 0
    statistic: Floats = (np.abs(beyond[some]) / np.sqrt(spread[some])[:, None]).max(axis=0)
    return statistic


def _test_family(largest: Floats, level: float, finest: Floats) -> npt.NDArray[np.bool_]:
    for number in range(1, len(largest) + 1):
        kept: npt.NDArray[np.bool_] = largest <= np.maximum(level / number, finest) + _SAME
        if kept.sum() <= number:
            break
    return kept


def whole_tree_test(
    sides: BothSides, rng: np.random.Generator, *, draws: int = WHOLE_DRAWS, enumerated: int = ENUMERATED
) -> WholeTest:
    """Test whether the two trees differ at all, by randomly reassigning whole trials within each topic."""
    used = np.flatnonzero(sides.ended.any(axis=(0, 1)))
    ended, trials = sides.ended[:, :, used], sides.trials
    if len(used) == 1:
        return WholeTest(1.0, 0.0)
    seen = float(jsd(*(ended / (trials * len(sides.topics))[:, :, None]).sum(axis=1)))
    counts = ended.sum(axis=0)
    dealt = [(counts[topic], int(trials[1, topic])) for topic in range(trials.shape[1])]
    if _ways_to_deal(dealt, enumerated) <= enumerated:
        found, chances = _every_divergence(counts, trials)
        return WholeTest(min(1.0, float(chances[found >= seen - _SAME].sum())), float(found @ chances))
    at_once, as_far, total = max(1, _CELLS // len(used)), 0, 0.0
    for start in range(0, draws, at_once):
        found = _divergences(ended, trials, min(at_once, draws - start), rng)
        as_far += int((found >= seen - _SAME).sum())
        total += float(found.sum())
    return WholeTest((1 + as_far) / (1 + draws), total / draws if draws else np.nan)


def _every_divergence(counts: Counts, trials: Counts) -> tuple[Floats, Floats]:
    """Return (A,) divergences of all ways to deal (K, E) counts to sides of (2, K) trials, and the probabilities."""
    topics, ends = counts.shape
    sides, chances = np.zeros((2, 1, ends)), np.ones(1)
    for topic in range(topics):
        first, second = trials[:, topic].tolist()
        dealt, likely = _arrangements(counts[topic], second)
        each = np.stack([(counts[topic] - dealt) / (first * topics), dealt / (second * topics)])
        sides = (sides[:, :, None, :] + each[:, None, :, :]).reshape(2, -1, ends)
        chances = np.outer(chances, likely).ravel()
    return jsd(sides[0], sides[1]), chances / chances.sum()


def _divergences(ended: Counts, trials: Counts, draws: int, rng: np.random.Generator) -> Floats:
    sides = np.zeros((2, ended.shape[2], draws))
    topics = trials.shape[1]
    for topic in range(topics):
        ends = np.flatnonzero(ended[:, topic].any(axis=0))
        counts = ended[:, topic, ends].sum(axis=0)
        first, second = trials[:, topic].tolist()
        dealt = rng.multivariate_hypergeometric(counts, second, size=draws, method="marginals")
        for place, end in enumerate(ends.tolist()):
            drawn = dealt[:, place]
            sides[0, end] += (counts[place] - drawn) / (first * topics)
            sides[1, end] += drawn / (second * topics)
    return jsd(sides[0].T, sides[1].T)
