"""A person at the page on which people judge, in a window of a browser that a test opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Page

KEYS = {"a": 0, "b": 0.5, "c": 1, "-": None, "u": "unsure", "l": "left", "t": "tie", "r": "right"}


@dataclass
class Desk:
    """One person's window. said: what was decided last, by question."""

    page: Page
    faults: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    made: int = 0

    def value(self, of: str) -> str:
        return str(self.page.evaluate(f"document.documentElement.dataset.{of} || ''"))

    def until(self, wanted: str, seconds: float = 15.0) -> None:
        """Wait until an expression is true. Playwright's own way evaluates it in the page, which its policy forbids."""
        for _ in range(int(seconds * 100)):
            if self.page.evaluate(wanted):
                return
            self.page.wait_for_timeout(10)
        raise AssertionError(f"never true: {wanted}; {self.page.locator('header').inner_text()}")

    def until_shown(self) -> str:
        self.until("(({question, shown}) => question && question === shown)(document.documentElement.dataset)")
        return self.value("question")

    def decide(self, key: str, note: str = "") -> None:
        """By keyboard alone."""
        question = self.until_shown()
        self.page.keyboard.press(key)
        if note:
            self.page.keyboard.press("n")
            self.page.keyboard.insert_text(note)
            self.page.keyboard.press("Control+Enter")
        else:
            self.page.keyboard.press("Enter")
        self.said[question] = [KEYS.get(key, key), note]
        self.made += 1
        self.until(f"document.documentElement.dataset.question !== {json.dumps(question)} || {self.over}")

    over = "document.getElementById('asked').textContent.startsWith('All ')"

    def until_saved(self, told: str = "Saved") -> None:
        self.until(f"document.getElementById('saved').textContent === '{told}'", 30)


def scheme(theme: str) -> Literal["dark", "light"]:
    return "dark" if theme == "dark" else "light"


@contextmanager
def sitting(
    browser: Browser, link: str, width: int = 1280, theme: str = "light", lossy: bool = False
) -> Iterator[tuple[Desk, BrowserContext]]:
    """lossy: requests may fail, which the browser writes to its console."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme(theme), reduced_motion="reduce"
    )
    desk = Desk(context.new_page())
    desk.page.on("console", lambda one: desk.faults.append(one.text) if one.type in ("error", "warning") else None)
    desk.page.on("pageerror", lambda one: desk.faults.append(str(one)))
    desk.page.on("dialog", lambda one: one.accept())  # that something waits: one reloads all the same
    try:
        desk.page.goto(link)
        desk.until("document.documentElement.dataset.ready")
        yield desk, context
        faults = [one for one in desk.faults if not (lossy and one.startswith("Failed to load resource"))]
        assert faults == []
    finally:
        context.close()
