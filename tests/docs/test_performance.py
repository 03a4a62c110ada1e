"""docs/performance.md says what its writers write: where bounds come from, and whose memory is meant."""

from __future__ import annotations

import re

from tests.support.inspect_page import note
from tests.support.performance_page import BOUNDS, PAGE


def test_the_page_says_where_bounds_come_from() -> None:
    assert f"\n\n{BOUNDS}\n\n" in PAGE.read_text(encoding="utf-8")


def test_the_page_says_whose_memory_it_measures() -> None:
    found = re.findall(r"([0-9.]+) ms beside ([0-9.]+) ms: .* at ([0-9]+) MB", PAGE.read_text(encoding="utf-8"))
    assert len(found) == 2
    for mine, other, peak in found:
        assert f"Inspect AI peaks at {peak} MB" in note(float(mine), float(other), float(peak))
        assert f"Inspect AI peaks at {peak} MB |" in PAGE.read_text(encoding="utf-8")
