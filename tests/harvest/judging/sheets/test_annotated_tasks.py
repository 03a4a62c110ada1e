"""Judgments from Label Studio and Potato become layers of their annotators, as the same scores in sheets would."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from recordings.judged.judgments import Target, read_layers
from recordings.log.run_folder import read
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.mutations import mutated

SAMPLE = ROOT / "recordings" / "samples" / "run-1"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "run"))


def two_turns(run: Path) -> str:
    """The identity of the trial that has two turns."""
    return next(one.trial_id for one in read(run).finished if len(one.turns) == 2)


def result(name: str, kind: str, chosen: object, **more: object) -> dict[str, object]:
    return {"from_name": name, "to_name": "dialogue", "type": kind, "value": {kind: chosen, **more}}


def label_studio(trial: str) -> list[dict[str, object]]:
    dialogue = [{"role": role, "content": "…"} for role in ("user", "assistant", "user", "assistant")]
    return [
        {
            "id": 1,
            "data": {"id": trial, "dialogue": dialogue},
            "annotations": [
                {
                    "completed_by": {"id": 7, "email": "anna@example.org"},
                    "was_cancelled": False,
                    "result": [
                        result("Fluency", "paragraphlabels", ["0.5"], start="1", end="1"),
                        result("fluency", "paragraphlabels", ["1"], start="3", end="3"),
                        {"type": "relation", "from_id": "a", "to_id": "b"},
                    ],
                },
                {"completed_by": 8, "was_cancelled": True, "result": [result("Fluency", "number", 0)]},
            ],
        },
        {
            "id": 2,
            "data": {"id": f"{trial}:2"},
            "annotations": [{"completed_by": 9, "result": [result("Coherence", "choices", ["unsure"])]}],
        },
    ]


def judged(run: Path) -> dict[str, list[tuple[Target | None, str, object]]]:
    return {
        layer.author: [(Target.from_judgment(one), one.criterion, one.value) for one in layer.judgments]
        for layer in read_layers(run)
        if layer.kind == "human" and layer.source.endswith(".json")
    }


def test_each_annotator_of_label_studio_gets_a_layer(run: Path, tmp_path: Path) -> None:
    trial = two_turns(run)
    (tmp_path / "export.json").write_text(json.dumps(label_studio(trial)))
    done = harvest("judge", "sheet", run, "--import", tmp_path / "export.json")
    assert done.returncode == 0, done.stderr
    assert judged(run) == {
        "anna@example.org": [(Target(trial, 1, 1), "Fluency", 0.5), (Target(trial, 1, 2), "Fluency", 1.0)],
        "annotator 9": [(Target(trial, 1, 2), "Coherence", "unsure")],
    }
    again = harvest("judge", "sheet", run, "--import", tmp_path / "export.json")
    assert "nothing new: anna@example.org gave all 2 scores before" in again.stderr


@pytest.mark.parametrize(
    "labels",
    [
        [[{"schema": "Fluency", "name": "0.5"}, True], [{"schema": "Coherence", "name": "scale"}, "1"]],
        {"Fluency": {"0.5": "true"}, "Coherence": {"scale": "1"}},
    ],
)
def test_the_state_of_a_potato_user_is_a_layer(run: Path, tmp_path: Path, labels: object) -> None:
    trial = two_turns(run)
    (tmp_path / "ben").mkdir()
    state = {"user_id": "ben", "instance_id_to_label_to_value": {f"{trial}:1": labels}}
    (tmp_path / "ben" / "user_state.json").write_text(json.dumps(state))
    done = harvest("judge", "sheet", run, "--import", tmp_path / "ben" / "user_state.json")
    assert done.returncode == 0, done.stderr
    assert judged(run) == {
        "ben": [(Target(trial, 1, 1), "Fluency", 0.5), (Target(trial, 1, 1), "Coherence", 1.0)],
    }


def test_tasks_of_spans_are_the_rows_of_the_sheet(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    asked = ("--criterion", "Sincerity", "--nuggets", "turns")
    assert harvest("judge", "sheet", run, "--export", sheet, *asked).returncode == 0
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").split("\n") if line]
    tasks = [
        {
            "data": {"id": f"{row['id']}:{row['turn']}:{row['start']}-{row['end']}"},
            "annotations": [{"completed_by": "carl", "result": [result("Sincerity", "choices", ["0.25"])]}],
        }
        for row in rows
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    done = harvest("judge", "sheet", run, "--import", tmp_path / "export.json", "--nuggets", "turns")
    assert done.returncode == 0, done.stderr
    found = {(one.turn, one.start, one.end) for one, _, _ in judged(run)["carl"] if one}
    assert found == {(int(row["turn"]), int(row["start"]), int(row["end"])) for row in rows}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([{"data": {"id": "x"}}], "this is not an annotated task"),
        ([], "the list is empty"),
        (
            [{"data": {"id": "x"}, "annotations": [{"completed_by": 1, "result": [result("Fluency", "number", 1)]}]}],
            "this run has no finished conversation with the id of the task 'x'",
        ),
        ([{"data": {"id": "x"}, "annotations": []}], "this file has no judgments"),
    ],
)
def test_files_that_are_not_exports_are_refused(run: Path, tmp_path: Path, tasks: object, message: str) -> None:
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    done = harvest("judge", "sheet", run, "--import", tmp_path / "export.json")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert judged(run) == {}


def test_invalid_judgments_are_refused_with_their_place(run: Path, tmp_path: Path) -> None:
    for kind, chosen, message in (
        ("choices", ["0", "1"], "2 values are chosen, but a judgment has one"),
        ("rating", 4, "'4' is not a score"),
        ("brush", "x", "no choice, rating, number or label is given"),
    ):
        tasks = [
            {
                "data": {"id": f"{two_turns(run)}:1"},
                "annotations": [{"completed_by": 1, "result": [result("Fluency", kind, chosen)]}],
            }
        ]
        (tmp_path / "export.json").write_text(json.dumps(tasks))
        done = harvest("judge", "sheet", run, "--import", tmp_path / "export.json")
        assert done.returncode == 2
        assert f"{tmp_path}/export.json:1:" in done.stderr
        assert message in done.stderr


def test_an_annotation_file_names_its_annotators_and_is_not_a_conversation(run: Path, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(json.dumps(label_studio(two_turns(run))))
    done = harvest("judge", "sheet", run, "--import", tmp_path / "export.json", "--author", "anna")
    assert (done.returncode, "this file names its annotators" in done.stderr) == (2, True)
    done = harvest("data", "import", tmp_path / "export.json", "--out", tmp_path / "other")
    assert (done.returncode, "harvest judge sheet RUN --import FILE" in done.stderr) == (2, True)


def test_damaged_exports_are_refused_or_read(run: Path, tmp_path: Path) -> None:
    data = json.dumps(label_studio(two_turns(run))).encode()
    refused = 0
    for seed in range(200):
        (tmp_path / "export.json").write_bytes(mutated(data, seed))
        done = harvest("judge", "sheet", run, "--import", tmp_path / "export.json")
        assert done.returncode in (0, 2), done.stderr
        assert "Traceback" not in done.stderr
        assert "bug" not in done.stderr
        refused += done.returncode == 2
    assert refused > 50
