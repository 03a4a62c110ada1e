"""What a person is told where a page, a site's description or a browser cannot be used: what, where, what to do."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.drivers.registry import build_driver
from harvest.pages.browser.login import keep_login
from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings, Limits
from harvest.systems.driver import Denied, DriverError, NotSent, Opening, Surroundings
from tests.support.browsing import pages
from tests.support.interfaces import Pages, awkward_pages
from tests.support.processes import below, gone


@pytest.fixture(scope="module")
def awkward() -> Iterator[Pages]:
    with awkward_pages() as served:
        yield served


async def opened(**options: Any) -> DriverError:
    """What came of opening a page that cannot be talked on."""
    driver = build_driver("browser", {"evidence": (), **options}, Surroundings("page", Path()))
    try:
        with pytest.raises(DriverError) as fault:
            await driver.open(Opening("page", "topic", 1, 1))
        return fault.value
    finally:
        await driver.close()


def program(folder: Path, script: str) -> Path:
    """A program that is no browser."""
    path = folder / "chrome"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def test_a_missing_composer_is_named_with_the_page_that_was_searched() -> None:
    html = "<!doctype html><body><form><textarea></textarea><button>Send</button></form>"
    async with pages({"/": html}) as server:
        fault = await opened(url=server.url, site={"composer": ".no-such-box"}, open_timeout=2.0)
    assert (type(fault), fault.reason) == (NotSent, "no-composer")
    assert f"within 2 s at {server.url}" in fault.detail
    assert "the site's composer '.no-such-box' matches nothing there" in fault.detail


@pytest.mark.parametrize(
    ("name", "words"), [("login", "`harvest pages login`"), ("captcha", "ask the site's operator")]
)
async def test_a_page_that_needs_a_person_is_reported_with_advice(awkward: Pages, name: str, words: str) -> None:
    fault = await opened(url=awkward.url(name), open_timeout=20.0)
    assert (type(fault), fault.reason) == (Denied, name)
    assert words in fault.detail


async def test_an_expired_log_in_must_be_renewed_and_not_made_for_the_first_time(
    awkward: Pages, tmp_path: Path
) -> None:
    kept = tmp_path / "chat.login.json"
    keep_login(kept, {"cookies": [], "origins": []})
    fault = await opened(url=awkward.url("login"), open_timeout=20.0, login=str(kept))
    assert (type(fault), fault.reason) == (Denied, "login")
    assert f"the log-in in {kept} was used" in fault.detail
    assert f"renew it with `harvest pages login … --out {kept}`" in fault.detail
    assert "log in once by hand" not in fault.detail


async def test_a_program_that_never_answers_is_abandoned_and_ended(tmp_path: Path) -> None:
    started: list[int] = []

    async def watched() -> None:
        while True:
            started.extend(one.id for one in below(os.getpid()) if one.command in ("chrome", "sleep"))
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watched())
    chosen = BrowserSettings(executable=program(tmp_path, "exec sleep 3600"), limits=Limits(launch=5.0))
    with pytest.raises(NotSent, match="browser-start: the browser did not start within 5 s"):
        await Browser.launch(chosen)
    watching.cancel()
    assert started
    assert gone(started) == []


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 0", "it ended at once with exit code 0; check that it is a Chromium, Chrome or Edge"),
        ("echo no display >&2; exit 3", "exit code 3 and said 'no display'; check that it is"),
    ],
)
async def test_a_program_that_is_not_a_browser_is_named_with_its_exit(tmp_path: Path, script: str, words: str) -> None:
    path = program(tmp_path, script)
    with pytest.raises(Denied, match=re.escape(words)) as fault:
        await Browser.launch(BrowserSettings(executable=path))
    assert str(path) in fault.value.detail


def test_an_internal_error_while_probing_is_one_message_without_a_traceback(
    awkward: Pages, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise KeyError("h-box")

    monkeypatch.setattr("harvest.pages.chats.probe.probe", broken)
    with pytest.raises(SystemExit) as ended:
        main(["pages", "probe", awkward.url("plain")])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "error: driver-fault: KeyError: 'h-box'" in said
    assert "Traceback" not in said
