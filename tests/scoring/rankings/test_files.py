"""NTCIREVAL's file formats: what is read, and each fault with file:line:column and what is allowed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.rankings.groups import files_by_set, read_groups
from scoring.rankings.list_scores import ListSettings, list_scores, read_qrels
from scoring.rankings.run import read_run
from tests.support.ranked_lists import REFERENCE, write_example
from topics.errors import InputError

RNG = np.random.default_rng


def fault(read: Callable[[str], object], path: Path, text: str | bytes) -> str:
    """The message for a file with this text."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as found:
        read(str(path))
    message = str(found.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).removeprefix(":")


def test_the_example_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_example(tmp_path)
    qrels = read_qrels(tmp_path / "small.qrels")
    assert {topic: dict(judged) for topic, judged in qrels.grades.items()} == REFERENCE["grades"]
    run = read_run(tmp_path / "first")
    assert {topic: list(documents) for topic, documents in run.rankings.items()} == REFERENCE["lists"]["first"]
    assert (run.name, run.description, run.tied, run.rising) == ("first", "the first run", 0, 0)
    sets = list(REFERENCE["sets"])
    groups = read_groups(
        files_by_set([str(tmp_path / f"small.{name}.gmemb") for name in sets], ".gmemb"),
        files_by_set([str(tmp_path / f"{name}.golddistr") for name in sets], ".golddistr"),
    )
    assert [one.name for one in groups] == sorted(sets)
    for one in groups:
        expected = REFERENCE["sets"][one.name]
        assert one.scale == expected["scale"]
        assert one.gold.tolist() == expected["gold"]
        here = one.memberships[expected["topic"]]
        assert {name: list(row) for name, row in here.items()} == expected["memberships"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the file contains no ranked documents"),
        ("<SYSDESC>only words</SYSDESC>\n", "1:1: the file contains no ranked documents"),
        ("<SYSDESC>never closed\nT 0 d 1 1 r\n", "1:1: <SYSDESC> is not closed on its line"),
        ("T 0 d 1 1 r\n<SYSDESC>late</SYSDESC>\n", "2:1: <SYSDESC> is not on the first line"),
        ("T 0 d 1 1 r\nT 0 d2 2 1\n", "2:10: the line has 5 columns"),
        ("T 0 d 1 1 r more\n", "1:13: the line has 7 columns"),
        ("T 0 d first 1 r\n", "1:7: 'first' is not a rank"),
        ("T 0 d -1 1 r\n", "1:7: '-1' is not a rank"),
        ("T 0 d 1_0 1 r\n", "1:7: '1_0' is not a rank"),
        (f"T 0 d {'9' * 5000} 1 r\n", "1:7: '99999"),
        ("T 0 d 1 high r\n", "1:9: 'high' is not a score"),
        ("T 0 d 1 nan r\n", "1:9: 'nan' is not a score"),
        ("T 0 d 1 1_0 r\n", "1:9: '1_0' is not a score"),
        ("T 0 d 1 \u0663 r\n", "1:9: '\u0663' is not a score"),
        ("T 0 d 1 inf r\n", "1:9: 'inf' is not a score"),
        ("T 0 d 1 2 r\n\n  T 0 e 2 1 other\n", "3:13: the run is called 'r' above and 'other' here"),
        ("T 0 d 1 2 r\nU 0 d 1 1 r\nT 0 d 2 1 r\n", "3:5: 'd' is listed twice for topic T"),
        (b"T 0 d\xff 1 1 r\n", "1:6: the byte 0xff is not UTF-8"),
        (b"T 0 d\x00 1 1 r\n", "1:6: the file contains a NUL byte"),
    ],
)
def test_a_fault_in_a_run_is_reported_with_its_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert fault(read_run, tmp_path / "some.run", text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n", "1:1: the file contains no assessments"),
        ("T d\n", "1:3: the line has 2 columns"),
        ("T 0 d 2\n", "1:7: the line has 4 columns"),
        ("T d 2\n", "1:5: '2' is not a grade"),
        ("T d L-1\n", "1:5: 'L-1' is not a grade"),
        ("T d l1\n", "1:5: 'l1' is not a grade"),
        ("T d L1\nT  d L1\n", "2:4: 'd' is judged twice for topic T"),
    ],
)
def test_a_fault_in_qrels_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert fault(read_qrels, tmp_path / "some.qrels", text).startswith(message)


