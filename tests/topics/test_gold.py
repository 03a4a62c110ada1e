"""Gold tables: read strictly, with line and column for every fault, and written so that they come back equal."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.csv_rows import csv_line, csv_rows
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable, parse_gold, read_gold, write_gold
from topics.library import load_topics
from topics.topic import Topic, TopicSet, TopicType

TOPICS = load_topics("fairweb-45")
MOVIE = "https://www.imdb.com/title/tt0088763/"
HEADER = "topic,entity,grade,title,RATINGS,ORIGIN\n"


def table(rows: str, header: str = HEADER) -> GoldTable:
    return parse_gold(header + rows, TOPICS, "g.csv")


def fault(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_gold(text, TOPICS, "g.csv")
    return caught.value


def test_an_entry_of_figure_5() -> None:
    gold = table(f'M002,{MOVIE},L2,Back to the Future,1.3M,"United States"\n')
    entry = gold.get("M002", MOVIE)
    assert entry == GoldEntry(
        "M002", MOVIE, 2, "Back to the Future", {"RATINGS": (0, 0, 0, 1), "ORIGIN": (0, 1, 0, 0, 0, 0, 0, 0)}
    )
    assert len(gold) == 1
    assert gold.entries("M002") == (entry,)
    assert gold.entries("M003") == ()
    assert gold.get("M003", MOVIE) is None
    assert gold.topics == ("M002",)
    assert list(gold) == [entry]


@pytest.mark.parametrize(
    ("topic", "written", "key"),
    [
        ("M002", "http://m.imdb.com/de/title/tt0088763?ref_=x", MOVIE),
        ("M002", "tt0088763", MOVIE),
        ("Y001", "https://youtu.be/abcdefghij_?t=3", "https://www.youtube.com/watch?v=abcdefghij_"),
        ("Y001", "abcdefghij_", "https://www.youtube.com/watch?v=abcdefghij_"),
        ("R001", "HTTP://People.Example.ORG/a/?utm_source=x", "https://people.example.org/a"),
    ],
)
def test_an_entity_is_kept_by_its_canonical_key(topic: str, written: str, key: str) -> None:
    assert parse_gold(f"topic,entity,grade\n{topic},{written},1\n", TOPICS, "g.csv").get(topic, key) is not None


def test_a_topic_without_a_kind_of_url_has_its_own_keys() -> None:
    topics = TopicSet("t", (Topic("T1", TopicType("free"), "Name rivers."),), {})
    gold = parse_gold("topic,entity,grade\nT1,  the   Rhine ,L1\n", topics, "g.csv")
    assert gold.get("T1", "the Rhine") == GoldEntry("T1", "the Rhine", 1)


@pytest.mark.parametrize(
    ("written", "grade"), [("L0", 0), ("L1", 1), ("L2", 2), ("0", 0), ("1", 1), ("2", 2), ("l2", 2)]
)
def test_grades_are_written_with_or_without_their_letter(written: str, grade: int) -> None:
    (entry,) = table(f"M002,{MOVIE},{written},,,\n")
    assert entry.grade == grade


def test_cells_contain_values_names_of_groups_or_vectors_and_an_empty_one_is_unknown() -> None:
    gold = table(
        f'M002,{MOVIE},L2,a,43K,"United States; United Kingdom; Canada"\n'
        'M002,tt0088764,L2,b,10K <= x < 1M,Europe\nM002,tt0088765,L1,c,"(0,0,1,0)","(0,1/2,0,0,0,1/2,0,0)"\n'
        "M002,tt0088766,L0,d,,\n"
    )
    a, b, c, d = gold.entries("M002")
    assert a.groups["RATINGS"] == b.groups["RATINGS"] == c.groups["RATINGS"] == (0, 0, 1, 0)
    assert a.groups["ORIGIN"] == (0, 2 / 3, 0, 0, 0, 1 / 3, 0, 0)
    assert b.groups["ORIGIN"] == (0, 0, 0, 0, 0, 1, 0, 0)
    assert c.groups["ORIGIN"] == (0, 0.5, 0, 0, 0, 0.5, 0, 0)
    assert dict(d.groups) == {}


def test_columns_may_be_in_any_order_and_the_title_may_be_missing() -> None:
    gold = parse_gold(f"grade,RATINGS,entity,topic\nL1,2M,{MOVIE},M002\n", TOPICS, "g.csv")
    assert list(gold) == [GoldEntry("M002", MOVIE, 1, "", {"RATINGS": (0, 0, 0, 1)})]


def test_duplicates_that_agree_are_one_entry() -> None:
    gold = table(
        f"M002,{MOVIE},L2,,1.3M,\nM002,http://imdb.com/title/tt0088763,2,Back to the Future,1.4M,United States\n"
    )
    (entry,) = gold
    assert entry.title == "Back to the Future"
    assert set(entry.groups) == {"RATINGS", "ORIGIN"}


def test_the_same_entity_may_have_different_grades_for_different_topics() -> None:
    gold = table(f"M002,{MOVIE},L2,a,,\nM003,{MOVIE},L0,a,,\n")
    assert [entry.grade for entry in gold] == [2, 0]


def test_a_header_alone_is_a_table_in_which_nothing_is_judged() -> None:
    for text in (HEADER, HEADER.strip(), f"{HEADER}\n,,,,,\n"):
        assert len(parse_gold(text, TOPICS, "g.csv")) == 0


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", "g.csv:1:1", "the file is empty"),
        ("topic,entity,grade,RATING\n", "g.csv:1:20", "unknown column 'RATING': did you mean 'RATINGS'?"),
        ("topic,entity,grade,topic\n", "g.csv:1:20", "column 'topic' occurs twice"),
        ("topic,entity,title\n", "g.csv:1:1", "the header has no column 'grade'"),
        ("topic|entity|grade\n", "g.csv:1:1", "unknown column"),
        (f"{HEADER}M02,{MOVIE},L2,a,,\n", "g.csv:2:1", "unknown topic 'M02'"),
        (f"{HEADER}\n\nM002,{MOVIE},L2,a,,\nM099,{MOVIE},L2,a,,\n", "g.csv:5:1", "unknown topic 'M099'"),
        (f"{HEADER}M002,{MOVIE},high,a,,\n", "g.csv:2:44", "'high' is not a grade"),
        (f"{HEADER}M002,{MOVIE},-1,a,,\n", "g.csv:2:44", "'-1' is not a grade"),
        (f"{HEADER}M002,{MOVIE},L2,a,lots,\n", "g.csv:2:49", "RATINGS: 'lots' is not a number"),
        (f"{HEADER}M002,{MOVIE},L2,a,1.234,\n", "g.csv:2:49", "RATINGS: '1.234' could mean"),
        (f'{HEADER}M002,{MOVIE},L2,"a\nb",43K,Ruritania\n', "g.csv:3:8", "ORIGIN: 'Ruritania' is not a known country"),
        (f'{HEADER}M002,{MOVIE},L2,a,"(0,1)",\n', "g.csv:2:49", "has 2 shares"),
        (f"{HEADER}M002,,L2,a,,\n", "g.csv:2:6", "the entity is missing"),
        (
            f"{HEADER}M002,https://example.org/x,L2,a,,\n",
            "g.csv:2:6",
            "is not a URL of the kind imdb-title that topic M002",
        ),
        (f"{HEADER}R001,http://localhost/x,L2,a,,\n", "g.csv:2:6", "is not a URL of the kind web-page"),
        (
            f"{HEADER}R001,https://a.org/x,L2,a,43K,\n",
            "g.csv:2:27",
            "RATINGS does not apply to topics of the type researcher",
        ),
        (f"{HEADER}M002,{MOVIE},L2,a,43K\n", "g.csv:2:49", "the row has 5 cells, but the header has 6"),
        (f"{HEADER}M002,{MOVIE},L2,a,43K,France,Spain\n", "g.csv:2:60", "the row has 7 cells, but the header has 6"),
        (f"{HEADER}M002\n", "g.csv:2:1", "the row has 1 cells"),
        (f'{HEADER}M002,{MOVIE},L2,"a,43K,\n', "g.csv:2:47", "a quotation mark is never closed"),
        (f'{HEADER}M002,{MOVIE},L2,"a" b,43K,\n', "g.csv:2:51", "text follows a closing quotation mark"),
        (f"{HEADER}M002,{MOVIE},L2,a,,\nM002,tt0088763,L1,a,,\n", "g.csv:3:1", "already has grade L2, but L1 here"),
        (f"{HEADER}M002,{MOVIE},L2,a,2M,\nM002,tt0088763,L2,a,43K,\n", "g.csv:3:1", "already has RATINGS (0,0,0,1)"),
    ],
)
def test_every_fault_has_a_place(text: str, place: str, says: str) -> None:
    found = fault(text)
    assert says in found.what
    assert str(found.place) == place


def test_a_table_with_bars_gets_advice_about_commas() -> None:
    assert fault("topic|entity|grade\n").advice == "separate the columns by commas"


ROWS = (
    ("M002", "tt0088763", "L2", "Back to the Future", "1.3M", "United States"),
    ("M002", "tt0816692", "L1", "Interstellar, or 5; 6", "2M", "United States,Canada"),
    ("M003", "tt1276104", "", "Looper", "", ""),
)
COLUMNS = tuple(HEADER.strip().split(","))


def written(separator: str = ",", extra: Callable[[list[str]], list[str]] = list) -> str:
    return "".join(csv_line(extra(list(row)), separator) for row in (COLUMNS, *ROWS))


@pytest.mark.parametrize(
    "data",
    [
        written(";").encode("utf-8-sig"),
        written("\t").encode("utf-16"),
        ("sep=;\r\n" + written(";").replace("\n", "\r\n")).encode(),
        (written() + ",,,,,\n" * 3 + "\n  , ,,,,\n").encode(),
        ("\n,,,,,\n" + written()).encode(),
        written(extra=lambda row: [*row, "", ""]).encode(),
        written(extra=lambda row: ["" if row[0] == "topic" else "7", *row]).encode(),
        written().replace("L2", "2.0").replace("L1", "1.0").encode(),
        written(";").replace("L2", "2,0").replace("L1", "1,00").replace("1.3M", "1,3M").encode(),
    ],
)
def test_the_same_table_from_spreadsheets_and_data_frames_is_the_same(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "g.csv").write_bytes(data)
    found = read_gold(tmp_path / "g.csv", TOPICS)
    plain = parse_gold(written(), TOPICS, "g.csv")
    assert found == plain
    assert len(plain) == 2
    assert found.waiting == plain.waiting == {("M003", "https://www.imdb.com/title/tt1276104/")}


@pytest.mark.parametrize("grade", ["2.5", "2.01", "20", "L", "L2.", "\u0662", "nan", "-1"])
def test_an_invalid_grade_is_refused(grade: str) -> None:
    assert "is not a grade" in fault(f"topic,entity,grade\nM002,tt0088763,{grade}\n").what


@pytest.mark.parametrize(
    ("data", "place", "says"),
    [
        (HEADER.encode() + b"M002,caf\xe9\n", ":2:9", "byte 0xe9 is not UTF-8"),
        (HEADER.encode() + b"M002,a\0b\n", ":2:7", "a NUL byte"),
        (HEADER.encode("utf-16") + b"x", "", "incomplete UTF-16"),
        (b"PK\x03\x04" + bytes(40), ":1:1", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\0\0", ":3:1", "a NUL byte"),
    ],
)
def test_a_binary_file_is_one_clear_message(tmp_path: Path, data: bytes, place: str, says: str) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=says) as caught:
        read_gold(path, TOPICS)
    assert str(caught.value.place).removeprefix(str(path)).startswith(place)


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEADER}M002,{MOVIE},L2,a,43K,\n".replace("\n", "\r\n").encode())
    assert len(read_gold(path, TOPICS)) == 1


def test_a_missing_file_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_gold(tmp_path / "none.csv", TOPICS)


def test_rows_of_left_out_topics_are_skipped_and_counted() -> None:
    some = TOPICS.only(["M002"])
    gold = parse_gold(f"{HEADER}M002,{MOVIE},L2,a,,\nR001,no matter what,L9,a,,\n", some, "g.csv")
    assert len(gold) == 1
    assert gold.skipped == 1
    with pytest.raises(InputError, match="unknown topic 'M099'"):
        parse_gold(f"{HEADER}M099,{MOVIE},L2,a,,\n", some, "g.csv")


def test_writing_keeps_the_values_as_they_were_read(tmp_path: Path) -> None:
    text = (
        f'{HEADER}M002,{MOVIE},L2,"Back, to the ""Future""",1.3M,"Korea, Republic of; Canada"\n'
        'M003,https://www.imdb.com/title/tt0088764/,L0,,,"(0,1/3,0,0,2/3,0,0,0)"\n'
    )
    gold = parse_gold(text, TOPICS, "g.csv")
    write_gold(gold, tmp_path / "g.csv", TOPICS)
    assert (tmp_path / "g.csv").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["g.csv"]


