"""What stands in the way, and what makes a turn none: pages in a real browser, before and after something is sent.

`data-side="here"` marks what is to be clicked away.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import pytest_asyncio

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.traffic import FailedRequest
from harvest.pages.finding.blocker import Blocker
from harvest.pages.finding.blockers import find_blockers, find_refusal
from harvest.pages.reading.page import Node, Page
from harvest.pages.reading.turn import ReadTurn, read_turn
from harvest.pages.sites.site import site_of
from tests.support.browsing import pages, run

SAID = "What is an error 500, and what is a rate limit?"
CHAT = """<div class="log" role="log" style="height:500px"></div>
<form><textarea placeholder="Message" style="width:700px"></textarea><button>Send</button></form>"""
FIXED = 'style="position:fixed;left:0;right:0;bottom:0;height:220px;background:#ffe"'
MIDDLE = 'style="position:fixed;left:300px;top:150px;width:500px;height:420px;background:#ffe"'

OVER = 'style="position:fixed;inset:0;background:#0007"'

WALLS: dict[str, tuple[str, str]] = {
    "consent, reject": (
        "consent",
        f"{CHAT}<div {FIXED}>We use cookies. <button>Cookie settings</button><button "
        'data-side="here">Reject all</button><button>Accept all</button></div>',
    ),
    "consent, only what is necessary": (
        "consent",
        f'{CHAT}<div {FIXED}>Wir verwenden Cookies. <a href="/privacy">Mehr erfahren</a><button>Alle '
        "akzeptieren</button>"
        '<button data-side="here">Nur notwendige Cookies</button></div>',
    ),
    "consent, closed": (
        "consent",
        f"{CHAT}<div {FIXED}>This site uses cookies for measurements. <button>Accept</button><button "
        'data-side="here" aria-label="Close">×</button></div>',
    ),
    "consent, nothing but accept": (
        "consent",
        f'{CHAT}<div id="onetrust-banner-sdk" {FIXED}>En continuant, vous acceptez nos '
        'cookies. <button data-side="here">J\'accepte</button></div>',
    ),
    "consent in Japanese": (
        "consent",
        f'{CHAT}<div role="dialog" {FIXED}>当サイトはクッキーを使用しています。<button>すべて同意</button><button '
        'data-side="here">すべて拒否</button></div>',
    ),
    "consent in a shadow root": (
        "consent",
        f'{CHAT}<x-cmp></x-cmp><script>document.querySelector("x-cmp").attachShadow({{mode: '
        f'"open"}}).innerHTML = `<div {FIXED}>We value your privacy '
        "and use cookies.<button>Accept all</button><button data-side=here>Continue without "
        "accepting</button></div>`</script>",
    ),
    "terms to agree to": (
        "consent",
        f'{CHAT}<div role="dialog" aria-modal="true" {MIDDLE}><h2>Welcome</h2><p>Read our '
        'terms of service.</p><button data-side="here">I agree</button></div>',
    ),
    "newsletter": (
        "modal",
        f'{CHAT}<div class="modal" {MIDDLE}><h2>10% off</h2><input placeholder="Your email"><button>Subscribe'
        '</button><button data-side="here">No thanks</button></div>',
    ),
    "a window with a cross": (
        "modal",
        f"{CHAT}<dialog open {MIDDLE}><h2>New features</h2><p>Faster than ever.</p><button "
        'class="btn-close" data-side="here"></button></dialog>'
        "<style>.btn-close{width:20px;height:20px}</style>",
    ),
    "a window before there is a chat": (
        "modal",
        f'<div id="app">Loading</div><div role="dialog" {MIDDLE}><p>Meet our assistant.</p><button '
        'data-side="here">Got it</button></div>',
    ),
    "log-in window that can be closed": (
        "login",
        f'{CHAT}<div role="dialog" aria-modal="true" {MIDDLE}><h2>Log in to get more</h2><button>Continue '
        "with Example</button><button>Log in</button>"
        '<a href="#" data-side="here">Stay logged out</a></div>',
    ),
    "log-in page": (
        "login",
        '<h1>Welcome back</h1><form><input type="email"><input type="password"><button>Log in</button></form>',
    ),
    "log-in page without a password": (
        "login",
        "<h1>Assistant</h1><p>Please sign in to continue.</p><button>Continue with Example ID"
        "</button><button>Sign in</button>",
    ),
    "log-in page in Chinese": ("login", "<p>请先登录</p><button>登录</button>"),
    "captcha by its frame": (
        "captcha",
        '<h1>One more step</h1><iframe src="/recaptcha/api2/anchor" title="reCAPTCHA" '
        'width="304" height="78"></iframe>',
    ),
    "captcha by its words": (
        "captcha",
        "<h1>chat.example</h1><p>Verify you are human by completing the action below.</p><div></div>",
    ),
    "captcha over the chat": (
        "captcha",
        f'{CHAT}<div {MIDDLE}><iframe src="/recaptcha/api2/bframe" title="recaptcha '
        'challenge" width="400" height="400"></iframe></div>',
    ),
    "a page that says nothing but consent, as a frame does": (
        "consent",
        '<div style="background:#fff;margin:80px;padding:20px"><h2>Vos données</h2><p>Nous utilisons des cookies.</p>'
        '<button data-side="here">Tout refuser</button> <button>Tout accepter</button></div>',
    ),
    "a puzzle of the page's own over the chat": (
        "captcha",
        f"{CHAT}<div {OVER}><div {MIDDLE}><h3>Bitte bestätigen Sie, dass Sie ein Mensch sind</h3>"
        '<canvas width="200" height="100"></canvas></div></div>',
    ),
    "words about being human over the chat": (
        "captcha",
        f'{CHAT}<div role="dialog" aria-modal="true" {MIDDLE}><h3>Are you human?</h3><button>Yes, I am</button></div>',
    ),
    "a log-in window of no make, with a cross": (
        "login",
        f"{CHAT}<div {OVER}><div {MIDDLE}><h2>Log in to get more</h2><button>Continue with Google</button>"
        '<button data-side="here">×</button></div></div>',
    ),
    "a log-in window without a password that cannot be closed": (
        "login",
        f'{CHAT}<div {OVER}><div role="dialog" aria-modal="true" {MIDDLE}><h2>That was your free question</h2>'
        "<button>Continue with Google</button><button>Continue with e-mail</button></div></div>",
    ),
    "the same without a role": (
        "login",
        f"{CHAT}<div {OVER}><div {MIDDLE}><h2>Bienvenue</h2><p>Plus de questions ?</p>"
        "<button>Se connecter</button></div></div>",
    ),
    "maintenance": ("maintenance", "<h1>We are down for maintenance</h1><p>Please come back in an hour.</p>"),
    "maintenance in Spanish": ("maintenance", "<h1>Sitio en mantenimiento</h1>"),
    "too many": ("rate-limit", "<h1>Too many requests</h1><p>Please wait.</p>"),
}

FREE = {
    "a chat": CHAT,
    "a chat with a log-in link": f'<header><a href="/login">Log in</a><button>Sign up</button></header>{CHAT}',
    "a chat in a window of its own": f'<div role="dialog" aria-label="Chat" {MIDDLE}>'
    f'<button aria-label="Close">×</button>'
    f"{CHAT}</div>",
    "a chat in a frame in a window": f'<h1>Shop</h1><div role="dialog" {MIDDLE}>'
    f'<button aria-label="Close">×</button><iframe '
    'srcdoc="x" width="400" height="380"></iframe></div>',
    "a greeting about cookies": CHAT.replace("></div>", ">Hi! I bake cookies. Ask me about cookies and consent.</div>"),
    "a footer about cookies": f'{CHAT}<div style="height:3000px"></div><footer>We use cookies. <a '
    'href="/cookies">Cookie policy</a></footer>',
    "a chat about captchas and maintenance": CHAT.replace(
        "></div>", ">We are down for maintenance: verify you are human, sign in to continue.</div>"
    ),
    "a spinner over the chat": f"{CHAT}<div {OVER}>Just a moment…</div>",
    "a window with a puzzle that is none": f"{CHAT}<section><h2>Puzzles</h2><p>Draw here.</p>"
    '<canvas width="200" height="100"></canvas></section>',
    "the badge of a captcha": f'{CHAT}<div class="grecaptcha-badge"><iframe title="reCAPTCHA" '
    'src="/anchor?size=invisible" width="256" height="60"></iframe></div>',
    "a hidden banner": f'{CHAT}<div style="display:none">We use cookies. <button>Reject all</button></div>',
    "a hidden captcha": f'{CHAT}<iframe style="display:none" title="recaptcha challenge" src="/bframe" '
    'width="400" height="400"></iframe>',
    "a long page that mentions maintenance": "<h1>History</h1>"
    + "<p>The bridge was closed for maintenance in 1912.</p>" * 60,
    "a shop with a log-in": '<header><a href="/login">Log in</a></header><h1>Chairs</h1><p>Sit well.</p><button '
    'aria-label="Open chat">💬</button>',
}

BOT = '<div class="message bot">'
ANSWER = f"{BOT}<p>An error 500 means that something went wrong on the server.</p></div>"
LONG = f"{BOT}<p>Error 429 is a rate limit: too many requests. Try again later, or slow down."
f"</p><p>{'More about it. ' * 40}</p></div>"
POST_500 = FailedRequest("POST", "http://127.0.0.1/api/chat", "fetch", 500, "", 0.2)
POST_429 = FailedRequest("POST", "http://127.0.0.1/api/chat", "fetch", 429, "", 0.2)
BROKEN = FailedRequest("POST", "http://127.0.0.1/api/chat", "fetch", None, "net::ERR_INCOMPLETE_CHUNKED_ENCODING", 0.9)


@dataclass(frozen=True)
class Turn:
    """What the page shows after the user's words (script: what it does besides), what failed, and what it is."""

    html: str
    kind: str | None
    faults: tuple[FailedRequest, ...] = ()
    begun: int | None = None
    script: str = ""