def test_trec_qrels_are_recognised_and_the_message_says_what_to_do(tmp_path: Path) -> None:
    assert "TREC qrels" in fault(read_qrels, tmp_path / "some.qrels", "T 0 d 2\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the file contains no probabilities"),
        ("1\n", "1:1: the distribution has only one group"),
        ("0.5\nhalf\n", "2:1: 'half' is not a probability"),
        ("0.5\n-0.5\n1\n", "2:1: '-0.5' is not a probability"),
        ("\u0661\n0\n", "1:1: '\u0661' is not a probability"),
        ("0.5\nnan\n", "2:1: 'nan' is not a probability"),
        ("0.5\n0_0.5\n", "2:1: '0_0.5' is not a probability"),
        ("0.5 0.5\n", "1:5: the line has 2 columns"),
        ("0.5\n0.4\n", "2:1: the probabilities sum to 0.9"),
    ],
)
def test_a_fault_in_a_gold_distribution_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "A.gmemb").write_text("T d 0.5 0.5\n")
    members = {"A": tmp_path / "A.gmemb"}
    assert fault(lambda path: read_groups(members, {"A": path}), tmp_path / "A.golddistr", text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the file contains no memberships"),
        ("T d 1\n", "1:5: the line has 3 columns"),
        ("T d 1 0\nT e 1 0 0\n", "2:9: the line has 5 columns"),
        ("T d 1 x\n", "1:7: 'x' is not a probability"),
        ("T d 1.5 -0.5\n", "1:5: '1.5' is not a probability"),
        ("T d 0.5 0.4\n", "1:5: the memberships sum to 0.9"),
        ("T d 1 0\nT d 1 0\n", "2:3: 'd' appears twice for topic T"),
    ],
)
def test_a_fault_in_memberships_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "A.golddistr").write_text("0.5\n0.5\n")
    gold = {"A": tmp_path / "A.golddistr"}
    assert fault(lambda path: read_groups({"A": path}, gold), tmp_path / "A.gmemb", text).startswith(message)


def test_thirds_of_six_digits_are_a_distribution(tmp_path: Path) -> None:
    (tmp_path / "A.golddistr").write_text("0.333333\n" * 3)
    (tmp_path / "A.gmemb").write_text("T d 0.333333 0.333333 0.333333\n")
    (one,) = read_groups({"A": tmp_path / "A.gmemb"}, {"A": tmp_path / "A.golddistr"})
    assert one.scale is None
    assert one.gold.sum() == pytest.approx(0.999999)


