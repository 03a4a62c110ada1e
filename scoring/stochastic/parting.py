"""The nodes at which the conversations of two systems part: the difference of their trees as a sum over turns.

The trials of both systems are merged into one tree by one merge key. A path ends at one node, so the two trees are two
distributions P and Q over the nodes, and the Jensen-Shannon divergence with the mixture M = (P + Q)/2 stays finite even
if only one side took a branch. By the chain rule, the divergence is a sum over nodes,

    JSD(P‖Q) = Σ_v [ρ_P(v)·KL(p(·|v)‖m(·|v)) + ρ_Q(v)·KL(q(·|v)‖m(·|v))] / 2

where ρ(v) is the probability of coming to v. The ways to go on from v are its branches and the kinds of ends at v (see
`Ends`). So a node's share is the part of the whole difference that arises at this node among the conversations that
reach it (T. M. Cover and J. A. Thomas, Elements of Information Theory, 2006, Theorem 2.5.3; J. Lin, IEEE Trans. Inf.
Theory 37 (1991), 145-151).

Only topics that both sides have are used, with equal weight on either side, whatever their numbers of trials. The
divergence of counts is too large by chance; `scoring.stochastic.node_permutation` computes by how much.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.divergences import jsd
from scoring.inference.unseen import UnseenMass, unseen_mass
from scoring.inference.unseen_topic import share_ends
from topics.arrays import Counts, Floats
from topics.errors import InputError

Indices = npt.NDArray[np.intp]

_ALIKE = 1e-12  # shares that differ by less differ by rounding only


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The E ends of conversations in a tree, sorted by node and then by name. Each way of ending is a separate end.

    In a tree of turns a breakdown and a satisfied user look alike, since no turn follows. Their outcomes are different,
    so comparisons of how conversations go on distinguish the two (as T. Sakai does in GFRC, 2023, section 7, and SWAN,
    2023, section 3). A node at which no trial ends has one end without a name.

    `node` is (E,) the node of each end. `name` is (E,) the way of ending, "" if unknown. `at` is (n,) the index of each
    trial's end, -1 for a trial that does not count. `at` is empty if trials are only counted.
    """

    node: Indices
    name: tuple[str, ...]
    at: Indices

    def count(self, column: npt.ArrayLike, columns: int) -> Counts:
        """Count the trials that come to each end, as (columns, E). `column` (n,) is each trial's column, from 0."""
        found = np.zeros((columns, len(self.node)), dtype=np.int64)
        np.add.at(found, (np.asarray(column, dtype=np.intp), self.at), 1)
        return found

    def find(self, node: int, name: str = "") -> int:
        """Return the index of a node's end with this name. Raises ValueError if the node has no such end."""
        first, last = np.searchsorted(self.node, [node, node + 1]).tolist()
        return self.name.index(name, first, last)


def plain_ends(size: int) -> Ends:
    """Return one end without a name for each of `size` nodes, for trials that are only counted."""
    return Ends(np.arange(size, dtype=np.intp), ("",) * size, np.zeros(0, dtype=np.intp))


def find_ends(size: int, nodes: npt.ArrayLike, names: Sequence[str] = ()) -> Ends:
    """Find the ends of n trials in a tree of `size` nodes, from their (n,) last nodes and (n,) ways of ending.

    Ends are distinguished for all trials or for none: without names, or if any name is "", every node has one end.
    """
    places = np.asarray(nodes, dtype=np.intp)
    if not names or "" in names:
        return Ends(np.arange(size, dtype=np.intp), ("",) * size, places)
    kinds = ["", *sorted({*names})]
    rank = {name: number for number, name in enumerate(kinds)}
    trials = places * len(kinds) + np.array([rank[name] for name in names], dtype=np.intp)
    bare = np.setdiff1d(np.arange(size, dtype=np.intp), places) * len(kinds)
    every = np.unique(np.concatenate([trials, bare]))
    node, kind = np.divmod(every, len(kinds))
    return Ends(node, tuple(kinds[number] for number in kind.tolist()), np.searchsorted(every, trials))


