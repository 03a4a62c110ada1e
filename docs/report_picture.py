"""Draws `docs/report.png` and `docs/report-dark.png`: the first screen of the demo's report, for the README.

python docs/report_picture.py           plays the demo first
python docs/report_picture.py RUN       takes a run of it
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from harvest.pages.browser.installed import find_browser
from harvest.pages.browser.process import find_playwright_browser

_WIDE, _HIGH = 1040, 620


def draw(run: Path, folder: Path) -> None:
    """Both pictures of the report of `run`, into `folder`."""
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "report.html"
        command = [sys.executable, "-m", "harvest", "report", run.name, "--out", str(page)]
        subprocess.run(command, check=True, cwd=run.parent)
        with sync_playwright() as started:
            browser = started.chromium.launch(
                executable_path=find_browser(os.environ, find_playwright_browser).path, args=["--no-sandbox"]
            )
            for name, theme in (("report", "light"), ("report-dark", "dark")):
                window = browser.new_page(viewport={"width": _WIDE, "height": _HIGH})
                window.emulate_media(color_scheme="dark" if theme == "dark" else "light")
                window.goto(page.as_uri())
                window.screenshot(path=folder / f"{name}.png")
            browser.close()


if __name__ == "__main__":
    here = Path(__file__).parent
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]).resolve(), here)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "demo-run"
            play = [sys.executable, "-m", "harvest", "run", "demo", "--out", str(run)]
            subprocess.run(play, check=True, stdout=subprocess.DEVNULL)
            draw(run, here)
