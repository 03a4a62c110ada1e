"""The view in Chromium: runs played by real processes before its eyes, by keyboard, narrow and wide, light and dark."""

from __future__ import annotations

import re
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.watch import watch
from recordings.log.run_folder import read
from tests.support.accessibility import violations
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.histories import write_history
from tests.support.opened_report import launched
from tests.support.reported import HOSTILE, full_run, hostile_run
from tests.support.viewed_folder import USEFUL, View, playing, viewing

SIZES = [(320, "light"), (320, "dark"), (1280, "light"), (1280, "dark")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is watched, one whose system writes what no page should run, and one that cannot be read."""
    home = tmp_path_factory.mktemp("made")
    found = tmp_path_factory.mktemp("all")
    run, baseline, history = full_run(home / "full")
    shutil.copytree(run, found / "watched" / "full")
    shutil.copy(baseline, found / "weekly.baseline.json")
    look = watch(read(run), read_baseline(baseline)).noted.model_copy(update={"run": "full"})
    shutil.copy(history, found / "weekly.history.jsonl")
    write_history(found / "weekly.history.jsonl", [look])
    shutil.copytree(hostile_run(home / "hostile"), found / "hostile")
    shutil.copytree(ROOT / "recordings" / "samples" / "run-1", found / "sample")
    (found / "broken").mkdir()
    (found / "broken" / "run.json").write_text("{")
    return found


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[View]:
    with viewing(folder) as started:
        yield started


def until(window: Page, wanted: str) -> None:
    for _ in range(600):
        if window.evaluate(wanted):
            return
        window.wait_for_timeout(50)
    raise AssertionError(f"never true: {wanted}: {window.inner_text('body')}")


@contextmanager
def looked_at(
    browser: Browser,
    view: View,
    hash_: str = "",
    width: int = 1280,
    theme: str = "light",
    *,
    free: bool = False,
    still: bool = True,
) -> Iterator[Page]:
    """The page after its link was opened. Afterwards: it asked for nothing from elsewhere, and the console is empty.
    free: without the page's policy, so that a test can add its own script. still: without motion, as some ask for."""
    scheme: Literal["dark", "light"] = "dark" if theme == "dark" else "light"
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        reduced_motion="reduce" if still else None,
        bypass_csp=free,
    )
    window = context.new_page()
    faults: list[str] = []
    asked: list[str] = []
    window.on("console", lambda one: faults.append(one.text) if one.type in ("error", "warning") else None)
    window.on("pageerror", lambda one: faults.append(str(one)))
    window.on("request", lambda one: asked.append(one.url))
    window.goto(view.link)
    until(window, "document.documentElement.dataset.ready")
    if hash_:
        window.evaluate("hash => { location.hash = hash; }", hash_)
    try:
        yield window
        assert not faults
        own = (f"{view.address}/", f"blob:{view.address}/")
        assert [url for url in asked if not url.startswith(own)] == []
    finally:
        context.close()


def press_until(window: Page, key: str, wanted: str, most: int = 200) -> None:
    """Go on with a key until what has the focus says what is wanted."""
    said = ""
    for _ in range(most):
        window.keyboard.press(key)
        said = str(
            window.evaluate(
                "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"
            )
        )
        if re.search(wanted, said):
            return
    raise AssertionError(f"{wanted!r} was never reached; last: {said!r}")


