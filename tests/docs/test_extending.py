"""docs/extending.md: every file that a recipe names is there, and every recipe leads into a place that still works."""

from __future__ import annotations

import re

from tests.support.checkout import DOCS, ROOT

PAGE = (DOCS / "extending.md").read_text(encoding="utf-8")
FILE = re.compile(r"`((?:\w[\w-]*/)+[\w.-]+\.(?:py|yaml|csv))`")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
REGISTRIES = {
    "scoring/library.py": "OF_CONVERSATIONS",
    "scoring/settings.py": "class Settings",
    "harvest/drivers/registry.py": "DRIVERS",
    "protocols/rules/registry.py": "KINDS_OF_RULES",
    "simulators/registry.py": "SIMULATORS",
    "simulators/stopping/library.py": "StopOption",
    "harvest/pages/browser/busy_signs.py": "SIGNS",
    "protocols/labels.py": "Label",
    "recordings/formats/importers.py": "IMPORTERS",
    "harvest/cli/commands.py": "COMMANDS",
    "harvest/cli/notifying.py": "_FILES",
    "scoring/swan/rules/registry.py": "RULES",
    "harvest/studies/variance/rows.py": "def variance_rows",
    "harvest/tables/study_form.py": "FORMS",
}


def test_every_file_that_is_named_exists() -> None:
    named = FILE.findall(PAGE)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_edit_is_in_a_file_that_lists_existing_things() -> None:
    rows = [line.split("|") for line in PAGE.splitlines() if line.startswith("| a")]
    edited = {name for row in rows for name in FILE.findall(row[3])}
    assert edited == set(REGISTRIES)
    for name, table in REGISTRIES.items():
        assert re.search(rf"^{table}\b", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE), name


def test_every_heading_is_a_change_in_the_table_or_its_introduction() -> None:
    changes = {line.split("|")[1].strip() for line in PAGE.splitlines() if line.startswith("| a")}
    for heading in HEADING.findall(PAGE):
        assert heading == "Before you begin" or any(one.startswith(heading.lower()) for one in changes), heading
