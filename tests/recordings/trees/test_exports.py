"""Trees in files: read back equal, read by a foreign reader, and whatever a system wrote stays a label."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given

from harvest.studies.trees.figures import tree_figures
from harvest.tables.drawing.diagrams import WIDTH, dot, mermaid
from harvest.tables.drawing.outline import outline
from recordings.conversations.conversation import Conversation, Outcome
from recordings.files.json_text import encode_document
from recordings.trees.builder import LABEL, exact_form, fold, merge_trees
from recordings.trees.document import read_trees, trees_as_json, trees_from_json
from recordings.trees.graph import as_graph, graphml, positions
from recordings.trees.node_text import column_width, node_title, one_line, shorten, tree_title, xml_safe
from recordings.trees.tree import ConversationTree, Symbol
from tests.support.tree_examples import conversation, recordings, tree_of
from topics.errors import InputError, Place

PLACE = Place("trees.json")
HOSTILE = '"] --> x["%%{init}%% <script> #quot; \\N \\" `a` | & end\nclick \x1b[31m\u202e\ud800'


def outline_text(
    tree: ConversationTree,
    figures: Sequence[str],
    *,
    stops: Sequence[str] = (),
    notes: Sequence[str] = (),
    width: int = 80,
) -> str:
    """Return the title and the lines of a tree as one text."""
    lines = outline(tree, figures, stops=stops, notes=notes, width=width)
    return "\n".join([tree_title(tree), *map(str, lines)]) + "\n"


def _tree() -> ConversationTree:
    return tree_of(
        [
            conversation([("list", "one"), ("more", "two")], 1, labels=["o", "x"]),
            conversation([("list", "one"), ("more", "three")], 2, labels=["o", "o"]),
            conversation([("list", "sorry")], 3, labels=["x"], outcome="breakdown"),
        ]
    )


@given(recordings())
def test_json_is_read_back_as_the_same_trees(conversations: list[Conversation]) -> None:
    trees = (tree_of(conversations), tree_of(conversations, LABEL))
    assert trees_from_json(json.loads(encode_document(trees_as_json(trees))), PLACE) == trees


def test_a_file_of_trees_of_trials_without_names_is_read_back(tmp_path: Path) -> None:
    tree = fold(np.array([[0, 1], [0, -1], [0, 1]]), [Symbol("user", "a"), Symbol("system", "b")])
    (tmp_path / "trees.json").write_bytes(encode_document(trees_as_json([tree])))
    (found,) = read_trees(tmp_path / "trees.json")
    assert found == tree
    assert found.ends.tolist() == tree.ends.tolist()


def test_a_text_in_place_of_a_path_is_recognised_in_a_few_words() -> None:
    with pytest.raises(InputError, match=r"has .* characters and is not the path of a file") as caught:
        read_trees(encode_document(trees_as_json([_tree()] * 20)).decode())
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value: value.update(format="harvest-run/1"), "not a file of trees"),
        (lambda value: value.update(trees={}), "the document has no list of objects 'trees'"),
        (lambda value: value["trees"][0].pop("merge"), r"trees\[0\] has no text 'merge'"),
        (lambda value: value["trees"][0]["scope"].update(invalid="1"), r"scope has no whole number named 'invalid'"),
        (lambda value: value["trees"][0]["nodes"][2].update(parent=7), "a node's parent must come before it"),
        (
            lambda value: value["trees"][0]["nodes"][2].update(visits=True),
            r"nodes\[2\] has no whole number named 'visits'",
        ),
        (lambda value: value["trees"][0]["nodes"][1].update(visits=2**70), "trees"),
        (lambda value: value["trees"][0]["nodes"][1].update(endings=[1]), "one number for each of the 2 outcomes"),
        (lambda value: value["trees"][0]["nodes"][1].update(texts=["zz"]), "12 hex digits"),
        (
            lambda value: value["trees"][0]["nodes"][1].update(texts=[f"{i:012x}" for i in range(65)]),
            "has 65 fingerprints, and 64 are kept at most",
        ),
        (lambda value: value["trees"][0]["trials"][0].update(end=99), "ends at a node that does not exist"),
        (lambda value: value["trees"][0]["trials"][0].update(outcome="left"), "the outcomes are breakdown, completed"),
        (lambda value: value["trees"][0]["trials"][0].update(outcome="breakdown"), "endings must count the trials"),
        (lambda value: value["trees"][0].pop("trials"), "has no list of whole numbers named 'ends'"),
        (lambda value: value["trees"][0].update(nodes=[], symbols=[], trials=[]), "node 0 must be the root"),
    ],
)
def test_a_document_without_trees_is_refused_with_its_file_and_its_fault(change: Any, said: str) -> None:
    value = json.loads(encode_document(trees_as_json([_tree()])))
    change(value)
    with pytest.raises(InputError, match=said) as caught:
        trees_from_json(value, PLACE)
    assert str(caught.value).startswith("trees.json: ")


def test_a_document_says_how_each_trial_ended_and_an_older_one_is_read_and_merged() -> None:
    """Before, it said of each node how many ended how; where they ended alike, that says it of each trial."""
    tree = tree_of(
        [
            conversation([("list", "one")], 1, outcome="breakdown"),
            conversation([("list", "one")], 2, outcome="completed"),
            conversation([("list", "two")], 3, outcome="completed"),
        ]
    )
    value = json.loads(encode_document(trees_as_json([tree])))
    assert [one["outcome"] for one in value["trees"][0]["trials"]] == ["breakdown", "completed", "completed"]
    for one in value["trees"][0]["trials"]:
        one.pop("outcome")
    (old,) = trees_from_json(value, PLACE)
    assert old.end_names() == ["", "", "completed"]
    np.testing.assert_array_equal(old.endings, tree.endings)
    other = tree_of([conversation([("list", "one")], 4, outcome="turn-limit")])
    merged = merge_trees([old, other])
    assert merged.end_names() == ["", "", "completed", "turn-limit"]
    (node,) = {int(end) for end in merged.ends[[0, 1, 3]]}
    counted = dict(zip(merged.outcomes, merged.endings[node].tolist()))
    assert counted == {"breakdown": 1, "completed": 1, "turn-limit": 1}
    assert merge_trees([tree, other]).end_names() == ["breakdown", "completed", "completed", "turn-limit"]


def test_networkx_reads_the_graphml_with_its_counts_and_shares() -> None:
    tree = _tree()
    graph = networkx.read_graphml(io.BytesIO(graphml([tree, tree]).encode()))
    assert (len(graph), graph.number_of_edges()) == (2 * len(tree), 2 * (len(tree) - 1))
    assert networkx.is_arborescence(graph.subgraph([f"t0n{node}" for node in range(len(tree))]))
    for node in range(1, len(tree)):
        there = graph.nodes[f"t1n{node}"]
        assert (there["visits"], there["stops"], there["texts"]) == (tree.visits[node], tree.stops[node], 1)
        assert (there["speaker"], there["text"]) == (tree.speaker(node), tree.symbol_at(node).text)
        edge = graph.edges[f"t1n{tree.parent[node]}", f"t1n{node}"]
        assert edge["probability"] == pytest.approx(tree.visits[node] / tree.visits[tree.parent[node]])
    assert graph.nodes["t0n0"]["title"] == "B1 · M002 · merged by exact · 3 trials"


def test_columns_become_edge_attributes_and_unknown_ones_are_left_out() -> None:
    tree = _tree()
    low = np.linspace(0, 1, len(tree))
    low[1] = np.nan
    graph = networkx.read_graphml(io.BytesIO(graphml([tree], [{"low": low}]).encode()))
    assert "low" not in graph.edges["t0n0", "t0n1"]
    assert graph.edges["t0n1", "t0n2"]["low"] == low[2]


def test_every_node_has_its_own_place_to_be_drawn_at() -> None:
    tree = _tree()
    places = positions([tree, tree])
    assert set(places) == set(as_graph([tree, tree]))
    assert len(set(places.values())) == 2 * len(tree)
    assert places["t0n1"][1] == -1


def test_characters_that_xml_forbids_are_written_by_their_code() -> None:
    tree = tree_of([conversation([("hello", HOSTILE), ("a\x00b", "\ufffe\r\n")])])
    graph = networkx.read_graphml(io.BytesIO(graphml([tree]).encode()))
    assert "<U+001B>[31m" in graph.nodes["t0n2"]["text"]
    assert "<U+D800>" in graph.nodes["t0n2"]["text"]
    assert graph.nodes["t0n3"]["text"] == "a<U+0000>b"
    assert graph.nodes["t0n4"]["text"] == "<U+FFFE><U+000D>\n"


def test_system_text_is_only_a_label_in_mermaid() -> None:
    tree = tree_of([conversation([("hello", HOSTILE)])])
    lines = mermaid([tree], width=500).splitlines()
    assert lines[0] == "flowchart TD"
    node = re.compile(r'    t0n\d+(\["[^"\[\]<>|`%&\\]*"\]|\(\["[^"\[\]<>|`%&\\]*"\]\))')
    edge = re.compile(r'    t0n\d+ -->\|"[^"|<>]*"\| t0n\d+')
    assert re.fullmatch(r'  subgraph t0 \["[^"\[\]]*"\]', lines[1])
    assert all(node.fullmatch(line) or edge.fullmatch(line) for line in lines[2:-1])
    assert lines[-1] == "  end"
    decoded = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), lines[4])
    assert one_line(HOSTILE) in decoded


def test_notes_and_the_legend_are_labels_too_in_mermaid_and_dot() -> None:
    tree = tree_of([conversation([("hello", HOSTILE)])])
    notes, legend = [["", HOSTILE, ""]], [HOSTILE, "the end"]
    flow = mermaid([tree], notes=notes, legend=legend).splitlines()
    label = r'"(?:[^"\[\]<>|`%&\\]|<br/>)*"'
    assert re.fullmatch(rf"  legend\[{label}\]", flow[-1])
    assert re.fullmatch(rf"    t0n1\(\[{label}\]\)", flow[3])
    assert flow[3].count("<br/>#63; ") == 1
    text = dot([tree], notes=notes, legend=legend)
    assert "script" not in re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert text.count("the end") == 1


def test_system_text_is_only_a_label_in_dot() -> None:
    tree = tree_of([conversation([("hello", HOSTILE)])])
    text = dot([tree], width=500)
    without = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert '"' not in without.replace('""', "")
    assert without.count("{") == without.count("}") == 2
    assert "script" not in without
    assert re.findall(r"t0n\d+ -> t0n\d+", without) == ["t0n0 -> t0n1", "t0n1 -> t0n2"]
    label = re.search(r't0n2 \[label="((?:[^"\\]|\\.)*)"', text)
    assert label is not None
    assert re.sub(r"\\(.)", r"\1", label[1]).replace("&amp;", "&").startswith("S " + one_line(HOSTILE))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_of_an_outline_fits_the_width_and_figures_are_on_the_right(width: int) -> None:
    deep = [conversation([("list 一二三", f"一 🎬 {'very ' * i}long")] * i, i) for i in range(1, 25)]
    tree = tree_of(deep)
    figures = [f"{count}/24" for count in tree.visits]
    lines = list(outline(tree, figures, width=width))
    assert len(lines) == len(tree) - 1 + int((tree.stops > 0).sum())
    for line in lines:
        assert column_width(line.rails + line.mark + line.words + line.figures) == width
    assert {line.node for line in lines} == set(range(1, len(tree)))


def test_an_outline_indents_only_where_conversations_part() -> None:
    tree = _tree()
    assert outline_text(tree, ["1/1"] * len(tree), width=40).splitlines() == [
        "B1 · M002 · merged by exact · 3 trials",
        "U list                               1/1",
        "├ S one                              1/1",
        "│ U more                             1/1",
        "│ ├ S three                          1/1",
        "│ │ ■ completed                        1",
        "│ └ S two                            1/1",
        "│   ■ completed                        1",
        "└ S sorry                            1/1",
        "  ■ breakdown                          1",
    ]


def test_an_outline_distinguishes_reasons_for_leaving_and_steers_no_terminal() -> None:
    reasons = ["satisfied", "satisfied", "frustrated", HOSTILE]
    left = [
        replace(conversation([("list", "one")], trial), outcome=Outcome("user-stopped", reason))
        for trial, reason in enumerate(reasons, 1)
    ]
    other = replace(conversation([("list", "one")], 9), outcome=Outcome("breakdown", "a rule of the protocol"))
    said = outline_text(tree_of([*left, other]), [""] * 3, width=400)
    assert "ended (breakdown 1, user-stopped (" in said
    assert "user-stopped (frustrated) 1, user-stopped (satisfied) 2)" in said
    assert "\x1b" not in said
    assert "■ user-stopped (satisfied)" in outline_text(tree_of(left[:2]), [""] * 3, width=400)


def test_each_way_of_ending_at_a_node_has_its_own_line_if_it_has_figures() -> None:
    tree = tree_of(
        [
            conversation([("list", "one")], trial, outcome=end)
            for trial, end in enumerate(["breakdown"] * 3 + ["left"], 1)
        ]
    )
    ends = {2: [("breakdown", "3/4"), ("left", "1/4")]}
    lines = [str(line) for line in outline(tree, ["", "4/4", "4/4"], ends=ends, width=30)]
    assert lines[2:] == ["├ ■ breakdown              3/4", "└ ■ left                   1/4"]
    figures = tree_figures(tree)
    assert [name for name, _ in figures.end_lines()[2]] == ["breakdown", "left"]
    assert [counts for _, (_, counts, _) in figures.ends()[2]] == ["3/4", "1/4"]


def test_an_outline_says_how_many_texts_a_key_merged() -> None:
    tree = tree_of(
        [conversation([("list", "one")], 1, labels=["o"]), conversation([("list", "two")], 2, labels=["o"])], LABEL
    )
    assert "S o (2 texts)" in outline_text(tree, [""] * len(tree), width=40)


def test_words_are_cut_by_the_columns_they_occupy() -> None:
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("一二三", 4) == "一…"
    assert shorten("e\u0301e\u0301", 2) == "e\u0301e\u0301"
    assert shorten("abc", 0) == ""


def test_a_reply_of_a_megabyte_is_a_short_label_and_a_complete_text() -> None:
    tree = tree_of([conversation([("list", "word " * 200_000)])])
    assert len(mermaid([tree])) < 1000
    assert len(outline_text(tree, [""] * len(tree))) < 1000
    graph = as_graph([tree])
    assert (len(graph.nodes["t0n2"]["name"]), len(graph.nodes["t0n2"]["text"])) == (1000, 1_000_000)


def test_the_output_steers_no_terminal() -> None:
    shown = one_line(HOSTILE + "\x9b\r\t")
    assert shown.isprintable()
    assert "␛[31m<U+202E><U+D800>" in shown


def test_the_exact_form_is_nfc_with_white_space_collapsed_and_nothing_else() -> None:
    assert exact_form("  Cafe\u0301 \n\u00a0 US ") == "Café US"
    assert exact_form("us") != exact_form("US")
    assert exact_form("is Paris.") != exact_form("is Paris")
    assert exact_form("ﬁ") != exact_form("fi")  # NFC, not NFKC


@pytest.mark.parametrize(
    "text", [HOSTILE, "&lt;b&gt; &#65; <b>x</b>", "\\", '\\"', "a\\", "\x00\ufffe", "x" * 1_000_000, "]]>-->"]
)
def test_graphviz_reads_back_the_words(text: str, tmp_path: Path) -> None:
    tree = tree_of([conversation([("hello", text)]), conversation([("hello", text), (text, "b")], 2)])
    written = dot([tree], said=[[text[:100], 'R: "mean" \\N .5']])
    program = shutil.which("dot")
    if program is None:  # no Graphviz here: strings must at least end where they should
        without = re.sub(r'"(?:[^"\\]|\\.)*"', "", written)
        assert '"' not in without
        return
    done = subprocess.run([program, "-Tjson0"], input=written.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    names = {one["name"]: one["label"] for one in json.loads(done.stdout)["objects"]}
    shown = shorten("S " + node_title(tree, 2), WIDTH).replace("&", "&amp;").replace("\\", "\\\\")
    assert names["t0n2"] == f"{shown} ■ completed 1"
    assert len(names) == 1 + len(tree)


@pytest.mark.parametrize("text", [HOSTILE, "]]> & <a href='x'>", "\x00\ufffe\ud800", "\r\n\t"])
def test_graphml_opened_by_networkx_gives_back_the_same_graph(text: str) -> None:
    tree = tree_of([conversation([(text, text)]), conversation([(text, "b")], 2, outcome="breakdown")])
    said = [[f"R: mean .5 {text}"]]
    given, found = as_graph([tree], said=said), networkx.read_graphml(io.BytesIO(graphml([tree], said=said).encode()))
    assert list(found.edges(data=True)) == list(given.edges(data=True))
    assert list(found.nodes) == list(given.nodes)
    for node, data in given.nodes(data=True):
        for name, value in data.items():
            wanted = xml_safe(value) if isinstance(value, str) else value
            assert found.nodes[node][name] == wanted, name
    assert found.nodes["t0n2"]["endings"] == "completed 1"


def test_mermaid_has_the_score_and_its_measure_below_the_title_and_outcomes_by_name() -> None:
    text = mermaid([_tree()], said=[["R: mean .5000 over 3 trials", '"] --> x']])
    assert (
        "merged by exact · 3 trials<br/>R: mean #46;5000" in text or "3 trials<br/>R: mean .5000 over 3 trials" in text
    )
    assert "<br/>#34;#93; --#62; x" in text
    assert "■ breakdown 1" in text