def test_a_file_that_is_missing_a_folder_or_no_path_is_refused(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none", "no such file"), (tmp_path, "a folder"), ("a\0b", "not a path")):
        with pytest.raises(InputError, match=words):
            read_run(path)


def test_windows_line_ends_a_byte_order_mark_and_wide_spaces_change_nothing(tmp_path: Path) -> None:
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    plain.write_text("<SYSDESC>x</SYSDESC>\nT Q0 d 1 2 r\nT Q0 e 2 1 r\n")
    odd.write_bytes(b"\xef\xbb\xbf<SYSDESC>x</SYSDESC>\r\nT\tQ0 d   1 2 r\r\n\r\nT Q0 e 2 1 r")
    assert read_run(odd) == read_run(plain)


def test_the_rank_column_decides_ties_keep_the_order_of_the_file_and_both_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("T 0 c 3 1 r\nT 0 a 1 2 r\nT 0 b1 2 9 r\nT 0 b2 2 9 r\n")
    run = read_run(path)
    assert run.rankings["T"] == ("a", "b1", "b2", "c")
    assert (run.tied, run.rising) == (1, 1)


@given(ranks=st.permutations(range(1, 9)))
def test_the_order_of_the_lines_does_not_matter(tmp_path_factory: pytest.TempPathFactory, ranks: list[int]) -> None:
    path = tmp_path_factory.getbasetemp() / "permuted.run"
    path.write_text("".join(f"T 0 d{rank} {rank} {10 - rank} r\n" for rank in ranks))
    assert read_run(path).rankings["T"] == tuple(f"d{rank}" for rank in range(1, 9))


def test_a_document_without_a_membership_is_uniform_and_counted(tmp_path: Path) -> None:
    write_example(tmp_path)
    groups = read_groups({"R-HINDEX": tmp_path / "small.R-HINDEX.gmemb"}, {"R-HINDEX": tmp_path / "R-HINDEX.golddistr"})
    rows, unknown = groups[0].rows("researcher", ["r-judged-1", "never-heard-of"])
    np.testing.assert_array_equal(rows, [[1, 0, 0, 0], [0.25] * 4])
    assert unknown == 1
    scores = list_scores(
        [read_run(tmp_path / "first")], read_qrels(tmp_path / "small.qrels"), groups, ListSettings(), RNG(1)
    )
    row = next(row for row in scores.rows if row.measure == "GF(R-HINDEX, by=RNOD)" and row.topic == "researcher")
    assert (row.n, row.unknown, row.unjudged) == (5, 2, 2)


def test_a_grade_without_a_gain_is_reported_with_its_place_and_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("T a L2\nT b L3\n")
    (tmp_path / "r").write_text("T 0 a 1 1 r\n")
    with pytest.raises(InputError, match=r"q:2:5: grade L3 has no gain\n.*L0, L1, L2\n.*--gains L1=1,L2=3,L3=7"):
        list_scores([read_run(tmp_path / "r")], read_qrels(tmp_path / "q"), (), ListSettings(), RNG(1))


@pytest.mark.parametrize(
    ("members", "golds", "message"),
    [
        (["A.gmemb"], [], "attribute set A has no gold distribution"),
        ([], ["A.golddistr"], "attribute set A has no membership file"),
        (["x.A.gmemb", "y.A.gmemb"], ["A.golddistr"], "the attribute set A must have only one file"),
        (["a b.gmemb"], [], "the name of an attribute set cannot be taken from the file name: 'a b'"),
    ],
)
def test_mismatched_files_are_refused(members: list[str], golds: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_groups(files_by_set(members, ".gmemb"), files_by_set(golds, ".golddistr"))


def test_a_name_can_be_given_with_the_file() -> None:
    assert files_by_set(["RATINGS=some/where.txt"], ".gmemb") == {"RATINGS": "some/where.txt"}
    assert files_by_set(["odd=name/toy.M-ORIGIN.gmemb"], ".gmemb") == {"odd": "name/toy.M-ORIGIN.gmemb"}
    assert files_by_set(["./odd=name/toy.M-ORIGIN.gmemb"], ".gmemb") == {"M-ORIGIN": "./odd=name/toy.M-ORIGIN.gmemb"}


@pytest.mark.parametrize(
    "settings",
    [
        {"gains": {}},
        {"gains": {1: 0.0}},
        {"gains": {0: 1.0}},
        {"gains": {1: -1.0}},
        {"gains": {1: float("nan")}},
        {"cutoff": 0},
        {"persistence": 0.0},
        {"persistence": 1.5},
        {"level": 1.0},
        {"replications": 1},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError, match="allowed"):
        ListSettings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("topics", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_run_of_a_million_lines_is_read_in_seconds(tmp_path: Path, topics: int) -> None:
    path = tmp_path / "large"
    ranked = "".join(f"@ Q0 en0000-{rank:05} {rank} {2000 - rank} large\n" for rank in range(1, 1001))
    path.write_text("".join(ranked.replace("@", f"T{topic}") for topic in range(topics)))
    before = time.process_time()
    run = read_run(path)
    assert time.process_time() - before < topics / 50  # of a million, 1.6 s on a quiet machine
    assert sum(map(len, run.rankings.values())) == 1000 * topics
