"""Answers of every kind on a chat interface, counted: cut, foreign, lost, thrown out, sent twice, and slow.

The same turns are said by the browser driver, which gets the address and nothing else, and by a loop by hand that knows
the page's selectors. Both are compared word by word with what the back end wrote, not in how a page shows Markdown.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, async_playwright

from harvest.drivers.registry import build_driver
from harvest.systems.driver import DriverError, Opening, Session, Surroundings, Unanswered
from tests.servers.delay import delaying
from tests.support.browsing import settings
from tests.support.interfaces import Interface, Truth
from tests.support.wishing import quantile

__all__ = ["HEAD", "SELECTORS", "Count", "Heard", "by_driver", "by_hand", "count", "turns", "words"]

SHORT = 200  # characters of a short answer
PER_CONVERSATION = 5
UNCHANGED = 0.5  # seconds, for a loop by hand
PATIENCE = 60.0
KINDS = (
    *("short count=0", "table", "quick", "short count=12", "cjk", "prose", "short count=26", "lists", "emoji", "echo"),
    *("short count=32", "code", "asking", "short count=40", "rtl", "formula", "short count=4", "anchors", "quick"),
    *(
        "quoting",
        "short count=44",
        "headings",
        "short count=11",
        "stream pause=1",
        "short count=16",
        "long chars=15000",
    ),
    *("short count=34", "bubbles count=2 pause=0.3", "emphasis", "stream pause=2.5 pauses=1"),
)
"""What the turns of a count wish for, twice in 60."""
UNSHOWN = {"panel": ("emoji",)}
"""What an interface cannot show. Panel counts an emoji once in the text that it updates, and its page counts it twice,
so what is streamed after one is cut."""
FURTHER_LINES = "\nPlease keep it short.\n\n- no sugar\n- two cups"


def turns(name: str, number: int, label: str = "", *, pauses: bool = True) -> list[str]:
    """`number` user turns for this interface, all different: every kind in turn; one in six has several lines. label:
    of this count, if the interface is counted over more than once. pauses: whether some answers pause for longer than a
    loop by hand waits, which cuts them and is quicker for it."""
    shown = [kind for kind in KINDS if kind not in UNSHOWN.get(name, ()) and (pauses or "stream" not in kind)]
    said = [f"scenario {shown[place % len(shown)]} n={place}{label and f' of {label}'}" for place in range(number)]
    return [f"{text}{FURTHER_LINES}" if place % 6 == 5 else text for place, text in enumerate(said)]


@dataclass(frozen=True, slots=True)
class Heard:
    """What was read after a turn. hrefs: of its links, None from a loop that reads none. fault: why there is no answer.
    returned: time.time() when the next turn was possible, and shown: when the page last changed the answer, as a loop
    by hand saw it (NaN from others). truth: what the back end did; None if no turn reached it."""

    said: str
    text: str
    hrefs: frozenset[str] | None
    fault: str
    returned: float
    truth: Truth | None
    shown: float = math.nan

    @property
    def _words(self) -> tuple[list[str], list[str]]:
        assert self.truth is not None
        return words(self.truth.answer), words(self.text)

    @property
    def cut(self) -> bool:
        """Whether the answer's last words are missing."""
        written, read = self._words
        return bool(read) and read[-1:] != written[-1:] and written[-1] not in read[-3:]

    @property
    def foreign(self) -> list[str]:
        """Words that the system did not write there."""
        written, read = self._words
        return [
            word for kind, _, _, start, end in _changes(written, read) if kind != "delete" for word in read[start:end]
        ]

    @property
    def missing(self) -> list[str]:
        """Words, and addresses of links, that the system wrote and that were not read."""
        written, read = self._words
        changes = _changes(written, read)
        lost = [word for kind, start, end, _, _ in changes if kind != "insert" for word in written[start:end]]
        assert self.truth is not None
        hrefs = {href for _, href in self.truth.links} if self.hrefs is not None else set()
        return [*lost, *sorted(hrefs - (self.hrefs or frozenset()))]

    @property
    def wait(self) -> float:
        """Seconds from the last character leaving the back end to the next turn being possible."""
        return self.returned - self.truth.last if self.truth is not None and self.truth.last else math.nan

    @property
    def showing(self) -> float:
        """Seconds from the last character leaving the back end to the page showing it."""
        return self.shown - self.truth.last if self.truth is not None and self.truth.last else math.nan


def _changes(written: list[str], read: list[str]) -> list[tuple[str, int, int, int, int]]:
    matcher = SequenceMatcher(None, written, read, autojunk=False)
    return [change for change in matcher.get_opcodes() if change[0] != "equal"]


