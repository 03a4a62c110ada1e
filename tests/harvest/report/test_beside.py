"""Two systems on one topic, read beside each other: from a difference to the two conversations that show it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from harvest.report.document import Report, make_report
from harvest.report.page import page
from recordings.log.run_folder import read
from tests.support.accessibility import violations
from tests.support.kept_cells import keep_cells
from tests.support.opened_report import launched, opened, press_until, until
from tests.support.reported import copied_run, small_run


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("beside")
    made = make_report([read(copied_run(folder))], beside=folder)
    file = folder / "beside.html"
    file.write_text(page(made, "beside").html, encoding="utf-8")
    return made, file


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 120 conversations, of which the list shows 100 at first."""
    folder = tmp_path_factory.mktemp("long")
    file = folder / "long.html"
    file.write_text(page(make_report([read(small_run(folder, trials=10))], beside=folder), "long").html, "utf-8")
    return file


@pytest.fixture(scope="module")
def browser(report: tuple[Report, Path], long: Path) -> Iterator[Browser]:
    """report, long: are made before, because no run can be played where a browser of this kind is open."""
    with launched() as started:
        yield started


def trials(report: Report, topic: str) -> dict[tuple[str, int], str]:
    """The labels of each system and trial on a topic."""
    index = report.document["index"]
    columns = zip(index["system"], index["topic"], index["trial"], index["labels"], strict=True)
    return {
        (index["systems"][system], trial): labels
        for system, at, trial, labels in columns
        if index["topics"][at] == topic
    }


def test_the_contributions_of_the_topics_sum_to_the_difference(report: tuple[Report, Path]) -> None:
    (section,) = [one for one in report[0].document["sections"] if one["id"] == "compared"]
    (bars,) = [block["topics"] for block in section["blocks"] if "topics" in block]
    together = float(re.findall(r"[+-][\d.]+", bars["title"])[-1])
    assert len(bars["rows"]) == 6
    assert sum(float(row["said"]) for row in bars["rows"]) == pytest.approx(together, abs=0.05 + 6 * 0.05)
    places = [row["place"] for row in bars["rows"]]
    assert places == sorted(places, reverse=True)
    assert max(map(abs, places)) == 1


@pytest.mark.parametrize(("width", "theme"), keep_cells([(1280, "light"), (320, "dark"), (320, "light")], 1))
def test_a_bar_of_a_topic_opens_two_conversations_that_differ_by_keyboard_alone(
    browser: Browser, report: tuple[Report, Path], width: int, theme: str
) -> None:
    made, file = report
    with opened(browser, file, width=width, theme=theme, free=True) as watched:
        window = watched.page
        press_until(watched, "Tab", r"^[MRY]00\d: [+-]")
        topic, bar = watched.focused()[:4], watched.focused()
        window.keyboard.press("Enter")
        window.wait_for_selector("#text .pair .said.system")
        title = window.locator("#reader-title").inner_text()
        read_now = re.fullmatch(rf"([AB]) · {topic} · trial (\d) beside ([AB]) · trial \2", title)
        assert read_now, title
        first, number, second = read_now[1], int(read_now[2]), read_now[3]
        labels = trials(made, topic)
        unlike = [
            one for (system, one), own in sorted(labels.items()) if system == first and labels[second, one] != own
        ]
        assert number == unlike[0], "the first trial that both answered differently"
        at = next(
            place for place, pair in enumerate(zip(labels[first, number], labels[second, number])) if len({*pair}) == 2
        )
        parted = window.locator("#text .parting", has_text="Here they part.")
        assert parted.count() == 2
        for place, system in enumerate((first, second)):  # on a narrow page one stands below the other
            who = parted.nth(place).locator("xpath=..").locator(".who").inner_text()
            assert who.startswith(f"{system} · S{at + 1}")
        assert violations(window, "#reader") == []
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
        window.select_option("#beside", "")
        until(window, "document.querySelectorAll('#text .pair').length === 0")
        assert window.locator("#reader-title").inner_text() == f"{first} · {topic} · trial {number}"
        window.keyboard.press("Escape")
        until(window, "document.getElementById('reader').hidden")
        assert watched.focused() == bar, "the focus is back where it came from"


