"""`harvest metrics breakdown` with the detector, and a protocol that asks it, played for real."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from protocols.breakdown.detector import load_detector
from recordings.log.run_folder import read
from tests.support.checkout import DATA, TESTS
from tests.support.command_line import harvest

CITIES = ("Paris", "Lima", "Oslo", "Kyoto", "Accra", "Quito")


def log(number: int, *, answered: int = 1) -> str:
    """A dialogue in the organisers' form: the system answers, then talks of cheese."""
    city = CITIES[number % 6]
    said = [("U", f"Tell me about {city}"), ("S", f"{city} is a city."), ("U", "And then?"), ("S", "I like cheese.")]
    votes = {1: "OOOOTX", 3: "OTXXXX"}
    turns = [
        {
            "turn-index": place,
            "speaker": speaker,
            "utterance": words if answered else "",
            "annotations": [{"breakdown": vote} for vote in votes.get(place, "")],
        }
        for place, (speaker, words) in enumerate(said)
    ]
    return json.dumps({"dialogue-id": f"d{number}", "turns": turns})


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for system in ("one", "two"):
        (tmp_path / "logs" / system).mkdir(parents=True)
    for number in range(24):
        (tmp_path / "logs" / ("one", "two")[number % 2] / f"d{number}.log.json").write_text(log(number))
    return tmp_path / "logs"


def rows_of(*arguments: str | Path) -> tuple[dict[tuple[str, str, str | None], float], list[str]]:
    done = harvest("metrics", "breakdown", "eval", *arguments, "--replications", "100", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {(r["system"], r["measure"], r["topic_type"]): r["estimate"] for r in document["long"]}, document["notes"]


def test_files_without_predictions_are_evaluated_with_the_shipped_detector(logs: Path) -> None:
    rows, notes = rows_of(logs)
    assert 0 < rows["detector", "MSE(O,T,X)", None] < 0.2
    assert {("detector", "F1(B)", system) in rows for system in ("one", "two")} == {True}
    assert notes == []


def test_a_trained_detector_is_reproducible_and_reported_to_have_seen_the_dialogues(logs: Path) -> None:
    files = [logs.parent / name for name in ("a.json", "b.json")]
    for file, order in zip(files, (("one", "two"), ("two", "one")), strict=True):
        done = harvest("metrics", "breakdown", "train", *(logs / name for name in order), "--out", file)
        assert done.returncode == 0, done.stderr
        assert "trained on 48 turns of 24 dialogues" in done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    again = harvest("metrics", "breakdown", "train", logs / "one", "--out", files[0])
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    assert files[0].read_bytes() == files[1].read_bytes()
    rows, notes = rows_of(logs, "--detector", files[0])
    assert rows["detector", "MSE(O,T,X)", None] < 0.01
    assert "was trained on 24 of these 24 dialogues" in notes[0]


@pytest.mark.parametrize("by", ["dialogue", "system"])
def test_cross_validation_predicts_unseen_dialogues_and_beats_the_prior(logs: Path, by: str) -> None:
    rows, notes = rows_of(logs, "--cross-validate", "--held-out", by)
    name = f"detector, held out by {by}"
    assert rows[name, "MSE(O,T,X)", None] < rows["baseline: prior", "MSE(O,T,X)", None]
    assert notes == []


def test_reliability_is_printed_in_ten_bins_overall_and_by_system(logs: Path) -> None:
    done = harvest("metrics", "breakdown", "eval", logs, "--replications", "100", "--reliability", width=120)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in (done.stdout + done.stderr).splitlines()]
    for name in ("all", "one", "two"):
        bins = [line for line in lines if line[:1] == [name] and len(line) == 5]
        assert [line[1] for line in bins] == [f"0.{k}" for k in range(10)]
        assert sum(int(line[2]) for line in bins) == (48 if name == "all" else 24)


