"""Answers without any sign of their end: what comes after they were taken for whole is seen, and learnt from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.chats.chat import LASTING_NOTE, Chat, Manners
from harvest.pages.chats.completion import Patience
from harvest.pages.chats.experience import Experience
from harvest.pages.chats.taken import Change, ChangedAnswer, RecordedAnswer, has_grown
from harvest.pages.reading.page import Page
from harvest.pages.reading.turn import Habits, read_turn
from harvest.pages.sites.site import site_of
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
        window = await browser.open_window(BrowserSettings())
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
async def test_an_answer_that_continues_after_it_was_accepted_is_named_and_needs_more_quiet(
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


@pytest.mark.parametrize("more", [" And this is the rest of it.", ' See <a href="https://x.test/">this</a>.'])
async def test_an_addition_after_a_sign_showed_the_end_is_seen_and_awaited_from_then_on(
    browser: Browser, more: str
) -> None:
    known = Experience()
    async with chatting(browser, known, SIGNED) as chat:
        await run(chat.place.frame, "(more) => log.querySelector('.bot p').insertAdjacentHTML('beforeend', more)", more)
        with pytest.raises(Unanswered, match="went-on") as fault:
            await chat.settle()
    assert fault.value.partial.startswith("This is the beginning. ")
    assert ("https://x.test/" in fault.value.partial) == ("href" in more)
    assert known.after > 0


STAND_IN = "Please wait while I ask the harbour office."
ASKED = CHAT.replace("This is the beginning.", STAND_IN)
WAYS = {
    "in its place": "text => { log.querySelector('.bot p').textContent = text; }",
    "in a bubble of its own": "text => { log.querySelector('.bot').remove();"
    ' log.insertAdjacentHTML("beforeend", `<div class=bot><p>${text}</p></div>`); }',
    "word by word": "text => { const p = log.querySelector('.bot p'); p.textContent = '';"
    " for (const word of text.split(' ')) p.append(word + ' '); }",
}


@pytest.mark.parametrize(
    ("way", "when"),
    [
        pytest.param(way, when, marks=[] if number == place else pytest.mark.soak)
        for number, way in enumerate(WAYS)
        for place, when in enumerate(("before the next turn", "while it is answered", "before the page closes"))
    ],
)
async def test_a_placeholder_that_was_accepted_is_named_and_not_accepted_again(
    browser: Browser, way: str, when: str
) -> None:
    known = Experience()
    async with pages({"/": ASKED}) as server:
        window = await browser.open_window(BrowserSettings())
        try:
            chat = Chat(window, site_of({}), MANNERS, known)
            await chat.open(server.url)
            assert (await chat.say("When does it leave?")).answer.text == STAND_IN
            change = f"() => ({WAYS[way]})('The ferry leaves at eight.')"
            if when.startswith("while"):  # the next turn stands there already
                change = f"() => {{ late = () => setTimeout(() => {{ late = () => {{}}; ({change})() }}, 20) }}"
            await run(chat.place.frame, change)
            with pytest.raises(Unanswered, match=r"went-on: the answer to 'When does it leave\?' was replaced"):
                await (chat.settle() if when.endswith("closes") else chat.say("And then?"))
        finally:
            await window.close()
    assert known.alone > MANNERS.patience.alone
    assert known.stand_in_seconds(STAND_IN) is not None
    assert known.stand_in_seconds("The ferry leaves at eight.") is None


async def test_words_that_another_answer_once_replaced_are_awaited_and_noted_if_they_stay(
    browser: Browser,
) -> None:
    known = Experience()
    known.learn_change(
        STAND_IN, ChangedAnswer("The ferry leaves.", False, 0.5, True, Change(("please",), ("ferry",))), 1.0, 2.0
    )
    late = ASKED.replace('</div>"), 50)', '</div>"), 50); setTimeout(() => later(), 1900)')
    late = late.replace("let late", "let later = () => {}, late")
    async with pages({"/": late}) as server:
        window = await browser.open_window(BrowserSettings())
        try:
            chat = Chat(window, site_of({}), replace(MANNERS, patience=Patience(alone=0.4, most=1.0)), known)
            await chat.open(server.url)
            said = await chat.say("When does it leave?")
            assert (said.answer.text, said.notes) == (STAND_IN, (LASTING_NOTE,))
            put = WAYS["in its place"].replace(".bot p", ".bot:last-child p")
            await run(chat.place.frame, f"() => {{ later = () => ({put})('At nine.') }}")
            said = await chat.say("And then?")
            assert (said.answer.text, said.notes) == ("At nine.", ())
        finally:
            await window.close()


@pytest.mark.parametrize("when", ["before the next turn", "before the page closes"])
async def test_a_turn_that_the_page_repeats_after_its_answer_was_sent_twice(browser: Browser, when: str) -> None:
    async with chatting(browser, Experience(), SIGNED) as chat:
        await run(chat.place.frame, "() => log.append(...[...log.children].map((turn) => turn.cloneNode(true)))")
        with pytest.raises(Unanswered, match="sent-twice: after the answer, the page shows the previous turn twice"):
            await (chat.settle() if when.endswith("closes") else chat.say("And then?"))


async def test_an_answer_that_stays_unchanged_may_be_followed_and_is_settled(browser: Browser) -> None:
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


def taken_from(before: Page) -> RecordedAnswer:
    turn = read_turn(before, "How?")
    assert turn.text == "It is so."
    return RecordedAnswer("How?", before, turn, Habits())


@pytest.mark.parametrize(
    ("now", "grown"),
    [
        ("It is so.", None),
        ("It <b>is</b>, so", None),
        ("It is", False),
        ("Something else that is longer", False),
        ("It is so. Or not.", True),
        ("It is so, or not.", True),
        ("It is [1] so [2].", True),
        ('It is <a href="https://x.test/so">so</a>.', True),
        ("Here it is: <i>as</i> it is, so it is.", True),
    ],
)
async def test_an_answer_with_more_text_has_continued_and_any_other_change_is_reported(
    now: str, grown: bool | None
) -> None:
    taken = taken_from(page("It is so."))
    for later in (taken.read_again(page(now)), taken.read_later(page(now, after=AFTER))):
        assert (later and later.grown) == grown
        assert later is None or later.text == read_turn(page(now), "How?").text


async def test_another_bubble_after_an_answer_is_part_of_it_until_more_is_said() -> None:
    more = '<div h-id="5" class="bot" h-born="1400" h-said="1500"><p h-id="6">And more.</p></div>'
    later = taken_from(page("It is so.")).read_again(page("It is so.", after=more))
    assert later is not None
    assert (later.text, later.grown, later.ago) == ("It is so.\n\nAnd more.", True, 0.5)


@pytest.mark.parametrize(("made", "grown"), [("bot", True), ("day", None)])
async def test_a_bubble_that_appeared_while_the_next_turn_was_typed_belongs_to_the_one_before(
    made: str, grown: bool | None
) -> None:
    more = f'<div h-id="5" class="{made}"><p h-id="6">And more.</p></div>'
    now = page("It is so.", after=more + AFTER)
    later = taken_from(page("It is so.")).read_later(now, read_turn(now, "And?").echo)
    assert (later and later.grown) == grown
    assert later is None or later.text == "It is so.\n\nAnd more."


async def test_the_name_over_the_users_next_words_is_not_a_bubble_of_the_answer() -> None:
    def listed(*rows: tuple[str, str]) -> Page:
        rows_html = "".join(
            f'<dt h-id="{place}" h-born="{place}"><b>{who}</b></dt><dd h-id="{place + 1}" h-born="{place}">{what}</dd>'
            for place, (who, what) in zip(range(10, 90, 10), rows, strict=False)
        )
        return snapshot(f'<main><dl class="log">{rows_html}</dl></main>{COMPOSER}')

    rows = (("Visitor", "How?"), ("Librarian", "It is so."), ("Visitor", "And?"), ("Librarian", "So."))
    before, now = listed(*rows[:2]), listed(*rows)
    taken = RecordedAnswer("How?", before, read_turn(before, "How?"), Habits())
    assert taken.turn.text == "It is so."
    assert taken.read_later(now, read_turn(now, "And?").echo) is None


BUBBLES = (
    '<p h-id="1" class="user" h-born="5">How?</p><div h-id="2" class="bot" h-born="900"><p h-id="3">It is so.</p></div>'
    '<div h-id="5" class="bot" h-born="1400"><p h-id="6">Anna <b>is</b> looking it up.</p></div>'
)
NEXT = '<div h-id="20" class="bot" h-born="1990"><p h-id="21">It was found in a drawer.</p></div>'


@pytest.mark.parametrize(
    ("now", "replaced"),
    [
        (BUBBLES, None),
        (BUBBLES.replace('h-id="5"', 'h-id="15"').replace('h-id="6"', 'h-id="16"'), None),
        (BUBBLES[: BUBBLES.index('<div h-id="5"')], True),
        (BUBBLES.replace("Anna <b>is</b> looking it up.", "It was found."), True),
        (BUBBLES.replace('<div h-id="5"', '<div h-id="5" h-hide="display"'), False),
        (BUBBLES[BUBBLES.index('<div h-id="2"') : BUBBLES.index('<div h-id="5"')], None),
        (BUBBLES.replace(" <b>is</b> looking it up.", "…"), False),
    ],
    ids=["as it was", "made anew", "gone", "other words", "hidden", "gone with the user's words", "shortened"],
)
async def test_a_bubble_that_is_no_longer_there_was_not_an_answer(now: str, replaced: bool | None) -> None:
    before = snapshot(f'<main role="log">{BUBBLES}</main>{COMPOSER}')
    taken = RecordedAnswer("How?", before, read_turn(before, "How?"), Habits())
    assert taken.turn.text == "It is so.\n\nAnna **is** looking it up."
    page = snapshot(f'<main role="log">{now}{AFTER}{NEXT}</main>{COMPOSER}')
    later = taken.read_later(page, read_turn(page, "And?").echo)
    assert (later and later.replaced) == replaced


async def test_an_answer_whose_elements_have_left_the_page_is_not_compared() -> None:
    assert taken_from(page("It is so.")).read_later(snapshot(f'<main role="log">{AFTER}</main>{COMPOSER}')) is None


@pytest.mark.parametrize(
    ("before", "now", "grown"),
    [
        ("営業は九時から。", "営業は九時から。土曜は休みです。", True),
        ("See the map.", "See the [map](https://x.test/map).", True),
        ("See [the map](https://x.test/map).", "See the map.", False),
        ("One two three.", "Three two one, and four.", False),
        ("Yes.", "Yes.", False),
    ],
)
async def test_an_answer_has_grown_if_every_word_keeps_its_place(before: str, now: str, grown: bool) -> None:
    assert has_grown(before, now) == grown
