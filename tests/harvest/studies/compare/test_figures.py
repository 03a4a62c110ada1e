"""What `harvest compare` prints below its tables."""

import math
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harvest.studies.compare.comparison import Comparison, compare_runs
from harvest.studies.compare.document import comparison_form, comparison_rows
from harvest.studies.compare.figures import comparison_tables
from harvest.tables.comparison_words import better_system
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.reported import small_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    systems = (
        "  - {name: A, driver: parrot, options: {profile: erratic}}\n"
        "  - {name: B, driver: parrot, options: {profile: erratic}}\n"
    )
    return small_run(tmp_path_factory.mktemp("legend"), systems, trials=4)


def legend(run: Path, *measures: str) -> str:
    asked = [word for measure in measures for word in ("-m", measure)]
    shown = " ".join(harvest("compare", run, *asked).stdout.split())
    return shown.partition("assumed: ")[2].partition(" p: ")[0]


def test_what_is_assumed_of_some_measures_alone_names_them(run: Path) -> None:
    both = legend(run, "%useful S1", "%recovery", "%useful S2")
    assert "may lie anywhere in the range (%useful S1, %useful S2)" in both
    assert "may have a ratio of 0 or 1 (%recovery)" in both


@pytest.mark.parametrize("measure", ["%useful S2", "%recovery"])
def test_what_is_assumed_of_all_measures_names_none(run: Path, measure: str) -> None:
    assert legend(run, measure)
    assert measure not in legend(run, measure)


def test_systems_that_certainly_differ_by_less_than_matters_are_the_same(run: Path) -> None:
    def compared(matters: float) -> Comparison:
        return compare_runs([read(run)], measures=["ave%useful"], most_parted=0, matters=matters)

    def printed(found: Comparison) -> str:
        console = Console(file=StringIO(), width=100)
        console.print(*comparison_tables(found, width=100))
        return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]

    (pair,) = compared(math.nan).measures[0].pairs
    far = max(abs(pair.interval.low), abs(pair.interval.high))
    assert not pair.is_distinguished
    wide, narrow, unasked = (compared(matters) for matters in (far + 0.001, far - 0.001, math.nan))
    assert f"A and B: the same within {100 * far + 0.1:g} points in ave%useful." in printed(wide)
    assert [row.verdict for row in comparison_rows(wide) if row.verdict] == ["same"]
    for found in (narrow, unasked):
        assert "A and B: cannot tell in ave%useful." in printed(found)
        assert [row.verdict for row in comparison_rows(found) if row.verdict] == ["cannot tell"]
    assert "topics like these (now 6) would show that they are the same within" in printed(narrow)
    assert "the same" not in printed(unasked)
    assert "matters" not in comparison_form(unasked).head


def test_of_many_systems_the_pairs_of_the_best_are_printed_and_all_are_there(
    tmp_path: Path,
) -> None:
    systems = "".join(
        f"  - {{name: S{number}, driver: parrot, options: {{profile: {'steady' if number == 3 else 'erratic'}}}}}\n"
        for number in range(7)
    )
    found = compare_runs([read(small_run(tmp_path, systems, trials=2))], measures=["ave%useful"], most_parted=2)
    assert len(found.measures[0].pairs) == len(comparison_form(found).late()["measures"][0]["pairs"]) == 21

    def printed(*, every: bool) -> str:
        console = Console(file=StringIO(), width=100)
        console.print(*comparison_tables(found, width=100, every=every))
        return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]

    few, all_of_them = printed(every=False), printed(every=True)
    assert "21 pairs; shown are the 6 of S3, which is best in ave%useful; for others: --systems, or --all-pairs" in few
    assert "S0 − S3" in few
    assert "S0 − S1" not in few
    assert "S0 − S1" in all_of_them
    assert "Where 19 other pairs part: --systems with two of them, or --parted" in few


def test_names_that_differ_at_their_ends_stay_apart_in_80_columns(tmp_path: Path) -> None:
    names = ("assistant-2026-11-30T07", "assistant-2026-11-30T08")
    systems = "".join(
        f"  - {{name: {name}, driver: parrot, options: {{profile: {profile}}}}}\n"
        for name, profile in zip(names, ("steady", "erratic"), strict=True)
    )
    found = compare_runs([read(small_run(tmp_path, systems, trials=8))], measures=["ave%useful"], estimand="these")
    (pair,) = found.measures[0].pairs
    assert better_system(pair) == "…t-2026-11-30T07"
    console = Console(file=StringIO(), width=80)
    console.print(*comparison_tables(found, width=80, parting=False))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    table = printed.partition("W/T/L")[2].partition("difference:")[0]
    last = [line.rsplit("  ", 1)[-1].strip() for line in map(str.rstrip, table.splitlines())]
    at = last.index("assistant-")
    assert last[at + 1] == "2026-11-30T07", "the better system, in whole, broken between its parts"
