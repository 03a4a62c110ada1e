"""What a page asks before one may talk is named, and nothing is typed into it as if it were the chat."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harvest.drivers.registry import build_driver
from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.finding.discovery import find_composer
from harvest.pages.finding.doors import Door, find_door
from harvest.pages.reading.page import Page
from harvest.systems.driver import Denied, Opening, Reply, Surroundings
from tests.support.browsing import pages

BAR = '<div class="chat-bar"><textarea placeholder="Message" style="width:600px"></textarea><button>Send</button></div>'

DOORS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a name": (
        '<form><p>What is your name?</p><input name="n" placeholder="Your name" required> <button>Start chat</button>'
        "</form>",
        ("Your name",),
    ),
    "a question without a name for its field": (
        '<div class="chat-widget"><div>Wie heißen Sie?</div><div><input><button>Weiter</button></div></div>',
        ("Wie heißen",),
    ),
    "name and address": (
        '<form class="prechat"><label>Nom <input name="nom"></label><label>Courriel <input type="email" name="mail">'
        "</label><button>Démarrer</button></form>",
        ("Nom", "Courriel"),
    ),
    "an address alone": (
        '<form><input type="email" placeholder="you@example.com"><button>Continue</button></form>',
        ("you",),
    ),
    "a name in Japanese": ("<form><label>お名前<input></label><button>開始</button></form>", ("お名前",)),
    "terms to tick": (
        '<form id="chat-start"><label><input type="checkbox" id="terms"> I agree to the terms</label>'
        "<button>Start chat</button></form>",
        ("I agree",),
    ),
    "a name in a window over the chat": (
        f'{BAR}<div style="position:fixed;inset:0;background:#fff"><form><label>Name <input name="n"></label>'
        "<button>Start</button></form></div>",
        ("Name",),
    ),
}
FREE = {
    "a chat": BAR,
    "a chat in a line": '<div class="chat"><input placeholder="Type a message"><button>Send</button></div>',
    "a chat that asks for anything": '<form><input placeholder="Name a film, ask about it"><button>Ask</button></form>',
    "a newsletter": '<h1>Chairs</h1><form><input type="email" placeholder="E-mail"><button>Subscribe</button></form>',
    "a log-in": '<form><input type="email"><input type="password"><button>Log in</button></form>',
    "a search": '<form role="search"><input type="search" placeholder="Search by name"><button>Search</button></form>',
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def seen(browser: Browser) -> dict[str, Page]:
    content = {**{name: html for name, (html, _) in DOORS.items()}, **FREE}
    paths = {f"/{number}": f"<!doctype html><body>{html}" for number, html in enumerate(content.values())}
    found = {}
    async with pages(paths) as server:
        window = await browser.open_window(BrowserSettings())
        for path, name in zip(paths, content):
            await window.goto(server.url.rstrip("/") + path)
            found[name] = await window.frames()[0].look()
        await window.close()
    return found


@pytest.mark.parametrize("name", DOORS)
def test_fields_before_a_chat_are_recognised(seen: dict[str, Page], name: str) -> None:
    door = find_door(seen[name])
    assert door is not None
    for asked in DOORS[name][1]:
        assert any(asked in one for one in door.asks), door
    assert (len(door.fields), door.button is None) == (len(DOORS[name][1]), False)
    typed = [one.node for one in find_composer(seen[name]) if one.score >= 0.5]
    assert [node.tag for node in typed] == (["textarea"] if "over the chat" in name else [])


@pytest.mark.parametrize("name", FREE)
def test_a_page_without_fields_before_the_chat_has_none_of_these(seen: dict[str, Page], name: str) -> None:
    assert find_door(seen[name]) is None
    if "chat" in name:
        assert any(one.score >= 0.5 for one in find_composer(seen[name]))


def test_the_needed_entries_of_a_site_file_are_named() -> None:
    door = Door(("Your name", "terms"), (("input[name='n']", "Audit"), ("#terms", True)), "form button")
    assert door.advice == "fill: {'input[name=''n'']': 'Audit', '#terms': true} and open: ['form button']"


ASKING = """<!doctype html><body><form><p>What is your name?</p><label>Your name <input name="n" required></label>
<label>Topic <select name="s"><option>Chairs</option><option>Tables</option></select></label>
<label><input type="checkbox" id="terms" required> I agree to the terms</label><button>Begin</button></form>
<div id="log" role="log" style="height:400px"></div>
<div id="bar" style="display:none"><textarea placeholder="Message" style="width:600px"></textarea>
<button>Send</button></div>
<script>
const form = document.querySelector("form"), bar = document.getElementById("bar"), box = bar.querySelector("textarea");
form.onsubmit = (event) => {
  event.preventDefault();
  window.told = [form.n.value, form.s.value, document.getElementById("terms").checked].join(", ");
  form.remove();
  bar.style.display = "";
};
const add = (who, text) => log.insertAdjacentHTML("beforeend", `<div class="${who}"><p>${text}</p></div>`);
bar.querySelector("button").onclick = () => {
  add("user", box.value);
  box.value = "";
  setTimeout(() => add("bot", `You are: ${window.told}.`), 50);
};
</script>"""


@pytest.fixture(scope="module")
def played() -> list[Any]:
    return asyncio.run(_played())


async def _played() -> list[Any]:
    """What comes of a turn without a site file and with one."""
    site = {"fill": {"input[name=n]": "An audit", "select": "Tables", "#terms": True}, "open": "form button"}
    outcomes: list[Any] = []
    async with pages({"/": ASKING}) as server:
        for options in ({}, {"site": site}):
            driver = build_driver("browser", {"url": server.url, **options}, Surroundings("page", Path()))
            try:
                session = await driver.open(Opening("page", "topic", 1, 1))
                outcomes.append(await session.say("Who am I?"))
                await session.close()
            except Denied as fault:
                outcomes.append(fault)
            finally:
                await driver.close()
    return outcomes


def test_a_page_with_fields_before_the_chat_is_not_changed_and_names_the_site_file_entries(played: list[Any]) -> None:
    fault = played[0]
    assert isinstance(fault, Denied)
    assert fault.reason == "asks-first"
    assert "'Your name'" in fault.detail
    assert "fill: {" in fault.detail


def test_a_site_file_fills_in_the_fields_before_a_chat(played: list[Any]) -> None:
    assert isinstance(played[1], Reply)
    assert played[1].turn.answer.text == "You are: An audit, Tables, true."
