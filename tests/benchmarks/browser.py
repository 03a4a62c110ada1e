"""Conversations per minute through the browser driver, beside loops written by hand for the same page (deep-chat).

    python -m tests.benchmarks.browser                    a quick look: 4 conversations of 3 turns in each run
    python -m tests.benchmarks.browser --conversations 24 --pairs 3 --evidence

The loop by hand knows the page's selectors and keeps no evidence. It finds out that a reply is finished in the simplest
honest way: its text has been the same for 0.5 s. The loop that knows waits for the reply's own last words, which only
the back end could tell it. The runs of a pair are done one after the other, so that a change of the machine's load hits
both alike; a ratio is the median over pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Surroundings
from tests.support.browsing import settings
from tests.support.interfaces import Interface, interface

TURNS = 3
REPLIES = {"at once": "scenario quick", "in 1 s": "scenario prose pace=0.018"}
CONTEXTS = (1, 2, 4)
Way = Callable[[Interface, str, int, int], Coroutine[Any, Any, float]]


def _turns(wish: str, conversation: int) -> list[str]:
    return [f"{wish} n={conversation}{turn}" for turn in range(TURNS)]


async def _shared(conversations: int, contexts: int, hold: Callable[[int], Awaitable[None]]) -> None:
    queue = deque(range(conversations))

    async def work() -> None:
        while queue:
            await hold(queue.popleft())

    await asyncio.gather(*(work() for _ in range(contexts)))


def driven(**options: Any) -> Way:
    """Through the driver."""

    async def way(page: Interface, wish: str, conversations: int, contexts: int) -> float:
        driver = build_driver("browser", {"url": page.url, **options}, Surroundings("page", Path()))

        async def hold(number: int) -> None:
            session = await driver.open(Opening("page", "M001", number + 1, 1))
            for said in _turns(wish, number):
                assert "End " in (await session.say(said)).turn.answer.text
            await session.close()

        try:
            await hold(-1)  # the browser is started
            begun = time.monotonic()
            await _shared(conversations, contexts, hold)
            return time.monotonic() - begun
        finally:
            await driver.close()

    return way


def by_hand(*, knows: bool) -> Way:
    """The loop that anybody would write for this one page. knows: the reply's last words."""

    async def way(page: Interface, wish: str, conversations: int, contexts: int) -> float:
        async with async_playwright() as started:
            options = settings().launch_options()
            browser = await started.chromium.launch(chromium_sandbox=settings().with_sandbox, **options)

            async def hold(number: int) -> None:
                await _converse(browser, page.url, _turns(wish, number), knows=knows)

            await hold(-1)
            begun = time.monotonic()
            await _shared(conversations, contexts, hold)
            seconds = time.monotonic() - begun
            await browser.close()
            return seconds

    return way


async def _converse(browser: Browser, url: str, turns: list[str], *, knows: bool) -> None:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    await page.goto(url)
    box = page.locator("#text-input")
    await box.wait_for()
    for number, said in enumerate(turns, 1):
        await box.fill(said)
        await box.press("Enter")
        text = await _reply(page, number, knows=knows)
        assert "End " in text, text
    await context.close()


async def _reply(page: Page, number: int, *, knows: bool) -> str:
    replies = page.locator(".ai-message-text")
    text, since = "", time.monotonic()
    while True:
        now = await replies.nth(number - 1).inner_text() if await replies.count() >= number else ""
        if now != text:
            text, since = now, time.monotonic()
        if text.strip() and ("End " in text if knows else time.monotonic() - since >= 0.5):
            return text
        await asyncio.sleep(0.05)


WAYS: dict[str, Way] = {
    "by hand, text stable for 0.5 s": by_hand(knows=False),
    "by hand, knows the last words": by_hand(knows=True),
    "driver": driven(),
}
LESS: dict[str, Way] = {
    "driver, no screenshots": driven(evidence=("reply", "page", "watch")),
    "driver, no evidence": driven(evidence=()),
}
HONEST = "by hand, text stable for 0.5 s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--evidence", action="store_true", help="also with less evidence kept")
    arguments = parser.parse_args()
    ways = WAYS | LESS if arguments.evidence else WAYS
    print(f"{arguments.conversations} conversations of {TURNS} turns; load {os.getloadavg()[0]:.1f}\n")
    print("| replies | contexts | way | turns a minute | ratio to the honest loop |\n|---|---|---|---|---|", flush=True)
    with interface("deep-chat") as page:
        for name, wish in REPLIES.items():
            for contexts in CONTEXTS:
                spent: dict[str, list[float]] = {way: [] for way in ways}
                for _ in range(arguments.pairs):
                    for way, run in ways.items():
                        spent[way].append(asyncio.run(run(page, wish, arguments.conversations, contexts)))
                for way, seconds in spent.items():
                    rate = 60 * TURNS * arguments.conversations / statistics.median(seconds)
                    ratio = statistics.median(honest / own for honest, own in zip(spent[HONEST], seconds, strict=True))
                    print(f"| {name} | {contexts} | {way} | {rate:.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
