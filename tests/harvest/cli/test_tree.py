"""`harvest tree`: a run's trials folded, for the terminal, for files, and with a clear word where it cannot be."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx
import pytest

from harvest.cli import main
from harvest.studies.trees.figures import closed_nodes, tree_figures
from harvest.studies.trees.folded_trees import fold_trees, merging_named
from recordings.conversations.conversation import Outcome, TrialKey
from recordings.events.events import TrialEnded, TrialStarted
from recordings.log.header import make_header, trial_identity
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.trees.document import read_trees
from recordings.trees.node_text import column_width, entity_names
from scoring.inference.proportions import FEW, clopper_pearson_ends, jeffreys_ends, wilson_ends
from tests.support.checkout import DATA
from tests.support.recorded_run import record
from topics.errors import InputError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Part of the demo: two parrots, three topics, eight trials."""
    folder = tmp_path_factory.mktemp("trees")
    audit = {
        "format": "harvest-audit/1",
        "name": "part of the demo",
        "topics": "fairweb-45",
        "gold": "parrot",
        "only": ["M001", "M002", "R001"],
        "protocol": "fairweb-two-round",
        "trials": 8,
        "seed": 2023,
        "systems": [
            {"name": "A", "driver": "parrot", "options": {"profile": "steady"}},
            {"name": "B", "driver": "parrot", "options": {"profile": "erratic"}},
        ],
    }
    (folder / "audit.yaml").write_text(json.dumps(audit))
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", str(folder / "audit.yaml"), "--out", str(folder / "run")])
    assert done.value.code == 0
    return folder / "run"


