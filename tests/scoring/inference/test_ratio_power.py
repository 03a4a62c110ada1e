"""Simulated power of a ratio of sums such as %recovery: that of the comparison itself, and promises that are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from scoring.comparison.compared_pairs import compare_pairs
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.components import across_systems
from scoring.inference.paired import Estimand
from scoring.inference.power import Power
from scoring.inference.ratio_differences import ratios_like_these
from scoring.inference.ratio_power import _noise, judge_ratio_studies, simulate_ratio_power, smoothed_shares
from scoring.statistics.outcomes import Components
from tests.support.kept_cells import keep_cells

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def aligned_counts(above: Counts, below: Counts, trials: int) -> Aligned:
    """Two systems with so many recovered, of so many that failed, of so many trials of each topic."""
    topics = [f"T{number:03}" for number in range(len(above))]
    cells: dict[str, dict[Trial, Cell]] = {"A": {}, "B": {}}
    for row, topic in enumerate(topics):
        for column, own in enumerate(cells.values()):
            up, down = int(above[row, column]), int(below[row, column])
            for trial in range(trials):
                own[topic, trial] = (float(trial < up), float(trial < down))
    return align(topics, ["A", "B"], cells, pooled=True)


def test_many_simultaneous_studies_have_the_verdict_and_the_noise_of_each() -> None:
    rng, trials = np.random.default_rng(1), 6
    below = rng.binomial(trials, [0.15, 0.4], (60, 14, 2))
    above = rng.binomial(below, [0.9, 0.2])
    assert (below == 0).all(axis=2).any(), "a topic that drops out"
    apart, widths = judge_ratio_studies(above, below, level=0.95, alpha=0.05)
    assert 0 < apart.sum() < 60
    for one in range(60):
        interval, p = ratios_like_these(above[one], below[one], level=0.95)
        # Topics that drop out take no weights here and some there, and fewer are drawn, so that draws differ.
        assert widths[one] == pytest.approx(interval.high - interval.low, rel=0.1, nan_ok=True)
        if not 0.04 < p < 0.06:
            assert apart[one] == (p <= 0.05)
        own = aligned_counts(above[one], below[one], trials)
        noise, left = _noise(above[[one]], below[[one]], trials)[0], len(own.topics) / 14
        assert noise[(below[one] > 0).any(axis=1)] * left**2 == pytest.approx(own.noise)


def test_shares_are_smoothed_to_the_spread_of_topics_and_keep_the_correlation_of_systems() -> None:
    rng = np.random.default_rng(2)
    true = np.clip(rng.normal([0.3, 0.5], 0.1, (1, 2)) + rng.normal(0, 0.12, (3000, 1)), 0.02, 0.98)
    found = smoothed_shares(rng.binomial(6, true), np.full(true.shape, 6))
    assert np.cov(found, rowvar=False) == pytest.approx(np.cov(true, rowvar=False), abs=0.003)
    assert found.mean(axis=0) == pytest.approx(true.mean(axis=0), abs=0.01)
    alike = smoothed_shares(rng.binomial(6, 0.3, (400, 1)), np.full((400, 1), 6))
    assert alike.std() < 0.08, "chance alone would be .19"
    assert smoothed_shares([[0.0], [0.0]], [[5.0], [5.0]]).tolist() == [[0.0], [0.0]]


@dataclass(frozen=True)
class World:
    """Log odds of topics are normal, unlike those that are simulated. hard: how far topics that fail often recover
    seldom. failing: of the two systems."""

    topics: int
    trials: int
    difference: float
    failing: tuple[float, float]
    hard: float
    of: Estimand
    mean: float = 0.45

    def laws(self, topics: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(topics, 2) chances to fail, and to recover then; differences are those of very many topics or, where these
        topics are asked about, of these."""
        shared, other = rng.standard_normal((2, topics, 1))
        base = np.log(np.array(self.failing) / (1 - np.array(self.failing)))
        failing = _share(base + 1.2 * shared + 0.4 * rng.standard_normal((topics, 2)))
        together = -self.hard * shared + math.sqrt(1 - self.hard**2) * other
        odds = 0.8 * together + 0.4 * rng.standard_normal((topics, 2))
        wanted = self.mean + np.array([self.difference / 2, -self.difference / 2])
        low, high = np.full(2, -20.0), np.full(2, 20.0)
        for _ in range(50):
            middle = (low + high) / 2
            less = (failing * _share(odds + middle)).sum(axis=0) / failing.sum(axis=0) < wanted
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return failing, _share(odds + low)


