"""docs/swan.md: its table is the schema file's, its examples are what the program prints, and it names every part."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import get_args

import pytest

from harvest.judging.sheets.annotation_sheet import COLUMNS
from harvest.judging.sheets.sheet_file import LARGEST, LONGEST_CELL
from scoring.swan.acts import ACTS
from scoring.swan.rules.registry import RULES, parse_rule
from scoring.swan.schema import SAMPLINGS, Criterion, Level, load_schema
from tests.support.checkout import DOCS

PAGE = DOCS / "swan.md"
TEXT = PAGE.read_text(encoding="utf-8")
JUDGING = (DOCS / "judging.md").read_text(encoding="utf-8")


def row(one: Criterion) -> str:
    """One line of the table of criteria."""
    looks = f"{one.level} ({', '.join(one.types)})" if one.types else one.level
    rules = ", ".join(f"`{rule}`" for rule in one.rules)
    return (
        f"| {one.number} | {one.name} | {one.question} | {looks} | {one.sampling} | {', '.join(one.judges)} | {rules} |"
    )


def test_the_table_of_criteria_is_the_schema_file() -> None:
    table = [line for line in TEXT.splitlines() if line.startswith("| ") and line[2:3].isdigit()]
    assert table == [row(one) for one in load_schema()]


def test_the_schema_on_the_page_about_judging_asks_one_question_of_each_answer(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```yaml\n(format: harvest-schema/1\n.*?)^```$", JUDGING, re.MULTILINE | re.DOTALL)
    (tmp_path / "helpful.yaml").write_text(shown, encoding="utf-8")
    (one,) = load_schema(str(tmp_path / "helpful.yaml"))
    assert (one.name, one.level, one.speaker) == ("Helpful", "turn", "system")
    assert {"nugget", "turn", "dialogue", "set"} == set(get_args(Level))
    assert "# or nugget, dialogue, set\n" in shown


def test_the_examples_are_what_the_program_prints() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 5) == (0, True)


@pytest.mark.parametrize("name", [*SAMPLINGS, *ACTS])
def test_every_sampling_and_every_act_is_named(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_on_the_page(name: str) -> None:
    assert f"| `{parse_rule(name)}` |" in TEXT


@pytest.mark.parametrize(
    "key", ["number", "name", "question", "level", "nuggets", "sampling", "scorers", "weight", "weighting"]
)
def test_every_key_of_a_criterion_is_named(key: str) -> None:
    assert f"`{key}`" in TEXT


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_of_a_sheet_is_named(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_the_sheet_sizes_on_the_page_are_those_of_the_program() -> None:
    assert f"up to {LARGEST // 2**20} MiB" in TEXT
    assert f"after {LONGEST_CELL:,} characters" in " ".join(TEXT.split())