def test_counts_without_words_are_evaluated_as_before_and_a_detector_is_refused() -> None:
    rows, notes = rows_of(DATA / "dbdc3_en" / "YI_100.json")
    assert not any(system.startswith("detector") for system, _, _ in rows)
    assert "no predictions were given" in notes[-1]
    done = harvest("metrics", "breakdown", "eval", DATA / "dbdc3_en" / "YI_100.json", "--cross-validate")
    assert done.returncode == 2
    assert "do not contain the text" in done.stderr


def test_predictions_can_be_evaluated_like_any_submission(logs: Path) -> None:
    done = harvest("metrics", "breakdown", "predict", logs, "--why")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 48
    assert all(len(line["why"]["added"]) == 5 for line in lines)
    assert all(0 <= line["why"]["familiarity"] <= 1 for line in lines)
    (logs.parent / "mine.jsonl").write_text(done.stdout)
    rows, _ = rows_of(logs, logs.parent / "mine.jsonl")
    assert rows["mine", "MSE(O,T,X)", None] == pytest.approx(rows["detector", "MSE(O,T,X)", None], abs=1e-6)


@pytest.mark.parametrize("empty", [(3,), (1,), (1, 3), (0, 1, 2, 3)])
def test_turns_without_words_are_predicted_so_that_predictions_can_be_evaluated(
    logs: Path, empty: tuple[int, ...]
) -> None:
    dialogue = json.loads(log(99))
    for place in empty:
        dialogue["turns"][place]["utterance"] = ""
    (logs / "one" / "d99.log.json").write_text(json.dumps(dialogue))
    out = logs.parent / "mine.jsonl"
    done = harvest("metrics", "breakdown", "predict", logs, "--out", out)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "50 predictions written to" in done.stderr
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {line["turn"] for line in lines if line["dialogue"] == "d99"} == {1, 3}
    assert all(sum(line["probabilities"]) == pytest.approx(1) for line in lines)
    rows, _ = rows_of(logs, out)
    assert rows["mine", "MSE(O,T,X)", None] == pytest.approx(rows["detector", "MSE(O,T,X)", None], abs=1e-6)


def test_a_file_in_which_nobody_speaks_is_predicted_too(logs: Path) -> None:
    dialogue = json.loads(log(99))
    for turn in dialogue["turns"]:
        turn["utterance"] = ""
    file = logs.parent / "silent.log.json"
    file.write_text(json.dumps(dialogue))
    done = harvest("metrics", "breakdown", "predict", file, logs / "one")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["turn"] for line in lines[:2]] == [1, 3]
    assert len(lines) == 2 + 24
    assert all(min(line["probabilities"]) > 0 for line in lines)


def test_predictions_are_only_written_to_a_new_file_and_counts_without_words_are_refused(logs: Path) -> None:
    out = logs.parent / "mine.jsonl"
    out.write_text("kept")
    refused = harvest("metrics", "breakdown", "predict", logs, "--out", out)
    assert (refused.returncode, "exists already" in refused.stderr, out.read_text()) == (2, True, "kept")
    assert harvest("metrics", "breakdown", "predict", logs, "--out", out, "--force").returncode == 0
    assert out.read_text() == harvest("metrics", "breakdown", "predict", logs).stdout
    nothing = harvest(
        "metrics", "breakdown", "predict", DATA / "dbdc3_en" / "YI_100.json", "--out", logs.parent / "none.jsonl"
    )
    assert (nothing.returncode, "this file does not contain the text of turns" in nothing.stderr) == (2, True)
    assert not (logs.parent / "none.jsonl").exists()


def test_a_submission_with_the_name_of_the_detector_is_refused(logs: Path) -> None:
    predicted = harvest("metrics", "breakdown", "predict", logs).stdout
    (logs.parent / "detector.jsonl").write_text(predicted)
    done = harvest("metrics", "breakdown", "eval", logs, logs.parent / "detector.jsonl")
    assert done.returncode == 2
    assert "the submission 'detector' has the name of the detector" in done.stderr


