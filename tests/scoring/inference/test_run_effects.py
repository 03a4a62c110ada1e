"""What audits differ by: a mixture of normal laws, as far as the runs of a baseline show it."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from scoring.inference.run_effects import FEWEST_RUNS, Mixture, run_effects
from scoring.statistics.beta import student_quantile


def test_the_reach_of_one_normal_law_is_its_quantile() -> None:
    alone = Mixture(np.array([0.02]), np.ones(1))
    for tail in (0.2, 0.035, 0.025, 0.001):
        assert alone.tail_distance(tail) == pytest.approx(0.02 * NormalDist().inv_cdf(1 - tail))


def test_the_probability_beyond_the_reach_is_the_tail() -> None:
    mixed = run_effects([0.6, 0.63, 0.58, 0.61], 0.0004, 0.2).difference_distribution(0.0007, 0.2)
    for tail in (0.3, 0.025, 0.0001):
        assert mixed.tail_probability(mixed.tail_distance(tail)) == pytest.approx(tail, rel=1e-6)


def test_the_tail_is_that_of_many_draws() -> None:
    mixed = run_effects([0.6, 0.63, 0.58, 0.61, 0.6], 0.0002, 0.2).difference_distribution(0.0003, 0.2)
    rng = np.random.default_rng(1)
    drawn = rng.normal(0, rng.choice(mixed.spreads, 200_000, p=mixed.weights))
    assert float((drawn > 0.05).mean()) == pytest.approx(mixed.tail_probability(0.05), abs=0.003)


def test_if_runs_differ_much_the_interval_is_students() -> None:
    """Where trials are no part of it, the runs' own standard deviation is all there is: t with B - 1 degrees."""
    runs = 0.6 + 0.05 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
    reach = run_effects(runs, 1e-7, 0.24).difference_distribution(1e-7, 0.24).tail_distance(0.025)
    student = student_quantile(0.975, 7) * float(runs.std(ddof=1)) * math.sqrt(1 + 1 / 8)
    assert reach == pytest.approx(student, rel=0.12)


def test_many_similar_runs_leave_only_the_variance_of_trials() -> None:
    rng = np.random.default_rng(2)
    runs = 0.6 + 0.01 * rng.standard_normal(200)
    reach = run_effects(runs, 0.01**2, 0.2).difference_distribution(0.02**2, 0.2).tail_distance(0.025)
    assert 1.96 * 0.02 < reach < 1.25 * 1.96 * 0.02


def test_an_audit_at_a_more_variable_level_is_further_away() -> None:
    """The same effect in log odds moves a mean of .55 by five times what it moves one of .95."""
    effects = run_effects([0.95, 0.94, 0.96, 0.95], 0.0002, 0.0475)
    assert effects.difference_distribution(0.001, 0.2475).tail_distance(0.025) > 1.2 * effects.difference_distribution(
        0.001, 0.0475
    ).tail_distance(0.025)


def test_audits_that_differ_as_the_runs_do_count_like_further_runs() -> None:
    few = run_effects([0.6, 0.66, 0.57, 0.65], 0.0002, 0.2)
    spread = float(np.var([0.6, 0.66, 0.57, 0.65], ddof=1))
    more = run_effects(np.array([0.6, 0.66, 0.57, 0.65] * 2) * math.sqrt(7 / 6) + 5, 0.0002, 0.2)  # the same spread
    assert few.include_audits(spread, 0.0002, 0.2, audits=5).weights == pytest.approx(more.weights)
    alike = few.include_audits(0.0, 0.0002, 0.2, audits=5)
    reaches = [one.difference_distribution(0.0003, 0.2).tail_distance(0.025) for one in (alike, few)]
    assert reaches[0] < 0.8 * reaches[1]


@pytest.mark.parametrize("runs", range(1, FEWEST_RUNS))
def test_few_runs_do_not_show_how_much_audits_differ(runs: int) -> None:
    mixed = run_effects([0.6, 0.9, 0.3][:runs], 0.0004, 0.2).difference_distribution(0.0009, 0.2)
    assert mixed.tail_distance(0.025) == pytest.approx(1.96 * 0.03, rel=1e-3)
