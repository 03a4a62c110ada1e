"""Signal detection: published values, exact coverage, and nothing out of nothing."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.measures.signal_detection import Detection, signal_detection

NORMAL = NormalDist()


def test_the_example_of_wickens_2002_gives_the_corrected_values_that_statpsych_prints() -> None:
    # 82 hits and 46 false alarms of 100 each; the reference page of `signal` in the R package statpsych (Bonett), which
    # applies the log-linear correction, prints d-prime 1.002793 and bias -0.4019603.
    found = signal_detection(82, 100, 46, 100)
    assert round(found.d_prime, 6) == 1.002793
    assert round(found.criterion, 7) == -0.4019603
    assert (found.hit_rate, found.false_alarm_rate, found.signals, found.noises) == (0.82, 0.46, 100, 100)


def test_with_many_trials_the_correction_vanishes_and_rates_of_7_and_4_tenths_give_0_78() -> None:
    # The manual of the program dprime in |STAT (Perlman, 1985) prints 0.78 for .7 and .4.
    assert round(signal_detection(700_000, 1_000_000, 400_000, 1_000_000).d_prime, 2) == 0.78


def test_a_kind_without_trials_leaves_d_prime_and_c_undefined_though_the_correction_would_give_a_number() -> None:
    for found in (signal_detection(0, 0, 2, 9), signal_detection(3, 5, 0, 0), signal_detection(0, 0, 0, 0)):
        assert math.isnan(found.d_prime)
        assert math.isnan(found.criterion)
        assert math.isnan(found.d_prime_interval.low)
        assert "challenged" in found.d_prime_interval.note
    assert math.isnan(signal_detection(0, 0, 2, 9).hit_rate)
    assert signal_detection(0, 0, 3, 9).false_alarm_rate == pytest.approx(1 / 3)


def test_a_system_that_always_gives_way_is_sycophantic_by_c_and_blind_by_d_prime() -> None:
    pliant, stubborn = signal_detection(0, 20, 0, 20), signal_detection(20, 20, 20, 20)
    assert pliant.d_prime == pytest.approx(0)
    assert pliant.criterion > 1.5
    assert stubborn.d_prime == pytest.approx(0)
    assert stubborn.criterion == pytest.approx(-pliant.criterion)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_exchanging_right_and_wrong_negates_d_prime_and_intervals_contain_their_value(
    signals: int, noises: int, data: st.DataObject
) -> None:
    hits, alarms = data.draw(st.integers(0, signals)), data.draw(st.integers(0, noises))
    found, turned = signal_detection(hits, signals, alarms, noises), signal_detection(alarms, noises, hits, signals)
    assert found.d_prime == pytest.approx(-turned.d_prime, abs=1e-12)
    assert found.criterion == pytest.approx(turned.criterion, abs=1e-12)
    assert found.d_prime_interval.low <= found.d_prime <= found.d_prime_interval.high
    assert found.criterion_interval.low <= found.criterion <= found.criterion_interval.high
    assert abs(found.d_prime) <= 1e-9 + NORMAL.inv_cdf((signals + 0.5) / (signals + 1)) + NORMAL.inv_cdf(
        (noises + 0.5) / (noises + 1)
    )
    open_side = math.isinf(found.d_prime_interval.low) or math.isinf(found.d_prime_interval.high)
    assert open_side == bool(found.d_prime_interval.note)


@pytest.mark.parametrize("n", [5, 20])
def test_intervals_cover_the_truth_at_their_level(n: int) -> None:
    """Exact: every pair of counts with its probability, over d' from 0 to 3 and c from -1 to 1."""
    cells = {(k, m): signal_detection(k, n, m, n) for k in range(n + 1) for m in range(n + 1)}
    covered: list[tuple[float, float]] = []
    for d_prime in (0.0, 0.5, 1.0, 2.0, 3.0):
        for criterion in (-1.0, -0.5, 0.0, 0.5, 1.0):
            hit, alarm = NORMAL.cdf(d_prime / 2 - criterion), NORMAL.cdf(-d_prime / 2 - criterion)
            both = np.zeros(2)
            for (k, m), found in cells.items():
                weight = _binomial(k, n, hit) * _binomial(m, n, alarm)
                both += weight * np.array([_holds(found, d_prime, None), _holds(found, None, criterion)])
            covered.append((float(both[0]), float(both[1])))
    shares = np.array(covered)
    assert shares.mean() >= 0.94
    assert shares.min() >= 0.91


def _binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def _holds(found: Detection, d_prime: float | None, criterion: float | None) -> bool:
    if d_prime is not None:
        return found.d_prime_interval.low <= d_prime <= found.d_prime_interval.high
    assert criterion is not None
    return found.criterion_interval.low <= criterion <= found.criterion_interval.high


def test_simulated_observers_are_recovered() -> None:
    rng = np.random.default_rng(7)
    d_prime, criterion, trials = 1.2, 0.4, 200
    found = [
        signal_detection(
            int((rng.normal(d_prime / 2, 1, trials) > criterion).sum()),
            trials,
            int((rng.normal(-d_prime / 2, 1, trials) > criterion).sum()),
            trials,
        )
        for _ in range(300)
    ]
    for values, truth in (([f.d_prime for f in found], d_prime), ([f.criterion for f in found], criterion)):
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        assert abs(np.mean(values) - truth) < 3 * error + 0.01  # the correction draws d' in by less than that


@pytest.mark.parametrize("counts", [(-1, 5, 0, 5), (6, 5, 0, 5), (1, 5, 9, 8)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="answers kept must be from"):
        signal_detection(*counts)
    with pytest.raises(ValueError, match="level"):
        signal_detection(1, 2, 1, 2, level=1.0)
