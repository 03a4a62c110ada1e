"""`harvest pages probe`: a page nobody has described, one harmless message, and a draft that works as it is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.drivers.registry import build_driver
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.chats.chat import Manners
from harvest.pages.chats.findings import Finding, comment_out, site_text
from harvest.pages.chats.probe import ProbeResult, probe
from harvest.pages.sites.site import load_site, parse_site
from harvest.systems.driver import DriverError, Opening, Surroundings
from tests.harvest.pages.conftest import SharedInterface
from tests.support.browsing import browsing
from tests.support.command_line import harvest
from tests.support.forked_commands import run_forked
from tests.support.interfaces import NAMES, Pages, awkward_pages
from tests.support.same_words import allowed_between

PNG = b"\x89PNG\r\n"
TURNS = ("Name a few films", "scenario bubbles pause=0.2 n=1", "scenario table n=2")
AWKWARD = (
    "consent-banner",
    "enter-only",
    "frame-nested",
    "launcher",
    "shadow-closed",
)
OTHERS = ("name-lines", "silent-error", "stop-button")
"""Probed under the marker `soak`."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_forked("pages", "probe", *arguments, environment={**os.environ, "COLUMNS": "100"}, timeout=240)


async def play(site: Path, turns: tuple[str, ...]) -> list[str]:
    """What is read by the draft alone."""
    driver = build_driver("browser", {"site": site.name, "evidence": ()}, Surroundings("drafted", site.parent))
    try:
        session = await driver.open(Opening("drafted", "t", 1, 0))
        texts = [(await session.say(turn)).turn.answer.text for turn in turns]
        await session.close()
        return texts
    finally:
        await driver.close()