def visits_by_topic(size: npt.ArrayLike, ends: npt.ArrayLike, topics: npt.ArrayLike) -> Counts:
    """Count how many trials of each topic pass through each node, as (N, T).

    `size` (N,) holds sizes of subtrees in pre-order. `ends` and `topics` (n,) are the end and the topic of each trial.
    """
    span, where = np.asarray(size, dtype=np.int64), np.asarray(topics, dtype=np.int64)
    ended = np.zeros((len(span) + 1, int(where.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(ended, (np.asarray(ends, dtype=np.int64) + 1, where), 1)
    before = np.cumsum(ended, axis=0)
    found: Counts = before[np.arange(len(span)) + span] - before[:-1]
    return found


def varies_within_topic(below: Counts) -> npt.NDArray[np.bool_]:
    """Return (J,) True if any topic gave several answers. `below` is (J, T), the answers of each topic."""
    return np.asarray(below.max(axis=1, initial=0) > 1)


def topic_shares(above: Counts, below: Counts, level: float) -> tuple[Floats, Floats]:
    """Return (J,) low and high ends of shares pooled over (J, T) topics. Topics with 0 in `below` are not units."""
    order = np.lexsort((above, below), axis=1)
    both = np.concatenate([np.take_along_axis(side, order, axis=1) for side in (above, below)], axis=1)
    different, back = np.unique(both, axis=0, return_inverse=True)  # a large tree has few different pairs
    tops, bottoms = np.split(different, 2, axis=1)
    units = (bottoms > 0).sum(axis=1)
    low, high = np.full(len(different), np.nan), np.full(len(different), np.nan)
    for count in np.unique(units[units > 0]).tolist():
        rows = units == count
        above_here, below_here = (side[rows, -count:].T.astype(np.float64) for side in (tops, bottoms))
        low[rows], high[rows] = share_ends(above_here, below_here, level, pooled=True)
    return low[back.reshape(-1)], high[back.reshape(-1)]


def visits_of_one_topic(branches: Counts, parent: npt.ArrayLike, size: int) -> Counts:
    """Count the trials by topic that come to each node on branches that no other topic took, as (size, T).

    `trials` is (M, T), the trials of each topic in M branches.
    """
    own = branches * ((branches > 0).sum(axis=1) == 1)[:, None]
    found = np.zeros((size, branches.shape[1]), dtype=np.int64)
    np.add.at(found, np.asarray(parent, dtype=np.int64), own)
    return found


def unseen_over_topics(own: Counts, trials: Counts, once: Counts, twice: Counts, level: float) -> UnseenMass:
    """Estimate the probability that a trial of another topic is of a kind not seen so far.

    `own` (J, T) counts the trials of each topic whose kind no other topic showed, and `trials` (J, T) counts all
    trials. `once` and `twice` (J,) count the kinds seen in exactly one and two trials, for topics with one trial each.
    """
    plain = unseen_mass(once, twice, trials.sum(axis=1), level)
    several = varies_within_topic(trials)
    estimate, low, high = plain.estimate.copy(), plain.low.copy(), plain.high.copy()
    if several.any():
        found = own[several].sum(axis=1), trials[several].sum(axis=1)
        estimate[several] = found[0] / found[1]
        low[several], high[several] = topic_shares(own[several], trials[several], level)
    counted = np.where(several, own.sum(axis=1), plain.once)
    return UnseenMass(estimate, np.minimum(low, estimate), np.maximum(high, estimate), plain.n, counted, plain.twice)


@dataclass(frozen=True, eq=False)
class BothSides:
    """The trials of two systems, side 0 and side 1, in one tree of N nodes, over the K topics that both have.

    - `names`, `topics`: the names of the systems, and K sorted names of topics.
    - `ended`: (2, K, E) trials that come to each end.
    - `through`: (2, K, N) trials that pass through each node or end there.
    - `alone`: topics that only one side has, which are left out.
    - `ends`: the E ends; None if each node has one end.
    """

    tree: ConversationTree
    names: tuple[str, str]
    topics: tuple[str, ...]
    ended: Counts
    through: Counts
    alone: tuple[str, ...] = ()
    ends: Ends | None = None

    @classmethod
    def count_trials(
        cls,
        tree: ConversationTree,
        side: npt.ArrayLike,
        topic: npt.ArrayLike,
        topics: tuple[str, ...],
        names: tuple[str, str] = ("0", "1"),
        alone: tuple[str, ...] = (),
        how: Sequence[str] = (),
    ) -> "BothSides":
        """Count trials given in the order of `tree.ends`. Raises ValueError if a side has no trial of a topic.

        `side` (n,) is 0 or 1, or -1 to leave a trial out. `topic` (n,) holds indices in `topics`, and `how` (n,) the
        name of each trial's end. Without names, or if a trial that counts has the name "", each node has a single end.
        """
        sides, places = np.asarray(side, dtype=np.int64), np.asarray(topic, dtype=np.int64)
        count, size, chosen = len(topics), len(tree), sides >= 0
        column = (sides * count + places)[chosen]
        if not count or np.bincount(column, minlength=2 * count).min() < 1:
            raise ValueError("there must be at least one topic, and each side needs a trial of each topic")
        through = visits_by_topic(tree.size, tree.ends[chosen], column).T.reshape(2, count, size)
        ends = find_ends(size, tree.ends[chosen], [one for one, used in zip(how, chosen.tolist()) if used])
        ended = ends.count(column, 2 * count).reshape(2, count, len(ends.node))
        at = np.full(len(sides), -1, dtype=np.intp)
        at[chosen] = ends.at
        return cls(tree, names, topics, ended, through, alone, replace(ends, at=at))

    @property
    def trials(self) -> Counts:
        """The numbers of trials, (2, K), at least 1 each."""
        return self.through[:, :, 0]

    @cached_property
    def nodes(self) -> Indices:
        """The node of each way to go on, (J,), with all branches in order before the ends that any trial came to."""
        return np.concatenate([self.tree.parent[1:].astype(np.intp), self._all_ends.node[self._stops]])

    @cached_property
    def ways(self) -> Indices:
        """The branch that each way leads to, (J,); for an end, the node at which the conversation ends."""
        return np.concatenate([np.arange(1, len(self.tree), dtype=np.intp), self._all_ends.node[self._stops]])

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The names of ends, (J,); "" for a branch, and for an unknown end."""
        named = self._all_ends.name
        return ("",) * (len(self.tree) - 1) + tuple(named[end] for end in self._stops.tolist())

    @cached_property
    def way_counts(self) -> Counts:
        """The trials that went on in each way, (2, K, J)."""
        return np.concatenate([self.through[:, :, 1:], self.ended[:, :, self._stops]], axis=2)

    @cached_property
    def _all_ends(self) -> Ends:
        return self.ends or plain_ends(len(self.tree))

    @property
    def distinguishes_ends(self) -> bool:
        """True if ends of different kinds are different ways, because the end of every trial is known."""
        return any(self._all_ends.name)

    @cached_property
    def _stops(self) -> Indices:
        return np.flatnonzero(self.ended.any(axis=(0, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class DivergenceParts:
    """The divergence of two sides and its parts, over the N nodes of their tree.

    - `divergence`, `n`: the divergence of whole paths, in bits, in [0, 1], and (2,) numbers of trials.
    - `term`, `share`: (N,) the node's part of the divergence, in bits, and as a share; NaN if the divergence is 0.
    - `arrivals`: (2, N) trials that came to the node.
    - `branch`: (N,) the way on whose share differs most; the node itself for an end, -1 if one side is absent.
    - `end`: (N,) the name of that end; "" for a branch or an unknown end.
    - `taken`: (2, N) trials that took that way.
    - `portion`: (2, N) the share of arrivals that took that way, with equal weight for topics; NaN if no trial came.
    """

    divergence: float
    n: tuple[int, int]
    term: Floats
    share: Floats
    arrivals: Counts
    branch: Indices
    taken: Counts
    portion: Floats
    end: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conversations on one topic that parted at a node, given by the trial number on each side."""

    topic: str
    first: int
    second: int


def both_sides(
    tree: ConversationTree, first: str, second: str, how: Mapping[FoldedTrial, str] | None = None
) -> BothSides:
    """Count the trials of systems `first` and `second` in a tree that contains both.

    `how` holds the names of the ends of trials (`recordings.conversations.endings.end_name`), and defaults to the names
    in the tree. An unknown name is "" or missing, and if any trial that counts has an unknown end, each node has a
    single end. Raises InputError without a common topic, or if answers were merged by their exact words.
    """
    if any(key.speaker == "system" and key.name == "exact" for key in tree.keys):
        raise InputError(
            "systems cannot be compared in a tree merged by exact words: nearly every path has one trial",
            allowed="a key that different conversations share, such as label, act or entities",
            advice="merge by label, or by user=KEY,system=KEY",
        )
    if first == second:
        raise ValueError(f"{first!r} cannot be compared with itself")
    names = (first, second)
    own = [_trials_of(tree, name) for name in names]
    told = [[one.key.topic for one in tree.trials[span]] for span in own]
    topics = tuple(sorted({*told[0]} & {*told[1]}))
    if not topics:
        raise InputError(
            f"{first!r} and {second!r} have no topic in common in this tree",
            advice="play the same topics with both",
        )
    places = {topic: number for number, topic in enumerate(topics)}
    side, topic = np.full(len(tree.trials), -1), np.zeros(len(tree.trials), dtype=np.int64)
    for number, span in enumerate(own):
        place = np.array([places.get(one, -1) for one in told[number]])
        side[span], topic[span] = np.where(place >= 0, number, -1), np.maximum(place, 0)
    ended = tree.end_names() if how is None else [how.get(one, "") for one in tree.trials]
    return BothSides.count_trials(tree, side, topic, topics, names, tuple(sorted({*told[0]} ^ {*told[1]})), ended)


def _trials_of(tree: ConversationTree, system: str, topic: str | None = None) -> slice:
    def name(trial: FoldedTrial) -> tuple[str, ...]:
        return (trial.key.system,) if topic is None else (trial.key.system, trial.key.topic)

    wanted: tuple[str, ...] = (system,) if topic is None else (system, topic)
    return slice(bisect_left(tree.trials, wanted, key=name), bisect_right(tree.trials, wanted, key=name))


def split_divergence(sides: BothSides) -> DivergenceParts:
    size = len(sides.tree)
    per_trial = 1 / (sides.trials * len(sides.topics))
    reach, onward, ends = (
        np.einsum("skj,sk->sj", counts, per_trial) for counts in (sides.through, sides.way_counts, sides.ended)
    )
    at = sides.nodes
    middle, came = onward.mean(axis=0), reach.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        portion = onward / reach[:, at]
        bits = np.where(onward > 0, onward * np.log2(portion * came[at] / middle), 0.0).sum(axis=0) / 2
    term: Floats = np.bincount(at, weights=bits, minlength=size).astype(np.float64)
    divergence = float(jsd(*ends)) if ends.shape[1] > 1 else 0.0
    share = term / divergence if divergence > 0 else np.full(size, np.nan)
    # (size,) the first of the largest gaps of each node; -1 if there is none. gaps: (J,), NaN is ignored.
    # The first, because the gaps of a node's only two ways are equal except for rounding.
    gaps = np.abs(portion[1] - portion[0])
    found, highest = np.full(size, -1, dtype=np.intp), np.full(size, -np.inf)
    known = np.flatnonzero(~np.isnan(gaps))
    np.maximum.at(highest, at[known], gaps[known])
    largest = known[gaps[known] >= highest[at[known]] - _ALIKE][::-1]
    found[at[largest]] = largest
    chosen = found
    there = chosen >= 0
    taken, portions = np.zeros((2, size), dtype=np.int64), np.full((2, size), np.nan)
    taken[:, there] = sides.way_counts.sum(axis=1)[:, chosen[there]]
    portions[:, there] = portion[:, chosen[there]]
    n = sides.trials.sum(axis=1).tolist()
    return DivergenceParts(
        divergence,
        (n[0], n[1]),
        term,
        share,
        sides.through.sum(axis=1),
        np.where(there, sides.ways[chosen], -1),
        taken,
        portions,
        tuple(sides.titles[way] if way >= 0 else "" for way in chosen.tolist()),
    )


def pairs_behind(sides: BothSides, node: int, branch: int, end: str = "", most: int = 3) -> tuple[Pair, ...]:
    """Find pairs of conversations, of different topics, that show how the sides differ at a node.

    Both conversations came to the node. On the side with the larger share of `branch` the conversation took this
    branch, and on the other side it did not. `branch` is the node itself for the end called `end`, or for any end if
    `end` is "". The topics whose shares differ most come first, each with its first trials. Returns at most the given
    number of pairs, possibly none.
    """
    ways = np.flatnonzero((sides.nodes == node) & (sides.ways == branch)).tolist()
    ways = [way for way in ways if end in ("", sides.titles[way])]
    came, took = sides.through[:, :, node], sides.way_counts[:, :, ways].sum(axis=2)
    with np.errstate(invalid="ignore"):
        local = took / came
        leads = (took / sides.trials).sum(axis=1) / (came / sides.trials).sum(axis=1)
    more = int(leads[1] > leads[0])
    gap = np.where((took[more] > 0) & (took[1 - more] < came[1 - more]), local[more] - local[1 - more], np.nan)
    order = [place for place in np.argsort(-gap, kind="stable").tolist() if not np.isnan(gap[place])]
    tree = sides.tree
    here = tree.through(node)
    if branch == node and end and sides.ends is not None:
        taking = sides.ends.at[here] == sides.ends.find(node, end)
    else:
        taking = np.isin(here, tree.ending_at(node) if branch == node else tree.through(branch))
    found = []
    for place in order[:most]:
        first = []
        for side, name in enumerate(sides.names):
            own = _trials_of(tree, name, sides.topics[place])
            wanted = here[(here >= own.start) & (here < own.stop) & (taking == (side == more))]
            first.append(tree.trials[wanted[0]].key.trial)
        found.append(Pair(sides.topics[place], first[0], first[1]))
    return tuple(found)
