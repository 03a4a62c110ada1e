"""Systems with known differences over topics that differ, for tests of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.losses import LostTrials

__all__ = ["allowed_errors", "drawn_shares", "drawn_systems", "lost_whole"]

Floats = npt.NDArray[np.float64]


def drawn_shares(rng: np.random.Generator, topics: int, icc: float, mean: float = 0.6) -> Floats:
    """(topics,) chances of a useful answer. icc: how much of the variance of an answer lies between topics."""
    if not icc:
        return np.full(topics, mean)
    size = 1 / icc - 1
    return rng.beta(mean * size, (1 - mean) * size, topics)


def drawn_systems(rng: np.random.Generator, chances: Floats, trials: Sequence[int]) -> Aligned:
    """Answers that are useful or not. chances: (topics, systems). trials: of each topic, by system."""
    names = [f"T{row:03}" for row in range(len(chances))]
    systems = [f"S{column}" for column in range(len(trials))]
    cells: dict[str, dict[Trial, Cell]] = {}
    for column, (system, count) in enumerate(zip(systems, trials, strict=True)):
        useful = rng.random((len(names), count)) < chances[:, column, None]
        cells[system] = {
            (name, trial): (float(useful[row, trial]), 1.0) for row, name in enumerate(names) for trial in range(count)
        }
    return align(names, systems, cells, pooled=False)


def lost_whole(counts: Mapping[str, int], low: Cell, high: Cell) -> LostTrials:
    """Trials without any answer, by topic how many: each could have given anything from `low` to `high`."""
    trials = [(topic, -1 - number) for topic, count in counts.items() for number in range(count)]
    return LostTrials(dict.fromkeys(trials, low), dict.fromkeys(trials, high))


def allowed_errors(replications: int, rate: float, doubt: float = 1e-4) -> int:
    """The most errors that so many replications make at a rate of `rate` but once in 1/doubt times."""
    from scipy.stats import binom

    return int(binom.ppf(1 - doubt, replications, rate))
