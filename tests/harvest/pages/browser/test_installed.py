"""Finding a browser, with programs that only bear the names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harvest.pages.browser.installed import find_browser
from topics.errors import InputError


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def refuse() -> Path | None:
    raise AssertionError("Playwright is not asked")


def test_the_named_browser_wins_and_playwright_is_not_asked(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "chromium")
    mine = program(tmp_path / "mine")
    environment = {"HARVEST_BROWSER": str(mine), "PATH": str(tmp_path / "bin")}
    found = find_browser(environment, refuse)
    assert (found.path, found.how) == (mine, "named by HARVEST_BROWSER")
    by_name = find_browser({**environment, "HARVEST_BROWSER": "chromium"}, refuse)
    assert by_name.path == tmp_path / "bin" / "chromium"


def test_a_named_browser_that_is_missing_is_refused_rather_than_replaced(tmp_path: Path) -> None:
    program(tmp_path / "chromium")
    (tmp_path / "plain").write_text("no program")
    for wrong in (str(tmp_path / "none"), str(tmp_path / "plain"), str(tmp_path), "no-such-browser"):
        with pytest.raises(InputError, match=r"HARVEST_BROWSER is .* but no such program exists"):
            find_browser({"HARVEST_BROWSER": wrong, "PATH": str(tmp_path)})


def test_playwrights_own_browser_comes_before_the_systems_if_it_is_installed(tmp_path: Path) -> None:
    system = program(tmp_path / "google-chrome")
    own = program(tmp_path / "own" / "chrome")
    environment = {"PATH": str(tmp_path)}
    assert find_browser(environment, lambda: own).path == own
    assert find_browser(environment, lambda: tmp_path / "not" / "installed").path == system
    assert find_browser(environment, lambda: None).how == "google-chrome on the PATH"


def test_chromium_comes_before_other_browsers_of_the_system(tmp_path: Path) -> None:
    for name in ("microsoft-edge", "google-chrome", "chromium"):
        program(tmp_path / name)
    assert find_browser({"PATH": str(tmp_path)}).path.name == "chromium"


def test_applications_of_a_mac_are_found(tmp_path: Path) -> None:
    chrome = program(tmp_path / "Google Chrome.app/Contents/MacOS/Google Chrome")
    found = find_browser({"PATH": str(tmp_path / "empty")}, folders=[tmp_path / "none", tmp_path])
    assert (found.path, found.how) == (chrome, f"in {tmp_path}")


def test_without_a_browser_the_way_to_get_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_browser({"PATH": str(tmp_path)}, folders=[])
    for way in ("playwright install chromium", "apt-get install chromium", "HARVEST_BROWSER"):
        assert way in str(caught.value)


def test_finding_one_does_not_load_playwright() -> None:
    script = (
        "import os, sys; from harvest.pages.browser.installed import find_browser\n"
        "find_browser({'HARVEST_BROWSER': sys.executable})\n"
        "sys.exit('playwright' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ), capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
