"""Buttons on real pages in a real browser: pressed, answered, and only if the answer offers them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import (
    DriverError,
    Greeting,
    NotSent,
    Opening,
    Pressing,
    Session,
    Surroundings,
    Unanswered,
)
from protocols.answer import Offer
from tests.harvest.cli.test_menu import AUDIT, assert_is_the_graph, walked
from tests.servers.menu_bots import serving_menu
from tests.support.interfaces import interface

QUIET = 0.6  # seconds; the page writes its answers at once


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[str]]]:
    with serving_menu("page") as served:
        yield served


async def talk(url: str, *presses: Offer, idle: float = 0.0) -> list[str | tuple[type[DriverError], str]]:
    """The texts of the answers to a greeting and to these presses, or what prevented them. idle: seconds before one."""
    options = {"url": url, "site": {"quiet": QUIET}, "evidence": ()}
    driver = build_driver("browser", options, Surroundings("page", Path()))
    session: Session = await driver.open(Opening("page", "M002", 1, 1))
    assert isinstance(session, Pressing)
    said: list[str | tuple[type[DriverError], str]] = [(await session.say("hello there")).turn.answer.text]
    try:
        for offer in presses:
            await asyncio.sleep(idle)
            said.append((await session.press(offer)).turn.answer.text)
    except DriverError as fault:
        said.append((type(fault), fault.reason))
    finally:
        await session.close()
        await driver.close()
    return said


HOME, HOURS, ROOMS = "Hello, this is the menu.", "We open at nine.", "There are two rooms here."


@pytest.mark.parametrize("odd", ["", "?list"])
async def test_buttons_and_lists_are_pressed(server: tuple[str, list[str]], odd: str) -> None:
    presses = (Offer("Opening hours"), Offer("Rooms"), Offer("Main menu"), Offer("Rooms"))
    assert await talk(f"{server[0]}/{odd}", *presses) == [HOME, HOURS, ROOMS, HOME, ROOMS]


async def test_what_the_last_answer_does_not_offer_is_not_pressed(server: tuple[str, list[str]]) -> None:
    assert await talk(server[0], Offer("Opening hours"), Offer("Opening hours")) == [
        *(HOME, HOURS),
        (Unanswered, "button-gone"),
    ]


async def test_a_button_that_is_gone_was_not_pressed(server: tuple[str, list[str]]) -> None:
    assert await talk(f"{server[0]}/?brief", Offer("Rooms"), idle=2) == [HOME, (NotSent, "button-gone")]


async def test_a_button_that_sends_a_form_is_not_pressed(server: tuple[str, list[str]]) -> None:
    assert await talk(f"{server[0]}/?form", Offer("Rooms")) == [HOME, (Unanswered, "button-form")]


def test_the_graph_of_a_page_is_recovered(server: tuple[str, list[str]], tmp_path: Path) -> None:
    options = f'{{url: "{server[0]}", site: {{quiet: {QUIET}}}, evidence: []}}'
    (tmp_path / "audit.yaml").write_text(f"{AUDIT}  - {{name: page, driver: browser, options: {options}}}\n")
    assert_is_the_graph(walked(tmp_path, "--least", 1, "--say", "hello there"), "page")
    assert server[1] == []


async def test_a_greeting_is_heard_once_and_its_button_pressed(server: tuple[str, list[str]]) -> None:
    options = {"url": f"{server[0]}/?greeting", "site": {"quiet": QUIET}, "evidence": (), "greets": True}
    driver = build_driver("browser", options, Surroundings("page", Path()))
    assert driver.capabilities.greets
    session: Session = await driver.open(Opening("page", "M002", 1, 1))
    assert isinstance(session, Greeting)
    assert isinstance(session, Pressing)
    heard = session.greeting
    assert heard is not None
    assert heard.text == HOME
    assert [one.title for one in heard.offers] == ["Opening hours", "Rooms", "Book a table"]
    first, second = await session.press(heard.offers[1]), await session.press(Offer("Small room"))
    assert (first.turn.answer.text, first.turn.greeting, first.turn.greeting_offers) == (ROOMS, HOME, heard.offers)
    assert (second.turn.answer.text, second.turn.greeting) == ("The small room is blue.", "")
    await session.close()
    await driver.close()


def test_the_graph_of_a_page_is_recovered_from_its_greeting(server: tuple[str, list[str]], tmp_path: Path) -> None:
    options = f'{{url: "{server[0]}/?greeting", site: {{quiet: {QUIET}}}, evidence: [], greets: true}}'
    (tmp_path / "audit.yaml").write_text(f"{AUDIT}  - {{name: page, driver: browser, options: {options}}}\n")
    assert_is_the_graph(walked(tmp_path, "--least", 1, "--greeting"), "page")
    assert server[1] == []


async def test_the_starters_of_an_interface_of_others_are_heard_and_pressed() -> None:
    with interface("deep-chat") as page:
        options = {"url": f"{page.url}?starters", "evidence": (), "greets": True}
        driver = build_driver("browser", options, Surroundings("page", Path()))
        session: Session = await driver.open(Opening("page", "M002", 1, 1))
        assert isinstance(session, Greeting)
        assert isinstance(session, Pressing)
        heard = session.greeting
        assert heard is not None
        assert (heard.text, [one.title for one in heard.offers]) == (
            "Hello! Choose one, or write.",
            ["What is on?", "Where are you?"],
        )
        replies = [await session.press(heard.offers[1]), await session.say("and now?")]
        await session.close()
        await driver.close()
        truths = page.truth()
    assert [one.text for one in truths] == ["Where are you?", "and now?"]
    assert [one.turn.answer.text for one in replies] == [one.answer for one in truths]
    assert replies[0].turn.greeting_offers == heard.offers