def _tree(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as done:
        main(["tree", *arguments])
    captured = capsys.readouterr()
    assert done.value.code == code, captured.err
    return captured.out if code == 0 else captured.err


@pytest.mark.parametrize("form", ["terminal", "text"])
def test_only_the_first_turns_are_shown_with_the_figures_of_all(
    run: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    whole = _tree(capsys, str(run), "--system", "B", "--format", form, "--width", "80").splitlines()
    cut = _tree(capsys, str(run), "--system", "B", "--format", form, "--width", "80", "--turns", "1").splitlines()
    assert "turns after turn 1 are not shown" in cut
    assert [line for line in cut if line not in whole] == ["turns after turn 1 are not shown"]
    assert 0 < sum(" S " in line for line in cut) < sum(" S " in line for line in whole)
    longer = _tree(capsys, str(run), "--system", "B", "--format", form, "--width", "80", "--turns", "9").splitlines()
    assert longer == whole


def test_several_topics_are_pooled_at_the_level_of_labels(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(_tree(capsys, str(run), "--format", "json"))
    assert document["format"] == "harvest-tree/2"
    recorded = read(run)
    for tree, system in zip(document["trees"], ("A", "B"), strict=True):
        conversations = [one for one in recorded.finished if one.key.system == system]
        assert (tree["merge"], tree["scope"]["systems"], tree["scope"]["topics"]) == (
            "label",
            [system],
            ["M001", "M002", "R001"],
        )
        assert tree["scope"]["protocols"] == [recorded.header.hashes["protocol"]]
        first = {
            tree["symbols"][node["symbol"]]["key"]: node["visits"] for node in tree["nodes"] if node["parent"] == 1
        }
        assert first == Counter(one.label(1) for one in conversations)


def test_one_topic_is_merged_by_its_words_and_every_share_has_its_interval(
    run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, interval in (("wilson", wilson_ends), ("jeffreys", jeffreys_ends)):
        arguments = ("--system", "B", "--topic", "M002", "--format", "json", "--interval", name, "--level", "0.9")
        text = _tree(capsys, str(run), *arguments)
        document = json.loads(text)
        (tree,) = document["trees"]
        assert tree["merge"] == "exact"
        assert (tree["statistics"]["level"], tree["statistics"]["interval"]) == (0.9, name)
        branches = [row for row in document["long"] if row["figure"] == "branch"]
        unseen = {row["node"]: row for row in document["long"] if row["figure"].startswith("unseen branches")}
        for node, known in zip(tree["nodes"][1:], branches, strict=True):
            n = tree["nodes"][node["parent"]]["visits"]
            low, high = (clopper_pearson_ends if n < FEW else interval)(node["visits"], n, 0.9)
            assert (known["trials"], known["estimate"]) == (n, pytest.approx(node["visits"] / n))
            assert (known["low"], known["high"]) == (pytest.approx(float(low)), pytest.approx(float(high)))
            assert known["node"] == node["way"]
            once = [one for one in tree["nodes"] if one["parent"] == tree["nodes"].index(node) and one["visits"] == 1]
            assert unseen[node["way"]]["estimate"] == pytest.approx(len(once) / node["visits"])
            assert unseen[node["way"]]["trials"] == node["visits"]
        (tmp_path / "trees.json").write_text(text)
        (read_back,) = read_trees(tmp_path / "trees.json")
        assert read_back.n == 8


def test_counts_of_endings_stand_below_those_of_branches(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = _tree(capsys, str(run), "--system", "A", "--format", "text", "--width", "70")
    places = {found.end() for line in out.splitlines() if (found := re.search(r" \d+/\d+(?= +\d+%)", line))}
    assert "■ completed" in out
    assert len(places) == 1


@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("merge", ["exact", "label", "act", "entities", "user=state,system=act"])
def test_text_fits_its_width_and_names_keys_and_reasons(
    run: Path, capsys: pytest.CaptureFixture[str], width: int, merge: str
) -> None:
    text = _tree(capsys, str(run), "--topic", "M002", "--merge", merge, "--format", "text", "--width", str(width))
    lines = text.splitlines()
    drawn = [line for line in lines if re.match(r"[│├└ ]*[US■?] ", line) and not line.startswith("U user")]
    assert len(drawn) > 10
    assert max(map(column_width, drawn)) <= width
    assert lines[0].startswith("A · M002 · merged by ")
    assert "system turns are one branch by" in text
    assert "■ completed" in text


def test_the_terminal_needs_no_colours_but_uses_them_if_possible(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _tree(capsys, str(run), "--format", "text", "--width", "80")
    assert [line.rstrip() for line in _tree(capsys, str(run), "--width", "80").split("\n") if line] == [
        line for line in plain.split("\n") if line
    ]
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = _tree(capsys, str(run), "--width", "80")
    assert "\x1b[" in coloured
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in without.split("\n") if line] == [line for line in plain.split("\n") if line]


def test_labels_are_told_apart_by_letters_and_not_by_colour_alone(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _tree(capsys, str(run), "--system", "B", "--format", "text")
    assert re.search(r"S o \(\d+\+? texts\)", text)
    assert re.search(r"S x \(\d+\+? texts\)", text)


def test_diagrams_come_with_shares_and_intervals(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = networkx.read_graphml(io.BytesIO(_tree(capsys, str(run), "--format", "graphml").encode()))
    assert graph.edges["t1n0", "t1n1"]["probability"] == 1.0
    assert graph.edges["t1n0", "t1n1"]["high"] == 1.0
    assert sum(data["speaker"] == "" for _, data in graph.nodes(data=True)) == 2
    mermaid = _tree(capsys, str(run), "--format", "mermaid")
    assert mermaid.startswith("flowchart TD\n")
    assert '"24/24 100#37;"' in mermaid, "24 trials of three topics, which had to begin so: no interval"
    assert re.search(r"\d+/24 \d+#37; #91;\d+, \d+#93;", mermaid)
    dot = _tree(capsys, str(run), "--format", "dot")
    assert dot.startswith("digraph harvest {")
    assert 't0n0 -> t0n1 [label="24/24 100%"]' in dot
    assert re.search(r't0n1 -> t0n2 \[label="\d+/24 \d+% \[\d+, \d+\]"\]', dot)


# The protocol decides on states, and says nothing of acts.
BY_ACT = ("--merge", "user=act,system=label")


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_diagrams_name_unseen_branches_the_intervals_and_the_reason_for_merged_turns(
    run: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    def drawn(*options: str) -> str:
        text = _tree(capsys, str(run), "--system", "B", "--format", form, *options)
        return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text).replace("\\n", " ").replace("<br/>", " ")

    trees, _ = fold_trees(read(run), system="B", merge=BY_ACT[1])
    told = [said for tree in trees for said in tree_figures(tree).unseen() if said]
    assert told
    by_act = drawn(*BY_ACT)
    assert [said for said in told if f"? {said}" not in by_act] == []
    text = drawn("--interval", "jeffreys", "--score", "GF(RATINGS)")
    assert text.count("95% interval in percent (over topics)") == 1
    assert text.count("system turns are one branch by label (1): a rule gave the answers the same label") == 1
    assert re.search(r"S o \(\d+\+? texts\)", text)
    assert re.search(r", GF\(RATINGS\) \.\d{4} n=\d+", text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--system", "C"], "this run has no system 'C'\n  allowed: A, B"),
        (["--topic", "M099"], "this run has no topic 'M099'\n  allowed: M001, M002, R001"),
        (["--merge", "alike"], "there is no merge key 'alike'\n  allowed: exact, label, act, entities, or"),
        (["--merge", "user=exact"], "there is no merge key 'user=exact'"),
        (["--merge", "user=label,system=label"], "user turns have no merge key 'label'"),
        (["--merge", "user=exact,system=state"], "system turns have no merge key 'state'"),
        (["--level", "1"], "1.0 is not in the range 0.5<=x<=0.9999"),
        (["--level", "nan"], "'nan' is not a number"),
        (["--format", "pdf"], "'pdf' is not one of"),
        (["--format", "dot", "--least", "0.1"], "--least and --most only affect pictures"),
        (["--format", "svg", "--turns", "1"], "--turns only affects trees as text"),
        (["--turns", "0"], "0 is not in the range"),
        (["--format", "svg", "--least", "2"], "2.0 is not in the range"),
        (["--width", "3"], "3 is not in the range"),
    ],
)
def test_an_impossible_request_is_refused(
    run: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert said in _tree(capsys, str(run), *arguments, code=2)


def test_a_folder_without_a_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "run.json" in _tree(capsys, str(tmp_path), code=2)


def test_invalid_trials_are_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(record(tmp_path / "run", ("echo: one", "echo: two"), trials=4, invalid=3))
    text = _tree(capsys, str(tmp_path / "run"), "--format", "text")
    assert text.startswith("echo · M002 · merged by exact · 3 trials · left out: 1 invalid trial\n")


async def _attempts(path: Path, attempts: list[tuple[str, int, str]]) -> None:
    """Record attempts: (topic, trial, outcome), in their order; nothing is said in any."""
    definition = {"name": "echo", "driver": "python", "options": {"function": "echo.py:answer"}}
    header = make_header(audit={"name": "echo"}, protocol=None, topics=None, systems={"echo": definition})
    writer = RunWriter.create(path, header)
    number: Counter[tuple[str, int]] = Counter()
    for topic, trial, kind in attempts:
        number[topic, trial] += 1
        identity, attempt = trial_identity(None, topic, definition, trial), number[topic, trial]
        await writer.append(TrialStarted(identity, TrialKey("echo", topic, trial), attempt))
        outcome = Outcome(kind, "timeout" if kind == "invalid" else "")
        await writer.append(TrialEnded(identity, attempt, outcome), sync=True)
    await writer.close()


def test_what_was_left_out_is_counted_in_trials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played_twice = [("M001", 1, "invalid"), ("M001", 1, "completed")]
    in_vain = [("M001", 2, "invalid")] * 3
    asyncio.run(_attempts(tmp_path / "run", [*played_twice, *in_vain, ("M003", 1, "invalid"), ("M003", 1, "invalid")]))
    text = _tree(capsys, str(tmp_path / "run"), "--format", "text", "--merge", "label")
    assert text.startswith("echo · M001 · merged by label · 1 trial · left out: 2 invalid trials\n")
    refused = _tree(capsys, str(tmp_path / "run"), "--topic", "M003", code=2)
    assert "no complete trial to merge (1 trial recorded: 1 invalid)" in refused


def test_a_run_without_a_complete_trial_has_no_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(record(tmp_path / "run", ("echo: one",), trials=1, invalid=1))
    assert "no complete trial to merge (1 trial recorded: 1 invalid)" in _tree(capsys, str(tmp_path / "run"), code=2)


def test_answers_with_the_same_entities_are_one_branch_in_any_order() -> None:
    from tests.support.tree_examples import conversation, tree_of

    one, two = "https://example.org/a", "https://example.org/b"
    merging = merging_named("entities")
    tree = tree_of(
        [
            conversation([("list", f"{one} and {two}")], 1),
            conversation([("list", f"First {two}, then {one}, then {one} again")], 2),
            conversation([("list", f"{one} only")], 3),
            conversation([("list", "none")], 4),
        ],
        merging,
    )
    assert [int(tree.visits[node]) for node in tree.children(1)] == [2, 1, 1]
    assert merging.system.version == "urls/1"


def test_a_pair_of_merge_keys_is_named_as_it_is_written() -> None:
    assert merging_named("user=exact, system=label").name == "user=exact, system=label"
    assert merging_named("user=act,system=act").name == "act"
    assert merging_named("user=state,system=label").pools
    with pytest.raises(InputError):
        merging_named("")


def test_the_columns_of_a_document_contain_no_nan(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(name: str) -> Any:
        raise AssertionError(name)

    document = json.loads(_tree(capsys, str(run), "--format", "json"), parse_constant=refuse)
    root = next(row for row in document["long"] if row["figure"] == "trials that came here")
    assert (root["estimate"], root["low"], root["trials"], root["node"]) == (1.0, None, 24, None)


def test_the_legend_is_printed_once_below_several_trees(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("--format", "text"), ("--width", "80")):
        text = _tree(capsys, str(run), *arguments)
        assert text.count("merged by label · ") == 2
        assert text.count("another conversation: about") == 2
        assert text.count("U user, S system, ■ end") == 1
        assert text.count("user turns are one branch by state") == 1
        said = " ".join(text.split())
        assert said.count("user turns are one branch by state (1): said in the same state of the protocol") == 1
        assert said.endswith(
            "here the unseen topic counts as a whole topic, there as three quarters of one "
            "Gaffke-type: assumes nothing of the values but the ends between which they lie, so no bell curve"
        )


def test_entities_are_shown_by_their_names(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = _tree(capsys, str(run), "--system", "A", "--topic", "M002", "--merge", "entities", "--format", "text")
    assert "https://" not in text
    first = next(one for one in read(run).finished if one.key.system == "A" and one.key.topic == "M002")
    reply = first.turns[0].reply
    assert reply is not None
    titles = [line.partition(", https://")[0] for line in reply.answer.text.splitlines() if ", https://" in line]
    assert any(title in text for title in titles)


@pytest.mark.parametrize(
    ("key", "text", "names"),
    [
        ("https://example.org/a", "1. The *Title*: https://example.org/a.", "The *Title"),
        ("https://example.org/a", "See [An Anchor](https://example.org/a) now", "An Anchor"),
        ("https://example.org/a/b%20c", "https://example.org/a/b%20c", "b c"),
        ("https://example.org", "", "example.org"),
        ("https://a.org/1 https://b.org/2", "One https://a.org/1 Two https://b.org/2", "One · Two"),
        ("https://a.org/1", "x" * 100_000 + " https://a.org/1", "1"),
    ],
)
def test_an_entity_is_named_by_the_words_next_to_its_address(key: str, text: str, names: str) -> None:
    assert entity_names(key, text) == names


def test_recorded_acts_of_a_simulated_user_take_precedence_over_rules(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    audit = {
        "format": "harvest-audit/1",
        "name": "acts",
        "topics": "fairweb-45",
        "only": ["M001"],
        "protocol": "recovery",
        "trials": 3,
        "systems": [{"name": "A", "driver": "parrot", "options": {"profile": "erratic"}}],
    }
    (tmp_path / "audit.yaml").write_text(json.dumps(audit))
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", str(tmp_path / "audit.yaml"), "--out", str(tmp_path / "run")])
    assert done.value.code == 0
    acts = {turn.act for one in read(tmp_path / "run").finished for turn in one.turns if turn.act}
    assert acts
    text = _tree(capsys, str(tmp_path / "run"), "--merge", "user=act,system=label", "--format", "text")
    for act in acts:
        assert re.search(rf"U {re.escape(act)}\b", text)


def test_a_note_says_which_turns_go_by_recorded_acts_and_which_by_rules() -> None:
    from harvest.studies.trees.folded_trees import act_sources
    from tests.support.tree_examples import conversation

    one = conversation([("list", "one"), ("more", "two")])
    mixed = replace(one, turns=(one.turns[0], replace(one.turns[1], user="u", act="insist")))
    said = "acts of user turns: U2 (1) as the simulated user recorded them, U1 (1) by rules"
    assert act_sources([mixed], "act") == [said]
    assert act_sources([mixed], "user=act, system=exact") == [said]
    assert (
        act_sources([one], "act")
        == act_sources([mixed], "exact")
        == act_sources([mixed], "user=state,system=act")
        == []
    )
    assert [merging_named("act").user.function(turn) for turn in mixed.turns][1] == "insist"


def test_another_branch_is_mentioned_where_trials_parted_if_the_protocol_allows_one(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = read(run)
    trees, _ = fold_trees(recorded, system="B")
    told = tree_figures(trees[0]).unseen()
    for node in range(len(trees[0])):
        parted = trees[0].branches[node] + (trees[0].stops[node] > 0) > 1
        assert bool(told[node]) == bool(parted)
    ended = [node for node in range(len(told)) if told[node] and trees[0].branches[node] == 1]
    assert len(ended) == 1  # after S x, some end and the others go on one way
    text = _tree(capsys, str(run), "--system", "B", "--format", "text", "--width", "200")
    closed = closed_nodes(trees[0], recorded.header.protocol)
    assert ended[0] in closed, "after S x, a breakdown or insisting: there is no third way"
    assert text.count("? another branch: about") == sum(map(bool, told)) - sum(bool(told[node]) for node in closed)
    assert "no interval: the protocol leaves no choice there" in text
    text = _tree(capsys, str(run), *BY_ACT, "--format", "text", "--width", "200")
    assert "shown only where trials diverged and may go another way; of one branch alone, see its interval" in text


def test_a_single_trial_claims_nothing_about_other_branches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(record(tmp_path / "run", ("echo: one", "echo: two"), trials=1))
    text = _tree(capsys, str(tmp_path / "run"), "--format", "text")
    assert "1 trial\n" in text
    assert "another branch" not in text
    assert "another conversation: about 100%" in text
    assert "100% [  2, 100]" in text


def test_the_picture_is_one_svg_that_names_the_protocol(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg = _tree(capsys, str(run), "--format", "svg", "--score", "R")
    texts = [one.text or "" for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("U1") == 2
    assert any(one.startswith("protocol fairweb-two-round (") for one in texts)
    assert any(one.startswith("R: mean ") for one in texts)
    narrow = _tree(capsys, str(run), "--system", "A", "--topic", "M002", "--format", "svg", "--width", "60")
    wide = _tree(capsys, str(run), "--system", "A", "--topic", "M002", "--format", "svg", "--width", "200")
    assert _width(narrow) < _width(wide)


def _width(svg: str) -> int:
    return int(ElementTree.fromstring(svg).get("width", "0"))


def test_unlabelled_replies_of_several_topics_are_merged_by_their_words_and_not_into_one_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = DATA / "cast2022" / "2022_evaluation_topics_tree_v1.0.json"
    for words in (
        ["data", "import", "--format", "cast2022", str(tree), "--out", str(tmp_path / "run")],
        ["tree", str(tmp_path / "run"), "--format", "json"],
    ):
        with pytest.raises(SystemExit) as done:
            main(words)
        assert done.value.code == 0
    told = capsys.readouterr()
    assert len(json.loads(told.out.splitlines()[-1])["trees"]) == 18, "one for each topic"
    assert "no reply has a label" in " ".join(told.err.split())
