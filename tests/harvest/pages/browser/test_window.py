"""Windows of a real browser: what they survive, and what they say when they do not."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import struct
import zipfile
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import CDPSession, Error

from harvest.pages.browser.part import Part
from harvest.pages.browser.process import Browser, find_playwright_browser
from harvest.pages.browser.settings import BrowserSettings, Limits
from harvest.pages.browser.window import Window, clean_archive
from harvest.pages.reading.page import Box
from harvest.systems.driver import Denied, NotSent, Unanswered
from tests.servers.local_http import Asked, response, serving
from tests.support.browsing import browsing, look, named, pages, run, showing, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as started:
        yield started


async def part(window: Window, name: str) -> Part:
    frame = window.frames()[0]
    found = await frame.node(named(await frame.look(), name).id)
    assert found is not None
    return found


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """What a page asks for: by path."""
    if asked.path == "/never":
        await asyncio.sleep(60)
    elif asked.path == "/wait":
        await asyncio.sleep(0.5)
        writer.write(response("200 OK", "{}" * 500))
    elif asked.path == "/file":
        writer.write(response("200 OK", "data", 'Content-Disposition: attachment; filename="a.bin"'))
    elif asked.path.strip("/").isdigit():
        writer.write(response(f"{asked.path.strip('/')} As You Wish", "<body>it says why", media_type="text/html"))
    else:
        writer.write(response("200 OK", "<body>other", media_type="text/html"))


@pytest.mark.parametrize("status", [200, 404, 429, 503])
async def test_a_page_has_its_status_whatever_it_is(browser: Browser, status: int) -> None:
    async with pages({}, answer) as server:
        window = await browser.open_window(BrowserSettings())
        assert await window.goto(f"{server.url}/{status}") == status
        assert "it says why" in (await look(window)).root.text
        await window.close()


async def test_without_a_page_nothing_was_sent_and_the_reason_is_named(browser: Browser) -> None:
    async with serving(answer) as server:
        url = server.url
        window = await browser.open_window(BrowserSettings())
        with pytest.raises(NotSent, match="page-timeout"):
            await window.goto(f"{url}/never", 0.5)
        with pytest.raises(NotSent, match="page-download"):
            await window.goto(f"{url}/file")
    with pytest.raises(NotSent, match=r"page-unreachable.*ERR_CONNECTION_REFUSED"):
        await window.goto(url)
    with pytest.raises(NotSent, match="page-unreachable"):
        await window.goto("nonsense")
    # It can still be used.
    async with showing(browser, "x") as other:
        assert await window.goto(other.url) == 200
    await window.close()


async def test_dialogs_downloads_and_new_windows_neither_block_it_nor_remain(browser: Browser) -> None:
    html = """<button id=b onclick="alert('one'); document.title = confirm('two') + ' ' + prompt('three');
      window.open('/else'); document.getElementById('a').click()">b</button><a id=a href=/file download>f</a>
      <a id=t href=/else target=_blank>t</a><input type=file id=f>
      <script>addEventListener("beforeunload", (event) => event.preventDefault())</script>"""
    async with showing(browser, html, answer) as window:
        await (await part(window, "b")).click()
        await (await part(window, "t")).click()
        await (await part(window, "f")).click()
        await until(lambda: len(window.events) >= 7)
        assert (await look(window)).title == "false null"
        await until(lambda: len(window._context.pages) == 1)
        assert await window.goto(window.url) == 200
        assert [event for event in window.events if event.split(":")[0] in ("alert", "confirm", "prompt")] == [
            "alert: one",
            "confirm: two",
            "prompt: three",
        ]
        told = " | ".join(window.events)
        for what in ("download cancelled: ", "new window closed: ", "choosing a file: ", "beforeunload: "):
            assert what in told
        assert window.gone is None


def at_once(call: Coroutine[Any, Any, Any]) -> None:
    """Raises what the call does, and AssertionError where it has to wait for anything."""
    call.send(None)
    call.close()
    raise AssertionError("it waits")


async def test_a_crashed_page_is_reported_at_once_and_its_browser_continues(browser: Browser) -> None:
    async with showing(browser, "<p id=x>x") as window:
        frame = window.frames()[0]
        waiting = asyncio.ensure_future(run(frame, "() => new Promise(() => {})"))
        with pytest.raises((NotSent, Unanswered)):
            await window.goto("chrome://crash", 10)
        await until(lambda: window.gone is not None)
        assert window.gone == "page-crashed"
        for call in (
            frame.look(),
            frame.sample(),
            frame.node(1),
            window.screenshot(),
            window.state(),
            window.goto("about:blank"),
        ):
            with pytest.raises(Unanswered, match="page-crashed"):
                at_once(call)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert browser.is_alive
    async with showing(browser, "<p id=x>y") as window:
        assert (await look(window)).root.text == "y"


async def test_a_page_that_hangs_is_abandoned_and_closed(browser: Browser) -> None:
    async with showing(
        browser, "<button id=b onclick='setTimeout(() => { for (;;); }, 50)'>b</button>", limits=Limits(call=1.0)
    ) as window:
        await (await part(window, "b")).click()
        await asyncio.sleep(0.2)
        with pytest.raises(Unanswered, match="page-hung"):
            await window.frames()[0].look()
        assert window.gone == "page-hung"
        await window.close()
    assert browser.is_alive
    async with showing(browser, "fine") as window:
        assert (await look(window)).root.text == "fine"


async def test_closing_twice_or_after_the_end_is_not_an_error(browser: Browser) -> None:
    window = await browser.open_window(BrowserSettings())
    await window.close()
    await window.close()
    assert window.gone == "page-closed"
    with pytest.raises(Unanswered, match="page-closed"):
        await window.frames()[0].look()
    async with browsing() as other:
        left = await other.open_window(BrowserSettings())
        await other.close()
        await left.close()
        assert not other.is_alive


async def test_windows_share_no_cookies_but_can_load_a_state(browser: Browser, tmp_path: Path) -> None:
    script = "() => { document.cookie = 'who=ada; max-age=1000'; localStorage.who = 'ada'; }"
    who = "() => [document.cookie, localStorage.who ?? '']"
    async with showing(browser, "x") as first:
        await run(first.frames()[0], script)
        state = await first.state()
        second = await browser.open_window(BrowserSettings())
        await second.goto(first.url)
        assert await run(second.frames()[0], who) == ["", ""]
        await second.close()
        (tmp_path / "state.json").write_text(json.dumps(state))
        third = await browser.open_window(BrowserSettings(storage_state=tmp_path / "state.json"))
        await third.goto(first.url)
        assert await run(third.frames()[0], who) == ["who=ada", "ada"]
        await third.close()


async def test_the_browsers_identification_can_be_chosen(browser: Browser) -> None:
    chosen = BrowserSettings(locale="ja-JP", timezone="Asia/Tokyo", viewport=(640, 480), user_agent="Auditor/1")
    window = await browser.open_window(chosen)
    script = (
        "() => [navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, navigator.userAgent]"
    )
    async with pages({"/": "<body>x"}) as server:
        await window.goto(server.url)
        assert await run(window.frames()[0], script) == ["ja-JP", "Asia/Tokyo", 640, "Auditor/1"]
        assert size_of(await window.screenshot()) == window.viewport == (640, 480)
    await window.close()


async def test_a_proxy_is_used(browser: Browser) -> None:
    async with serving(answer) as proxy, browsing(proxy=proxy.url) as behind:
        window = await behind.open_window(BrowserSettings())
        assert await window.goto("http://chat.example/hello") == 200
        assert "http://chat.example/hello" in [asked.target for asked in proxy.asked]
        await window.close()


async def test_a_browser_that_cannot_be_started_is_denied(tmp_path: Path) -> None:
    wrong = tmp_path / "browser"
    wrong.write_text("#!/bin/sh\nexit 3\n")
    wrong.chmod(0o755)
    with pytest.raises(Denied, match="browser-start"):
        await Browser.launch(BrowserSettings(executable=wrong))
    with pytest.raises(Denied, match="browser-start"):
        await Browser.launch(BrowserSettings(executable=tmp_path / "none"))


async def test_an_element_over_a_button_is_named_and_the_button_is_not_pressed(browser: Browser) -> None:
    html = """<button id=b onclick="document.title='pressed'">b</button>
      <div id=veil class=cookie style="position:fixed;inset:0;background:#fffc">We use cookies</div>"""
    async with showing(browser, html, limits=Limits(act=1.5)) as window:
        button = await part(window, "b")
        assert await button.cover()
        with pytest.raises(NotSent, match=r"part-covered: .*veil"):
            await button.click()
        await run(window.frames()[0], "() => veil.remove()")
        assert not await button.cover()
        await button.click()
        assert (await look(window)).title == "pressed"


async def test_disabled_hidden_or_missing_parts_are_not_used(browser: Browser) -> None:
    html = (
        "<button id=a disabled>a</button><textarea id=b readonly></textarea><p><i id=c>c</i></p><button id=d>d</button>"
    )
    async with showing(browser, html, limits=Limits(act=1.5)) as window:
        for name, state in (("a", "not enabled"), ("b", "not editable")):
            found = await part(window, name)
            with pytest.raises(NotSent, match=f"part-off: .*{state}"):
                await (found.click() if name == "a" else found.fill("x"))
        gone = await part(window, "d")
        await run(window.frames()[0], "() => d.remove()")
        with pytest.raises(NotSent, match="part-gone"):
            await gone.click()


async def test_a_page_too_busy_for_a_click_or_for_text_is_asked_again_and_does_it_once(browser: Browser) -> None:
    html = """<button id=b onclick="document.title += 'pressed '">b</button><textarea id=t></textarea>"""
    block = "() => setTimeout(() => { const until = Date.now() + 1500; while (Date.now() < until); }, 0)"
    async with showing(browser, html, limits=Limits(act=1.0)) as window:
        for name in ("b", "t"):
            found = await part(window, name)
            await run(window.frames()[0], block)
            await (found.click() if name == "b" else found.fill("x"))
        assert (await look(window)).title.split() == ["pressed"]
        assert await found.value() == "x"


async def test_a_moving_button_can_be_pressed(browser: Browser) -> None:
    html = """<style>@keyframes sway { from { margin-left: 0 } to { margin-left: 40px } }</style>
      <button id=b style="width:200px;height:80px;animation: sway .3s infinite alternate"
      onclick="document.title='pressed'">b</button>"""
    async with showing(browser, html, limits=Limits(act=1.5)) as window:
        await (await part(window, "b")).click()
        assert (await look(window)).title == "pressed"


async def test_typing_filling_clearing_and_keys_reach_boxes_and_editors(browser: Browser) -> None:
    html = """<textarea id=t></textarea><div id=e contenteditable></div>
      <script>t.onkeydown = (key) => { if (key.key === "Enter" && key.ctrlKey) document.title = t.value; }</script>"""
    text = "two\nlines, “quotes” & 日本語 🙂"
    async with showing(browser, html) as window:
        for name in "te":
            box = await part(window, name)
            await box.fill(text)
            assert (await box.value()).strip() == text
            await box.clear()
            assert (await box.value()).strip() == ""
            await box.type("key by key")
            await box.insert(", at once")
            assert await box.value() == "key by key, at once"
        box = await part(window, "t")
        await box.press("Control+Enter")
        assert (await look(window)).title == "key by key, at once"


async def test_requests_of_a_page_are_distinguished(browser: Browser) -> None:
    async with showing(browser, "<script>fetch('/never?round=1')</script>", answer) as window:
        frame, traffic = window.frames()[0], window.traffic
        await until(lambda: bool(traffic.pending))
        traffic.mark()
        assert list(traffic.pending) == []
        await run(frame, "() => { fetch('/never?round=2'); fetch('/wait', {method: 'POST'}); fetch('/500'); }")
        await until(lambda: len(traffic.pending) >= 1)
        assert {(one.method, one.url.rpartition("/")[2]) for one in traffic.pending} >= {("POST", "wait")}
        await until(lambda: not traffic.pending)
        assert traffic.begun == 2
        assert traffic.last_ended is not None
        assert traffic.last_ended >= 0.4
        assert [(fault.status, fault.url.rpartition("/")[2]) for fault in traffic.faults] == [(500, "500")]
        await until(lambda: traffic.received >= 1000)


async def test_frames_of_a_web_socket_are_counted(browser: Browser) -> None:
    async def socket(asked: Asked, writer: asyncio.StreamWriter) -> None:
        key = asked.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        head = ("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade")
        writer.write("\r\n".join((*head, f"Sec-WebSocket-Accept: {accepted}", "", "")).encode())
        for _ in range(3):
            writer.write(b"\x81\x05hello")
            await writer.drain()
            await asyncio.sleep(0.05)
        await asyncio.sleep(5)

    async with showing(browser, "x", socket) as window:
        window.traffic.mark()
        await run(window.frames()[0], "() => { new WebSocket(`ws://${location.host}/socket`); }")
        await until(lambda: window.traffic.frames == 3)
        assert window.traffic.framed == 15
        assert window.traffic.last_frame is not None
        assert window.traffic.last_frame >= 0.05


async def test_frames_without_scripts_content_or_answers_are_read_without_waiting(
    browser: Browser,
) -> None:
    html = """<iframe sandbox srcdoc="<p>no scripts"></iframe><iframe></iframe><iframe src="http://127.0.0.1:1/"></iframe>
      <iframe loading=lazy src=/never></iframe>"""
    async with showing(browser, html, answer, limits=Limits(frame=3600.0)) as window:
        texts = [(await frame.look()).root.text for frame in window.frames()]
        assert "no scripts" in texts
        # Where no document has come yet there is nothing to look at, and asking would wait for ever.
        assert len(texts) == 4


async def test_a_screenshot_is_made_even_if_a_font_never_loads_and_boxes_are_drawn_on_the_page(
    browser: Browser,
) -> None:
    html = """<style>@font-face { font-family: slow; src: url(/never); }</style><p id=x style="font-family: slow">x"""
    async with showing(browser, html, answer) as window:
        frame = window.frames()[0]
        plain = await window.screenshot()  # what waits for the font is given up
        assert size_of(plain) == (1280, 800)
        before = await run(frame, "() => document.documentElement.outerHTML")
        boxes = [("composer 90 %", Box(100, 200, 300, 40)), ("send <b>", Box(0, 0, 20, 20))]
        drawn = await window.outlined_screenshot(boxes)
        assert size_of(drawn) == (1280, 800)
        assert drawn != plain
        assert await run(frame, "() => document.documentElement.outerHTML") == before
        assert window._browser.contexts == [window._context]


async def test_a_page_that_is_not_drawn_yet_is_photographed_when_it_is(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, refused = CDPSession.send, ["Unable to capture screenshot"] * 2

    async def not_yet(session: CDPSession, method: str, wanted: dict[str, Any]) -> dict[str, Any]:
        if refused:
            raise Error(f"Protocol error ({method}): {refused.pop()}")
        return await send(session, method, wanted)

    async with showing(browser, "<p>x") as window:
        monkeypatch.setattr(CDPSession, "send", not_yet)
        assert size_of(await window.screenshot()) == (1280, 800)
        refused[:] = ["never"] * 9
        with pytest.raises(Unanswered, match=r"page-broken: .*never"):
            await window.screenshot()


async def test_a_trace_contains_the_events_and_no_secrets(browser: Browser, tmp_path: Path) -> None:
    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/app.js":
            script = "fetch('/again', {headers: {Authorization: 'Bearer canary-token'}})"
            writer.write(response("200 OK", script, media_type="text/javascript"))
        else:
            page = "<body>x<script src=/app.js></script>"
            writer.write(response("200 OK", page, "Set-Cookie: session=canary-cookie", media_type="text/html"))

    cookie = {"name": "kept", "value": "canary-state", "domain": "127.0.0.1", "path": "/", "expires": -1}
    cookie |= {"httpOnly": False, "secure": False, "sameSite": "Lax"}
    (tmp_path / "state.json").write_text(json.dumps({"cookies": [cookie], "origins": []}))
    async with serving(handler) as server:
        window = await browser.open_window(BrowserSettings(trace=True, storage_state=tmp_path / "state.json"))
        await window.goto(server.url)
        await until(lambda: len(server.asked) >= 3)
        await asyncio.sleep(0.3)
        trace = await window.trace()
        assert trace is not None
        assert await window.trace() is None
        await window.close()
    archive = zipfile.ZipFile(io.BytesIO(trace))
    records = b"".join(archive.read(name) for name in archive.namelist() if name.endswith((".trace", ".network")))
    assert b"/again" in records
    assert b"canary" not in records
    assert b"[removed]" in records
    untraced = await browser.open_window(BrowserSettings())
    assert await untraced.trace() is None
    await untraced.close()
    with pytest.raises(ValueError, match="the trace is not a zip file"):
        clean_archive(b"not a zip")


async def test_playwrights_browser_may_be_missing_but_asking_is_not_an_error() -> None:
    found = await asyncio.to_thread(find_playwright_browser)
    assert found is None or found.is_file()