def test_each_trial_appears_while_it_is_played_until_the_player_is_killed(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    with viewing(folder) as view, looked_at(browser, view) as window:
        assert "There is no run in this folder yet" in window.locator("#count").inner_text()
        with playing(tmp_path / "bot", folder / "new", [USEFUL, USEFUL, "no", "break"]) as player:
            until(window, "document.querySelector('#playing article')")
            card = window.locator("#playing article")
            player.allow(2)
            until(window, "document.querySelector('#playing b').textContent === '1 of 6 trials'")
            assert "M001 · A · trial 1" in card.inner_text()
            assert window.locator("#choices [name=verdict]").is_hidden(), "nothing was judged against a baseline"
            assert window.get_by_role("columnheader", name="Verdict").count() == 0
            window.locator("#playing .attempts a", has_text="M001").focus()
            player.allow(4)
            until(window, "document.querySelector('#playing .summary').textContent.includes('1 invalid attempt')")
            focused = "document.activeElement.textContent.includes('M001')"
            assert window.evaluate(focused), "what has the focus keeps it while the list grows"
            player.allow(5)
            until(window, "document.querySelector('#playing .attempts').textContent.includes('R001')")
            window.keyboard.press("Enter")
            until(window, "document.querySelectorAll('#reading .said.system').length === 2")
            window.evaluate("location.hash = '#run=new&system=A&topic=R001&trial=1&attempt=1'")
            until(window, "document.querySelectorAll('#reading .said.system').length === 1")
            player.allow(6)
            until(window, "document.querySelectorAll('#reading .said.system').length === 2")
            player.kill()
            window.evaluate("location.hash = ''")
            until(window, "!document.querySelector('#playing article')")
            assert re.search(r"2 of 6 · incomplete · 1 invalid", window.locator("#runs tbody tr").inner_text())


@pytest.mark.parametrize(
    ("width", "theme"), [SIZES[1], *(pytest.param(*size, marks=pytest.mark.soak) for size in (SIZES[0], *SIZES[2:]))]
)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    browser: Browser, view: View, tmp_path: Path, width: int, theme: str
) -> None:
    with (
        playing(tmp_path / "bot", view.folder / f"live-{width}-{theme}", [USEFUL, "no"]) as player,
        looked_at(browser, view, width=width, theme=theme, free=True) as window,
    ):
        player.allow(5)
        until(window, "document.querySelectorAll('#playing .attempts .mark').length === 5")
        window.locator("#histories summary").click()
        until(window, "document.querySelector('#histories img')?.naturalWidth")
        window.locator("#runs input").first.check()
        for hash_, ready in (
            ("", "!document.getElementById('home').hidden"),
            ("#run=sample", "document.querySelector('#one .attempts a')"),
            ("#run=hostile", "document.querySelector('#one .attempts a')"),
            ("#run=hostile&system=A&topic=M001&trial=1", "document.querySelector('#reading .said')"),
            ("#run=nowhere", "document.querySelector('#one h2').textContent.includes('not in the folder')"),
        ):
            window.evaluate("hash => { location.hash = hash; }", hash_)
            until(window, ready)
            assert violations(window) == []
            assert window.evaluate("document.documentElement.scrollWidth") <= width


def test_a_run_its_trials_and_a_conversation_are_reached_by_keys_alone(browser: Browser, view: View) -> None:
    with looked_at(browser, view, width=320) as window:
        press_until(window, "Tab", "^Skip to the runs$", 2)
        window.keyboard.press("Enter")
        assert window.evaluate("document.activeElement.id") == "main"
        press_until(window, "Tab", "^sample$")
        window.keyboard.press("Enter")
        until(window, "document.querySelector('#one .attempts a')")
        assert window.evaluate("document.activeElement.textContent") == "sample"
        press_until(window, "Tab", r"· trial \d")
        window.keyboard.press("Enter")
        until(window, "document.querySelector('#reading .said')")
        first = window.locator("#reading h2").inner_text()
        window.keyboard.press("ArrowRight")
        until(window, f"document.querySelector('#reading h2').textContent !== {first!r}")
        until(window, "document.querySelector('[data-way=later]')")
        window.keyboard.press("ArrowLeft")
        until(window, f"document.querySelector('#reading h2').textContent === {first!r}")
        window.keyboard.press("Escape")
        until(window, "!document.getElementById('one').hidden")
        press_until(window, "Shift+Tab", "All runs$")
        window.keyboard.press("Enter")
        until(window, "!document.getElementById('home').hidden")


