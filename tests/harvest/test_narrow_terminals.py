"""A terminal too narrow for a table shows it in parts: no figure is cut off or left out."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from harvest.console import LEAST_WIDTH
from harvest.terminal import people_console
from tests.support.command_line import harvest


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("narrow") / "run"
    played = harvest("run", "demo", "--topics", "M001,R001,Y001", "--trials", 2, "--out", path, width=20)
    assert played.returncode == 0
    assert harvest("score", path, "--keep", width=LEAST_WIDTH).stdout.splitlines()[:9] == played.stdout.splitlines()[:9]
    return path


@pytest.mark.parametrize("command", ["score", "compare", "variance"])
def test_figures_are_printed_in_full_in_every_terminal(run: Path, command: str) -> None:
    whole = harvest(command, run, width=LEAST_WIDTH).stdout
    assert "%" in whole
    for width in (1, 25, 38):
        assert harvest(command, run, width=width).stdout == whole, width


@pytest.mark.parametrize("command", ["compare", "variance", "score"])
def test_a_table_that_is_wider_than_the_terminal_is_split_and_none_is_truncated(run: Path, command: str) -> None:
    wide = harvest(command, run, "-m", "ave%useful", width=160).stdout
    narrow = harvest(command, run, "-m", "ave%useful", width=LEAST_WIDTH).stdout
    printed = [line.rstrip() for line in narrow.splitlines() if "harvest show" not in line]  # a command is copied whole
    assert all(cell_len(line) <= LEAST_WIDTH for line in printed)
    figures = re.findall(r"[\d.]+%? \[[^]]+\]|[\d.]+%|\d\.\d{2,}", wide)
    assert figures
    assert [one for one in figures if one not in narrow] == []


def test_the_columns_of_a_table_keep_their_order_and_their_rows() -> None:
    table = Table("name", *(Column(f"column {number}", no_wrap=True) for number in range(7)))
    for row in range(3):
        table.add_row(f"row {row}", *(f"value {row}.{number}" for number in range(7)))
    file = io.StringIO()
    console = people_console(file=file)
    console.width = LEAST_WIDTH
    console.print(table)
    lines = file.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= LEAST_WIDTH
    for row in range(3):
        found = [value for line in lines if f"row {row} " in line for value in re.findall(r"value [\d.]+", line)]
        assert found == [f"value {row}.{number}" for number in range(7)]


@pytest.mark.parametrize("width", range(LEAST_WIDTH, 100, 3))
def test_no_line_ends_within_an_interval(width: int) -> None:
    sentence = "The spread is 9.6 points [0.0, 24.2] between topics and 29.4 points [23.3, 35.3] between trials. " * 3
    table = Table(Column(Text("figure, value [low, high]")), Column("over"), "note")
    table.add_row(
        "spread between topics 9.6 points [0.0, 24.2]", Text("45 topics [0, 1,204]", "bold"), "some words " * 9
    )
    file = io.StringIO()
    console = people_console(file=file)
    console.width = width
    console.print(sentence, Text(sentence, "dim"), Padding(Text(sentence), (0, 0, 0, 2)), table)
    lines = file.getvalue().splitlines()
    for interval, times in (("[0.0, 24.2]", 10), ("[23.3, 35.3]", 9), ("[0, 1,204]", 1), ("[low, high]", 1)):
        assert sum(line.count(interval) for line in lines) == times
    assert max(map(cell_len, lines)) <= width
    assert " ".join(file.getvalue().split()).startswith(sentence.strip())


def test_a_wider_terminal_is_used_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, width in (("200", 200), ("60", 60), ("59", LEAST_WIDTH)):
        monkeypatch.setenv("COLUMNS", columns)
        assert people_console().width == width
