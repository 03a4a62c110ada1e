"""Transition probabilities of a tree: they sum to 1, carry their intervals, and say how much is unseen."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.trees.builder import EXACT, LABEL, TreeBuilder
from recordings.trees.tree import ConversationTree
from scoring.inference.proportions import jeffreys_ends, wilson_ends
from scoring.stochastic.transitions import Transitions, transitions, unseen_paths
from tests.support.scoring_examples import grid
from topics.errors import InputError

Paths = list[list[str]]


def tree_of(paths: Paths) -> ConversationTree:
    builder = TreeBuilder(EXACT)
    for path in paths:
        builder.add_path(("user" if turn % 2 == 0 else "system", key, "") for turn, key in enumerate(path))
    return builder.tree()


path_lists = st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=30)


def held(found: Transitions) -> list[npt.NDArray[np.float64]]:
    unseen = found.unseen
    return [
        found.probability,
        found.low,
        found.high,
        found.reach,
        found.stop,
        found.stop_low,
        found.stop_high,
        unseen.estimate,
        unseen.low,
        unseen.high,
    ]


def test_a_small_tree_has_the_probabilities_counted_by_hand() -> None:
    # Root 10 trials: 7 say a, 2 say b, 1 says c; of the 7, 4 go on to b, 1 to c and 2 stop.
    found = transitions(tree_of([["a", "b"]] * 4 + [["a", "c"]] + [["a"]] * 2 + [["b"]] * 2 + [["c"]]))
    assert found.probability.tolist() == pytest.approx([1, 0.7, 4 / 7, 1 / 7, 0.2, 0.1])
    assert found.n.tolist() == [10, 10, 7, 7, 10, 10]
    assert found.stop.tolist() == pytest.approx([0, 2 / 7, 1, 1, 1, 1])
    assert found.reach.tolist() == pytest.approx([1, 0.7, 0.4, 0.1, 0.2, 0.1])
    assert found.branches.tolist() == [3, 2, 0, 0, 0, 0]
    assert found.unseen.estimate.tolist() == pytest.approx([0.1, 1 / 7, 0, 0, 0, 0])
    assert found.unseen.n.tolist() == [10, 7, 4, 1, 2, 1]
    assert found.unseen.once.tolist() == [1, 1, 0, 0, 0, 0]
    assert (found.low[1], found.high[1]) == pytest.approx(tuple(map(float, wilson_ends(7, 10))))
    assert (found.stop_low[1], found.stop_high[1]) == pytest.approx(tuple(map(float, wilson_ends(2, 7))))
    assert math.isnan(found.low[0])
    assert math.isnan(found.high[0])


def test_jeffreys_intervals_are_offered_beside_wilsons() -> None:
    tree = tree_of([["a"]] * 3 + [["b"]])
    found = transitions(tree, interval="jeffreys", level=0.9)
    assert (found.low[1], found.high[1]) == pytest.approx(tuple(map(float, jeffreys_ends(3, 4, 0.9))))
    assert (found.interval, found.level) == ("jeffreys", 0.9)


@given(path_lists)
def test_edge_probabilities_and_stopping_sum_to_one_at_every_node(paths: Paths) -> None:
    tree = tree_of(paths)
    found = transitions(tree)
    onward = np.bincount(tree.parent[1:], weights=found.probability[1:], minlength=len(tree))
    assert onward + found.stop == pytest.approx(np.ones(len(tree)))
    assert found.reach == pytest.approx(tree.visits / tree.n)


@given(path_lists)
def test_every_probability_lies_in_its_interval_and_every_interval_in_0_to_1(paths: Paths) -> None:
    found = transitions(tree_of(paths))
    for low, value, high in (
        (found.low[1:], found.probability[1:], found.high[1:]),
        (found.stop_low, found.stop, found.stop_high),
        (found.unseen.low, found.unseen.estimate, found.unseen.high),
    ):
        assert np.all((low >= 0) & (low <= value + 1e-12) & (value <= high + 1e-12) & (high <= 1))


@given(path_lists, st.randoms(use_true_random=False))
def test_permuting_the_trials_changes_nothing(paths: Paths, random: object) -> None:
    shuffled = list(paths)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = transitions(tree_of(paths)), transitions(tree_of(shuffled))
    for first, second in zip(held(one), held(two), strict=True):
        np.testing.assert_array_equal(first, second)


def test_stopping_is_not_a_branch_that_was_seen_once() -> None:
    found = transitions(tree_of([["a", "b"]] * 5 + [["a"]]))
    assert found.unseen.once[1] == 0
    assert found.stop[1] == pytest.approx(1 / 6)


def test_unseen_paths_are_estimated_from_whole_conversations_seen_once() -> None:
    found = unseen_paths(tree_of([["a", "b"]] * 5 + [["a"], ["b"], ["c", "c"], ["c", "c"]]))
    assert (int(found.once), int(found.twice), int(found.n)) == (2, 1, 9)
    assert float(found.estimate) == pytest.approx(2 / 9)


def test_a_tree_of_labels_has_the_shares_of_the_grid_it_was_made_from() -> None:
    builder = TreeBuilder(LABEL)
    for conversation in grid(["oo", "ox", "xo", "x-", "oo"]):
        builder.add(conversation)
    tree = builder.tree()
    found = transitions(tree)
    (first,) = tree.children(0)
    useful, useless = tree.child(first, "system", "o"), tree.child(first, "system", "x")
    assert useful is not None
    assert useless is not None
    assert (found.probability[useful], found.probability[useless]) == (0.6, 0.4)
    assert found.stop[useless] == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [({"interval": "wald"}, "wilson, jeffreys"), ({"level": 95}, "0.95"), ({"level": math.nan}, "0.95")],
)
def test_an_unknown_level_or_interval_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        transitions(tree_of([["a"]]), **options)  # type: ignore[arg-type]


def test_counts_that_do_not_form_a_tree_are_refused() -> None:
    class Counts:
        parent = np.array([-1, 0], dtype=np.int32)
        visits = np.array([3, 2])
        stops = np.array([0, 2])
        ends = np.array([1, 1], dtype=np.int32)

    with pytest.raises(ValueError, match="the visits of every node must equal its stops"):
        transitions(Counts())
