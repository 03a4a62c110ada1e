"""Whole sentences and turns as nuggets, from the sheet that people fill in to the score, by the commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from recordings.log.run_folder import read
from tests.support.checkout import ROOT
from tests.support.command_line import harvest

SAMPLE = ROOT / "recordings" / "samples" / "run-1"
ASKED = ("--criterion", "Sincerity", "--nuggets", "turns")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "run"))


def test_a_sheet_of_whole_turns_is_scored_over_whole_turns(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    assert harvest("judge", "sheet", run, "--export", sheet, *ASKED).returncode == 0
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").split("\n") if line]
    answers = [turn.reply.answer.text for one in read(run).finished for turn in one.turns if turn.reply]
    assert sorted((int(row["start"]), int(row["end"])) for row in rows) == sorted((0, len(text)) for text in answers)
    lines = [json.dumps({**row, "value": "0.25"}, separators=(",", ":")) for row in rows]
    sheet.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    done = harvest("judge", "sheet", run, "--import", sheet, "--author", "anna", "--nuggets", "turns")
    assert done.returncode == 0, done.stderr
    scored = harvest("score", run, "-m", "WAN(Sincerity)", "--nuggets", "turns", "--json")
    assert scored.returncode == 0, scored.stderr
    table = json.loads(scored.stdout)
    own = [row for row in table["rows"] if row["measure"] == "WAN(Sincerity)"]
    assert [(row["value"], row["n"]) for row in own if row["trial"] in (1, 2) and row["topic"]] == [
        (0.25, 2),
        (0.25, 1),
    ]
    assert "SWAN and WAN are taken over the nuggets of turns/3." in table["notes"]


def test_a_rule_that_reads_a_criterion_of_another_schema_is_refused_with_the_missing_one(
    run: Path, tmp_path: Path
) -> None:
    schema = tmp_path / "half.yaml"
    schema.write_text(
        "format: harvest-schema/1\nname: half\ncriteria:\n"
        "  - {number: 11, name: Recoverability, level: turn, scorers: [recovery(sign=judged)]}\n",
        encoding="utf-8",
    )
    refused = harvest("score", run, "--schema", schema, "-m", "WAN(Recoverability)", width=300)
    assert refused.returncode == 2
    assert (
        "Recoverability: its rule recovery(sign=judged) reads the scores of User satisfaction, a criterion that the "
        "schema 'half' does not have" in refused.stderr
    )
    assert "add the criterion User satisfaction to the schema" in refused.stderr
    for options in (("-m", "SWAN"), ("--criteria",)):  # other criteria may have scores
        noted = json.loads(harvest("score", run, "--schema", schema, *options, "--json").stdout)["notes"]
        assert [note for note in noted if "reads the scores of User satisfaction" in note] == [
            "Recoverability: its rule recovery(sign=judged) reads the scores of User satisfaction, a criterion that "
            "the schema 'half' does not have."
        ]
    people = harvest("score", run, "--schema", schema, "-m", "WAN(Recoverability)", "--judges", "human", "--json")
    assert people.returncode == 0, people.stderr
    assert {(one["value"], one["n"]) for one in json.loads(people.stdout)["rows"]} == {(None, 0)}


def test_an_unknown_name_is_refused_with_those_that_need_no_layer(run: Path) -> None:
    refused = harvest("score", run, "-m", "SWAN", "--nuggets", "turn")
    assert refused.returncode == 2
    assert "there is no layer with nuggets of 'turn'" in refused.stderr
    assert "allowed: lines, rules, sentences, turns" in refused.stderr
