"""Starting a browser: broken off at any moment it leaves nothing behind, and what keeps it from starting is said."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from pathlib import Path

import psutil
import pytest

from harvest.drivers.registry import build_driver
from harvest.pages.browser.process import Browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.pages.browser.settings import BrowserSettings
from harvest.systems.driver import Denied, Opening, Surroundings, Unanswered
from tests.support.processes import below, browsers_of, gone

MOMENTS = (0.0, 0.01, 0.1, 0.3, *(pytest.param(one, marks=pytest.mark.soak) for one in (0.002, 0.03, 0.6)))


def _settings() -> BrowserSettings:
    found = shutil.which("chromium") or os.environ.get("HARVEST_BROWSER")
    return BrowserSettings(executable=Path(found) if found else None)


@pytest.mark.parametrize("seconds", MOMENTS)
def test_an_aborted_start_leaves_no_process(seconds: float) -> None:
    before = {one.id for one in below(os.getpid())}
    family: list[int] = []

    async def broken_off() -> None:
        starting = asyncio.ensure_future(Browser.launch(_settings()))
        await asyncio.sleep(seconds)
        family.extend(one.id for one in below(os.getpid()) if one.id not in before)
        starting.cancel()
        done, _ = await asyncio.wait((starting,), timeout=40)
        assert done
        if not starting.cancelled():
            await starting.result().close()
        family.extend(one.id for one in below(os.getpid()) if one.id not in before)

    asyncio.run(broken_off())
    assert gone(family) == []


async def test_a_driver_that_is_closed_while_it_starts_closes_that_browser_and_starts_no_other() -> None:
    before = {one.id for one in below(os.getpid())}
    driver = build_driver("browser", {"url": "http://127.0.0.1:9/"}, Surroundings("page", Path()))
    opening = [asyncio.ensure_future(driver.open(Opening("page", "M001", number, 1))) for number in (1, 2, 3)]
    await asyncio.sleep(0.1)
    await driver.close()
    ends = await asyncio.gather(*opening, return_exceptions=True)
    assert [type(end) for end in ends[1:]] == [Unanswered, Unanswered], ends
    assert isinstance(ends[0], Exception)
    assert await asyncio.to_thread(gone, [one.id for one in below(os.getpid()) if one.id not in before]) == []


async def test_after_many_windows_another_browser_takes_over_and_the_first_ends_with_its_last_window() -> None:
    before = {one.id for one in below(os.getpid())}

    def browsers() -> list[int]:
        return [one for one in browsers_of(os.getpid()) if one not in before]

    relay = BrowserRotation(_settings(), most=2)
    first, second = await relay.open_window(), await relay.open_window()
    (old,) = browsers()
    third = await relay.open_window()
    assert len(browsers()) == 2
    await relay.leave(first)
    await relay.leave(first)
    assert second.gone is None
    assert old in browsers()
    await relay.leave(second)
    assert await asyncio.to_thread(gone, [old]) == []
    assert third.gone is None
    await relay.leave(third)
    fourth = await relay.open_window()
    (new,) = browsers()
    os.kill(new, signal.SIGKILL)
    fifth = None
    while fifth is None:
        with contextlib.suppress(Unanswered):
            fifth = await relay.open_window()
    assert fourth.gone == "browser-gone"
    assert fifth.gone is None
    await relay.close()
    with pytest.raises(Unanswered, match="the driver is closed"):
        await relay.open_window()
    assert await asyncio.to_thread(gone, [one.id for one in below(os.getpid()) if one.id not in before]) == []


async def test_a_folder_for_temporary_files_with_too_long_a_path_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with pytest.raises(Denied, match="set TMPDIR to a path of at most 60 characters"):
        await Browser.launch(_settings())


async def test_features_disabled_by_playwright_stay_disabled_and_no_process_is_spent_on_an_address_bar() -> None:
    """A browser hears only the last of several lists of features that are to be off."""
    browser = await Browser.launch(_settings())
    try:
        windows = [await browser.open_window(_settings()) for _ in range(3)]
        words = [await asyncio.to_thread(_command_line, one.id) for one in below(os.getpid())]
        told = [found for line in words if len(found := _turned_off(line)) > 1]
        assert told
        assert [set(first) - set(last) for first, *_, last in told] == [set()] * len(told)
        assert [line for line in words if "--top-chrome-webui" in line] == []
        for window in windows:
            await window.close()
    finally:
        await browser.close()


def _command_line(id_: int) -> list[str]:
    """[] of a process that has gone."""
    try:
        return [str(word) for word in psutil.Process(id_).cmdline()]
    except psutil.NoSuchProcess:
        return []


def _turned_off(command: list[str]) -> list[list[str]]:
    """Every list of features that a browser started by this command is told to do without."""
    name = "--disable-features="
    return [word.removeprefix(name).split(",") for word in command if word.startswith(name)]
