"""What is expected of a line of trials in any order: its moments, when they are enough, and the errors of the test."""

import math
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
import pytest

from scoring.inference.in_time import time_dependence
from scoring.inference.permuted_lines import PermutedLine
from tests.support.dependence_worlds import in_time

Floats = npt.NDArray[np.float64]

WEIGHTS = (0.8, 0.64, 0.512)


def centred(rows: list[Floats]) -> list[Floats]:
    return [row - row.mean() for row in rows]


def statistic(line: Floats) -> float:
    return sum(weight * float(line[lag:] @ line[:-lag]) for lag, weight in enumerate(WEIGHTS, 1))


def test_moments_are_those_of_all_permutations() -> None:
    rng = np.random.default_rng(1)
    rows, order, slope = centred([rng.random(4), rng.random(3), np.zeros(2)]), rng.permutation(9), rng.random(9)
    ways = [list(permutations(row)) for row in rows]
    lines = [np.concatenate(some)[order] for some in product(*ways)]
    line = PermutedLine.of(rows, order)
    assert line.products(WEIGHTS)[0] == pytest.approx(np.mean([statistic(one) for one in lines]), rel=1e-12)
    assert line.weighted_variance(slope) == pytest.approx(np.var([one @ slope for one in lines]), rel=1e-12)


def test_the_variance_of_products_is_that_of_draws() -> None:
    rng = np.random.default_rng(2)
    rows = centred([(rng.random(150) < share).astype(float) for share in rng.beta(0.5, 0.5, 20)])
    order = rng.permutation(3000)
    drawn = [statistic(np.concatenate([rng.permutation(row) for row in rows])[order]) for _ in range(2000)]
    assert PermutedLine.of(rows, order).products(WEIGHTS)[1] == pytest.approx(np.var(drawn), rel=0.1)


@pytest.mark.parametrize(
    ("share", "trials", "settled"), [(0.5, 1000, True), (0.5, 900, False), (0.02, 1000, False), (0.0, 1000, False)]
)
def test_few_trials_and_rare_answers_are_permuted(share: float, trials: int, settled: bool) -> None:
    rows = centred([(np.arange(trials) < share * trials).astype(float) for _ in range(20)])
    assert PermutedLine.of(rows).is_settled() == settled


def test_topics_of_few_trials_are_permuted() -> None:
    rng = np.random.default_rng(3)
    assert not PermutedLine.of(centred([rng.random(50) for _ in range(600)])).is_settled()


@pytest.mark.parametrize("studies", [60, pytest.param(2000, marks=pytest.mark.soak)])
def test_many_independent_trials_seem_dependent_in_one_case_of_twenty(studies: int) -> None:
    rng = np.random.default_rng(studies)
    found = []
    for _ in range(studies):
        values = (rng.random((20, 1100)) < rng.uniform(0.1, 0.9, (20, 1))) * 1.0
        found.append(time_dependence(values, rng.random(values.shape)))
    for small in ([one.p <= 0.05 for one in found], [one.drift_p <= 0.05 for one in found]):
        assert np.mean(small) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)


def test_many_dependent_trials_are_found() -> None:
    values = in_time(np.random.default_rng(4), (1, 20, 1100), phi=0.8).values[0]
    times = np.arange(20.0)[:, None] * 10_000 + np.arange(1100.0)
    found = time_dependence(values, times)
    assert found.p <= 0.002
    assert found.inflation > 1.5