def words(text: str) -> list[str]:
    """The words and signs of a text in Markdown, without the signs of Markdown itself and its links' addresses."""
    text = re.sub(r"^\s*(```.*|[|:\- ]+)$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"^(\s*)([-*+]|\d+\.) ", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)", r"\1", text)
    return re.findall(r"\w+|[^\w\s]", re.sub(r"[\\`*_#>|~<\ufe0e\ufe0f]", " ", text))


@dataclass
class Count:
    """Over one interface: names of the counts are those of the table. lag: seconds that everything came late."""

    name: str
    lag: float
    heard: list[Heard]
    seconds: float
    twice: int

    @property
    def thrown_out(self) -> list[Heard]:
        return [one for one in self.heard if one.fault]

    @property
    def answered(self) -> list[Heard]:
        return [one for one in self.heard if not one.fault and one.truth is not None]

    @property
    def short(self) -> list[Heard]:
        return [one for one in self.answered if one.truth is not None and len(one.truth.answer) <= SHORT]

    @property
    def waits(self) -> list[float]:
        """Of the short answers."""
        return [one.wait - self.lag for one in self.short]

    def cells(self) -> list[str]:
        cut = sum(one.cut for one in self.answered)
        foreign = sum(bool(one.foreign) for one in self.answered)
        lost = sum(bool(one.missing) and not one.cut for one in self.answered)
        counts = (cut, foreign, lost, len(self.thrown_out), self.twice)
        waits = [f"{quantile(self.waits, share):.2f}" for share in (0.5, 0.95, 1.0)]
        showing = [one.showing for one in self.short if not math.isnan(one.showing)]
        page = f"{quantile(showing, 0.5):.2f}" if showing else ""
        head = self.name, f"{self.lag:.0f}", str(len(self.heard))
        return [*head, *map(str, counts), *waits, page, f"{self.seconds:.0f}"]

    def complaints(self) -> list[str]:
        """A line for each turn that did not go as it should."""
        found = []
        for one in self.heard:
            if one.fault:
                found.append(f"{one.said!r}: {one.fault[:160]}")
            elif one.truth is None:
                found.append(f"{one.said!r}: never sent, and yet {one.text[:80]!r}")
            elif one.foreign or one.missing:
                found.append(f"{one.said!r}: foreign {one.foreign[:12]}, missing {one.missing[:12]}: {one.text[:80]!r}")
            elif one.wait - self.lag > 5 and len(one.truth.answer) <= SHORT:
                found.append(f"{one.said!r}: {one.wait - self.lag:.1f} s after its last word")
        return found


HEAD = (
    "interface",
    "lag",
    "answers",
    "cut",
    "foreign",
    "lost",
    "thrown out",
    "twice",
    "wait: median",
    "95%",
    "longest",
    "of which the page",
    "all took",
)
"""Waits and lags are seconds."""


class Talk(Protocol):
    """One conversation. shown: time.time() when the last answer was last seen to change, NaN if it was not watched."""

    shown: float

    async def say(self, text: str) -> tuple[str, frozenset[str] | None]:
        """What was read, and the addresses of its links if they were. Raises DriverError or playwright's errors."""
        ...

    async def close(self) -> None: ...


Way = Callable[[str, str], AbstractAsyncContextManager[Callable[[], Awaitable[Talk]]]]
"""Gives, for the name of an interface and its address, what opens a conversation there."""


@dataclass(slots=True)
class _Driven:
    session: Session
    shown: float = math.nan

    async def say(self, text: str) -> tuple[str, frozenset[str] | None]:
        answer = (await self.session.say(text)).turn.answer
        return answer.text, frozenset(link.href for link in answer.links)

    async def close(self) -> None:
        await self.session.close()


@asynccontextmanager
async def by_driver(name: str, url: str) -> AsyncIterator[Callable[[], Awaitable[Talk]]]:
    """The driver with an address."""
    driver = build_driver("browser", {"url": url}, Surroundings(name, Path()))

    async def begun() -> Talk:
        return _Driven(await driver.open(Opening("page", "M001", 1, 1)))

    try:
        yield begun
    finally:
        await driver.close()


@dataclass(frozen=True, slots=True)
class Selectors:
    """What a loop by hand knows of a page. own: how many elements that `replies` matches are the user's in each turn.
    launcher: pressed first."""

    box: str
    replies: str
    own: int = 0
    launcher: str = ""


