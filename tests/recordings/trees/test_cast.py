"""TREC CAsT 2022: 18 trees read by `parent` alone, whose paths are those of the flattened file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harvest.cli import main
from recordings.log.run_folder import read
from recordings.trees.builder import EXACT
from recordings.trees.cast import read_cast
from tests.support.checkout import DATA
from tests.support.tree_examples import tree_of
from topics.errors import InputError

CAST = DATA / "cast2022"
TREES = CAST / "2022_evaluation_topics_tree_v1.0.json"
FLATTENED = CAST / "2022_evaluation_topics_flattened_duplicated_v1.0.json"


def test_there_are_18_trees_408_nodes_29_of_them_branching_and_50_paths() -> None:
    trees = read_cast(TREES).trees
    speakers = Counter(tree.speaker(node) for tree in trees for node in range(1, len(tree)))
    assert len(trees) == 18
    assert speakers == {"user": 205, "system": 203}
    assert sum(len(tree.branching) for tree in trees) == 29
    assert sum(len(tree.leaves) for tree in trees) == sum(tree.n for tree in trees) == 50


def test_the_paths_are_those_of_the_flattened_file() -> None:
    flattened = Counter(
        (
            str(topic["number"]),
            tuple((turn["number"], turn["utterance"], turn.get("response")) for turn in topic["turn"]),
        )
        for topic in json.loads(FLATTENED.read_text(encoding="utf-8"))
    )
    found: Counter[Any] = Counter()
    for tree in read_cast(TREES).trees:
        for leaf in tree.leaves:
            said = [tree.symbol_at(node) for node in tree.path(int(leaf))]
            answers = [*(one.text for one in said[1::2]), None]
            turns = tuple((one.key, one.text, answer) for one, answer in zip(said[::2], answers))
            found[tree.scope.topics[0], turns] += 1
    assert found == flattened


def test_each_path_is_a_conversation_and_merging_them_by_words_gives_the_trees_again() -> None:
    cast = read_cast(TREES)
    assert len(cast.conversations) == 50
    assert sum(turn.reply is None for one in cast.conversations for turn in one.turns) == 6
    for tree in cast.trees:
        again = tree_of([one for one in cast.conversations if one.key.topic == tree.scope.topics[0]], EXACT)
        assert (len(again), len(again.branching), again.n) == (len(tree), len(tree.branching), tree.n)
        assert again.trials == tree.trials
        for number in range(tree.n):
            said = [again.symbol_at(node).text for node in again.path(int(again.ends[number]))]
            assert said == [tree.symbol_at(node).text for node in tree.path(int(tree.ends[number]))]


def test_an_imported_run_has_the_same_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    with pytest.raises(SystemExit) as done:
        main(["data", "import", "--format", "cast2022", str(TREES), "--out", str(run)])
    assert done.value.code == 0
    assert "50 conversations written" in capsys.readouterr().err
    assert len(read(run).finished) == 50
    with pytest.raises(SystemExit) as done:
        main(["tree", str(run), "--merge", "exact", "--format", "json"])
    assert done.value.code == 0
    trees = json.loads(capsys.readouterr().out)["trees"]
    assert len(trees) == 18
    assert sum(len(tree["nodes"]) - 1 for tree in trees) == 408


def _node(number: str, parent: str | None, speaker: str = "User", **more: Any) -> dict[str, Any]:
    field = "utterance" if speaker == "User" else "response"
    return {"number": number, **({"parent": parent} if parent else {}), "participant": speaker, field: "…", **more}


ROOT = _node("1", None)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "not a list of topics"),
        ([], "not a list of topics"),
        ([{"number": 1}], "topic 1 of the list has no list 'turn'"),
        ([{"turn": []}], "topic 1 of the list has no 'number'"),
        ([{"number": 7, "turn": []}], "topic 7 must have exactly one node without a parent, but has: none"),
        ([{"number": 7, "turn": [ROOT]}] * 2, "entries 1 and 2 of the list are both topic 7"),
        ([{"number": 7, "turn": [ROOT, ROOT]}], "topic 7: node 1 is repeated: turns 1 and 2"),
        ([{"number": 7, "turn": [ROOT, _node("2", None)]}], "one node without a parent, but has: 1, 2"),
        ([{"number": 7, "turn": [ROOT, _node("2", "9", "System")]}], "node 2 has the parent 9, which does not exist"),
        ([{"number": 7, "turn": [ROOT, _node("2", "1")]}], "node 2 is a second user turn in a row"),
        ([{"number": 7, "turn": [_node("1", None, "System")]}], "node 1 is a second system turn in a row"),
        (
            [{"number": 7, "turn": [ROOT, _node("2", "3", "System"), _node("3", "2")]}],
            "2 nodes form a cycle, apart from the root: 2, 3",
        ),
        ([{"number": 7, "turn": [_node("1", None, participant="Judge")]}], "allowed: User, System"),
        ([{"number": 7, "turn": [{"number": 1}]}], "topic 7, turn 1: 'number' and 'parent' of a node"),
        ([{"number": 7, "turn": [_node("1", "1")]}], "node 1 is its own parent"),
        ([{"number": 7, "turn": ["1"]}], "topic 7, turn 1: 'number' and 'parent' of a node"),
        ([None], "topic 1 of the list has no list 'turn'"),
        ([{"number": 7, "turn": {"1": ROOT}}], "topic 1 of the list has no list 'turn'"),
        ([{"number": True, "turn": []}], "topic 1 of the list has no 'number'"),
        ([{"number": 7.5, "turn": []}], "topic 1 of the list has no 'number'"),
        ([{"number": " ", "turn": []}], "topic 1 of the list has no 'number'"),
        (
            [{"number": 7, "turn": [ROOT]}, {"number": "7", "turn": [ROOT]}],
            "entries 1 and 2 of the list are both topic 7",
        ),
        ([{"number": 7, "turn": [{**ROOT, "number": ""}]}], "'number' is an empty text"),
        ([{"number": 7, "turn": [ROOT, {**ROOT, "number": 2}]}], "topic 7, turn 2: .* but 'number' is a number"),
        ([{"number": 7, "turn": [{**ROOT, "parent": ["1"]}]}], "'parent' is a list"),
        ([{"number": 7, "turn": [{**ROOT, "parent": {}}]}], "'parent' is an object"),
        ([{"number": 7, "turn": [{**ROOT, "utterance": None}]}], r"turn 1 \(1\) has no text 'utterance'"),
        ([{"number": 7, "turn": [{**ROOT, "participant": ["User"]}]}], "allowed: User, System"),
        (
            [{"number": 7, "turn": [_node("1", "2"), _node("2", "1", "System")]}],
            "has: none: its 2 nodes form a cycle",
        ),
        ([{"number": 7, "turn": [_node(str(i), None) for i in range(900)]}], r"has: 0, 1, 2, 3, 4, 5, 6, 7, … \(900\)"),
        ([{"number": 7, "turn": [_node("\x1b[31m\n", None)] * 2}], r"node ␛\[31m is repeated"),
        ([{"number": "M" * 9000, "turn": []}], "topic M{39}… must have exactly one node"),
    ],
)
def test_an_invalid_tree_is_refused_with_topic_and_node(tmp_path: Path, value: Any, said: str) -> None:
    file = tmp_path / "trees.json"
    file.write_text(json.dumps(value))
    with pytest.raises(InputError, match=said) as caught:
        read_cast(file)
    assert str(caught.value).startswith(str(file))


def test_the_flattened_file_is_refused_and_the_message_names_the_right_one() -> None:
    with pytest.raises(InputError, match="the participant is None"):
        read_cast(FLATTENED)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda path: path.write_text("[{"), "not valid JSON"),
        (lambda path: path.write_bytes(b"\xff"), "is not UTF-8"),
        (lambda path: None, "no such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, write: Callable[[Path], Any], said: str) -> None:
    write(tmp_path / "trees.json")
    with pytest.raises(Exception, match=said):
        read_cast(tmp_path / "trees.json")


def test_two_files_of_trees_are_not_imported_into_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["data", "import", "--format", "cast2022", str(TREES), str(TREES), "--out", str(tmp_path / "run")])
    assert done.value.code == 2
    assert "one file at a time, but 2 files were given" in capsys.readouterr().err


def _spine(length: int) -> str:
    """A chain with a second branch at every node: a file of n nodes, whose paths have about n²/4 turns."""
    nodes = []
    for depth in range(length):
        side = ("User", "utterance") if depth % 2 == 0 else ("System", "response")
        for number in (f"{depth}", f"{depth}-b")[: 2 if depth else 1]:
            parent = str(depth - 1) if depth else None
            nodes.append({"number": number, "parent": parent, "participant": side[0], side[1]: "x"})
    return json.dumps([{"number": 1, "turn": nodes}])


def test_a_small_file_with_millions_of_turns_on_its_paths_is_refused_before_they_are_made(tmp_path: Path) -> None:
    (tmp_path / "trees.json").write_text(_spine(4_000))
    with pytest.raises(InputError, match=r"topic 1: the paths up to here have too many turns \(8,005,999\)") as refused:
        read_cast(tmp_path / "trees.json")
    assert refused.value.allowed == "200,000 turns in one file"


def test_shared_parts_of_paths_are_made_once(tmp_path: Path) -> None:
    (tmp_path / "trees.json").write_text(_spine(100))
    cast = read_cast(tmp_path / "trees.json")
    turns = [turn for one in cast.conversations for turn in one.turns]
    assert len(cast.conversations) == 100
    assert len({id(turn) for turn in turns}) <= 200 < len(turns)
