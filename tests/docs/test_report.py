"""The README and docs/report.md show the first screen of the demo's report, with what it says today."""

from __future__ import annotations

import html
import re
import struct
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.command_line import harvest


def test_the_picture_in_the_readme_says_what_the_report_of_the_demo_says(demo: Path) -> None:
    page = (demo / "report.html").read_text(encoding="utf-8")
    said = re.search(r'<h1 class="found">(.*?)</h1>', page)
    assert said is not None
    shown = re.search(r'<img alt="(.*?)" src="docs/report\.png">', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown is not None
    sentence = html.unescape(shown[1]).removeprefix("The first screen of the demo's report: ")
    assert sentence == html.unescape(re.sub("<[^>]*>", "", said[1])), "draw it again: python docs/report_picture.py"


@pytest.mark.parametrize("name", ["report.png", "report-dark.png"])
def test_the_pictures_are_small_and_of_one_size(name: str) -> None:
    data = (ROOT / "docs" / name).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1040, 620)
    assert len(data) < 150_000


def test_every_option_of_the_command_is_on_the_page() -> None:
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    options = re.findall(r"--[a-z]+", harvest("report", "--help").stdout)
    assert {option for option in options if option != "--help"} <= set(re.findall(r"--[a-z]+", page))
