"""docs/papers.md: it has every numbered thing of the three papers, and what it says is printed is printed."""

from __future__ import annotations

import importlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from harvest.cli.commands import COMMANDS
from scoring.swan.schema import load_schema
from tests.support.checkout import DATA, DOCS, ROOT
from tests.support.command_line import harvest

TEXT = (DOCS / "papers.md").read_text(encoding="utf-8")
NUMBERED = {
    "GFRC": {"Eq.": 10, "Table": 2, "Figure": 5, "note": 14},
    "SWAN": {"Eq.": 3, "Table": 1, "Figure": 0, "note": 18},
    "STC-3": {"Eq.": 13, "Table": 0, "Figure": 5, "note": 8},
}
"""How many equations, tables, figures and notes each paper numbers, from 1."""
SECTIONS = {
    "GFRC": "1 2.1 2.2 2.3 3.1 3.2 4.1 4.2 5 6 6.1 6.2 7",
    "SWAN": "1 2 3 4 5 " + " ".join(f"4.{number}" for number in range(1, 21)),
    "STC-3": "1 2.1 2.2 2.3 2.4 3.1.1 3.1.2 3.2.1 3.2.2 3.2.3 3.2.4 4",
}
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)%?(?![\w])")
PACKAGES = ("scoring", "topics", "protocols")


@dataclass(frozen=True)
class Entry:
    """A row of the tables of the page."""

    paper: str
    place: str
    says: str
    here: str
    prints: str

    def spans(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.here)

    def shown_by(self) -> list[str]:
        """The commands and the Python expressions of the row."""
        return [span for span in self.spans() if re.match(r"harvest .+ \S*[^a-z\s]", span) or is_expression(span)]


def is_expression(span: str) -> bool:
    return re.search(rf"\b(?:{'|'.join(PACKAGES)})\.[a-z]\w*\.\w", span) is not None


def entries() -> list[Entry]:
    found = []
    sections = r"^## (GFRC|SWAN|STC-3|Structured answers)\n(.*?)(?=^## |\Z)"
    for paper, section in re.findall(sections, TEXT, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^\| §.*$", section, re.MULTILINE):
            place, says, here, prints = (cell.strip() for cell in line[1:-1].split("|"))
            found.append(Entry(paper, place, says, here, prints))
    return found


ENTRIES = entries()
SHOWN = [entry for entry in ENTRIES if entry.shown_by()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands that the page begins with were run."""
    place = tmp_path_factory.mktemp("papers")
    (place / "tests").mkdir()
    (place / "tests" / "data").symlink_to(DATA)
    (place / "runs").mkdir()
    audit = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert audit is not None
    (place / "pilot.yaml").write_text(audit[1], encoding="utf-8")
    commands = re.findall(r"^harvest .*$", TEXT, re.MULTILINE)
    assert len(commands) > 4
    for command in commands:
        run(command, place)
    return place


def run(command: str, place: Path) -> str:
    done = harvest(*shlex.split(command)[1:], cwd=place, width=120)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout + done.stderr


def evaluate(expression: str) -> str:
    for module in re.findall(rf"\b((?:{'|'.join(PACKAGES)})(?:\.[a-z_]+)+)\.\w+", expression):
        importlib.import_module(module)
    return str(eval(expression, {name: importlib.import_module(name) for name in PACKAGES}))


def promised(prints: str) -> tuple[list[str], list[str]]:
    """The numbers and the words that a cell says are printed; what is in brackets is not."""
    cell = re.sub(r"\((?=not)[^()]*\)", "", prints)
    return NUMBER.findall(re.sub(r"`[^`]*`", "", cell)), re.findall(r"`([^`]+)`", cell)


def is_printed(number: str, output: str) -> bool:
    """Whether the output has this number, rounded to as many digits; a whole number must be the same. A number with a
    point is not found in counts, which have none."""
    share, wanted = number.endswith("%"), float(number.rstrip("%"))
    digits = len(number.rstrip("%").partition(".")[2])
    rounding = 0.5 * 10**-digits + 1e-12 if digits else 0
    alike = (one for one in NUMBER.findall(output) if one.endswith("%") == share and ("." in one or not digits))
    found = (float(one.rstrip("%")) for one in alike)
    return any(abs(one - wanted) <= rounding for one in found)


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: f"{entry.paper} {entry.place}")
def test_what_a_row_claims_to_be_printed_is_printed(entry: Entry, folder: Path) -> None:
    output = "\n".join(run(one, folder) if one.startswith("harvest ") else evaluate(one) for one in entry.shown_by())
    numbers, words = promised(entry.prints)
    assert numbers or words, "a command whose output nobody looks at"
    assert [number for number in numbers if not is_printed(number, output)] == [], output
    assert [word for word in words if word not in output] == [], output


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_item_and_section_of_a_paper_has_a_row(paper: str) -> None:
    places = " ".join(f"{entry.place}," for entry in ENTRIES if entry.paper == paper)
    for kind, count in NUMBERED[paper].items():
        named = re.findall(rf"{re.escape(kind)}s? (\d+(?:, \d+)*)", places)
        assert {int(one) for some in named for one in some.split(", ")} == set(range(1, count + 1)), kind
    sections = SECTIONS[paper].split()
    assert {place.split()[0].rstrip(",") for place in re.findall(r"§(\S+)", places)} == set(sections)


def test_every_criterion_of_table_1_has_a_row_at_its_section() -> None:
    said = {entry.place.split()[0].rstrip(","): entry.says for entry in ENTRIES if entry.paper == "SWAN"}
    for criterion in load_schema("sakai-2023"):
        place = f"§4.{criterion.number}" if criterion.number else "§4"
        assert criterion.name in said[place], place


def _is_command(words: list[str]) -> bool:
    entry = COMMANDS.get(words[0])
    return entry is not None and (bool(entry.module) or " ".join(words[:2]) in COMMANDS)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.paper} {entry.place}")
def test_a_row_shows_where_an_item_is_or_why_it_is_missing(entry: Entry) -> None:
    files = [span for span in entry.spans() if span.startswith("tests/")]
    assert entry.shown_by() or files or "](" in entry.here or re.search(r"\bNo: \w", entry.here)
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert [span for span in entry.spans() if span.startswith("harvest ") and not _is_command(span.split()[1:])] == []


@pytest.mark.parametrize(
    ("number", "output", "found"),
    [
        (".0143", "R 0.0143", True),
        (".0143", "R 0.01434999", True),
        (".0143", "R 0.0144", False),
        (".0143", "R -0.0143", False),
        ("64.3%", "64.3% [38.8, 83.7]", True),
        ("64.3%", "64.3 of them", False),
        ("35", '"position": 35,', True),
        ("35", "35.2 or 135", False),
        ("1.0000", "R 1.0000 n=2", True),
        ("1.0000", "R 0.2000 n=1", False),
    ],
)
def test_a_different_number_is_not_the_printed_one(number: str, output: str, found: bool) -> None:
    assert is_printed(number, output) == found


def test_numbers_that_the_page_calls_unreached_are_not_searched_for() -> None:
    assert promised(".5784 (not .5785, a mean), here 1, `GF(RATINGS, by=NMD)`") == (
        [".5784", "1"],
        ["GF(RATINGS, by=NMD)"],
    )
