"""Wilson, Jeffreys and exact intervals, and the beta function under them, against SciPy and by their own laws."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special, stats

from scoring.inference.proportions import clopper_pearson_ends, highest_rate_without_events, jeffreys_ends, wilson_ends
from scoring.statistics.beta import beta_cdf, beta_quantile, normal_cdf, normal_quantile, student_quantile

METHODS = (wilson_ends, jeffreys_ends, clopper_pearson_ends)


def test_the_incomplete_beta_function_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    a, b = 10 ** rng.uniform(-1, 4, 2000), 10 ** rng.uniform(-1, 4, 2000)
    x = np.where(rng.random(2000) < 0.7, rng.beta(a, b), rng.random(2000))
    np.testing.assert_allclose(beta_cdf(x, a, b), special.betainc(a, b, x), atol=1e-10)
    np.testing.assert_array_equal(beta_cdf([0.0, 1.0], 2, 3), [0.0, 1.0])


def test_beta_quantiles_agree_with_scipy_and_invert_the_function() -> None:
    rng = np.random.default_rng(4)
    a, b = 10 ** rng.uniform(-0.5, 3, 150), 10 ** rng.uniform(-0.5, 3, 150)
    wanted = rng.random(150)
    found = beta_quantile(wanted, a, b)
    np.testing.assert_allclose(found, special.betaincinv(a, b, wanted), atol=1e-10)
    np.testing.assert_array_equal(beta_quantile([0.0, 1.0], 2.0, 5.0), [0.0, 1.0])


def test_student_and_normal_quantiles_agree_with_scipy() -> None:
    for degrees in (1, 2, 3, 14, 44, 500):
        for probability in (0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999):
            assert student_quantile(probability, degrees) == pytest.approx(
                stats.t.ppf(probability, degrees), rel=1e-9, abs=1e-12
            )
    assert normal_quantile(0.975) == pytest.approx(1.959963985, abs=1e-9)
    assert normal_cdf(-1.959963985) == pytest.approx(0.025, abs=1e-10)


def test_intervals_agree_with_scipy_for_every_count_up_to_40() -> None:
    for n in (1, 2, 7, 40):
        k = np.arange(n + 1)
        exact, score = clopper_pearson_ends(k, n), wilson_ends(k, n)
        for count in k:
            theirs = stats.binomtest(int(count), n)
            ours = [(exact, theirs.proportion_ci(method="exact")), (score, theirs.proportion_ci(method="wilson"))]
            for (low, high), interval in ours:
                assert (low[count], high[count]) == pytest.approx((interval.low, interval.high), abs=1e-9)
        low, high = jeffreys_ends(k, n)
        np.testing.assert_allclose(low[1:], stats.beta.ppf(0.025, k[1:] + 0.5, n - k[1:] + 0.5), atol=1e-10)
        np.testing.assert_allclose(high[:-1], stats.beta.ppf(0.975, k[:-1] + 0.5, n - k[:-1] + 0.5), atol=1e-10)
        assert (low[0], high[-1]) == (0.0, 1.0)


def counts(most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Every (k, n) with 0 <= k <= n <= most and n >= 1."""
    pairs = [(k, n) for n in range(1, most + 1) for k in range(n + 1)]
    return np.array([k for k, _ in pairs]), np.array([n for _, n in pairs])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_intervals_hold_the_estimate_and_mirror_when_success_and_failure_swap(level: float) -> None:
    k, n = counts(60)
    for method in METHODS:
        low, high = method(k, n, level)
        assert np.all((low >= 0) & (low <= k / n) & (k / n <= high) & (high <= 1))
        mirrored_low, mirrored_high = method(n - k, n, level)
        np.testing.assert_allclose(low, 1 - mirrored_high, atol=1e-9)
        np.testing.assert_allclose(high, 1 - mirrored_low, atol=1e-9)


def test_a_higher_level_gives_a_wider_interval() -> None:
    k, n = counts(30)
    for method in METHODS:
        (narrow_low, narrow_high), (wide_low, wide_high) = method(k, n, 0.8), method(k, n, 0.99)
        assert np.all((wide_low <= narrow_low) & (narrow_high <= wide_high))


def test_without_observations_nothing_is_known() -> None:
    for method in METHODS:
        assert all(math.isnan(float(end)) for end in method(0, 0))


def test_the_exact_interval_covers_at_least_its_level_for_every_rate() -> None:
    n = 23
    low, high = clopper_pearson_ends(np.arange(n + 1), n)
    for rate in np.linspace(0.001, 0.999, 400):
        covered = stats.binom.pmf(np.arange(n + 1), n, rate)[(low <= rate) & (rate <= high)].sum()
        assert covered >= 0.95 - 1e-9


@pytest.mark.parametrize("bad", [(-1, 5), (6, 5), (1, math.inf), (math.nan, 5)])
def test_impossible_counts_are_refused(bad: tuple[float, float]) -> None:
    for method in METHODS:
        with pytest.raises(ValueError, match="between 0 and n"):
            method(*bad)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_outside_0_and_1_is_refused(level: float) -> None:
    for method in METHODS:
        with pytest.raises(ValueError, match="level"):
            method(1, 2, level)


def test_fifty_nine_clean_trials_exclude_a_failure_rate_of_five_percent() -> None:
    assert highest_rate_without_events(58) > 0.05 > highest_rate_without_events(59)
    assert highest_rate_without_events(59) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert math.isnan(highest_rate_without_events(0))