# Half a minute of a processor each of the others: `make soak` plays them.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "deep-chat" else pytest.mark.soak) for name in NAMES]
)
def test_the_draft_for_a_real_interface_works_unchanged(
    name: str, shared_interface: SharedInterface, tmp_path: Path
) -> None:
    out, picture = tmp_path / "site.yaml", tmp_path / "site.png"
    it = shared_interface(name)
    before = len(it.truth())
    done = run(it.url, "--out", str(out), "--screenshot", str(picture), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["format"] == "harvest-probe/1"
    (heard,) = it.truth(before)
    assert heard.text == "Hello", "one message, and no other"
    assert found["answer"]["text"] == heard.answer
    assert found["tried"] is True
    assert found["draft"] == out.read_text()
    assert picture.read_bytes().startswith(PNG)
    used = {one["field"] for one in found["findings"] if one["used"]}
    assert {"composer", "send"} <= used
    assert {"composer", "send", "reply"} <= {one["field"] for one in found["findings"] if one["value"]}
    assert all(0 < one["sure"] < 1 and one["why"] for one in found["findings"])
    site = load_site(out)
    assert (site.url, bool(site.composer), bool(site.send)) == (it.url, True, True)
    assert site.reply is None, "one answer does not show every kind of bubble"
    before = len(it.truth())
    read = asyncio.run(play(out, TURNS))
    for truth, text, answer in zip(it.truth(before), TURNS, read, strict=True):
        assert truth.text.strip() == text.strip()
        allowed_between(truth.answer, answer)
    assert "draft written" in done.stderr
    assert "composer" in done.stderr


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    with awkward_pages() as served:
        yield served


@pytest.fixture(scope="module")
def probed(pages: Pages) -> dict[str, ProbeResult]:
    """The awkward pages, several at a time."""
    return asyncio.run(_probed(pages, (*AWKWARD, "login", "captcha")))


async def _probed(pages: Pages, names: tuple[str, ...]) -> dict[str, ProbeResult]:
    at_once = asyncio.Semaphore(4)
    async with browsing() as browser:

        async def one(name: str) -> ProbeResult:
            async with at_once:
                manners = Manners(open_seconds=30, answer_seconds=60)
                return await probe(browser, BrowserSettings(), pages.url(name), f"Hello {name}", manners)

        return dict(zip(names, await asyncio.gather(*(one(name) for name in names))))


@pytest.mark.parametrize("name", AWKWARD)
def test_the_draft_for_an_awkward_page_opens_it_by_itself(probed: dict[str, ProbeResult], name: str) -> None:
    found = probed[name]
    assert found.fault is None
    assert found.said is not None
    assert found.said.answer.text
    assert found.tried
    assert found.picture is not None
    site = parse_site(found.draft)
    assert site.composer


def test_pressed_buttons_are_in_the_draft(probed: dict[str, ProbeResult]) -> None:
    drafts = {name: parse_site(found.draft) for name, found in probed.items()}
    assert drafts["consent-banner"].dismiss == (".no",)
    assert drafts["launcher"].open == ('button[aria-label="Open chat"]',)
    assert drafts["enter-only"].send_key == "Enter"
    assert drafts["frame-nested"].frame is not None


def test_a_page_without_a_chat_for_the_public_is_named(probed: dict[str, ProbeResult]) -> None:
    for name in ("login", "captcha"):
        fault = probed[name].fault
        assert isinstance(fault, DriverError)
        assert fault.reason == name
        assert probed[name].picture is not None
        assert parse_site(probed[name].draft).composer is None


def test_a_page_is_read_by_the_draft_as_well_as_it_was_found(probed: dict[str, ProbeResult], tmp_path: Path) -> None:
    read_as_well(probed["shadow-closed"], "shadow-closed", tmp_path / "site.yaml")


def read_as_well(found: ProbeResult, name: str, draft: Path) -> None:
    draft.write_text(found.draft)
    (text,) = asyncio.run(play(draft, (f"Hello {name}",)))
    assert found.said is not None
    assert text == found.said.answer.text


@pytest.mark.soak
def test_other_awkward_pages_are_probed_too(pages: Pages, tmp_path: Path) -> None:
    others = asyncio.run(_probed(pages, OTHERS))
    for name in ("name-lines", "stop-button"):
        test_the_draft_for_an_awkward_page_opens_it_by_itself(others, name)
    read_as_well(others["name-lines"], "name-lines", tmp_path / "site.yaml")
    assert parse_site(others["silent-error"].draft).composer


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says on standard error where it fails as a user's mistake does."""
    with pytest.raises(SystemExit) as ended:
        main(["pages", "probe", *arguments])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


def test_an_impossible_command_says_so_before_a_browser_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "site.yaml"
    there.write_text("mine")
    for arguments, words in (
        (("ftp://a.example",), "starts with http:// or https://"),
        (("http://a.example", "--out", str(there)), "exists already"),
        (("http://a.example", "--out", str(tmp_path / "no" / "site.yaml")), "there is no such folder"),
        (("http://a.example", "--out", "both", "--screenshot", "both"), "both name both"),
        (("http://a.example", "--message", " "), "--message is empty"),
        (("http://a.example", "--login", str(tmp_path / "none")), "No such file"),
    ):
        assert words in told(capsys, *arguments)
    assert there.read_text() == "mine"


def test_a_page_without_a_chat_is_one_message_and_leaves_no_draft(
    pages: Pages, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "site.yaml"
    for url, reason in (("http://127.0.0.1:9/", "page-unreachable"), (pages.url("maintenance"), "maintenance")):
        assert reason in told(capsys, url, "--out", str(out))
        assert not out.exists()


def narrow(pages: Pages, name: str, *arguments: str) -> tuple[int, str, str]:
    """The command on a terminal of 80 columns: code, standard output, standard error."""
    done = harvest("pages", "probe", pages.url(name), *arguments, width=80)
    return done.returncode, done.stdout, done.stderr


def test_findings_are_printed_in_lines_of_eighty_columns_after_the_wait(pages: Pages) -> None:
    code, out, err = narrow(pages, "launcher")
    assert code == 0, err
    assert parse_site(out).open == ('button[aria-label="Open chat"]',)
    assert max(map(len, err.splitlines())) <= 80
    lines = [line.rstrip() for line in err.splitlines()]
    at = lines.index('composer  99%  textarea[aria-label="Message"]')
    assert lines[at + 1] == " " * 17 + "the user turn was typed into it"
    waits = ("starting ", "opening http://", "saying 'Hello'", "opening the page once more")
    assert [next(number for number, line in enumerate(lines) if line.startswith(wait)) for wait in waits] == [
        0,
        1,
        2,
        3,
    ]
    assert "no draft" not in err


def test_a_draft_without_an_answer_is_not_a_missing_draft(pages: Pages) -> None:
    code, out, err = narrow(pages, "max-length", "--message", "more than a short box takes, by far")
    assert code == 2
    assert parse_site(out).composer
    assert "no answer: too-long-for-composer" in err
    assert "no draft" not in err


def test_findings_survive_an_unwritable_file(pages: Pages, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    code, out, err = narrow(pages, "plain", "--out", "/proc/site.yaml", "--screenshot", str(picture), "--json")
    assert code == 2
    found = json.loads(out)
    assert parse_site(found["draft"]).composer
    assert "error: /proc/site.yaml: " in err
    assert "draft written" not in err
    assert picture.read_bytes().startswith(PNG)


def test_json_is_one_document_even_without_a_draft_and_with_an_unwritable_file(pages: Pages) -> None:
    code, out, err = narrow(pages, "login", "--screenshot", "/proc/page.png", "--json")
    assert code == 2
    assert json.loads(out)["fault"]["reason"] == "login"
    assert "there is no draft, because the box to type in was not found" in err


def finding(field: str, value: str | None, **more: Any) -> Finding:
    return Finding(field, value, 0.9, ("because",), **more)


def test_a_draft_is_a_site_file_for_any_names() -> None:
    odd = 'a[title="x: \\"y\\" # \n"]'
    text = site_text(
        "a: #1", "https://a.example/#/b", [finding("composer", odd), finding("user", None)], ["x\x1b[31m " * 40]
    )
    site = parse_site(text)
    assert (site.name, site.url, site.composer, site.user) == ("a: #1", "https://a.example/#/b", odd, None)
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 120


def test_unused_findings_are_comments_with_their_reasons() -> None:
    found = [finding("open", "#a"), finding("open", "#b"), finding("reply", ".r", used=False)]
    text = site_text("x", "https://a.example/", found)
    assert parse_site(text).open == ("#a", "#b")
    assert '# reply: ".r"' in text
    less = site_text("x", "https://a.example/", comment_out(found, ("open",), "it did not open"))
    assert parse_site(less).open == ()
    assert '# open: ["#a", "#b"]' in less
    assert "it did not open" in less
