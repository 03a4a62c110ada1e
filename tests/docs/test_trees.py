"""The page about trees: everything in it that the program prints, it prints.

Run as a program, it writes the trees of the page anew: `python -m tests.docs.test_trees`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import tempfile
from pathlib import Path

import pytest

from harvest.cli import main
from tests.support.checkout import ROOT

PAGE = ROOT / "docs" / "trees.md"
PICTURE = PAGE.with_name("tree.svg")
BLOCK = re.compile(r"(<!-- tree: (.*?) -->\n```\n).*?(```\n<!-- end -->)", re.DOTALL)


def _printed(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        with pytest.raises(SystemExit) as done:
            main(list(arguments))
        assert done.value.code == 0
    return out.getvalue()


def renewed(page: str, run: Path) -> str:
    def tree(block: re.Match[str]) -> str:
        arguments = ("tree", str(run), "--format", "text", "--width", "80", *block[2].split())
        return block[1] + _printed(*arguments) + block[3]

    return BLOCK.sub(tree, page)


def drawn(run: Path) -> str:
    return _printed("tree", str(run), "--system", "B", "--format", "svg", "--score", "R")


def test_the_trees_on_the_page_are_those_of_the_demo(demo: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == 1
    assert page == renewed(page, demo), "renew the trees with: python -m tests.docs.test_trees"


def test_the_picture_on_the_page_is_that_of_the_demo(demo: Path) -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawn(demo), "python -m tests.docs.test_trees renews it"


def test_the_page_shows_what_python_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # the page names the sample by its path in the repository
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 10) == (0, True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        _printed("run", "demo", "--out", str(run))
        PICTURE.write_text(drawn(run), encoding="utf-8")
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), run), encoding="utf-8")
