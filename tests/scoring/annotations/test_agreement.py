"""Agreement of annotators: Krippendorff's alpha and the share of equal judgments."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.annotations.agreement import agreement

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
ROWS = st.lists(st.lists(SCORES | st.none(), max_size=4), max_size=12)


def test_the_alpha_of_four_observers_of_interval_data_is_as_printed_in_krippendorff_2011() -> None:
    four = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [[float(one[i]) for one in four if one[i] != "."] for i in range(12)]
    found = agreement(units)
    assert round(found.alpha, 3) == 0.849
    assert (found.things, found.scored) == (11, 11)  # the twelfth was judged by one observer alone


def test_the_alpha_of_values_without_an_order_is_that_of_nominal_data_as_printed_in_krippendorff_2011() -> None:
    four = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [[f"v{one[i]}" for one in four if one[i] != "."] for i in range(12)]
    found = agreement(units)
    assert round(found.alpha, 3) == 0.743
    assert (found.things, found.scored) == (11, 11)


def test_of_two_values_alpha_and_its_interval_are_those_of_scores_of_0_and_1() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60)
    rows = [[float(one), float(one if rng.random() < 0.8 else 1 - one)] for one in truth]
    units = [i // 2 for i in range(60)]
    scores, values = agreement(rows, units), agreement([["no" if one else "yes" for one in row] for row in rows], units)
    assert (values.alpha, values.low, values.high) == pytest.approx((scores.alpha, scores.low, scores.high), abs=1e-12)
    assert values.equal == scores.equal


def test_of_scores_of_0_and_1_it_is_the_alpha_of_binary_data_as_printed_in_krippendorff_2011() -> None:
    """Two observers, ten articles, binary data: 0.095."""
    one, two = "0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"
    found = agreement(zip(map(float, one.split()), map(float, two.split()), strict=True))
    assert round(found.alpha, 3) == 0.095
    assert (found.pairs, found.equal) == (10, 0.6)


@pytest.mark.parametrize("rows", [[], [[1.0]], [[0.5, 0.5], [0.5, 0.5]], [[None, None]], [[None, 1.0]]])
def test_without_pairs_of_scores_or_without_any_spread_alpha_is_undefined(rows: list[list[float | None]]) -> None:
    assert math.isnan(agreement(rows).alpha)


def test_does_not_apply_is_a_judgment_that_can_be_shared_and_no_score() -> None:
    found = agreement([[None, None], [None, 1.0], [0.0, 0.0], [1.0, 1.0]])
    assert (found.things, found.equal, found.scored, found.alpha) == (4, 0.75, 2, 1.0)
    assert math.isnan(agreement([[None]]).equal)


@given(ROWS)
def test_it_equals_the_definition_over_ordered_pairs_and_who_said_what_does_not_matter(
    rows: list[list[float | None]],
) -> None:
    found = agreement(rows)
    scores = [[score for score in row if score is not None] for row in rows]
    scores = [row for row in scores if len(row) > 1]
    every = [score for row in scores for score in row]
    if len(set(every)) > 1:
        within = sum(sum((a - b) ** 2 for a, b in permutations(row, 2)) / (len(row) - 1) for row in scores)
        between = sum((a - b) ** 2 for a, b in permutations(every, 2)) / (len(every) - 1)
        assert found.alpha == pytest.approx(1 - within / between, abs=1e-12)
        assert found.alpha <= 1
    turned = agreement([row[::-1] for row in reversed(rows)])
    assert turned.things == found.things
    assert turned.equal == pytest.approx(found.equal, nan_ok=True)
    assert turned.alpha == pytest.approx(found.alpha, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("times", [150, pytest.param(3000, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("units", "share", "error"),
    [(20, 0.8, 0.1), *(pytest.param(n, 0.5, 0.15, marks=pytest.mark.soak) for n in (20, 50))],
)
def test_the_interval_of_alpha_covers_what_many_things_would_show(
    units: int, share: float, error: float, times: int
) -> None:
    rng = np.random.default_rng(3)

    def judged(things: int) -> list[list[float | None]]:
        good = rng.random((things, 1)) < share
        return [list(map(float, row)) for row in good ^ (rng.random((things, 2)) < error)]

    truth = agreement(judged(40_000)).alpha
    found = [agreement(judged(units)) for _ in range(times)]
    printed = [one for one in found if not math.isnan(one.low)]
    assert len(printed) > 0.8 * times
    covered = sum(one.low <= truth <= one.high for one in printed) / len(printed)
    assert covered >= 0.93 - (3 * math.sqrt(0.05 * 0.95 / times) if times < 1000 else 0)


def test_units_hold_things_together_and_few_of_them_have_no_interval() -> None:
    rng = np.random.default_rng(4)
    rows: list[list[float | None]] = rng.choice([0.0, 1.0], size=(40, 2)).tolist()
    alone = agreement(rows)
    assert alone.low < alone.alpha < alone.high < 1
    doubled = agreement([row for row in rows for _ in range(2)], [place for place in range(40) for _ in range(2)])
    assert doubled.high - doubled.low == pytest.approx(alone.high - alone.low, rel=0.1), "nothing new was seen"
    assert math.isnan(agreement(rows, [place % 19 for place in range(40)]).low)
    assert math.isnan(agreement([[1.0, 1.0], [0.0, 0.0]] * 20).low), "all agree: nothing varies"
