"""`harvest metrics helpdesk train`, `predict` and `eval` with the predictor, on files and on a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from scoring.annotations.helpdesk_predictor import load_predictor
from tests.support.checkout import DATA
from tests.support.command_line import harvest

COUNTS = DATA / "stc3" / "stc3_test_gold_counts.json"


def helpdesk(*words: object, cwd: Path | None = None) -> CompletedProcess[str]:
    return harvest("metrics", "helpdesk", *words, cwd=cwd, width=100)


def dialogue(number: int) -> dict[str, Any]:
    """A dialogue in the organisers' form. Every second customer thanks, and is said to be satisfied."""
    happy = number % 2
    last = "Wonderful, it works now!" if happy else "Sadly it fails as before, I give up."
    said = [("customer", "My phone broke today."), ("helpdesk", "Press the red button."), ("customer", last)]
    nugget = ["CNUG0", "HNUG*" if happy else "HNUG", "CNUG*" if happy else "CNaN"]
    return {
        "id": f"d{number:02}",
        "turns": [{"sender": sender, "utterances": [text]} for sender, text in said],
        "annotations": [
            {"nugget": nugget, "quality": {"A": 2 if happy else -2, "S": 1 if happy else -1, "E": 0}},
            {"nugget": nugget, "quality": {"A": 1 if happy else -1, "S": 1 if happy else -1, "E": 0}},
        ],
    }


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([dialogue(number) for number in range(40)]), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(*words: object) -> Sequence[dict[str, Any]]:
    done = helpdesk("eval", *words, "--json", "--replications", "200")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["long"]
    return found


