"""`harvest judge rules`: nuggets and rule scores into a run, and sheets that people fill in."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.cli.main import main
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from recordings.log.run_folder import read
from scoring.swan.assessment import assess, system_swan
from scoring.swan.judged import NUGGET, Judgments
from scoring.swan.schema import load_schema
from tests.support.checkout import DOCS, ROOT

PAGE = DOCS / "swan.md"
SAMPLE = ROOT / "recordings" / "samples" / "run-1"
Annotate = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "run"))


@pytest.fixture
def annotate(run: Path, capfd: pytest.CaptureFixture[str]) -> Annotate:
    """Calls a command for judging on the run and gives its exit code and what it told people."""

    def call(command: str, *arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["judge", command, str(run), *arguments])
        out, told = capfd.readouterr()
        assert out == ""
        assert isinstance(ended.value.code, int)
        return ended.value.code, told

    return call


def filled(path: Path, values: Callable[[int, dict[str, str]], str]) -> None:
    """Fill in the column `value` of a sheet."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "value": values(i, row)} for i, row in enumerate(rows))
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        lines = [json.dumps({**row, "value": values(i, row)}, separators=(",", ":")) for i, row in enumerate(rows)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_annotate_writes_a_layer_of_nuggets_and_one_for_each_rule_and_reports_them(
    run: Path, annotate: Annotate
) -> None:
    before = {file.name: file.read_bytes() for file in (run / "judgments").iterdir()}
    code, told = annotate("rules")
    assert code == 0
    assert "rules: 8 nuggets (4 of type F, 4 of type O), written to judgments/rule-rules-" in told
    assert "recovery(sign=label): 0 scores, nothing new to write" in told
    assert "No rule scores: Fluency, Coherence" in told
    assert "Modesty: its rule scores it by the scores of Correctness, when the run is scored" in told
    layers = {(layer.kind, layer.author): layer for layer in read_layers(run)}
    assert {judgment.criterion for judgment in layers["rule", "rules"].judgments} == {NUGGET}
    assert layers["rule", "brevity(words=250)"].version == "2"
    assert all((run / "judgments" / name).read_bytes() == data for name, data in before.items())


def test_the_second_time_there_is_nothing_new_to_write(run: Path, annotate: Annotate) -> None:
    annotate("rules")
    files = sorted((run / "judgments").iterdir())
    _, told = annotate("rules")
    assert told.count("nothing new to write") == 6
    assert sorted((run / "judgments").iterdir()) == files


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_completed_sheet_becomes_a_human_layer(run: Path, tmp_path: Path, annotate: Annotate, ending: str) -> None:
    sheet = tmp_path / f"sheet.{ending}"
    asked = ("--criterion", "Correctness", "--criterion", "fluency", "--criterion", "20")
    code, told = annotate("sheet", "--export", str(sheet), *asked)
    assert (code, "6 rows written" in told) == (0, True)
    filled(sheet, lambda i, row: {"Correctness": "1", "Fluency": "n/a", "Adaptability": "0.5"}[row["criterion"]])
    code, told = annotate("sheet", "--import", str(sheet), "--author", "anna", "--version", "guide 2")
    assert (code, "6 scores of anna written to" in told) == (0, True)
    (layer,) = [layer for layer in read_layers(run) if layer.kind == "human"]
    assert (layer.author, layer.version, layer.source) == ("anna", "guide 2", sheet.name)
    schema, recorded = load_schema(), read(run)
    judgments = Judgments.from_layers(read_layers(run), schema)
    found = system_swan("B", [assess(one, schema, judgments) for one in recorded.finished], schema, judgments)
    wans = found.pooled.wans
    assert (wans["Correctness"].value, wans["Correctness"].n) == (1.0, 2)
    assert (wans["Adaptability"].value, wans["Adaptability"].n) == (0.5, 1)
    assert (wans["Fluency"].n, wans["Fluency"].items) == (0, 0)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_whole_conversations_are_scored_in_a_sheet_too(
    run: Path, tmp_path: Path, annotate: Annotate, ending: str
) -> None:
    sheet, of = tmp_path / f"sheet.{ending}", ("--schema", "dialeval-quality")
    assert annotate("sheet", "--export", str(sheet), "--criterion", "all", *of)[0] == 0
    filled(sheet, lambda i, row: "unsure" if row["criterion"] == "Effectiveness" else "0.75")
    assert annotate("sheet", "--import", str(sheet), "--author", "anna", *of)[0] == 0
    schema, recorded = load_schema("dialeval-quality"), read(run)
    judgments = Judgments.from_layers(read_layers(run), schema)
    for one in recorded.finished:
        wans = assess(one, schema, judgments).wans(schema)
        assert (wans["Accomplishment"].value, wans["Accomplishment"].n) == (0.75, 1)
        assert (wans["Effectiveness"].n, wans["Effectiveness"].items) == (0, 1)


NUGGETS = ("--schema", "dialeval-nuggets")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_turns_of_both_sides_get_the_values_of_their_criteria_in_a_sheet(
    run: Path, tmp_path: Path, annotate: Annotate, ending: str
) -> None:
    sheet = tmp_path / f"sheet.{ending}"
    code, told = annotate("sheet", "--export", str(sheet), "--criterion", "all", *NUGGETS)
    assert (code, "(one of those in 'question', n/a, or unsure)" in told) == (0, True)
    filled(sheet, lambda i, row: "cnug0" if row["speaker"] == "user" else "HNUG*")
    assert annotate("sheet", "--import", str(sheet), "--author", "anna", *NUGGETS)[0] == 0
    filled(sheet, lambda i, row: "unsure" if row["speaker"] == "user" else "HNaN")
    code, told = annotate("sheet", "--import", str(sheet), "--author", "ben", *NUGGETS)
    assert re.search(r"Helpdesk nugget  equal 0% \(n=\d\)  alpha -", told)
    schema, recorded = load_schema("dialeval-nuggets"), read(run)
    judgments = Judgments.from_layers(read_layers(run), schema)
    for one in recorded.finished:
        valued = assess(one, schema, judgments).valued
        spoken = [(turn.number, -1, -1) for turn in one.turns]
        assert [(each.item.turn, each.item.start, each.item.end) for each in valued["Customer nugget"]] == spoken
        assert {each.item.speaker for each in valued["Customer nugget"]} == {"user"}
        assert {each.shares for each in valued["Customer nugget"]} == {(("CNUG0", 1.0),)}
        assert {each.shares for each in valued["Helpdesk nugget"]} == {(("HNUG*", 0.5), ("HNaN", 0.5))}


def test_a_row_of_a_user_turn_shows_the_preceding_text_and_the_meaning_of_the_values(
    run: Path, tmp_path: Path, annotate: Annotate
) -> None:
    sheet = tmp_path / "sheet.jsonl"
    annotate("sheet", "--export", str(sheet), "--criterion", "Customer nugget", *NUGGETS)
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").split("\n") if line]
    conversations = {one.trial_id: one for one in read(run).finished}
    for row in rows:
        turns = conversations[row["id"]].turns
        turn = int(row["turn"])
        before = turns[turn - 2].reply if turn > 1 else None
        assert (row["text"], row["said"]) == (turns[turn - 1].said, before.answer.text if before else "")
        assert "CNUG*: says that the problem is solved" in row["question"]


@pytest.mark.parametrize("adjudicate", [False, True])
def test_a_sheet_uses_the_language_of_its_annotators(tmp_path: Path, annotate: Annotate, adjudicate: bool) -> None:
    words = tmp_path / "words.yaml"
    words.write_text(
        "format: harvest-words/1\nlanguage: de\ncriteria:\n  Customer nugget:\n    question: Was sagt der Kunde?\n"
        "    values: {CNUG*: er gibt sich zufrieden}\n",
        encoding="utf-8",
    )
    sheet, of = tmp_path / "sheet.jsonl", ("--criterion", "Customer nugget", "--force", *NUGGETS)
    for author, value in (("anna", "CNUG"), ("ben", "CNaN")) if adjudicate else ():
        annotate("sheet", "--export", str(sheet), *of)
        filled(sheet, lambda _, row, value=value: value)  # type: ignore[misc]
        annotate("sheet", "--import", str(sheet), "--author", author, *NUGGETS)
    last = ("--adjudicate",) if adjudicate else ()
    assert annotate("sheet", "--export", str(sheet), *of, "--words", str(words), *last)[0] == 0
    first = json.loads(sheet.read_text(encoding="utf-8").partition("\n")[0])
    assert first["question"].startswith("Was sagt der Kunde? – CNUG0: ")
    assert "CNUG*: er gibt sich zufrieden" in first["question"]
    filled(sheet, lambda _, row: "CNUG*")
    if not adjudicate:
        assert annotate("sheet", "--import", str(sheet), "--author", "carl", *NUGGETS)[0] == 0


def test_a_value_of_another_criterion_is_refused_with_its_place(tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Customer nugget", *NUGGETS)
    filled(sheet, lambda i, row: "HNUG")
    code, told = annotate("sheet", "--import", str(sheet), "--author", "anna", *NUGGETS)
    assert code == 2
    assert re.search(rf"{re.escape(str(sheet))}:\d+:\d+: value: 'HNUG' is not a value", told)
    assert "value: 'HNUG' is not a value of Customer nugget\n  allowed: CNUG0, CNUG, CNUG*, CNaN, n/a, unsure" in told


def test_values_are_not_exported_as_scores_to_other_tools(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ("--format", "validation", "--criterion", "Helpdesk nugget", "--out", str(tmp_path / "v.csv"))
    with pytest.raises(SystemExit) as ended:
        main(["data", "export", str(run), *asked, *NUGGETS])
    assert (ended.value.code, "Helpdesk nugget has values instead of scores" in capfd.readouterr().err) == (2, True)
    assert not (tmp_path / "v.csv").exists()


def test_an_adjudicator_of_values_sees_the_votes(run: Path, tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.jsonl"
    for author, value in (("anna", "HNUG"), ("ben", "HNaN")):
        annotate("sheet", "--export", str(sheet), "--criterion", "Helpdesk nugget", "--force", *NUGGETS)
        filled(sheet, lambda i, row, value=value: value)  # type: ignore[misc]
        annotate("sheet", "--import", str(sheet), "--author", author, *NUGGETS)
    annotate("sheet", "--export", str(sheet), "--criterion", "Helpdesk nugget", "--force", "--adjudicate", *NUGGETS)
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").split("\n") if line]
    assert {row["votes"] for row in rows} == {"HNUG; HNaN"}


def test_rows_without_a_value_are_left_out(tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    code, told = annotate("sheet", "--import", str(sheet), "--author", "anna")
    assert (code, "no row of this sheet has a value" in told) == (2, True)
    filled(sheet, lambda i, _: "" if i else "0.25")
    assert "1 score of anna" in annotate("sheet", "--import", str(sheet), "--author", "anna")[1]


def test_the_whole_sheet_reveals_no_scores(tmp_path: Path, annotate: Annotate) -> None:
    annotate("rules")
    sheet = tmp_path / "sheet.csv"
    assert annotate("sheet", "--export", str(sheet), "--criterion", "all")[0] == 0
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert {row["criterion"] for row in rows} == {one.name for one in load_schema()}
    assert not any(row["value"] for row in rows)


SHEET = """criterion,value,trial,attempt,turn,speaker,start,end,text
Correctness,1,{trial},1,1,system,0,52,"Looper (2012), https://www.imdb.com/title/tt1276104/"
Fluency,1,{trial},1,1,system,,,
"""
TRIAL = "ae752f12835d13a7c11c67e871d660e5"


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("Correctness,1", "Correctness,2", "2:13", "value: '2' is not a score"),
        ("Correctness,1", "Correctness,good", "2:13", "value: 'good' is not a score"),
        ("Correctness,1", "Corectness,1", "2:1", "did you mean 'Correctness'"),
        ("Fluency,1,{trial}", "Fluency,1,ffff", "3:11", "this run has no finished conversation of trial 'ffff'"),
        ("system,0,52", "system,0,51", "2:59", "no nugget that Correctness scores has this span"),
        ("system,0,52", "system,x,52", "2:59", "start: 'x' is not a whole number"),
        ("1,1,system,,,", "1,9,system,,,", "3:46", "turn 9 has no reply"),
        ("Looper", "Loopers", "2:64", "this text differs from the recording"),
        (
            "Fluency,1,{trial},1,1,system,,,",
            "Correctness,0,{trial},1,1,system,0,52,",
            "3:1",
            "already scored in line 2",
        ),
        ("criterion,value", "criterion,valeu", "1:1", "the sheet has no column 'value'"),
        (",,,\n", ",,,,\n,,,,,,,,,,x\n", "4:10", "the row has 11 cells, but the table has 9 columns"),
    ],
)
def test_a_bad_row_is_refused_with_file_line_and_column_and_nothing_is_written(
    run: Path, tmp_path: Path, annotate: Annotate, old: str, new: str, where: str, what: str
) -> None:
    sheet = tmp_path / "sheet.csv"
    assert old in SHEET
    sheet.write_text(SHEET.replace(old, new).format(trial=TRIAL), encoding="utf-8")
    code, told = annotate("sheet", "--import", str(sheet), "--author", "anna")
    assert code == 2
    assert re.search(rf"error: {re.escape(str(sheet))}:{where}: ", told), told
    assert what in told
    assert not [layer for layer in read_layers(run) if layer.kind == "human"]


def test_the_sheet_that_those_faults_were_put_into_is_valid(tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(SHEET.format(trial=TRIAL), encoding="utf-8")
    assert annotate("sheet", "--import", str(sheet), "--author", "anna")[0] == 0


def test_a_bad_line_of_json_is_refused_with_line_and_column(tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.jsonl"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    filled(sheet, lambda i, _: "7" if i == 1 else "")
    _, told = annotate("sheet", "--import", str(sheet), "--author", "anna")
    column = sheet.read_text(encoding="utf-8").split("\n")[1].index('"value":"7"') + len('"value":') + 1
    assert f"{sheet}:2:{column}: value: '7' is not a score" in told
    sheet.write_text('{"criterion": \n', encoding="utf-8")
    assert f"{sheet}:1:" in annotate("sheet", "--import", str(sheet), "--author", "anna")[1]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("sheet",), "give --export FILE to write a sheet"),
        (("sheet", "--import", "x.csv"), "give --author"),
        (("sheet", "--import", "x.csv", "--author", "a", "--export", "y.csv"), "cannot be used together"),
        (("sheet", "--export", "y.csv", "--author", "a"), "can only be used with --import"),
        (("sheet", "--import", "x.csv", "--author", "a", "--force"), "can only be used with --export"),
        (("sheet", "--import", "x.csv", "--author", "a", "--sample", "3"), "can only be used with --export"),
        (("sheet", "--import", "x.csv", "--author", "a", "--seed", "3"), "can only be used with --export"),
        (("sheet", "--import", "x.csv", "--author", "a", "--words", "de"), "can only be used with --export"),
        (("sheet", "--export", "y.csv", "--words", "dee"), "did you mean 'de'"),
        (("page",), "no criterion was given for the page"),
        (("page", "--criterion", "Fluency"), "the names of the judges are missing"),
        (("page", "--author", "a", "--author", " a ", "--criterion", "all"), "--author contains the same name twice"),
        (("page", "--author", "mean", "--criterion", "all"), "'mean' is a value of --judgments"),
        (("sheet", "--import", "x.csv", "--author", "Distribution"), "is a value of --judgments"),
        (("sheet", "--import", "x.csv", "--author", "anna,ben"), "without commas"),
        (("sheet", "--import", "x.csv", "--author", "an\nna"), "'an\\nna' cannot be a name"),
        (("sheet", "--import", "x.csv", "--author", "a" * 101), "at most 100 characters"),
        (("page", "--author", "a"), "no criterion was given for the page"),
        (("page", "--author", "a", "--scale", "1,0"), "is not a scale"),
        (("page", "--author", "a", "--each", "--once"), "cannot be used together"),
        (("page", "--author", "a", "--adjudicate", "--sample", "1"), "cannot be used together"),
        (("pairs", "--out", "y.csv", "--author", "a"), "--author can only be used with --serve"),
        (("pairs", "--out", "y.csv", "--serve"), "the names of the judges are missing"),
        (("sheet", "--export", "y.csv", "--criterion", "Recoverability", "--schema", "nothing.yaml"), "no such file"),
        (("sheet", "--import", "not-there.csv", "--author", "a"), "no such file"),
        (("sheet", "--export", "sheet.xlsx"), "a sheet cannot have the extension '.xlsx'"),
        (("rules", "--schema", "mine"), "no schema called 'mine'"),
        (("sheet", "--export", "y.csv", "--criterion", "Beauty"), "no criterion called 'Beauty'"),
    ],
)
def test_a_nonsensical_command_is_refused(annotate: Annotate, arguments: tuple[str, ...], what: str) -> None:
    code, told = annotate(*arguments)
    assert (code, what in told) == (2, True), told


@pytest.mark.parametrize("lost", ["id", "attempt", "turn", "start"])
def test_a_sheet_without_a_column_is_refused_with_its_name(tmp_path: Path, annotate: Annotate, lost: str) -> None:
    sheet = tmp_path / "sheet.jsonl"
    annotate("sheet", "--export", str(sheet), "--criterion", "Correctness")
    filled(sheet, lambda i, _: "1")
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").split("\n") if line]
    kept = [{key: cell for key, cell in row.items() if key != lost} for row in rows]
    sheet.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    code, told = annotate("sheet", "--import", str(sheet), "--author", "anna")
    assert code == 2
    assert f"{sheet}:1:1: the sheet has no column {lost!r}" in told
    assert "with all its original columns" in told


def test_an_existing_sheet_is_not_overwritten_unasked(tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("mine")
    code, told = annotate("sheet", "--export", str(sheet))
    assert (code, "--force" in told, sheet.read_text()) == (2, True, "mine")
    assert annotate("sheet", "--export", str(sheet), "--force", "--criterion", "Fluency")[0] == 0


def human(run: Path) -> list[tuple[str, str, int]]:
    """Author, version and number of judgments of each human layer."""
    return [(one.author, one.version, len(one.judgments)) for one in read_layers(run) if one.kind == "human"]


def test_without_a_criterion_it_lists_them_with_their_rows_and_writes_nothing(
    tmp_path: Path, annotate: Annotate
) -> None:
    code, told = annotate("sheet", "--export", str(tmp_path / "sheet.csv"))
    assert code == 2
    assert re.search(r"^  Correctness +nugget +2 rows$", told, re.MULTILINE)
    assert re.search(r"^  Adaptability +set +1 row$", told, re.MULTILINE)
    assert re.search(r"^  all +50 rows$", told, re.MULTILINE)
    assert "--criterion NAME for each criterion, or --criterion all" in told
    assert not list(tmp_path.glob("sheet*"))


def test_a_sample_takes_that_many_rows_of_each_criterion_and_says_out_of_how_many(
    tmp_path: Path, annotate: Annotate
) -> None:
    sheets = [tmp_path / f"{i}.csv" for i in range(3)]
    asked = ("--criterion", "Fluency", "--criterion", "Coherence", "--sample", "2", "--seed")
    told = [
        annotate("sheet", "--export", str(sheet), *asked, seed)[1] for sheet, seed in zip(sheets, "449", strict=True)
    ]
    assert f"4 rows of 6, drawn with seed 4, written to {sheets[0]}" in told[0]
    assert sheets[0].read_bytes() == sheets[1].read_bytes()


def test_an_empty_selection_is_reported_and_no_empty_sheet_is_written(
    run: Path, tmp_path: Path, annotate: Annotate
) -> None:
    for file in run.glob("trials*"):
        file.write_bytes(b"")
    code, told = annotate("sheet", "--export", str(tmp_path / "s.csv"), "--criterion", "Fluency")
    assert (code, "there is nothing to score by Fluency" in told) == (2, True)
    assert not (tmp_path / "s.csv").exists()


def test_the_same_sheet_twice_is_one_layer_even_under_another_name(
    run: Path, tmp_path: Path, annotate: Annotate
) -> None:
    sheet, copy = tmp_path / "sheet.csv", tmp_path / "sheet (1).csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    filled(sheet, lambda i, _: "0.5")
    shutil.copy(sheet, copy)
    assert "(3 new)" in annotate("sheet", "--import", str(sheet), "--author", "anna")[1]
    for again in (sheet, copy):
        code, told = annotate("sheet", "--import", str(again), "--author", "anna")
        assert (code, "nothing new: anna gave all 3 scores before" in told) == (0, True)
    assert human(run) == [("anna", "", 3)]


def test_a_sheet_imported_again_without_its_version_adds_nothing(run: Path, tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    filled(sheet, lambda i, _: "0.5")
    annotate("sheet", "--import", str(sheet), "--author", "ben", "--version", "guide 2")
    code, told = annotate("sheet", "--import", str(sheet), "--author", "ben")
    assert (code, "nothing new: ben gave all 3 scores before" in told) == (0, True)
    assert "(3 new)" in annotate("sheet", "--import", str(sheet), "--author", "ben", "--version", "guide 3")[1]
    assert human(run) == [("ben", "guide 2", 3), ("ben", "guide 3", 3)]


@pytest.mark.parametrize("absent", ["n/a", "-", "not applicable", "Not applicable"])
def test_a_sheet_written_by_a_data_frame_is_read(tmp_path: Path, annotate: Annotate, absent: str) -> None:
    """Whole numbers get a point where one of their column is missing; some words for what does not apply are kept."""
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Correctness")
    filled(sheet, lambda i, row: absent if i % 2 else "1.0")
    rows = list(csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    numbers = [rows[0].index(name) for name in ("attempt", "turn", "start", "end")]
    for row in rows[1:]:
        for i in numbers:
            row[i] = f"{row[i]}.0"
    with sheet.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*rows, [""] * len(rows[0])])
    code, told = annotate("sheet", "--import", str(sheet), "--author", "anna")
    assert (code, f"{len(rows) - 1} scores of anna" in told) == (0, True), told


def test_a_score_of_some_of_the_conversations_says_so_for_each_criterion(
    run: Path, tmp_path: Path, annotate: Annotate, capfd: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    filled(sheet, lambda i, _: "0.5" if i == 0 else "")
    annotate("sheet", "--import", str(sheet), "--author", "ben")
    with pytest.raises(SystemExit):
        main(["score", str(run), "-m", "SWAN"])
    told = " ".join(capfd.readouterr().out.split())
    assert re.search(r"SWAN of \w+ covers Fluency \(in 1 of \d conversations\), ", told)
    assert "were not all scored by the same criteria (Fluency: not all that could be scored was)" in told


def test_a_sheet_that_changes_a_score_is_a_new_layer_the_old_one_stays_and_the_newest_counts(
    run: Path, tmp_path: Path, annotate: Annotate
) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    filled(sheet, lambda i, _: "" if i == 2 else "0.5")
    annotate("sheet", "--import", str(sheet), "--author", "anna")
    before = {file.name: file.read_bytes() for file in (run / "judgments").iterdir()}
    filled(sheet, lambda i, _: "1" if i == 0 else "0.5")
    told = annotate("sheet", "--import", str(sheet), "--author", "anna")[1]
    assert "3 scores of anna written to" in told
    assert "(1 new, 1 changed, 1 as before)" in told
    assert human(run) == [("anna", "", 2), ("anna", "", 3)]
    assert all((run / "judgments" / name).read_bytes() == data for name, data in before.items())
    schema, recorded = load_schema(), read(run)
    judgments = Judgments.from_layers(read_layers(run), schema)
    scored = [one for each in recorded.finished for one in assess(each, schema, judgments).scored["Fluency"]]
    assert [one.value for one in scored] == [1.0, 0.5, 0.5]
    filled(sheet, lambda i, _: "0" if i == 1 else "")
    told = annotate("sheet", "--import", str(sheet), "--author", "anna")[1]
    assert "2 rows without a value skipped" in told
    judgments = Judgments.from_layers(read_layers(run), schema)
    scored = [one for each in recorded.finished for one in assess(each, schema, judgments).scored["Fluency"]]
    assert [one.value for one in scored] == [1.0, 0.0, 0.5]  # what a sheet does not say stays as it was


def test_another_guideline_person_or_note_makes_a_layer_of_its_own(
    run: Path, tmp_path: Path, annotate: Annotate
) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    filled(sheet, lambda i, _: "0.5")
    for who in (("anna", "1"), ("anna", "2"), ("ben", "1"), ("anna", "1")):
        annotate("sheet", "--import", str(sheet), "--author", who[0], "--version", who[1])
    assert human(run) == [("anna", "1", 3), ("anna", "2", 3), ("ben", "1", 3)]
    sheet.write_text(sheet.read_text("utf-8-sig").replace(",0.5,,", ",0.5,hm,", 1), "utf-8")
    assert "1 with another note" in annotate("sheet", "--import", str(sheet), "--author", "ben", "--version", "1")[1]


@pytest.mark.parametrize("order", [("anna", "ben"), ("ben", "anna")])
def test_if_two_people_differ_the_order_of_import_changes_no_figure_for_any_folding_of_votes(
    run: Path, tmp_path: Path, annotate: Annotate, capfd: pytest.CaptureFixture[str], order: tuple[str, str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    said = {"anna": ["1", "0", "1"], "ben": ["1", "0.5", ""]}
    for author in order:
        filled(sheet, lambda i, _, author=author: said[author][i])  # type: ignore[misc]
        annotate("sheet", "--import", str(sheet), "--author", author)

    def harvest(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as done:
            main([words[0], str(run), *words[1:]])
        out, told = capfd.readouterr()
        assert isinstance(done.value.code, int)
        return done.value.code, out, " ".join(told.split())

    for command in (("score", "-m", "SWAN"), ("score", "-m", "WAN(Fluency)"), ("tree", "--score", "WAN(Fluency)")):
        assert harvest(*command)[0] == 0
        code, out, told = harvest(*command, "--judgments", "adjudicated")
        assert (code, out) == (2, "")
        assert "human:anna and human:ben judged one and the same thing differently (Fluency 1)" in told
        assert re.search(r"judgments/human-anna-\w+\.jsonl:\d", told)
        assert "--judges human:anna,human,rule" in told
    assert harvest("score", "-m", "WAN(Conciseness)")[0] == 0, "nothing that differs is in it"
    code, _, told = harvest("score", "-m", "SWAN", "--judgments", "zoe")
    assert (code, "there are no judgments by 'zoe'" in told) == (2, True)
    assert "distribution, mean, majority, adjudicated, anna, ben" in told
    values = {}
    for first, mean, judges in (
        ("anna", (1 + 0 + 1) / 3, ("--judges", "human:anna,human,rule")),
        ("ben", (1 + 0.5 + 1) / 3, ("--judges", "human:ben,human,rule")),
        ("both", (1 + 0.25 + 1) / 3, ()),
        ("anna alone", (1 + 0 + 1) / 3, ("--judgments", "anna")),
        ("ben alone", (1 + 0.5) / 2, ("--judgments", "human:ben")),
    ):
        code, out, _ = harvest("score", "-m", "WAN(Fluency)", "-m", "pooled(WAN(Fluency))", *judges, "--json")
        assert code == 0
        document = json.loads(out)
        (row,) = (row for row in document["rows"] if row["measure"] == "pooled(WAN(Fluency))" and not row["topic_type"])
        assert row["value"] == pytest.approx(mean)
        (note,) = (note for note in document["notes"] if note.startswith("SWAN and WAN rest on"))
        values[first] = note
        assert harvest("tree", "--score", "WAN(Fluency)", *judges)[0] == 0
    assert values["anna"] == (
        "SWAN and WAN rest on 3 judgments by human anna (3); 1 differs from what others, or a rule, said."
    )
    assert "human anna (1), human ben (2)" in values["ben"]
    assert values["both"] == (
        "SWAN and WAN rest on 5 judgments by human anna (3), human ben (2);"
        " 1 differs from what others, or a rule, said."
    )


def test_an_adjudicator_sees_the_disagreements_and_decides_them_with_a_reason(
    run: Path, tmp_path: Path, annotate: Annotate, capfd: pytest.CaptureFixture[str]
) -> None:
    sheet, open_rows = tmp_path / "sheet.csv", tmp_path / "open.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency")
    for author, values in (("anna", ["1", "0", "1"]), ("ben", ["1", "0.5", "n/a"])):
        filled(sheet, lambda i, _, values=values: values[i])  # type: ignore[misc]
        annotate("sheet", "--import", str(sheet), "--author", author)
    asked = ("--criterion", "Fluency", "--adjudicate")
    assert "2 rows on which people differ, of 3" in annotate("sheet", "--export", str(open_rows), *asked)[1]
    with open_rows.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["votes"] for row in rows] == ["0; 0.5", "1; n/a"]
    assert not any(name in open_rows.read_text("utf-8-sig") for name in ("anna", "ben"))
    filled(open_rows, lambda i, _: "0.25")
    given = ("--import", str(open_rows), "--author", "zoe", "--adjudicate")
    code, told = annotate("sheet", *given)
    assert (code, "a decision must have a reason" in told) == (2, True)
    open_rows.write_text(open_rows.read_text("utf-8-sig").replace(",0.25,,", ",0.25,ben read on,"), "utf-8")
    told = annotate("sheet", *given)[1]
    assert "2 scores of zoe written" in told
    assert "agreement of anna, ben," in told, "who saw their votes agrees with nobody by judging"
    assert told.endswith(f"    harvest score {run} -m 'WAN(Fluency)' --judgments adjudicated\n")
    assert "harvest judge" not in told, "it is decided"
    for folding, value in (("adjudicated", (1 + 0.25 + 0.25) / 3), ("distribution", (1 + 0.25 + 0.5) / 2.5)):
        with pytest.raises(SystemExit) as done:
            main(["score", str(run), "-m", "pooled(WAN(Fluency))", "--judgments", folding, "--json"])
        assert done.value.code == 0
        document = json.loads(capfd.readouterr().out)
        (row,) = (row for row in document["rows"] if row["measure"] == "pooled(WAN(Fluency))" and not row["topic_type"])
        assert row["value"] == pytest.approx(value)
    assert (
        "cannot be used together" in annotate("sheet", "--export", str(tmp_path / "x.csv"), *asked, "--sample", "1")[1]
    )


def test_the_note_only_counts_the_judgments_behind_the_requested_figure(
    run: Path, tmp_path: Path, annotate: Annotate, capfd: pytest.CaptureFixture[str]
) -> None:
    """Three judgments are on Fluency, two on Correctness, which the rule of Modesty reads, and one on a set."""
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), *("--criterion", "Fluency", "--criterion", "Correctness"))
    filled(sheet, lambda i, _: "1")
    annotate("sheet", "--import", str(sheet), "--author", "anna")
    about: dict[str, str | int] = {"system": "B", "topic": "M002"}
    write_layer(run, Layer("human", "anna", judgments=(Judgment(about, "Adaptability", 1),)))
    for measure, count in (
        ("WAN(Fluency)", 3),
        ("WAN(Correctness)", 2),
        ("WAN(Modesty)", 2),
        ("WAN(Conciseness)", 0),
        ("SWAN", 5),
        ("pooled(SWAN)", 6),
        ("pooled(WAN(Adaptability))", 1),
    ):
        with pytest.raises(SystemExit) as done:
            main(["score", str(run), "-m", measure, "--json"])
        assert done.value.code == 0
        notes = [note for note in json.loads(capfd.readouterr().out)["notes"] if "rest on" in note]
        said = f"{count} judgment{'s' if count > 1 else ''} by human anna ({count})."
        assert notes == ([f"SWAN and WAN rest on {said}"] if count else []), measure


def test_agreement_is_reported_after_an_import_with_its_n(tmp_path: Path, annotate: Annotate) -> None:
    sheet = tmp_path / "sheet.csv"
    annotate("sheet", "--export", str(sheet), "--criterion", "Fluency", "--criterion", "Correctness")
    said = {"anna": ["1", "0", "1", "0.5", "0.5"], "ben": ["1", "0", "0", "n/a", "n/a"]}
    filled(sheet, lambda i, _: said["anna"][i])
    assert "agreement of" not in annotate("sheet", "--import", str(sheet), "--author", "anna")[1]
    filled(sheet, lambda i, _: said["ben"][i])
    told = annotate("sheet", "--import", str(sheet), "--author", "ben")[1]
    shown = re.search(r"^```\n(agreement of .*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert shown[1] in told
    decide, score, decided = (line.strip() for line in told.splitlines() if line.startswith("    "))
    differing = "--criterion Fluency --criterion Correctness"
    assert decide == f"harvest judge sheet {tmp_path / 'run'} {differing} --adjudicate --export open.csv"
    assert score == f"harvest score {tmp_path / 'run'} -m 'WAN(Fluency), WAN(Correctness)'"
    assert decided == f"{score} --judgments adjudicated"
    # Fluency: 1 1, 0 0, 1 0. Within: 2/6 · 1; between: 18/30; alpha = 1 - (1/3) / (3/5)
    assert re.search(r"^  Fluency +equal 67% \(n=3\)  alpha 0\.44 \(n=3\)$", told, re.MULTILINE), told
    assert re.search(r"^  Correctness +equal 0% \(n=2\)  alpha n/a \(n=0\)$", told, re.MULTILINE), told


@pytest.mark.parametrize(
    ("about", "criterion", "said"),
    [
        ({}, "Fluency", "1 judgment in no score: not about what their criterion scores"),
        ({"trial": TRIAL, "attempt": 1}, "Fluency", "not about what their criterion scores"),
        ({"system": "B", "topic": "M002"}, "Fluency", "not about what their criterion scores"),
        ({"trial": TRIAL, "attempt": 1, "turn": 1}, "Adaptability", "not about what their criterion scores"),
        (
            {"trial": "ffff", "attempt": 1, "turn": 1},
            "Fluency",
            "about conversations that are not scored here",
        ),
        ({"trial": TRIAL, "attempt": 1, "turn": 1, "speaker": "user"}, "Fluency", "no nugget or turn here"),
        ({"trial": TRIAL, "attempt": 1, "turn": 1}, "Beauty", "Judgments on Beauty are in no score"),
    ],
)
def test_no_judgment_is_lost_silently_when_the_run_is_scored(
    run: Path, capfd: pytest.CaptureFixture[str], about: dict[str, str | int], criterion: str, said: str
) -> None:
    write_layer(run, Layer("human", "anna", judgments=(Judgment(about, criterion, 0.5),)))
    with pytest.raises(SystemExit) as ended:
        main(["score", str(run), "--measure", "SWAN"])
    told = capfd.readouterr()
    assert not ended.value.code
    assert said in " ".join((told.out + told.err).split())
