"""The page as people have it: opened from a disk by Chromium, by keyboard, narrow and wide, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from harvest.report.document import make_report
from harvest.report.page import page
from recordings.log.run_folder import read
from tests.support.opened_report import launched, opened, press_until, until
from tests.support.reported import PARTS_SHOWN, copied_run, hostile_run, parts_run

SIZES = [
    (320, "dark"),
    (1280, "light"),
    pytest.param(320, "light", marks=pytest.mark.soak),
    pytest.param(1280, "dark", marks=pytest.mark.soak),
]


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Browser]:
    """folder: is made before, because no run can be played where a browser of this kind is open."""
    with launched() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a report of a small run, whole and with its conversations beside it, of a hostile one, and of one whose
    answers have parts."""
    found = tmp_path_factory.mktemp("browsing")
    run = read(copied_run(found / "small"))
    report = make_report([run], beside=found)
    hostile = make_report([read(hostile_run(found / "hostile"))], beside=found)
    parts = make_report([read(parts_run(found / "parts"))], beside=found)
    for name, made in (
        ("parts", page(parts, "parts")),
        ("parts-apart", page(parts, "parts-apart", inside=10)),
        ("whole", page(report, "whole")),
        ("apart", page(report, "apart", inside=10)),
        ("hostile", page(hostile, "hostile")),
        ("hostile-apart", page(hostile, "hostile-apart", inside=10)),
    ):
        (found / f"{name}.html").write_text(made.html, encoding="utf-8")
        for file, text in made.files.items():
            (found / file).parent.mkdir(exist_ok=True)
            (found / file).write_text(text, encoding="utf-8")
    return found


@pytest.mark.parametrize(("width", "theme"), SIZES)
def test_a_cell_of_the_grid_opens_its_conversations_using_only_the_keyboard(
    browser: Browser, folder: Path, width: int, theme: str
) -> None:
    with opened(browser, folder / "whole.html", width=width, theme=theme) as watched:
        window = watched.page
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at the side"
        broader = "width => { for (const one of document.querySelectorAll('.grid')) one.style.minWidth = width; }"
        window.evaluate(broader, "90rem")
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a grid is scrolled by itself"
        window.evaluate(broader, "")
        press_until(watched, "Tab", r"^M002, B, S1: ")
        window.keyboard.press("Enter")
        until(window, "document.querySelectorAll('#list a').length === 3")
        assert window.evaluate("location.hash.includes('topic=M002')")
        assert window.locator("#shown").inner_text() == "3 attempts of B, on M002, of 36."
        assert window.locator("#list a").count() == 3
        assert watched.focused().startswith("B · M002 · trial 1"), "the focus is where one goes on"
        window.keyboard.press("Enter")
        window.wait_for_selector("#text .said.system")
        assert window.locator("#reader-title").inner_text() == "B · M002 · trial 1"
        assert watched.focused() == "B · M002 · trial 1"
        window.keyboard.press("ArrowRight")
        until(window, "document.getElementById('reader-title').textContent.endsWith('trial 2')")
        window.keyboard.press("Escape")
        assert window.locator("#reader").is_hidden()
        assert watched.focused().startswith("B · M002 · trial 1"), "the focus is back where it came from"


@pytest.mark.parametrize("width", [320, 1280])
def test_a_section_is_reached_at_once_while_a_conversation_is_open(browser: Browser, folder: Path, width: int) -> None:
    with opened(browser, folder / "whole.html", width=width) as watched:
        window = watched.page
        for name in window.evaluate("[...document.querySelectorAll('nav a')].map(one => one.getAttribute('href'))"):
            window.evaluate("(() => { const one = document.querySelector('#list a'); one.focus(); one.click(); })()")
            window.wait_for_selector("#text .said.system")
            window.evaluate(f"document.querySelector('nav a[href=\"{name}\"]').click()")
            until(window, "document.getElementById('reader').hidden")
            until(
                window,
                f"""(() => {{
                    const top = document.querySelector("{name}").getBoundingClientRect().top;
                    const end = document.documentElement.scrollHeight - innerHeight - scrollY;
                    return top >= 0 && (top < 120 || end < 2);
                }})()""",
            )


@pytest.mark.parametrize(("width", "theme"), SIZES)
def test_every_text_has_a_readable_contrast_and_every_focus_is_visible(
    browser: Browser, folder: Path, width: int, theme: str
) -> None:
    with opened(browser, folder / "whole.html", "#system=B&topic=M001&trial=1", width, theme) as watched:
        window = watched.page
        window.wait_for_selector("#text .said.system")
        window.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert window.evaluate(_FAINT) == []
        window.locator("#close").focus()
        window.keyboard.press("Shift+Tab")
        window.keyboard.press("Tab")
        outline = window.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"


