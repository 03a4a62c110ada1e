"""`harvest metrics structured`: comprehensiveness against the pool, and scores of lines by part, worked by hand."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from recordings.judged.judgments import Judgment, Layer, Target, write_layer
from recordings.log.run_folder import read
from scoring.notation import parse_all
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.table import ScoreRow
from tests.support.checkout import DATA, DOCS
from tests.support.command_line import harvest

Figures = Mapping[tuple[str, str], tuple[Any, int]]

# Comprehensiveness of A in both trials, of A, and of B: by words, by named pieces, and without what is false. The lines
# are a (There are two, A1 and B), b (harbour, A1), c (station, A1 and B), d (two are open, A2), e (5 euros, A2),
# f (a third one, B) and g (dogs, B). People name a and d as one piece, and g as none.
BY_HAND = {
    "lines with the same words": (7, "3/7", "2/7", "5/14", "4/7"),
    "the three lines on *two cafés* named as one, `-` for dogs": (5, "3/5", "2/5", "1/2", "3/5"),
    "the same, and *a third one* judged to be false": (4, "3/4", "2/4", "5/8", "1/2"),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("structured") / "cafes"
    done = harvest("data", "import", "--format", "messages", DATA / "structured_answers.jsonl", "--out", run)
    assert done.returncode == 0, done.stderr
    return run


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "cafes")


def figures(*arguments: object) -> Figures:
    """The value and n of each figure, by system and measure."""
    done = harvest("metrics", "structured", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["long"]
    return {(row["system"] or row["topic"], row["measure"]): (row["estimate"], row["n"]) for row in rows}


def name_pieces(run: Path, sheet: Path, names: Mapping[str, str]) -> Path:
    """Write the sheet of the run's lines, with a name for each line that has one of these words in it."""
    done = harvest("metrics", "structured", run, "--out", sheet)
    assert done.returncode == 0, done.stderr
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            name = next((name for words, name in names.items() if words in row["text"]), "")
            writer.writerow({**row, "piece": name})
    return sheet


def judge(run: Path, scores: Mapping[str, float | None], criterion: str = "Faithfulness") -> None:
    """Anna scores the lines with these words in them, in every answer."""
    found = []
    for one in read(run).finished:
        text = one.turns[0].reply.answer.text  # type: ignore[union-attr]
        for words, score in scores.items():
            if words in text:
                start = text.index(words)
                about = Target(one.trial_id, one.attempt, 1, "system", start, text.find("\n", start) % (len(text) + 1))
                found.append(Judgment(about.about(), criterion, score))
    write_layer(run, Layer("human", "anna", "1", "sheet", "2026-01-01T00:00:00+00:00", tuple(found)))


def assert_row(found: Figures, row: str) -> None:
    pool, first, second, whole, other = BY_HAND[row]
    assert Fraction(first) / 2 + Fraction(second) / 2 == Fraction(whole)
    assert found["CAFES", "pieces"] == (pool, 3)
    assert found["A", "comprehensiveness"] == (pytest.approx(float(Fraction(whole)), abs=1e-12), 2)
    assert found["B", "comprehensiveness"] == (pytest.approx(float(Fraction(other)), abs=1e-12), 1)


def test_comprehensiveness_is_as_worked_by_hand(run: Path, tmp_path: Path) -> None:
    assert_row(figures(run), "lines with the same words")
    sheet = name_pieces(run, tmp_path / "pool.csv", {"wo cat": "two", "Dogs": "-"})
    named = figures(run, "--pieces", sheet)
    assert_row(named, "the three lines on *two cafés* named as one, `-` for dogs")
    # One of two lines with the same words needs no name: it has that of the other.
    once = name_pieces(run, tmp_path / "once.csv", {"cafés in Ossendam.": "two", "Two cat": "two", "Dogs": "-"})
    assert figures(run, "--pieces", once) == named
    judge(run, {"A third one": 0.0, "**Paws**": 1.0})
    assert_row(figures(run, "--pieces", sheet), "the same, and *a third one* judged to be false")


