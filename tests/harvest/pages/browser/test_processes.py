"""What becomes of windows whose browser, driver or frame ends, hangs or grows: in the browser people have."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from pathlib import Path

import pytest

from harvest.pages.browser.settings import BrowserSettings, Limits
from harvest.systems.driver import Unanswered
from tests.support.browsing import browsing, pages, showing, until
from tests.support.processes import browsers_of


def processes(mark: str) -> list[int]:
    """The processes that were started with this argument."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except OSError:
            continue
    return sorted(found)


async def test_a_killed_browser_ends_every_call_in_all_its_windows() -> None:
    before = browsers_of(os.getpid())
    async with (
        browsing() as browser,
        showing(browser, "<p id=x>x") as one,
        showing(browser, "y") as two,
    ):
        frame = one.frames()[0]

        async def waits() -> None:
            await frame._life.call(frame._frame.evaluate("() => new Promise(() => {})"), 3600)

        waiting = asyncio.ensure_future(waits())
        await asyncio.sleep(0.1)
        (own,) = set(browsers_of(os.getpid())).difference(before)
        os.kill(own, signal.SIGKILL)
        with pytest.raises(Unanswered, match="browser-gone"):
            await waiting
        await until(lambda: two.gone is not None)
        assert (one.gone, two.gone, browser.is_alive) == ("browser-gone", "browser-gone", False)
        with pytest.raises(Unanswered, match="browser-gone"):
            await browser.open_window(BrowserSettings())
        with pytest.raises(Unanswered, match="browser-gone"):
            await frame.look()


async def test_if_playwright_itself_is_killed_every_call_ends_and_so_does_closing() -> None:
    def children() -> set[int]:
        return {int(one) for one in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}

    before = children()
    async with browsing() as browser:
        window = await browser.open_window(BrowserSettings())
        (driver,) = children() - before
        os.kill(driver, signal.SIGKILL)
        with pytest.raises(Unanswered, match="browser-gone"):
            await window.frames()[0].look()
        await window.close()
        with pytest.raises(Unanswered, match="browser-gone"):
            await browser.open_window(BrowserSettings())
        assert not browser.is_alive
        await browser.close()


async def test_a_hanging_frame_of_another_origin_does_not_block_the_page() -> None:
    async with pages({"/": "<script>onload = () => setTimeout(() => { for (;;); }, 300)</script>"}) as advertisement:
        away = advertisement.url.replace("127.0.0.1", "localhost")
        html = f"<p>chat</p><iframe src='{away}'></iframe>"
        async with browsing() as browser, showing(browser, html, limits=Limits(frame=1.0)) as window:
            await asyncio.sleep(0.6)
            page, frame = window.frames()
            with pytest.raises(Unanswered, match="frame-silent"):
                await frame.look()
            assert window.gone is None
            assert window.frames() == [page]
            assert (await page.look()).root.text == "chat"


@pytest.mark.soak  # four conversations of a driver: test_endurance.py
async def test_memory_does_not_grow_with_the_conversations_held() -> None:
    mark = f"--harvest-memory-{uuid.uuid4()}"

    def megabytes() -> float:
        total = 0
        for number in processes(mark):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        return total / 1024

    async with browsing(arguments=(mark,)) as own:

        async def conversations(count: int) -> None:
            for _ in range(count):
                async with showing(own, "<p id=x>x" + "<p>word</p>" * 500) as window:
                    frame = window.frames()[0]
                    await frame.arm(0)
                    await frame.mark_sent()
                    await frame.look()

        await conversations(4)
        before = megabytes()
        await conversations(12)
        grown = megabytes() - before
        print(f"12 conversations: {before:.0f} MB, {grown:+.1f} MB")
        assert grown < 60
