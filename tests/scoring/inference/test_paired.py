"""The difference of two systems: against SciPy, by hand, and how often its intervals hold the truth."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from scoring.inference.aligned import align
from scoring.inference.needed import needed
from scoring.inference.paired import (
    Estimand,
    compare_like_these,
    compare_these,
    correct_intervals,
    decide,
    linear_values,
    residual_variance,
)
from scoring.inference.sides import compare_sides
from scoring.statistics.beta import student_tails
from scoring.statistics.exchange import fewest_units, holm_correction, smallest_p
from tests.support.compared_worlds import allowed_errors, drawn_shares, drawn_systems
from tests.support.kept_cells import keep_cells

RNG = np.random.default_rng(1)


def test_without_a_guard_topics_like_these_have_the_interval_of_the_paired_t_test() -> None:
    one, other = RNG.random((2, 20))
    found = compare_like_these(one - other, np.random.default_rng(2), level=0.9, guard="none")
    wanted = stats.ttest_rel(one, other).confidence_interval(0.9)
    assert found.value == pytest.approx(np.mean(one) - np.mean(other))
    assert (found.interval.low, found.interval.high) == pytest.approx((wanted.low, wanted.high))
    cut = compare_like_these([0.9, 1.0, 1.0, 1.0, 0.2], np.random.default_rng(2), level=0.95, reach=1, guard="none")
    assert cut.interval.high == 1.0


def test_these_topics_have_welchs_interval_if_there_is_one_topic() -> None:
    one, other = RNG.random(6), 0.3 * RNG.random(9)
    noise = [[one.var(ddof=1) / 6, other.var(ddof=1) / 9]]
    found = compare_these([one.mean() - other.mean()], noise, [[6, 9]], level=0.95)
    wanted = stats.ttest_ind(one, other, equal_var=False)
    degrees = math.floor(wanted.df)
    error = found.value / wanted.statistic
    half = stats.t.ppf(0.975, degrees) * error
    assert error == pytest.approx(math.sqrt(noise[0][0] + noise[0][1]))
    assert (found.interval.low, found.interval.high) == pytest.approx((found.value - half, found.value + half))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(wanted.statistic), degrees))
    assert student_tails(-2.5, 7.3) == pytest.approx(2 * stats.t.sf(2.5, 7.3), rel=1e-9)


def test_an_impossible_figure_is_undefined_with_a_reason() -> None:
    rng = np.random.default_rng(3)
    assert math.isnan(compare_like_these([], rng, level=0.95).value)
    three = compare_like_these([0.1, 0.2, 0.3], rng, level=0.95)
    assert three.value == pytest.approx(0.2)
    assert three.p == 2 / 8
    assert "3 topics: too few" in three.interval.note
    assert "same difference" in compare_like_these([0.2] * 5, rng, level=0.95, guard="none").interval.note
    open_ended = compare_like_these([0.2, 0.3, 0.1, 0.4, 0.2], rng, level=0.95)
    assert "no end near its values, and 5 topics are too few" in open_ended.interval.note
    assert open_ended.typical is not None
    assert open_ended.typical[0] == 0.2
    single = compare_these([0.1, 0.2], [[0.1, np.nan], [0.1, 0.1]], [[2, 1], [2, 2]], level=0.95)
    assert "1 of 2 topics have one trial only" in single.interval.note
    assert math.isnan(single.p)
    fixed = compare_these([0.1, 0.2], np.zeros((2, 2)), np.full((2, 2), 4), level=0.95)
    assert "never differ" in fixed.interval.note


@pytest.mark.parametrize(("pairs", "verdict"), [(500, "better"), (501, "cannot tell")])
@pytest.mark.parametrize("reach", [1.0, math.inf])
def test_in_a_family_too_large_for_the_draws_the_largest_difference_is_withheld_with_the_reason(
    pairs: int, verdict: str, reach: float
) -> None:
    rng = np.random.default_rng(4)
    found = [compare_like_these(0.5 + 0.1 * rng.random(45), rng, level=0.95, reach=reach)]
    found += [compare_like_these(np.tile([0.1, -0.1], 10), rng, level=0.95, reach=reach)] * (pairs - 1)
    p, outside = holm_correction([one.p for one in found])[0], correct_intervals(found)[0]
    told, why = decide(found[0], p, outside, smallest_p(45), alpha=0.05, good="high", pairs=pairs)
    assert told == verdict
    assert ("no p is below 0.0001, and among 501 pairs none can be told apart: compare at most 500 pairs" in why) == (
        verdict == "cannot tell"
    )


def test_few_topics_tell_one_pair_apart_but_none_of_several() -> None:
    rng = np.random.default_rng(5)
    found = compare_like_these(0.9 + 0.01 * rng.random(7), rng, level=0.95, reach=1.0)
    assert decide(found, found.p, found.outside, smallest_p(7), alpha=0.05, good="high")[0] == "better"
    told = decide(found, 6 * found.p, 6 * found.outside, smallest_p(7), alpha=0.05, good="high", pairs=6)
    assert told[0] == "cannot tell"
    assert "no p is below 0.016, and among 6 pairs none can be told apart: compare at most 3 pairs" in told[1]


def test_for_these_topics_any_p_is_possible_and_only_the_size_of_the_family_is_no_reason() -> None:
    found = compare_these([0.3, 0.25, 0.35], np.full((3, 2), 0.02), np.full((3, 2), 6), level=0.95)
    assert 1e-4 < found.p < 0.05
    told = decide(found, min(1.0, 501 * found.p), 501 * found.outside, math.nan, alpha=0.05, good="high", pairs=501)
    assert told[0] == "cannot tell"
    assert "none can be told apart" not in told[1]


def test_a_ratio_of_sums_is_the_mean_of_its_linear_values() -> None:
    above, below = RNG.random((8, 2)), 1 + RNG.random((8, 2))
    assert linear_values(above, below).mean(axis=0) == pytest.approx(above.sum(axis=0) / below.sum(axis=0))
    assert linear_values(above, np.ones((8, 2))) == pytest.approx(above)
    assert np.isnan(linear_values([[0.0, 1.0]], [[0.0, 1.0]])[0, 0])


def test_the_residual_variance_is_that_of_two_way_analysis_of_variance() -> None:
    table = RNG.random((9, 3))
    rows, columns = np.kron(np.eye(9), np.ones((3, 1))), np.kron(np.ones((9, 1)), np.eye(3))
    design = np.hstack([rows, columns])
    fit, _, rank, _ = np.linalg.lstsq(design, table.ravel())
    wanted = np.square(table.ravel() - design @ fit).sum() / (table.size - rank)
    assert residual_variance(table) == pytest.approx(wanted)
    assert math.isnan(residual_variance(table[:1]))


def test_the_needed_number_follows_from_the_components_of_variance() -> None:
    each = np.array([0.3, -0.1, 0.2, 0.0])
    noise, trials = np.full((4, 2), 0.004), np.full((4, 2), 5)
    found = needed(each, noise, trials, alpha=0.05, estimand="like-these", guard="none")
    z = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    assert found.topics == math.ceil(z * each.var(ddof=1) / 0.01 + stats.norm.ppf(0.975) ** 2 / 2)
    assert found.trials == math.inf, "topics differ too much for four of them, however often they are asked"
    these = needed(each, noise, trials, alpha=0.05, estimand="these")
    assert these.trials == math.ceil(5 * z * 0.008 / (4 * 0.01))
    assert needed(np.array([0.1, -0.1]), noise[:2], trials[:2], alpha=0.05, estimand="these").trials == math.inf


def test_a_side_that_did_not_fail_in_a_few_trials_is_not_known_exactly() -> None:
    """All of 40 answers useful: the rate may still be 1 - 3.7/40, by the exact interval."""
    noise = np.stack([np.zeros(8), np.full(8, 0.04)], axis=1)
    alone = compare_these(np.full(8, 0.3), noise[:, [0, 0]], np.full((8, 2), 5), level=0.95, reach=1.0)
    exact = 1 - 0.025 ** (1 / 40)
    assert math.sqrt(2) * exact <= alone.interval.high - 0.3 <= 1.1 * math.sqrt(2) * exact
    beside = compare_these(np.full(8, 0.3), noise, np.full((8, 2), 5), level=0.95, reach=1.0)
    bare = compare_these(np.full(8, 0.3), noise, np.full((8, 2), 5), level=0.95)
    assert beside.interval.high > bare.interval.high, "a measure without ends shows nothing of what was not seen"


def coverage(
    replications: int,
    topics: int,
    trials: tuple[int, int],
    icc: float,
    measure: Literal["share", "ratio"],
    of: Estimand,
) -> int:
    """How often the interval holds the true difference, 0.1 in a share; in a ratio of sums that of endless topics."""
    rng, held = np.random.default_rng(17), 0
    truth = 0.1
    for _ in range(replications):
        base = 0.1 + 0.7 * drawn_shares(rng, topics, icc)
        chances = np.stack([base + 0.1, base], axis=1)
        if measure == "share":
            aligned = drawn_systems(rng, chances, trials)
        else:  # failures of the first turn, of which some recover: more easily on topics where failures are rare
            cells = {}
            for column, count in enumerate(trials):
                failed = rng.random((topics, count)) < 0.6 - 0.3 * base[:, None]
                useful = failed & (rng.random((topics, count)) < chances[:, column, None])
                cells[f"S{column}"] = {
                    (f"T{row}", trial): (float(useful[row, trial]), float(failed[row, trial]))
                    for row in range(topics)
                    for trial in range(count)
                }
            aligned = align([f"T{row}" for row in range(topics)], ["S0", "S1"], cells, pooled=True)
        found = compare_sides(aligned, 0, 1, rng, estimand=of, level=0.95, reach=1.0)
        held += found.interval.contains(truth)
    return held


@pytest.mark.parametrize("of", ["these", "like-these"])
@pytest.mark.parametrize("measure", keep_cells(["share", "ratio"], "ratio"))
def test_intervals_cover_the_difference(measure: Literal["share", "ratio"], of: Estimand) -> None:
    held = coverage(100, 20, (5, 5), 0.45, measure, of)
    assert 100 - held <= allowed_errors(100, 0.06)


@pytest.mark.soak
@pytest.mark.parametrize("of", ["these", "like-these"])
@pytest.mark.parametrize("measure", ["share", "ratio"])
@pytest.mark.parametrize("icc", [0.0, 0.45, 0.8])
@pytest.mark.parametrize("shape", [(15, (5, 5)), (45, (5, 5)), (45, (20, 4))])
def test_intervals_have_their_nominal_coverage(
    shape: tuple[int, tuple[int, int]], icc: float, measure: Literal["share", "ratio"], of: Estimand
) -> None:
    held = coverage(2000, *shape, icc, measure, of) / 2000
    print(f"{shape}, ICC {icc}, {measure}, {of}: {held}")
    assert held >= 0.93


@pytest.mark.parametrize("topics", [2, 5, 8])
def test_no_number_of_trials_is_promised_if_so_few_topics_can_show_nothing(topics: int) -> None:
    rng = np.random.default_rng(topics)
    each, noise = rng.normal(0.9, 0.02, topics), np.full((topics, 2), 0.0004)
    found = needed(each, noise, np.full((topics, 2), 4), alpha=0.05, estimand="like-these", reach=1.0)
    assert found.topics >= fewest_units(0.05) == 6
    assert math.isinf(found.trials) == (topics < 6)
    assert smallest_p(5) > 0.05 >= smallest_p(6)