@pytest.mark.parametrize("width", [320, 400, 700])
def test_on_a_narrow_page_the_systems_of_a_figure_are_stacked_and_words_are_not_squeezed(
    browser: Browser, folder: Path, width: int
) -> None:
    with opened(browser, folder / "whole.html", width=width) as watched:
        window = watched.page
        lefts = window.evaluate(
            "[...document.querySelectorAll('.forest .of')].map(one => one.getBoundingClientRect().x)"
        )
        assert len(lefts) > 2
        assert max(lefts) - min(lefts) < 1
        rows = window.evaluate(
            "[...document.querySelectorAll('.wide > table:not(.grid) tbody th')]"
            ".map(one => one.getBoundingClientRect().width).filter(one => one > 0)"
        )
        assert rows
        assert min(rows) >= 11 * 16
        # A record that needs two lines does not begin the second one at the other side of the page.
        ends = window.evaluate(
            "[...document.querySelectorAll('.forest tr')].map(row => [row, [...row.querySelectorAll('.more')].pop()])"
            ".filter(([row, last]) => last).map(([row, last]) => "
            "row.getBoundingClientRect().right - last.getBoundingClientRect().right)"
        )
        assert len(ends) > 2
        assert max(map(abs, ends)) < 1


def test_every_control_has_a_name_and_every_scrolling_part_can_be_reached(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "whole.html", width=320) as watched:
        assert watched.page.evaluate(_NAMELESS) == []
        assert watched.page.evaluate("document.documentElement.lang") == "en"
        headings = watched.page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(one => +one.tagName[1])")
        assert headings[0] == 1
        assert headings.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(headings))


def test_a_branch_of_a_tree_is_closed_and_opened_and_lists_its_trials(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "whole.html") as watched:
        window = watched.page
        window.locator("#trees > details > summary").first.click()
        first = window.locator(".tree > li > details").first
        first.locator("> summary").focus()
        window.keyboard.press("Enter")
        assert first.get_attribute("open") is None
        window.keyboard.press("Enter")
        link = first.locator("ul a", has_text="read ").first
        number = int(re.sub(r"\D", "", link.inner_text()))
        link.focus()
        window.keyboard.press("Enter")
        until(window, f"document.querySelectorAll('#list a').length === {number}")
        assert window.evaluate("location.hash.includes('node=')")
        assert window.locator("#shown").inner_text().startswith(f"{number} attempt")


def test_filters_select_and_are_in_the_address(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "whole.html") as watched:
        window = watched.page
        window.select_option("[name=system]", "A")
        window.select_option("[name=labels]", "oo")
        until(window, "location.hash === '#system=A&labels=oo' && document.querySelectorAll('#list a').length < 18")
        number = window.locator("#list a").count()
        assert 0 < number < 18
        assert window.locator("#list a .mark.x").count() == 0
        window.click("button[type=reset]")
        until(window, "document.querySelectorAll('#list a').length === 36")
        window.go_back()
        window.go_back()


@pytest.mark.parametrize("name", ["whole", "apart"])
def test_words_are_searched_for_in_all_texts_on_request(browser: Browser, folder: Path, name: str) -> None:
    with opened(browser, folder / f"{name}.html") as watched:
        window = watched.page
        window.locator("[name=words]").fill("IMDB URL")  # of the user's words on movies, in any case
        window.keyboard.press("Enter")
        until(window, "document.querySelectorAll('#list a').length === 18")
        assert window.evaluate("location.hash") == "#words=IMDB%20URL"
        assert window.locator("#shown").inner_text() == "18 attempts with “IMDB URL”, of 36."
        window.select_option("[name=system]", "B")
        until(window, "document.querySelectorAll('#list a').length === 9")
        window.locator("#list a").first.click()
        window.wait_for_selector("#text .said.system")
        window.locator("[name=words]").evaluate("one => { location.hash = '#words=no such words'; }")
        until(window, "document.getElementById('shown').textContent.startsWith('0 attempts')")
    with opened(browser, folder / f"{name}.html", "#words=imdb%20url&system=A") as watched:
        until(watched.page, "document.querySelectorAll('#list a').length === 9")
        assert watched.page.locator("[name=words]").input_value() == "imdb url"


