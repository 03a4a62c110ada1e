"""Expected and pooled readings: the reference tree, the identity between them, and what a single path gives."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scoring.divergences import jsd, rnod
from scoring.fairness import group_fairness
from scoring.inference.tails import cvar, lower_quantile
from scoring.measures.relevance import hard_normaliser, relevance
from scoring.nuggets import find_nuggets, position_weight
from scoring.settings import Settings
from scoring.stochastic.expectation import FairnessReadings, fairness, mean, pooled_over_nodes, ratio
from scoring.stochastic.paths import (
    accumulate_along,
    enumerate_paths,
    equal_paths,
    reach_probabilities,
    stop_probabilities,
    sum_below,
)
from tests.support.scoring_examples import ATTRIBUTES, M002, paper_b1, paper_gold
from tests.support.stochastic_examples import EXAMPLE, ScoredTree, example_tree, example_turns, scored_trees

PRINTED = EXAMPLE["expected"]
TREE = example_tree()


def example_fairness() -> FairnessReadings:
    turns = example_turns()
    weights = [way["prob"] for way in EXAMPLE["paths"]]
    return fairness(turns.path, turns.achieved, turns.nuggets, EXAMPLE["gold"], jsd, paths=3, weights=weights)


def test_the_paths_of_tree_example_json_have_its_probabilities_numerators_and_scores() -> None:
    ways = EXAMPLE["paths"]
    assert [TREE.names[end] for end in TREE.paths.ends] == [way["path"][-1] for way in ways]
    for found, key in (
        (TREE.paths.weights, "prob"),
        (TREE.path_numerators, "num"),
        (TREE.path_denominators, "den"),
        (TREE.wan, "WAN"),
        (TREE.relevance, "R"),
    ):
        assert found == pytest.approx([way[key] for way in ways], abs=1e-9), key


def test_the_fairness_of_each_path_of_tree_example_json() -> None:
    turns = example_turns()
    for number, way in enumerate(EXAMPLE["paths"]):
        here = turns.path == number
        found = fairness(turns.path[here] * 0, turns.achieved[here], turns.nuggets[here], EXAMPLE["gold"], jsd, paths=1)
        assert found.expected == pytest.approx(way["GF_JSD"], abs=1e-9)


def computed() -> dict[str, object]:
    fair, weights = example_fairness(), TREE.paths.weights
    readings = ratio(TREE.path_numerators, TREE.path_denominators, weights)
    turns = example_turns()
    similar = [
        fairness(
            np.zeros(int((turns.path == n).sum()), dtype=int),
            turns.achieved[turns.path == n],
            turns.nuggets[turns.path == n],
            EXAMPLE["gold"],
            jsd,
            paths=1,
        ).expected
        for n in range(3)
    ]
    normaliser = np.where(np.arange(len(TREE.parent)) == 0, hard_normaliser(EXAMPLE["L"]), 0.0)
    return {
        "a_expected_WAN": readings.expected,
        "b_pooled_WAN": readings.pooled,
        "b_pooled_WAN_via_reach_probabilities": pooled_over_nodes(TREE.numerators, TREE.denominators, TREE.reach),
        "cov_over_Eden": readings.covariance,
        "a_expected_R": mean(TREE.relevance, weights),
        "b_pooled_R": pooled_over_nodes(TREE.numerators, normaliser, TREE.reach),
        "a_expected_GF": fair.expected,
        "b_pooled_GF": fair.pooled,
        "c_GF_of_pooled_distribution": fair.of_pooled_distribution,
        "pooled_distribution": fair.achieved,
        "worst_path_WAN": float(TREE.wan.min()),
        "quantile_0_25_WAN": lower_quantile(TREE.wan, 0.25, weights),
        "CVaR_0_25_WAN": cvar(TREE.wan, 0.25, weights),
        "CVaR_0_5_WAN": cvar(TREE.wan, 0.5, weights),
        "CVaR_1_WAN": cvar(TREE.wan, 1.0, weights),
        "CVaR_0_5_R": cvar(TREE.relevance, 0.5, weights),
        "CVaR_0_5_GF": cvar(similar, 0.5, weights),
    }


@pytest.mark.parametrize("name", PRINTED)
def test_every_value_of_tree_example_json(name: str) -> None:
    assert computed()[name] == pytest.approx(PRINTED[name], abs=1e-9)


def test_measures_md_section_6_prints_these_values() -> None:
    values = computed()
    assert f"{values['a_expected_WAN']:.4f} {values['b_pooled_WAN']:.4f} {values['a_expected_R']:.5f}" == (
        "0.6386 0.7096 0.00351"
    )
    fair = example_fairness()
    printed = f"{fair.expected:.4f}/{fair.pooled:.4f}/{fair.of_pooled_distribution:.4f}"
    assert printed == "0.7396/0.7641/0.9863"


@given(scored_trees())
def test_pooled_minus_expected_is_the_covariance_over_the_mean_denominator(tree: ScoredTree) -> None:
    readings = ratio(tree.path_numerators, tree.path_denominators, tree.paths.weights)
    assume(readings.n > 0)
    seen = tree.path_denominators > 0
    weights = tree.paths.weights[seen] / tree.paths.weights[seen].sum()
    bottom = tree.path_denominators[seen]
    wan = tree.path_numerators[seen] / bottom
    covariance = np.cov(wan, bottom, aweights=weights, ddof=0)[0, 1] if len(wan) > 1 else 0.0
    assert readings.pooled - readings.expected == pytest.approx(covariance / (weights @ bottom), abs=1e-9)
    assert readings.covariance == pytest.approx(readings.pooled - readings.expected, abs=1e-9)


@given(scored_trees())
def test_readings_lie_within_the_range_of_the_measure(tree: ScoredTree) -> None:
    readings = ratio(tree.path_numerators, tree.path_denominators, tree.paths.weights)
    if readings.n:
        assert -1e-12 <= readings.expected <= 1 + 1e-12
        assert -1e-12 <= readings.pooled <= 1 + 1e-12
        assert 0 < readings.defined <= 1
    else:
        assert math.isnan(readings.expected)
        assert math.isnan(readings.pooled)
        assert readings.defined == 0


@given(scored_trees())
def test_pooling_paths_is_pooling_nodes_by_their_reach(tree: ScoredTree) -> None:
    by_paths = ratio(tree.path_numerators, tree.path_denominators, tree.paths.weights).pooled
    by_nodes = pooled_over_nodes(tree.numerators, tree.denominators, tree.reach)
    assert by_paths == pytest.approx(by_nodes, abs=1e-9, nan_ok=True)


@given(scored_trees(), st.floats(0.1, 1000))
def test_expected_and_pooled_agree_if_the_normaliser_is_fixed(tree: ScoredTree, normaliser: float) -> None:
    weights = tree.paths.weights
    readings = ratio(tree.path_numerators, np.full(len(weights), normaliser), weights)
    assert readings.expected == pytest.approx(readings.pooled, rel=1e-12, abs=1e-12)
    assert mean(tree.path_numerators / normaliser, weights) == pytest.approx(readings.expected, rel=1e-9, abs=1e-12)
    over_nodes = float((tree.reach * tree.numerators).sum()) / normaliser
    assert over_nodes == pytest.approx(readings.expected, rel=1e-9, abs=1e-12)


@given(scored_trees())
def test_the_paths_of_a_tree_have_probabilities_that_sum_to_one(tree: ScoredTree) -> None:
    assert tree.paths.weights.sum() == pytest.approx(1)
    stops = stop_probabilities(tree.parent, tree.probability)
    onward = np.bincount(tree.parent[1:], weights=tree.probability[1:], minlength=len(tree.parent))
    assert stops + onward == pytest.approx(np.ones(len(tree.parent)))
    through = np.zeros(len(tree.parent))
    np.add.at(through, tree.paths.ends, tree.paths.weights)
    assert sum_below(tree.parent, through) == pytest.approx(tree.reach)


@given(scored_trees(), st.randoms(use_true_random=False))
def test_neither_the_order_of_trials_nor_their_counting_changes_a_reading(tree: ScoredTree, random: Random) -> None:
    ends = np.random.default_rng(random.randrange(2**32)).choice(tree.paths.ends, size=20)
    top, bottom = accumulate_along(tree.parent, tree.numerators), accumulate_along(tree.parent, tree.denominators)
    listed = ratio(top[ends], bottom[ends], equal_paths(ends).weights)
    order = list(range(20))
    random.shuffle(order)
    shuffled = ratio(top[ends[order]], bottom[ends[order]])
    counts = Counter(ends.tolist())
    nodes = np.array(list(counts))
    counted = ratio(top[nodes], bottom[nodes], list(counts.values()))
    for other in (shuffled, counted):
        assert (other.expected, other.pooled) == pytest.approx((listed.expected, listed.pooled), nan_ok=True)


def test_one_certain_path_gives_the_ordinary_scores_exactly() -> None:
    settings = Settings()
    nuggets = find_nuggets(paper_b1(), M002, paper_gold(), ATTRIBUTES, settings)
    earning = [nugget for nugget in nuggets if nugget.relevant]
    score = relevance(nuggets, settings.patience)
    assert mean([score]) == score
    assert f"{mean([score]):.4f}" == "0.0143"  # [GFRC] Table 1, B1
    weights = position_weight([nugget.position for nugget in earning], settings.patience)
    gains = np.array([nugget.gain for nugget in earning])
    wan = float((weights * gains).sum()) / float(weights.sum())
    readings = ratio([float((weights * gains).sum())], [float(weights.sum())])
    assert (readings.expected, readings.pooled, readings.covariance) == (wan, wan, 0.0)
    ordinary = group_fairness(nuggets, {1: 1, 2: 2}, ATTRIBUTES["RATINGS"], settings)[0]
    found = fairness(
        [0] * len(ordinary.turns),
        [turn.achieved for turn in ordinary.turns],
        [turn.nuggets for turn in ordinary.turns],
        ATTRIBUTES["RATINGS"].gold,
        rnod,
        paths=1,
    )
    assert found.expected == found.pooled == pytest.approx(ordinary.value, rel=1e-15)
    assert cvar([score], 0.25) == lower_quantile([score], 0.25) == score


def test_if_users_see_different_groups_only_the_pooled_distribution_is_fair() -> None:
    # MEASURES §6: (a) .689, (c) 1.0
    found = fairness([0, 1], [[1, 0], [0, 1]], [1, 1], [0.5, 0.5], jsd, paths=2)
    assert f"{found.expected:.3f} {found.of_pooled_distribution:.1f}" == "0.689 1.0"


def test_the_third_reading_comes_with_the_first_two() -> None:
    names = [field.name for field in fields(FairnessReadings)]
    assert names[:3] == ["expected", "pooled", "of_pooled_distribution"]
    with pytest.raises(TypeError):
        FairnessReadings(of_pooled_distribution=1.0)  # type: ignore[call-arg]


def test_a_path_without_a_turn_that_counts_has_no_fairness_and_is_reported() -> None:
    found = fairness([0], [[0.5, 0.5]], [2], [0.5, 0.5], jsd, paths=4, weights=[0.1, 0.2, 0.3, 0.4])
    assert found.expected == pytest.approx(0.1)
    assert (found.pooled, found.without) == pytest.approx((1.0, 0.9))
    nothing = fairness([], np.empty((0, 2)), [], [0.5, 0.5], jsd, paths=2)
    assert (nothing.expected, nothing.turns, nothing.without) == (0.0, 0, 1.0)
    assert math.isnan(nothing.pooled)
    assert math.isnan(nothing.of_pooled_distribution)


def test_turn_weights_apply_within_a_path_and_in_the_pool() -> None:
    rows = [[1.0, 0.0], [0.5, 0.5]]
    found = fairness([0, 0], rows, [1, 1], [0.5, 0.5], jsd, paths=1, turn_weights=[3, 1])
    lone = float(1 - jsd([1.0, 0.0], [0.5, 0.5]))
    assert found.expected == found.pooled == pytest.approx((3 * lone + 1) / 4)


def test_an_undefined_path_is_neither_in_the_expectation_nor_in_the_pool() -> None:
    found = ratio([1.0, 0.0, 3.0], [2.0, 0.0, 4.0], [0.25, 0.5, 0.25])
    assert (found.expected, found.pooled) == pytest.approx((0.625, 4 / 6))
    assert (found.defined, found.n) == (0.5, 2)


def test_without_paths_there_is_no_value() -> None:
    assert math.isnan(mean([]))
    assert math.isnan(ratio([], []).expected)
    assert math.isnan(fairness([], np.empty((0, 2)), [], [0.5, 0.5], jsd, paths=0).expected)


@pytest.mark.parametrize(
    ("parent", "probability", "message"),
    [
        ([-1, 0, 0], [1, 0.7, 0.4], "node 0: probabilities of children must sum to at most 1, not 1.1"),
        ([-1, 0], [1, 1.5], "node 1: 1.5 is not a probability"),
        ([-1, 0], [1, math.nan], "node 1: nan is not a probability"),
        ([-1, 0], [0.9, 1], "the root is always reached"),
        ([0, 0], [1, 1], "only root"),
        ([-1, 2, 0], [1, 1, 1], "precede its children"),
        ([-1, -1], [1, 1], "only root"),
        ([], [], "at least the root"),
        ([-1, 0], [1], "2 nodes need as many probabilities, not 1"),
    ],
)
def test_an_invalid_tree_of_probabilities_is_refused(parent: list[int], probability: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        enumerate_paths(np.array(parent, dtype=int), probability)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ratio([1.0], [math.inf]), "finite"),
        (lambda: ratio([1.0], [0.0]), "both 0 if undefined"),
        (lambda: ratio([1.0, 2.0], [1.0]), "each path"),
        (lambda: mean([1.0, 2.0], [1.0]), "2 finite numbers"),
        (lambda: mean([1.0], [-1.0]), "1 finite numbers"),
        (lambda: mean([1.0], [0.0]), "not all 0"),
        (lambda: mean([math.nan]), "leave out undefined"),
        (lambda: fairness([2], [[1, 0]], [1], [0.5, 0.5], jsd, paths=2), "paths 0 to 1"),
        (lambda: fairness([0], [[1, 0]], [0], [0.5, 0.5], jsd, paths=1), "at least one nugget"),
        (lambda: fairness([0], [[1, 0, 0]], [1], [0.5, 0.5], jsd, paths=1), "gold's groups"),
    ],
)
def test_invalid_input_to_an_expectation_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_a_chain_of_a_hundred_thousand_turns_is_handled_like_any_other() -> None:
    parent = np.arange(-1, 99_999)
    assert accumulate_along(parent, np.ones(100_000))[-1] == 100_000
    assert reach_probabilities(parent, np.ones(100_000))[-1] == 1
