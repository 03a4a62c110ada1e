"""From a user turn just sent to its answer: pages on which the conversation does not stay where it was."""

from __future__ import annotations

import asyncio

import pytest

from harvest.pages.browser.part import Part
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Browser
from harvest.pages.chats.chat import Chat, Manners
from harvest.pages.chats.experience import Experience
from harvest.pages.sites.description import site_of
from harvest.systems.driver import Unanswered
from tests.support.browsing import pages

SWEPT = """<!doctype html><body><main role=log><p>Hello, ask me anything about the harbour.</p></main>
<form><textarea></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
const sweep = () => {
  document.open();
  document.write("<p>The office is open from nine to five, and on Sundays from ten to noon.</p>");
  document.close();
};
const strip = () => document.body.innerHTML = "<p>The office is open from nine to five.</p>";
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  log.insertAdjacentHTML("beforeend", `<p>${box.value}</p><p>The harbour is</p>`);
  box.value = "";
  setTimeout(SWEEP, 200);
};
</script>"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("sweep", ["sweep", "strip"])
async def test_what_a_page_becomes_before_it_is_first_looked_at_is_no_answer(
    browser: Browser, sweep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    click = Part.click

    async def slow(part: Part) -> None:
        await click(part)
        await asyncio.sleep(1.5)  # a busy machine

    monkeypatch.setattr(Part, "click", slow)
    async with pages({"/": SWEPT.replace("SWEEP", sweep)}) as server:
        window = await browser.sitting(BrowserSettings())
        chat = Chat(window, site_of({}), Manners(), Experience())
        await chat.open(server.url)
        with pytest.raises(Unanswered, match="page-reloaded"):
            await chat.say("Where is the harbour?")
        await window.close()
