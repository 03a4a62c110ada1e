"""Several runs together: a run counts once, whatever its folder is called."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.studies.runs.side_by_side import refuse_repeated_runs
from harvest.studies.scores.gathered import gather_runs, score_runs
from harvest.studies.scores.score_file import scores_document, write_scores
from harvest.studies.scores.scorecard import score_material
from recordings.conversations.conversation import INVALID, Outcome
from recordings.formats.imports import record
from recordings.log.header import make_header
from recordings.log.run_folder import Run, read
from scoring.table import DeferredRows, ScoreRow, ScoreTable
from tests.support.command_line import harvest
from tests.support.scoring_examples import MOVIE, conversation, topic_set
from topics.errors import InputError
from topics.topic import Topic


def played(folder: Path, *times: str) -> Run:
    """An attempt for each time at which one began: the same trials and words, whenever they are played."""
    said = [conversation(("say", "no"), trial=trial) for trial, _ in enumerate(times, 1)]
    header = make_header(
        audit={"name": "t", "trials": len(times)},
        protocol=None,
        topics=topic_set(Topic("M002", MOVIE, "say")),
        systems={"B1": {"name": "B1", "driver": "python"}},
    )
    record(folder, [replace(one, started_at=time) for one, time in zip(said, times, strict=True)], header)
    return read(folder)


def test_scores_are_written_row_by_row_and_none_is_kept_in_memory(tmp_path: Path) -> None:
    run = played(tmp_path / "run", at(1), at(2), at(3))
    table = score_material(gather_runs(run).material)
    path = write_scores(tmp_path / "run", table)
    late = [one for one in table.parts if isinstance(one, DeferredRows)]
    assert late
    assert ["rows" in vars(one) for one in (table, *late)] == [False] * (len(late) + 1)
    text = path.read_text(encoding="utf-8")
    found = json.loads(text)
    assert {name: found[name] for name in table.as_json()} == table.as_json()
    assert len([line for line in text.splitlines() if line.startswith('    {"measure":')]) == len(table.rows)
    asked = {"measures": list[str](), "names": list[str]()}
    assert b"".join(scores_document(table, asked=asked)).decode() == text, "the same of rows that were made"


def test_scores_are_printed_safely_for_services_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path / "run", at(1), at(2))
    plain = harvest("score", tmp_path / "run", "--json")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert harvest("score", tmp_path / "run", "--json").stdout == plain.stdout
    assert json.loads(plain.stdout)["rows"]


def test_a_lone_surrogate_in_a_name_is_written_as_json_writes_it(tmp_path: Path) -> None:
    row = ScoreRow("R", "A\ud83d", None, None, None, float("nan"), 0)
    (again,) = json.loads(b"".join(scores_document(ScoreTable((row,)))))["rows"]
    assert (again["system"], again["value"]) == ("A\ud83d", None)
    assert json.loads(b"".join(scores_document(ScoreTable(()))))["rows"] == []


@pytest.mark.parametrize(
    "command", ["score", "compare", "variance", "report --out report.html", "watch bless --out b.json"]
)
def test_a_conversation_about_a_topic_that_its_run_lacks_is_named(tmp_path: Path, command: str) -> None:
    run = played(tmp_path / "run", at(1))
    file = next(run.path.glob("trials-*.jsonl"))
    file.write_text(file.read_text().replace('"topic":"M002"', '"topic":"T9"'))
    done = harvest(*command.split(), run.path, cwd=tmp_path)
    assert (done.returncode, done.stderr.partition(" is not")[0]) == (2, "error: topic 'T9'")


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000000+00:00"


def test_a_copy_of_a_run_is_the_same_run(tmp_path: Path) -> None:
    one, copy = played(tmp_path / "one", at(1), at(2)), played(tmp_path / "copy", at(1), at(2))
    with pytest.raises(InputError, match=r"copy: the same run is given twice: every attempt in it is in .*one, too"):
        refuse_repeated_runs([one, copy])
    longer = played(tmp_path / "longer", at(1), at(2), at(3))  # a copy that was played on
    with pytest.raises(InputError, match=r"one: the same run is given twice: every attempt in it is in .*longer, too"):
        refuse_repeated_runs([one, longer])


@pytest.mark.parametrize("times", [(at(3), at(4)), ("", ""), ()], ids=["later", "undated", "none"])
def test_two_plays_with_the_same_words_are_two_runs(tmp_path: Path, times: Sequence[str]) -> None:
    first = [at(1), at(2)] if all(times) and times else times
    refuse_repeated_runs([played(tmp_path / "one", *first), played(tmp_path / "other", *times)])


@pytest.mark.parametrize("command", ["watch bless", "compare", "variance", "score", "report"])
def test_every_command_that_combines_runs_refuses_a_copy(tmp_path: Path, command: str) -> None:
    for name in ("run", "copy"):
        shutil.copytree("recordings/samples/run-1", tmp_path / name)
    out = {"watch bless": ("--out", "b.json"), "report": ("--out", "r.html")}.get(command, ())
    done = harvest(*command.split(), "run", "copy", *out, cwd=tmp_path)
    assert (done.returncode, "copy: the same run is given twice" in done.stderr) == (2, True), done.stderr


def test_silent_pages_and_notes_on_replies_are_counted_next_to_the_figures(tmp_path: Path) -> None:
    said = [conversation(("say", "no"), trial=trial) for trial in (1, 2, 3)]
    told = []
    for one, notes in zip(said, [("it came twice",), ("it came twice", "it thought"), ()], strict=True):
        (turn,) = one.turns
        assert turn.reply is not None
        told.append(replace(one, turns=(replace(turn, reply=replace(turn.reply, notes=notes)),)))
    silent = replace(conversation(("say", "no"), trial=4), outcome=Outcome(INVALID, "no-reply"))
    header = make_header(
        audit={"name": "t", "trials": 4},
        protocol=None,
        topics=topic_set(Topic("M002", MOVIE, "say")),
        systems={"B1": {"name": "B1", "driver": "python"}},
    )
    record(tmp_path / "run", [*told, silent], header)
    notes = score_material(gather_runs(read(tmp_path / "run")).material).notes
    assert "2 answers (B1 x 2): it came twice." in notes
    assert "1 answer (B1 x 1): it thought." in notes
    assert [note for note in notes if note.startswith("1 attempt to which no answer came")]


def test_from_python_judgments_are_selected_as_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(
        "format: harvest-audit/1\nname: judged\ntopics: fairweb-45\nonly: [M001, M002]\n"
        "protocol: fairweb-two-round\ntrials: 2\nsystems: [{name: A, driver: parrot}]\n"
    )
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    rules = harvest("judge", "rules", "run", cwd=tmp_path)
    assert rules.returncode == 0, rules.stderr
    for schema, judges in (("sakai-2023", None), ("sakai-2023-rules", "rule"), ("sakai-2023-rules", "human,rule")):
        options = ["--schema", schema, *(["--judges", judges] if judges else [])]
        done = harvest("score", "run", "-m", "SWAN", *options, "--json", cwd=tmp_path)
        wanted = [row for row in json.loads(done.stdout)["rows"] if row["measure"].startswith("SWAN")]
        table = score_runs(tmp_path / "run", measures=["SWAN"], schema=schema, judges=judges)
        assert [row.as_json() for row in table.rows if row.measure.startswith("SWAN")] == wanted
        assert wanted
    with pytest.raises(InputError, match="no-such-schema"):
        score_runs(tmp_path / "run", measures=["SWAN"], schema="no-such-schema")
