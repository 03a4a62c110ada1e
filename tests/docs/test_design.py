"""docs/design.md names what is there: every package, and no module that has gone."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^\| (package|step) \|.*\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)
PATH = re.compile(r"`([a-z_]+(?:/[a-z_]*)+(?:\.py)?)`")
EVENTS = "on disk before the next step"


def tables() -> list[list[list[str]]]:
    """The cells of every row of the tables about packages and steps."""
    found = TABLE.finditer(PAGE)
    rows = [table[2].splitlines() for table in found if EVENTS not in table[0]]
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in table] for table in rows]


def there(name: str, inside: Path) -> bool:
    path = inside / name
    return path.is_dir() if name.endswith("/") else path.is_file() or path.with_suffix(".py").is_file()


def test_every_path_in_a_table_and_next_to_it_exists() -> None:
    paths = PATH.findall(PAGE)
    assert len(paths) > 20
    gone = [path for path in paths if not any(there(path, ROOT / part) for part in ("", "harvest", "scoring"))]
    assert gone == []


def test_every_package_is_in_a_table_and_every_step_names_a_path() -> None:
    top, inside, studies, pages, recordings, scoring, steps = tables()
    packages = [path.parent.name for path in ROOT.glob("*/__init__.py")]
    assert {row[0].strip("`/") for row in top} == set(packages)
    for rows, package in (
        (inside, "harvest"),
        (studies, "harvest/studies"),
        (pages, "harvest/pages"),
        (recordings, "recordings"),
        (scoring, "scoring"),
    ):
        packages = [path.parent.name for path in (ROOT / package).glob("*/__init__.py")]
        named = {name for row in rows for name in re.findall(r"`(?:\w+/)?(\w+)/`", row[0])}
        assert named == set(packages)
    assert [row for row in steps if not PATH.search(row[1])] == []


def test_no_line_of_prose_is_longer_than_120_characters() -> None:
    assert [line for line in PAGE.splitlines() if len(line) > 120 and not line.startswith("|")] == []
