"""Trials shared among topics: proportions and floors, what few trials say of variances, and promises that are kept."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoring.inference.allocation import Chances, Spreads, Variances, allocate, neyman_allocation, predict_widths
from scoring.inference.paired import compare_these
from tests.support.allocation_coverage import PLACE, spent
from tests.support.checkout import DOCS


@given(st.lists(st.floats(0, 4), min_size=1, max_size=12), st.integers(2, 5), st.integers(0, 60))
def test_every_trial_is_allocated_and_no_topic_is_below_the_floor(
    variances: list[float], floor: int, more: int
) -> None:
    found = neyman_allocation(variances, floor * len(variances) + more, floor)
    assert found.sum() == floor * len(variances) + more
    assert found.min() >= floor
    by_variance = found[np.argsort(variances, kind="stable")]
    assert (np.diff(by_variance) >= -1).all(), "a topic that varies more has no fewer, but for rounding"


def test_no_other_allocation_of_the_same_total_has_a_clearly_smaller_variance() -> None:
    variances = np.array([0.01, 0.09, 0.25, 0.16])
    found = neyman_allocation(variances, 30, 2)
    every = [np.array(one) for one in product(range(2, 25), repeat=4) if sum(one) == 30]
    best = min(float((variances / one).sum()) for one in every)
    assert float((variances / found).sum()) <= 1.01 * best


def test_too_few_trials_for_the_floor_are_refused() -> None:
    with pytest.raises(ValueError, match="5 trials are too few: each of the 3 topics needs 2"):
        neyman_allocation([1.0, 1.0, 1.0], 5, 2)


def test_predictions_of_a_pilot_are_unbiased_where_chances_differ() -> None:
    rng = np.random.default_rng(1)
    truth = rng.beta(0.6 * 1.5, 0.4 * 1.5, (1, 4000))
    cells = (rng.random((1, 4000, 5)) < truth[..., None]).astype(np.float64)
    found = Chances.from_cells(cells).expected[0]
    for hits in range(6):
        alike = cells[0].sum(axis=1) == hits
        wanted = (truth[0] * (1 - truth[0]))[alike]
        assert found[alike].mean() == pytest.approx(wanted.mean(), abs=5 * wanted.std() / alike.sum() ** 0.5 + 0.004)


def test_variances_of_other_values_are_shrunk_towards_their_mean_as_far_as_few_trials_need() -> None:
    rng = np.random.default_rng(2)
    truth = 1 / rng.gamma(6.0, 1 / 5.0, (1, 3000))  # inverse gamma of 12 degrees, mean 1
    cells = rng.normal(0, np.sqrt(truth)[..., None], (1, 3000, 6))
    known, plain = Spreads.from_cells(cells), cells.var(axis=2, ddof=1)
    assert np.median(known.degrees - 5) == pytest.approx(12, rel=0.35)
    assert np.square(known.expected - truth).mean() < 0.5 * np.square(plain - truth).mean()
    drawn = known.draw(400, rng).mean(axis=0)
    assert drawn.mean() == pytest.approx(known.expected.mean(), rel=0.02)
    alike = Spreads.from_cells(rng.normal(0, 1, (1, 30, 3)))
    assert np.ptp(alike.expected) <= 0.6, "30 topics that are alike are hardly told apart"


@pytest.mark.parametrize("values", ["yes or no", "other"])
def test_predicted_widths_are_those_of_the_comparison(values: str) -> None:
    rng, trials = np.random.default_rng(3), np.array([2, 5, 9, 4, 4, 12])
    shape = (2, 6)
    if values == "yes or no":
        truth = np.array([[0.1, 0.5, 0.7, 0.4, 0.9, 0.5], [0.2, 0.4, 0.8, 0.5, 0.5, 0.6]])
        known: Variances = Chances(truth * 1e7, (1 - truth) * 1e7)
    else:
        truth = np.array([[1.0, 2, 3, 4, 2, 1], [2, 2, 1, 3, 5, 1]])
        known = Spreads(np.full(shape, np.inf), np.full(shape, np.nan), truth)
    found = predict_widths(known, trials, 4, level=0.95, studies=1500)
    widths = []
    for _ in range(700):
        own = [
            rng.random((2, count)) < truth[:, place, None] if values == "yes or no"
            else rng.normal(0, np.sqrt(truth[:, place, None]), (2, count))
            for place, count in enumerate(trials)
        ]  # fmt: skip
        means = np.array([one.mean(axis=1) for one in own])
        noise = np.array([one.var(axis=1, ddof=1) / one.shape[1] for one in own])
        both = np.broadcast_to(trials[:, None], (6, 2))
        one = compare_these(means[:, 0] - means[:, 1], noise, both, level=0.95).interval
        widths.append(one.high - one.low)
    assert np.nanmean(found) == pytest.approx(np.nanmean(widths), rel=0.025)


def test_trials_that_never_differ_or_similar_topics_leave_equal_trials() -> None:
    rng = np.random.default_rng(5)
    never = allocate(Spreads.from_cells(np.ones((2, 6, 4))), 30, rng)
    assert never.trials.tolist() == [5] * 6
    assert np.isnan(never.width)
    alike = allocate(Chances(np.full((1, 7), 30.0), np.full((1, 7), 20.0)), 45, rng)
    assert sorted(alike.trials.tolist()) == [6, 6, 6, 6, 7, 7, 7]
    assert (alike.narrower, alike.low, alike.high) == (0.0, 0.0, 0.0)


def test_a_pilot_of_single_trials_is_refused() -> None:
    for kind in (Chances, Spreads):
        with pytest.raises(ValueError, match="at least one topic needs two trials"):
            kind.from_cells(np.array([[[1.0, np.nan], [0.0, np.nan]]]))


def test_a_topic_without_trials_has_the_average_variance() -> None:
    cells = np.array([[[1.0, 1, 1, 1], [1, 0, 1, 0], [0, 0, 1, 0], [np.nan] * 4]])
    for known in (Chances.from_cells(cells).expected[0], Spreads.from_cells(cells).expected[0]):
        assert known[:3].min() <= known[3] <= known[:3].max()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 100), st.integers(2, 6), st.integers(2, 6))
@example(60, 2, 3)  # the few studies of the choice were lucky
def test_a_proposal_is_never_predicted_to_be_wider_than_equal_trials(seed: int, topics: int, times: int) -> None:
    rng = np.random.default_rng(seed)
    cells = (rng.random((2, topics, 4)) < rng.random((topics, 1))).astype(np.float64)
    found = allocate(Chances.from_cells(cells), topics * times, rng)
    assert found.trials.sum() == topics * times
    assert found.trials.min() >= 2
    assert not found.width > found.equal_width


def check(mean: float, icc: float, pilot: int, times: int, pilots: int) -> None:
    one = spent(mean, icc, pilot, times, pilots)
    doubt = 4 * (0.05 * 0.95 / one.n) ** 0.5
    assert 0.93 - doubt <= one.fresh <= 0.97 + doubt
    assert one.gained == pytest.approx(one.promised, abs=0.03)


def test_a_new_run_covers_the_truth_and_gains_as_promised() -> None:
    check(0.8, 0.8, 5, 2, 25)


@pytest.mark.soak
@pytest.mark.parametrize("mean", [0.6, 0.8])
@pytest.mark.parametrize("icc", [0.0, 0.45, 0.8])
@pytest.mark.parametrize(("pilot", "times"), [(3, 2), (3, 4), (5, 2), (5, 4)])
def test_new_runs_of_every_kind_cover_the_truth_and_gain_as_promised(
    mean: float, icc: float, pilot: int, times: int
) -> None:
    check(mean, icc, pilot, times, 300)


def test_the_table_on_the_page_is_of_valid_intervals() -> None:
    found = PLACE.search((DOCS / "planning.md").read_text(encoding="utf-8"))
    assert found is not None
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found[0].splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 24
    for row in rows[1:]:
        assert 0.93 <= float(row[4]) <= 0.97, row
        assert abs(float(row[6].rstrip("%")) - float(row[7].rstrip("%"))) <= 3, row
