"""docs/breakdown-study.md: every figure on it is what the program prints of the annotations in tests/data/dbdc3_en.

Run as a program, it writes the examples of the page again: `python -m tests.docs.test_breakdown_study`.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from scoring.annotations.breakdown_files import BreakdownMaterial, Counts, read_breakdown_files
from scoring.inference.dependence import dependence
from scoring.measures.breakdown import likeliest_labels
from scoring.statistics.exchange import holm_correction
from tests.support.checkout import DATA, DOCS
from tests.support.command_line import harvest
from topics.identity import generator

PAGE = DOCS / "breakdown-study.md"
BLOCKS = re.compile(r"(```console\n\$ harvest ([^\n]+)\n)(.*?)(```\n)", re.DOTALL)


def printed(command: str, folder: Path) -> str:
    """What a command of the page prints in a folder in which DBDC3 lies as the page has it."""
    words, _, rest = command.partition(" | head -n ")
    arguments = [
        str(file.relative_to(folder))
        for word in shlex.split(words)
        for file in sorted(folder.glob(word))
        if "*" in word
    ]
    given = [word for word in shlex.split(words) if "*" not in word]
    at = next((place for place, word in enumerate(shlex.split(words)) if "*" in word), len(given))
    done = harvest(*given[:at], *arguments, *given[at:], cwd=folder, width=80)
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in (done.stderr + done.stdout).splitlines()]
    return "".join(f"{line}\n" for line in lines[: int(rest) if rest else None])


def renewed(page: str, folder: Path, without: str = "nothing") -> str:
    """The page with its examples made anew; without: but for those of this command."""
    (folder / "dbdc3").symlink_to(DATA / "dbdc3_en")

    def shown(block: re.Match[str]) -> str:
        return block[0] if block[2].startswith(without) else block[1] + printed(block[2], folder) + block[4]

    return BLOCKS.sub(shown, page)


@cache
def material(counts: Counts) -> BreakdownMaterial:
    """Read once for all tests of a labelling: the files are large, and nobody writes to what is read."""
    return read_breakdown_files([DATA / "dbdc3_en"], counts=counts)


def broken_turns(counts: Counts = "workshop", failures: Collection[int] = (2,)) -> dict[str, dict[str, list[bool]]]:
    """By system and dialogue, which turns are breakdowns: without a recording, a tree or a measure."""
    found: dict[str, dict[str, list[bool]]] = {}
    for turn in material(counts).gold:
        broken = int(likeliest_labels([count / sum(turn.counts) for count in turn.counts])) in failures
        found.setdefault(turn.system, {}).setdefault(turn.dialogue, []).append(broken)
    return found


def fine(dialogues: Mapping[str, Sequence[bool]]) -> npt.NDArray[np.float64]:
    """The share of turns without breakdown of each dialogue."""
    return np.array([1 - sum(turns) / len(turns) for turns in dialogues.values()])


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("without", ["compare", pytest.param("nothing", marks=pytest.mark.soak)])
def test_every_example_prints_what_the_page_shows(page: str, tmp_path: Path, without: str) -> None:
    """What is compared takes longest; the tests below hold its figures to others' ways each time."""
    assert len(BLOCKS.findall(page)) == 5
    assert renewed(page, tmp_path, without) == page, "renew it with: python -m tests.docs.test_breakdown_study"


def test_the_shares_on_the_page_are_those_of_the_annotations(page: str) -> None:
    labels = broken_turns()
    after: dict[tuple[str, bool], list[bool]] = {}
    for system, dialogues in labels.items():
        for turns in dialogues.values():
            for before, now in pairwise(turns):
                after.setdefault((system, before), []).append(now)
    for system in labels:
        x, o = after[system, True], after[system, False]
        assert f"fails next: {sum(x) / len(x):.3f} after x, {sum(o) / len(o):.3f} after o" in " ".join(page.split())
        assert f"{100 * fine(labels[system]).mean():.1f}%" in page


def test_the_comparison_is_welchs_for_unpaired_dialogues(page: str) -> None:
    from scipy import stats

    shares = {system: fine(dialogues) for system, dialogues in broken_turns().items()}
    found = {}
    for one, other in combinations(shares, 2):
        test = stats.ttest_ind(shares[one], shares[other], equal_var=False)
        interval = test.confidence_interval(0.95)
        found[one, other] = test.pvalue
        row = re.search(rf"{one} − {other} +\S+ \[(\S+), (\S+)\]", page)
        assert row is not None
        assert [float(end) for end in row.groups()] == pytest.approx([100 * interval.low, 100 * interval.high], abs=0.1)
    for pair, p in zip(found, holm_correction(list(found.values())), strict=True):
        row = re.search(rf"{pair[0]} − {pair[1]} .*\]\s+(\S+)", page)
        assert row is not None
        assert row[1] == "<.001" if p < 0.001 else float(row[1]) == pytest.approx(p, abs=0.001)


@pytest.mark.parametrize(
    ("row", "counts", "failures"),
    [
        ("as above", "workshop", {2}),
        pytest.param("`--breakdown PB+B`", "workshop", {1, 2}, marks=pytest.mark.soak),
        pytest.param("`--counts revised`", "revised", {2}, marks=pytest.mark.soak),
    ],
)
def test_the_table_of_other_labels_is_what_those_labels_give(
    page: str, row: str, counts: Counts, failures: set[int]
) -> None:
    told = re.search(rf"^\| {re.escape(row)} \| (.*) \|$", page, re.MULTILINE)
    assert told is not None
    given = broken_turns(counts, failures)
    for cell, (system, dialogues) in zip(told[1].split(" | "), given.items(), strict=True):
        table = np.array(list(dialogues.values()), dtype=int)
        found = dependence(table, np.zeros(len(table), dtype=int), generator(1, system))
        assert float(cell.rstrip("*?")) == pytest.approx(found.excess, abs=0.007)
        if cell.endswith("?"):
            assert 0.03 < found.p < 0.08
        else:
            assert cell.endswith("*") == (found.p <= 0.05), (system, found.p)


def test_every_figure_in_the_text_has_an_example(page: str) -> None:
    """What the text says in percent or with a sign stands in an example, too; the page is wrapped."""
    examples = "".join(block[2] for block in BLOCKS.findall(page))
    said = re.findall(r"(?<![\w.])[+-]?\d+\.\d%?", BLOCKS.sub("", page.split("## How often it errs")[0]))
    known = set(re.findall(r"[+-]?\d+\.\d+%?", examples))
    assert [figure for figure in said if figure not in known and figure.lstrip("+-") not in known] == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), Path(place)), encoding="utf-8")
