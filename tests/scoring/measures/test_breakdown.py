"""Breakdown measures: small cases by hand, figures on the development data of DBDC3, held-out means, and the laws."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.annotations.breakdown_files import read_breakdown_files
from scoring.annotations.held_out import mean_of_others, split_by_unit
from scoring.divergences import jsd
from scoring.measures.breakdown import (
    GROUPINGS,
    LABELS,
    annotator_halves,
    figures,
    label_shares,
    likeliest_labels,
    rate_figures,
    sum_bins,
)
from tests.support.checkout import DATA

DEV = DATA / "dbdc3_en"
Floats = npt.NDArray[np.float64]


def values(predicted: npt.ArrayLike, gold: npt.ArrayLike, labels: npt.ArrayLike | None = None) -> dict[str, float]:
    return {figure.measure: figure.value for figure in figures(predicted, gold, labels)}


@pytest.fixture(scope="module")
def dev() -> npt.NDArray[np.int64]:
    return np.array([turn.counts for turn in read_breakdown_files([DEV]).gold])


def test_ties_go_to_o_before_t_before_x() -> None:
    rows = [[10, 10, 10], [0, 15, 15], [15, 0, 15], [14, 15, 1], [9, 10, 11]]
    assert [LABELS[index] for index in likeliest_labels(rows)] == ["O", "T", "O", "T", "X"]


def test_the_groupings_are_o_t_x_and_o_versus_the_rest_and_x_versus_the_rest() -> None:
    row = [0.5, 0.3, 0.2]
    assert list(GROUPINGS) == ["O,T,X", "O,T+X", "O+T,X"]
    assert [sum_bins(row, name).tolist() for name in GROUPINGS] == [[0.5, 0.3, 0.2], [0.5, 0.5], [0.8, 0.2]]


def test_labels_are_counted_as_by_hand() -> None:
    gold = np.eye(3)[[0, 0, 1, 2, 2, 2]]
    said = [0, 2, 2, 2, 1, 0]
    found = values(np.full((6, 3), 1 / 3), gold, said)
    assert found["accuracy"] == 2 / 6
    assert (found["P(B)"], found["R(B)"], found["F1(B)"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (found["P(PB+B)"], found["R(PB+B)"], found["F1(PB+B)"]) == pytest.approx((3 / 4, 3 / 4, 3 / 4))


def test_distances_are_means_over_turns_and_mse_is_a_mean_over_bins() -> None:
    found = values([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]], [[0.0, 0.0, 1.0], [0.2, 0.3, 0.5]])
    assert found["MSE(O,T,X)"] == pytest.approx((2 / 3) / 2)
    assert found["MSE(O,T+X)"] == found["MSE(O+T,X)"] == pytest.approx(0.5)
    assert [found[f"JSD({name})"] for name in GROUPINGS] == pytest.approx([0.5, 0.5, 0.5])


def test_snod_of_a_turn_is_half_as_far_for_t_as_for_x_in_place_of_o() -> None:
    assert values([[0, 1, 0]], [[1, 0, 0]])["SNOD(O,T,X)"] == 0.5
    assert values([[0, 0, 1]], [[1, 0, 0]])["SNOD(O,T,X)"] == 1
    # OD to the gold: 2·.2² + .3² = .17. Back, the mean over three bins: (.59 + .29 + .17) / 3 = .35.
    # Their mean is .26, over L - 1 = 2: .13.
    # The second turn is predicted exactly.
    found = values([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], [[0.0, 0.0, 1.0], [0.2, 0.3, 0.5]])
    assert found["SNOD(O,T,X)"] == pytest.approx(0.13 / 2)


def test_a_predictor_that_never_says_breakdown_has_no_precision_and_an_f1_of_0() -> None:
    found = {figure.measure: figure for figure in figures([[1, 0, 0]] * 2, [[0, 0, 1], [1, 0, 0]])}
    assert math.isnan(found["P(B)"].value)
    assert found["P(B)"].n == 0
    assert (found["R(B)"].value, found["R(B)"].n, found["F1(B)"].value) == (0, 1, 0)


def test_without_turns_every_measure_is_nan_with_n_0() -> None:
    for figure in (*figures(np.zeros((0, 3)), np.zeros((0, 3))), *rate_figures(np.zeros((0, 3)))):
        assert math.isnan(figure.value)
        assert figure.n == 0


def test_mismatched_shapes_and_rows_without_annotators_are_refused() -> None:
    with pytest.raises(ValueError, match="all arguments must have one row per turn"):
        figures([[1, 0, 0]], [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match="each row must have a count above 0"):
        label_shares([[0, 0, 0]])


# The figures of the evaluation data (uniform JSD .0385 and MSE .0221, halves .0518 and .0269, systems' own priors .0331
# and .0187, always X with F1(PB+B) .90) need data that is not given here. These are the same on the development data.


def test_dbdc3_development_data_uniform_jsd_0443_and_mse_0257(dev: npt.NDArray[np.int64]) -> None:
    found = values(np.full(dev.shape, 1 / 3), label_shares(dev))
    assert dev.shape == (4150, 3)
    assert (found["JSD(O,T,X)"], found["MSE(O,T,X)"]) == pytest.approx((0.0443, 0.0257), abs=5e-5)


def test_dbdc3_development_data_always_x_reaches_an_f1_of_790_and_the_prior_too(dev: npt.NDArray[np.int64]) -> None:
    always = values(np.tile([0.0, 0.0, 1.0], (len(dev), 1)), label_shares(dev))
    assert always["F1(PB+B)"] == pytest.approx(0.7896, abs=5e-5)
    prior = values(np.tile(label_shares(dev).mean(axis=0), (len(dev), 1)), label_shares(dev))
    assert prior["F1(PB+B)"] == always["F1(PB+B)"]
    assert prior["JSD(O,T,X)"] < 0.1 * always["JSD(O,T,X)"]


def test_dbdc3_development_data_systems_own_priors_jsd_0413_and_mse_0237() -> None:
    turns = read_breakdown_files([DEV]).gold
    gold, systems = label_shares([turn.counts for turn in turns]), np.array([turn.system for turn in turns])
    oracle = np.empty_like(gold)
    for system in set(systems.tolist()):
        oracle[systems == system] = gold[systems == system].mean(axis=0)
    found = values(oracle, gold)
    assert (found["JSD(O,T,X)"], found["MSE(O,T,X)"]) == pytest.approx((0.0413, 0.0237), abs=5e-5)


def exact_halves(counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """The expected JSD and MSE over every way to deal 30 annotators into two halves, by enumeration."""
    sums = np.zeros(2)
    rows, often = np.unique(counts, axis=0, return_counts=True)
    for row, times in zip(rows, often, strict=True):
        deals = [(o, t, 15 - o - t) for o, t in product(range(row[0] + 1), range(row[1] + 1))]
        first = np.array([deal for deal in deals if 0 <= deal[2] <= row[2]])
        ways = np.array([math.prod(map(math.comb, row.tolist(), deal)) for deal in first.tolist()], dtype=np.float64)
        p, q = first / 15, (row - first) / 15
        each = np.stack([jsd(p, q), np.square(p - q).mean(axis=1)])
        sums += times * (each * ways).sum(axis=1) / ways.sum()
    jsd_, mse = (sums / len(counts)).tolist()
    return jsd_, mse


def test_dbdc3_development_data_fifteen_annotators_against_fifteen_jsd_0536_and_mse_0271(
    dev: npt.NDArray[np.int64],
) -> None:
    exact = exact_halves(dev)
    assert exact == pytest.approx((0.0536, 0.0271), abs=5e-5)
    dealt = []
    for seed in range(20):
        found = values(*annotator_halves(dev, np.random.default_rng(seed)))
        dealt.append((found["JSD(O,T,X)"], found["MSE(O,T,X)"]))
    assert np.mean(dealt, axis=0) == pytest.approx(exact, rel=0.02)


def test_halves_use_all_annotators_and_with_an_odd_number_the_first_gets_one_fewer() -> None:
    counts = np.array([[3, 0, 2], [0, 7, 0], [1, 1, 0]])
    first, second = annotator_halves(counts, np.random.default_rng(7))
    sizes = counts.sum(axis=1) // 2
    whole = first * sizes[:, None] + second * (counts.sum(axis=1) - sizes)[:, None]
    np.testing.assert_allclose(whole, counts, atol=1e-12)
    with pytest.raises(ValueError, match="at least two annotators"):
        annotator_halves([[1, 0, 0]], np.random.default_rng(0))


def test_the_rates_are_the_expected_shares_of_annotators() -> None:
    b, either = rate_figures([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    assert (b.measure, either.measure) == ("rate(B)", "rate(PB+B)")
    assert (b.value, either.value) == pytest.approx((0.45, 0.7))


counts_rows = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)).filter(any), min_size=1, max_size=20
)


@settings(deadline=None)
@given(counts_rows, counts_rows)
def test_every_measure_lies_in_its_range_and_the_gold_itself_is_perfect(
    first: list[tuple[int, int, int]], second: list[tuple[int, int, int]]
) -> None:
    size = min(len(first), len(second))
    p, q = label_shares(first[:size]), label_shares(second[:size])
    for name, value in values(p, q).items():
        if not math.isnan(value):
            assert 0 <= value <= (2 / 3 + 1e-12 if name == "MSE(O,T,X)" else 1), name
    for name, value in values(q, q).items():
        if not math.isnan(value):
            assert value == pytest.approx(0 if name.startswith(("JSD", "MSE", "SNOD")) else 1, abs=1e-12), name


@settings(deadline=None)
@given(counts_rows)
def test_coarser_bins_are_never_further_apart_and_a_turn_s_position_changes_nothing(
    rows: list[tuple[int, int, int]],
) -> None:
    p, q = label_shares(rows), label_shares(rows[::-1])
    found = values(p, q)
    for name in ("O,T+X", "O+T,X"):
        assert found[f"JSD({name})"] <= found["JSD(O,T,X)"] + 1e-12  # merging bins cannot add information
    again = values(p[::-1], q[::-1])
    assert all(again[name] == pytest.approx(value, nan_ok=True) for name, value in found.items())


units = st.lists(st.sampled_from("abcdef"), min_size=2, max_size=40).filter(lambda names: len(set(names)) > 1)


@settings(deadline=None)
@given(units)
def test_each_unit_is_held_out_once_and_stays_whole(names: list[str]) -> None:
    seen = np.zeros(len(names), dtype=int)
    for train, test in split_by_unit(names):
        assert (train == ~test).all()
        inside = {name for name, here in zip(names, test, strict=True) if here}
        assert len(inside) == 1
        assert not inside & {name for name, here in zip(names, train, strict=True) if here}
        seen += test
    assert (seen == 1).all()


@settings(deadline=None)
@given(units, st.integers(0, 9))
def test_folds_keep_units_whole_and_differ_by_at_most_one_unit(names: list[str], seed: int) -> None:
    folds = 2
    sizes = []
    for train, test in split_by_unit(names, folds=folds, rng=np.random.default_rng(seed)):
        inside = {name for name, here in zip(names, test, strict=True) if here}
        assert not inside & {name for name, here in zip(names, train, strict=True) if here}
        sizes.append(len(inside))
    assert len(sizes) == folds
    assert max(sizes) - min(sizes) <= 1


def test_an_impossible_split_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two units"):
        next(split_by_unit(["a", "a"]))
    with pytest.raises(ValueError, match="into 2 to 3 folds"):
        next(split_by_unit(["a", "b", "c"], folds=4, rng=np.random.default_rng(0)))
    with pytest.raises(ValueError, match="`rng` is required"):
        next(split_by_unit(["a", "b", "c"], folds=2))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.integers(0, 9)), min_size=1, max_size=30))
def test_the_mean_of_others_equals_a_loop_over_the_others(rows: list[tuple[str, str, int]]) -> None:
    data = np.array([[value, 9 - value] for _, _, value in rows], dtype=np.float64)
    names, groups = [row[0] for row in rows], [row[1] for row in rows]
    for within in (None, groups):
        found = mean_of_others(data, names, within)
        for place, (name, group) in enumerate(zip(names, groups, strict=True)):
            others = [data[i] for i in range(len(rows)) if names[i] != name and (within is None or groups[i] == group)]
            expected = np.mean(others, axis=0) if others else [np.nan, np.nan]
            np.testing.assert_allclose(found[place], expected, atol=1e-9)