def _share(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-odds)))


def promised(world: World, topics: int, trials: int, studies: int) -> Power:
    """From a pilot of so many topics and trials, as `harvest.studies.plan.pilot` reads it."""
    rng = np.random.default_rng(3)
    failing, recovering = world.laws(topics, rng)
    fails = rng.random((2, topics, trials)) < failing.T[..., None]
    cells = np.where(fails, rng.random((2, topics, trials)) < recovering.T[..., None], np.nan)
    split = across_systems(cells, level=0.6)
    mean = float(np.mean([np.nanmean(one) for one in cells]))
    components = Components("yes or no", mean, max(0.0, split.topic.value), max(0.0, split.both.value), 0.0)
    coming = smoothed_shares(fails.sum(axis=2).T, np.full((topics, 2), trials))
    return simulate_ratio_power(
        components,
        coming,
        world.difference,
        world.topics,
        world.trials,
        rng,
        estimand=world.of,
        level=0.95,
        alpha=0.05,
        studies=studies,
    )


def check_promise(world: World, pilot: tuple[int, int], studies: int) -> None:
    rng, found, widths = np.random.default_rng(4), 0, []
    many = world.laws(40_000, rng)
    for _ in range(studies):
        if world.of == "these":
            failing, recovering = world.laws(world.topics, rng)
        else:
            rows = rng.integers(40_000, size=world.topics)
            failing, recovering = (law[rows] for law in many)
        below = rng.binomial(world.trials, failing)
        aligned = aligned_counts(rng.binomial(below, recovering), below, world.trials)
        (pair,) = compare_pairs(
            "%recovery", None, aligned, rng, estimand=world.of, level=0.95, good="high", reach=1.0
        ).pairs
        found += pair.verdict == "better"
        widths.append(pair.interval.high - pair.interval.low)
    said = promised(world, *pilot, studies=min(4000, 15 * studies))
    print(
        f"{world}: promised {said.found:.3f}, found {found / studies:.3f}; width {said.width:.3f}, "
        f"{np.nanmean(widths):.3f}"
    )
    least, most = max(0.0, said.found - 0.05), min(1.0, said.found + 0.05)
    assert binom.ppf(1e-4, studies, least) <= found <= binom.ppf(1 - 1e-4, studies, most)


@pytest.mark.parametrize("of", keep_cells(["like-these", "these"], "these"))
def test_power_agrees_with_the_comparison_itself(of: Estimand) -> None:
    check_promise(World(30, 5, 0.3, (0.3, 0.4), 0.0, of), (300, 8), 60)


@pytest.mark.soak
@pytest.mark.parametrize(
    "world",
    [
        World(45, 5, 0.2, (0.15, 0.4), 0.0, "like-these"),
        World(45, 5, 0.2, (0.15, 0.4), 0.7, "like-these"),
        World(45, 20, 0.1, (0.3, 0.3), 0.0, "like-these"),
        World(15, 10, 0.3, (0.3, 0.4), 0.7, "like-these"),
        World(90, 2, 0.2, (0.3, 0.4), 0.0, "like-these"),
        World(45, 5, 0.2, (0.15, 0.4), 0.0, "these"),
        World(45, 10, 0.12, (0.3, 0.4), 0.7, "these"),
        World(15, 20, 0.15, (0.2, 0.5), 0.0, "these"),
        World(90, 3, 0.15, (0.3, 0.3), 0.7, "these"),
        World(30, 5, 0.3, (0.3, 0.4), 0.7, "these"),
    ],
)
def test_power_agrees_over_ten_designs(world: World) -> None:
    check_promise(world, (1000, 10), 1000)
