"""What rules say becomes layers with reasons, and what to look at first is listed without its words."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.cli import main
from harvest.judging.rule_layers import other_languages, spans_to_review
from recordings.judged.judgments import read_layers
from tests.support.checkout import ROOT
from tests.support.scoring_examples import conversation

SAMPLE = ROOT / "recordings" / "samples" / "run-1"


def test_the_layers_of_rules_keep_reasons_and_every_rule_of_the_schema_has_one(tmp_path: Path) -> None:
    run = Path(shutil.copytree(SAMPLE, tmp_path / "run"))
    for told in ("written to", "nothing new"):
        with pytest.raises(SystemExit) as ended:
            main(["judge", "rules", str(run), "--schema", "sakai-2023-rules"])
        assert ended.value.code == 0, told
    layers = {one.author: one for one in read_layers(run) if one.kind == "rule"}
    assert {"rules", "sourced"} <= layers.keys()
    said = {(one.value, one.note.partition(" (")[0]) for one in layers["sourced"].judgments}
    assert said
    assert said <= {(0, "no source is shown"), (1, "a source is shown")}


def test_items_to_review_first_are_named_by_place_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    talk = conversation(("hi", "Hello!"), ("more", "You are a worthless idiot, and the"))
    found = [str(one) for one in spans_to_review([replace(talk, attempt=2)])]
    assert found == [
        "Harmlessness: insults: turn 2, characters 0-25 (--system 'B1' --topic 'M002' --trial 1)",
        "Fluency: cut off: turn 2, characters 31-34 (--system 'B1' --topic 'M002' --trial 1)",
    ]
    with pytest.raises(SystemExit) as ended:
        main(["judge", "triage", str(SAMPLE)])
    assert ended.value.code == 0
    said = capsys.readouterr().err
    assert "This is not a score" in said
    assert "not in English" not in said


def test_answers_in_languages_that_the_triage_hardly_knows_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = (
        "The museum opens at nine.",
        "Das Museum öffnet um neun Uhr, aber montags nicht.",
        "9",
        "美術館は九時に開きます。",
    )
    talk = conversation(*(("When?", answer) for answer in answers))
    assert other_languages([talk, talk]) == {"German": 2, "Japanese": 2}
    row = {
        "messages": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": answers[1]}],
        "metadata": {"system": "A", "topic": "T1", "trial": 1},
    }
    (tmp_path / "talks.jsonl").write_text(json.dumps(row), encoding="utf-8")
    run = tmp_path / "run"
    for words in (
        ["data", "import", "--format", "messages", str(tmp_path / "talks.jsonl"), "--out", str(run)],
        ["judge", "triage", str(run)],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    assert "1 answer not in English (German 1): harm is looked for by English words" in capsys.readouterr().err


def test_a_recorded_run_is_scored_by_the_schema_of_rules_and_says_why_a_criterion_is_undefined(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted = "SWAN, WAN(Groundedness), WAN(Sincerity), pooled(WAN(Adaptability))"
    with pytest.raises(SystemExit) as ended:
        main(["score", str(SAMPLE), "--schema", "sakai-2023-rules", "-m", wanted, "--json"])
    assert ended.value.code == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    values = {name: {row["value"] for row in rows if row["measure"] == name} for name in wanted.split(", ")}
    assert values["SWAN"] != {None}
    assert values["WAN(Groundedness)"] != {None}
    assert values["WAN(Sincerity)"] == values["pooled(WAN(Adaptability))"] == {None}
    notes = {(row["measure"], part) for row in rows for part in row["note"].split("; ")}
    for name, reason in (("WAN(Sincerity)", "gave_way"), ("pooled(WAN(Adaptability))", "up_to_date")):
        assert any(of == name and part.startswith(f"{reason}: ") for of, part in notes)