PROTOCOL = """\
format: harvest-protocol/1
name: until-it-breaks
version: 1
turn_limit: 3
rules:
  broken: {breakdown: {above: 0.45}}
start: ask
states:
  ask:
    say: "{{ topic.request }}"
    edges: [{if: broken, label: x, go: insist}, {otherwise: true, label: o, go: insist}]
  insist:
    say: Can you name a few more?
    edges: [{if: broken, label: x, go: insist}, {otherwise: true, label: o, go: insist}]
"""


def audit(folder: Path, system: dict[str, Any], only: Sequence[str], trials: int) -> Path:
    (folder / "protocol.yaml").write_text(PROTOCOL)
    document = {
        "format": "harvest-audit/1",
        "name": "broken",
        "topics": "fairweb-45",
        "only": [*only],
        "protocol": "protocol.yaml",
        "trials": trials,
        "systems": [system],
    }
    (folder / "audit.yaml").write_text(json.dumps(document))
    return folder / "audit.yaml"


@pytest.mark.parametrize("name", ["alice", "steady", "erratic"])
def test_a_protocol_asks_the_detector_and_detection_runs_on_a_recorded_run(name: str, tmp_path: Path) -> None:
    system: dict[str, Any] = {"name": name, "driver": "parrot", "options": {"profile": name}}
    if name == "alice":
        argv = [sys.executable, str(TESTS / "servers" / "alice.py"), "lines"]
        system = {"name": name, "driver": "command", "options": {"argv": argv, "timeout": 90}}
    only, trials = (["M002"], 1) if name == "alice" else (["M002", "R001"], 2)  # she takes seconds to load each time
    done = harvest("run", audit(tmp_path, system, only, trials), "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    turns = [turn for one in read(tmp_path / "run").finished for turn in one.turns]
    assert len(turns) == 3 * len(only) * trials
    for turn in turns:
        assert turn.route is not None
        evidence = turn.route.evidence[0]
        assert evidence.quote == "probability of a breakdown above 0.45"
        x = float(evidence.note.split("X ")[1].split(";")[0])
        assert turn.route.label == ("x" if x > 0.45 else "o")
    done = harvest("metrics", "breakdown", "predict", tmp_path / "run")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line, turn in zip(lines, turns, strict=True):
        assert turn.route is not None
        assert f"X {line['probabilities'][2]:.3f};" in turn.route.evidence[0].note
    assert lines[0]["dialogue"] == f"{name}/M002/1"


def test_the_shipped_detector_was_trained_only_on_the_development_data() -> None:
    detector = load_detector()
    annotated = [json.loads(file.read_text()) for file in sorted((DATA / "dbdc3_en").glob("*.json"))]
    assert set(detector.dialogues) == {dialogue["id"] for part in annotated for dialogue in part["dialogues"]}
    assert detector.about["turns"] == 4150
    systems = detector.familiarity.systems
    assert dict(zip(systems.names, systems.dialogues.tolist(), strict=True)) == {
        part["subset"]: len(part["dialogues"]) for part in annotated
    }


def test_levels_are_trusted_as_far_as_the_second_annotation_of_the_data_repeats_them() -> None:
    known = load_detector().familiarity
    for number, name in enumerate(known.systems.names):
        part = json.loads((DATA / "dbdc3_en" / f"{name}.json").read_text())
        turns = [turn for dialogue in part["dialogues"] for turn in dialogue["turns"] if "c" in turn]
        first, second = (
            [sum(turn[key][label] / sum(turn[key]) for turn in turns) / len(turns) - 1 / 3 for label in range(3)]
            for key in ("c", "cr")
        )
        both = sum(a * b for a, b in zip(first, second, strict=True))
        size = sum(a * a + b * b for a, b in zip(first, second, strict=True))
        assert known.levels[number] == pytest.approx(first, abs=1e-4)
        assert known.belief[number] == pytest.approx(max(0, 2 * both / size), abs=1e-3)
    assert known.belief.tolist() == [0, 1, 1, pytest.approx(0.49, abs=0.01)]
