"""Flat tables of public audits: read under the names that they use, and written with the cells of a design."""

import csv
import tempfile
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Source
from recordings.conversations.conversation import Conversation
from recordings.formats.importers import IMPORTERS, Found, Request
from recordings.formats.recognition import recognise_format
from recordings.formats.shapes.audit_table import TABLE, read_sources
from recordings.formats.table_export import cell_columns, write_table
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.mutations import mutated
from topics.errors import InputError
from topics.json_value import JsonValue

PUBLISHED = """\
Question;Assistant;Market;Locale;Timestamp;Output;Citation 1;Citation 2
Who may vote?;Chat-1;NO;nb;2026-05-01T10:00:00Z;Citizens.;https://a.example/1;https://b.example/
Who may vote?;Chat-1;FR;fr;2026-05-01T10:00:01Z;Les citoyens.;;
Who may vote?;Chat-1;NO;nb;2026-05-02T10:00:00Z;"All; of age.";Election office;
"""


def imported(file: Path) -> Found:
    return IMPORTERS["table"].read(Request((file,), strict=True))


def sources(one: Conversation) -> list[str]:
    reply = one.turns[0].reply
    assert reply is not None
    return [source.href or source.title for source in reply.answer.sources]


def test_a_published_table_is_read_without_column_options(tmp_path: Path) -> None:
    file = tmp_path / "published.csv"
    file.write_text(PUBLISHED, encoding="utf-8")
    assert recognise_format([file]) == "table"
    found = imported(file).conversations
    assert [(one.key.system, one.turns[0].said, *sources(one)) for one in found] == [
        ("Chat-1", "Who may vote?", "https://a.example/1", "https://b.example/"),
        ("Chat-1", "Who may vote?"),
        ("Chat-1", "Who may vote?", "Election office"),
    ]
    assert [one.key.trial for one in found] == [1, 1, 2]
    assert found[0].key.topic == found[2].key.topic != found[1].key.topic  # another market is another topic


def test_a_declared_separator_is_not_a_row_and_lines_are_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "excel.csv"
    file.write_text(f"sep=;\r\n{PUBLISHED}Who;a;b;c;d;e;f;g;too many\n", encoding="utf-8")
    assert recognise_format([file]) == "table"
    found = IMPORTERS["table"].read(Request((file,)))
    assert len(found.conversations) == 3
    assert str(found.left_out[0]).startswith(f"{file}:6: the row has 9 cells")


