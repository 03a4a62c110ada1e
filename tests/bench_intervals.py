"""How often the intervals over topics and trials hold the truth: the simulation behind the defaults.

    python tests/bench_intervals.py                      a quick look, 100 simulations
    python tests/bench_intervals.py --simulations 2000   the table of docs/measures.md
    python tests/bench_intervals.py --topics 3 5 8       for as few topics, of five trials each

A line is one world and one kind of interval, a column a number of topics × trials; a cell is coverage (mean width)
of nominal 95% intervals. The intervals are the product's own; only the plain percentile, which it does not offer,
is made here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from scoring.measures.usefulness import share
from scoring.statistics.bootstrap import Interval, Resampler
from scoring.statistics.proportions import wilson

Floats = npt.NDArray[np.float64]
World = Callable[[np.random.Generator, tuple[int, int, int]], Floats]

Sizes = tuple[tuple[int, int], ...]

SIZES: Sizes = tuple((topics, trials) for topics in (45, 15) for trials in (2, 5, 10))
SEED = 20231212


class PlainPercentile(Resampler):
    """The topic bootstrap without the expansion."""

    def _ends(self, n: int) -> list[float]:
        return [0.025, 0.975]


def _scores(topic_means: Callable[[np.random.Generator, int, int], Floats]) -> World:
    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        means = topic_means(rng, *shape[:2])[:, :, None]
        return rng.beta(8 * means, 8 * (1 - means), shape) * (rng.random(shape) > 0.15)

    return draw


def _lognormal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    return np.exp(rng.normal(size=(*shape[:2], 1)) + 0.5 * rng.normal(size=shape))


def _answers(rates: Callable[[np.random.Generator, tuple[int, int, int]], Floats]) -> World:
    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
        return (rng.random(shape) < rates(rng, shape)).astype(np.float64)

    return draw


def _alike(rate: float) -> World:
    return _answers(lambda rng, shape: np.full(shape, rate))


def _by_topic(a: float, b: float) -> World:
    return _answers(lambda rng, shape: rng.beta(a, b, (*shape[:2], 1)))


MEANS: dict[str, tuple[World, float]] = {
    "score, topics differ: mean ~ Beta(4,2), 15% of trials break down": (
        _scores(lambda rng, count, topics: rng.beta(4, 2, (count, topics))),
        0.85 * 4 / 6,
    ),
    "score, topics alike: mean .6, 15% of trials break down": (
        _scores(lambda rng, count, topics: np.full((count, topics), 0.6)),
        0.85 * 0.6,
    ),
    "score, heavy tail: lognormal over topics and trials": (_lognormal, math.exp(0.625)),
}
SHARES: dict[str, tuple[World, float]] = {
    "rate by topic ~ Beta(4,2)": (_by_topic(4, 2), 4 / 6),
    "rate by topic ~ Beta(.1,.9), mean .1": (_by_topic(0.1, 0.9), 0.1),
    "rate by topic ~ Beta(.02,.98), mean .02": (_by_topic(0.02, 0.98), 0.02),
    "rate .5 for all": (_alike(0.5), 0.5),
    "rate .1 for all": (_alike(0.1), 0.1),
    "rate .02 for all": (_alike(0.02), 0.02),
    "rate .98 for all": (_alike(0.98), 0.98),
}
RECOVERIES: dict[str, tuple[World, World, float]] = {
    "first turn fails by topic ~ Beta(1,2), recovers ~ Beta(3,2)": (_by_topic(1, 2), _by_topic(3, 2), 0.6),
    "first turn fails .3, recovers .6, topics alike": (_alike(0.3), _alike(0.6), 0.6),
    "first turn fails .3, recovers .98, topics alike": (_alike(0.3), _alike(0.98), 0.98),
    "first turn fails .3, recovers .02, topics alike": (_alike(0.3), _alike(0.02), 0.02),
    "first turn fails .05, recovers .9, topics alike": (_alike(0.05), _alike(0.9), 0.9),
    "first turn fails by topic ~ Beta(.05,.95), recovers ~ Beta(.5,.5)": (
        _by_topic(0.05, 0.95),
        _by_topic(0.5, 0.5),
        0.5,
    ),
}


def resamplers() -> dict[str, Resampler]:
    rng = np.random.default_rng(SEED)
    return {
        "topics, plain": PlainPercentile(rng),
        "topics, expanded": Resampler(rng),
        "topics+trials": Resampler(rng, resample="topics+trials"),
    }


def cell(intervals: list[tuple[float, float]], truth: float) -> str:
    ends = np.array(intervals)
    ends = ends[~np.isnan(ends[:, 0])]
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return f"{held.mean():.3f} ({np.mean(ends[:, 1] - ends[:, 0]):.2f})"


def _pair(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def mean_cells(world: World, truth: float, topics: int, trials: int, simulations: int) -> Iterator[str]:
    values = world(np.random.default_rng([SEED, topics, trials]), (simulations, topics, trials))
    names = [f"T{number}" for number in range(topics)]
    for resampler in resamplers().values():
        yield cell([_pair(found) for found in resampler.means(names, np.moveaxis(values, 0, -1))], truth)


def share_cells(above: Floats, below: Floats, truth: float, *, pooled: bool) -> Iterator[str]:
    """above, below: (simulations, topics, trials)."""
    kept = [(top, bottom) for top, bottom in zip(above, below, strict=True) if bottom.sum() > 0]
    names = [f"T{number}" for number in range(above.shape[1])]
    lost = np.zeros(above.shape[1:], dtype=bool)
    ends = [wilson(top.sum(), bottom.sum()) for top, bottom in kept]
    yield cell([(float(low), float(high)) for low, high in ends], truth)
    for resampler in (None, *list(resamplers().values())[1:]):
        yield cell(
            [
                _pair(share(names, top, bottom, lost, level=0.95, pooled=pooled, resampler=resampler).interval)
                for top, bottom in kept
            ],
            truth,
        )


def table(title: str, methods: list[str], sizes: Sizes, worlds: Iterator[tuple[str, list[list[str]]]]) -> None:
    """worlds: (name, for each size the cells of all methods)."""
    print(f"\n{title}\n")
    print(f"| world | interval | {' | '.join(f'{topics}×{trials}' for topics, trials in sizes)} |")
    print("|---" * (len(sizes) + 2) + "|")
    for name, columns in worlds:
        for place, method in enumerate(methods):
            cells = [column[place] for column in columns]
            print(f"| {name if place == 0 else ''} | {method} | {' | '.join(cells)} |", flush=True)


def means(simulations: int, sizes: Sizes) -> Iterator[tuple[str, list[list[str]]]]:
    for name, (world, truth) in MEANS.items():
        yield name, [list(mean_cells(world, truth, topics, trials, simulations)) for topics, trials in sizes]


def useful(simulations: int, sizes: Sizes) -> Iterator[tuple[str, list[list[str]]]]:
    for name, (world, truth) in SHARES.items():
        cells = []
        for topics, trials in sizes:
            above = world(np.random.default_rng([SEED, topics, trials]), (simulations, topics, trials))
            cells.append(list(share_cells(above, np.ones_like(above), truth, pooled=False)))
        yield name, cells


def recovered(simulations: int, sizes: Sizes) -> Iterator[tuple[str, list[list[str]]]]:
    for name, (fails, recovers, truth) in RECOVERIES.items():
        cells = []
        for topics, trials in sizes:
            rng, shape = np.random.default_rng([SEED, topics, trials]), (simulations, topics, trials)
            below = fails(rng, shape)
            cells.append(list(share_cells(below * recovers(rng, shape), below, truth, pooled=True)))
        yield name, cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--topics", type=int, nargs="+", default=[])
    arguments = parser.parse_args()
    simulations = arguments.simulations
    sizes = tuple((topics, 5) for topics in arguments.topics) or SIZES
    error = math.sqrt(0.95 * 0.05 / simulations)
    print(f"{simulations} simulations a cell; Monte Carlo standard error {error:.3f} at a coverage of .95.")
    table("Means over topics and trials (R, GF)", list(resamplers()), sizes, means(simulations, sizes))
    formulas = ["Wilson, n = all answers", "Wilson, effective n", "topics, expanded", "topics+trials"]
    table("Shares of answers (%useful)", formulas, sizes, useful(simulations, sizes))
    table("Shares of first-turn failures (%recovery)", formulas, sizes, recovered(simulations, sizes))


if __name__ == "__main__":
    main()
