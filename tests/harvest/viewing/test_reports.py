"""Reports on the local page: of a watched run with the conversations of a blessed one, and their pictures."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harvest.viewing.listing import Listing
from harvest.viewing.reports import Reports
from tests.support.command_line import harvest
from tests.support.watched_bot import becomes, bless, watch

PICTURE = f"evidence/ab/ab{'0' * 38}.png"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = bless(watch(tmp_path_factory.mktemp("viewed")), *(f"runs/base-{number}" for number in range(4)))
    becomes(folder, useful=10)
    assert harvest("watch", "run", "audit.yaml", cwd=folder).returncode == 0
    (folder / "outside").mkdir()
    for run in ("runs/base-3", "outside"):
        (folder / run / PICTURE).parent.mkdir(parents=True)
        (folder / run / PICTURE).write_bytes(run.encode())
    return folder


def test_the_report_of_a_watched_run_has_conversations_of_a_blessed_one_and_their_pictures(folder: Path) -> None:
    listing = Listing(folder)
    listing.refresh()
    reports = Reports(listing)
    (key,) = [one.key for one in listing.runs.values() if "watched" in one.path]
    made = asyncio.run(reports.make([key]))
    assert "bot (baseline)" in made.html
    assert reports.picture([key], f"runs/base-3/{PICTURE}") == (b"runs/base-3", "image/png")
    assert reports.picture([key], f"runs/base-2/{PICTURE}") is None
    assert reports.picture([key], f"outside/{PICTURE}") is None, "no run is there"
    assert reports.picture([key], f"runs/base-3/../base-3/{PICTURE}") is None
    assert reports.picture(["unknown"], f"runs/base-3/{PICTURE}") is None