def test_the_table_of_the_page_is_that_of_the_tests() -> None:
    page = (DOCS / "structured.md").read_text(encoding="utf-8")
    for name, values in BY_HAND.items():
        assert f"| {name} | {' | '.join(map(str, values))} |" in page


def test_scores_of_lines_are_means_of_the_whole_of_the_overview_and_of_the_sections(run: Path) -> None:
    # A1: overview 1, sections 1 and .5. A2: overview 1, no score of its section. B: overview 0, sections 1, 0 and n/a.
    judge(run, {"There are two cat cafés in Ossendam [1].": 1, "Whisker House is": 1, "Paws is": 0.5})
    judge(run, {"Two cat cafés are": 1})
    judge(run, {"There are two cat cafés in Ossendam.": 0, "**Paws**": 1, "A third": 0, "Dogs": None})
    found = figures(run)
    expected = {
        ("A", "Faithfulness"): (float((Fraction(5, 6) + 1) / 2), 2),
        ("A", "Faithfulness: overview"): (1, 2),
        ("A", "Faithfulness: sections"): (0.75, 1),
        ("B", "Faithfulness"): (1 / 3, 1),
        ("B", "Faithfulness: overview"): (0, 1),
        ("B", "Faithfulness: sections"): (0.5, 1),
        ("B", "Relevance"): (None, 0),
    }
    assert {key: found[key] for key in expected} == {
        key: (pytest.approx(value, abs=1e-12), n) for key, (value, n) in expected.items()
    }
    # The false lines of B bring no piece: a stays through A1. The pool has a to e and g; A has 3 and 2, B has c and g.
    assert found["CAFES", "pieces"][0] == 6
    assert found["A", "comprehensiveness"][0] == pytest.approx(5 / 12, abs=1e-12)
    assert found["B", "comprehensiveness"][0] == pytest.approx(2 / 6, abs=1e-12)
    means = {row.system: row.value for row in lines_scored(run, "WAN(Faithfulness)")}
    assert means == {system: pytest.approx(expected[system, "Faithfulness"][0], abs=1e-12) for system in ("A", "B")}


def lines_scored(run: Path, measure: str) -> list[ScoreRow]:
    """The rows of the systems' means, as `harvest score --schema structured-answers --nuggets lines` has them."""
    schema = load_schema("structured-answers")
    material = gather_runs(read(run)).material
    table = score_material(
        material, measures=parse_all(measure), only=True, schema=schema, judges=Precedence(nuggets="lines")
    )
    return [
        row for row in table.rows if row.measure == measure and (row.topic, row.topic_type, row.trial) == (None,) * 3
    ]


def test_a_topic_with_one_conversation_has_no_comprehensiveness_and_says_so(run: Path) -> None:
    done = harvest("metrics", "structured", run)
    assert "pool: 8 pieces of 2 topics, in 4 conversations" in done.stderr
    assert "1 conversation without comprehensiveness: their topic's pool has no other conversation" in done.stderr
    assert "nobody scored Faithfulness, Relevance" in done.stderr
    assert "Faithfulness" not in done.stdout
    assert "no interval of A comprehensiveness, B comprehensiveness: one topic" in " ".join(done.stdout.split())


def test_intervals_name_their_level_method_and_units_of_resampling(tmp_path: Path) -> None:
    talks = [
        {
            "messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": said}],
            "metadata": {"system": system, "topic": f"T{number}", "trial": 1, "outcome": "completed"},
        }
        for number in range(5)
        for system, said in (("A", "One reason.\nAnother one."), ("B", "One reason."))
    ]
    (tmp_path / "five.jsonl").write_text("\n".join(map(json.dumps, talks)), encoding="utf-8")
    made = harvest("data", "import", "--format", "messages", tmp_path / "five.jsonl", "--out", tmp_path / "five")
    assert made.returncode == 0, made.stderr
    done = harvest("metrics", "structured", tmp_path / "five")
    assert "[low, high]: 95% Gaffke-type interval with an unseen topic, resampled: topics" in done.stdout
    assert "no interval" not in done.stdout


