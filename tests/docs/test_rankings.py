"""The page about ranked lists prints what the program prints of conversations as lists.

Run as a program, it writes the examples of the page again: `python -m tests.docs.test_rankings`.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.support.checkout import DATA, DOCS
from tests.support.command_line import harvest

PAGE = DOCS / "rankings.md"
BLOCK = re.compile(
    r"(harvest score ([^\n']+?) -m '([^\n']+)'\n```\n\n<!-- list -->\n```\n).*?(```\n<!-- end -->)", re.DOTALL
)


def renewed(page: str, run: Path, folder: Path) -> str:
    for name in ("B1", "G1"):
        file = DATA / f"gfrc_m002_{name}.txt"
        done = harvest("data", "import", "--format", "gfrc", file, "--system", name, "--out", name, cwd=folder)
        assert done.returncode == 0, done.stderr

    def listed(block: re.Match[str]) -> str:
        runs = [run if name == "demo-run" else name for name in block[2].split()]
        done = harvest("score", *runs, "-m", block[3], cwd=folder, width=80)
        assert done.returncode == 0, done.stderr
        without_interval = "one trial: nothing to resample"  # said once on the page
        printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines() if without_interval not in line)
        return f"{block[1]}{printed.strip(chr(10))}\n{block[4]}"

    return BLOCK.sub(listed, page)


def test_the_examples_on_the_page_are_those_of_the_demo_and_of_figure_5(demo: Path, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == 2
    assert page == renewed(page, demo, tmp_path), "renew it with: python -m tests.docs.test_rankings"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        harvest("run", "demo", "--out", Path(folder) / "run")
        there = renewed(PAGE.read_text(encoding="utf-8"), Path(folder) / "run", Path(folder))
        PAGE.write_text(there, encoding="utf-8")
