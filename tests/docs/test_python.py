"""docs/python.md: everything that it shows is what the program prints, and its scores are those of `score --json`."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

import harvest
from tests.support.checkout import DOCS
from tests.support.command_line import harvest as command

PAGE = DOCS / "python.md"


def test_the_page_shows_what_the_program_prints_and_its_rows_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 30) == (0, True)
    done = command("score", "python-run", "--json", "--measure", "CVaR(R)")
    table = harvest.score_runs("python-run", measures=["CVaR(R)"])
    wanted = [row.as_json() for row in table.rows if row.measure.startswith("CVaR")]
    assert wanted
    assert json.loads(done.stdout)["rows"] == wanted


def test_no_part_that_a_reader_writes_is_longer_than_30_lines() -> None:
    blocks = PAGE.read_text(encoding="utf-8").split("```python")[1:]
    assert {len(block.split("```")[0].strip().splitlines()) > 30 for block in blocks} == {False}
