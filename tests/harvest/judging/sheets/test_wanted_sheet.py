"""Sheets on which people write what topics want, as spreadsheets and tired people give them back."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.judging.sheets.wanted_sheet import read_nugget_sheet, write_wanted_sheet
from recordings.judged.judgments import Judgment, read_layers
from recordings.judged.wanted import WANTED, WantedFile, wanted_nuggets
from recordings.log.run_folder import read as read_run
from tests.support.command_line import harvest
from topics.errors import InputError
from topics.unseen_characters import has_visible_text

REQUESTS = {"M1": "When does the museum open?", "1.10": "=1+1, or\nnot?", "M3": "Where is it?"}
KNOWN = {"M1": {"It opens at nine.": "vital", "-5 °C, or less": "okay"}}
HEAD = "topic,request,nugget,importance\n"


def read(path: Path, text: str, known: dict[str, dict[str, str]] | None = None) -> WantedFile:
    path.write_text(text, encoding="utf-8")
    return read_nugget_sheet(path, REQUESTS, ("M4",), (), known or {})


def wanted(found: WantedFile) -> dict[str, dict[str, str]]:
    of: dict[str, dict[str, str]] = {}
    for one in found.wanted:
        assert one.criterion == WANTED
        of.setdefault(str(one.about["topic"]), {})[str(one.about[WANTED])] = str(one.value)
    return of


@pytest.mark.parametrize(("name", "separator"), [("wants.csv", ","), ("wants.tsv", "\t")])
def test_a_sheet_has_the_nuggets_of_each_topic_and_rows_to_write_on(tmp_path: Path, name: str, separator: str) -> None:
    assert write_wanted_sheet(REQUESTS, KNOWN, tmp_path / name) == 3
    lines = (tmp_path / name).read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == separator.join(("topic", "request", "nugget", "importance"))
    assert lines[1] == separator.join(("M1", "When does the museum open?", "It opens at nine.", "vital"))
    assert sum(line.startswith("M1") for line in lines) == 2 + 5
    assert sum(line.startswith("'1.10") for line in lines) == 5
    filled = "\n".join(lines).replace(
        f"M3{separator}Where is it?{separator}{separator}",
        f"M3{separator}Where is it?{separator}In the Rue d'Ulm; ask there.{separator}Okay",
        1,
    )
    (tmp_path / name).write_text(filled, encoding="utf-8")
    found = read_nugget_sheet(tmp_path / name, REQUESTS, (), (), KNOWN)
    assert wanted(found) == {"M3": {"In the Rue d'Ulm; ask there.": "okay"}}, "what is known is not written again"
    assert (found.topics, found.left_out) == (2, ("1 topic without a nugget on the sheet",))
    assert wanted(read_nugget_sheet(tmp_path / name, REQUESTS, (), (), {})) == {**KNOWN, **wanted(found)}


def test_the_rows_of_a_topic_are_all_its_nuggets_and_a_topic_without_any_keeps_its_old_ones(tmp_path: Path) -> None:
    rows = "M1,,It opens at ten.,VITAL\nM3,,,\nM4,,It is free.,okay\n"
    found = read(tmp_path / "s.csv", HEAD + rows, {**KNOWN, "M3": {"In Rome.": "vital"}})
    assert wanted(found) == {"M1": {"It opens at ten.": "vital"}}
    assert found.left_out == (
        "1 topic without a conversation here",
        "1 topic without a nugget on the sheet, which keep the nuggets that they have",
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("M1,,It opens at nine.,\n", ":2:23: this nugget has no importance\n  allowed: vital or okay"),
        ("M1,,It opens at nine.,major\n", ":2:23: importance: 'major' is not known\n  allowed: vital or okay"),
        (",,It opens at nine.,vital\n", ":2:1: this nugget has no topic"),
        ("M1,,\u200b\u2060,vital\n", ":2:5: this nugget has no visible characters"),
        ("M1,,,vital\n", ":2:5: this row has an importance but no nugget"),
        ("m1,,It opens.,vital\n", ":2:1: this run has no topic 'm1': did you mean 'M1'?\n  allowed: 1.10, M1, M3"),
        ("1.1,,It opens.,vital\n", ":2:1: this run has no topic '1.1': did you mean '1.10'?"),
        ("M1,Where is it?,It opens.,vital\n", ":2:4: this is not the request of 'M1'"),
        ("M1,,It opens.,vital\nM3,,It opens.,okay\nM1,,It  opens.,okay\n", ":4:5: 'M1' has this nugget in line 2"),
        ("M1,,,\n\nM3,,,\n", ": no row of this sheet has a nugget"),
        ("M4,,It is free.,okay\n", ": no row of this sheet has a nugget"),
        ("M1,,It opens, daily.,vital\n", ":2:22: the row has 5 cells, but the table has 4 columns"),
        ('M1,,"It opens,vital\n', ":2:5: a quotation mark is never closed"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_its_place(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path / "s.csv", HEAD + rows)
    assert str(refused.value).startswith(f"{tmp_path / 's.csv'}{said}")


@pytest.mark.parametrize("missing", ["topic", "nugget"])
def test_a_sheet_without_one_of_its_columns_is_refused(tmp_path: Path, missing: str) -> None:
    with pytest.raises(InputError, match=f"the sheet has no column '{missing}'"):
        read(tmp_path / "s.csv", HEAD.replace(missing, "other") + "M1,,x,vital\n")


def test_semicolons_and_other_columns_of_a_spreadsheet_do_not_matter(tmp_path: Path) -> None:
    text = "Importance;seen by;Nugget;Topic\r\nvital;ann;It opens, daily.;M1\r\n;;;\r\n"
    assert wanted(read(tmp_path / "s.csv", text)) == {"M1": {"It opens, daily.": "vital"}}


def test_a_secret_in_a_nugget_is_not_kept_and_two_that_differ_only_in_it_are_refused(tmp_path: Path) -> None:
    keys = ["ghp_" + "a1B2c3D4e5F6" * 3, "ghp_" + "F6e5D4c3B2a1" * 3]
    found = read(tmp_path / "s.csv", f"{HEAD}M1,,The key is {keys[0]},okay\n")
    (text,) = wanted(found)["M1"]
    assert text.startswith("The key is ")
    assert keys[0] not in text
    with pytest.raises(InputError, match="they differ only in what looks like a secret"):
        read(tmp_path / "s.csv", HEAD + "".join(f"M1,,The key is {key},okay\n" for key in keys))


TEXT = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=30).filter(has_visible_text)


@settings(deadline=None)
@given(st.dictionaries(TEXT, TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=1, max_size=4), st.booleans())
def test_a_written_sheet_is_read_back_unchanged_for_any_words(
    requests: dict[str, str], texts: list[str], tabs: bool
) -> None:
    requests = {topic.strip(): request for topic, request in requests.items() if topic.isprintable()}
    nuggets = {" ".join(text.split()): "vital" for text in texts}
    known = dict.fromkeys(requests, nuggets)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("s.tsv" if tabs else "s.csv")
        write_wanted_sheet(requests, known, path)
        if requests:
            found = read_nugget_sheet(path, requests, (), (), known)
            assert (found.topics, found.wanted, found.left_out) == (len(requests), (), ())


def played(folder: Path) -> Path:
    """A run of two systems on two topics."""
    rows = [
        {
            "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "At nine."}],
            "metadata": {"system": system, "topic": topic, "trial": 1},
        }
        for system in "AB"
        for topic in ("T1", "T2")
    ]
    (folder / "talks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    done = harvest("data", "import", "--format", "messages", folder / "talks.jsonl", "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_people_write_nuggets_on_a_sheet_and_answers_are_assigned_to_them(tmp_path: Path) -> None:
    run, sheet = played(tmp_path), tmp_path / "wants.tsv"
    written = harvest("judge", "nuggets", run, "--export", sheet)
    assert written.returncode == 0, written.stderr
    assert "2 topics written to" in written.stderr
    assert harvest("judge", "nuggets", run, "--export", sheet).returncode == 2, "it would overwrite what was filled in"
    text = sheet.read_text(encoding="utf-8-sig").replace("T1\t?\t\t", "T1\t?\tIt opens at nine.\tvital", 1)
    sheet.write_text(text, encoding="utf-8")
    taken = harvest("judge", "nuggets", run, "--import", sheet, "--author", "anna")
    assert taken.returncode == 0, taken.stderr
    assert "left out: 1 topic without a nugget on the sheet" in taken.stderr
    (layer,) = read_layers(run)
    assert (layer.kind, layer.author, layer.source) == ("gold", "anna", "wants.tsv")
    assert layer.judgments == (Judgment({"topic": "T1", WANTED: "It opens at nine."}, WANTED, "vital"),)
    again = harvest("judge", "nuggets", run, "--import", sheet, "--author", "anna")
    assert "nothing new" in again.stderr
    created = tmp_path / "created.jsonl"
    assert harvest("judge", "nuggets", run, "--export", created).returncode == 0
    (line,) = map(json.loads, created.read_text(encoding="utf-8").splitlines())
    assigned = [
        {**line, "run_id": f"{system}/1", "nuggets": [{**line["nuggets"][0], "assignment": how}]}
        for system, how in (("A", "support"), ("B", "not_support"))
    ]
    (tmp_path / "said.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in assigned), encoding="utf-8")
    assert harvest("judge", "nuggets", run, "--import", tmp_path / "said.jsonl", "--author", "m").returncode == 0
    rows = json.loads(harvest("judge", "nuggets", run, "--json").stdout)["long"]
    assert {row["system"]: row["estimate"] for row in rows if row["measure"] == "strict vital"} == {"A": 1.0, "B": 0.0}
    sheet.write_text(text.replace("at nine", "at ten"), encoding="utf-8")
    changed = harvest("judge", "nuggets", run, "--import", sheet, "--author", "ben")
    assert "1 topic had other nuggets before; the run keeps their layers" in changed.stderr
    assert wanted_nuggets(read_layers(run)) == {"T1": {"It opens at ten.": "vital"}}


def assigned_rows(sheet: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sheet.read_bytes().decode("utf-8-sig"), newline="")))


def fill(sheet: Path, rows: list[dict[str, str]]) -> Path:
    with sheet.open("w", encoding="utf-8", newline="") as file:
        written = csv.DictWriter(file, rows[0].keys())
        written.writeheader()
        written.writerows(rows)
    return sheet


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Path, Path]:
    """A run with two nuggets of T1 and one of T2, and the sheet that asks about its four conversations."""
    run, sheet = played(tmp_path), tmp_path / "holds.csv"
    wants = "topic,nugget,importance\nT1,It opens at nine.,vital\nT1,=It is free,okay\nT2,It is far.,okay\n"
    (tmp_path / "wants.csv").write_text(wants, encoding="utf-8")
    assert harvest("judge", "nuggets", run, "--import", tmp_path / "wants.csv", "--author", "anna").returncode == 0
    done = harvest("judge", "nuggets", run, "--export", sheet, "--form", "assigned")
    assert done.returncode == 0, done.stderr
    assert "4 conversations written to" in done.stderr
    return run, sheet


def test_people_mark_on_a_sheet_which_answers_contain_the_nuggets(asked: tuple[Path, Path]) -> None:
    run, sheet = asked
    rows = assigned_rows(sheet)
    assert [row["topic"] for row in rows] == ["T1"] * 4 + ["T2"] * 2
    assert [row["answer"] for row in rows] == ["At nine."] * 6
    assert rows[0]["nugget"] == "It opens at nine."
    assert not {"system", "trial"} & rows[0].keys()
    of = {one.trial_id: one.key.system for one in read_run(run).finished}
    given = {("A", "It opens at nine."): "support", ("A", "'=It is free"): "Partial support"}
    for row in rows:
        row["assignment"] = given.get((of[row["id"]], row["nugget"]), "not_support")
    rows[5]["assignment"] = ""
    done = harvest("judge", "nuggets", run, "--import", fill(sheet, rows), "--author", "ben")
    assert done.returncode == 0, done.stderr
    shown = json.loads(harvest("judge", "nuggets", run, "--json").stdout)
    assert shown["by"] == {"kind": "human", "name": "ben", "checked": True}
    values = {(row["system"], row["measure"]): (row["estimate"], row["n"]) for row in shown["long"]}
    unassigned = shown["unassigned"]
    assert unassigned == {system: int(system == of[rows[5]["id"]]) for system in "AB"}
    both = 2 - unassigned["A"]
    assert values["A", "strict vital"] == (1.0, 1)
    assert values["A", "partial all"] == (0.75 / both, both)
    assert values["B", "partial all"] == (0.0, 2 - unassigned["B"])
    rows[5]["assignment"] = "support"
    rows[3]["assignment"] = ""
    again = harvest("judge", "nuggets", run, "--import", fill(sheet, rows), "--author", "ben")
    assert "left out: 1 conversation of which a nugget is not assigned" in again.stderr
    assert set(json.loads(harvest("judge", "nuggets", run, "--json").stdout)["unassigned"].values()) == {0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"assignment": "yes"}, "assignment: 'yes' is not known"),
        ({"nugget": "It is red."}, "this nugget does not belong to 'T1'"),
        ({"topic": "T2"}, "this run has no valid conversation"),
        ({"id": "0"}, "this run has no valid conversation '0' on the topic 'T1'"),
        ({"attempt": "2"}, "this run has no valid conversation"),
        ({"attempt": "one"}, "attempt: 'one' is not a whole number"),
        ({"answer": "At ten."}, "this answer differs from the recording"),
        ({"nugget": "It opens  at nine."}, "this nugget was already assigned in line 2"),
        ({"assignment": ""}, "no row of this sheet has an assignment"),
    ],
)
def test_an_assignment_that_does_not_fit_is_refused_and_nothing_is_kept(
    asked: tuple[Path, Path], change: dict[str, str], said: str
) -> None:
    run, sheet = asked
    first = {**assigned_rows(sheet)[0], "assignment": "support"}
    rows = [first, {**first, **change}] if "already" in said else [{**first, **change}]
    before = read_layers(run)
    done = harvest("judge", "nuggets", run, "--import", fill(sheet, rows), "--author", "ben", width=300)
    assert (done.returncode, said in done.stderr, f"{sheet}" in done.stderr) == (2, True, True), done.stderr
    assert read_layers(run) == before


def test_a_run_without_nuggets_has_nothing_to_assign(tmp_path: Path) -> None:
    done = harvest("judge", "nuggets", played(tmp_path), "--export", tmp_path / "holds.csv", "--form", "assigned")
    assert (done.returncode, "this run has no nuggets" in done.stderr) == (2, True)
