"""From a user turn just sent to its answer: pages on which the conversation does not stay where it was."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote, urlsplit

import pytest

from harvest.pages.browser.part import Part
from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.chats.chat import Chat, Manners
from harvest.pages.chats.experience import Experience
from harvest.pages.sites.site import site_of
from harvest.systems.driver import Unanswered
from tests.servers.local_http import Asked, response
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
async def test_the_pages_state_before_it_is_first_read_is_not_an_answer(
    browser: Browser, sweep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    click = Part.click

    async def slow(part: Part) -> None:
        await click(part)
        await asyncio.sleep(1.5)  # a busy machine

    monkeypatch.setattr(Part, "click", slow)
    async with pages({"/": SWEPT.replace("SWEEP", sweep)}) as server:
        window = await browser.open_window(BrowserSettings())
        chat = Chat(window, site_of({}), Manners(), Experience())
        await chat.open(server.url)
        with pytest.raises(Unanswered, match="page-reloaded"):
            await chat.say("Where is the harbour?")
        await window.close()


EMPTIES = """<!doctype html><body><main role=log></main><form><textarea></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
const add = (html) => log.insertAdjacentHTML("beforeend", html);
const asked = () => (add(`<section class=human><p>${said}</p></section>`), log.lastChild);
const made = (html) => { asked(); add(`<article class=reply>${html}</article>`); return log.lastChild.lastChild; };
const WAYS = [
  () => { const place = made("<div></div>"); return (text) => place.innerHTML = `<p>${text}</p>`; },
  () => { const place = made("<p>…</p>"); return (text) => place.textContent = text; },
  () => { const place = made("<p>Thinking…</p>"); return (text) => place.firstChild.data = text; },
  () => { const place = made("<header>Bot</header><div></div>"); return (text) => place.append(text); },
  () => {
    add(`<div class=turn><div class=ask>${said}</div><div class=given></div></div>`);
    const place = log.lastChild.lastChild;
    return (text) => place.textContent = text;
  },
];
const ANSWERS = ["Yes.", "1987", "Lighthouse", "Mia", "12:30"];
let said = "", turn = 0;
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  [said, box.value] = [box.value, ""];
  const answer = ANSWERS[turn], way = WAYS[turn++]();
  way(await (await fetch("/answer?" + answer)).text());
};
</script>"""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_short_answer_in_an_existing_bubble_is_distinguished_from_a_state(
    browser: Browser,
) -> None:
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.15)
        writer.write(response("200 OK", unquote(urlsplit(asked.target).query)))

    found = []
    async with pages({"/": EMPTIES}, answer) as server:
        window = await browser.open_window(BrowserSettings())
        chat = Chat(window, site_of({}), Manners(), Experience())
        await chat.open(server.url)
        for turn in range(5):
            said = await chat.say(f"What is number {turn} of them called?")
            found.append((said.answer.text, said.finish, said.first is not None and said.first > 0.1))
        await window.close()
    # Nothing but the quiet of half a minute told these before, and each was as old as the user's words.
    assert found == [(text, "signs", True) for text in ("Yes.", "1987", "Lighthouse", "Mia", "12:30")]
