"""The power of `node_permutation.node_tests` by simulation: how often the turn at which two systems differ is named.

The model of topics comes from a pilot's tree. At each node the probabilities of the ways to go on vary over topics,

    p_k(·|v) ~ Dirichlet(c_v·m_v)     independent over nodes v

with m_v the pilot's shares, averaged over topics with equal weight, and the concentration c_v that makes the pilot's
counts most likely. Counts of a topic follow the compound multinomial distribution (J. E. Mosimann, Biometrika 49
(1962), 65-82), so whole conversations follow a Dirichlet tree (T. Minka, The Dirichlet-tree distribution, 1999). With a
single Dirichlet distribution of whole conversations, every topic would go one way at a node that few conversations
reach. The c of a node with little data is shrunk towards the c fitted to all nodes together: log c_v is normal around
the log of that c, with a standard deviation of 1.

In a simulated study both sides have the same probabilities, except for one way at one node: on the second side the odds
of this way are multiplied by one factor for all topics, chosen to give the way its wanted share of the trials at the
node. The node's z is computed for many studies at once. The critical value of z depends on all nodes that are tested,
so it comes from the test itself, which is run in some of the studies.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.trees.tree import ConversationTree
from scoring.stochastic.node_permutation import DRAWS, NodeTests, node_tests
from scoring.stochastic.parting import BothSides, Ends, plain_ends
from topics.arrays import Counts, Floats

Indices = npt.NDArray[np.intp]

_GRID = np.geomspace(0.1, 1000, 81)  # concentrations, from each topic going one way to all topics alike
_LAWS = 20_000  # topics over which a change of odds is averaged
_WIDEST = 60.0  # log odds
_FEWEST_TESTED, MOST_TESTED = 8, 300  # studies in which the test itself is run
_FEW_DRAWS = 199  # draws for each of many simulated studies
_MOST_WORK = 30_000  # nodes × topics × studies in which the test is run
_CERTAIN = 0.005  # share of z on the other side of the critical value
_SAME = 1e-9  # values that differ only by rounding must rank as equal on every machine


@dataclass(frozen=True, slots=True, eq=False)
class NodeModel:
    """The model of topics, and the change to be found.

    - `tree`: the tree of the pilot.
    - `nodes`, `ways`, `titles`: (J,) arrays as in `BothSides`.
    - `share`: (J,) the share of each way among trials that come to its node, in (0, 1].
    - `alike`: (N,) the concentration c of each node.
    - `way`: the index in J of the way whose share becomes `changed`.
    - `shift`: the amount added to the log odds of every topic to reach `changed`.
    """

    tree: ConversationTree
    nodes: Indices
    ways: Indices
    share: Floats
    alike: Floats
    way: int
    changed: float
    shift: float
    titles: tuple[str, ...]

    @property
    def ends(self) -> Ends:
        """The ways that end a conversation, in order."""
        first = len(self.tree) - 1
        return Ends(self.nodes[first:], self.titles[first:], np.zeros(0, dtype=np.intp))

    def ways_from(self, node: int) -> Indices:
        """Return the indices in J of the ways to go on from a node."""
        return np.flatnonzero(self.nodes == node)

    @property
    def share_of_visits(self) -> float:
        """The share of conversations that come to the node of the change."""
        return float(np.prod([self.share[place] for place in self.ways_to_node]))

    @property
    def spread(self) -> float:
        """The standard deviation between topics of the way's share before the change."""
        share = float(self.share[self.way])
        return math.sqrt(share * (1 - share) / (1 + float(self.alike[self.nodes[self.way]])))

    @property
    def ways_to_node(self) -> list[int]:
        """The indices in J of the ways from the root to the node of the change."""
        place = {int(branch): number for number, branch in enumerate(self.ways[: len(self.tree) - 1])}
        node = int(self.nodes[self.way])
        return [place[turn] for turn in self.tree.path(node)]

    def draw_probabilities(self, node: int, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Draw (studies, 2, topics, W) probabilities of the ways to go on from a node, for both sides."""
        at = self.ways_from(node)
        drawn = rng.dirichlet(self.alike[node] * self.share[at], size=shape) if len(at) > 1 else np.ones((*shape, 1))
        laws = np.stack([drawn, drawn], axis=1)
        if node == self.nodes[self.way]:
            moved = laws[:, 1] * np.where(at == self.way, math.exp(min(self.shift, 0)), math.exp(min(-self.shift, 0)))
            laws[:, 1] = moved / moved.sum(axis=-1, keepdims=True)
        return laws

    def statistics(self, topics: int, trials: int, studies: int, rng: np.random.Generator) -> Floats:
        """Return (studies,) statistics of the node that differs, as in `node_tests`; NaN if no topic is informative."""
        shape, reach = (studies, topics), np.ones((studies, topics))
        for place in self.ways_to_node:
            share, c = self.share[place], self.alike[self.nodes[place]]
            if share < 1:
                reach *= rng.beta(c * share, c * (1 - share), size=shape)
        came = rng.binomial(trials, np.stack([reach, reach], axis=1))
        return largest_z(came, rng.multinomial(came, self.draw_probabilities(int(self.nodes[self.way]), shape, rng)))


@dataclass(frozen=True, slots=True)
class NodePower:
    """The power found by simulation; NaN if no node could reach the level, so that there is no test.

    `found` is the share of studies that name the node, with its Monte Carlo standard error. `come` is the mean number
    of a system's trials that come to the node, and `critical` the mean value that z must exceed.
    """

    found: float
    found_error: float
    come: float
    critical: float


def node_model(
    tree: ConversationTree,
    ended: npt.ArrayLike,
    through: npt.ArrayLike,
    system: npt.ArrayLike,
    node: int,
    branch: int,
    changed: float,
    rng: np.random.Generator,
    *,
    ends: Ends | None = None,
    end: str = "",
) -> NodeModel:
    """Fit the model to a pilot.

    - `ended`, `through`: (C, E) trials that come to each end, and (C, N) trials that pass through each node or end
      there, with one row for each pair of a topic and a system with a trial.
    - `system`: (C,) the system of each row, from 0. Systems may go different ways, and their mean is simulated.
    - `branch`: the way on from `node` whose share becomes `changed`, in (0, 1); `node` itself for its end called `end`.
    - `ends`: the E ends; None if each node has one end.

    Raises ValueError if no trial went that way, or if all trials that came to the node did.
    """
    known = ends or plain_ends(len(tree))
    stopped, passed, own = (np.asarray(given, dtype=np.int64) for given in (ended, through, system))
    stops = np.flatnonzero(stopped.any(axis=0))
    nodes = np.concatenate([tree.parent[1:].astype(np.intp), known.node[stops]])
    ways = np.concatenate([np.arange(1, len(tree), dtype=np.intp), known.node[stops]])
    titles = ("",) * (len(tree) - 1) + tuple(known.name[stop] for stop in stops.tolist())
    weight = 1.0 / passed[:, :1]
    came = passed[:, nodes]
    took = np.concatenate([passed[:, 1:], stopped[:, stops]], axis=1)
    above, below = (took * weight).sum(axis=0), (came * weight).sum(axis=0)
    share = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    alike = _concentrations(nodes, took, came, own, weight, len(tree))
    places = np.flatnonzero((nodes == node) & (ways == branch)).tolist()
    way = next((place for place in places if titles[place] == end), -1)
    if way < 0 or not 0 < share[way] < 1:
        raise ValueError("the share of this way cannot change unless some trials at the node took it and some did not")
    laws = rng.beta(alike[node] * share[way], alike[node] * (1 - share[way]), size=_LAWS)
    return NodeModel(tree, nodes, ways, share, alike, way, changed, _shift(laws, changed), titles)


def _shift(laws: Floats, changed: float) -> float:
    odds = np.log(np.maximum(laws, 1e-300)) - np.log(np.maximum(1 - laws, 1e-300))
    low, high = -_WIDEST, _WIDEST
    while high - low > _SAME:
        middle = (low + high) / 2
        over = float((1 / (1 + np.exp(-np.clip(odds + middle, -700, 700)))).mean()) > changed
        low, high = (low, middle) if over else (middle, high)
    return (low + high) / 2


def _concentrations(nodes: Indices, took: Counts, came: Counts, system: Counts, weight: Floats, size: int) -> Floats:
    """Return (N,) maximum-likelihood concentrations c of the nodes, 1 for a node with one way on."""
    likely = np.zeros((size, len(_GRID)))
    several = np.flatnonzero(np.bincount(nodes, minlength=size) > 1)
    for node in several.tolist():
        at = np.flatnonzero(nodes == node)
        for one in np.unique(system).tolist():
            rows = np.flatnonzero((system == one) & (came[:, at[0]] > 0))
            if len(rows) > 1:
                counts, below = took[np.ix_(rows, at)], came[rows, at[0]]
                shares = (counts * weight[rows]).sum(axis=0) / (below * weight[rows, 0]).sum()
                likely[node] += _likelihood(counts, below, shares)
    common = math.log(_GRID[int(likely.sum(axis=0).argmax())])
    drawn = likely - np.square(np.log(_GRID) - common) / 2
    alike = np.ones(size)
    alike[several] = _GRID[drawn[several].argmax(axis=1)]
    return alike


def _likelihood(counts: Counts, below: Counts, shares: Floats) -> Floats:
    """Return (G,) log likelihoods, up to a constant, of concentrations, for (K, W) counts and (W,) shares."""
    found = np.zeros(len(_GRID))
    for taken in range(int(below.max())):
        found -= (below > taken).sum() * np.log(_GRID + taken)
        more = (counts > taken).sum(axis=0)
        some = more > 0
        found += np.log(_GRID[:, None] * shares[some] + taken) @ more[some]
    return found


def node_power(
    model: NodeModel,
    topics: int,
    trials: int,
    rng: np.random.Generator,
    *,
    alpha: float = 0.05,
    studies: int = 1000,
    tested: int = MOST_TESTED,
) -> NodePower:
    """Simulate the power of a study with these numbers of topics, and of trials per topic and system.

    `alpha` is the level of the test. `studies` studies are simulated and their z computed. The test itself takes
    longer, so it is run in at most `tested` of these studies and in no more than about a second allows, or in fewer if
    z nearly always or nearly never reaches the critical value. The z of few trials has few values, so the power is
    corrected by the rate at which the test disagrees with z. Raises InputError if the draws of the test cannot reach
    alpha.
    """
    come = topics * trials * model.share_of_visits
    none = NodePower(math.nan, math.nan, come, math.nan)
    if trials < 2:
        return none
    node, draws = int(model.nodes[model.way]), min(DRAWS, max(_FEW_DRAWS, math.ceil(10 / alpha) - 1))

    def test_studies(number: int) -> list[NodeTests]:
        drawn = drawn_studies(model, topics, trials, number, rng)
        return [node_tests(one, rng, draws=draws, level=alpha) for one in drawn]

    tests, z = test_studies(_FEWEST_TESTED), model.statistics(topics, trials, studies, rng)
    over = z > _mean_critical(tests)
    if min(over.mean(), 1 - over.mean()) > _CERTAIN or np.isnan([one.critical for one in tests]).any():
        several = int((np.bincount(model.nodes) > 1).sum())
        affordable = min(studies, tested, _MOST_WORK // (topics * several))
        tests += test_studies(max(0, affordable - _FEWEST_TESTED))
        over = z > _mean_critical(tests)
    critical = _mean_critical(tests)
    if math.isnan(critical):
        return none
    apart = np.array([float(one.p[node] <= alpha + _SAME) - float(one.z[node] > critical) for one in tests])
    found = min(1.0, max(0.0, float(over.mean() + apart.mean())))
    error = math.sqrt(max(over.var(), 1 / studies) / studies + apart.var() / len(tests))
    return NodePower(found, error, come, critical)


def _mean_critical(tests: Sequence[NodeTests]) -> float:
    known = [one.critical for one in tests if not math.isnan(one.critical)]
    return sum(known) / len(known) if known else math.nan


def drawn_studies(
    model: NodeModel, topics: int, trials: int, studies: int, rng: np.random.Generator
) -> list[BothSides]:
    size = len(model.tree)
    through = np.zeros((studies, 2, topics, size), dtype=np.int64)
    ended = np.zeros((studies, 2, topics, len(model.ends.node)), dtype=np.int64)
    through[..., 0] = trials
    for node in range(size):
        at = model.ways_from(node)
        took = rng.multinomial(through[..., node], model.draw_probabilities(node, (studies, topics), rng))
        for place, way in enumerate(at.tolist()):
            if way < size - 1:
                through[..., model.ways[way]] = took[..., place]
            else:
                ended[..., way - size + 1] = took[..., place]
    names = tuple(f"{number:06d}" for number in range(topics))
    return [BothSides(model.tree, ("0", "1"), names, *one, ends=model.ends) for one in zip(ended, through)]


def largest_z(came: Counts, took: Counts) -> Floats:
    """Return (studies,) largest |z|, from (studies, 2, topics) arrivals and (…, ways) departures."""
    m, n, c = came.sum(axis=1)[..., None], came[:, 1, :, None], took.sum(axis=1)
    telling = (n > 0) & (n < m) & (c.max(axis=-1, keepdims=True) < m)
    part = np.where(telling, n / np.maximum(m, 1), 0.0)
    beyond = (np.where(telling, took[:, 1], 0) - part * c).sum(axis=1)
    spread = (part * (1 - part) * c * (m - c) / np.maximum(m - 1, 1)).sum(axis=1)
    z = np.divide(np.abs(beyond), np.sqrt(spread), out=np.full(beyond.shape, -np.inf), where=spread > 0).max(axis=1)
    return np.where(np.isfinite(z), z, np.nan)
