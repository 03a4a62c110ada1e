"""Lists in a terminal: the further lines of an item begin below its words, not below its dash."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harvest.report.blocks import as_blocks
from harvest.tables.figure_table import Item

WORDS = "%recovery, alpha − desk: roughly 70 topics like these; more trials of these topics would not do"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_further_lines_of_an_item_are_aligned_with_its_words(width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    console.print(Item(WORDS))
    first, *others = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first.startswith("  - %recovery")
    assert others
    assert all(line.startswith("    ") and line[4] != " " for line in others)
    assert " ".join(f"{first} {' '.join(others)}".split()) == f"- {WORDS}"
    assert max(map(len, (first, *others))) <= width


def test_a_page_has_the_items_as_a_list() -> None:
    assert as_blocks([Item("one"), Item("two")], "any") == [{"list": ["one", "two"], "tone": ""}]
