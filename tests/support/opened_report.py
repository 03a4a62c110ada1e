"""A report as people have it: opened from a disk by Chromium, without a network, with what it asks for written down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.browsing import settings

__all__ = ["Watched", "launched", "opened", "press_until", "until"]


_EVIDENCE = re.compile(r"\Afile://[^?#]*/evidence/[0-9a-f]{2}/[0-9a-f]{40}\.png\Z")


@contextmanager
def launched() -> Iterator[Browser]:
    """No run can be played while it is open: play them before."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=settings().executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watched:
    page: Page
    asked: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def focused(self) -> str:
        """What has the focus, in words."""
        found = self.page.evaluate(
            "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"
        )
        return str(found)[:200]


@contextmanager
def opened(
    browser: Browser, file: Path, hash_: str = "", width: int = 1280, theme: str = "light", *, free: bool = False
) -> Iterator[Watched]:
    """The page from the disk, without a network. Afterwards: nothing was asked for but files of the report and
    screenshots, and the console has no error. free: without the page's policy, so that a test can add its own script.
    """
    scheme: Literal["dark", "light"] = "dark" if theme == "dark" else "light"
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        offline=True,
        reduced_motion="reduce",
        bypass_csp=free,
    )
    window = context.new_page()
    watched = Watched(window)
    window.on("request", lambda one: watched.asked.append(one.url))
    window.on("console", lambda one: watched.faults.append(one.text) if one.type in ("error", "warning") else None)
    window.on("pageerror", lambda one: watched.faults.append(str(one)))
    window.goto(f"{file.as_uri()}{hash_}")
    until(window, "document.documentElement.dataset.ready")
    try:
        yield watched
        assert not watched.faults
        own = quote(f"{file.with_suffix('')}-files")
        allowed = (file.as_uri(), f"file://{own}/")
        outside = [url for url in watched.asked if not (url.startswith(allowed) or _EVIDENCE.search(url))]
        assert not outside
    finally:
        context.close()


def until(window: Page, wanted: str) -> None:
    """Wait until an expression is true. Playwright's own way evaluates it in the page, whose policy forbids that."""
    for _ in range(600):
        if window.evaluate(wanted):
            return
        window.wait_for_timeout(50)
    raise AssertionError(f"never true: {wanted}")


def press_until(watched: Watched, key: str, wanted: str, most: int = 400) -> None:
    """Go on with a key until what has the focus says what is wanted."""
    for _ in range(most):
        watched.page.keyboard.press(key)
        if re.search(wanted, watched.focused()):
            return
    raise AssertionError(f"{wanted!r} was never reached; last: {watched.focused()!r}")
