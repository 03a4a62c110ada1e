"""Settings for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: machines are noisy, and speed is measured by benchmarks. Where CI is set, the same examples each time: a
# new counterexample is for the people who explore, not for somebody else's change.
settings.register_profile("harvest", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("harvest")

LONGEST = (
    "harvest/pages/test_pages.py",
    "harvest/pages/test_replies.py",
    "harvest/pages/test_fairweb.py",
    "harvest/parrot/test_coverage.py",
    "harvest/playing/test_kills.py",
    "simulators/test_concurrent.py",
    "harvest/pages/test_kills.py",
    "harvest/pages/test_endurance.py",
)
"""Files that take a minute or more: they go first, so that no process is left with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    place = {tests / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(LONGEST)))
