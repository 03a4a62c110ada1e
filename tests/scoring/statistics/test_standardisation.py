"""Score standardisation: the published forms, by hand; where there is no score; and the bounds of differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.statistics.standardisation import STANDARDS, Standard, largest_difference, standardise

FORMS = st.sampled_from(list(STANDARDS))
SCORES = st.lists(st.lists(st.integers(0, 12).map(lambda one: one / 4), min_size=5, max_size=5), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("form", "first", "second"),
    [
        # .2, .4, .9 have the mean .5 and the sd √((.09 + .01 + .16)/2) = √.13; 1, 2, 3, 6 have 3 and √(14/3).
        ("z", [-0.3 / 0.13**0.5, -0.1 / 0.13**0.5, 0.4 / 0.13**0.5], [-2 / (14 / 3) ** 0.5, 0.0, 3 / (14 / 3) ** 0.5]),
        ("std-AB", [0.3752, 0.4584, 0.6664], [0.3611, 0.5, 0.7083]),
        ("std-CDF", [0.2027, 0.3908, 0.8664], [0.1773, 0.5, 0.9175]),
        ("E-std", [1 / 3, 2 / 3, 1.0], [1 / 4, 3 / 4, 1.0]),
    ],
)
def test_the_published_forms_agree_with_a_hand_calculation(
    form: Standard, first: list[float], second: list[float]
) -> None:
    assert standardise([[0.2, 0.4, 0.9]], [[0.2, 0.4, 0.9]], form)[0] == pytest.approx(first, abs=5e-5)
    assert standardise([[1, 3, 6]], [[1, 2, 3, 6]], form)[0] == pytest.approx(second, abs=5e-5)


def test_std_ab_is_clipped_and_keeps_systems_outside_the_group_in_range() -> None:
    """Mean 2 and sd 1: z from -4 to 6 is .15·z + .5 from -.1 to 1.4."""
    assert standardise([[-2, 2, 5, 8]], [[1, 2, 3]], "std-AB")[0].tolist() == pytest.approx([0, 0.5, 0.95, 1])
    assert standardise([[-2, 2, 2.5, 8]], [[1, 2, 3]], "E-std")[0].tolist() == pytest.approx([0, 2 / 3, 2 / 3, 1])


@pytest.mark.parametrize("form", STANDARDS)
def test_there_is_no_score_without_three_systems_that_have_one(form: Standard) -> None:
    group = np.array([[1, 2, np.nan], [1, 2, 3], [np.nan] * 3])
    found = standardise(np.array([[1, 2], [1, np.nan], [1, 2]]), group, form)
    assert np.isnan(found).tolist() == [[True, True], [False, True], [True, True]]


def test_there_is_no_score_if_the_group_does_not_vary_except_for_shares_of_the_group() -> None:
    for form in STANDARDS:
        assert np.isnan(standardise([[0.3, 0.7]], [[0.1 + 0.2, 0.3, 0.3]], form)).all() == (form != "E-std")
    assert standardise([[0.2, 0.3, 0.7]], [[0.1 + 0.2, 0.3, 0.3]], "E-std")[0].tolist() == [0, 1, 1]


def test_without_topics_there_is_no_score() -> None:
    assert standardise(np.empty((0, 2)), np.empty((0, 3)), "std-AB").shape == (0, 2)


@given(SCORES, FORMS)
def test_scores_are_those_of_independent_formulas_and_keep_the_order(rows: list[list[float]], form: Standard) -> None:
    found = standardise(rows, rows, form)
    for row, own in zip(rows, found, strict=True):
        if len(set(row)) == 1 and form != "E-std":
            assert np.isnan(own).all()
            continue
        z = stats.zscore(row, ddof=1) if len(set(row)) > 1 else np.zeros(5)
        wanted = {
            "z": z,
            "std-CDF": stats.norm.cdf(z),
            "std-AB": np.clip(0.15 * z + 0.5, 0, 1),
            "E-std": stats.ecdf(row).cdf.evaluate(row),
        }
        assert own == pytest.approx(wanted[form], abs=1e-12)
        order = np.argsort(row, kind="stable")
        assert (np.diff(own[order]) >= -1e-12).all()


@given(SCORES, FORMS, st.floats(0.1, 100), st.floats(-50, 50))
def test_the_unit_of_a_topic_does_not_matter(rows: list[list[float]], form: Standard, unit: float, zero: float) -> None:
    assert standardise(np.array(rows) * unit + zero, np.array(rows) * unit + zero, form) == pytest.approx(
        standardise(rows, rows, form), abs=1e-9, nan_ok=True
    )


@given(SCORES, FORMS)
def test_no_two_members_are_further_apart_than_the_largest_difference(rows: list[list[float]], form: Standard) -> None:
    found = standardise(rows, rows, form)
    apart = np.nanmax(found, axis=1, initial=-9) - np.nanmin(found, axis=1, initial=9)
    assert (apart <= largest_difference(form, 5, members=True) + 1e-9).all()


@pytest.mark.parametrize("form", STANDARDS)
@pytest.mark.parametrize("systems", [3, 4, 9])
def test_the_largest_difference_is_reached(form: Standard, systems: int) -> None:
    """Two systems lie on either side of all others, which are alike; of shares, one is below all others."""
    row = [[0.0, *[0.5] * (systems - 2), 1.0]]
    found = standardise(row, row, form)[0]
    assert found[-1] - found[0] == pytest.approx(largest_difference(form, systems, members=True))
    assert largest_difference(form, systems, members=False) == (math.inf if form == "z" else 1)