def test_a_predictor_is_trained_predicts_and_is_evaluated(tmp_path: Path, talk: Path) -> None:
    done = helpdesk("train", talk, "--out", "mine.json", "--source", "made up", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "trained on 40 dialogues with 120 blocks: the questions A, E, S and the nugget types" in done.stderr
    predictor = load_predictor(tmp_path / "mine.json")
    assert predictor.about == {"source": "made up", "dialogues": 40, "blocks": 120}
    assert "customer: wonderful" in predictor.quality["A"].words
    fresh = [{key: value for key, value in dialogue(number).items() if key != "annotations"} for number in (98, 99)]
    (tmp_path / "fresh.json").write_text(json.dumps(fresh), encoding="utf-8")
    done = helpdesk("predict", "fresh.json", "--predictor", "mine.json", "--out", "guess.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "2 predictions written to guess.jsonl\n"
    sad, happy = lines(tmp_path / "guess.jsonl")
    assert sad["id"] == "d98"
    assert happy["nugget"][2]["CNUG*"] > 0.5 > sad["nugget"][2]["CNUG*"]
    assert happy["quality"]["S"]["1"] > 0.5 > sad["quality"]["S"]["1"]
    gold = [dialogue(98), dialogue(99)]
    (tmp_path / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    found = rows(tmp_path / "gold.json", tmp_path / "guess.jsonl", "--predictor", tmp_path / "mine.json")
    by_name = {(row["measure"], row["system"]): row["estimate"] for row in found if row["figure"] == "score"}
    assert by_name["RNSS(nugget)", "guess"] == pytest.approx(by_name["RNSS(nugget)", "predictor"], abs=1e-8)


def test_what_is_predicted_for_a_file_with_lengths_can_be_evaluated(tmp_path: Path) -> None:
    done = helpdesk("predict", COUNTS, "--out", tmp_path / "guess.jsonl")
    assert done.returncode == 0, done.stderr
    guessed = lines(tmp_path / "guess.jsonl")
    assert len(guessed) == 390
    found = rows(COUNTS, tmp_path / "guess.jsonl")
    assert {row["system"] for row in found if row["figure"] == "score"} == {
        "guess",
        "baseline: uniform",
        "baseline: prior",
        "baseline: majority",
    }
    (row,) = (
        one
        for one in found
        if (one["figure"], one["measure"], one["other"]) == ("difference", "NMD(A)", "baseline: uniform")
    )
    of = {one["system"]: one["estimate"] for one in found if (one["figure"], one["measure"]) == ("score", "NMD(A)")}
    assert row["estimate"] == pytest.approx(of["guess"] - of["baseline: uniform"])
    assert row["low"] < row["estimate"] < row["high"]
    assert row["n"] == 390


def test_a_run_is_predicted_like_the_file_it_was_imported_from(tmp_path: Path, talk: Path) -> None:
    done = harvest("data", "import", "--format", "dialeval", talk, "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    of_run, of_file = helpdesk("predict", tmp_path / "run"), helpdesk("predict", talk)
    assert of_run.returncode == of_file.returncode == 0, of_run.stderr + of_file.stderr
    first, second = (
        {
            one["id"].split("/")[-2 if "/" in one["id"] else 0]: one["nugget"]
            for one in map(json.loads, text.splitlines())
        }
        for text in (of_run.stdout, of_file.stdout)
    )
    assert first == second
    assert len(first) == 40
    assert json.loads(of_run.stdout.splitlines()[0])["id"] == "talk/d00/1"


def test_the_shipped_predictor_does_not_predict_its_training_data_unless_asked(tmp_path: Path) -> None:
    done = helpdesk("eval", COUNTS, "--replications", "200")
    assert "it was trained on 390 of these 390 dialogues; use --cross-validate" in " ".join(done.stdout.split())
    shipped = tmp_path / "shipped.json"
    shipped.write_text(load_predictor().to_json(), encoding="utf-8")
    done = helpdesk("eval", COUNTS, "--replications", "200", "--predictor", shipped)
    assert "its figures are too good; use --cross-validate instead" in " ".join(done.stdout.split())


def test_unknown_dialogues_are_predicted_by_the_shipped_predictor(talk: Path) -> None:
    found = rows(talk)
    assert {row["system"] for row in found if row["figure"] == "difference"} == {"predictor"}


def test_cross_validation_trains_again_without_the_predicted_dialogues(talk: Path) -> None:
    found = {
        (row["measure"], row["system"]): row["estimate"]
        for row in rows(talk, "--cross-validate")
        if row["figure"] == "score"
    }
    for measure in ("NMD(A)", "NMD(S)", "RNSS(nugget)"):
        assert found[measure, "predictor, cross-validated"] < found[measure, "baseline: prior"]


TS = (
    '[{"id": "d1", "turns": [{"sender": "customer", "words": 3}],'
    ' "annotations": [{"nugget": ["CNaN"], "quality": {"TS": 1}}]}]'
)
BAD = {
    ("predict", '[{"id": "d1", "turns": [{"sender": "customer"}]}]'): (
        "file.json:1:24: the turns of this dialogue have no lengths, which the predictor needs\n"
        "  allowed: 'utterances' (texts) or 'words' (a count) in each turn"
    ),
    (
        "predict",
        '[{"id": "d1", "turns": [{"sender": "bot", "words": 3}]}]',
    ): "file.json:1:36: 'bot' is not a known value",
    (
        "predict",
        '[{"id": "d1", "turns": [{"sender": "customer", "words": -1}]}]',
    ): "file.json:1:57: this must be a count",
    ("predict", '[{"id": "d1", "turns": []}]'): "file.json:1:24: the dialogue has no turns",
    ("predict", '[{"id": "d1"}]'): "file.json:1:2: the object has no 'turns'",
    ("predict", '[{"id": 4, "turns": [{"sender": "customer", "words": 3}]}]'): "file.json:1:9: this must be text",
    ("train", TS): "training needs more than 1 annotated dialogue",
    ("eval --cross-validate", TS): "cross-validation needs more than 1 annotated dialogue",
    ("eval --predictor file.json", TS): "file.json:1:1: this is not a helpdesk predictor",
    ("eval --cross-validate --predictor file.json", TS): "--predictor and --cross-validate cannot be used together",
}


@pytest.mark.parametrize(("command", "text"), BAD)
def test_bad_input_gives_one_message(tmp_path: Path, command: str, text: str) -> None:
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    out = ["--out", "out.json"] if command == "train" else []
    done = helpdesk(*command.split(), "file.json", *out, cwd=tmp_path)
    assert done.returncode == 2
    assert BAD[command, text] in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.json").exists()


def test_an_untrained_question_leaves_the_shipped_predictor_out_and_refuses_a_chosen_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "file.json").write_text(TS, encoding="utf-8")
    (tmp_path / "chosen.json").write_text(load_predictor().to_json(), encoding="utf-8")
    done = helpdesk("eval", "file.json", cwd=tmp_path)
    assert done.returncode == 0
    assert "is left out: it was not trained on the question 'TS'" in " ".join(done.stdout.split())
    done = helpdesk("eval", "file.json", "--predictor", "chosen.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "the predictor does not fit these dialogues: it was not trained on the question 'TS'" in done.stderr


def test_a_file_that_exists_is_overwritten_only_if_asked(tmp_path: Path, talk: Path) -> None:
    (tmp_path / "mine.json").write_text("mine", encoding="utf-8")
    assert helpdesk("train", talk, "--out", "mine.json", cwd=tmp_path).returncode == 2
    assert helpdesk("predict", talk, "--out", "mine.json", cwd=tmp_path).returncode == 2
    assert (tmp_path / "mine.json").read_text(encoding="utf-8") == "mine"
    assert helpdesk("predict", talk, "--out", "mine.json", "--force", cwd=tmp_path).returncode == 0
    assert len(lines(tmp_path / "mine.json")) == 40


def test_a_submission_with_the_name_of_the_predictor_is_kept(tmp_path: Path, talk: Path) -> None:
    assert helpdesk("predict", talk, "--out", tmp_path / "predictor.jsonl").returncode == 0
    found = rows(talk, tmp_path / "predictor.jsonl")
    assert sum((row["figure"], row["measure"], row["system"]) == ("score", "NMD(A)", "predictor") for row in found) == 1
    done = helpdesk("eval", talk, tmp_path / "predictor.jsonl", "--replications", "200")
    assert "is left out: a submission is called 'predictor', too" in " ".join(done.stdout.split())
