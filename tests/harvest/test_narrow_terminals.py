"""A terminal too narrow for a table wraps its lines: no figure is cut off or left out."""

from __future__ import annotations

from pathlib import Path

import pytest

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
def test_figures_are_whole_in_every_terminal(run: Path, command: str) -> None:
    whole = harvest(command, run, width=LEAST_WIDTH).stdout
    assert "%" in whole
    for width in (1, 25, 38):
        assert harvest(command, run, width=width).stdout == whole, width


def test_a_table_that_needs_more_than_the_terminal_has_is_whole(run: Path) -> None:
    wide = harvest("compare", run, "-m", "ave%useful", width=100).stdout
    (line,) = (line for line in wide.splitlines() if line.startswith("   A − B"))
    narrow = harvest("compare", run, "-m", "ave%useful", width=LEAST_WIDTH).stdout
    assert line.split() in [line.split() for line in narrow.splitlines()]


def test_a_wider_terminal_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, width in (("200", 200), ("60", 60), ("59", LEAST_WIDTH)):
        monkeypatch.setenv("COLUMNS", columns)
        assert people_console().width == width