def test_two_conversations_opened_from_elsewhere_are_next_to_a_list_that_shows_them(
    browser: Browser, long: Path
) -> None:
    with opened(browser, long) as watched:
        window = watched.page
        assert window.locator("#list a").count() == 100
        window.evaluate("location.hash = '#topic=Y001&system=B&beside=A&trial=2'")
        window.wait_for_selector("#text .pair .said.system")
        assert window.locator("#list a").count() == 20, "all of the topic, of both systems"
        assert window.locator("#list [aria-current]").inner_text().startswith("B · Y001 · trial 2")


def test_parts_that_only_one_or_none_of_them_has_are_reported(browser: Browser, report: tuple[Report, Path]) -> None:
    made, file = report
    labels = trials(made, "M001")
    trial = next(trial for (system, trial), own in labels.items() if system == "A" and own)
    with opened(browser, file, f"#topic=M001&system=A&trial={trial}&beside=C") as watched:
        watched.page.wait_for_selector("#text .said.system")
        assert watched.page.locator("#reader-title").inner_text() == f"A · M001 · trial {trial}"
    with opened(browser, file, "#topic=M009&system=A&beside=B") as watched:
        assert watched.page.locator("#reader").is_hidden()
        assert "no such conversation" in watched.page.locator("#shown").inner_text()


def test_the_arrow_keys_take_both_to_the_next_trial(browser: Browser, report: tuple[Report, Path]) -> None:
    with opened(browser, report[1], "#topic=M001&system=A&trial=1&beside=B") as watched:
        window = watched.page
        window.wait_for_selector("#text .pair")
        window.locator("#after").click()
        until(window, "document.getElementById('reader-title').textContent === 'A · M001 · trial 2 beside B · trial 2'")
        assert window.evaluate("location.hash") == "#topic=M001&system=A&trial=2&beside=B"


def test_a_block_of_the_flow_links_to_the_same_place_as_its_line_in_the_list(
    browser: Browser, report: tuple[Report, Path]
) -> None:
    made, file = report
    (section,) = [one for one in made.document["sections"] if one["id"] == "trees"]
    linked = set(re.findall(r'data-go="([^"]*)"', section["blocks"][0]["picture"].replace("&amp;", "&")))
    assert len(linked) > 4
    assert all(link in json.dumps(section["blocks"][1:], ensure_ascii=False) for link in linked)
    with opened(browser, file) as watched:
        window = watched.page
        block = window.locator("#trees [data-go]").nth(1)
        counted = int(re.search(r"(\d+)/\d+", block.locator("title").text_content() or "")[1])  # type: ignore[index]
        block.click()
        until(window, f"document.querySelectorAll('#list a').length === {counted}")


def test_a_point_of_r_and_gf_names_its_topic_and_leads_to_it(browser: Browser, report: tuple[Report, Path]) -> None:
    with opened(browser, report[1]) as watched:
        window = watched.page
        points = window.locator("#fairness [data-go]")
        assert points.count() == 12, "six topics of two systems"
        title = re.fullmatch(r"(\w+), ([AB]): R [\d.]+, GF [\d.]+", points.first.locator("title").text_content() or "")
        assert title
        points.first.dispatch_event("click")
        until(window, f"location.hash === '#topic={title[1]}&system={title[2]}'")
        until(window, "document.querySelectorAll('#list a').length === 3")


def test_on_paper_it_is_two_pages(browser: Browser, report: tuple[Report, Path]) -> None:
    with opened(browser, report[1]) as watched:
        paper = watched.page.pdf(format="A4", margin={"top": "15mm", "right": "15mm", "bottom": "15mm", "left": "15mm"})
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= 2


def test_a_table_wider_than_the_screen_says_so(browser: Browser, report: tuple[Report, Path]) -> None:
    wider = "one.checkVisibility() && one.scrollWidth > one.clientWidth + 1"
    shown = f"[...document.querySelectorAll('.wide')].filter(one => {wider})"
    hint = "getComputedStyle(one, '::before').content"
    with opened(browser, report[1], width=320) as watched:
        watched.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        until(watched.page, f"{shown}.length > 0 && {shown}.every(one => {hint}.includes('to the right'))")
    with opened(browser, report[1], width=1280) as watched:
        assert watched.page.evaluate(f"[...document.querySelectorAll('#grid .wide')].every(one => {hint} === 'none')")