def test_the_pieces_named_by_people_are_counted(run: Path, tmp_path: Path) -> None:
    for name, named, count in (("none.csv", {}, 0), ("some.csv", {"wo cat": "two", "Dogs": "-"}, 4)):
        sheet = name_pieces(run, tmp_path / name, named)
        done = harvest("metrics", "structured", run, "--pieces", sheet)
        assert f"{name}: people named the piece of {count} of 10 lines" in done.stderr


def test_answers_of_several_runs_share_one_pool(run: Path, tmp_path: Path) -> None:
    talk = (DATA / "structured_answers.jsonl").read_text(encoding="utf-8").splitlines()[2]
    (tmp_path / "more.jsonl").write_text(talk.replace("### Rules", "It has 9 rooms."), encoding="utf-8")
    more = harvest("data", "import", "--format", "messages", tmp_path / "more.jsonl", "--out", tmp_path / "more")
    assert more.returncode == 0, more.stderr
    found = figures(run, tmp_path / "more")
    assert found["CAFES", "pieces"] == (8, 4)
    values = {system: found[system, "comprehensiveness"][0] for system in ("A", "B@cafes", "B@more")}
    assert values == {"A": pytest.approx(5 / 16), "B@cafes": 4 / 8, "B@more": 5 / 8}


def test_the_counts_of_an_answer_are_those_of_its_lines(run: Path) -> None:
    found = figures(run)
    # A: 3, 2 and 1 lines; 1, 1 and 0 sections; 2, 0 and 0 documents.
    assert [found["A", name] for name in ("units", "sections", "documents")] == [
        (2, 3),
        (pytest.approx(2 / 3), 3),
        (pytest.approx(2 / 3), 3),
    ]
    assert [found["B", name][0] for name in ("units", "sections", "documents")] == [4, 2, 0]


def test_a_sheet_keeps_its_named_pieces_and_is_not_overwritten_unasked(run: Path, tmp_path: Path) -> None:
    sheet = name_pieces(run, tmp_path / "pool.csv", {"wo cat": "=two", "Dogs": "-"})
    again = tmp_path / "again.jsonl"
    assert harvest("metrics", "structured", run, "--pieces", sheet, "--out", again).returncode == 0
    assert figures(run, "--pieces", again) == figures(run, "--pieces", sheet) != figures(run)
    refused = harvest("metrics", "structured", run, "--out", again)
    assert refused.returncode == 2
    assert "--force" in refused.stderr


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ("topic,text,piece\nCAFES,Nobody said this.,x\n", "pool.csv:2:7: no answer here on the topic 'CAFES' has this"),
        (
            "topic,text,piece\nHOTELS,A third one opens in May.,x\n",
            "pool.csv:2:8: no answer here on the topic 'HOTELS'",
        ),
        (
            "topic,text,piece\nCAFES,A third one opens in May.,x\nCAFES,A third one opens in May.,y\n",
            "pool.csv:3:7: this line occurs twice for its topic",
        ),
        ("topic,text\nCAFES,A third one opens in May.\n", "pool.csv:1:1: the sheet has no column 'piece'"),
        ("", "the sheet is empty"),
    ],
)
def test_a_faulty_sheet_is_refused_with_its_place(run: Path, tmp_path: Path, sheet: str, message: str) -> None:
    (tmp_path / "pool.csv").write_text(sheet, encoding="utf-8")
    done = harvest("metrics", "structured", run, "--pieces", tmp_path / "pool.csv")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--force",), "--force can only be used with --out"),
        (("--out", "pool.csv", "--json"), "--json can only be used without --out"),
        (("--out", "pool.txt"), "a sheet cannot have the extension '.txt'"),
        (("--schema", "dialeval-quality"), "'dialeval-quality' has no criterion of nuggets that people score"),
    ],
)
def test_options_that_cannot_be_combined_are_refused(run: Path, options: tuple[str, ...], message: str) -> None:
    done = harvest("metrics", "structured", run, *options)
    assert done.returncode == 2
    assert message in done.stderr
