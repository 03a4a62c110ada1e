"""Turns on a page in a real browser: what comes over the chat once an answer is whole is in the way of the next."""

from __future__ import annotations

import asyncio

import pytest

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.chats.chat import Chat, Manners
from harvest.pages.chats.completion import Patience
from harvest.pages.chats.experience import Experience
from harvest.pages.sites.site import site_of
from harvest.systems.driver import Denied
from tests.servers.local_http import Asked, response
from tests.support.browsing import pages

pytestmark = pytest.mark.asyncio(loop_scope="session")

MANNERS = Manners(patience=Patience(covered=1.5), open_seconds=20, answer_seconds=30)
WALLED = """<!doctype html><body><main role=log style="height:500px"></main>
<form><textarea style="width:600px"></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  log.insertAdjacentHTML("beforeend", `<div class=user>${box.value}</div><div class=bot><p></p></div>`);
  box.value = "";
  const text = await (await fetch("/say", {method: "POST", body: "x"})).text();
  const wall = () => document.body.insertAdjacentHTML("beforeend", `<div role=dialog aria-modal=true
    style="position:fixed; inset:0; background:#eee"><h2>Sign in to go on</h2><p>This was the last free page.</p>
    <button>Continue with e-mail</button></div>`);
  if (WALL < 0) return wall();
  log.querySelector(".bot:last-child p").textContent = text;
  setTimeout(wall, WALL);
};
</script>"""


async def say(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(response("200 OK", "The reading room is on the second floor.", media_type="text/plain"))


@pytest.mark.parametrize(
    ("wall", "answers"),
    [(900, 1), (-1, 0), (0, 0)],
    ids=["after the answer", "in its place", "with it, so that it may have been cut"],
)
async def test_a_log_in_that_appears_after_the_complete_answer_ends_the_next_turn_and_not_this_one(
    browser: Browser, wall: int, answers: int
) -> None:
    got: list[str] = []
    async with pages({"/": WALLED.replace("WALL", str(wall))}, say) as server:
        window = await browser.open_window(BrowserSettings())
        try:
            chat = Chat(window, site_of({}), MANNERS, Experience())
            await chat.open(server.url)
            if answers:
                got.append((await chat.say("Where do I read?")).answer.text)
            with pytest.raises(Denied, match="login: Sign in to go on"):
                await chat.say("And where is that?")
        finally:
            await window.close()
    assert got == ["The reading room is on the second floor."] * answers
