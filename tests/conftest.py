"""Settings for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# No deadline: machines are noisy, and speed is measured by benchmarks. Where CI is set, the same examples each time: a
# new counterexample is for the people who explore, not for somebody else's change.
settings.register_profile("harvest", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("harvest")

LONGEST = (
    "test_browser_pages",
    "test_browser_replies",
    "test_browser_fairweb",
    "test_parrot_coverage",
    "test_kills",
    "test_simulators_concurrent",
    "test_browser_kills",
    "test_browser_endurance",
)
"""Files that take a minute or more: they go first, so that no process is left with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
