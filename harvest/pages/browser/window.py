"""A window of a browser and the actions in it. Apart from `process.py`, only this module imports Playwright.

No call hangs: every call has a time limit and ends at once when the page or the browser is gone. Every failure becomes
a `DriverError`:

    NotSent      page-unreachable, page-timeout, page-download (no page came), browser-start (too slow to start, or
                 killed); part-gone, part-covered, part-off (nothing was clicked or typed)
    Unanswered   page-crashed, page-closed, page-hung, browser-gone, frame-gone, frame-silent, page-moved (a new
                 document came), page-broken (anything else)
    Denied       browser-start (the browser cannot be started), bad-selector (a site's selector is not valid CSS)
"""

import asyncio
import base64
import contextlib
import io
import json
import tempfile
import zipfile
from base64 import b64decode
from collections.abc import Collection, Coroutine, Sequence
from html import escape
from pathlib import Path
from typing import Any, cast

from playwright import async_api as playwright

from harvest.pages.browser.call_guard import CallGuard, ignore_errors, summarize_error
from harvest.pages.browser.frame import Frame
from harvest.pages.browser.outbox import Outbox
from harvest.pages.browser.part import Part
from harvest.pages.browser.recorder import Recorder
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.traffic import Traffic
from harvest.pages.reading.page import Box
from harvest.systems.driver import NotSent
from harvest.systems.timing import Clock
from recordings.secrets.redaction import Redactor

_SECRET_HEADERS = frozenset(
    {"authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key", "x-csrf-token"}
)
_SECRET_KEYS = frozenset({"storageState", "httpCredentials", "clientCertificates", "cookies", "localStorage"})
_REMOVED = "[removed]"


def clean_archive(archive: bytes, secrets: Collection[str] = ()) -> bytes:
    """Return the zip file of a trace without cookies, authorization headers and stored state; pictures stay unchanged.
    `secrets` are removed wherever they occur as text. Raises ValueError if `archive` is not a zip file."""
    out = io.BytesIO()
    redactor = Redactor(secrets)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                data = source.read(name)
                if name.endswith((".trace", ".network")):
                    data = b"".join(_clean_record(line) for line in data.splitlines(True))
                target.writestr(name, redactor.data(data))
    except zipfile.BadZipFile as fault:
        raise ValueError(f"the trace is not a zip file: {fault}") from None
    return out.getvalue()


