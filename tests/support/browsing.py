"""Real windows on small pages, for the tests of what happens in a browser."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from harvest.pages.browser.frame import Frame
from harvest.pages.browser.installed import find_browser
from harvest.pages.browser.process import Browser, find_playwright_browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.pages.reading.page import Node, Page
from tests.servers.local_http import Asked, Handler, LocalServer, response, serving


def settings() -> BrowserSettings:
    """Those of the browser that is there; no browser is an error, never a skip."""
    return BrowserSettings(executable=_executable(os.environ.get("HARVEST_BROWSER", "")))


@cache
def _executable(named: str) -> Path:
    return find_browser({**os.environ, "HARVEST_BROWSER": named}, find_playwright_browser).path


@asynccontextmanager
async def browsing(**different: Any) -> AsyncIterator[Browser]:
    chosen = settings()
    browser = await Browser.launch(BrowserSettings(executable=chosen.executable, **different))
    try:
        yield browser
    finally:
        await browser.close()


@asynccontextmanager
async def pages(content: Mapping[str, str], other: Handler | None = None) -> AsyncIterator[LocalServer]:
    """A server of HTML pages by path; `other` gets what is not among them."""

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path in content:
            writer.write(response("200 OK", content[asked.path], media_type="text/html; charset=utf-8"))
        elif other is not None:
            await other(asked, writer)
        else:
            writer.write(response("404 Not Found", "", media_type="text/html"))

    async with serving(handler) as server:
        yield server


@asynccontextmanager
async def showing(browser: Browser, html: str, other: Handler | None = None, **different: Any) -> AsyncIterator[Window]:
    """A window that shows this page, with settings that differ from the usual ones."""
    async with pages({"/": f"<!doctype html><body>{html}"}, other) as server:
        window = await browser.open_window(BrowserSettings(**different))
        try:
            assert await window.goto(server.url) == 200
            yield window
        finally:
            await window.close()


async def run(frame: Frame, script: str, value: Any = None) -> Any:
    """Let the page itself do something."""
    return await frame._frame.evaluate(script, value)


async def look(window: Window, site: Mapping[str, str] | None = None) -> Page:
    return await window.frames()[0].look(site)


def tagged(page: Page, tag: str) -> Node:
    """The only element of this name."""
    (found,) = (node for node in page.walk() if node.tag == tag)
    return found


def named(page: Page, name: str) -> Node:
    """The only element with this id."""
    (found,) = (node for node in page.walk() if node.get("id") == name)
    return found


async def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait, bounded, for something the page brings about."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.02)
