"""Stochastic scores over a million conversations: time for each part, and that the cost grows as their number does.

    python -m tests.benchmarks.stochastic                  10^4, 10^5 and 10^6 conversations of 10 turns
    python -m tests.benchmarks.stochastic --most 100000    up to that many

Each line is one part with its seconds, conversations a second, and the ratio of its cost per conversation to that at
the size before: about 1 where cost grows linearly. Merged by label, the tree is small; "many branches" has 20 kinds of
turns, so that nearly every conversation is a path of its own. The plain formulation beside the tree is `np.unique` over
whole rows of labels with the same expectation taken by row; both are made in one run. Ends with the largest memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recordings.trees.builder import fold
from recordings.trees.tree import ConversationTree, Symbol
from scoring.inference.tails import cvar, pooled_tail
from scoring.nuggets import position_weight
from scoring.stochastic.chain import chain, persistence
from scoring.stochastic.decomposition import contributions, spread
from scoring.stochastic.expectation import ratio
from scoring.stochastic.paths import accumulate_along
from scoring.stochastic.transitions import transitions

Floats = npt.NDArray[np.float64]
_Result = TypeVar("_Result")

TURNS, TOPICS, WORDS = 10, 50, 60


def conversations(n: int, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    """(n, TURNS) labels 0 (o), 1 (x), 2 (ended): sticky, as real systems are, and one in fifty ends after an x."""
    labels = np.empty((n, TURNS), dtype=np.int8)
    labels[:, 0] = rng.random(n) < 0.3
    for turn in range(1, TURNS):
        before = labels[:, turn - 1]
        now = (rng.random(n) < np.where(before == 1, 0.7, 0.2)).astype(np.int8)
        now[(before == 1) & (rng.random(n) < 0.02)] = 2
        labels[:, turn] = np.where(before == 2, 2, now)
    return labels


class Clock:
    """Prints one line a part."""

    def __init__(self) -> None:
        self.before: dict[str, float] = {}

    def timed(self, part: str, n: int, work: Callable[[], _Result]) -> _Result:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        each = seconds / n
        growth = f"{each / self.before[part]:5.2f}" if part in self.before else "    -"
        self.before[part] = each
        print(f"{n:>9,} | {part:<36} | {seconds:8.3f} | {n / seconds:>12,.0f} | {growth}")
        return result


def ingredients(tree: ConversationTree) -> tuple[Floats, Floats]:
    """(N,) parts of numerator and denominator of "useful, weighted by position": each turn has WORDS words."""
    words = np.where(tree.symbol >= 0, float(WORDS), 0.0)
    ends = accumulate_along(tree.parent, words)
    useful = np.array([symbol.key == "o" for symbol in tree.symbols])
    weights = np.where(tree.symbol >= 0, position_weight(np.maximum(ends, 1), 1250), 0.0)
    return weights * np.where(tree.symbol >= 0, useful[tree.symbol], False), weights


def plainly(labels: npt.NDArray[np.int8]) -> tuple[float, float]:
    """Expected and pooled score by grouping whole rows, without a tree."""
    rows, counts = np.unique(labels, axis=0, return_counts=True)
    weights = position_weight(WORDS * np.arange(1, TURNS + 1), 1250)
    top = ((rows == 0) * weights).sum(axis=1)
    bottom = ((rows != 2) * weights).sum(axis=1)
    return float((counts * (top / bottom)).sum() / counts.sum()), float((counts * top).sum() / (counts * bottom).sum())


def measure(n: int, clock: Clock) -> None:
    rng = np.random.default_rng(n)
    labels = conversations(n, rng)
    symbols = (Symbol("system", "o"), Symbol("system", "x"))
    encoded = np.where(labels == 2, -1, labels).astype(np.int64)
    tree = clock.timed("tree (fold by label)", n, lambda: fold(encoded, symbols))
    clock.timed("transitions, intervals, unseen mass", n, lambda: transitions(tree))

    def scored() -> tuple[Floats, Floats]:
        top, bottom = ingredients(tree)
        return accumulate_along(tree.parent, top)[tree.ends], accumulate_along(tree.parent, bottom)[tree.ends]

    top, bottom = clock.timed("numerators and denominators", n, scored)
    readings = clock.timed("expected, pooled, covariance", n, lambda: ratio(top, bottom))
    values = top / bottom
    clock.timed("contributions of branches", n, lambda: contributions(tree.parent, tree.ends, values))
    clock.timed("spread by turn", n, lambda: spread(tree.parent, tree.ends, values))
    clock.timed("CVaR", n, lambda: cvar(values, 0.1))
    topics = [f"T{number:02d}" for number in range(TOPICS)]
    clock.timed(
        "CVaR with interval, 200 replications",
        n,
        lambda: pooled_tail(topics, values.reshape(TOPICS, -1), 0.1, rng, replications=200),
    )
    cube = labels.reshape(TOPICS, -1, TURNS)
    clock.timed("label chain with intervals", n, lambda: chain(cube, topics))
    clock.timed("persistence test", n, lambda: persistence(cube, topics))
    expected, pooled = clock.timed("plain: np.unique of rows, no tree", n, lambda: plainly(labels))
    if not np.allclose([expected, pooled], [readings.expected, readings.pooled], rtol=1e-9):
        raise SystemExit("the tree and the plain formulation disagree")


def measure_many_branches(n: int, clock: Clock) -> None:
    rng = np.random.default_rng(n + 1)
    symbols = [Symbol("system", f"{kind:02d}") for kind in range(20)]
    encoded = rng.integers(0, len(symbols), (n, TURNS), dtype=np.int8)
    tree = clock.timed("many branches: tree", n, lambda: fold(encoded, symbols))
    values = rng.random(n)
    clock.timed("many branches: transitions", n, lambda: transitions(tree))
    clock.timed("many branches: contributions", n, lambda: contributions(tree.parent, tree.ends, values))
    clock.timed("many branches: spread by turn", n, lambda: spread(tree.parent, tree.ends, values))
    print(f"{n:>9,} | many branches: {len(tree):,} nodes")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--most", type=int, default=10**6)
    most = options.parse_args().most
    print(f"{'n':>9} | {'part':<36} | {'seconds':>8} | {'per second':>12} | growth")
    clock = Clock()
    for n in (10**4, 10**5, 10**6):
        if n <= most:
            measure(n, clock)
            measure_many_branches(n, clock)
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