TOAST = "document.body.insertAdjacentHTML('beforeend', `{}`)"
TURNS = {
    "an answer about errors": Turn(ANSWER, None),
    "a long answer about limits": Turn(LONG, None),
    "an answer with a listing of class error": Turn(
        f'{BOT}<pre><code><span class="token error">raise Error</span></code></pre></div>', None
    ),
    "an apology": Turn(f"{BOT}Sorry, something went wrong with my knees. Try again.</div>", None),
    "an answer, and analytics fails": Turn(
        ANSWER, None, (FailedRequest("POST", "https://stats.example/collect", "fetch", 500, "", 0.1),), 2
    ),
    "a long answer, and its title fails": Turn(
        LONG, None, (FailedRequest("POST", "http://127.0.0.1/api/conversations", "fetch", 500, "", 0.9),), 2
    ),
    "an answer, and the page broke off its own request": Turn(
        ANSWER, None, (FailedRequest("POST", "http://127.0.0.1/api/chat", "fetch", None, "net::ERR_ABORTED", 0.2),), 1
    ),
    "a short answer about errors, and a side request fails long after": Turn(
        ANSWER, None, (FailedRequest("POST", "http://127.0.0.1/api/thoughts", "fetch", 500, "", 7.0),), 2
    ),
    "an answer, and a picture is missing": Turn(
        ANSWER, None, (FailedRequest("GET", "http://127.0.0.1/a.png", "image", 404, "", 0.2),), 1
    ),
    "an answer, and a toast says that it was saved": Turn(
        ANSWER, None, script=TOAST.format('<div class="toast success" role="alert">Conversation saved</div>')
    ),
    "an answer with a button to report an error": Turn(
        f'{ANSWER[:-6]}<button class="destructive">Report error</button></div>', None
    ),
    "every answer is an alert": Turn(
        f'<div class="message bot" role="alert"><p>Bridges stand. {"Long. " * 90}</p></div>', None
    ),
    "an answer within a boundary": Turn(f'<div class="error-boundary">{ANSWER}</div>', None),
    "an answer with a warning box in it": Turn(
        f'{BOT}<p>{"Mind the gap. " * 20}</p><div class="callout danger"><p>Keep away from the edge.</p></div></div>',
        None,
    ),
    "an answer beside a red face": Turn(
        f'<div class="row"><svg class="face fill-destructive"></svg>{ANSWER}</div>', None
    ),
    "an answer with a red box of advice in it": Turn(
        f'{BOT}<p>{"Mind the gap. " * 20}</p><div class="callout danger"><p>You cannot stop it.</p></div></div>', None
    ),
    "an error bubble by its picture": Turn(
        f'{BOT}<svg class="circle-alert text-destructive" width="9" height="9"></svg><p>The '
        "model is not available.</p></div>",
        "error",
    ),
    "an error bubble by its picture, in other words": Turn(
        f'{BOT}<svg class="circle-alert text-destructive" width="9" height="9"></svg><p>No robots today.</p></div>',
        "error",
    ),
    "an error bubble after half an answer": Turn(
        f'{BOT}<p>{"The first half. " * 20}</p></div>{BOT}<svg class="text-destructive" '
        'width="9" height="9"></svg><p>Failed.</p></div>',
        "error",
    ),
    "an error bubble with HTTP 429": Turn(
        '<div class="message error-message">Error, please try again.</div>', "rate-limit", (POST_429,), 1
    ),
    "an error bubble by its class": Turn('<div class="message error-message">The robot sleeps.</div>', "error"),
    "an error bubble by a class within": Turn(
        f'{BOT}<div class="text-destructive">No luck today.</div></div>', "error"
    ),
    "an error at the end of half an answer": Turn(
        f'{BOT}<p>{"The first half. " * 20}</p><p class="error">Network error</p></div>', "error"
    ),
    "an error bubble that is an alert": Turn('<div role="alert">Something went wrong.</div>', "error"),
    "an error bubble with HTTP 500": Turn(f"{BOT}The robot sleeps.</div>", "error", (POST_500,), 1),
    "an error bubble in known words with HTTP 500": Turn(
        f"{BOT}Sorry, an error occurred.</div>", "error", (POST_500,), 3
    ),
    "a limit in a bubble with HTTP 429": Turn(
        f"{BOT}Too many requests, slow down.</div>", "rate-limit", (POST_429,), 1
    ),
    "nothing but HTTP 500": Turn("", "error", (POST_500,), 1),
    "nothing but HTTP 429": Turn("", "rate-limit", (POST_429,), 1),
    "nothing but HTTP 401": Turn(
        "", "login", (FailedRequest("POST", "http://127.0.0.1/api/chat", "fetch", 401, "", 0.2),), 1
    ),
    "half an answer, and the connection broke": Turn(
        f"{BOT}<p>{'The first half. ' * 50}</p></div>", "error", (BROKEN,), 1
    ),
    "a toast": Turn(
        "", "error", script=TOAST.format('<div class="toast-body error" role="alert">Error: queue is full</div>')
    ),
    "a toast beside half an answer": Turn(
        ANSWER, "error", script=TOAST.format('<div class="snackbar">Connection lost</div>')
    ),
    "a toast that the page calls an error, in words of its own": Turn(
        "",
        "error",
        script=TOAST.format(
            '<section aria-label="Notifications alt+T" aria-live="polite"><ol><li data-type="error">The robots sleep'
            "</li></ol></section>"
        ),
    ),
    "the same beside an answer": Turn(
        ANSWER,
        "error",
        script=TOAST.format(
            '<section aria-label="Notifications alt+T" aria-live="polite"><ol><li data-type="error">The robots sleep'
            "</li></ol></section>"
        ),
    ),
    "a toast that was saved, beside an answer": Turn(
        ANSWER,
        None,
        script=TOAST.format(
            '<section aria-label="Notifications alt+T" aria-live="polite"><ol><li data-type="success">Saved</li></ol>'
            "</section>"
        ),
    ),
    "a toast in a class of a module": Turn(
        ANSWER, "error", script=TOAST.format('<div class="_toastError_1x2y3">The robots sleep</div>')
    ),
    "an alert in the words of a program": Turn(
        f'{BOT}<div role="alert">NetworkError when asking the model</div></div>', "error"
    ),
    "a box that is not valid, and why": Turn(
        "",
        "error",
        script="document.querySelector('textarea').setAttribute('aria-invalid', 'true');"
        "document.querySelector('textarea').setAttribute('aria-describedby', 'why');"
        + TOAST.format('<p id="why">Your plan does not cover robots</p>'),
    ),
    "a toast about a limit": Turn(
        "", "rate-limit", script=TOAST.format('<div role="alert">You have reached your message limit</div>')
    ),
    "the user's words are marked": Turn(
        "",
        "error",
        script="document.querySelector('.user').insertAdjacentHTML('beforeend', '<i class=failed>Not delivered</i>')",
    ),
    "a window asks for a log-in": Turn(
        "",
        "login",
        script=TOAST.format(
            f'<div role="dialog" aria-modal="true" {MIDDLE}><h2>Sign in to continue</h2><button>Sign in</button></div>'
        ),
    ),
    "an answer about captchas with a drawing": Turn(
        f"{BOT}<p>A captcha asks whether you are human.</p><p>{'More of them. ' * 40}</p><canvas></canvas></div>", None
    ),
    "a puzzle of the page's own comes": Turn(
        "",
        "captcha",
        script=TOAST.format(
            f'<div {OVER}><div role="dialog" aria-modal="true"><h3>Verify you are human</h3><p>Slide to complete the '
            'puzzle</p><canvas width="260" height="120"></canvas><div role="slider" tabindex="0">o</div></div></div>'
        ),
    ),
    "proof of being human is asked for where the box was": Turn(
        "",
        "captcha",
        script="document.querySelector('form').innerHTML = '<p>Press &amp; hold to confirm that you are human</p>"
        "<div tabindex=0>Hold</div>';",
    ),
    "the box has gone, and only the user spoke of robots": Turn(
        '<div class="message user">Are you human, or a captcha?</div>',
        None,
        script="document.querySelector('form').remove();",
    ),
    "a box to tick comes in the place of an answer": Turn(
        f'{BOT}<label><input type="checkbox"> Я не робот</label></div>', "captcha"
    ),
    "a window asks for a new account": Turn(
        "",
        "login",
        script=TOAST.format(
            f'<div {OVER}><div role="dialog" aria-modal="true"><h2>Crea una cuenta gratis para continuar</h2><button>'
            "Continuar con Google</button><button>Regístrate</button></div></div>"
        ),
    ),
    "a captcha comes": Turn(
        "",
        "captcha",
        script=TOAST.format('<iframe title="recaptcha challenge" src="about:blank" width="400" height="400"></iframe>'),
    ),
}


