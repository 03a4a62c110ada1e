"""A turn goes out once and whole, by whatever way the page takes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from browsing import browsing, named, run, showing

from harvest.browser.part import Part
from harvest.browser.window import Browser, Window
from harvest.chats.place import Place
from harvest.chats.sending import send, type_text
from harvest.drivers.driver import NotSent

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = """<main id=log></main><form><textarea id=box></textarea><button id=send>Send</button></form><script>
const box = document.getElementById("box"), button = document.getElementById("send");
window.gone = [];
const go = (how) => { window.gone.push([how, box.value]); box.value = ""; };
document.querySelector("form").onsubmit = (event) => { event.preventDefault(); TAKE_CLICK; };
box.onkeydown = (event) => { if (event.key === "Enter" && (TAKE_KEY)) { event.preventDefault(); go("key"); } };
</script>"""
CLICKED = PAGE.replace("TAKE_CLICK", 'go("button")').replace("TAKE_KEY", "false")
KEYED = PAGE.replace("TAKE_CLICK", "").replace("TAKE_KEY", "event.ctrlKey")
DEAF = PAGE.replace("TAKE_CLICK", "").replace("TAKE_KEY", "false")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as started:
        yield started


async def typed(window: Window, text: str) -> Place:
    frame = window.frames()[0]
    page = await frame.look()
    place = Place(frame, page, named(page, "box").id, named(page, "send").id)
    await frame.arm(place.composer, place.send)
    await type_text(place, text)
    return place


async def gone(window: Window) -> list[Any]:
    return list(await run(window.frames()[0], "() => window.gone"))


async def test_a_click_that_is_said_to_have_failed_and_did_not_is_the_only_one(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    click = Part.click

    async def late(part: Part) -> None:
        await click(part)
        raise NotSent("part-off", "no word of the click came back in time")

    monkeypatch.setattr(Part, "click", late)
    async with showing(browser, CLICKED) as window:
        place = await typed(window, "Which film?")
        assert await send(window, place, "Which film?") == "button"
        assert await gone(window) == [["button", "Which film?"]]


async def test_the_ways_are_tried_one_after_the_other_and_the_one_that_worked_comes_first(browser: Browser) -> None:
    async with showing(browser, KEYED) as window:
        place = await typed(window, "Which film?")
        assert await send(window, place, "Which film?") == "Control+Enter"
        assert await gone(window) == [["key", "Which film?"]]
        assert place.ways[0] == "Control+Enter"


async def test_a_page_that_takes_nothing_is_left_with_an_empty_box(browser: Browser) -> None:
    async with showing(browser, DEAF) as window:
        place = await typed(window, "Which film?")
        with pytest.raises(NotSent, match="not-sent"):
            await send(window, place, "Which film?")
        assert await run(window.frames()[0], "() => document.getElementById('box').value") == ""
        assert await gone(window) == []
