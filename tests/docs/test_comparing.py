"""The page about comparisons prints what the program prints.

Run as a program, it writes the examples of the page again: `python -m tests.docs.test_comparing`.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from scoring.statistics.exchange import smallest_p
from tests.support.checkout import DOCS
from tests.support.command_line import harvest

PAGE = DOCS / "comparing.md"
BLOCK = re.compile(r"(<!-- (compare|beside|ratios|standardised): (.*?) -->\n```\n).*?(```\n<!-- end -->)", re.DOTALL)


def renewed(page: str, run: Path, four: Path) -> str:
    def compared(block: re.Match[str]) -> str:
        if block[2] == "standardised":
            done = harvest("compare", four, "--standardise", "std-AB", *block[3].split(), width=80)
        elif block[2] != "beside":
            more = ["--ratios"] if block[2] == "ratios" else []
            done = harvest("compare", run, *more, *block[3].split(), width=80)
        else:
            done = harvest("show", run, "--beside", block[3], width=80)
        assert done.returncode == 0, done.stderr
        printed = done.stdout.replace(str(run), "demo-run")
        if block[2] == "ratios":
            printed = re.findall(r"^ measure +ratio .*?\(Fieller\)$", printed, re.DOTALL | re.MULTILINE)[0]
        if block[2] == "standardised":
            printed = re.findall(r"^ measure .*?\(Sakai 2016\)$", printed, re.DOTALL | re.MULTILINE)[0]
        if block[2] == "beside":
            printed = printed.rpartition("\n\n")[2]  # of the list, what stands below it
        return block[1] + "".join(f"{line.rstrip()}\n" for line in printed.splitlines()) + block[4]

    return BLOCK.sub(compared, page)


def played(page: str, folder: Path) -> Path:
    """The run of the four systems whose audit is on the page."""
    audit = re.search(r"`four.yaml`:\n\n```yaml\n(.*?)```", page, re.DOTALL)
    assert audit is not None
    (folder / "four.yaml").write_text(audit[1], encoding="utf-8")
    done = harvest("run", folder / "four.yaml", "--out", folder / "four")
    assert done.returncode == 0, done.stderr
    return folder / "four"


def test_the_examples_on_the_page_are_those_of_the_runs(demo: Path, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == 4
    assert page == renewed(page, demo, played(page, tmp_path)), "renew it with: python -m tests.docs.test_comparing"


def test_the_smallest_p_values_on_the_page_are_those_of_the_test() -> None:
    assert [smallest_p(topics) for topics in (4, 5, 6)] == [0.125, 0.0625, 0.03125]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        harvest("run", "demo", "--out", Path(folder) / "run")
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(renewed(text, Path(folder) / "run", played(text, Path(folder))), encoding="utf-8")
