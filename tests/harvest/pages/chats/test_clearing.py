"""Clearing the way to a chat on real pages: windows that come back, buttons that do nothing, slow launchers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.chats.chat import Chat, Manners
from harvest.pages.chats.completion import Patience
from harvest.pages.chats.experience import Experience
from harvest.pages.finding.buttons import find_launcher
from harvest.pages.reading.page import parse_page
from harvest.pages.sites.site import site_of
from harvest.systems.driver import NotSent
from tests.servers.local_http import Asked, response
from tests.servers.npm_package import NpmPackage
from tests.support.browsing import pages

pytestmark = pytest.mark.asyncio(loop_scope="session")

COOKIE_CONSENT = NpmPackage(
    "vanilla-cookieconsent",
    "3.1.0",
    "/McNRtm/3IXzb9dhqMIcbquoU45SzbN2VB+To4jxEPqMmp7uVniP6BhGLjU8MC7ZCDsNQVOp27fhQTM/ruIXAA==",
    ("dist/cookieconsent.umd.js", "dist/cookieconsent.css", "LICENSE"),
)
MANNERS = Manners(patience=Patience(covered=0.1, loose=0.1, alone=0.5), open_seconds=15, answer_seconds=20)

CHAT = """<!doctype html><body style="margin:0"><main role=log style="height:500px"></main>
<form><textarea style="width:600px" placeholder="Message"></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
let turns = 0;
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  log.insertAdjacentHTML("beforeend", `<div class=user>${box.value}</div>`);
  box.value = "";
  turns += 1;
  setTimeout(() => {
    log.insertAdjacentHTML("beforeend", `<div class=bot>Answer ${turns} it is.</div>`);
    if (window.answered) setTimeout(window.answered, 50);
  }, 50);
};
</script>"""
WINDOW = """<script>
const pressed = [];
function show() {
  const shade = document.createElement("div");
  shade.style = "position:fixed;inset:0;background:#0008";
  shade.innerHTML = `<div role=dialog aria-modal=true style="margin:200px auto;width:400px;background:#fff">
    <p>ABOUT</p>BUTTONS</div>`;
  document.body.append(shade);
  for (const button of shade.querySelectorAll("button")) {
    button.onclick = () => { pressed.push(button.innerText); if (button.dataset.works) shade.remove(); };
  }
}
</script>"""
NEWS = WINDOW.replace("ABOUT", "Meet our new plans.")
COOKIES = WINDOW.replace("ABOUT", "We and our partners use cookies to measure what you read.")
REJECT_OR_ACCEPT = "<button>Reject all</button><button>Only necessary</button><button data-works=1>Accept all</button>"


@asynccontextmanager
async def chatting(browser: Browser, url: str) -> AsyncIterator[Chat]:
    window = await browser.open_window(BrowserSettings())
    try:
        chat = Chat(window, site_of({}), MANNERS, Experience())
        await chat.open(url)
        yield chat
    finally:
        await window.close()


async def answers(chat: Chat, turns: int) -> list[str]:
    return [(await chat.say(f"Question number {turn} is this?")).answer.text for turn in range(1, turns + 1)]


def expected(turns: int) -> list[str]:
    return [f"Answer {turn} it is." for turn in range(1, turns + 1)]


async def test_a_window_that_returns_after_each_answer_is_closed_each_time(browser: Browser) -> None:
    html = CHAT + NEWS.replace("BUTTONS", "<button data-works=1>Close</button>") + "<script>answered = show;</script>"
    async with pages({"/": html}) as server, chatting(browser, server.url) as chat:
        assert await answers(chat, 3) == expected(3)
        assert chat.opening.did == ["modal: pressed 'Close'"] * 2


@pytest.mark.parametrize("when", ["answered = show;", pytest.param("show();", marks=pytest.mark.soak)])
async def test_a_banner_that_stays_is_closed_with_the_next_stronger_button(browser: Browser, when: str) -> None:
    html = CHAT + COOKIES.replace("BUTTONS", REJECT_OR_ACCEPT) + f"<script>{when}</script>"
    async with pages({"/": html}) as server, chatting(browser, server.url) as chat:
        assert await answers(chat, 2) == expected(2)
        pressed = [f"consent: pressed {name!r}" for name in ("Reject all", "Only necessary", "Accept all")]
        assert chat.opening.did == pressed


LIBRARY = """<link rel=stylesheet href="/cookieconsent.css"><script src="/cookieconsent.umd.js"></script><script>
CookieConsent.run({
  disablePageInteraction: true, hideFromBots: false,
  guiOptions: {consentModal: {layout: "box", position: "middle center"}},
  categories: {necessary: {enabled: true, readOnly: true}, analytics: {}},
  language: {default: "en", translations: {en: {
    consentModal: {title: "We use cookies", description: "Cookies help us to see what you read here.",
      acceptAllBtn: "Accept all", acceptNecessaryBtn: "Reject all", showPreferencesBtn: "Manage preferences"},
    preferencesModal: {title: "Preferences", sections: []}}}},
});
answered = () => CookieConsent.show(true);
</script>"""


async def test_the_banner_of_a_library_is_rejected_whenever_it_is_shown(browser: Browser) -> None:
    folder = COOKIE_CONSENT.folder() / "dist"
    files = {"/cookieconsent.umd.js": "text/javascript", "/cookieconsent.css": "text/css"}

    async def other(asked: Asked, writer: asyncio.StreamWriter) -> None:
        text = (folder / asked.path[1:]).read_text(encoding="utf-8") if asked.path in files else ""
        writer.write(response("200 OK", text, media_type=files.get(asked.path, "text/plain")))

    async with pages({"/": CHAT + LIBRARY}, other) as server, chatting(browser, server.url) as chat:
        assert await answers(chat, 3) == expected(3)
        assert chat.opening.did == ["consent: pressed 'Reject all'"] * 3


SHOP = """<!doctype html><body><h1>Our shop</h1><div id=place></div>
<button class="launcher" aria-label="Open chat" style="position:fixed;right:20px;bottom:20px;width:60px;height:60px">
💬</button><script>
let presses = 0;
document.querySelector("button").onclick = () => {
  presses += 1;
  document.querySelector("#place").innerHTML = presses % 2
    ? '<iframe src="/frame" style="position:fixed;right:20px;bottom:90px;width:700px;height:600px"></iframe>' : "";
};
</script>"""


async def test_a_launcher_is_pressed_once_however_long_its_frame_takes_to_load(browser: Browser) -> None:
    async def other(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(4.5)
        writer.write(response("200 OK", CHAT, media_type="text/html; charset=utf-8"))

    async with pages({"/": SHOP}, other) as server, chatting(browser, server.url) as chat:
        assert await answers(chat, 1) == expected(1)
        assert chat.opening.did == ["launcher: pressed '💬'"]


REMADE = SHOP.replace("onclick = () => {", "onclick = (event) => { const old = event.target; presses += 1; setTimeout(")
REMADE = (
    REMADE.partition("setTimeout(")[0]
    + """setTimeout(() => old.replaceWith(old.cloneNode(true)), 50); };