def test_a_value_that_no_longer_means_its_vector_is_not_written(tmp_path: Path) -> None:
    entry = GoldEntry("M002", MOVIE, 2, groups={"RATINGS": (0, 0, 1, 0)}, raw={"RATINGS": "1.3M"})
    write_gold(GoldTable([entry]), tmp_path / "g.csv", TOPICS)
    assert list(read_gold(tmp_path / "g.csv", TOPICS)) == [entry]


SHARES = st.lists(st.integers(0, 1000), min_size=8, max_size=8).filter(any)
TITLES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(lambda text: " ".join(text.split()))


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 2), TITLES, SHARES, st.booleans()), max_size=8))
def test_a_written_table_is_read_back_equal(rows: list[tuple[int, int, str, list[int], bool]]) -> None:
    entries = {}
    for number, grade, title, counts, known in rows:
        vector = tuple(count / sum(counts) for count in counts)
        key = f"https://www.imdb.com/title/tt00000{number:02}/"
        entries[key] = GoldEntry("M002", key, grade, title, {"ORIGIN": vector} if known else {})
    gold = GoldTable(entries.values())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g.csv"
        write_gold(gold, path, TOPICS)
        if entries:
            assert read_gold(path, TOPICS) == gold


@given(st.lists(st.lists(st.text(st.sampled_from('ab ,"\n\r;é'), max_size=6), min_size=2, max_size=4), max_size=5))
def test_rows_are_those_that_were_written(rows: list[list[str]]) -> None:
    standard = io.StringIO()
    csv.writer(standard, quoting=csv.QUOTE_ALL).writerows(rows)
    for text in (standard.getvalue(), "".join(map(csv_line, rows))):
        found = [[cell.text for cell in row] for row in csv_rows(text, "g.csv")]
        assert found == [[cell.strip() for cell in row] for row in rows]


