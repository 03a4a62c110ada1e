"""The page about recordings: everything in it that the program prints, it prints."""

from __future__ import annotations

import doctest

import pytest

from tests.support.checkout import ROOT


def test_the_page_shows_what_the_program_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # the page names the sample by its path in the repository
    failed, tried = doctest.testfile(str(ROOT / "docs" / "recordings.md"), module_relative=False, encoding="utf-8")
    assert (failed, tried > 10) == (0, True)
