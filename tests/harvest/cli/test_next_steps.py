"""After a run: its report is there, and three lines say what to look at next, which all work as they are printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002, R001]
protocol: fairweb-two-round
trials: {trials}
systems:
{systems}"""
TWO = """\
  - {name: A, driver: parrot}
  - {name: "B 2", driver: parrot, options: {profile: erratic}}
"""


def played(folder: Path, systems: str, trials: int = 2) -> list[str]:
    """The commands that the run suggests."""
    (folder / "audit.yaml").write_text(AUDIT.format(trials=trials, systems=systems), encoding="utf-8")
    done = harvest("run", "audit.yaml", "--out", "my run", "--report", cwd=folder)
    assert done.returncode == 0, done.stderr
    _, _, rest = done.stdout.partition("What to look at next:\n")
    assert "open my run/report.html in a browser" in rest
    assert (folder / "my run" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    return re.findall(r"^    harvest (.*)$", rest, re.MULTILINE)


@pytest.mark.parametrize(
    ("systems", "trials", "study"),
    [
        (TWO, 2, "compare"),
        (TWO.splitlines(keepends=True)[0], 2, "variance"),
        (TWO.splitlines(keepends=True)[0], 1, "tree"),
        (TWO + "arms:\n  as written: {}\n  typos: {wording: {typos: 0.05}}\n", 2, "robustness"),
    ],
)
def test_the_commands_that_a_run_suggests_work(tmp_path: Path, systems: str, trials: int, study: str) -> None:
    show, other = played(tmp_path, systems, trials)
    assert other == f"{study} 'my run'"
    for command in (show, other):
        done = harvest(*shlex.split(command), cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert " x " in harvest(*shlex.split(show), cwd=tmp_path).stdout or "A" in show


def test_a_run_that_is_resumed_writes_its_report_again(tmp_path: Path) -> None:
    played(tmp_path, TWO, 1)
    first = (tmp_path / "my run" / "report.html").read_text(encoding="utf-8")
    played(tmp_path, TWO, 2)
    assert (tmp_path / "my run" / "report.html").read_text(encoding="utf-8") != first


def test_without_a_report_nothing_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(trials=1, systems=TWO), encoding="utf-8")
    done = harvest("run", "audit.yaml", "--out", "run", "--no-report", cwd=tmp_path)
    assert "What to look at next" not in done.stdout
    assert not (tmp_path / "run" / "report.html").exists()


def test_a_run_whose_report_cannot_be_written_ends_as_before(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(trials=1, systems=TWO), encoding="utf-8")
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    (tmp_path / "run" / "report.html").mkdir()
    done = harvest("run", "audit.yaml", "--out", "run", "--report", cwd=tmp_path)
    assert done.returncode == 0
    assert "no report was written: " in done.stdout
    assert "in a browser" not in done.stdout
    assert "harvest compare run" in done.stdout
