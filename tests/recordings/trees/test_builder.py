"""Trees of repeated trials: what is folded, what the counts are, and that no order of trials changes anything."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.trees.builder import (
    EXACT,
    LABEL,
    Merging,
    PathTurn,
    TreeBuilder,
    by_function,
    fold,
    merge_trees,
    path_of,
)
from recordings.trees.fingerprints import MOST_TEXTS, Fingerprints
from recordings.trees.growth import Growth
from recordings.trees.tree import ConversationTree, FoldedTrial, Symbol
from tests.support.tree_examples import conversation, recordings, tree_of

MERGINGS = st.sampled_from([EXACT, LABEL])


def _valid(conversations: list[Conversation]) -> list[Conversation]:
    return [one for one in conversations if one.valid]


def test_trials_part_where_their_words_do() -> None:
    tree = tree_of(
        [
            conversation([("hello", "hi"), ("more", "yes")], 1),
            conversation([("hello", "hi"), ("more", "no")], 2),
            conversation([("hello", "who?")], 3, outcome="breakdown"),
            conversation([("hello", "hi"), ("more", "yes")], 4),
        ]
    )
    assert [tree.symbol_at(node).key for node in range(1, len(tree))] == ["hello", "hi", "more", "yes", "no", "who?"]
    assert tree.parent.tolist() == [-1, 0, 1, 2, 3, 3, 1]
    assert tree.visits.tolist() == [4, 4, 3, 3, 2, 1, 1]
    assert tree.stops.tolist() == [0, 0, 0, 0, 2, 1, 1]
    assert tree.outcomes == ("breakdown", "completed")
    assert tree.endings.tolist()[4:] == [[0, 2], [0, 1], [1, 0]]
    assert [tree.trials[i].key.trial for i in tree.through(2)] == [1, 2, 4]
    assert (tree.branching.tolist(), tree.leaves.tolist()) == ([1, 3], [4, 5, 6])
    assert tree.depth.tolist() == [0, 1, 2, 3, 4, 4, 2]


@given(recordings(), MERGINGS)
def test_the_probabilities_of_branches_and_of_stopping_sum_to_1_at_every_node(
    conversations: list[Conversation], merging: Merging
) -> None:
    tree = tree_of(conversations, merging)
    for node in range(len(tree)):
        branches = sum(int(tree.visits[branch]) for branch in tree.children(node))
        assert branches / tree.visits[node] + tree.stops[node] / tree.visits[node] == pytest.approx(1)


@given(recordings(), MERGINGS, st.randoms(use_true_random=False))
def test_permuting_trials_changes_nothing(conversations: list[Conversation], merging: Merging, random: Any) -> None:
    other = list(conversations)
    random.shuffle(other)
    assert tree_of(other, merging) == tree_of(conversations, merging)


@given(st.lists(recordings(5), min_size=3, max_size=3), MERGINGS)
def test_merging_trees_gives_the_tree_of_the_merged_trials_in_any_order(
    parts: list[list[Conversation]], merging: Merging
) -> None:
    topics = [[replace(one, key=replace(one.key, topic=topic)) for one in part] for topic, part in zip("ABC", parts)]
    whole = tree_of([one for part in topics for one in part], merging)
    a, b, c = (tree_of(part, merging) for part in topics)
    assert merge_trees([a, b, c]) == whole
    assert merge_trees([c, merge_trees([b, a])]) == whole
    assert merge_trees([merge_trees([a, b]), c]) == whole
    assert merge_trees([a]) == a


@given(recordings(), MERGINGS)
def test_every_leaf_is_reached_from_its_trials_and_every_trial_from_its_leaf(
    conversations: list[Conversation], merging: Merging
) -> None:
    tree = tree_of(conversations, merging)
    said = {
        FoldedTrial(one.key): tuple((speaker, key) for speaker, key, _ in path_of(one, merging))
        for one in _valid(conversations)
    }
    assert set(tree.trials) == set(said)
    for number, trial in enumerate(tree.trials):
        end = int(tree.ends[number])
        path = tuple((tree.symbol_at(node).speaker, tree.symbol_at(node).key) for node in tree.path(end))
        assert path == said[trial]
        assert number in tree.ending_at(end)
    for leaf in tree.leaves:
        assert len(tree.ending_at(leaf)) == tree.stops[leaf] == tree.visits[leaf]
    for node in range(len(tree)):
        assert len(tree.through(node)) == tree.visits[node]


@given(recordings())
def test_invalid_and_interrupted_attempts_are_counted_and_never_merged(conversations: list[Conversation]) -> None:
    tree = tree_of(conversations)
    assert tree.n == len(_valid(conversations))
    assert tree.scope.interrupted == sum(one.outcome is None for one in conversations)
    assert tree.scope.invalid == len(conversations) - tree.n - tree.scope.interrupted


@given(recordings())
def test_the_texts_at_a_node_are_counted(conversations: list[Conversation]) -> None:
    tree = tree_of(conversations, LABEL)
    numbers = {FoldedTrial(one.key): one for one in conversations}
    for node in range(1, len(tree)):
        texts = set()
        for trial in tree.through(node):
            path = path_of(numbers[tree.trials[trial]], LABEL)
            texts.add(path[int(tree.depth[node]) - 1][2])
        assert tree.texts[node] == len(texts)


def test_more_than_64_texts_are_counted_as_64_or_more_and_in_any_order_the_same() -> None:
    conversations = [conversation([("hello", f"answer {i}")], i, labels=["o"]) for i in range(1, 201)]
    tree = tree_of(conversations, LABEL)
    assert tree.texts.tolist() == [0, 1, MOST_TEXTS]
    assert "64 or more different texts, by label (1): a rule gave" in tree.merging(2)
    assert tree_of(conversations[::-1], LABEL) == tree
    assert merge_trees([tree_of(conversations[:90], LABEL), tree_of(conversations[90:], LABEL)]) == tree


def test_a_merge_names_its_key_its_reason_and_the_number_of_merged_texts() -> None:
    tree = tree_of([conversation([("hello", "it is  so")], 1), conversation([("hello", "it is so")], 2)])
    assert tree.merging(1) == (
        "2 turns, 1 different text, by exact (1): the same words (NFC, white space collapsed, nothing else)"
    )
    assert tree.merging(2).startswith("2 turns, 2 different texts, by exact (1)")
    assert tree.symbol_at(2).text == "it is  so"  # as recorded, the least in code point order


def test_nearly_equal_texts_are_kept_apart() -> None:
    tree = tree_of([conversation([("?", "is Paris")], 1), conversation([("?", "is not Paris")], 2)])
    assert [tree.symbol_at(node).key for node in tree.children(1)] == ["is Paris", "is not Paris"]


def test_a_custom_function_is_declared_with_its_version_and_reason() -> None:
    first = by_function(
        "first letter",
        lambda turn: turn.said[:1],
        lambda turn: turn.reply.answer.text[:1] if turn.reply else "",
        version="3",
        reason="the same first letter",
    )
    tree = tree_of([conversation([("hello", "yes")], 1), conversation([("hi", "yep")], 2)], first)
    assert tree.merge == "function(first letter)"
    assert len(tree) == 3
    assert tree.merging(2) == "2 turns, 2 different texts, by function(first letter) (3): the same first letter"


def test_a_million_trials_need_no_names() -> None:
    builder = TreeBuilder()
    path: list[PathTurn] = [("user", "a", None), ("system", "b", None)]
    for length in (0, 1, 2, 2):
        builder.add_path(path[:length])
    tree = builder.tree()
    assert (tree.trials, tree.visits.tolist(), tree.stops.tolist()) == ((), [4, 3, 2], [1, 1, 2])
    with pytest.raises(ValueError, match="either all trials of a tree must have names, or none of them"):
        builder.add_path(path, FoldedTrial(TrialKey("B1", "M002", 1)))


@st.composite
def encoded(draw: st.DrawFn) -> np.ndarray[Any, np.dtype[np.int32]]:
    """(n, T) paths over 3 symbols; some end early."""
    n, width = draw(st.integers(1, 30)), draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    paths = rng.integers(0, 3, (n, width)).astype(np.int32)
    stops = rng.integers(0, width + 1, n)
    paths[np.arange(width)[None] >= stops[:, None]] = -1
    return paths


SYMBOLS = (Symbol("user", "b"), Symbol("system", "z"), Symbol("user", "a"))


@given(encoded())
def test_merging_encoded_paths_at_once_equals_merging_them_one_by_one(
    paths: np.ndarray[Any, np.dtype[np.int32]],
) -> None:
    builder = TreeBuilder(by_function("encoded", lambda turn: "", lambda turn: "", version="1", reason="given"))
    for row in paths.tolist():
        builder.add_path([(SYMBOLS[code].speaker, SYMBOLS[code].key, None) for code in row if code >= 0])
    tree = fold(paths, SYMBOLS)
    assert replace(builder.tree(), keys=()) == tree
    for number, row in enumerate(paths.tolist()):
        nodes = tree.path(int(tree.ends[number]))
        assert [tree.symbol_at(node) for node in nodes] == [SYMBOLS[code] for code in row if code >= 0]


@given(encoded())
def test_merging_parts_equals_merging_the_whole(paths: np.ndarray[Any, np.dtype[np.int32]]) -> None:
    whole = fold(paths, SYMBOLS)
    middle = len(paths) // 2
    if middle:
        assert merge_trees([fold(paths[middle:], SYMBOLS), fold(paths[:middle], SYMBOLS)]) == whole


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (np.zeros((0, 3), dtype=np.int32), "n of at least 1"),
        (np.zeros(3, dtype=np.int32), "n of at least 1"),
        (np.array([[0, 3]]), "column 1 of the paths"),
        (np.array([[-2]]), "column 0 of the paths"),
        (np.array([[-1, 0], [0, 0]]), "column 1 has a turn after the end"),
    ],
)
def test_impossible_paths_are_refused(paths: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fold(paths, SYMBOLS)


def test_an_impossible_merge_is_refused() -> None:
    one = tree_of([conversation([("a", "b")], 1)])
    with pytest.raises(ValueError, match="there are no trees to merge"):
        merge_trees([])
    with pytest.raises(ValueError, match="trees merged by 'exact' and by 'label' cannot be combined"):
        merge_trees([one, tree_of([conversation([("a", "b")], 2)], LABEL)])
    with pytest.raises(ValueError, match="B1, M002, trial 1, attempt 1 occurs twice"):
        merge_trees([one, one])
    unnamed = TreeBuilder(EXACT)
    unnamed.add_path([("user", "a", None)])
    with pytest.raises(ValueError, match="either all trials of a tree must have names"):
        merge_trees([one, unnamed.tree()])


def test_an_empty_tree_is_refused_with_the_reason_for_each_omission() -> None:
    builder = TreeBuilder()
    assert not builder.add(conversation([("a", None)], outcome="invalid"))
    assert not builder.add(conversation([("a", None)], 2, outcome=None))
    with pytest.raises(ValueError, match="1 invalid and 1 interrupted attempts were left out"):
        builder.tree()


def test_a_trial_without_words_ends_at_the_root() -> None:
    tree = tree_of([conversation([])])
    assert (len(tree), tree.n, tree.stops.tolist()) == (1, 1, [1])
    assert tree.path(0) == ()
    with pytest.raises(ValueError, match="the root has no turn"):
        tree.symbol_at(0)


def test_a_conversation_of_ten_thousand_turns_is_merged() -> None:
    tree = fold(np.zeros((2, 10_000), dtype=np.int32), [Symbol("user", "a")])
    assert (len(tree), int(tree.depth[-1]), int(tree.size[0])) == (10_001, 10_000, 10_001)


_TREE: ConversationTree = tree_of([conversation([("a", "b")], 1), conversation([("a", "c")], 2)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parent": np.array([-1, 0, 2, 1], dtype=np.int32)}, "parent must come before"),
        ({"parent": np.array([-1, 0, 1, 1], dtype=np.int64)}, "parent is int64"),
        ({"parent": np.array([0, 0, 1, 1], dtype=np.int32)}, "node 0 must be the root"),
        ({"symbol": np.array([-1, 2, 0, 9], dtype=np.int32)}, "a symbol must be in 0 … 2"),
        ({"symbol": np.array([-1, 2, 1, 0], dtype=np.int32)}, "pre-order"),
        ({"visits": np.array([2, 2, 2, 1], dtype=np.int64)}, "visits must be the sum of stops"),
        ({"ends": np.array([2, 2], dtype=np.int32)}, "stops must count"),
        ({"ends": np.array([2, 7], dtype=np.int32)}, "does not exist"),
        ({"trials": _TREE.trials[::-1]}, "trials must be sorted"),
        ({"trials": _TREE.trials[:1]}, "there are 1 trials but 2 ends"),
        ({"symbols": _TREE.symbols[::-1]}, "symbols must be sorted"),
        ({"symbols": (_TREE.symbols[0],) * 3}, "same speaker and key"),
        ({"symbols": (*_TREE.symbols[:2], Symbol("judge", "a"))}, "a speaker must be one of"),
        ({"endings": np.full((4, 1), 5)}, "endings must not exceed stops"),
        ({"kinds": np.array([0, 1], dtype=np.int32)}, "a kind of end must be in -1 … 0"),
        ({"kinds": np.array([0], dtype=np.int32)}, "kinds is int32"),
        ({"endings": np.zeros((4, 1), dtype=np.int64)}, "endings must count"),
        ({"fingerprints": ((1,),)}, "fingerprints must be given for every node"),
    ],
)
def test_arrays_that_do_not_form_a_tree_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(_TREE, **change)


def test_the_arrays_of_a_tree_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        _TREE.visits[0] = 3


def test_trees_are_equal_only_to_trees_of_the_same_trials() -> None:
    for b, c in ((1, 3), (2, 1)):
        other = tree_of([conversation([("a", "b")], b), conversation([("a", "c")], c)])
        assert other != _TREE


@given(recordings(), st.integers(1, 9))
def test_a_tree_does_not_depend_on_how_many_turns_wait_to_be_placed(
    conversations: list[Conversation], waiting: int
) -> None:
    for merging in (EXACT, LABEL):
        growth = Growth(merging.name, merging.declared_keys, waiting)
        for one in conversations:
            if one.outcome is not None and one.valid:
                growth.add(path_of(one, merging), FoldedTrial(one.key, one.attempt), one.outcome.kind)
        whole = tree_of(conversations, merging)
        assert growth.tree(whole.scope) == whole


def test_the_smallest_fingerprints_of_many_texts_are_kept_in_any_order() -> None:
    texts = [f"text {i}" for i in range(200)]
    trees = []
    for order in (texts, texts[::-1]):
        growth = Growth("one", (), waiting=7)
        for text in order:
            growth.add([("system", "same", text)], None, "")
        trees.append(growth.tree())
    assert trees[0] == trees[1]
    assert trees[0].texts.tolist() == [0, 64]
    assert trees[0].symbols[0].text == "text 0"
    assert merge_trees([trees[0], trees[1]]).fingerprints == trees[0].fingerprints


def test_fingerprints_are_rows_of_numbers_and_equal_to_any_such_rows() -> None:
    rows = ((), (1, 5), (), (2,))
    kept = Fingerprints.from_rows(rows)
    assert kept == rows
    assert kept != ((), (1, 5), (), (3,))
    assert (kept[1], kept[-1], kept[1:3], len(kept)) == ((1, 5), (2,), ((1, 5), ()), 4)
    assert kept.nodes.tolist() == [1, 1, 3]
    assert kept.counts.tolist() == [0, 2, 0, 1]
    with pytest.raises(IndexError):
        kept[4]


def test_a_conversation_kept_in_memory_costs_a_few_hundred_bytes() -> None:
    """What a million of them take is measured in tests/benchmarks/trees.py."""
    tracemalloc.start()
    growth = Growth("exact", (), waiting=20_000)
    rng = np.random.default_rng(5)
    for row in rng.integers(0, 200, (4_000, 20)).tolist():
        growth.add([("system", f"answer {i}", f"answer {i}") for i in row], None, "completed")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(growth.tree()) > 60_000
    assert kept / 4_000 < 1000