def test_ambiguous_times_are_counted_and_the_others_are_read(tmp_path: Path) -> None:
    file = tmp_path / "dates.csv"
    file.write_text("question,answer,date\na,b,31/01/2026\nc,d,02/01/2026\ne,f,03/01/2026\n", encoding="utf-8")
    found = imported(file)
    assert [one.turns[0].reply.asked_at[:10] for one in found.conversations if one.turns[0].reply] == [
        "2026-01-31",
        "",
        "",
    ]
    assert "times that cannot be read or may be several" in " ".join(found.warnings)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Pregunta,Respuesta", "there is no column for the prompt"),
        ("query,text", "there is no column for the answer"),
    ],
)
def test_a_table_with_unknown_column_names_says_how_to_name_them(header: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(f"{header}\nWho?,All.\n", encoding="utf-8")
    assert recognise_format([file]) == "table"
    with pytest.raises(InputError, match=rf"t\.csv:2: {said}") as caught:
        imported(file)
    assert (caught.value.advice or "").startswith("name it: --map ")


def test_two_columns_with_one_meaning_are_refused_if_they_differ(tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    file.write_text("question,answer,model,chatbot\na,b,X,X\nc,d,Y,Y\n", encoding="utf-8")
    assert [one.key.system for one in imported(file).conversations] == ["X", "Y"]
    file.write_text("question,answer,model,chatbot\na,b,X,X\nc,d,Y,Z\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"two\.csv:3: the columns 'model' and 'chatbot' both name the system, and differ"
    ):
        imported(file)
    chosen = IMPORTERS["table"].read(Request((file,), columns={"system": "chatbot"}))
    assert [one.key.system for one in chosen.conversations] == ["X", "Z"]


def test_one_column_cannot_be_mapped_to_two_meanings(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("Text,x\na,b\n", encoding="utf-8")
    words = ("--map", "prompt=Text", "--map", "answer=text")
    done = harvest("data", "import", file, *words, "--out", tmp_path / "run")
    assert (done.returncode, "--map names the column 'text' for prompt and for answer" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("", []),
        ("https://a.example/1; https://b.example/", ["https://a.example/1", "https://b.example/"]),
        ("https://a.example/1\nhttps://a.example/1", ["https://a.example/1"]),
        ("https://a.example/x,y, www.b.example | Office", ["https://a.example/x,y", "https://www.b.example", "Office"]),
        ('["https://a.example/1", {"url": "https://b.example/"}]', ["https://a.example/1", "https://b.example/"]),
        ("['https://a.example/1', 'https://b.example/']", ["https://a.example/1", "https://b.example/"]),
        ("[not a list", ["[not a list"]),
        ("[1] https://a.example/1\n[12] https://b.example/", ["https://a.example/1", "https://b.example/"]),
        ("1. Office: https://a.example/1\n* https://b.example/", ["https://a.example/1", "https://b.example/"]),
        ("[A (1)](https://a.example/1) [B](https://b.example/)", ["https://a.example/1", "https://b.example/"]),
        ("https://a.example/1<BR/>https://b.example/", ["https://a.example/1", "https://b.example/"]),
        ("https://a.example/?x=1;y=2;https://b.example/", ["https://a.example/?x=1;y=2", "https://b.example/"]),
        ("https://a.example/1 (seen in May); https://a.example/1", ["https://a.example/1"]),
        ("bbc.co.uk, Office; ", ["bbc.co.uk, Office"]),
        ("a.github.io/x; münchen.de", ["https://a.github.io/x", "https://münchen.de"]),
        ("Node.js | README.md | v1.2 | U.S. | co.uk", ["Node.js", "README.md", "v1.2", "U.S.", "co.uk"]),
        ("None", []),
        ("n/a; -", []),
        ('["nan", null]', []),
    ],
)
def test_a_cell_of_sources_is_a_list_in_any_usual_form(cell: str, found: list[str]) -> None:
    assert [source.href or source.title for source in read_sources(cell)] == found


def test_text_before_an_address_is_its_title_and_not_a_source() -> None:
    assert read_sources("Office of votes – https://a.example/1\n[B](https://b.example/)") == [
        Source("https://a.example/1", title="Office of votes"),
        Source("https://b.example/", title="B"),
    ]


@given(
    st.lists(st.from_regex(r"https?://[a-z]{1,9}\.example/[a-z0-9;/?=&,%|]{0,12}[a-z0-9]", fullmatch=True), max_size=4)
)
def test_addresses_survive_a_list_of_sources(several: list[str]) -> None:
    cell = "; ".join(one.replace(";", "%3B").replace("|", "%7C") for one in several)
    wanted = [one.replace(";", "%3B").replace("|", "%7C") for one in dict.fromkeys(several)]
    assert read_sources(cell) == [Source(one) for one in wanted]


cells = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text != ""
)
rows = st.lists(
    st.tuples(cells, cells, st.sampled_from(["NO", "FR"]), st.sampled_from(["nb", "fr"]), st.sampled_from(["A", "B"])),
    min_size=1,
    max_size=5,
)


@given(rows)
def test_a_published_table_is_unchanged_by_export_and_import(given_rows: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, again = Path(folder) / "published.csv", Path(folder) / "again.csv"
        with file.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(("query", "response", "location", "language", "model", "template", "sources"))
            for row in given_rows:
                writer.writerow((*row, "plain", "https://a.example/1; https://b.example/"))
        first = imported(file).conversations
        write_table(first, again)
        assert imported(again).conversations == first
        assert len(first) == len(given_rows)


def test_two_hundred_damaged_tables_are_refused_or_read(tmp_path: Path) -> None:
    file, refused = tmp_path / "published.csv", 0
    for seed in range(200):
        file.write_bytes(mutated(PUBLISHED.encode(), seed))
        try:
            imported(file)
        except InputError:
            refused += 1
    assert refused > 10


def test_columns_are_named_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Frage,Antwort,Quellen\nWer?,Alle.,https://a.example/\n", encoding="utf-8")
    (tmp_path / "names.yaml").write_text("map: {prompt: Frage, answer: Antwort, sources: Quellen}\n")
    done = harvest("data", "import", "t.csv", "--map", "names.yaml", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (one,) = read(tmp_path / "run").conversations
    assert sources(one) == ["https://a.example/"]
    (tmp_path / "names.yaml").write_text("map: {promt: Frage}\n")
    done = harvest("data", "import", "t.csv", "--map", "names.yaml", "--out", "other", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'prompt'" in done.stderr


def test_a_run_of_a_design_has_a_column_for_each_factor(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("id,question,question:de\nQ1,Who?,Wer?\n")
    (tmp_path / "bot.py").write_text("def answer(text):\n    return 'See https://a.example/.'\n")
    (tmp_path / "audit.yaml").write_text(
        "format: harvest-audit/1\nname: a\ntopics: questions.csv\nprotocol: seed-turns\ntrials: 1\n"
        "design: {languages: [en, de], places: {oslo: {country: 'NO'}, lyon: {country: FR}}}\n"
        "systems: [{name: A, driver: python, options: {function: 'bot.py:answer'}}]\n"
    )
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    assert harvest("data", "export", "run", "--format", "table", "--out", "t.csv", cwd=tmp_path).returncode == 0
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    told = {(row["prompt"], row["assistant"], row["language"], row["asked_from"], row["country"]) for row in table}
    assert told == {
        (question, "A", language, place, country)
        for question, language in (("Who?", "en"), ("Wer?", "de"))
        for place, country in (("oslo", "NO"), ("lyon", "FR"))
    }
    run = read(tmp_path / "run")
    assert cell_columns(run.header)["A [de + lyon]"]["country"] == "FR"
    again = {one.key: one for one in imported(tmp_path / "t.csv").conversations}
    assert again.keys() == {one.key for one in run.conversations}


def rows_read(rows: Iterable[JsonValue]) -> tuple[list[tuple[object, int]], str]:
    """The rows with their lines, and the fault that ended them."""
    found: list[tuple[object, int]] = []
    try:
        found += ((row.value, row.line) for row in rows)
    except InputError as fault:
        return found, str(fault)
    return found, ""


@given(st.text(alphabet='a";,\r\n é\u2028'), st.sampled_from(["", "\ufeff", "sep=;\r\n"]))
def test_a_table_that_is_read_as_it_goes_has_the_rows_of_one_that_is_read_whole(text: str, before: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        file.write_bytes(f"{before}prompt;answer\n{text}".encode())
        wrong: list[list[InputError]] = [[], []]
        streamed = TABLE.stream(str(file), wrong[0].append)
        assert streamed is not None
        assert rows_read(streamed) == rows_read(TABLE.values(file.read_bytes(), str(file), wrong[1].append))
        assert list(map(str, wrong[0])) == list(map(str, wrong[1]))


@pytest.mark.parametrize(
    "data", [b"\xff\xfep\x00", b"prompt,answer\n\xff,b\n", b"PK\x03\x04", b'[{"prompt": "a"}]', b""]
)
def test_what_is_no_table_in_utf8_is_read_whole(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(data)
    rows = TABLE.stream(str(file), lambda fault: None)
    assert rows is None or (not data and list(rows) == [])


def test_a_large_table_is_never_in_memory(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("prompt,answer\n" + f"When?,{'word ' * 400}\n" * 5_000)  # 10 MB
    tracemalloc.start()
    try:
        rows = TABLE.stream(str(file), lambda fault: None)
        assert rows is not None
        assert sum(1 for _ in rows) == 5_000
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()
