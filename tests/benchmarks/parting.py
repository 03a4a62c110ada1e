"""How often a turn is named at which two systems do not differ, and how often the one at which they do.

    python -m tests.benchmarks.parting                        a quick look, 100 simulations a row
    python -m tests.benchmarks.parting --simulations 1000     the tables of docs/stochastic.md

Two systems answer twice, o or x; after a first x some conversations break down. Topics differ in how hard they are. In
the first table the systems are the same, or differ at the first turn alone; in the second at one node.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from recordings.trees.builder import fold
from recordings.trees.tree import ConversationTree, Symbol
from scoring.stochastic.node_permutation import NodeTests, node_tests, whole_tree_test
from scoring.stochastic.parting import BothSides, split_divergence

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

SEED = 19900515
DRAWS = 199
PLACES = {"": "the first answer", "o": "the second answer after o", "x": "what follows x"}
_PATHS = np.array([[0, 0], [0, 1], [1, -1], [1, 0], [1, 1]])
_SYMBOLS = (Symbol("system", "o"), Symbol("system", "x"))


@dataclass(frozen=True, slots=True)
class World:
    """usual: log odds of o first, of o after o, of o after x, and of no breakdown after x, of a middling topic.
    spread: standard deviation of the first over topics; the others' is half of it. change: in the second system.
    """

    name: str
    topics: int
    trials: tuple[int, int]
    usual: tuple[float, float, float, float] = (0.4, 0.8, 0.0, 1.4)
    spread: float = 1.5
    change: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    true: tuple[str, ...] = ("", "o", "x")  # the places at which the systems do not differ


SAME = (
    World("the same system, 45 topics × 5 trials", 45, (5, 5)),
    World("the same, 15 × 10", 15, (10, 10)),
    World("the same, 15 × 20 against 15 × 3", 15, (20, 3)),
    World("the same, 1 × 50", 1, (50, 50)),
)
APART = tuple(
    World(
        f"o first in 95% and 5%, {topics} × {one}" + (f" against {topics} × {two}" if one != two else ""),
        topics,
        (one, two),
        (2.94, 2.6, 2.2, 2.9),
        0.0,
        (-5.88, 0.0, 0.0, 0.0),
        ("o", "x"),
    )
    for topics, one, two in ((1, 50, 50), (3, 20, 20), (10, 10, 10), (45, 10, 2))
)
PLANTED = tuple(
    World(
        f"{PLACES[place]}, {topics} × {trials}",
        topics,
        (trials, trials),
        change=tuple(-1.5 * (number == at) for number in range(4)),  # type: ignore[arg-type]
        true=tuple(other for other in PLACES if other != place),
    )
    for topics, trials in ((45, 10), (15, 10), (45, 5))
    for at, place in enumerate(PLACES)
)


@lru_cache
def _folded(kinds: tuple[int, ...]) -> tuple[ConversationTree, dict[str, int]]:
    """A tree of so many trials of each path, in their order, and its nodes by the labels that lead there."""
    tree = fold(_PATHS[np.repeat(np.arange(5), kinds)], _SYMBOLS)
    return tree, {"".join(tree.symbol_at(at).key for at in tree.path(node)): node for node in range(len(tree))}


def simulated(world: World, rng: np.random.Generator) -> tuple[BothSides, dict[str, int]]:
    """The trials of two systems, and the nodes by the labels that lead there."""
    scale = world.spread * np.array([1.0, 0.5, 0.5, 0.0])
    usual = np.array(world.usual) + scale * rng.normal(size=(world.topics, 4))
    counts = np.stack(
        [
            rng.multinomial(trials, _law(usual + np.array(change)))
            for trials, change in zip(world.trials, ((0, 0, 0, 0), world.change))
        ]
    )
    tree, nodes = _folded(tuple(counts.sum(axis=(0, 1)).tolist()))
    _, sides, topics = np.indices((5, 2, world.topics)).reshape(3, -1)
    times = counts.transpose(2, 0, 1).reshape(-1)  # by path first, as in the tree
    names = tuple(f"T{number:02d}" for number in range(world.topics))
    return BothSides.count_trials(tree, np.repeat(sides, times), np.repeat(topics, times), names), nodes


def _law(odds: Floats) -> Floats:
    """(K, 5) probabilities of the paths. odds: (K, 4) log odds as in `World`."""
    first, again, recovers, stays = 1 / (1 + np.exp(-odds.T))
    failed = (1 - first) * stays
    paths = (first * again, first * (1 - again), (1 - first) * (1 - stays), failed * recovers, failed * (1 - recovers))
    return np.stack(paths, axis=1)


def named(tests: NodeTests, nodes: dict[str, int]) -> list[str]:
    """The places that are named at 5%, the first of them first."""
    found = [place for place in PLACES if place in nodes and tests.p[nodes[place]] <= 0.05]
    return sorted(found, key=lambda place: -tests.z[nodes[place]])


def named_by_whole(both: BothSides, nodes: dict[str, int], rng: np.random.Generator, draws: int = DRAWS) -> list[str]:
    """The places that would be named if whole conversations were dealt anew: what `node_permutation` does not do."""
    used, at, every = np.flatnonzero(both.ended.any(axis=(0, 1))), both.nodes, np.arange(len(both.tree))
    below = (used[:, None] >= every) & (used[:, None] < every + both.tree.size)
    taking = np.where(both.ways == at, used[:, None] == both.ways, below[:, both.ways]).astype(np.float64)
    beyond, spread = np.zeros((2, draws + 1, len(at)))
    for ended in both.ended[:, :, used].transpose(1, 0, 2):
        whole = ended.sum(axis=0)
        dealt = rng.multivariate_hypergeometric(whole, ended[1].sum(), size=draws, method="marginals")
        side = np.concatenate([ended[1:], dealt]).astype(np.float64)
        m, n, c = np.maximum((whole @ below)[at], 2), (side @ below)[:, at], whole @ taking
        beyond += side @ taking - n * c / m
        spread += n * (m - n) * c * (m - c) / (m**2 * (m - 1))
    spread[spread < 1e-9] = np.inf
    z = np.stack([(np.abs(beyond) / np.sqrt(spread))[:, at == node].max(axis=1) for node in nodes.values()])
    z = z[[place in PLACES for place in nodes]]
    p = (z.max(axis=0) >= z[:, :1] - 1e-9).mean(axis=1)
    return [place for place, one in zip([place for place in nodes if place in PLACES], p.tolist()) if one <= 0.05]


@dataclass(frozen=True, slots=True)
class Errors:
    """Shares of simulations: nodes named wrongly; whole trees said to differ; nodes named wrongly, had whole
    conversations been dealt anew. chance: mean divergence, and what the draws say of it, in bits."""

    nodes: float
    whole: float
    otherwise: float
    divergence: float
    by_chance: float


def errors(world: World, simulations: int, *, otherwise: bool = True) -> Errors:
    rng = np.random.default_rng([SEED, world.topics, *world.trials])
    found = np.zeros(5)
    for _ in range(simulations):
        both, nodes = simulated(world, rng)
        whole = whole_tree_test(both, rng, draws=DRAWS)
        wrong = set(world.true) & set(named(node_tests(both, rng, draws=DRAWS), nodes))
        others = set(world.true) & set(named_by_whole(both, nodes, rng)) if otherwise else set()
        found += bool(wrong), whole.p <= 0.05, bool(others), split_divergence(both).divergence, whole.by_chance
    return Errors(*(found / simulations).tolist())


def findings(world: World, simulations: int) -> tuple[float, float]:
    """Shares of simulations in which the one node that differs is named, and is named first."""
    rng = np.random.default_rng([SEED, world.topics, *world.trials, len(world.true)])
    planted = next(place for place in PLACES if place not in world.true)
    found = np.zeros(2)
    for _ in range(simulations):
        both, nodes = simulated(world, rng)
        places = named(node_tests(both, rng, draws=DRAWS), nodes)
        found += planted in places, places[:1] == [planted]
    return float(found[0] / simulations), float(found[1] / simulations)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--simulations", type=int, default=100)
    simulations = options.parse_args().simulations
    print("| two systems | wrong node named | whole: p ≤ .05 | wrong, if whole conversations were assigned at random |")
    print("|---|---|---|---|")
    for world in (*SAME, *APART):
        one = errors(world, simulations)
        print(f"| {world.name} | {one.nodes:.3f} | {one.whole:.3f} | {one.otherwise:.3f} |", flush=True)
    print("\n| a change of 1.5 in the log odds of | named | named first |\n|---|---|---|")
    for world in PLANTED:
        found, first = findings(world, simulations)
        print(f"| {world.name} | {found:.2f} | {first:.2f} |", flush=True)


if __name__ == "__main__":
    main()