def test_a_conversation_that_is_left_has_its_row_again(browser: Browser, view: View) -> None:
    with looked_at(browser, view, "#run=watched%2Ffull", width=320, still=False) as window:
        window.set_viewport_size({"width": 320, "height": 300})
        guess = ".attempts a { contain-intrinsic-size: auto 12rem !important; }"  # far too much, for rows not drawn yet
        window.evaluate("rule => [...document.styleSheets].at(-1).insertRule(rule)", guess)
        until(window, "document.querySelector('#one .attempts a')")
        window.fill("#one input[name=words]", "trial ")
        rows = window.locator("#one .attempts a")
        count, row = rows.count(), rows.nth(rows.count() // 2)
        assert count > 30, "rows that were never on the screen"
        said = row.text_content()
        row.press("Enter")
        until(window, "document.querySelector('#reading .said')")
        window.keyboard.press("Escape")
        until(window, "document.activeElement.closest('.attempts')")
        window.wait_for_timeout(1000)  # what moves by itself has come to rest
        assert window.locator("#one .attempts a:focus").text_content() == said
        assert (rows.count(), window.input_value("#one input[name=words]")) == (count, "trial ")
        assert window.evaluate(
            "(at => at.top >= 0 && at.bottom <= innerHeight)(document.activeElement.getBoundingClientRect())"
        )
        window.evaluate("location.hash = '#run=hostile'")
        until(window, "document.querySelector('#one h2').textContent === 'hostile'")
        assert window.input_value("#one input[name=words]") == "", "another run has its own"
        assert window.evaluate("document.activeElement.tagName") == "H2"


def test_what_a_system_wrote_is_shown_as_text_and_does_nothing(browser: Browser, view: View) -> None:
    with looked_at(browser, view) as window:
        shown = ""
        for topic in ("M001", "M002", "M003", "R001", "R002", "Y001"):
            window.evaluate(f"location.hash = '#run=hostile&system=A&topic={topic}&trial=1'")
            until(window, f"document.querySelector('#reading h2').textContent.startsWith('A · {topic}')")
            until(window, "document.querySelector('#reading .said')")
            shown += window.locator("#reading").inner_text()
        assert "taken" not in window.title()
        for words in HOSTILE[:6]:
            assert words in shown
        assert "<U+202E>right to left" in shown
        assert "\u202e" not in shown
        assert window.locator("#reading script, #reading iframe, #reading svg, #reading [onload]").count() == 0


def test_a_screenshot_is_shown_where_somebody_opens_it(browser: Browser, view: View) -> None:
    with looked_at(browser, view, "#run=watched/full&system=A&topic=M001&trial=1") as window:
        window.locator("#reading summary", has_text="screenshot").first.click()
        window.wait_for_selector("#reading img.shot")
        until(window, "document.querySelector('#reading img.shot').naturalWidth === 1")


@pytest.mark.parametrize(
    "address",
    [
        "harvest show {folder}/sample --system {system} --topic {topic} --trial {trial}",
        "harvest show sample --system {system} --topic {topic} --trial {trial} --attempt 1",
        "sample#topic={topic}&system={system}&trial={trial}",
    ],
)
def test_a_conversation_is_opened_by_its_address(browser: Browser, view: View, address: str) -> None:
    key = read(view.folder / "sample").finished[0].key
    given = address.format(folder=view.folder, system=key.system, topic=key.topic, trial=key.trial)
    with looked_at(browser, view) as window:
        window.fill("#wanted", given)
        window.keyboard.press("Enter")
        until(window, f"document.querySelector('#reading h2')?.textContent.startsWith('{key.system} · {key.topic}')")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("harvest show nowhere --topic A --system B --trial 1", "There is no such run in this folder: nowhere"),
        ("sample --topic M001", "needs --system and --trial"),
    ],
)
def test_an_address_that_leads_nowhere_is_said(browser: Browser, view: View, address: str, said: str) -> None:
    with looked_at(browser, view) as window:
        window.fill("#wanted", address)
        window.keyboard.press("Enter")
        until(window, f"document.getElementById('state').textContent.includes({said!r})")


def test_the_report_of_a_watched_run_is_judged_by_its_baseline(browser: Browser, view: View) -> None:
    with looked_at(browser, view) as window:
        row = window.locator("#runs tbody tr", has_text="watched/")
        assert row.locator(".verdict").is_visible()
        assert window.locator("#choices [name=verdict]").is_visible()
        row.get_by_text("Report").click()
        window.wait_for_url("**/report.html")
        until(window, "document.documentElement.dataset.ready")
        assert window.locator("#watched").count() == 1
        assert window.locator("#history").count() == 1
        window.evaluate("location.hash = '#topic=M001&system=A&trial=1'")
        window.wait_for_selector("#text .said.system")
        window.locator("#text summary", has_text="screenshot").first.click()
        window.wait_for_selector("#text img.shot")
        until(window, "document.querySelector('#text img.shot').naturalWidth === 1")
        window.get_by_text("All runs").click()
        until(window, "document.querySelectorAll('#runs tbody tr').length > 1")


