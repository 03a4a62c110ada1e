"""The page about planning prints what the program prints.

Run as a program, it writes the example of the page again: `python -m tests.docs.test_planning`.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from pathlib import Path

import pytest

from harvest.cli.plan import command
from harvest.studies.plan.pilot import ICC, INTERACTION, MEAN
from tests.support.checkout import DOCS
from tests.support.command_line import harvest

PAGE = DOCS / "planning.md"
BLOCK = re.compile(r"(<!-- plan: (.*?) -->\n```\n).*?(```\n<!-- end -->)", re.DOTALL)


def renewed(page: str, run: Path, only: str = "") -> str:
    """The page with its examples made anew; only: those whose command has these words in it."""

    def planned(block: re.Match[str]) -> str:
        if only not in block[2]:
            return block[0]
        done = harvest("plan", *(run if word == "RUN" else word for word in shlex.split(block[2])), width=80)
        assert done.returncode == 0, done.stderr
        return block[1] + "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines()) + block[3]

    return BLOCK.sub(planned, page)


@pytest.mark.parametrize(
    "words",
    [  # the last ones take as long as a hundred other tests
        "--detect 5",
        pytest.param("--measure %recovery", marks=pytest.mark.soak),
        pytest.param("--node", marks=pytest.mark.soak),
        pytest.param("--measure CVaR(GF)", marks=pytest.mark.soak),
    ],
)
def test_an_example_on_the_page_is_that_of_the_demo(demo: Path, words: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    examples = [command for _, command, _ in BLOCK.findall(page)]
    assert (len(examples), sum(words in command for command in examples)) == (4, 1)
    assert page == renewed(page, demo, words), "renew it with: python -m tests.docs.test_planning"


def test_assumptions_and_options_for_stating_them_are_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"else {100 * MEAN:g}%" in page
    assert f"else {100 * ICC:g}% of the variance" in page
    assert INTERACTION == 0.25
    for option in (name for one in command.params for name in one.opts if name.startswith("--")):
        assert option in page or option in ("--level", "--seed"), option


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        harvest("run", "demo", "--out", Path(folder) / "run")
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), Path(folder) / "run"), encoding="utf-8")
