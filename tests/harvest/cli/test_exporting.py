"""`harvest data export` says what it leaves out, and what it writes for others holds what they need."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.cli.main import main
from harvest.judging.validation_rows import topic_split
from protocols.answer import Answer, Source
from recordings.conversations.conversation import INVALID, Outcome
from recordings.formats.dbdc import annotator_counts
from recordings.formats.imports import record
from recordings.judged.judgments import Judgment, Layer, Target, read_layers, write_layer
from recordings.log.header import make_header
from recordings.log.run_folder import read
from tests.support.checkout import DATA
from tests.support.command_line import harvest
from tests.support.recorded_run import record as record_echo
from tests.support.scoring_examples import CHAT, conversation, topic_set
from topics.topic import Topic


def exported(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    topics = topic_set(*(Topic(name, CHAT, f"About {name}?") for name in ("T1", "T2")))
    header = make_header(audit={"name": "t"}, protocol=None, topics=topics, systems={"mine": {}})
    talks = [
        conversation(("say", "well"), labels="o", topic="T1", system="mine"),
        conversation(("say", ""), labels="?", topic="T2", system="mine", outcome=Outcome(INVALID, "timeout")),
    ]
    record(tmp_path / "run", talks, header)
    form = ("--format", "messages", "--out", str(tmp_path / "out.jsonl"))
    with pytest.raises(SystemExit) as stop:
        main(["data", "export", str(tmp_path / "run"), *form, *options])
    assert stop.value.code == 0
    return capsys.readouterr().err


def test_trials_without_a_valid_attempt_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "note: 1 trial without a valid attempt left out" in exported(tmp_path, capsys)


def test_nothing_is_left_out_of_the_export_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = exported(tmp_path, capsys, "--all")
    assert "left out" not in said
    assert "2 conversations written" in said


async def judged(folder: Path) -> Path:
    """A run of three trials with two turns each, in which anna and ben judged the first words."""
    await record_echo(folder / "run", ["echo: It opens at nine.", "echo: And closes at five."], trials=3)
    first = read(folder / "run").finished[0]
    for person, value in (("anna", 1), ("ben", 0.5)):
        about = Target(first.trial_id, 1, 1, start=0, end=17).about()
        write_layer(folder / "run", Layer("human", person, "", "s", "", (Judgment(about, "Correctness", value),)))
    about = Target(first.trial_id, 1, 2).about()
    write_layer(folder / "run", Layer("human", "anna", "", "t", "", (Judgment(about, "Fluency", None),)))
    return folder / "run"


@pytest.mark.parametrize(
    ("form", "left_out"),
    [
        ("messages", ""),
        ("answers", "thoughts of 1 answer, refusals of 1 answer"),
        ("gfrc", "sources of 2 answers, thoughts of 1 answer, refusals of 1 answer"),
        ("dbdc", "sources of 2 answers, thoughts of 1 answer, refusals of 1 answer"),
    ],
)
def test_parts_that_a_form_cannot_represent_are_counted_and_sources_are_citations(
    form: str, left_out: str, tmp_path: Path
) -> None:
    topics = topic_set(Topic("T1", CHAT, "About T1?"))
    header = make_header(audit={"name": "t"}, protocol=None, topics=topics, systems={"mine": {}})
    one = conversation(("say", "Nine."), ("say", "Ten."), labels="oo", topic="T1", system="mine")
    film, leaflet = Source("https://a.example/film"), Source("", "Leaflet 3")
    answers = (
        replace(Answer.of("Nine.", sources=(film, leaflet)), thoughts="Nine?"),
        replace(Answer.of("Ten.", sources=(leaflet, film, leaflet)), refused=True),
    )
    turns = [replace(turn, reply=replace(turn.reply, answer=each)) for turn, each in zip(one.turns, answers)]  # type: ignore[type-var]
    record(tmp_path / "run", [replace(one, turns=tuple(turns))], header)
    done = harvest("data", "export", tmp_path / "run", "--format", form, "--out", tmp_path / "out")
    assert done.returncode == 0
    note = f"note: '{form}' cannot contain {left_out}; `messages` keeps them"
    assert (note in done.stderr) == bool(left_out), done.stderr
    assert ("cannot contain" in done.stderr) == bool(left_out)
    if form == "answers":
        row = json.loads((tmp_path / "out").read_text())
        assert row["references"] == ["https://a.example/film", "Leaflet 3"]
        assert [each["citations"] for each in row["answer"]] == [[0, 1], [1, 0]]


async def test_answers_are_records_of_the_rag_tracks(tmp_path: Path) -> None:
    run = await judged(tmp_path)
    assert harvest("data", "export", run, "--format", "answers", "--out", tmp_path / "a.jsonl").returncode == 0
    lines = [json.loads(one) for one in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [one["run_id"] for one in lines] == ["echo/1", "echo/2", "echo/3"]
    assert lines[0] == {
        "run_id": "echo/1",
        "topic_id": "M002",
        "topic": "echo: It opens at nine.",
        "references": [],
        "response_length": 8,
        "answer": [{"text": text, "citations": []} for text in ("It opens at nine.", "And closes at five.")],
    }


async def test_scores_by_people_are_a_validation_set_with_one_split_per_topic(tmp_path: Path) -> None:
    run = await judged(tmp_path)
    words = ("data", "export", run, "--format", "validation", "--out")
    assert harvest(*words, tmp_path / "v.csv", "--criterion", "correctness").returncode == 0
    name = read(run).finished[0].trial_id
    heading, row = (tmp_path / "v.csv").read_text().splitlines()
    assert heading == "id,target,split"
    assert row == f"{name}:1:0-17,0.75,{topic_split('M002')}"
    none = harvest(*words, tmp_path / "n.csv", "--criterion", "Fluency")
    assert none.stderr.startswith("0 scores by people")
    assert "give --criterion NAME" in harvest(*words, tmp_path / "o.csv").stderr


def test_about_half_of_the_topics_are_in_the_test_split() -> None:
    splits = [topic_split(f"M{number:03}") for number in range(1, 1001)]
    assert 420 < splits.count("dev") < 580
    assert set(splits) == {"dev", "test"}


@pytest.mark.parametrize("name", ["tktk", pytest.param("yi", marks=pytest.mark.soak)])
def test_dialogues_of_dbdc_are_exported_with_their_annotations(name: str, tmp_path: Path) -> None:
    (file,) = [one for one in (DATA / "dbdc3_en").glob("*.json") if name in one.stem.lower()]
    assert harvest("data", "import", file, "--format", "dbdc", "--out", tmp_path / "one").returncode == 0
    assert harvest("data", "export", tmp_path / "one", "--format", "dbdc", "--out", tmp_path / "logs").returncode == 0
    logs = sorted((tmp_path / "logs").rglob("*.log.json"))
    again = harvest("data", "import", *logs, "--format", "dbdc", "--out", tmp_path / "two")
    assert again.returncode == 0, again.stderr
    for run in ("one", "two"):
        assert harvest("metrics", "breakdown", "predict", tmp_path / run).returncode == 0
    first, second = ({talk.session: talk for talk in read(tmp_path / run).finished} for run in ("one", "two"))
    assert first.keys() == second.keys()
    for session, talk in first.items():
        same = second[session]
        assert [turn.said for turn in same.turns] == [turn.said for turn in talk.turns]
        assert [turn.label for turn in same.turns] == [turn.label for turn in talk.turns]
        assert [turn.reply for turn in same.turns] == [turn.reply for turn in talk.turns]
    counted = []
    for run, talks in (("one", first), ("two", second)):
        sessions = {talk.trial_id: talk.session for talk in talks.values()}
        counts = annotator_counts(read_layers(tmp_path / run))
        counted.append({(sessions[target.trial], target.turn): dict(value) for target, value in counts.items()})
    assert counted[0] == counted[1]
    assert counted[0]
    refused = harvest("data", "export", tmp_path / "one", "--format", "dbdc", "--out", tmp_path / "logs")
    assert (refused.returncode, "exists already" in refused.stderr) == (2, True)


async def test_a_run_for_a_track_names_its_team(tmp_path: Path) -> None:
    run = await judged(tmp_path)
    export = ("data", "export", run, "--out", tmp_path / "out", "--format")
    assert "give --team NAME" in harvest(*export, "ikat").stderr
    assert "can only be used with --format ikat, sim4ia" in harvest(*export, "table", "--team", "us").stderr
    done = harvest(*export, "ikat", "--team", "us")
    assert (done.returncode, done.stderr) == (0, f"3 conversations written to {tmp_path / 'out'}\n")
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [(row["metadata"]["run_id"], row["turn_id"]) for row in rows[:3]] == [
        ("echo", "M002_1"),
        ("echo", "M002_2"),
        ("echo-2", "M002_1"),
    ]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("demo") / "run"
    played = harvest("run", "demo", "--topics", "M001,M002,M003", "--trials", "2", "--no-report", "--out", run)
    assert played.returncode == 0, played.stderr
    return run


@pytest.mark.parametrize("form", ["table", "dialoguekit", "atif", "otlp", "messages"])
def test_an_imported_export_has_the_same_figures(form: str, demo: Path, tmp_path: Path) -> None:
    assert harvest("data", "export", demo, "--format", form, "--out", tmp_path / "out").returncode == 0
    own = ("--topics", "fairweb-45", "--gold", "parrot")
    done = harvest("data", "import", tmp_path / "out", "--out", tmp_path / "again", *own)
    assert done.stderr.startswith(f"format: {form}, recognised")
    scores = [json.loads(harvest("score", run, "--json").stdout) for run in (demo, tmp_path / "again")]
    assert len(scores[0]["rows"]) > 100
    assert scores[0]["rows"] == scores[1]["rows"]
