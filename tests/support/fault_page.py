"""docs/faults.md: one row for each fault, written from what its test saw.

A test calls `hold` with what it saw; that must be the row of the page. Where HARVEST_RENEW is set, the row is written
instead (`python -m tests.docs.test_faults`).
"""

from __future__ import annotations

import os
import re
from dataclasses import astuple, dataclass

from tests.support.checkout import ROOT

__all__ = ["PAGE", "Row", "code", "code_lines", "emptied", "hold", "rows"]

PAGE = ROOT / "docs" / "faults.md"
_TABLE = "| fault | recorded | sent again | what the person sees | test |"


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, as Markdown. test: its name, with what is in brackets behind it."""

    fault: str
    recorded: str
    again: str
    seen: str
    test: str

    def __str__(self) -> str:
        return "| " + " | ".join(astuple(self)) + " |"


def code(text: str) -> str:
    """Words of the program, in a cell."""
    marks = "``" if "`" in text else "`"
    return f"{marks}{text.replace('|', chr(92) + '|')}{marks}"


def code_lines(text: str) -> str:
    """A message of several lines, in a cell."""
    return "<br>".join(code(line.strip()) for line in text.splitlines())


def rows() -> dict[str, Row]:
    """The rows of all tables of faults, by their test."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[-1].startswith("`test_"):
            assert cells[-1] not in found, f"two rows of {cells[-1]}"
            found[cells[-1]] = Row(*cells)
    return found


def hold(row: Row, section: str) -> None:
    """Raises AssertionError where the page has another row, or none, for this test. section: its heading."""
    on_page = rows().get(row.test)
    if on_page == row:
        return
    assert os.environ.get("HARVEST_RENEW"), f"renew with: python -m tests.docs.test_faults\n{on_page}\n{row}"
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    if on_page is not None:
        lines[lines.index(str(on_page))] = str(row)
    else:
        end = lines.index(_TABLE, lines.index(f"## {section}"))
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        lines.insert(end, str(row))
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def emptied(page: str) -> str:
    """The page without its rows."""
    kept = [line for line in page.splitlines() if not line.endswith("` |") or "| `test_" not in line]
    return "\n".join(kept) + "\n"
