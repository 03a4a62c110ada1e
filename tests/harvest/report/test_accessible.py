"""The report is usable by everybody: what axe-core finds in every section, and every way through it by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from harvest.report.document import make_report
from harvest.report.page import page
from recordings.judged.source_layers import keep_sources
from recordings.log.run_folder import read
from tests.support.accessibility import violations
from tests.support.citing_runs import TABLE, draw_addresses, record_cited
from tests.support.exposure_worlds import ExposureWorld
from tests.support.opened_report import launched, opened, press_until, until
from tests.support.reported import full_run
from topics.source_table import parse_source_table

ARMS = (("A", "en"), ("A", "de"), ("B", "en"), ("B", "de"))

SECTIONS = {
    "figures",
    "compared",
    "watched",
    "history",
    "grid",
    "trees",
    "fairness",
    "judged",
    "spread",
    "variance",
    "invalid",
    "conversations",
    "made",
}


in_sizes_and_themes = pytest.mark.parametrize(
    ("width", "theme"),
    [
        (320, "dark"),
        pytest.param(320, "light", marks=pytest.mark.soak),
        pytest.param(1280, "light", marks=pytest.mark.soak),
        pytest.param(1280, "dark", marks=pytest.mark.soak),
    ],
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    run, baseline, history = full_run(folder)
    made = page(make_report([read(run)], beside=folder, baseline=baseline, history=history), "full")
    file = folder / "full.html"
    file.write_text(made.html, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def sources_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a study of sources with two languages, which begins with them."""
    folder = tmp_path_factory.mktemp("sources")
    systems = {f"{name} [{arm}]": {"system": name, "arm": arm, "levels": {"language": arm}} for name, arm in ARMS}
    audit = {"factors": {"language": ["en", "de"]}, "arms": ["en", "de"], "design": {"places": {}}}
    law = ExposureWorld(name="of the report", domains=12, exponent=1.0)
    run = record_cited(folder / "run", draw_addresses(law), systems=systems, topics=6, trials=2, audit=audit)
    keep_sources(run.path, parse_source_table(TABLE, "sources.csv"))
    made = page(make_report([read(run.path)], beside=folder), "sources")
    file = folder / "sources.html"
    file.write_text(made.html, encoding="utf-8")
    for name, text in made.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(report: Path, sources_report: Path) -> Iterator[Browser]:
    with launched() as started:
        yield started


@in_sizes_and_themes
def test_axe_finds_nothing_in_any_section_nor_in_an_open_conversation(
    browser: Browser, report: Path, width: int, theme: str
) -> None:
    with opened(browser, report, width=width, theme=theme, free=True) as watched:
        window = watched.page
        found = window.evaluate("[...document.querySelectorAll('main > section')].map(one => one.id)")
        assert set(found) == SECTIONS
        window.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert violations(window) == []
        window.evaluate("location.hash = '#topic=M001&system=A&trial=1'")
        window.wait_for_selector("#text .said.system")
        window.evaluate("document.querySelectorAll('#text details').forEach(one => { one.open = true; })")
        window.wait_for_selector("#text img")
        assert violations(window, "#text") == []


@in_sizes_and_themes
def test_axe_finds_nothing_in_a_report_on_sources(
    browser: Browser, sources_report: Path, width: int, theme: str
) -> None:
    with opened(browser, sources_report, width=width, theme=theme, free=True) as watched:
        window = watched.page
        assert window.evaluate("[...document.querySelectorAll('main > section')].map(one => one.id)")[:2] == [
            "sources",
            "levels",
        ]
        window.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert violations(window) == []
        assert window.evaluate("document.documentElement.scrollWidth") <= width


def test_the_way_from_the_beginning_to_a_branch_and_its_conversations_needs_only_keys(
    browser: Browser, report: Path
) -> None:
    with opened(browser, report, width=320, theme="dark") as watched:
        window = watched.page
        window.keyboard.press("Tab")
        assert watched.focused() == "Skip what was found"
        window.keyboard.press("Enter")
        assert window.evaluate("document.activeElement.id") == "main"
        press_until(watched, "Tab", r"^Every turn of B")
        window.keyboard.press("Enter")
        press_until(watched, "Tab", r"^read \d")
        number = int(watched.focused().removeprefix("read "))
        window.keyboard.press("Tab")
        assert window.evaluate("document.activeElement.tagName") == "SUMMARY"
        for wanted in (False, True):
            window.keyboard.press("Enter")
            assert window.evaluate("document.activeElement.parentElement.open") is wanted
        window.keyboard.press("Shift+Tab")
        window.keyboard.press("Enter")
        until(window, f"document.querySelectorAll('#list a').length === {number}")
        window.keyboard.press("Enter")
        window.wait_for_selector("#text .said.system")
        press_until(watched, "Tab", "^screenshot$")
        window.keyboard.press("Enter")
        window.wait_for_selector("#text img.shot")
        until(window, "document.querySelector('#text img.shot').naturalWidth === 1")
        window.keyboard.press("Escape")
        assert window.locator("#reader").is_hidden()


def test_filters_and_the_map_of_scores_are_used_by_keyboard(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        window = watched.page
        press_until(watched, "Tab", r"^M002, Fluency: ")
        window.keyboard.press("Enter")
        until(window, "location.hash === '#system=A&topic=M002'")
        press_until(watched, "Shift+Tab", "^allA")  # of the filter of systems, whose words are its options
        while window.evaluate("document.activeElement.name") != "system":
            window.keyboard.press("Shift+Tab")
        window.keyboard.press("B")
        until(window, "location.hash === '#system=B&topic=M002'")
        assert window.locator("#list a").count() == 3
