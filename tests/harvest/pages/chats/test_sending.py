"""A turn goes out once and whole, by whatever way the page takes it."""

from __future__ import annotations

from typing import Any

import pytest

from harvest.pages.browser.part import Part
from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import Limits
from harvest.pages.browser.window import Window
from harvest.pages.chats.composer import TypedTurn, type_text
from harvest.pages.chats.place import Place
from harvest.pages.chats.sending import SentTurn, send
from harvest.systems.driver import DriverError, NotSent, Unanswered
from tests.support.browsing import named, run, showing

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = """<main id=log></main><form><textarea id=box></textarea><button id=send>Send</button></form><script>
const box = document.getElementById("box"), button = document.getElementById("send");
window.gone = [];
const go = (how) => { window.gone.push([how, box.value]); box.value = ""; };
document.querySelector("form").onsubmit = (event) => { event.preventDefault(); TAKE_CLICK; };
box.onkeydown = (event) => { if (event.key === "Enter" && (TAKE_KEY)) { event.preventDefault(); go("key"); } };
</script>"""
CLICKED = PAGE.replace("TAKE_CLICK", 'go("button")').replace("TAKE_KEY", "false")
KEYED = PAGE.replace("TAKE_CLICK", "").replace("TAKE_KEY", "event.ctrlKey")
DEAF = PAGE.replace("TAKE_CLICK", "").replace("TAKE_KEY", "false")
SILENT = PAGE.replace("go(", "keep(").replace("TAKE_KEY", "true")
"""The page takes the turn and shows nothing of it: how it leaves stands in LEAVE."""
KEEPS = """<script>function keep(how) { window.gone.push([how, box.value]); LEAVE }</script>"""

BARE = """<main id=log></main><div id=box contenteditable=true style="min-height: 20px; border: 1px solid"></div>
<button id=send>Send</button><script>
const box = document.getElementById("box");
window.gone = [];
document.getElementById("send").onclick = () => { window.gone.push(["button", READ]); box.replaceChildren(); };
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); document.getElementById("send").click(); }
});
</script>"""


CONNECTING = (
    CLICKED.replace("<button ", "<button disabled ")
    + """<script>
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); fetch("/", {method: "POST", body: "still connecting"}); }
});
setTimeout(() => { button.disabled = false; }, 2500);
</script>"""
)


async def typed(window: Window, text: str) -> tuple[Place, TypedTurn]:
    frame = window.frames()[0]
    page = await frame.look()
    place = Place(frame, page, named(page, "box").id, named(page, "send").id)
    window.outbox.start_typing()
    await frame.arm(place.composer, place.send)
    return place, await type_text(place, text)


async def sent(window: Window, text: str = "Which film?") -> SentTurn:
    place, what = await typed(window, text)
    return await send(window, place, text, what)


async def gone(window: Window) -> list[Any]:
    return list(await run(window.frames()[0], "() => window.gone"))


async def test_a_click_falsely_reported_as_failed_is_the_only_one(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    click = Part.click

    async def late(part: Part) -> None:
        await click(part)
        raise NotSent("part-off", "no word of the click came back in time")

    monkeypatch.setattr(Part, "click", late)
    async with showing(browser, CLICKED) as window:
        assert (await sent(window)).by == "button"
        assert await gone(window) == [["button", "Which film?"]]


async def test_the_ways_are_tried_in_order_and_the_successful_one_comes_first(browser: Browser) -> None:
    async with showing(browser, KEYED) as window:
        place, what = await typed(window, "Which film?")
        assert (await send(window, place, "Which film?", what)).by == "Control+Enter"
        assert await gone(window) == [["key", "Which film?"]]
        assert place.ways[0] == "Control+Enter"


async def test_a_page_that_accepts_nothing_is_left_with_an_empty_box(browser: Browser) -> None:
    async with showing(browser, DEAF) as window:
        with pytest.raises(NotSent, match="not-sent"):
            await sent(window)
        assert await run(window.frames()[0], "() => document.getElementById('box').value") == ""
        assert await gone(window) == []


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param("fetch('/never', {method: 'POST', body: box.value}).catch(() => {});", id="a request"),
        pytest.param("button.disabled = true;", id="a button that goes off"),
        pytest.param("new WebSocket(`ws://${location.host}/never`);", id="a new web socket", marks=pytest.mark.soak),
        pytest.param(
            "new Worker(URL.createObjectURL(new Blob([`fetch('${location.origin}/never', {method: 'POST'})`])));",
            id="a request of a worker",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "document.body.setAttribute('aria-busy', 'true');", id="a page that is busy", marks=pytest.mark.soak
        ),
    ],
)
async def test_a_turn_that_had_an_effect_is_never_sent_again_even_if_the_page_does_not_show_it(
    browser: Browser, leave: str
) -> None:
    page = SILENT.replace("TAKE_CLICK", 'keep("button")') + KEEPS.replace("LEAVE", leave)
    async with showing(browser, page) as window:
        assert await sent(window) == SentTurn("button", TypedTurn("Which film?", "Which film?"), 1)
        assert await gone(window) == [["button", "Which film?"]]


