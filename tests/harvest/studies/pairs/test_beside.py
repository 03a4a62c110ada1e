"""`harvest show --beside`: what stands where, at each width, with and without colours."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from harvest.studies.pairs.beside import pair_lines
from harvest.studies.pairs.conversation_pairs import Side, choose_sides, pair_conversations
from recordings.conversations.conversation import Conversation, Outcome
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.reported import PARTS_SHOWN, parts_run
from tests.support.scoring_examples import conversation

FIRST = "I would suggest Dune from 2021: https://www.imdb.com/title/tt1160419/ is worth an evening."
OTHER = "I would suggest Arrival from 2016: https://www.imdb.com/title/tt2543164/ is worth an evening."
WIDE = "映画を五本ご紹介します。どれも時間旅行を描いた名作ですから、きっと楽しんでいただけるはずです。"


def written(folder: Path) -> Path:
    conversations: list[Conversation] = [
        conversation(("Which film?", FIRST), ("Another?", WIDE), labels="oo", system="A"),
        conversation(("Which film?", OTHER), ("Another?", WIDE.replace("五", "三")), labels="ox", system="B"),
        conversation(("Which film?", FIRST), labels="o", trial=2, system="A"),
        conversation(("Which films?", "\x1b[2JNo."), labels="x", trial=2, outcome=Outcome("breakdown"), system="B"),
        conversation(("Which film?", FIRST), labels="o", trial=3, system="A"),
        conversation(("Which film?", FIRST), labels="o", topic="M003", system="A"),
        conversation(("Which film?", FIRST), labels="o", topic="M003", system="B"),
    ]
    header = make_header(
        audit={"name": "t"}, protocol=None, topics=None, systems={"A": {"name": "A"}, "B": {"name": "B"}}
    )
    record(folder, conversations, header)
    return folder


def test_two_columns_at_80_and_one_below_the_other_if_they_would_be_too_narrow(tmp_path: Path) -> None:
    run = written(tmp_path / "run")
    for width in (75, 80, 120):
        lines = harvest("show", run, "--beside", "A,B", "--topic", "M002", "--trial", 1, width=width).stdout.split("\n")
        column = (width - 3) // 2
        split = [line for line in lines if "│" in line]
        assert len(split) > 8
        assert {cell_len(line[: line.index("│")]) for line in split} == {column + 1}
        assert max(map(cell_len, lines)) <= width
        assert not any(line != line.rstrip() for line in lines)
    stacked = harvest("show", run, "--beside", "A,B", "--topic", "M002", "--trial", 1, width=74).stdout
    assert "│" not in stacked
    assert "⟦Dune⟧" in stacked
    assert stacked.index("⟦Dune⟧") < stacked.index("⟦Arrival⟧")


def test_differences_are_in_brackets_if_there_are_no_colours(tmp_path: Path) -> None:
    shown = harvest("show", written(tmp_path / "run"), "--beside", "A,B", "--topic", "M002", "--trial", 1, width=400)
    lines = [line.strip() for line in shown.stdout.split("\n")]
    assert "S1: 77% of the words in common" in lines  # 10 of 13, with the punctuation
    assert any(
        "suggest ⟦Dune⟧ from ⟦2021⟧: ⟦https://www.imdb.com/title/tt1160419/⟧ is" in line
        and "suggest ⟦Arrival⟧ from ⟦2016⟧: ⟦https://www.imdb.com/title/tt2543164/⟧ is" in line
        for line in lines
    )
    assert any(line.startswith("S2: labels differ; 98% of") for line in lines)
    assert any("映画を⟦五⟧本" in line and "映画を⟦三⟧本" in line for line in lines)
    assert sum(line.startswith("Which film?") for line in lines) == 1  # the same words stand once


def test_parts_of_an_answer_are_shown_if_they_differ(tmp_path: Path) -> None:
    run = parts_run(tmp_path / "parts")
    for one in ("sources", "thoughts", "calls", "offers", "attachments"):
        shown = harvest("show", run, "--beside", f"{one},refused", "--topic", "M001", "--trial", 1, width=400).stdout
        assert "what came with it differs" in shown
        for line in (*PARTS_SHOWN[one], *PARTS_SHOWN["refused"]):
            assert f"⟦{line}⟧" in shown
    some = harvest("show", run, "--beside", "whole,thoughts", "--topic", "M001", "--trial", 1, width=400).stdout
    assert "⟦offer: Tell me more⟧" in some
    assert PARTS_SHOWN["thoughts"][0] not in some[: some.index("U2")], "both sides have it"


def test_with_colours_there_are_no_brackets(tmp_path: Path) -> None:
    sides: tuple[Side, Side] = choose_sides([read(written(tmp_path / "run"))], "A,B")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=100, legacy_windows=False)
    for pair in pair_conversations(*sides):
        for line in pair_lines(pair, sides, console):
            console.print(line, soft_wrap=True)
    assert "\x1b[1;4;34mfilms\x1b[0m?" in out.getvalue()  # what stands around it has its own colours
    assert "⟦" not in out.getvalue()
    assert "\x1b[1;4;31mDune\x1b[0m" in out.getvalue()
    assert "\x1b[1;4;34mArrival\x1b[0m" in out.getvalue()


def test_endings_missing_turns_and_hostile_replies(tmp_path: Path) -> None:
    shown = harvest("show", written(tmp_path / "run"), "--beside", "A,B", "--topic", "M002", width=80).stdout
    assert "\x1b" not in shown
    assert "␛[2JNo." in shown
    assert "outcome: breakdown" in shown
    assert "⟦films⟧" in shown
    assert "no valid attempt" in shown  # B has no third trial
    assert "3 shown of 3 trials; 2 with a valid attempt on both sides" in shown


def test_the_list_says_which_turns_differ_and_how_often(tmp_path: Path) -> None:
    run = written(tmp_path / "run")
    every = harvest("show", run, "--beside", "A,B").stdout.split("\n")
    assert every[:4] == [
        "M002  trial 1  A: o o  B: o x  differ at S2",
        "M002  trial 2  A: o  B: x  differ at S1",
        "M002  trial 3  A: o  B: no valid attempt",
        "M003  trial 1  A: o  B: o",
    ]
    assert every[5:] == [
        "4 shown of 4 trials; 3 with a valid attempt on both sides",
        "S1: labels differ in 1 of 3 trials (A o, B x: 1)",
        "    that is 33%; between two trials of one system on one topic: A 0% and B 100%",
        "S2: labels differ in 1 of 1 trial (A o, B x: 1)",
        "",
    ]
    flipped = harvest("show", run, "--beside", "A,B", "--flipped").stdout.split("\n")
    assert flipped[:2] == every[:2]
    assert flipped[3].startswith("2 shown of 4 trials")


def test_the_document_has_the_rows_of_both_sides(tmp_path: Path) -> None:
    run = written(tmp_path / "run")
    found = json.loads(harvest("show", run, "--beside", "B,A", "--flipped", "--json").stdout)
    assert [side["name"] for side in found["sides"]] == ["B", "A"]
    assert [(one["topic"], one["trial"], one["flipped"]) for one in found["trials"]] == [
        ("M002", 1, [2]),
        ("M002", 2, [1]),
    ]
    assert [row["labels"] for row in found["trials"][0]["conversations"]] == [["o", "x"], ["o", "o"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--beside", "A,C"], "no system of these runs is called 'C'"),
        (["--beside", "A,B", "--topic", "M009"], "neither A nor B was tried on topic 'M009'"),
        (["--beside", "A,B", "--topic", "M003", "--trial", "7"], "neither A nor B has a trial 7 on M003"),
        (["--beside", "A,B", "--system", "A"], "--system, --attempt and --all cannot be used with --beside"),
        (["--flipped"], "--flipped can only be used with --beside"),
        (["run"], "only one run can be shown, but several were given"),
        (["run", "--beside", "A,B"], "the same run is given twice"),
    ],
)
def test_an_impossible_comparison_is_refused_with_one_message(tmp_path: Path, words: list[str], said: str) -> None:
    written(tmp_path / "run")
    done = harvest("show", "run", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
