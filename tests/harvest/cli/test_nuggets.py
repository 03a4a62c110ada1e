"""`harvest judge nuggets`: files of nuggetizer, and what answers hold; undefined where nothing vital is wanted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harvest.studies.pool.held_nuggets import READINGS, nugget_recall
from recordings.judged.judgments import read_layers
from tests.support.command_line import harvest

Row = dict[str, Any]

WANTED: dict[str, list[tuple[str, str]]] = {
    "T1": [("It opens at nine.", "vital"), ("It closes at five. \U0001f553", "okay")],
    "T2": [("Bring a coat.", "okay")],
}
SAID = {("A", "T1"): ("support", "partial_support"), ("A", "T2"): ("support",)}
SAID |= {("B", "T1"): ("partial_support", "not_support"), ("B", "T2"): ("not_support",)}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two systems that answer once about each of two topics."""
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"{topic}?"},
                {"role": "assistant", "content": "At nine.\r\nYes."},
            ],
            "metadata": {"system": system, "topic": topic, "trial": 1},
        }
        for system, topic in SAID
    ]
    write(tmp_path / "talks.jsonl", rows)
    done = harvest("data", "import", "--format", "messages", tmp_path / "talks.jsonl", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def write(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return path


def created() -> list[Row]:
    return [
        {"query": f"{topic}?", "qid": topic, "nuggets": [{"text": text, "importance": of} for text, of in nuggets]}
        for topic, nuggets in WANTED.items()
    ]


def assigned() -> list[Row]:
    return [
        {
            "query": f"{topic}?",
            "qid": topic,
            "answer_text": "At nine.\r\nYes.",
            "response_length": 3,
            "run_id": f"{system}/1",
            "nuggets": [
                {"text": text, "importance": of, "assignment": how}
                for (text, of), how in zip(WANTED[topic], said, strict=True)
            ],
        }
        for (system, topic), said in SAID.items()
    ]


def take(run: Path, rows: list[Row], author: str = "nuggetizer", *words: str) -> str:
    done = harvest(
        "judge", "nuggets", run, "--import", write(run.parent / "in.jsonl", rows), "--author", author, *words
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def shares(run: Path, *words: str) -> dict[tuple[str, str], Row]:
    done = harvest("judge", "nuggets", run, "--json", *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    unassigned = document["unassigned"]
    rows = [{**row, "unassigned": unassigned[row["system"]]} for row in document["long"]]
    return {(row["system"], row["measure"]): row for row in rows}


def test_created_and_assigned_nuggets_are_exported_as_imported(run: Path) -> None:
    take(run, created())
    take(run, assigned())
    for form, rows in (("created", created()), ("assigned", assigned())):
        out = run.parent / f"{form}.jsonl"
        assert harvest("judge", "nuggets", run, "--export", out, "--form", form).returncode == 0
        found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert sorted(found, key=str) == sorted(rows, key=str)
    assert "nothing new" in take(run, assigned())


def test_a_nugget_that_looks_like_a_secret_is_assigned_as_it_was_created(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    monkeypatch.setitem(WANTED, "T2", [(f"The key is {key}", "okay")])
    take(run, created())
    take(run, assigned())
    assert all(key not in file.read_text(encoding="utf-8") for file in (run / "judgments").iterdir())
    assert shares(run)["A", "strict all"]["topics"] == 2
    out = run.parent / "assigned.jsonl"
    assert harvest("judge", "nuggets", run, "--export", out, "--form", "assigned").returncode == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert "nothing new" in take(run, rows)  # what was written fits, too


def test_the_shares_are_means_over_topics_and_a_topic_without_vital_nuggets_is_undefined(run: Path) -> None:
    take(run, assigned())  # which says what is wanted, too
    found = shares(run)
    values = {key: (row["estimate"], row["n"], row["topics"]) for key, row in found.items()}
    assert values["A", "strict all"] == (0.75, 2, 2)
    assert values["A", "strict vital"] == (1.0, 1, 1)  # of T1 alone: T2 has none, which is not 0
    assert values["A", "partial all"] == (0.875, 2, 2)
    assert values["B", "strict vital"] == (0.0, 1, 1)
    assert values["B", "partial vital"] == (0.5, 1, 1)
    shown = harvest("judge", "nuggets", run)
    assert "unchecked by people" in shown.stderr


def test_a_topic_without_vital_nuggets_has_no_vital_share() -> None:
    found = [
        nugget_recall({"Bring a coat.": "okay"}, {"Bring a coat.": "not_support"}, reading) for reading in READINGS
    ]
    assert found[0] == found[2] == 0.0
    assert math.isnan(found[1])
    assert math.isnan(found[3])


def test_nuggets_that_are_created_again_must_be_assigned_again(run: Path) -> None:
    take(run, assigned())
    other = created()[1] | {"nuggets": [{"text": "Bring a hat.", "importance": "vital"}]}
    take(run, [other])
    row = shares(run)["A", "strict all"]
    assert (row["estimate"], row["n"], row["unassigned"]) == (0.5, 1, 1)
    take(run, [created()[1]])  # and back: what was assigned to these holds again
    assert shares(run)["A", "strict all"]["unassigned"] == 0


def test_several_assigners_are_kept_apart_and_scores_of_criteria_are_unchanged(run: Path) -> None:
    take(run, assigned())
    opposite = [
        row | {"nuggets": [one | {"assignment": "not_support"} for one in row["nuggets"]]} for row in assigned()
    ]
    take(run, opposite, "anna", "--people")
    done = harvest("judge", "nuggets", run)
    assert (done.returncode, "human:anna, model:nuggetizer" in done.stderr) == (2, True), done.stderr
    assert shares(run, "--author", "anna")["A", "partial all"]["estimate"] == 0.0
    scored = harvest("score", run, "-m", "SWAN", "--json")
    assert "in no score" not in scored.stdout
    assert {layer.kind for layer in read_layers(run)} == {"gold", "human", "model"}


def changed(what: Callable[[Row], object], number: int = 0) -> list[Row]:
    rows = assigned()
    what(rows[number])
    return rows


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (changed(lambda row: row.update(qid="T9"))[:1], "in.jsonl:1:25: no conversation here is on the topic 'T9'"),
        (changed(lambda row: row.pop("run_id")), "in.jsonl:1:1: these nuggets have assignments but no run_id"),
        (changed(lambda row: row.pop("run_id"), 1), "in.jsonl:2:1: these nuggets have assignments but no run_id"),
        (changed(lambda row: row.update(run_id="C/1"), 1), "there is no valid conversation 'C/1' on the topic 'T2'"),
        (changed(lambda row: row["nuggets"].pop()), "1 of the 2 nuggets of 'T1' are assigned"),
        (changed(lambda row: row["nuggets"][0].update(text="It is blue.")), "this nugget does not belong to 'T1'"),
        (
            changed(lambda row: row["nuggets"][0].update(importance="okay")),
            "the importance is 'okay', but the nugget was created with 'vital'",
        ),
        (changed(lambda row: row["nuggets"][0].update(assignment="maybe")), "'maybe' is not a known value"),
        (changed(lambda row: row["nuggets"].append(row["nuggets"][0])), "this nugget occurs twice"),
        (changed(lambda row: row.update(nuggets=[])), "the record has no nuggets"),
        ([*assigned(), assigned()[0]], "in.jsonl:5:"),
        ([*created(), created()[0]], "in.jsonl:3:"),
    ],
)
def test_a_nugget_that_does_not_fit_is_refused_with_its_place_and_nothing_is_kept(
    run: Path, rows: list[Row], said: str
) -> None:
    take(run, created())
    before = read_layers(run)
    done = harvest("judge", "nuggets", run, "--import", write(run.parent / "in.jsonl", rows), "--author", "nuggetizer")
    assert done.returncode == 2
    assert said in done.stderr
    assert "in.jsonl:" in done.stderr
    assert read_layers(run) == before


def test_other_topics_are_left_out_and_counted(run: Path) -> None:
    others = [row | {"qid": f"{row['qid']}9"} for row in (*created(), *created())]
    assert "left out: 2 topics without a conversation here" in take(run, [*others, *created()])
    assert "left out: 1 topic without a conversation here" in take(
        run, [*assigned(), *changed(lambda row: row.update(qid="T9"))[:1]]
    )
    assert shares(run)["A", "strict all"]["n"] == 2


def test_a_nugget_whose_importance_failed_counts_as_neither(run: Path) -> None:
    failed = {"text": "It rains.", "importance": "failed"}
    told = take(run, [row | {"nuggets": [*row["nuggets"], failed]} for row in created()])
    assert "left out: nuggets without an importance: 2" in told
    take(run, [row | {"nuggets": [failed | {"assignment": "support"}, *row["nuggets"]]} for row in assigned()])
    assert shares(run)["A", "strict all"]["estimate"] == 0.75


def test_a_topic_whose_nuggets_all_failed_has_no_known_nuggets(run: Path) -> None:
    nuggets = [one | {"importance": "failed"} for one in created()[0]["nuggets"]]
    assert "left out: topics of which every nugget failed: 1" in take(
        run, [created()[0] | {"nuggets": nuggets}, created()[1]]
    )


def test_novelty_is_only_reported_if_it_exists(run: Path) -> None:
    nuggets = [one | {"importance": "failed"} for one in created()[0]["nuggets"]]
    failed = [created()[0] | {"nuggets": nuggets}]
    told = take(run, failed)
    assert "nothing new" not in told
    assert "nothing written: all of the file was left out" in told
    take(run, created())
    assert take(run, created()).strip() == "nothing new: all this is in the run already"
    told = take(run, [created()[1], *failed])
    assert "nothing new: all this is in the run already, except what was left out" in told


def test_a_topic_may_be_a_number(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]
    talk = {"messages": messages, "metadata": {"system": "A", "topic": 1, "trial": 1}}
    write(tmp_path / "talks.jsonl", [talk])
    harvest("data", "import", "--format", "messages", tmp_path / "talks.jsonl", "--out", tmp_path / "run")
    take(tmp_path / "run", [created()[0] | {"qid": 1}])
    take(tmp_path / "run", [assigned()[0] | {"qid": 1}])
    assert shares(tmp_path / "run")["A", "strict all"]["n"] == 1


def test_a_conversation_with_a_failed_assignment_is_not_assigned(run: Path) -> None:
    take(run, created())
    told = take(run, changed(lambda row: row["nuggets"][0].update(assignment="failed")))
    assert "left out: conversations of which an assignment failed: 1" in told
    row = shares(run)["A", "strict all"]
    assert (row["n"], row["unassigned"]) == (1, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--import", "a", "--export", "b"), "cannot be used together"),
        (("--form", "created"), "can only be used with --export"),
        (("--people",), "can only be used with --import"),
        (("--import", "a"), "give --author NAME"),
        ((), "this run has no nuggets"),
        (("--import", "a", "--author", "x", "--json"), "--json can only be used without"),
    ],
)
def test_options_that_cannot_be_combined_are_refused(run: Path, words: tuple[str, ...], said: str) -> None:
    done = harvest("judge", "nuggets", run, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_before_any_assignment_there_is_no_share(run: Path) -> None:
    take(run, created())
    done = harvest("judge", "nuggets", run)
    assert (done.returncode, "nobody has assigned nuggets" in done.stderr) == (2, True), done.stderr