</script>"""
)


async def test_a_launcher_that_opens_nothing_is_not_pressed_again_even_if_it_is_recreated(browser: Browser) -> None:
    async with pages({"/": REMADE}) as server:
        window = await browser.open_window(BrowserSettings())
        chat = Chat(window, site_of({}), Manners(open_seconds=10), Experience())
        with pytest.raises(NotSent, match="no-composer"):
            await chat.open(server.url)
        assert chat.opening.did == ["launcher: pressed '💬'"]
        await window.close()


def launchers(attributes: Sequence[str]) -> list[bool]:
    found = []
    for one in attributes:
        button = f'<button h-id="1" h-box="1200,720,60,60" class="chat-launcher" {one}>o</button>'
        page = parse_page(f'<h-page url="https://shop.example/" width="1280" height="800">{button}</h-page>')
        found.append(find_launcher(page) is not None)
    return found


async def test_a_button_that_opened_the_chat_or_would_close_it_is_not_a_launcher() -> None:
    opens = ['aria-label="Open chat"', 'aria-label="Chat" aria-expanded="false"']
    shuts = ['aria-label="Chat" aria-expanded="true"', 'aria-label="Close chat"', 'title="Minimize chat"']
    assert launchers([*opens, *shuts]) == [True, True, False, False, False]