def test_texts_are_read_once_the_filters_are_visible_so_that_a_first_search_requests_nothing(
    browser: Browser, folder: Path
) -> None:
    with opened(browser, folder / "apart.html") as watched:
        window = watched.page
        assert len(watched.asked) == 1
        window.locator("[name=words]").scroll_into_view_if_needed()
        until(window, "document.documentElement.dataset.searchable")
        assert len(watched.asked) == 2
        window.locator("[name=words]").fill("imdb url")
        window.keyboard.press("Enter")
        until(window, "document.querySelectorAll('#list a').length === 18")
        assert len(watched.asked) == 2
        window.locator("#list a").first.click()
        window.wait_for_selector("#text .said.system")
        assert "imdb url" in window.locator("#text").inner_text().lower()
        assert window.locator("head script[src]").count() == 0


def test_a_shared_link_opens_the_conversation_and_a_dead_one_says_so(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "whole.html", "#topic=M001&system=A&trial=2") as watched:
        watched.page.wait_for_selector("#text .said.user")
        assert watched.page.locator("#reader-title").inner_text() == "A · M001 · trial 2"
    with opened(browser, folder / "whole.html", "#topic=M001&system=A&trial=99") as watched:
        assert watched.page.locator("#reader").is_hidden()
        assert "no such conversation" in watched.page.locator("#shown").inner_text()
    with opened(browser, folder / "whole.html", "#topic=%E0%A4%A&system=<b>&tree=9&node=x") as watched:
        assert watched.page.locator("#list").count() == 1


def test_a_link_from_elsewhere_lists_what_it_leads_to_and_shows_the_conversation_at_once(
    browser: Browser, folder: Path
) -> None:
    """A smooth scroll over a page as long as this one takes seconds."""
    seen = """(() => {
        const box = document.getElementById('reader-title').getBoundingClientRect();
        return box.top >= 0 && box.bottom <= innerHeight;
    })()"""
    marked = """(() => {
        const list = document.getElementById('list').getBoundingClientRect();
        const row = document.querySelector('#list [aria-current]').getBoundingClientRect();
        return row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
    })()"""
    with opened(browser, folder / "whole.html") as watched:
        window = watched.page
        window.emulate_media(reduced_motion="no-preference")
        window.evaluate("document.querySelector('header').style.marginBottom = '60000px'; scrollTo(0, 0)")
        link = "#topic=M002&system=B&trial=2"
        window.evaluate(
            f"""(() => {{
                const one = document.createElement('a');
                one.href = '{link}';
                document.querySelector('header').append(one);
                one.focus();
                one.click();
            }})()"""
        )
        window.wait_for_selector("#text .said.system")
        assert window.evaluate(seen)
        assert window.locator("#shown").inner_text() == "3 attempts of B, on M002, of 36."
        window.evaluate("document.getElementById('list').lastElementChild.querySelector('a').focus()")
        window.keyboard.press("Enter")
        until(window, "document.getElementById('reader-title').textContent.endsWith('trial 3')")
        assert window.locator("#list a").count() == 3, "a link of the list goes on with the list"
    with opened(browser, folder / "whole.html") as watched:
        window = watched.page
        window.set_viewport_size({"width": 1280, "height": 400})
        window.evaluate(
            "(() => { const one = document.querySelector('#list li:last-child a'); one.focus(); one.click(); })()"
        )
        window.wait_for_selector("#text .said.system")
        assert window.locator("#list a").count() == 36
        assert window.evaluate(marked), "the row of the conversation is in view"