def _clean_record(line: bytes) -> bytes:
    try:
        record = json.loads(line)
    except ValueError:
        # A trace with a gap is better than one with a secret.
        return b"" if line.strip() else line
    return json.dumps(_remove_secrets(record), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _remove_secrets(value: Any) -> Any:
    if isinstance(value, list):
        return [_remove_secrets(one) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("name"), str) and value["name"].lower() in _SECRET_HEADERS and "value" in value:
        return {**value, "value": _REMOVED}
    return {
        key: ([] if isinstance(one, list) else _REMOVED)
        if key in _SECRET_KEYS or key.lower() in _SECRET_HEADERS
        else _remove_secrets(one)
        for key, one in value.items()
    }


_COLOURS = ("#d4004c", "#0057d9", "#007a33", "#a35200", "#7a00cc")


def overlay_html(picture: bytes, boxes: Sequence[tuple[str, Box]], width: int, height: int) -> str:
    """Return HTML that shows a PNG of `width` x `height` CSS pixels with labelled boxes drawn on it."""
    marks = []
    for number, (label, box) in enumerate(boxes):
        colour = _COLOURS[number % len(_COLOURS)]
        # A label above the upper edge of the window would not be seen.
        top = "-22px" if box.y >= 24 else "2px"
        marks.append(
            f'<div style="left:{box.x:.0f}px;top:{box.y:.0f}px;width:{box.width:.0f}px;height:{box.height:.0f}px;'
            f'outline:3px solid {colour}"><b style="top:{top};background:{colour}">{escape(label)}</b></div>'
        )
    data = base64.b64encode(picture).decode("ascii")
    return (
        "<!doctype html><meta charset=utf-8><style>*{margin:0}body{overflow:hidden;position:relative}"
        "div{position:absolute}b{position:absolute;left:-3px;color:#fff;font:bold 13px/20px sans-serif;padding:0 6px;"
        f'white-space:nowrap}}</style><img width="{width}" height="{height}" src="data:image/png;base64,{data}">'
        + "".join(marks)
    )


_TRACE_SECONDS = 60.0  # seconds for writing a trace
_END_EVENT_DELAY = 0.3  # seconds until it is known whether the browser ended with the page
_SCREENSHOT_WAITS = (0.05, 0.2, 1.0)  # seconds to wait before the next screenshot of a page that is not drawn yet
_LOAD_SECONDS = 10.0  # seconds; many pages never finish loading and work nevertheless
_MOST_EVENTS = 200  # of one conversation


class Window:
    """A browser context with one page. Other windows that the page opens are closed and noted, except an expected
    window. `traffic` holds the timing of requests and messages, `recorder` the received content (None if it is not
    recorded), and `outbox` the messages that leave the page. `events` describes dialogs, downloads and pop-ups in
    plain words. `gone` says why no action is possible any more, or is None while the page is alive. `clock` is used
    for all waiting in the window."""

    def __init__(
        self,
        browser: playwright.Browser,
        context: playwright.BrowserContext,
        page: playwright.Page,
        settings: BrowserSettings,
        clock: Clock,
    ) -> None:
        self._browser, self._context, self._page = browser, context, page
        self._settings, self._tracing = settings, settings.trace
        self._closing = False
        self._expects = False
        self._opened: playwright.Page | None = None
        self._chooser: asyncio.Future[playwright.FileChooser] | None = None
        self._camera: playwright.CDPSession | None = None  # of this page, from the first screenshot on
        self._frames: dict[playwright.Frame, Frame] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._life = CallGuard(browser.is_connected, playwright.Error, settings.limits)
        self.clock, self.traffic, self.outbox = clock, Traffic(clock), Outbox()
        self.recorder: Recorder | None = None
        self.events: list[str] = []
        self._listen()

    @property
    def gone(self) -> str | None:
        return self._life.gone

    @property
    def url(self) -> str:
        return self._page.url

    @property
    def viewport(self) -> tuple[int, int]:
        """The width and height of the window's content in CSS pixels."""
        size = self._page.viewport_size
        return (size["width"], size["height"]) if size else (0, 0)

    async def goto(self, url: str, seconds: float = 60.0) -> int | None:
        """Load a page and return its HTTP status, even an error status, or None for a page without a status. Raises
        NotSent (`page-unreachable`, `page-timeout` or `page-download`) if no page arrives. The document itself must
        load within `seconds`; its images and scripts may take ten seconds more."""
        try:
            response = await self._life.run(
                self._page.goto(url, timeout=seconds * 1000, wait_until="domcontentloaded"), seconds + 5
            )
        except playwright.TimeoutError:
            raise NotSent("page-timeout", f"{url} did not load within {seconds:g} s") from None
        except playwright.Error as fault:
            reason = "page-download" if "Download is starting" in fault.message else "page-unreachable"
            raise NotSent(reason, summarize_error(fault.message)) from None
        with contextlib.suppress(playwright.Error):
            await self._life.run(
                self._page.wait_for_load_state("load", timeout=_LOAD_SECONDS * 1000), _LOAD_SECONDS + 5
            )
        return response.status if response is not None else None

    async def start_recording(self) -> None:
        """Start recording the received content. Call this method before the page is loaded."""
        self.recorder = Recorder(self.clock, self._run_later)
        await self.recorder.attach(await self._context.new_cdp_session(self._page))

    def expect_window(self, expected: bool) -> None:
        """Set whether the page may open a new window for the conversation. False also closes a window that was opened
        but not entered."""
        self._expects = expected
        page, self._opened = (self._opened, None) if not expected else (None, self._opened)
        if page is not None:
            self.note(f"new window closed: {page.url}")
            self._run_later(page.close())

    async def enter_window(self) -> bool:
        """Continue in the expected window, and return True if it was opened. The previous page stays open."""
        page, self._opened = self._opened, None
        if page is None or page.is_closed():
            return False
        self._page.remove_listener("close", self._note_close)
        self._page, self._camera = page, None
        self._listen_to_page()
        if self.recorder is not None:
            await self.recorder.attach(await self._context.new_cdp_session(page))
        with contextlib.suppress(playwright.Error):
            await self._life.run(page.wait_for_load_state("load", timeout=_LOAD_SECONDS * 1000), _LOAD_SECONDS + 5)
        self.note(f"went on in a new window: {page.url}")
        return True

    async def field_chosen_by(self, press: Coroutine[Any, Any, None], seconds: float) -> Part | None:
        """Do `press`, and return the field of the choice of files that it opens within `seconds`, or None. Raises what
        `press` raises."""
        self._chooser = asyncio.get_running_loop().create_future()
        try:
            await press
            async with asyncio.timeout(seconds):
                chooser = await self._chooser
        except TimeoutError:
            return None
        finally:
            self._chooser = None
        return Part(self._life, chooser.element, self._page.keyboard, self.frames()[0])

    def mark(self) -> None:
        """Mark the time of sending. Call this right before the turn is sent."""
        self.traffic.mark()
        self.outbox.mark()

    def frames(self) -> list[Frame]:
        """Return the frames, outermost first, without silent frames, which would delay every query. Every call
        represents a frame by the same object."""
        keyboard, size = self._page.keyboard, self.viewport
        self._frames = {
            frame: self._frames.get(frame) or Frame(self._life, frame, keyboard, size, self.clock)
            for frame in self._page.frames
        }
        return [frame for frame in self._frames.values() if not frame.is_silent]

    async def screenshot(self, scale: float = 1.0) -> bytes:
        """Return the visible part of the page as PNG. `scale` is the number of picture pixels per CSS pixel."""
        wanted: dict[str, Any] = {"format": "png"}
        if scale != 1:
            width, height = self.viewport
            wanted["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        # Playwright's own call would wait for the page's fonts, which may never come.
        if self._camera is None:
            self._camera = await self._life.call(self._context.new_cdp_session(self._page), self._settings.limits.act)
        return b64decode((await self._capture(self._camera, wanted))["data"])

    async def _capture(self, session: playwright.CDPSession, wanted: dict[str, Any]) -> dict[str, Any]:
        for wait in _SCREENSHOT_WAITS:
            with contextlib.suppress(playwright.Error):
                return await self._life.run(session.send("Page.captureScreenshot", wanted))
            await self.clock.sleep(wait)
        return await self._life.call(session.send("Page.captureScreenshot", wanted))

    async def outlined_screenshot(self, boxes: Sequence[tuple[str, Box]]) -> bytes:
        """Return a screenshot with labelled boxes drawn on it, as PNG. The page itself is not touched."""
        picture = await self.screenshot()
        width, height = self.viewport
        context = await self._life.call(self._browser.new_context(viewport={"width": width, "height": height}))
        try:
            page = await self._life.call(context.new_page())
            await self._life.call(page.set_content(overlay_html(picture, boxes, width, height), wait_until="load"))
            return await self._life.call(page.screenshot(timeout=self._settings.limits.act * 1000))
        finally:
            await ignore_errors(context.close())

    async def state(self) -> dict[str, Any]:
        """Return the secret cookies and storage in the format of Playwright's `storage_state`. This works even after a
        person has closed the page."""
        work = self._context.storage_state(indexed_db=True)
        if self.gone == "page-closed" and not self._closing:
            # Its context lives on, with the state that the page left.
            life = CallGuard(self._browser.is_connected, playwright.Error, self._settings.limits)
            return cast(dict[str, Any], await life.call(work))
        return cast(dict[str, Any], await self._life.call(work))

    async def trace(self) -> bytes | None:
        """Return the trace so far as a zip file, without cookies, authorization and storage. Returns None if no trace
        is recorded, and from the second call on."""
        if not self._tracing:
            return None
        self._tracing = False
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.zip"
            await self._life.call(self._context.tracing.stop(path=path), _TRACE_SECONDS)
            return clean_archive(path.read_bytes(), self._settings.secrets)

    async def close(self) -> None:
        """Close the context and everything in it, within 5 seconds. Never raises, and may be called twice."""
        if self._closing:
            return
        self._closing = True
        self._browser.remove_listener("disconnected", self._note_disconnect)
        self._life.note_end("page-closed")
        for task in tuple(self._tasks):
            task.cancel()
        if self._browser.is_connected():
            await ignore_errors(self._context.close())

    def _listen(self) -> None:
        self._browser.on("disconnected", self._note_disconnect)
        self._listen_to_page()
        self._context.on("page", self._note_page)
        self._context.on("request", self._note_request)
        self._context.on("response", self._note_response)
        self._context.on("requestfinished", self._note_finish)
        self._context.on("requestfailed", self._note_failure)

    def _listen_to_page(self) -> None:
        self._page.on("crash", lambda _: self._life.note_end("page-crashed"))
        self._page.on("close", self._note_close)
        self._page.on("dialog", self._answer_dialog)
        self._page.on("download", lambda download: self.note(f"download cancelled: {download.suggested_filename}"))
        # Without a listener a visible window would open the system's dialog and wait for a person.
        self._page.on("filechooser", self._note_chooser)
        self._page.on("websocket", self._note_socket)

    def _note_chooser(self, chooser: playwright.FileChooser) -> None:
        if self._chooser is not None and not self._chooser.done():
            self._chooser.set_result(chooser)
        else:
            self.note("choosing a file: left alone")

    def _note_request(self, one: playwright.Request) -> None:
        try:
            ours = one.service_worker is not None or one.frame.page is self._page
        except playwright.Error:
            ours = False  # the first document of a new window has no frame yet
        # Requests of a new window end with it, without any event.
        if ours:
            self.traffic.note_request(one, one.method, one.url, one.resource_type)
            self.outbox.note_request(one.method, one.url, one.resource_type, one.post_data_buffer)

    def _note_response(self, one: playwright.Response) -> None:
        times = one.request.timing
        at = (times["startTime"] + times["responseStart"]) / 1000 if times["responseStart"] >= 0 else None
        self.traffic.note_response(one.request, one.status, one.headers.get("content-type", ""), at)

    def _note_disconnect(self, _: playwright.Browser) -> None:
        self._life.note_end("browser-gone")

    def _note_close(self, _: playwright.Page) -> None:
        # A browser that ends closes its pages first; only a moment later is it known that it ended.
        asyncio.get_running_loop().call_later(_END_EVENT_DELAY, self._life.note_close)

    def note(self, event: str) -> None:
        if len(self.events) < _MOST_EVENTS:
            self.events.append(event)

    def _run_later(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(ignore_errors(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _answer_dialog(self, dialog: playwright.Dialog) -> None:
        self.note(f"{dialog.type}: {dialog.message[:300]}")
        # "Leave this page?" is only asked when we leave it.
        self._run_later(dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())

    def _note_page(self, page: playwright.Page) -> None:
        if self._expects and self._opened is None:
            self._opened = page
        elif page is not self._page and not self._settings.by_hand:
            self.note(f"new window closed: {page.url}")
            self._run_later(page.close())

    def _note_socket(self, socket: playwright.WebSocket) -> None:
        def sent(data: str | bytes) -> None:
            self.traffic.note_frame(socket)
            self.outbox.note_frame(socket.url, data)

        def received(data: str | bytes) -> None:
            self.traffic.note_frame(socket)
            self.traffic.note_received_frame(len(data))

        self.traffic.note_socket(socket)
        self.outbox.note_socket(socket.url)
        socket.on("framesent", sent)
        socket.on("framereceived", received)
        socket.on("close", lambda _: self.traffic.note_socket_end(socket))

    def _note_finish(self, request: playwright.Request) -> None:
        if self.traffic.note_end(request):
            self._run_later(self._measure_body(request, self.traffic.marked))

    def _note_failure(self, request: playwright.Request) -> None:
        self.traffic.note_end(request, request.failure or "failed")

    async def _measure_body(self, request: playwright.Request, marked: float) -> None:
        self.traffic.note_size((await request.sizes())["responseBodySize"], marked)