def test_two_runs_are_compared_in_one_report(browser: Browser, view: View, tmp_path: Path) -> None:
    with looked_at(browser, view) as window:
        window.get_by_label("Compare full", exact=True).check()
        assert "choose from two to eight runs" in window.locator("#compare").inner_text()
        window.get_by_label("Compare hostile", exact=True).check()
        window.locator("#compare a").click()
        window.wait_for_url("**/report.html")
        until(window, "document.documentElement.dataset.ready")
        assert window.locator("#compared").count() == 1


def test_judging_is_opened_from_a_run_and_closed_with_the_view(browser: Browser, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run")
    with viewing(tmp_path) as view:
        with looked_at(browser, view, "#run=run") as window:
            window.locator("#one .judge summary").click()
            window.get_by_label("Your name").fill("anna, ben")
            window.get_by_label("Criterion").select_option("Fluency")
            window.keyboard.press("Tab")
            window.get_by_label("Rows drawn").fill("1")
            window.keyboard.press("Enter")
            until(window, "document.querySelector('#one .told.warn')?.textContent.includes('cannot be a name')")
            window.get_by_label("Your name").fill("--anna")
            window.keyboard.press("Enter")
            until(window, "document.activeElement.textContent.includes('Open the page of --anna on Fluency')")
            with window.expect_popup() as opened:
                window.keyboard.press("Enter")
            page = opened.value
            until(page, "document.documentElement.dataset.shown")
            page.keyboard.press("n")
            page.close()
            port = window.evaluate("new URL(document.querySelector('#one .judge a').href).port")
            window.get_by_text("Close it").click()
            until(window, "document.querySelector('#one .judge input')")
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port))
            window.get_by_label("Your name").fill("ben")
            window.get_by_label("Criterion").select_option("Useful")  # of another schema than the standard one
            window.get_by_role("button", name="Begin").click()
            until(window, "document.querySelector('#one .judge a')?.textContent.includes('of ben on Useful')")
            port = window.evaluate("new URL(document.querySelector('#one .judge a').href).port")
            socket.create_connection(("127.0.0.1", port)).close()
        assert view.end()[0] == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_a_run_that_cannot_be_read_is_listed_and_its_report_says_why(browser: Browser, view: View) -> None:
    with looked_at(browser, view) as window:
        row = window.locator("#runs tbody tr", has_text="broken")
        assert "not valid JSON" in row.inner_text()
        assert row.locator("a", has_text="Report").count() == 0


def test_the_list_is_narrowed_by_words_and_state(browser: Browser, view: View) -> None:
    with looked_at(browser, view) as window:
        window.fill("#choices [name=words]", "HOSTILE")
        until(window, "document.querySelectorAll('#runs tbody tr').length === 1")
        window.fill("#choices [name=words]", "")
        window.select_option("#choices [name=state]", "faulty")
        until(window, "document.querySelectorAll('#runs tbody tr').length === 1")
        assert "broken" in window.locator("#runs tbody").inner_text()


def test_without_its_link_and_without_its_server_the_page_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    with viewing(tmp_path) as view:
        context = browser.new_context()
        window = context.new_page()
        window.goto(f"{view.address}/")
        until(window, "document.getElementById('state').textContent.includes('Open the link')")
        window.goto(f"{view.address}/#{'x' * 32}")  # another link in the same window, which is not loaded again
        until(window, "document.getElementById('state').textContent.includes('not valid any more')")
        window.goto(view.link)
        until(window, "document.getElementById('state').textContent.startsWith('Connected')")
        window.reload()
        until(window, "document.getElementById('state').textContent.startsWith('Connected')")
        code, told = view.end()
        assert (code, "Traceback" in told) == (0, False)
        until(window, "document.getElementById('state').textContent.includes('not connected')")
        context.close()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_at_once_though_a_page_is_open(browser: Browser, tmp_path: Path, by: signal.Signals) -> None:
    with viewing(tmp_path) as view:
        context = browser.new_context()
        window = context.new_page()
        window.goto(view.link)
        until(window, "document.documentElement.dataset.ready")
        assert view.end(by)[0] == 0
        context.close()


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name, said in (("nowhere", "there is no such folder"), ("file", "this is a file, not a folder")):
        done = harvest("view", tmp_path / name)
        assert done.returncode == 2
        assert done.stderr == f"error: {tmp_path / name}: {said}\n  do: give the folder in which your runs are\n"
