"""Agreement of annotators: Krippendorff's alpha and the share of equal judgments."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.annotations.agreement import agreement
from tests.support.rare_worlds import JUDGED

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


def test_alpha_and_its_interval_for_two_values_are_those_of_scores_of_0_and_1() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60)
    rows = [[float(one), float(one if rng.random() < 0.8 else 1 - one)] for one in truth]
    units = [i // 2 for i in range(60)]
    scores, values = agreement(rows, units), agreement([["no" if one else "yes" for one in row] for row in rows], units)
    assert (values.alpha, values.interval.low, values.interval.high) == pytest.approx(
        (scores.alpha, scores.interval.low, scores.interval.high), abs=1e-12
    )
    assert values.equal == scores.equal


def test_alpha_of_scores_of_0_and_1_is_that_of_binary_data_as_printed_in_krippendorff_2011() -> None:
    """Two observers, ten articles, binary data: 0.095."""
    one, two = "0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"
    found = agreement(zip(map(float, one.split()), map(float, two.split()), strict=True))
    assert round(found.alpha, 3) == 0.095
    assert (found.pairs, found.equal) == (10, 0.6)


@pytest.mark.parametrize("rows", [[], [[1.0]], [[0.5, 0.5], [0.5, 0.5]], [[None, None]], [[None, 1.0]]])
def test_without_pairs_of_scores_or_without_any_spread_alpha_is_undefined(rows: list[list[float | None]]) -> None:
    assert math.isnan(agreement(rows).alpha)


def test_does_not_apply_is_a_judgment_that_can_be_shared_and_not_a_score() -> None:
    found = agreement([[None, None], [None, 1.0], [0.0, 0.0], [1.0, 1.0]])
    assert (found.things, found.equal, found.scored, found.alpha) == (4, 0.75, 2, 1.0)
    assert math.isnan(agreement([[None]]).equal)


@given(ROWS)
def test_alpha_equals_its_definition_over_ordered_pairs_in_any_order_of_people(
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


CELLS = [(world, things) for world in JUDGED for things in (10, 20, 45, 150)]
QUICK = {("3 in 100 misread", 45)}


@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.soak, id=str(one)) for one in CELLS]
)
def test_the_interval_of_alpha_covers_what_many_things_would_show(case: tuple[str, int]) -> None:
    (world, things), rng = case, np.random.default_rng(3)
    times = 100 if case in QUICK else 500
    truth = agreement(JUDGED[world](np.random.default_rng(1), 10_000, 1)).alpha
    found = [agreement(JUDGED[world](rng, things, 1)) for _ in range(times)]
    printed = [one.interval for one in found if one.interval.is_defined]
    assert [one.interval.note for one in found if not one.interval.is_defined] == [
        "alpha is undefined: all judgments are the same" for one in found if math.isnan(one.alpha)
    ]
    covered = sum(one.contains(truth) for one in printed) / max(1, len(printed))
    assert not printed or covered >= 0.93 - (3 if case in QUICK else 1) * math.sqrt(0.05 * 0.95 / times)


def test_agreement_about_one_rare_thing_says_little_about_alpha() -> None:
    """3% harmful, two judges right in 98%: of 20 things with one that both call harmful alpha is 1, and may be near
    0."""
    found = agreement([[1.0, 1.0], *([[0.0, 0.0]] * 19)])
    assert (found.alpha, found.rare) == (1.0, 1)
    assert found.interval.low < 0.2
    assert found.interval.high == 1.0


def test_the_interval_is_that_of_weighted_units_computed_step_by_step() -> None:
    rng = np.random.default_rng(8)
    scores = [rng.choice([0.0, 0.5, 1.0], size=3, p=[0.2, 0.2, 0.6]) for _ in range(12)]
    found = agreement([row.tolist() for row in scores]).interval
    weights = rng.dirichlet([*[1.0] * 12, 0.75], size=3000)

    def alphas(last: list[float]) -> npt.NDArray[np.float64]:
        """Of all weights, where the unseen unit was judged like this."""
        rows = np.array([*scores, last])
        apart = 2 * (weights @ np.square(rows).mean(axis=1) - np.square(weights @ rows.mean(axis=1)))
        return np.asarray(1 - weights @ (2 * rows.var(axis=1, ddof=1)) / apart)

    low, high = alphas([0.0, 0.0, 1.0]), np.maximum(alphas([0.0] * 3), alphas([1.0] * 3))
    assert (found.low, found.high) == pytest.approx((np.quantile(low, 0.025), np.quantile(high, 0.975)), abs=0.03)


def test_units_depend_on_each_other_and_few_of_them_have_no_interval() -> None:
    rng = np.random.default_rng(4)
    rows: list[list[float | None]] = rng.choice([0.0, 1.0], size=(40, 2)).tolist()
    alone = agreement(rows).interval
    assert alone.low < agreement(rows).alpha < alone.high < 1
    doubled = agreement(
        [row for row in rows for _ in range(2)], [place for place in range(40) for _ in range(2)]
    ).interval
    assert doubled.high - doubled.low == pytest.approx(alone.high - alone.low, rel=0.1), "nothing new was seen"
    few = agreement(rows, [place % 5 for place in range(40)]).interval
    assert (few.is_defined, few.note) == (False, "5 units: an interval of alpha needs 6")
    assert agreement(rows[::-1]).interval == alone, "the order of things does not matter"
