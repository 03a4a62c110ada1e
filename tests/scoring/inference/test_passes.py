"""How often all of k trials pass, and how often trials of a topic differ."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from scoring.inference.bootstrap import Resampler
from scoring.inference.instability import chance_of_all, differing_share, has_disagreement
from tests.support.variance_coverage import nested_world

NOTHING = math.nan


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_all_of_k_passing_is_counted_over_all_draws_of_k(k: int) -> None:
    rows: list[list[float]] = [[1, 1, 0, 1, 1], [0] * 5, [1] * 5, [1, NOTHING, 1, 0, NOTHING], [NOTHING] * 5]
    for row, found in zip(rows, chance_of_all(rows, k), strict=True):
        own = [value for value in row if not math.isnan(value)]
        draws = [all(draw) for draw in combinations(own, k)]
        assert found == pytest.approx(sum(draws) / len(draws)) if draws else math.isnan(found)


def test_pass_k_is_unbiased_but_the_power_of_the_share_is_not() -> None:
    rng, chance, times = np.random.default_rng(1), 0.7, 10_000
    drawn = (rng.random((times, 6)) < chance).astype(np.float64)
    for k in (2, 4, 6):
        found = chance_of_all(drawn, k)
        assert abs(found.mean() - chance**k) <= 4 * found.std() / math.sqrt(times)
        power = drawn.mean(axis=1) ** k
        assert power.mean() - chance**k > 4 * power.std() / math.sqrt(times)


def test_pairs_that_differ_are_counted_without_bias() -> None:
    rows = np.array([[1, 0, 1, NOTHING], [0.5, 0.5, 0.5, 0.5], [0.1, 0.2, 0.3, 0.1], [1, NOTHING, NOTHING, NOTHING]])
    for row, share, apart in zip(rows, differing_share(rows), has_disagreement(rows), strict=True):
        pairs = list(combinations(row[~np.isnan(row)].tolist(), 2))
        if pairs:
            assert share == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
            assert apart == any(a != b for a, b in pairs)
        else:
            assert math.isnan(share)
            assert math.isnan(apart)
    rng, times = np.random.default_rng(2), 10_000
    found = differing_share((rng.random((times, 3)) < 0.7).astype(np.float64))
    assert abs(found.mean() - 2 * 0.7 * 0.3) <= 4 * found.std() / math.sqrt(times)


def test_rounding_errors_are_not_a_difference() -> None:
    rows = np.array([[0.1 + 0.2, 0.3]])
    assert differing_share(rows).tolist() == has_disagreement(rows).tolist() == [0.0]


def test_values_that_are_not_passes_and_k_below_1_are_refused() -> None:
    with pytest.raises(ValueError, match="passes"):
        chance_of_all([[0.5, 1.0]], 1)
    with pytest.raises(ValueError, match="at least 1"):
        chance_of_all([[1.0]], 0)


@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("icc", [0.0, 0.45, 0.8])
def test_intervals_of_pass_k_cover_the_chance_for_topics_like_these(icc: float, times: int) -> None:
    rng, names = np.random.default_rng([3, round(100 * icc)]), [str(topic) for topic in range(45)]
    a, b = (share * (1 / icc - 1) if icc else share * 1e9 for share in (0.6, 0.4))
    pair = a * (a + 1) / ((a + b) * (a + b + 1))  # of two trials of a topic, both useful: moments of Beta(a, b)
    chances = pair, pair * (a + 2) * (a + 3) * (a + 4) / ((a + b + 2) * (a + b + 3) * (a + b + 4))
    held = [0, 0]
    for _ in range(times):
        cells, _ = nested_world(rng, (45, 5), icc, yes_or_no=True, holes=False)
        each = np.stack([chance_of_all(cells, 2), chance_of_all(cells, 5)], axis=1)
        for column, interval in enumerate(Resampler(rng, replications=400).means(names, each[:, None, :])):
            held[column] += interval.low <= chances[column] <= interval.high
    # Where topics are alike they are never so unlike as the one that an interval allows for.
    most = 0.98 if icc else 0.99
    assert all(binom.ppf(0.001, times, 0.93) <= one <= binom.ppf(0.999, times, most) for one in held)
