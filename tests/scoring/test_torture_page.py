"""The part of docs/calibration.md on hostile worlds says what was counted."""

from collections import Counter
from pathlib import Path

import pytest

from tests.support.torture import __main__ as command
from tests.support.torture import page, saved
from tests.support.torture.cells import Cell, Size

WORLD, HIDDEN = "useful or not, Beta(2, 2)", "clusters of five, not named: R"


def cell(covered: int, size: Size = (15, 5, 2), world: str = WORLD, hidden: str | None = None) -> Cell:
    group = "independent" if world == WORLD else "clusters of topics"
    one = Cell("compare, topics like these", world, group, size, hidden)
    one.figures = one.studies = one.judged = 200
    one.printed, one.covered, one.widths = 200, covered, [1.25]
    return one


def test_a_kind_of_worlds_is_a_line_with_its_least_coverage_by_size() -> None:
    first, second = cell(196), cell(190, (45, 5, 2))
    first.wrong = 4
    written = page.part([first, second])
    assert "| independent | .980 | .950 | .020 | 1.25, 1.25 |" in written
    assert "None of the 2 cells with intervals is flagged." in written
    assert "| share | 1.25 to 1.25 | 1.25 to 1.25 |" in written


def test_families_are_reported_next_to_their_pairs() -> None:
    family = cell(196, (15, 5, 4))
    family.engine += page.FAMILIES
    family.wrong = 8
    written = page.part([cell(196), family])
    assert written.count("### Compare") == 1
    assert "| independent | .980 | .000 | .040 | 1.25 |" in written


def test_a_flag_is_listed_with_its_error() -> None:
    low = cell(160)
    low.wrong = 40
    assert f"* {WORLD}, 15×5: covers .800 ± .028, wrong in .200 ± .028" in page.part([low])


def test_the_share_of_intervals_and_the_reasons_for_missing_ones_are_reported() -> None:
    some = cell(96)
    some.printed, some.reasons = 100, Counter({"3 clusters: too few": 60, "12 clusters: too few": 40})
    written = page.part([some])
    assert "| independent | .960 (50%) |" in written
    assert "* … clusters: too few (at 15×5)" in written


def test_hidden_worlds_are_kept_apart_and_are_in_no_other_table() -> None:
    written = page.part([cell(196), cell(100, world=HIDDEN, hidden="nobody named the clusters")])
    told, _, apart = written.partition("### Worlds that cannot be told")
    assert f"| {HIDDEN} | nobody named the clusters | compare, topics like these | 15×5: .500 |" in apart
    assert HIDDEN not in told.partition("In the tables")[2]


def test_the_section_is_inserted_and_kept_when_the_rest_is_rewritten() -> None:
    old = "# Page\n\nText.\n\n## All cells\n\n| a |\n"
    first = page.placed(old, "## Hostile worlds\n\nOne.\n")
    assert first == "# Page\n\nText.\n\n## Hostile worlds\n\nOne.\n\n## All cells\n\n| a |\n"
    again = page.placed(first, "## Hostile worlds\n\nTwo.\n")
    assert again == first.replace("One.", "Two.")
    assert page.with_part_of(again, old) == again
    assert page.with_part_of(old, old) == old


def test_the_page_is_written_from_stored_cells_without_counting_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells, written, packed = tmp_path / "cells.jsonl", tmp_path / "page.md", tmp_path / "cells.jsonl.xz"
    monkeypatch.setattr(saved, "PACKED", packed)
    asked = ["--replications", "3", "--worlds", "preferences in clusters", "--sizes", "15x3", "--processes", "1"]
    command.main([*asked, "--own", "--save", str(cells)])
    assert "preference · preferences in clusters, named · 15×3" in capsys.readouterr().out
    command.main([*asked, "--own", "--save", str(cells)])
    assert "preference ·" not in capsys.readouterr().out
    written.write_text("# Page\n\n## All cells\n", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", written)
    page.main([str(cells), "--write"])
    assert "### Preference" in written.read_text(encoding="utf-8")

    cells.unlink()
    command.main([*asked, "--own", "--save", str(cells)])
    assert "preference ·" not in capsys.readouterr().out, "an earlier count has it"
    kept, *_ = saved.kept(None, packed)
    assert kept.day
    assert f"was counted ({kept.day})." in " ".join(page.part([kept]).split())
    command.main([*asked, "--own", "--again", "--save", str(cells)])
    assert "preference ·" in capsys.readouterr().out