@dataclass(frozen=True)
class Seen:
    walls: dict[str, Page]
    turns: dict[str, tuple[Page, ReadTurn]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def seen(browser: Browser) -> Seen:
    content = {**{name: html for name, (_, html) in WALLS.items()}, **FREE, "chat": CHAT}
    paths = {f"/{number}": f"<!doctype html><body>{html}" for number, html in enumerate(content.values())}
    found, turns = {}, {}
    async with pages(paths) as server:
        window = await browser.open_window(BrowserSettings())
        for path, name in zip(paths, content):
            await window.goto(server.url.rstrip("/") + path)
            found[name] = await window.frames()[0].look()
        frame = window.frames()[0]
        for name, turn in TURNS.items():
            await window.goto(server.url.rstrip("/") + path)
            # An error of an earlier turn stands there already.
            await run(
                frame,
                "document.querySelector('.log').innerHTML = '<div class=user>Hi</div><div class=\""
                'message error-message" role=alert>Error: failed</div>'
                '<div>Good day<svg class="face fill-destructive" width=9 height=9></svg></div>\'',
            )
            composer = next(node for node in (await frame.look()).walk() if node.tag == "textarea")
            await frame.arm(composer.id)
            await frame.mark_sent()
            html = f'<div class="message user">{SAID}</div>{turn.html}'
            await run(frame, "html => document.querySelector('.log').insertAdjacentHTML('beforeend', html)", html)
            if turn.script:
                await run(frame, turn.script)
            looked = await frame.look()
            turns[name] = (looked, read_turn(looked, SAID))
        await window.close()
    return Seen(found, turns)


def marked(page: Page) -> Node | None:
    return next((node for node in page.walk() if node.get("data-side") == "here"), None)


def first(found: list[Blocker]) -> Blocker | None:
    return next(iter(found), None)


def kind_of(found: Blocker | None) -> str | None:
    return found.kind if found is not None else None


@pytest.mark.parametrize("name", WALLS)
def test_obstacles_are_named_and_closed_by_agreeing_to_least(seen: Seen, name: str) -> None:
    page = seen.walls[name]
    found = first(find_blockers(page))
    assert found is not None
    assert found.kind == WALLS[name][0], found
    assert found.dismiss is marked(page), found
    assert found.excerpt
    assert found.why


@pytest.mark.parametrize("name", FREE)
def test_text_about_obstacles_is_not_an_obstacle(seen: Seen, name: str) -> None:
    assert find_blockers(seen.walls[name]) == []


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_has_failed_only_if_structure_or_traffic_says_so(seen: Seen, name: str) -> None:
    page, read = seen.turns[name]
    turn = TURNS[name]
    found = find_refusal(page, read, faults=turn.faults, begun=turn.begun)
    assert kind_of(found) == turn.kind, (found, read)


def test_a_status_names_the_kind_of_a_page_without_a_chat() -> None:
    page = Page(Node("h-page", {"url": "https://a.example/"}), "https://a.example/", "Sorry", 800, 600)
    kinds = {401: "login", 403: "error", 404: "error", 429: "rate-limit", 500: "error", 503: "maintenance", 200: None}
    for status, kind in kinds.items():
        assert kind_of(first(find_blockers(page, status=status))) == kind, status


def test_a_status_does_not_matter_where_a_chat_is_possible(seen: Seen) -> None:
    assert find_blockers(seen.walls["a chat"], status=404) == []


def test_a_window_that_can_be_closed_comes_before_a_wall_that_cannot(seen: Seen) -> None:
    found = find_blockers(seen.walls["a window before there is a chat"], status=503)
    assert [one.kind for one in found] == ["modal", "maintenance"]


def looked(markup: str, asked: bool = True) -> Page:
    from harvest.pages.reading.page import parse_page

    head = 'url="https://chat.example/" width="1280" height="800"' + (' asked="900"' if asked else "")
    return parse_page(f"<h-page {head}>{markup}</h-page>")


def test_a_site_names_obstacles_by_selector_by_words_or_by_both() -> None:
    notice = '<p h-id="1" h-box="0,0,300,20" h-site="blocked-1">Our robots are asleep</p>'
    for block, kind in (
        ({"kind": "maintenance", "selector": ".x"}, "maintenance"),
        ({"kind": "rate-limit", "text": "robots are  ASLEEP"}, "rate-limit"),
        ({"kind": "error", "text": "/robots? (?:is|are) (asleep|awake)/"}, "error"),
        ({"kind": "captcha", "selector": ".x", "text": "asleep"}, "captcha"),
        ({"kind": "captcha", "selector": ".x", "text": "awake"}, None),
        ({"kind": "login", "text": "humans"}, None),
    ):
        site = site_of({"blocked": [block]})
        assert kind_of(first(find_blockers(looked(notice, asked=False), site=site))) == kind, block


def test_an_error_defined_by_the_site_counts_only_in_the_turn_it_came_in() -> None:
    said = '<div h-id="9" h-box="0,0,300,20" h-born="5">Are the robots asleep?</div>'
    site = site_of({"blocked": [{"kind": "error", "text": "robots asleep"}, {"kind": "error", "text": "no power"}]})
    for markup, kind in (
        (f'<p h-id="1" h-box="0,0,300,20">no power</p>{said}<p h-id="2" h-box="0,9,300,20" h-born="9">Fine.</p>', None),
        (f'{said}<p h-id="2" h-box="0,9,300,20" h-born="9">no power</p>', "error"),
    ):
        page = looked(markup)
        assert kind_of(find_refusal(page, read_turn(page, "Are the robots asleep?"), site=site)) == kind


def test_a_site_names_windows_to_close() -> None:
    page = looked('<b h-id="1" h-box="0,0,30,20" h-site="dismiss-2">Later</b>', asked=False)
    found = first(find_blockers(page, site=site_of({"dismiss": [".a", ".b"]})))
    assert found is not None
    assert found.dismiss is page.by_id[1]
