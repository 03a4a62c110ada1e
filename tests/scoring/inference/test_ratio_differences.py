"""Differences of ratios of sums: never a winner from one turn, exact where turns are few."""

import math

import numpy as np
import pytest
from scipy import stats

from scoring.inference.ratio_differences import exact_ratios, mover_ends, ratios_like_these
from tests.support.kept_cells import keep_cells


def test_the_interval_is_newcombes_if_both_sides_have_wilsons() -> None:
    """56 of 70 against 48 of 80: [.0524, .3339], printed by R. G. Newcombe, Statistics in Medicine 17 (1998), table
    II."""
    z = stats.norm.ppf(0.975)

    def wilson(k: int, n: int) -> tuple[float, float]:
        centre, half = (k + z * z / 2) / (n + z * z), z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
        return centre - half, centre + half

    sides = np.array([wilson(56, 70), wilson(48, 80)])
    low, high = mover_ends(np.array([56 / 70, 48 / 80]), sides[:, 0], sides[:, 1])
    assert (round(float(low), 4), round(float(high), 4)) == (0.0524, 0.3339)


def test_one_failed_turn_names_no_winner() -> None:
    """F1: A fails one first turn and recovers from it, B fails 30 and recovers from half."""
    above, below = np.zeros((15, 2)), np.zeros((15, 2))
    above[0, 0] = below[0, 0] = 1
    above[:, 1], below[:, 1] = 1, 2
    interval, p = ratios_like_these(above, below, level=0.95)
    assert math.isnan(p)
    assert interval.note == "the first system has 1 topic with a first turn that failed, too few to tell"
    exact, of_these = exact_ratios(above.sum(axis=0), below.sum(axis=0), level=0.95)
    assert exact.low < 0 < exact.high
    assert of_these > 0.3


@pytest.mark.parametrize(("sums", "of"), [((3, 20), (3, 40)), ((0, 15), (4, 30)), ((10, 10), (10, 20))])
def test_few_turns_are_never_told_apart_sooner_than_by_fishers_test(sums: tuple[int, int], of: tuple[int, int]) -> None:
    interval, p = exact_ratios(sums, of, level=0.95)
    table = [[sums[0], of[0] - sums[0]], [sums[1], of[1] - sums[1]]]
    assert p >= 0.8 * stats.fisher_exact(table).pvalue
    assert (p <= 0.05) == (interval.low > 0 or interval.high < 0)


def test_a_side_without_a_failed_turn_has_no_ratio() -> None:
    interval, p = exact_ratios([0, 3], [0, 5], level=0.95)
    assert not interval.is_defined
    assert math.isnan(p)


@pytest.mark.parametrize(("first", "second"), keep_cells([(0.05, 0.5), (0.15, 0.3), (0.02, 0.8)], 2))
def test_systems_with_equal_recovery_are_seldom_told_apart_even_if_one_seldom_fails(
    first: float, second: float
) -> None:
    """W1 and W2, and others of their kind: topics differ in how often they fail and in how well both recover."""
    rng, wrong, held, printed = np.random.default_rng(5), 0, 0, 0
    for _ in range(120):
        recovering = rng.beta(0.6, 0.6, 25)
        below = np.stack([rng.binomial(5, rng.beta(2 * rate, 2 * (1 - rate), 25)) for rate in (first, second)], axis=1)
        interval, p = ratios_like_these(rng.binomial(below, recovering[:, None]), below, level=0.95)
        wrong += p <= 0.05
        printed += interval.is_defined
        held += interval.contains(0.0)
    assert wrong <= stats.binom.ppf(0.9999, 120, 0.06)
    assert printed == 0 or held >= stats.binom.ppf(0.0001, printed, 0.93)