async def test_a_line_break_reaches_pages_that_only_know_one_kind_of_it(browser: Browser) -> None:
    said = "Three films, please.\nFormat: title, URL\n\nThanks"
    for style, read in (
        ("", "box.innerText"),
        ("", "box.innerHTML.replace(/<br>/g, '\\n').replace(/<[^>]*>/g, '')"),
        ("white-space: pre-wrap", "box.textContent"),
    ):
        page = BARE.replace("READ", read).replace("min-height", f"{style}; min-height")
        async with showing(browser, page) as window:
            await sent(window, said)
            assert await gone(window) == [["button", said]], read


EAGER = """<script>box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); document.getElementById("send").click(); }
});
document.execCommand = () => false;
box.addEventListener("beforeinput", (event) => { if (/\\n/.test(event.data || "")) event.preventDefault(); });
</script>"""


async def test_a_turn_that_shift_and_enter_sends_in_parts_is_invalid_by_name(browser: Browser) -> None:
    async with showing(browser, BARE.replace("READ", "box.innerText") + EAGER) as window:
        with pytest.raises(Unanswered, match="sent-in-parts"):
            await typed(window, "Three films, please.\nFormat: title, URL")


CURLING = """<script>box.addEventListener("input", () => {
  const set = box.value.replace(/"/g, "\\u201d").replace(/--/g, "\\u2013").replace(/\\.\\.\\./g, "\\u2026");
  if (set !== box.value) box.value = set;
});</script>"""


async def test_unavoidable_typography_is_reported_and_other_changes_are_never_sent(browser: Browser) -> None:
    async with showing(browser, CLICKED + CURLING) as window:
        what = (await sent(window, 'Films -- like "Solaris"...')).typed
        assert what.text == "Films \u2013 like \u201dSolaris\u201d\u2026"
        assert what.differences == ("quotes", "dashes", "ellipsis")
    changed = (
        '<script>box.addEventListener("input", () => { box.value = box.value.replace(/film/g, "movie"); });</script>'
    )
    async with showing(browser, CLICKED + changed) as window:
        with pytest.raises(DriverError, match="not-typed"):
            await sent(window)
        assert await gone(window) == []


RULED = """<script>box.addEventListener("input", (event) => {
  if (event.inputType !== "insertText" || !/(\\.\\.\\.|")$/.test(box.innerText)) return;
  box.innerText = box.innerText.replace(/\\.\\.\\.$/, "\\u2026").replace(/"$/, "\\u201d");
});</script>"""


@pytest.mark.parametrize(
    "said", ['Which films are called "Solaris"', pytest.param("I wonder...", marks=pytest.mark.soak)]
)
async def test_an_editors_rule_about_line_ends_is_not_triggered(browser: Browser, said: str) -> None:
    async with showing(browser, BARE.replace("READ", "box.innerText") + RULED) as window:
        await sent(window, said)
        assert await gone(window) == [["button", said]]


async def test_a_turn_that_reached_a_page_and_cannot_be_typed_again_is_not_retried(
    browser: Browser,
) -> None:
    """The page has begun something with it: what it is nobody sees."""
    shut = """<script>document.querySelector("form").onsubmit = (event) => {
      event.preventDefault();
      box.addEventListener("input", () => { box.value = `Sending: ${box.value}`; });
    };</script>"""
    async with showing(browser, DEAF + shut) as window:
        with pytest.raises(Unanswered, match="unconfirmed"):
            await sent(window)


async def test_a_distant_page_gets_time_to_connect_before_a_key_is_tried(browser: Browser) -> None:
    async with showing(browser, CONNECTING, limits=Limits(act=1.5)) as window:
        window.traffic.lag = 5.0
        place, held = await typed(window, "Is anybody there?")
        sent = await send(window, place, "Is anybody there?", held)
        assert (sent.by, sent.presses) == ("button", 1)
        assert await run(window.frames()[0], "() => window.gone") == [["button", "Is anybody there?"]]
