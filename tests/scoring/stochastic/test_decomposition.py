"""Which branch gives how much of a score, and which turn settles how much of its spread."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.stochastic.decomposition import contributions, pooled_contributions, spread
from scoring.stochastic.expectation import mean, ratio
from tests.support.stochastic_examples import ScoredTree, example_tree, scored_trees

Floats = npt.NDArray[np.float64]
TREE = example_tree()
PATHS = TREE.paths


def values_of(tree: ScoredTree) -> Floats:
    return np.random.default_rng(len(tree.parent)).random(len(tree.paths.ends))


def test_the_branches_of_the_example_add_up_to_the_expectation() -> None:
    found = contributions(TREE.parent, PATHS.ends, TREE.wan, PATHS.weights)
    by_name = dict(zip(TREE.names, found.contribution.tolist(), strict=True))
    assert by_name["U1"] == pytest.approx(0.6386435532862954)
    assert by_name["S1a"] + by_name["S1b"] == pytest.approx(by_name["U1"])
    assert by_name["S1b"] == pytest.approx(0.3 * 0.48592592592592593)
    assert found.mass.tolist() == pytest.approx([1, 0.7, 0.3, 0.7, 0.35, 0.35, 0.3, 0.3])
    assert found.effect[1] == pytest.approx(0.7040939671100 - 0.6386435532863)


@given(scored_trees())
def test_contributions_of_children_and_of_ends_add_up_to_the_parents(tree: ScoredTree) -> None:
    paths, values = tree.paths, values_of(tree)
    found = contributions(tree.parent, paths.ends, values, paths.weights)
    onward = np.bincount(tree.parent[1:], weights=found.contribution[1:], minlength=len(tree.parent))
    ended = np.bincount(paths.ends, weights=paths.weights * values, minlength=len(tree.parent))
    assert onward + ended == pytest.approx(found.contribution)
    assert found.contribution[0] == pytest.approx(mean(values, paths.weights))
    assert found.mass == pytest.approx(tree.reach)
    assert np.isnan(found.effect[0])


@given(scored_trees())
def test_turns_add_up_to_the_pooled_reading(tree: ScoredTree) -> None:
    parts = pooled_contributions(tree.numerators, tree.denominators, tree.reach)
    pooled = ratio(tree.path_numerators, tree.path_denominators, tree.paths.weights).pooled
    assert parts.sum() == pytest.approx(pooled, nan_ok=True)


def test_the_spread_of_the_example_is_settled_by_its_two_system_turns() -> None:
    found = spread(TREE.parent, PATHS.ends, TREE.wan, PATHS.weights)
    first = 0.7 * 0.7040939671100**2 + 0.3 * 0.4859259259259**2 - 0.6386435532863**2
    assert found.settled.tolist() == pytest.approx([first, 0, found.total - first])
    assert found.shares.tolist() == pytest.approx([0.27496, 0, 0.72504], abs=1e-5)
    assert (found.rest, found.undecided) == pytest.approx((0, 0), abs=1e-12)
    assert found.estimate == "exact"


@given(scored_trees())
def test_the_shares_settled_by_turns_sum_to_the_variance(tree: ScoredTree) -> None:
    paths, values = tree.paths, values_of(tree)
    found = spread(tree.parent, paths.ends, values, paths.weights)
    total = float(np.average((values - np.average(values, weights=paths.weights)) ** 2, weights=paths.weights))
    assert found.total == pytest.approx(total, abs=1e-12)
    assert found.settled.sum() + found.rest == pytest.approx(total, abs=1e-12)
    assert np.all(found.settled >= -1e-12)
    assert found.rest == pytest.approx(0, abs=1e-12)  # each path has one score: nothing is left open at its end


@given(scored_trees(), st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_the_estimates_from_trials_sum_to_the_variance_of_the_sample(tree: ScoredTree, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.choice(tree.paths.ends, size=n, p=tree.paths.weights)
    values = rng.random(n)
    plain, corrected = spread(tree.parent, ends, values, plain=True), spread(tree.parent, ends, values)
    assert plain.total == pytest.approx(values.var())
    assert corrected.total == pytest.approx(values.var(ddof=1))
    for found in (plain, corrected):
        assert np.nansum([*found.settled, found.rest]) + found.undecided == pytest.approx(found.total)
        assert np.all((found.alone >= 0) & (found.alone <= 1))


@given(scored_trees(), st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_the_order_of_trials_changes_nothing(tree: ScoredTree, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends, values, order = rng.choice(tree.paths.ends, size=n), rng.random(n), rng.permutation(n)
    one, two = spread(tree.parent, ends, values), spread(tree.parent, ends[order], values[order])
    assert one.settled == pytest.approx(two.settled, abs=1e-12, nan_ok=True)
    first, second = (contributions(tree.parent, e, v) for e, v in ((ends, values), (ends[order], values[order])))
    assert first.contribution == pytest.approx(second.contribution)


def test_the_corrected_estimate_is_unbiased_where_no_node_is_seen_once_and_the_plain_one_is_not() -> None:
    rng = np.random.default_rng(5)
    noise, n, simulations = 0.1, 40, 1500  # scores vary inside paths as well
    exact = spread(TREE.parent, PATHS.ends, TREE.wan, PATHS.weights)
    truth = np.array([*exact.settled, noise**2])
    sums = {True: np.zeros(4), False: np.zeros(4)}
    for _ in range(simulations):
        drawn = rng.choice(3, size=n, p=PATHS.weights)
        values = TREE.wan[drawn] + noise * rng.normal(size=n)
        for plain in sums:
            found = spread(TREE.parent, PATHS.ends[drawn], values, plain=plain)
            sums[plain] += [*found.settled, found.rest]
    assert sums[False] / simulations == pytest.approx(truth, abs=5e-4)
    assert sums[True][3] / simulations == pytest.approx(truth[3] * (1 - 3 / n), abs=2e-4)  # three nodes, n trials


def test_texts_that_never_repeat_leave_it_undecided_when_the_spread_was_settled() -> None:
    parent = np.array([-1, *([0] * 10)], dtype=np.int32)
    values = np.linspace(0, 1, 10)
    found = spread(parent, np.arange(1, 11), values)
    assert found.alone.tolist() == [1.0]
    assert math.isnan(found.settled[0])
    assert math.isnan(found.rest)
    assert found.undecided == pytest.approx(values.var(ddof=1))
    plain = spread(parent, np.arange(1, 11), values, plain=True)
    assert plain.shares[0] == 1  # what the plain formula would claim: turn 1 settles everything


def test_a_score_that_does_not_vary_has_no_shares() -> None:
    found = spread(TREE.parent, PATHS.ends, np.ones(3), PATHS.weights)
    assert found.total == 0
    assert np.all(np.isnan(found.shares))


def test_a_conversation_that_stops_settles_its_end_at_the_turn_it_did_not_take() -> None:
    parent = np.array([-1, 0, 1], dtype=np.int32)
    found = spread(parent, [1, 2], [0.0, 1.0], [0.5, 0.5])
    assert found.settled.tolist() == [0, 0.25]


def test_fewer_than_two_trials_have_no_spread() -> None:
    for ends in ([], [0]):
        assert math.isnan(spread(np.array([-1]), ends, np.zeros(len(ends))).total)


@pytest.mark.parametrize(("ends", "values"), [([9], [0.1]), ([0], [math.nan]), ([0, 0], [0.1])])
def test_paths_without_an_end_or_a_score_are_refused(ends: list[int], values: list[float]) -> None:
    with pytest.raises(ValueError):
        contributions(np.array([-1, 0]), ends, values)
