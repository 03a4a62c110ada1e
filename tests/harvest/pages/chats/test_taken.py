"""Answers without any sign of their end: what comes after they were taken for whole is seen, and learnt from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Browser
from harvest.pages.chats.chat import Chat, Manners
from harvest.pages.chats.completion import Patience
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.taken import take
from harvest.pages.reading.page import Page
from harvest.pages.reading.turn import Habits, read_turn
from harvest.pages.sites.description import site_of
from harvest.systems.driver import Unanswered
from tests.support.browsing import pages, run
from tests.support.snapshots import COMPOSER, snapshot

pytestmark = pytest.mark.asyncio(loop_scope="session")

MANNERS = Manners(patience=Patience(alone=0.4), open_seconds=20, answer_seconds=30)
CHAT = """<!doctype html><body><main role=log style="height:500px"></main>
<form><textarea style="width:600px"></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
const rest = () => log.querySelector(".bot:last-of-type p").append(" And this is the rest of it.");
let late = () => {};
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  late();
  log.insertAdjacentHTML("beforeend", `<div class=user>${box.value}</div>`);
  box.value = "";
  setTimeout(() => log.insertAdjacentHTML("beforeend", "<div class=bot><p>This is the beginning.</p></div>"), 50);
};
</script>"""
SIGNED = CHAT.replace("late();", 'log.setAttribute("aria-busy", "true");').replace(
    '</p></div>"), 50', '</p></div>") || log.removeAttribute("aria-busy"), 900'
)
"""The same, with a sign that tells when the answer has ended."""
WHOLE = "This is the beginning. And this is the rest of it."


@asynccontextmanager
async def chatting(browser: Browser, known: Experience, page: str = CHAT) -> AsyncIterator[Chat]:
    async with pages({"/": page}) as server:
        window = await browser.sitting(BrowserSettings())
        try:
            chat = Chat(window, site_of({}), MANNERS, known)
            await chat.open(server.url)
            said = await chat.say("How does it begin?")
            assert (said.answer.text, said.finish) == ("This is the beginning.", "quiet" if page is CHAT else "signs")
            yield chat
        finally:
            await window.close()


@pytest.mark.parametrize(
    "when",
    [
        "while the next turn is answered",
        "before the page closes",
        pytest.param("before the next turn", marks=pytest.mark.soak),
    ],
)
async def test_an_answer_that_goes_on_after_it_was_taken_for_whole_is_named_and_asks_for_more_quiet(
    browser: Browser, when: str
) -> None:
    known = Experience()
    async with chatting(browser, known) as chat:
        later = "() => { late = rest; }" if when.startswith("while") else "() => rest()"
        await run(chat.place.frame, later)
        with pytest.raises(Unanswered, match=r"went-on: the answer to 'How does it begin\?' continued") as fault:
            await (chat.settle() if when.endswith("closes") else chat.say("And then?"))
    assert fault.value.partial == WHOLE
    assert known.alone >= 1.5 * MANNERS.patience.alone


@pytest.mark.parametrize("when", ["before the next turn", "before the page closes"])
async def test_a_turn_that_the_page_shows_again_after_its_answer_was_sent_twice(browser: Browser, when: str) -> None:
    async with chatting(browser, Experience(), SIGNED) as chat:
        await run(chat.place.frame, "() => log.append(...[...log.children].map((turn) => turn.cloneNode(true)))")
        with pytest.raises(Unanswered, match="sent-twice: after the answer, the page shows the previous turn twice"):
            await (chat.settle() if when.endswith("closes") else chat.say("And then?"))


async def test_an_answer_that_stays_as_it_was_may_be_followed_and_settled(browser: Browser) -> None:
    known = Experience()
    async with chatting(browser, known) as chat:
        await run(chat.place.frame, "() => log.insertAdjacentHTML('beforeend', '<time>12:01</time>')")
        assert (await chat.say("And then?")).answer.text == "This is the beginning."
        await chat.settle()
        await chat.settle()
    assert known.alone == 0


def page(answer: str, *, after: str = "") -> Page:
    said = (
        f'<p h-id="1" class="user" h-born="5">How?</p><div h-id="2" class="bot" h-born="900"><p h-id="3">{answer}</p>'
    )
    return snapshot(f'<main role="log">{said}</div>{after}</main>{COMPOSER}')


AFTER = '<p h-id="7" class="user" h-born="9">And?</p><div h-id="8" class="bot" h-born="990"><p h-id="9">So.</p></div>'


@pytest.mark.parametrize("now", ["It is so.", "It is", "Something else that is longer", "It is so. (edited)…"[:9]])
async def test_only_the_same_text_with_more_at_its_end_has_gone_on(now: str) -> None:
    before = page("It is so.")
    turn = read_turn(before, "How?")
    assert turn.text == "It is so."
    taken = take(before, turn, "How?", 4.0, Habits())
    taken.check(page(now))
    taken.check_later(page(now, after=AFTER))
    for longer in ("It is so. Or not.", "It is so, or not."):
        with pytest.raises(Unanswered, match="went-on"):
            taken.check(page(longer))
        with pytest.raises(Unanswered, match="went-on"):
            taken.check_later(page(longer, after=AFTER))


async def test_an_answer_whose_elements_have_left_the_page_is_not_held_to_others() -> None:
    before = page("It is so.")
    taken = take(before, read_turn(before, "How?"), "How?", 4.0, Habits())
    taken.check_later(snapshot(f'<main role="log">{AFTER}</main>{COMPOSER}'))
