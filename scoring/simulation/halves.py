"""The noise floor of real users: how far apart two random halves of them are.

A simulated user need not be closer to real ones than real ones are to each other. How close that is depends on how many
there are, so it is never a fixed number: the dialogues at hand are split into halves many times, and what is measured
between real and simulated is measured between the halves. For a fair comparison simulated dialogues are then drawn in
the size of a half and held against a half:

    floor       D(half, other half)
    matched     D(half, as many simulated dialogues, drawn without replacement)

Both have the sampling noise of two groups of that size. Where there are fewer simulated dialogues than half of the real
ones, both groups of real ones are cut to their number. A person's dialogues stay on one side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue

__all__ = ["FEWEST", "Distance", "Floor", "Spread", "noise_floor", "random_halves"]

Floats = npt.NDArray[np.float64]
Distance = Callable[[Sequence[Dialogue], Sequence[Dialogue]], float]


FEWEST = 10
"""Dialogues that a group must have for a verdict."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Of a distance over many random splits. low, high: the middle 95% of them. least, most: the range. n: splits with
    a value. All NaN for n = 0."""

    median: float
    low: float
    high: float
    least: float
    most: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        known = np.array([value for value in values if not math.isnan(value)])
        if not known.size:
            return cls(math.nan, math.nan, math.nan, math.nan, math.nan, 0)
        least, low, median, high, most = (float(q) for q in np.quantile(known, [0, 0.025, 0.5, 0.975, 1]))
        return cls(median, low, high, least, most, known.size)


@dataclass(frozen=True, slots=True)
class Floor:
    """floor: between two groups of real dialogues. matched: between one of them and as many simulated dialogues. size:
    dialogues in a group, at the median.

    verdict: `within` where the median of `matched` is at most the upper end of the middle 95% of `floor`; `beyond`
    where it is above; `undecided` where either has no value, or groups have fewer than FEWEST dialogues: then almost
    anything would be within.
    """

    floor: Spread
    matched: Spread
    size: int

    @property
    def verdict(self) -> str:
        if not self.floor.n or not self.matched.n or self.size < FEWEST:
            return "undecided"
        return "within" if self.matched.median <= self.floor.high else "beyond"


def random_halves(
    dialogues: Sequence[Dialogue], rng: np.random.Generator, *, size: int | None = None
) -> tuple[list[Dialogue], list[Dialogue]]:
    """Two random groups that share no user. size: dialogues in each, at least [half of what there is]; groups are
    filled user by user and cut to it. Raises ValueError where there are too few."""
    by_unit: dict[str, list[Dialogue]] = {}
    for one in dialogues:
        by_unit.setdefault(one.unit, []).append(one)
    units = sorted(by_unit)
    half = len(dialogues) // 2 if size is None else size
    first: list[Dialogue] = []
    second: list[Dialogue] = []
    for place in rng.permutation(len(units)):
        # The smaller side is filled next, so that a person with many dialogues tilts nothing for long.
        (first if len(first) <= len(second) else second).extend(by_unit[units[place]])
        if size is not None and min(len(first), len(second)) >= size:
            break
    if size is None:
        half = min(len(first), len(second))
    if half < 1 or min(len(first), len(second)) < half:
        raise ValueError(f"{len(dialogues)} dialogues of {len(units)} users cannot be split into halves of {half}")
    return _cut(first, half, rng), _cut(second, half, rng)


def noise_floor(
    real: Sequence[Dialogue],
    simulated: Sequence[Dialogue],
    distances: Mapping[str, Distance],
    rng: np.random.Generator,
    *,
    splits: int = 200,
) -> dict[str, Floor]:
    """The floor and the matched distance of each measure. Raises ValueError for fewer than two real users."""
    floors: dict[str, list[float]] = {name: [] for name in distances}
    matched: dict[str, list[float]] = {name: [] for name in distances}
    size = len(simulated) if 2 * len(simulated) < len(real) else None
    sizes = []
    for _ in range(splits):
        first, second = random_halves(real, rng, size=size)
        others = _cut(simulated, min(len(first), len(simulated)), rng)
        sizes.append(len(others))
        for name, distance in distances.items():
            floors[name].append(distance(first, second))
            matched[name].append(distance(first, others))
    middle = int(np.median(sizes))
    return {name: Floor(Spread.of(floors[name]), Spread.of(matched[name]), middle) for name in distances}


def _cut(dialogues: Sequence[Dialogue], size: int, rng: np.random.Generator) -> list[Dialogue]:
    return [dialogues[i] for i in rng.permutation(len(dialogues))[:size]]