@given(st.lists(st.text(st.sampled_from('ab ,"\n\r;é'), max_size=6), min_size=2, max_size=4))
def test_the_standard_reader_reads_our_lines(row: list[str]) -> None:
    assert list(csv.reader(io.StringIO(csv_line(row), newline=""), strict=True)) == [row]


@given(st.text(st.sampled_from('ab,"\n\r '), max_size=40))
def test_every_cell_has_its_place(text: str) -> None:
    try:
        rows = list(csv_rows(text, "g.csv"))
    except InputError:
        return
    lines = text.replace("\r\n", "\n ").replace("\r", "\n").split("\n")
    for cell in (cell for row in rows for cell in row):
        assert 1 <= cell.line <= len(lines)
        assert 1 <= cell.column <= len(lines[cell.line - 1]) + 1


def test_entries_that_disagree_are_refused_when_a_table_is_made() -> None:
    with pytest.raises(ValueError, match="already has grade L2, but L0 here"):
        GoldTable([GoldEntry("T", "e", 2), GoldEntry("T", "e", 0)])


def test_a_row_without_a_grade_waits_to_be_judged() -> None:
    gold = parse_gold(f"{HEADER}M002,{MOVIE},,a,,\n", TOPICS, "g.csv")
    assert (len(gold), gold.skipped) == (0, 0)
    (waiting,) = gold.waiting
    assert waiting[0] == "M002"
    with pytest.raises(InputError, match="is not a URL of the kind"):
        parse_gold(f"{HEADER}M002,https://example.org/,,a,,\n", TOPICS, "g.csv")
