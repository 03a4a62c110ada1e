"""Our six top-level names are ours alone, in this very environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harvest.cli.installation import PACKAGES, foreign_owners, owners_by_package


def test_no_other_installed_distribution_owns_one_of_our_names() -> None:
    assert foreign_owners(owners_by_package()) == []


def test_a_colliding_distribution_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "__init__.py").write_text("")
    info = tmp_path / "other_topics-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-topics\nVersion: 1.0\n")
    (info / "RECORD").write_text("topics/__init__.py,,\nother_topics-1.0.dist-info/METADATA,,\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    (sentence,) = foreign_owners(owners_by_package())
    assert "'topics' is also installed by other-topics" in sentence


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_describes_itself_and_exports_names(package: str) -> None:
    module = __import__(package)
    assert module.__doc__
    assert list(module.__all__) == sorted(module.__all__)
