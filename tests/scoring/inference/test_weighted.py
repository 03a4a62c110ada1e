"""Means over conversations that count unequally hold the truth where it is hard: few topics, a rare stratum, loss."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from scoring.inference.bootstrap import Resampler
from scoring.inference.foretold import WeightedMean, effective_number, weighted_ratio
from tests.support.kept_cells import keep_cells
from topics.identity import generator

Floats = npt.NDArray[np.float64]
STUDIES = 240


@dataclass(frozen=True)
class World:
    """Topics whose users are of two kinds. rare: the share of the second kind. first, second: (a, b) of the beta
    distribution of each kind's rate over topics; alike: whether a topic that is hard for one is hard for the other.
    lost: of each kind, how many of its trials are lost. jump: the second kind's rate is 0 in this share of the topics.
    """

    topics: int
    trials: int
    rare: float
    first: tuple[float, float] = (6, 4)
    second: tuple[float, float] = (2, 6)
    alike: bool = True
    lost: tuple[float, float] = (0.0, 0.0)
    jump: float = 0.0

    def rates(self, topics: int, rng: np.random.Generator) -> Floats:
        """(topics, 2)."""
        ranks = rng.random((topics, 1 if self.alike else 2)) * np.ones((1, 2))
        found = np.stack([stats.beta.ppf(ranks[:, at], *one) for at, one in enumerate((self.first, self.second))], 1)
        found[rng.random(topics) < self.jump, 1] = 0.0
        return np.asarray(found)

    @property
    def means(self) -> tuple[float, float]:
        first, second = (a / (a + b) for a, b in (self.first, self.second))
        return first, second * (1 - self.jump)

    def study(self, rng: np.random.Generator) -> tuple[Floats, npt.NDArray[np.bool_], Floats]:
        """(T, N) values, NaN where lost; which are of the second kind; and the weight that stands for what was lost."""
        size = self.topics, self.trials
        second = rng.random(size) < self.rare
        rates = self.rates(self.topics, rng)
        values = (rng.random(size) < np.where(second, rates[:, 1:], rates[:, :1])).astype(float)
        gone = rng.random(size) < np.where(second, self.lost[1], self.lost[0])
        factor = np.ones(size)
        for kind in (second, ~second):
            left = (kind & ~gone).sum()
            factor[kind] = kind.sum() / left if left else 0.0
        return np.where(gone, np.nan, values), second, factor


WORLDS = {
    "few topics": World(6, 4, 0.4),
    "few topics, one trial each": World(8, 1, 0.4, alike=False),
    "rare stratum": World(15, 4, 0.08),
    "rare stratum in few topics": World(6, 5, 0.1, alike=False),
    "rare outcome": World(15, 4, 0.4, first=(0.2, 9.8), second=(0.1, 3.9)),
    "unequal loss": World(15, 4, 0.4, lost=(0.0, 0.6)),
    "unequal loss of a rare stratum": World(30, 4, 0.1, lost=(0.05, 0.5), alike=False),
    "topics of another kind": World(15, 4, 0.4, jump=0.15, first=(40, 2), second=(40, 2)),
    "many topics": World(45, 4, 0.3, lost=(0.1, 0.3)),
}


def figures(world: World, seed: int) -> Iterator[tuple[str, float, WeightedMean]]:
    """Of one study: what a figure is of, the truth, and the figure."""
    rng = generator(seed, "weighted", repr(world))
    values, second, factor = world.study(rng)
    first_mean, second_mean = world.means
    resampler = Resampler(rng, replications=1000)
    names = [f"t{at}" for at in range(world.topics)]
    ones = np.ones_like(values)
    sides = {
        "population": (world.rare, factor),
        "second": (1.0, factor * second),
        "first": (0.0, factor * ~second),
        "turned": (
            1 - world.rare,
            factor * np.where(second, (1 - world.rare) / world.rare, world.rare / (1 - world.rare)),
        ),
    }
    for name, (share, weights) in sides.items():
        yield (
            name,
            share * second_mean + (1 - share) * first_mean,
            weighted_ratio(names, values, ones, weights, resampler),
        )


@pytest.mark.parametrize("name", keep_cells(WORLDS, "rare stratum in few topics", "rare outcome"))
def test_intervals_cover_the_truth_in_hostile_worlds(name: str) -> None:
    held: dict[str, list[bool]] = {}
    values: dict[str, list[float]] = {}
    for seed in range(STUDIES):
        for of, truth, found in figures(WORLDS[name], seed):
            if found.interval.is_defined:
                held.setdefault(of, []).append(found.interval.contains(truth))
            if found.n:
                values.setdefault(of, []).append(found.value - truth)
    for of, each in held.items():
        # .93 of these many studies, less what chance may take from a true .93: two standard errors.
        least = 0.93 - 2 * math.sqrt(0.93 * 0.07 / len(each))
        assert np.mean(each) >= least, (of, np.mean(each), len(each))
    off = values["population"]
    assert abs(np.mean(off)) < 3 * np.std(off) / math.sqrt(len(off)) + 0.005, "loss by stratum moves no figure"
    assert len(held["population"]) == STUDIES


def test_equal_weights_give_the_mean_and_the_full_sample_size() -> None:
    values = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, math.nan], [0.0, 1.0]])
    resampler = Resampler(generator(1, "x"))
    found = weighted_ratio(list("abcde"), values, np.ones_like(values), np.full_like(values, 0.7), resampler)
    assert found.value == pytest.approx(5 / 9)
    assert (found.n, found.topics) == (9, 5)
    assert found.effective == pytest.approx(9)
    assert effective_number([1, 1, 2]) == pytest.approx(16 / 6)


def test_an_item_without_weight_has_no_effect() -> None:
    values = np.array([[1.0, 0.0]] * 3 + [[0.0, 0.0]] * 3)
    weights = np.array([[1.0, 0.0]] * 3 + [[0.0, 0.0]] * 3)
    found = weighted_ratio(list("abcdef"), values, np.ones_like(values), weights, Resampler(generator(1, "x")))
    assert (found.value, found.n, found.topics) == (1.0, 3, 3)
    assert (found.interval.is_defined, found.interval.note) == (False, "3 topics: too few to resample")
    nothing = weighted_ratio(list("abcdef"), values, np.ones_like(values), 0 * weights, Resampler(generator(1, "x")))
    assert math.isnan(nothing.value)
    assert (nothing.n, nothing.effective, nothing.interval.note) == (0, 0.0, "no value")