def test_conversations_beside_the_page_are_read_on_demand_and_missing_ones_are_named(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    with opened(browser, folder / "apart.html") as watched:
        assert len(watched.asked) == 1
        watched.page.locator("#list a").first.click()
        watched.page.wait_for_selector("#text .said.system")
        assert len(set(watched.asked)) == 2
    alone = tmp_path / "apart.html"
    alone.write_text((folder / "apart.html").read_text(encoding="utf-8"), encoding="utf-8")
    context = browser.new_context()
    window = context.new_page()
    window.goto(f"{alone.as_uri()}#topic=M001&system=A&trial=1")
    window.wait_for_selector("#text .warn")
    assert "apart-files/0000.js is not beside this page" in window.locator("#text").inner_text()
    context.close()


@pytest.mark.parametrize("name", ["parts", "parts-apart"])
def test_every_part_of_an_answer_is_shown_with_its_conversation(browser: Browser, folder: Path, name: str) -> None:
    every = {**PARTS_SHOWN, "whole": tuple(line for lines in PARTS_SHOWN.values() for line in lines)}
    for system, lines in every.items():
        with opened(browser, folder / f"{name}.html", f"#topic=M001&system={system}&trial=1") as watched:
            watched.page.wait_for_selector("#text .said.system")
            shown = watched.page.locator("#text").inner_text()
            assert "The answer." in shown
            assert [line for line in lines if line not in shown] == []
            assert ("model=reader-2" in shown) == (system == "whole")


def test_a_fault_of_the_page_is_not_mistaken_for_a_missing_folder(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.html"
    html = (folder / "whole.html").read_text(encoding="utf-8")
    html = html.replace('id="chunk-0">[{"turns":[', 'id="chunk-0">[{"turns":[null,')
    broken.write_text(html, encoding="utf-8")
    with opened(browser, broken, "#topic=M001&system=A&trial=1") as watched:
        watched.page.wait_for_selector("#text .warn")
        said = watched.page.locator("#text").inner_text()
        assert "TypeError" in said
        assert "bug in Harvest" in said
        assert "Copy that folder" not in said
        assert "harvest show" in said


@pytest.mark.parametrize("held", ["", "harvestChunk(0,", 'harvestChunk(0,"[]");'])
def test_a_damaged_file_beside_the_page_is_not_called_missing(
    browser: Browser, folder: Path, tmp_path: Path, held: str
) -> None:
    alone = tmp_path / "apart.html"
    alone.write_text((folder / "apart.html").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "apart-files").mkdir()
    (tmp_path / "apart-files" / "0000.js").write_text(held, encoding="utf-8")
    context = browser.new_context()
    window = context.new_page()
    window.goto(f"{alone.as_uri()}#topic=M001&system=A&trial=1")
    window.wait_for_selector("#text .warn")
    said = window.locator("#text").inner_text()
    context.close()
    assert "apart-files/0000.js is beside this page but does not hold this conversation" in said


@pytest.mark.parametrize("name", ["hostile", "hostile-apart"])
def test_nothing_written_by_a_system_runs_loads_or_reverses_the_page(browser: Browser, folder: Path, name: str) -> None:
    with opened(browser, folder / f"{name}.html") as watched:
        window = watched.page
        number = window.locator("#list a").count()
        assert number == 12
        for place in range(number):
            window.locator("#list a").nth(place).evaluate("one => one.click()")
            window.wait_for_selector("#text .said.system")
            until(window, "document.querySelectorAll('#text img, #text svg, #text script').length === 0")
            assert window.evaluate("[...document.querySelectorAll('#text .said')].every(one => one.dir === 'auto')")
            window.keyboard.press("Escape")
            window.evaluate("history.replaceState(null, '', location.pathname)")
        assert window.title().endswith("Harvest report")
        assert window.evaluate("document.querySelectorAll('img, iframe, object, embed').length") == 0


def test_the_printed_page_has_the_open_conversation_and_no_buttons(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "whole.html", "#topic=M001&system=A&trial=1", theme="dark") as watched:
        window = watched.page
        window.wait_for_selector("#text .said.system")
        window.emulate_media(media="print", color_scheme="dark")
        assert window.locator("#reader").is_visible()
        assert window.evaluate("getComputedStyle(document.getElementById('reader')).position") == "static"
        assert window.locator("nav").is_hidden()
        assert window.locator("#filters").is_hidden()
        assert window.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


_FAINT = """() => {
  const parts = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(one => one / 255)
    .map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = element => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const one = node.parentElement;
    if (!node.data.trim() || !one.checkVisibility()) continue;
    if (one.closest('script, style, option, .skip, title, desc')) continue;
    const style = getComputedStyle(one);
    const a = light(parts(one instanceof SVGElement ? style.fill : style.color)), b = light(ground(one));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.add(contrast.toFixed(2) + ' ' + one.className + ' ' + node.data.trim().slice(0, 40));
  }
  return [...found];
}"""
"""Texts that stand out from their ground by less than 4.5 to 1."""

_NAMELESS = """() => {
  const named = one => (one.getAttribute('aria-label') || one.textContent || '').trim()
    || (one.labels && one.labels.length) || one.getAttribute('aria-labelledby');
  const used = [...document.querySelectorAll('a, button, select, summary, [tabindex="0"], section, aside, nav, form')];
  const found = used.filter(one => !named(one)).map(one => one.outerHTML.slice(0, 80));
  for (const one of document.querySelectorAll('svg')) {
    const said = one.getAttribute('role') === 'img' && one.getAttribute('aria-label');
    if (one.getAttribute('aria-hidden') !== 'true' && !said) found.push(one.outerHTML.slice(0, 80));
  }
  for (const one of document.querySelectorAll('*')) {
    const style = getComputedStyle(one);
    if (['auto', 'scroll'].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1 && one.checkVisibility()
      && one.tabIndex < 0 && !one.querySelector('a, button')) found.push('scrolls: ' + one.outerHTML.slice(0, 80));
  }
  for (const one of document.querySelectorAll('table'))
    if (!one.querySelector('th[scope]')) found.push('no heading: ' + one.outerHTML.slice(0, 80));
  return found;
}"""
"""What is used without a name, scrolls without a key, or is a table without headings."""
