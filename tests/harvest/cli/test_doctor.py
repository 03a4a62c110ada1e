"""What `harvest doctor` says of the browser: which one it is, or how to get one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

from tests.support.browsing import settings
from tests.support.command_line import harvest


def finding(**environment: str) -> tuple[int, dict[str, str]]:
    """The exit code, and what is said of the browser."""
    with mock.patch.dict(os.environ, environment):
        done = harvest("doctor", "--json")
    (found,) = (one for one in json.loads(done.stdout)["findings"] if one["what"] == "browser")
    return done.returncode, found


def test_the_browser_that_is_used_is_named_with_its_version() -> None:
    code, found = finding(HARVEST_BROWSER=str(settings().executable))
    assert (code, found["state"]) == (0, "ok")
    version, _, rest = found["detail"].partition(" at ")
    assert version.replace(".", "").isdigit()
    assert rest == f"{settings().executable} (named by HARVEST_BROWSER)"


def test_a_missing_browser_is_not_a_fault_and_the_way_to_get_one_is_printed(tmp_path: Path) -> None:
    code, found = finding(HARVEST_BROWSER="", PATH=str(tmp_path), PLAYWRIGHT_BROWSERS_PATH=str(tmp_path))
    assert (code, found["state"]) == (0, "note")
    assert "only the browser driver needs one" in found["detail"]
    assert "playwright install chromium" in found["detail"]


def test_a_requested_browser_that_is_missing_is_a_fault(tmp_path: Path) -> None:
    code, found = finding(HARVEST_BROWSER=str(tmp_path / "chrome"))
    assert (code, found["state"]) == (2, "fault")
    assert str(tmp_path / "chrome") in found["detail"]


def test_a_program_that_is_not_a_browser_does_not_block_doctor(tmp_path: Path) -> None:
    program = tmp_path / "chrome"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    code, found = finding(HARVEST_BROWSER=str(program))
    assert (code, found["state"]) == (0, "note")
    assert "does not start" in found["detail"]


def test_no_line_is_wider_than_the_terminal() -> None:
    lines = harvest("doctor", width=80).stdout.splitlines()
    assert max(len(line) for line in lines if "browser" not in line) <= 80  # whose path is left whole
    shipped = next(at for at, line in enumerate(lines) if line.startswith("   ok  shipped files: "))
    assert lines[shipped + 1].startswith(" " * 7)
