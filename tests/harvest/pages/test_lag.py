"""Pages whose server is far away: behind a proxy that brings everything late, each turn goes once and is answered once.

Most pages show a turn only after its server has answered to it, and until then nothing on them tells that it was taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Driver, DriverError, Opening, Surroundings
from tests.servers.delay import delaying
from tests.servers.page_replies import reply_of
from tests.support.browsing import pages
from tests.support.interfaces import FURTHER, NAMES, Interface, Pages, awkward_pages, interface

LAG = 4.0  # seconds in each direction
CONVERSATIONS, TURNS, TOGETHER = 10, 10, 5
OWN = ("web-socket", "acknowledged", "launcher")
TOKEN = re.compile(r"\b(?:Begin|End) ([0-9a-f]{8})\.")
SHOP = """<!DOCTYPE html><meta charset="utf-8"><title>Shop</title><h1>Our shop</h1><p>Boats, nets and knots.</p>
<button class="launcher" aria-label="Open chat" aria-expanded="false" style="position: fixed; right: 20px; bottom: 20px;
width: 60px; height: 60px; border-radius: 30px">💬</button>
<script>
const button = document.querySelector("button");
let frame = null;
button.onclick = () => {
  if (frame) { frame.remove(); frame = null; } else {
    frame = Object.assign(document.createElement("iframe"), {src: "CHAT", title: "Chat"});
    frame.style = "position: fixed; right: 20px; bottom: 90px; width: 700px; height: 600px";
    document.body.append(frame);
  }
  button.setAttribute("aria-expanded", String(frame !== null));
};
</script>"""


@dataclass
class Course:
    """How the turns on one page went. opened: seconds for each conversation. took: seconds for each answered turn.
    wrong: answers that are not those of their turns. faults: reasons of turns without an answer, and of openings."""

    opened: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def row(self, name: str, sent: Counter[str]) -> str:
        times = [f"{max(values, default=float('nan')):.0f} s" for values in (self.opened, self.took)]
        counts, faults = Counter(sent[text] for text in self.said), Counter(self.faults)
        return (
            f"{name}: {len(self.opened)} opened ({times[0]} at most), {len(self.took)} of {len(self.said)} answered "
            f"({times[1]} at most), sent {dict(counts)}, wrong {len(self.wrong)}, faults {dict(faults)}"
        )


class Page:
    """One page of the tests, and what its back end knows. path: of the page, where its interface has several."""

    def __init__(self, name: str, behind: Interface | Pages) -> None:
        self.name, self.behind = name, behind
        own, _, path = name.partition("/")
        self.url = behind.url(own) if isinstance(behind, Pages) else f"{behind.url}{path}"

    def right(self, turn: int, said: str, answer: str) -> bool:
        """Whether this is the answer to that turn, whole and alone."""
        if isinstance(self.behind, Pages):
            return answer == reply_of(self.name, turn, said).markdown
        token = self.behind.truth_of(said).token
        return set(TOKEN.findall(answer)) == {token} and f"End {token}." in answer

    def sent(self) -> Counter[str]:
        """How often the back end got each turn."""
        return Counter(one.text.strip() for one in self.behind.truth())


@contextlib.contextmanager
def page_of(name: str) -> Iterator[Page]:
    if name in OWN:
        with awkward_pages() as behind:
            yield Page(name, behind)
    else:
        with interface(name.partition("/")[0]) as running:
            yield Page(name, running)


@asynccontextmanager
async def far_away(page: Page, lag: float, *, framed: bool) -> AsyncIterator[Driver]:
    """A driver for the page behind the proxy, within a frame that a launcher opens or by itself."""
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(delaying(page.url, lag))
        if framed:
            url = (await stack.enter_async_context(pages({"/": SHOP.replace("CHAT", url)}))).url
        driver = build_driver("browser", {"url": url}, Surroundings("page", Path()))
        try:
            yield driver
        finally:
            await driver.close()


async def converse(driver: Driver, page: Page, number: int, turns: int, course: Course) -> None:
    begun = time.monotonic()
    try:
        session = await driver.open(Opening("page", "M001", number, 1))
    except DriverError as fault:
        course.faults.append(f"opening: {fault.reason}")
        return
    course.opened.append(time.monotonic() - begun)
    try:
        for turn in range(1, turns + 1):
            said = f"scenario quick n={number} t={turn} of {page.name}"
            course.said.append(said)
            begun = time.monotonic()
            try:
                answer = (await session.say(said)).turn.answer.text
            except DriverError as fault:
                course.faults.append(fault.reason)
                continue
            course.took.append(time.monotonic() - begun)
            if not await asyncio.to_thread(page.right, turn, said, answer):
                course.wrong.append(answer)
    finally:
        await session.close()


async def play(page: Page, lag: float, conversations: int, turns: int, *, framed: bool = False) -> Course:
    course = Course()
    places = asyncio.Semaphore(TOGETHER)

    async def one(driver: Driver, number: int) -> None:
        async with places:
            await converse(driver, page, number, turns, course)

    async with far_away(page, lag, framed=framed) as driver:
        await asyncio.gather(*(one(driver, number) for number in range(conversations)))
    return course


def check(page: Page, course: Course, wanted: int) -> None:
    sent = page.sent()
    print(f"\n{course.row(page.name, sent)}")
    assert course.faults == []
    assert course.wrong == []
    assert len(course.took) == wanted
    assert {text: sent[text] for text in course.said} == dict.fromkeys(course.said, 1)


async def test_each_turn_is_sent_once_although_its_server_is_two_seconds_away() -> None:
    with page_of("acknowledged") as page, page_of("web-socket") as other:
        courses = await asyncio.gather(play(page, LAG / 2, 1, 2), play(other, LAG / 2, 1, 2, framed=True))
        check(page, courses[0], 2)
        check(other, courses[1], 2)


FAR = ("deep-chat/", "deep-chat/socket", *NAMES[1:], *OWN, *FURTHER)


@pytest.mark.soak
@pytest.mark.parametrize("name", FAR)
def test_a_hundred_turns_are_sent_once_each_and_get_their_own_answers(name: str) -> None:
    with page_of(name) as page:
        check(page, asyncio.run(play(page, LAG, CONVERSATIONS, TURNS)), CONVERSATIONS * TURNS)


@pytest.mark.soak
@pytest.mark.parametrize("name", [name for name in FAR if name not in ("launcher", "n8n-chat")])
def test_a_distant_chat_is_opened_in_a_frame_behind_a_launcher(name: str) -> None:
    with page_of(name) as page:
        check(page, asyncio.run(play(page, LAG, 2, 2, framed=True)), 4)
