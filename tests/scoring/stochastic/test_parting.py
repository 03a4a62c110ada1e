"""Where two systems part: the parts add up to the divergence of whole paths, whoever is first and however it is folded.

The divergence of whole paths is that of `scoring.divergences`, which has references of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.trees.builder import EXACT, LABEL, merge_trees
from recordings.trees.tree import ConversationTree, FoldedTrial
from scoring.divergences import jsd
from scoring.stochastic.parting import BothSides, Pair, both_sides, pairs_behind, split_divergence
from tests.support.tree_examples import conversation, tree_of
from topics.errors import InputError

LABELS = st.text("ox", max_size=4)
TRIALS = st.dictionaries(st.sampled_from(["M1", "M2", "M3"]), st.lists(LABELS, min_size=1, max_size=6), min_size=1)


def talks(system: str, labels: dict[str, list[str]]) -> list[Conversation]:
    """One conversation for each string of labels of a topic."""
    return [
        conversation([("said", "heard")] * len(each), trial, system=system, topic=topic, labels=each)
        for topic, strings in labels.items()
        for trial, each in enumerate(strings, 1)
    ]


def two(first: dict[str, list[str]], second: dict[str, list[str]]) -> BothSides:
    return both_sides(tree_of([*talks("A", first), *talks("B", second)], LABEL), "A", "B")


ENDS = st.sampled_from(["breakdown", "completed", "turn-limit", "user-stopped (satisfied)"])
ENDED = st.dictionaries(
    st.sampled_from(["M1", "M2"]), st.lists(st.tuples(LABELS, ENDS), min_size=1, max_size=6), min_size=2
)


def ended(first: dict[str, list[tuple[str, str]]], second: dict[str, list[tuple[str, str]]]) -> BothSides:
    """Of strings of labels, each with the name of its end."""
    labels = [{topic: [one for one, _ in each] for topic, each in side.items()} for side in (first, second)]
    how = {
        FoldedTrial(TrialKey(name, topic, trial)): end
        for name, side in (("A", first), ("B", second))
        for topic, each in side.items()
        for trial, (_, end) in enumerate(each, 1)
    }
    return both_sides(tree_of([*talks("A", labels[0]), *talks("B", labels[1])], LABEL), "A", "B", how)


def where(tree: ConversationTree, labels: str) -> int:
    """The node of the answer that these labels lead to."""
    node = 0
    for number, label in enumerate(labels, 1):
        for speaker, key in (("user", f"state {number}"), ("system", label)):
            child = tree.child(node, speaker, key)
            assert child is not None
            node = child
    return node


def whole_divergence(first: Mapping[str, Sequence[object]], second: Mapping[str, Sequence[object]]) -> float:
    """Of whole paths, or of paths and their ends, with topics alike: straight from what was given."""
    common = sorted(first.keys() & second.keys())
    laws: list[dict[object, float]] = []
    for side in (first, second):
        law: dict[object, float] = defaultdict(float)
        for topic in common:
            for labels, count in Counter(side[topic]).items():
                law[labels] += count / len(side[topic]) / len(common)
        laws.append(law)
    paths = sorted({*laws[0], *laws[1], "never taken"}, key=str)
    return float(jsd(*([law.get(path, 0.0) for path in paths] for law in laws)))


@settings(max_examples=40)
@given(TRIALS, TRIALS)
def test_the_terms_of_all_nodes_add_up_to_the_divergence_of_whole_paths(
    first: dict[str, list[str]], second: dict[str, list[str]]
) -> None:
    if not first.keys() & second.keys():
        with pytest.raises(InputError, match="no topic in common"):
            two(first, second)
        return
    both = two(first, second)
    found = split_divergence(both)
    assert found.divergence == pytest.approx(whole_divergence(first, second), abs=1e-9)
    assert found.term.sum() == pytest.approx(found.divergence, abs=1e-9)
    assert found.term.min() >= -1e-12
    if found.divergence > 0:
        assert found.share.sum() == pytest.approx(1, abs=1e-9)
    assert both.alone == tuple(sorted(first.keys() ^ second.keys()))


@settings(max_examples=20)
@given(TRIALS, TRIALS)
def test_the_result_does_not_depend_on_how_the_trees_were_merged_or_which_side_is_first(
    first: dict[str, list[str]], second: dict[str, list[str]]
) -> None:
    if not first.keys() & second.keys():
        return
    a, b = tree_of(talks("A", first), LABEL), tree_of(talks("B", second), LABEL)
    one, other = (split_divergence(both_sides(merge_trees(order), "A", "B")) for order in ([a, b], [b, a]))
    folded, turned = split_divergence(two(first, second)), split_divergence(both_sides(merge_trees([a, b]), "B", "A"))
    for same in (other, folded):
        assert same.divergence == one.divergence
        for name in ("term", "arrivals", "branch", "taken", "portion"):
            np.testing.assert_array_equal(getattr(same, name), getattr(one, name))
    np.testing.assert_allclose(turned.term, one.term, atol=1e-12)
    np.testing.assert_array_equal(turned.branch, one.branch)
    np.testing.assert_array_equal(turned.arrivals, one.arrivals[::-1])


def test_a_difference_at_one_turn_explains_everything_and_names_the_branch_the_counts_and_the_conversations() -> None:
    first = {"M1": ["oo", "oo", "xo", "xo"], "M2": ["oo", "xo", "oo", "xo"]}
    second = {"M1": ["oo", "oo", "xx", "xx"], "M2": ["oo", "xo", "oo", "xx"]}
    both = two(first, second)
    found, tree = split_divergence(both), both.tree
    (asked,) = tree.children(where(tree, "x"))
    assert np.flatnonzero(found.term > 1e-12).tolist() == [asked]
    assert found.share[asked] == pytest.approx(1)
    # Half of either side came; there the second side has o in a quarter of its answers, and the first always.
    assert found.divergence == pytest.approx(0.5 * float(jsd([1, 0], [0.25, 0.75])))
    assert found.arrivals[:, asked].tolist() == [4, 4]
    assert int(found.branch[asked]) == where(tree, "xo")
    assert found.taken[:, asked].tolist() == [4, 1]
    assert found.portion[:, asked].tolist() == [1.0, 0.25]
    assert pairs_behind(both, asked, where(tree, "xo")) == (Pair("M1", 3, 3), Pair("M2", 2, 4))
    assert pairs_behind(both, asked, where(tree, "xo"), most=1) == (Pair("M1", 3, 3),)


def test_stopping_is_a_branch_like_any_other() -> None:
    both = two({"M1": ["x", "x", "xo"]}, {"M1": ["xo", "xo", "xx"]})
    found, failed = split_divergence(both), where(both.tree, "x")
    assert int(found.branch[failed]) in (failed, *both.tree.children(failed))
    assert found.portion[:, failed].tolist() == pytest.approx([1 / 3, 1])
    assert pairs_behind(both, failed, failed) == (Pair("M1", 1, 1),)


@settings(max_examples=40)
@given(ENDED, ENDED)
def test_ends_of_different_kinds_are_different_branches_and_the_terms_still_add_up(
    first: dict[str, list[tuple[str, str]]], second: dict[str, list[tuple[str, str]]]
) -> None:
    found = split_divergence(ended(first, second))
    assert found.divergence == pytest.approx(whole_divergence(first, second), abs=1e-9)
    assert found.term.sum() == pytest.approx(found.divergence, abs=1e-9)
    assert found.term.min() >= -1e-12


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("user-stopped", "breakdown"),
        ("user-stopped (satisfied)", "user-stopped (frustrated)"),
        ("turn-limit", "completed"),
        ("completed", "system-ended"),
    ],
)
def test_sides_that_end_differently_after_the_same_label_part_there(one: str, other: str) -> None:
    both = ended({"M1": [("ox", one)] * 3}, {"M1": [("ox", other)] * 2})
    found, last = split_divergence(both), where(both.tree, "ox")
    assert found.divergence == pytest.approx(1)
    assert np.flatnonzero(found.term > 1e-12).tolist() == [last]
    assert (int(found.branch[last]), found.end[last]) == (last, min(one, other))
    assert sorted(found.portion[:, last].tolist()) == [0, 1]
    assert pairs_behind(both, last, last, other) == (Pair("M1", 1, 1),)
    assert both.distinguishes_ends


def test_if_the_end_of_one_trial_is_unknown_ends_are_not_distinguished() -> None:
    both = ended({"M1": [("x", "breakdown"), ("x", "")]}, {"M1": [("x", "completed")]})
    assert split_divergence(both).divergence == 0
    assert not both.distinguishes_ends
    others = ended({"M1": [("x", "breakdown")], "M2": [("x", "")]}, {"M1": [("x", "completed")]})
    assert split_divergence(others).divergence == 1, "an end of a topic that is left out says nothing"


def test_a_tree_alone_knows_how_its_trials_ended_even_after_trees_were_merged() -> None:
    sides = [
        [conversation([("said", "heard")], trial, system=name, labels="x", outcome=end) for trial in (1, 2)]
        for name, end in (("A", "user-stopped"), ("B", "breakdown"))
    ]
    whole = tree_of([*sides[0], *sides[1]], LABEL)
    merged = merge_trees([tree_of(side, LABEL) for side in sides])
    for tree in (whole, merged):
        assert split_divergence(both_sides(tree, "A", "B")).divergence == pytest.approx(1)


def test_equal_ends_change_nothing() -> None:
    first, second = {"M1": ["oo", "ox", "x"], "M2": ["xo", ""]}, {"M1": ["ox", "xx"], "M2": ["oo", "x", "xx"]}
    plain = split_divergence(two(first, second))
    completed = [
        {topic: [(one, "completed") for one in each] for topic, each in side.items()} for side in (first, second)
    ]
    named = split_divergence(ended(*completed))
    for name in ("divergence", "term", "share", "arrivals", "branch", "taken", "portion"):
        np.testing.assert_array_equal(getattr(named, name), getattr(plain, name))


def test_branches_of_only_one_side_keep_it_finite_and_unreached_nodes_do_not_count() -> None:
    both = two({"M1": ["oo", "ox"]}, {"M1": ["xo", "xx"]})
    found = split_divergence(both)
    assert found.divergence == pytest.approx(1)
    (asked,) = both.tree.children(0)
    assert found.share[asked] == pytest.approx(1)
    (again,) = both.tree.children(where(both.tree, "o"))
    assert found.term[again] == 0
    assert found.branch[again] == -1
    assert np.isnan(found.portion[:, again]).all()


def test_each_topic_has_the_same_weight_for_any_number_of_trials() -> None:
    few = two({"M1": ["o", "x"], "M2": ["x"]}, {"M1": ["x", "x"], "M2": ["x"]})
    many = two({"M1": ["o", "x"], "M2": ["x"] * 9}, {"M1": ["x", "x"], "M2": ["x"] * 4})
    assert split_divergence(few).divergence == pytest.approx(split_divergence(many).divergence)
    (asked,) = many.tree.children(0)
    assert split_divergence(many).portion[:, asked].tolist() == pytest.approx(
        [0.75, 1]
    )  # of x, and 10 of 11 if trials counted


def test_equal_sides_have_no_difference_to_attribute() -> None:
    found = split_divergence(two({"M1": ["oo", "x"]}, {"M1": ["x", "oo"]}))
    assert found.divergence == 0
    assert np.isnan(found.share).all()


def test_sides_without_any_turns_do_not_differ() -> None:
    assert split_divergence(two({"M1": [""]}, {"M1": ["", ""]})).divergence == 0


def test_a_tree_of_exact_words_is_refused_with_the_reason() -> None:
    tree = tree_of([*talks("A", {"M1": ["o"]}), *talks("B", {"M1": ["x"]})], EXACT)
    with pytest.raises(InputError, match="nearly every path has one trial"):
        both_sides(tree, "A", "B")


def test_a_side_without_a_trial_of_a_topic_is_refused() -> None:
    tree = tree_of(talks("A", {"M1": ["o", "x"], "M2": ["o"]}), LABEL)
    with pytest.raises(ValueError, match="a trial of each topic"):
        BothSides.count_trials(tree, [0, 1, 0], [0, 0, 1], ("M1", "M2"))
    with pytest.raises(ValueError, match="compared with itself"):
        both_sides(tree, "A", "A")
