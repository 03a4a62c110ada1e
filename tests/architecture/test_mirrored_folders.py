"""Tests are found where what they test is: every folder of tests has the path of a package, or a purpose of its own."""

from __future__ import annotations

from tests.support.checkout import ROOT

OWN = {"architecture", "benchmarks", "data", "docs", "servers", "support"}
"""Folders of `tests/` that docs/design.md gives a purpose."""
REFERENCES = ROOT / "tests" / "scoring" / "references"
"""Other people's programs, which several packages are compared with."""


def test_a_folder_of_tests_has_the_path_of_a_package() -> None:
    folders = {file.parent for file in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {folder.relative_to(ROOT / "tests") for folder in folders if folder != REFERENCES}
    named = {path for path in mirrored if path.parts and path.parts[0] not in OWN}
    assert len(named) > 30
    assert sorted(str(path) for path in named if not (ROOT / path / "__init__.py").is_file()) == []


def test_every_folder_of_tests_is_a_package_so_that_two_files_may_share_a_name() -> None:
    folders = {file.parent for file in (ROOT / "tests").rglob("test_*.py")}
    assert sorted(str(folder) for folder in folders if not (folder / "__init__.py").is_file()) == []
