"""What is computed on arrays, beside the plainest numpy that does the same, and beside the bound it is held to.

    python -m tests.benchmarks.kernels            half a minute
    python -m tests.benchmarks.kernels --write    writes its part of docs/performance.md

    divergences   RNOD, NMD and JSD of a million distributions over five groups
    fold          a million conversations of 10 turns, user and system in each, into a tree by label
    bootstrap     an interval with two levels, 45 topics × 50 trials, B = 10,000
    tukey         randomised Tukey HSD of 10 systems over 45 topics, B = 10,000
    nuggets       weighted averages of 20 nuggets in each of 10,000 conversations, as times `np.bincount`

Processor seconds of all threads, the best of three. The plain formulations check nothing, keep no rounding within its
range, and make no tree: prefixes are counted one column after the other.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from recordings.trees.builder import fold
from recordings.trees.tree import Symbol
from scoring.divergences import jsd, nmd, rnod
from scoring.inference.bootstrap import Resampler
from scoring.statistics.tukey import tukey_p
from scoring.statistics.two_levels import two_level_counts
from scoring.swan.item import Item, ScoredItem, Source
from scoring.swan.wan import Wan, wan, wans, weighted_sums
from scoring.swan.weighting import Linear, Places
from tests.support.performance_page import HEADING, Bounded, machine, write_part

SEED = 20231212
ROWS, GROUPS = 1_000_000, 5
TURNS, TOPICS, TRIALS, SYSTEMS, DRAWS = 10, 45, 50, 10, 10_000
CONVERSATIONS, NUGGETS = 10_000, 20
Floats = npt.NDArray[np.float64]
HEAD = """## Arrays

Processor seconds on arrays in memory, the best of three, beside the plainest numpy that does the same without checks;
written by `python -m tests.benchmarks.kernels --write`."""
TOLD = """The bootstrap of two levels draws an index for each of 2,250 trials of each replication, and counts how often
each trial comes, once for all measures; these draws alone take {draws:.2f} s. It is not the default.

