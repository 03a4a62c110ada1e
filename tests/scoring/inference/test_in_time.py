"""Trials that lie near each other in time: the test, its errors, and what it widens."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from scoring.inference import in_time as time_module
from scoring.inference.in_time import time_dependence
from scoring.inference.these_topics import these_interval
from tests.support.dependence_worlds import in_time
from tests.support.kept_cells import keep_cells

Floats = npt.NDArray[np.float64]


@pytest.mark.parametrize(("topics", "trials"), [(4, 5), (15, 5), (1, 30)])
def test_independent_trials_are_called_dependent_in_one_case_of_twenty(topics: int, trials: int) -> None:
    rng = np.random.default_rng([topics, trials])
    here = in_time(rng, (200, topics, trials), phi=0.0)
    times = np.arange(topics * trials, dtype=float).reshape(trials, topics).T
    found = [time_dependence(values, times if topics > 1 else None) for values in here.values]
    assert np.mean([one.p <= 0.05 for one in found]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    assert np.mean([one.drift_p <= 0.05 for one in found]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize(("topics", "trials", "least"), keep_cells([(15, 12, 0.75), (1, 60, 0.75)], 1))
def test_intervals_of_trials_that_drift_are_widened(topics: int, trials: int, least: float) -> None:
    """What is not seen is not widened: the state lies behind answers of 0 and 1."""
    here = in_time(np.random.default_rng([topics, trials]), (60, topics, trials), phi=0.8)
    held = np.zeros((2, 60))
    for study, (values, true) in enumerate(zip(here.values, here.these, strict=True)):
        found = time_dependence(values)
        sides = values / trials, np.full(values.shape, 1 / trials)
        for at, inflation in enumerate((1.0, found.inflation if found.p <= 0.05 else 1.0)):
            held[at, study] = these_interval(*sides, level=0.95, inflation=inflation).contains(true)
    before, after = held.mean(axis=1)
    assert after >= least
    assert after >= before + 0.05


def test_alternating_trials_are_not_called_alike() -> None:
    found = time_dependence(np.tile([0.0, 1.0], (6, 5)))
    assert found.p > 0.9
    assert found.lag < -0.5
    assert found.inflation == 1.0


def test_the_order_is_that_of_the_times() -> None:
    rng = np.random.default_rng(3)
    values = np.sort(rng.random((8, 10)), axis=1)
    order = rng.permuted(np.tile(np.arange(10), (8, 1)), axis=1)
    mixed = np.take_along_axis(values, order, axis=1)
    times = order.astype(float) + np.arange(8)[:, None] / 100
    known, unknown = time_dependence(mixed, times), time_dependence(mixed)
    assert known.p <= 0.002
    assert unknown.p > 0.01
    assert known.drift > 0.5
    assert known.drift_p <= 0.002
    assert "near each other in time are alike" in known.note
    assert "values rise" in known.note


def test_neighbours_of_different_topics_share_the_load_of_a_run() -> None:
    """Each topic has each of its two trials in another hour; only the whole run shows the hours."""
    rng = np.random.default_rng(4)
    topics, times = 80, np.empty((80, 2))
    times[:] = np.stack([rng.permutation(topics), topics + rng.permutation(topics)], axis=1)
    state = np.repeat(rng.normal(size=16), 10)
    values = state[times.astype(int)] + 0.3 * rng.normal(size=times.shape)
    found = time_dependence(values, times)
    assert found.across
    assert found.p <= 0.002
    assert "whatever their topic" in found.note


def test_topics_that_differ_are_not_drift() -> None:
    values = np.repeat(np.linspace(0, 1, 10)[:, None], 6, axis=1) + 0.01 * np.random.default_rng(5).random((10, 6))
    times = np.arange(60, dtype=float).reshape(10, 6)  # topic after topic
    found = time_dependence(values, times)
    assert found.p > 0.01
    assert found.drift_p > 0.01


@pytest.mark.parametrize("values", [np.ones((3, 4)), np.full((3, 4), np.nan), np.ones((5, 1)), np.zeros((0, 0))])
def test_if_nothing_varies_nothing_is_reported(values: Floats) -> None:
    found = time_dependence(values)
    assert (found.p, found.inflation, found.note) == (1.0, 1.0, "")


def test_the_same_values_give_the_same_p() -> None:
    values = np.random.default_rng(6).random((5, 8))
    assert time_dependence(values) == time_dependence(values.copy())


def test_lag_and_share_are_those_of_an_ar_process_computed_step_by_step() -> None:
    """Of many trials of one topic, with no bias to speak of: lag 1 is the correlation of neighbours, and the inflation
    that of a process whose correlations decay as .8^l."""
    rng = np.random.default_rng(7)
    state = np.zeros(1500)
    for at in range(1, 1500):
        state[at] = 0.8 * state[at - 1] + 0.6 * rng.normal()
    found = time_dependence(state[None])
    assert found.lag == pytest.approx(0.8, abs=0.04)
    assert found.inflation == pytest.approx((1 + 0.8) / (1 - 0.8), rel=0.15)
    assert found.p <= 0.002


@pytest.mark.parametrize("trials", [3, 5])
def test_the_inflation_makes_up_for_the_variance_that_dependent_trials_hide(trials: int) -> None:
    """The variance of a topic's mean over what its trials seem to say of it, written out for an AR(1) of .8."""
    rng = np.random.default_rng(trials)
    state = rng.normal(size=(500, trials))
    for at in range(1, trials):
        state[:, at] = 0.8 * state[:, at - 1] + 0.6 * state[:, at]
    apart = np.abs(np.subtract.outer(np.arange(trials), np.arange(trials)))
    of_mean = (0.8**apart).mean()
    seen = trials / (trials - 1) * (1 - of_mean)
    assert time_dependence(state).inflation == pytest.approx(of_mean / (seen / trials), rel=0.25)


def test_times_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(topics, trials\)"):
        time_dependence(np.ones((2, 3)), np.ones((3, 2)))


@pytest.mark.parametrize("values", ["few", "many"])
def test_permutations_drawn_in_parts_equal_those_drawn_at_once(values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    cells = rng.random((6, 60))
    cells, when = cells if values == "many" else np.round(cells), rng.random((6, 60))
    whole = time_dependence(cells, when)
    monkeypatch.setattr(time_module, "_AT_ONCE", 700)
    assert time_dependence(cells, when) == whole


@pytest.mark.parametrize("trials", [11, 300])
def test_moments_of_many_trials_need_no_matrix(trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    by_matrix = time_module._expected_moments.__wrapped__(trials)
    monkeypatch.setattr(time_module, "_MATRIX", 1)
    assert time_module._expected_moments.__wrapped__(trials) == pytest.approx(by_matrix, rel=1e-11)
