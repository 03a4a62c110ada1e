"""What the program computes, against formulas that were written from the papers (`tests.support.oracles`)."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.inference.aligned import cluster_numbers
from scoring.inference.differences import guarded_differences, typical_difference
from scoring.inference.instability import chance_of_all
from scoring.inference.paired import compare_like_these, compare_these, residual_variance
from scoring.inference.proportions import clopper_pearson_ends, highest_rate_without_events, wilson_ends
from scoring.inference.ratio_differences import exact_ratios
from scoring.inference.unseen_topic import highest_low_end
from scoring.statistics.exchange import exchange_p, holm_correction
from scoring.statistics.tukey import tukey_p
from tests.support.oracles import components, designs, families, means, shares

RNG = np.random.default_rng(9)
SMALL = st.lists(st.sampled_from([-0.6, -0.2, 0.0, 0.1, 0.2, 0.4, 0.7]), min_size=3, max_size=9)


@pytest.mark.parametrize("topics", [4, 7, 11])
def test_a_difference_has_gaffkes_interval_except_for_a_quarter_of_the_unseen_topic(topics: int) -> None:
    """Gaffke's own limits have a whole unseen topic; with three quarters of one the interval lies inside, and not by
    much, and never beyond what all topics at one end would show."""
    each = RNG.uniform(-0.5, 0.6, topics)
    low, high = means.gaffke_both(each.tolist(), (-1.0, 1.0))
    found = guarded_differences(each[:, None], np.ones((topics, 1)), level=0.95, reach=1.0)
    edge = 1 - 2 * highest_low_end(topics, 0.95)
    assert low - 0.01 <= found.low[0] <= max(low + 0.35 * (each.mean() - low), edge)
    assert min(high - 0.35 * (high - each.mean()), -edge) <= found.high[0] <= high + 0.01


@given(SMALL)
@settings(max_examples=30)
def test_p_of_two_systems_is_that_of_all_sign_flips(each: list[float]) -> None:
    assert exchange_p(each, np.random.default_rng(1)) == pytest.approx(means.sign_flips(each))


def test_without_a_guard_the_interval_is_students_t() -> None:
    each = RNG.normal(0.1, 0.3, 12)
    found = compare_like_these(each, np.random.default_rng(1), level=0.95, guard="none").interval
    assert (found.low, found.high) == pytest.approx(means.student(each.tolist()))


def test_clusters_without_a_guard_have_the_variance_of_liang_and_zeger() -> None:
    each, names = RNG.normal(0.1, 0.3, 12), list("aabbbccdeeff")
    topics = [f"T{row}" for row in range(12)]
    numbers = cluster_numbers(topics, dict(zip(topics, names, strict=True)))
    found = compare_like_these(each, np.random.default_rng(1), level=0.95, guard="none", clusters=numbers).interval
    variance = designs.clustered(each.tolist(), names) * 6 / 5  # and the correction for few clusters
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 5) * math.sqrt(variance))


def test_these_topics_have_satterthwaites_degrees() -> None:
    one, other = RNG.random((5, 4)), RNG.random((5, 6))
    noise = np.stack([one.var(axis=1, ddof=1) / 4, other.var(axis=1, ddof=1) / 6], axis=1)
    each = one.mean(axis=1) - other.mean(axis=1)
    found = compare_these(each, noise, np.tile([4, 6], (5, 1)), level=0.95, reach=1.0).interval
    degrees = means.satterthwaite([(part, free) for row in noise for part, free in zip(row, (3, 5), strict=True)])
    half = stats.t.ppf(0.975, math.floor(degrees)) * math.sqrt(noise.sum()) / 5
    assert (found.low, found.high) == pytest.approx((each.mean() - half, each.mean() + half))


@pytest.mark.parametrize("systems", [2, 3, 4])
def test_p_of_several_systems_is_that_of_closed_testing_over_all_partitions(systems: int) -> None:
    """Weights by how many systems a block has (Bonferroni); the program draws 4,999 permutations, here are all."""
    table = RNG.normal(0, 0.2, (4, systems)) + np.linspace(0, 0.5, systems)
    wanted = families.closed_tukey(table.tolist(), lambda blocks: [len(one) / sum(map(len, blocks)) for one in blocks])
    found = tukey_p(table, np.random.default_rng(2))
    for (one, other), p in wanted.items():
        assert found[one, other] == pytest.approx(p, abs=0.03)


def test_holm_and_the_residual_variance() -> None:
    p = [0.03, 0.001, 0.2, 0.04]
    assert holm_correction(p) == pytest.approx(families.holm(p))
    table = RNG.random((9, 3))
    assert residual_variance(table) == pytest.approx(families.residual_variance(table.tolist()))


@pytest.mark.parametrize(("k", "n"), [(0, 9), (3, 14), (40, 41), (7, 7)])
def test_shares_of_independent_trials(k: int, n: int) -> None:
    assert [float(end) for end in clopper_pearson_ends(k, n)] == pytest.approx(shares.clopper_pearson(k, n), abs=1e-6)
    assert [float(end) for end in wilson_ends(k, n)] == pytest.approx(shares.wilson(k, n))
    assert highest_rate_without_events(n) == pytest.approx(shares.no_failure_in(n), abs=1e-6)


@pytest.mark.parametrize(("sums", "of"), [((1, 15), (1, 30)), ((6, 9), (10, 31)), ((0, 12), (8, 12))])
def test_few_recoveries_have_two_exact_intervals_squared_and_added(sums: tuple[int, int], of: tuple[int, int]) -> None:
    sides = [shares.clopper_pearson(k, n) for k, n in zip(sums, of, strict=True)]
    wanted = shares.square_and_add(sums[0] / of[0], sides[0], sums[1] / of[1], sides[1])
    found, _ = exact_ratios(sums, of, level=0.95)
    assert (found.low, found.high) == pytest.approx(wanted, abs=1e-6)


def test_the_median_of_differences_lies_between_the_order_statistics_of_the_sign_test() -> None:
    each = np.sort(RNG.normal(0, 1, 20))
    _, found = typical_difference(each, level=0.95)
    inside = [rank for rank in range(10) if each[rank] >= found.low]
    assert shares.sign_test(20 - inside[0], inside[0]) <= 0.05 < shares.sign_test(19 - inside[0], inside[0] + 1)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_passing_k_times_is_the_share_of_draws_that_are_all_good(k: int) -> None:
    rows = [[bool(one) for one in row] for row in itertools.islice(RNG.random((7, 5)) < 0.7, 7)]
    assert float(np.mean(chance_of_all(np.array(rows, dtype=float), k))) == pytest.approx(components.passes(rows, k))