Sums of weighted averages are exactly rounded; those of `np.bincount` depend on the order of items. Both get arrays that
have been made beforehand. `score` makes them of items that each know who scored them and why, one object each, which
takes {each:.1f} µs for a conversation, sums included."""


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, the best of three."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def beside(what: str, ours: Callable[[], object], plain: Callable[[], object], bound: float) -> Bounded:
    own, other = seconds(ours), seconds(plain)
    return Bounded(what, own, bound, "s", f"plain numpy {other:.2f} s")


def divergences() -> Bounded:
    rng = np.random.default_rng(SEED)
    p, q = (rng.dirichlet(np.ones(GROUPS), ROWS) for _ in range(2))

    def plain() -> None:
        places = np.arange(GROUPS)
        distances = np.abs(places[:, None] - places)
        np.sqrt((np.square(p - q) @ distances).mean(axis=1) / (GROUPS - 1))
        np.abs(np.cumsum(p - q, axis=1)).sum(axis=1) / (GROUPS - 1)
        middle = (p + q) / 2
        (p * np.log2(p / middle) + q * np.log2(q / middle)).sum(axis=1) / 2

    return beside("RNOD, NMD and JSD, 10⁶ × 5", lambda: (rnod(p, q), nmd(p, q), jsd(p, q)), plain, 0.25)


def tree() -> list[Bounded]:
    rng = np.random.default_rng(SEED)
    paths = np.zeros((ROWS, 2 * TURNS), dtype=np.int32)
    paths[:, 1::2] = 1 + (rng.random((ROWS, TURNS)) < 0.3)
    symbols = [Symbol("user", "more"), Symbol("system", "o"), Symbol("system", "x")]

    def plain() -> None:
        node = np.zeros(ROWS, dtype=np.int64)
        for column in range(2 * TURNS):
            _, node = np.unique(node * 3 + paths[:, column], return_inverse=True)
            np.bincount(node)

    spent = seconds(lambda: fold(paths, symbols))
    tracemalloc.start()
    fold(paths, symbols)
    held = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    note = f"plain numpy {seconds(plain):.2f} s"
    what = "10⁶ conversations × 10 turns into a tree by label"
    return [Bounded(what, spent, 0.6, "s", note), Bounded(f"{what}: memory beyond the data", held, 200, "MB")]


def bootstrap() -> Bounded:
    values = np.random.default_rng(SEED).random((TOPICS, TRIALS))
    names = [f"T{number:02}" for number in range(TOPICS)]

    def ours() -> None:
        resampler = Resampler(np.random.default_rng(SEED), replications=DRAWS, resample="topics+trials")
        resampler.means(names, values[:, :, None])

    def plain() -> None:
        rng = np.random.default_rng(SEED)
        topics = rng.integers(TOPICS, size=(DRAWS, TOPICS))
        trials = rng.integers(TRIALS, size=(DRAWS, TOPICS, TRIALS), dtype=np.uint8)
        np.quantile(values[topics[:, :, None], trials].mean(axis=(1, 2)), [0.025, 0.975])

    return beside(f"bootstrap of two levels, {TOPICS} × {TRIALS}, B = 10,000", ours, plain, 0.2)


def tukey() -> Bounded:
    values = np.random.default_rng(SEED).random((TOPICS, SYSTEMS))

    def plain() -> None:
        rng = np.random.default_rng(SEED)
        means = rng.permuted(np.broadcast_to(values, (DRAWS, TOPICS, SYSTEMS)), axis=2).mean(axis=1)
        np.sort(means.max(axis=1) - means.min(axis=1))

    def ours() -> None:
        tukey_p(values, np.random.default_rng(SEED), draws=DRAWS)

    return beside(f"Tukey HSD, {SYSTEMS} systems, {TOPICS} topics, B = 10,000", ours, plain, 0.06)


def draws() -> float:
    """Seconds for the random numbers of the bootstrap alone."""

    return seconds(lambda: two_level_counts(np.random.default_rng(SEED), np.full(TOPICS, TRIALS), DRAWS))


def nuggets() -> tuple[Bounded, float]:
    """The ratio, and microseconds a conversation where items come one object each."""
    rng = np.random.default_rng(SEED)
    values = rng.random((CONVERSATIONS, NUGGETS))
    weighting = Linear()
    positions = np.tile(25.0 * np.arange(1, NUGGETS + 1), CONVERSATIONS)
    where, flat = np.repeat(np.arange(CONVERSATIONS), NUGGETS), values.ravel()
    counts, none = np.full(CONVERSATIONS, NUGGETS), np.zeros(len(flat))
    places = Places(positions, none, none.astype(np.bool_))
    by = Source("rule", "benchmark")
    scored = [
        [ScoredItem(Item(1, 0, 1, "F", 25 * place + 25, place, False), value, by) for place, value in enumerate(row)]
        for row in values.tolist()
    ]

    def plain() -> Floats:
        weights = np.maximum(0.0, 1 - (positions - 1) / weighting.L)
        found: Floats = np.bincount(where, weights * flat) / np.bincount(where, weights)
        return found

    def ours() -> Floats:
        above, below = weighted_sums(counts, places, flat, weighting)
        found: Floats = above / below
        return found

    def objects() -> list[Wan]:
        return wans(scored, "Fluency", weighting, counts.tolist())

    np.testing.assert_allclose(ours(), plain())
    assert [one.value for one in objects()] == [wan(one, "Fluency", weighting).value for one in scored]
    own, other = seconds(ours), seconds(plain)
    what = f"weighted averages of {NUGGETS} nuggets in {CONVERSATIONS:,} conversations, beside `np.bincount`"
    row = Bounded(what, own / other, 1.5, "×", f"{own:.4f} s beside {other:.4f} s")
    return row, 1e6 * seconds(objects) / CONVERSATIONS


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true")
    write = options.parse_args().write
    averages, each = nuggets()
    table = "\n".join([HEADING, *(one.row() for one in (*tree(), divergences(), bootstrap(), tukey(), averages))])
    told = TOLD.format(draws=draws(), each=each)
    print(f"{table}\n\n{told}\n\n{machine()}, numpy {np.__version__}")
    if write:
        write_part("kernels", f"{HEAD}\n\n{table}\n\n{told}")


if __name__ == "__main__":
    main()
