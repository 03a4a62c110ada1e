"""The page about variance: what it shows of the demo is what the program prints, and its coverage what is counted.

Run as a program, it writes the example anew: `python -m tests.docs.test_variance`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import pytest

from harvest.cli import main
from tests.support.checkout import ROOT

PAGE = ROOT / "docs" / "variance.md"
BLOCK = re.compile(r"(```\n)[^`]*?(```\n<!-- harvest variance demo-run (.*?) -->)", re.DOTALL)


def printed(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        with pytest.raises(SystemExit) as done:
            main(list(arguments))
        assert done.value.code == 0
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def renewed(page: str, run: str) -> str:
    def example(block: re.Match[str]) -> str:
        words = re.findall(r'"([^"]*)"|(\S+)', block[3])
        return block[1] + printed("variance", run, *(quoted or plain for quoted, plain in words)) + block[2]

    return BLOCK.sub(example, page)


def test_the_example_is_what_the_program_prints_of_the_demo(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == 1
    assert page == renewed(page, str(demo)), "renew the example with: python -m tests.docs.test_variance"


def test_the_figures_in_the_text_are_those_of_the_example() -> None:
    page = PAGE.read_text(encoding="utf-8")
    example = BLOCK.search(page)
    assert example is not None
    words = page.replace(example[0], "").partition("## A worked example")[2].partition("\n## ")[0]
    figures = re.findall(r"\d+(?:\.\d+)?%|\d*\.\d{2,}", words)
    assert len(figures) > 5
    for figure in figures:
        assert figure in example[0], figure


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as folder:
        printed("run", "demo", "--out", f"{folder}/run")
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), f"{folder}/run"), encoding="utf-8")