SELECTORS = {
    "deep-chat": Selectors("#text-input", ".ai-message-text"),
    "gradio": Selectors("textarea", "[data-testid=bot]"),
    "chainlit": Selectors("#chat-input", ".ai-message .message-content"),
    "n8n-chat": Selectors("textarea", ".chat-message-from-bot .chat-message-markdown", launcher=".chat-window-toggle"),
    "streamlit": Selectors("textarea", "[data-testid=stChatMessageContent]", own=1),
    "nicegui": Selectors("textarea", ".q-message-received .nicegui-markdown"),
    "shiny": Selectors(
        "[contenteditable=true]", ".shiny-chat-message:not(.shiny-chat-user-message) .shiny-chat-message-body"
    ),
    "panel": Selectors("textarea", ".markdown.message div", own=1),
    "mesop": Selectors("input", "mesop-markdown"),
    "assistant-ui": Selectors("textarea", ".assistant .text"),
    "chatscope": Selectors(".cs-message-input__content-editor", ".cs-message--incoming .cs-message__content"),
}


@dataclass
class _Hand:
    page: Page
    known: Selectors
    shown: float = math.nan

    async def say(self, text: str) -> tuple[str, frozenset[str] | None]:
        replies = self.page.locator(self.known.replies)
        before = await replies.count() + self.known.own
        box = self.page.locator(self.known.box).first
        # What is filled in loses its line breaks, but in a box of many lines.
        kind = await box.evaluate("box => box.isContentEditable ? 'editor' : box.tagName")
        first, *further = text.split("\n") if kind == "editor" else [text]
        await box.fill(" ".join(first.split()) if kind == "INPUT" else first)
        for line in further:
            await box.press("Shift+Enter")
            await self.page.keyboard.insert_text(line)
        await box.press("Enter")
        read, since, begun = "", time.monotonic(), time.monotonic()
        while not read.strip() or time.monotonic() - since < UNCHANGED:
            now = "\n".join((await replies.all_inner_texts())[before:])
            if now != read:
                read, since, self.shown = now, time.monotonic(), time.time()
            if time.monotonic() - begun > PATIENCE:
                raise Unanswered("no-reply")
            await asyncio.sleep(0.05)
        return read, None

    async def close(self) -> None:
        await self.page.context.close()


@asynccontextmanager
async def by_hand(name: str, url: str) -> AsyncIterator[Callable[[], Awaitable[Talk]]]:
    """The loop that anybody would write for this one page: an answer is finished once it has not changed for .5 s."""
    known = SELECTORS[name]
    async with async_playwright() as started:
        browser = await started.chromium.launch(chromium_sandbox=settings().with_sandbox, **settings().launch_options())

        async def begun() -> Talk:
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            page = await context.new_page()
            await page.goto(url)
            if known.launcher:
                await page.locator(known.launcher).click()
            await page.locator(known.box).first.wait_for()
            return _Hand(page, known)

        try:
            yield begun
        finally:
            await browser.close()


async def count(
    page: Interface, said: Sequence[str], way: Way = by_driver, *, windows: int = 2, lag: float = 0
) -> Count:
    """Say all turns, PER_CONVERSATION of them in each conversation, in so many windows at a time."""
    conversations = deque(said[first : first + PER_CONVERSATION] for first in range(0, len(said), PER_CONVERSATION))
    heard: list[Heard] = []
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(delaying(page.url, lag)) if lag else page.url
        begin = await stack.enter_async_context(way(page.name, url))
        await (await begin()).close()  # the browser is started
        before, begun = len(await asyncio.to_thread(page.truth)), time.monotonic()

        async def work() -> None:
            while conversations:
                heard.extend(await _converse(page, begin, conversations.popleft()))

        await asyncio.gather(*(work() for _ in range(windows)))
        seconds = time.monotonic() - begun
    got = Counter(" ".join(one.text.split()) for one in (await asyncio.to_thread(page.truth))[before:])
    return Count(page.name, lag, heard, seconds, sum(number > 1 for number in got.values()))


async def _converse(page: Interface, begin: Callable[[], Awaitable[Talk]], said: Iterable[str]) -> list[Heard]:
    """A conversation whose turn fails goes on in a new one."""
    heard: list[Heard] = []
    talk: Talk | None = None
    for text in said:
        read, hrefs, fault = "", None, ""
        try:
            talk = talk or await begin()
            read, hrefs = await talk.say(text)
        except (DriverError, PlaywrightError) as raised:
            fault = str(raised)
        returned = time.time()
        try:
            truth = await asyncio.to_thread(page.truth_of, text)
        except AssertionError:
            truth = None
        heard.append(Heard(text, read, hrefs, fault, returned, truth, talk.shown if talk is not None else math.nan))
        if fault and talk is not None:
            await talk.close()
            talk = None
    if talk is not None:
        await talk.close()
    return heard
