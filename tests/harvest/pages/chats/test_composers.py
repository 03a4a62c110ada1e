"""What is typed into boxes that others wrote arrives as it was meant, or how it differs stands in the recording."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harvest.drivers.browser import BrowserDriver
from harvest.drivers.registry import build_driver
from harvest.pages.browser.process import Browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.systems.driver import DriverError, Opening, Reply, Surroundings
from tests.servers.composers import COMPOSERS, Arrivals, composing
from tests.support.browsing import settings

AT_ONCE = 4
PAGES = (*COMPOSERS, "prosemirror?bare")
KEYS_ONLY = tuple(f"{name}{'&' if '?' in name else '?'}enter" for name in PAGES)
"""The same pages where Enter is the only way to send."""
SOAKED = ("plaintext", "quill", "slate", "codemirror", "prosemirror?bare")
"""Played under the marker `soak`, as all are with more kinds of text."""
FEW = tuple(name for name in PAGES if name not in SOAKED)

MIXED = """What is "best" of 'Stalker' -- or 1970--1990 ... and f(x) = {a: [1]} <b>&amp;</b>?
- a film, 映画 🌧️👩‍👩‍👧
1. https://www.imdb.com/title/tt0079944/?ref_=a_b&x=1
# of @al and /imdb, :sm

```
print("x")
```
Thanks"""
TURNS: Mapping[str, str] = {
    "all kinds of signs on several lines": MIXED,
    "a quote at the end": 'Which films are called "Solaris"',
    "what opens a menu at the end": "ask @al",
    "a long line": " ".join(f"word{number}" for number in range(800)),
}
MORE: Mapping[str, str] = {
    "quotes": """Please find "Stalker" and 'Solaris', what is "best"?""",
    "dashes": "Films from 1990--2000 -- not older --- and so on - ok",
    "breaks": "Give me three films with IMDb.\nFormat: title, URL\nThanks",
    "empty lines": "First part.\n\nSecond part after an empty line.\n\n\nThird.",
    "emoji": "Films for a rainy day 🌧️👩‍👩‍👧 please 🙂",
    "addresses": "What is https://www.imdb.com/title/tt0079944/?ref_=a_b&x=1 and www.example.org/a_(b)?",
    "lists": "- a\n- b\n\n1. one\n2. two\n# head\n> quote\n* star\n+ plus",
    "code": 'Run\n```\nprint("x")\n  indented\n\ttabbed\n```\nand `this` **bold** _so_',
    "spaces": "two  spaces and\ta tab",
    "many lines": "\n".join(f'Line {number} of a long question with "quotes".' for number in range(120)),
    "japanese": "「ソラリス」という映画は？\n二行目：・一つ",
    "arabic": 'ما هو فيلم "سولاريس"؟\nالسطر الثاني',
    "a line three times as long": " ".join(f"word{number}" for number in range(2500)),
    "one sign": "?",
    "a slash": "/summ",
    "a smile": "what is :sm",
    "dots at the end": "I wonder...",
}


@dataclass(frozen=True, slots=True)
class Typed:
    """arrived: what the server got of a turn, one text for each time it got something."""

    arrived: tuple[str, ...]
    came: Reply | DriverError


Played = dict[str, dict[str, Typed]]


async def play_all(names: Sequence[str], turns: Mapping[str, str]) -> Played:
    browser = await Browser.launch(settings())
    places = asyncio.Semaphore(AT_ONCE)
    try:
        async with composing() as arrivals:

            async def one(name: str) -> dict[str, Typed]:
                async with places:
                    return await play(browser, arrivals, name, turns)

            return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))
    finally:
        await browser.close()


async def play(browser: Browser, arrivals: Arrivals, name: str, turns: Mapping[str, str]) -> dict[str, Typed]:
    driver = build_driver("browser", {"url": f"{arrivals.url}/{name}"}, Surroundings(name, Path()))
    assert isinstance(driver, BrowserDriver)
    driver._relay = BrowserRotation(driver._settings, first=browser)
    session = await driver.open(Opening(name, "topic", 1, 1))
    came = arrivals.texts.setdefault(name, [])
    typed = {}
    try:
        for what, text in turns.items():
            before = len(came)
            try:
                outcome: Reply | DriverError = await session.say(text)
            except DriverError as fault:
                outcome = fault
            typed[what] = Typed(tuple(came[before:]), outcome)
    finally:
        await session.close()
    return typed


def check(meant: str, typed: Typed) -> None:
    if isinstance(typed.came, DriverError):
        assert typed.arrived == (), f"{typed.came}, and yet it was sent"
        raise typed.came
    (arrived,) = typed.arrived
    assert (typed.came.turn.sent_as or meant).strip() == arrived.strip()


@pytest.fixture(scope="module")
def played() -> Played:
    return asyncio.run(play_all(FEW, TURNS))


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("what", TURNS)
def test_the_arriving_text_is_the_intended_one_or_the_change_is_reported(played: Played, name: str, what: str) -> None:
    check(TURNS[what], played[name][what])


@pytest.mark.parametrize("name", [name for name in FEW if name != "input"])
def test_nothing_is_lost_or_changed_if_the_box_can_contain_it(played: Played, name: str) -> None:
    assert [what for what, typed in played[name].items() if typed.arrived != (TURNS[what],)] == []


def test_a_box_of_one_line_joins_the_lines_and_this_is_reported(played: Played) -> None:
    reply = played["input"]["all kinds of signs on several lines"].came
    assert isinstance(reply, Reply)
    assert reply.turn.sent_as == MIXED.replace("\n", " ")


@pytest.mark.soak
@pytest.mark.parametrize("name", [*PAGES, *KEYS_ONLY])
def test_every_kind_of_text_arrives_by_button_and_by_key(name: str) -> None:
    turns = {**TURNS, **MORE}
    typed = asyncio.run(play_all([name], turns))[name]
    for what, one in typed.items():
        check(turns[what], one)
    if name in PAGES and name != "input":
        test_nothing_is_lost_or_changed_if_the_box_can_contain_it({name: {what: typed[what] for what in TURNS}}, name)
