"""A browser process: find Playwright's own browser, start a browser, and open windows in it. Only this module and
`window.py` import Playwright. Every call has a time limit, and every failure becomes a `DriverError`."""

import asyncio
import contextlib
import functools
import threading
from pathlib import Path

from playwright import async_api as playwright
from playwright.sync_api import sync_playwright

from harvest.pages.browser.call_guard import CLOSE_SECONDS, ignore_errors, is_end, start_failure, summarize_error
from harvest.pages.browser.part import eye_source
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.systems.driver import Denied, NotSent, Unanswered
from harvest.systems.timing import REAL_CLOCK, Clock

_START = 60.0  # seconds that Playwright gets to start: a cold disk is slow
_CALL = 20.0  # seconds for a new window, or for Playwright to stop


@functools.cache
def find_playwright_browser() -> Path | None:
    """Return the path of Playwright's own Chromium, or None if it is missing. The first call takes half a second."""
    found: list[str] = []

    def ask() -> None:
        with sync_playwright() as started:
            found.append(started.chromium.executable_path)

    # In a thread of its own: Playwright's synchronous API refuses to run in an event loop.
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return next((Path(path) for path in found if path and Path(path).is_file()), None)


class Browser:
    """A browser process. Its windows share nothing except the process and the clock used for all waiting."""

    def __init__(self, started: playwright.Playwright, browser: playwright.Browser, clock: Clock) -> None:
        self._playwright, self._browser, self._clock = started, browser, clock
        self._closed = self._lost = False

    @classmethod
    async def launch(cls, settings: BrowserSettings, clock: Clock = REAL_CLOCK) -> "Browser":
        """Start a browser. Raises Denied (`browser-start`) if that fails, or NotSent if it is too slow or killed."""
        started = await _start_playwright()
        try:
            async with asyncio.timeout(settings.limits.launch + 5):
                return cls(started, await _launch_chromium(started, settings), clock)
        except BaseException as fault:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(started.stop(), CLOSE_SECONDS)
            if isinstance(fault, (playwright.TimeoutError, TimeoutError)):
                raise NotSent(
                    "browser-start", f"the browser did not start within {settings.limits.launch:g} s"
                ) from None
            if isinstance(fault, playwright.Error):
                # A browser killed while it starts, perhaps because memory ran out, may start the next time.
                killed = "signal=SIGKILL" in fault.message or "Connection closed" in fault.message
                detail = f"{settings.executable or 'the browser'} does not start: {start_failure(fault.message)}"
                raise (NotSent if killed else Denied)("browser-start", f"{detail} (see harvest doctor)") from None
            raise

    @property
    def is_alive(self) -> bool:
        return not self._closed and not self._lost and self._browser.is_connected()

    @property
    def version(self) -> str:
        return self._browser.version

    async def open_window(self, settings: BrowserSettings) -> Window:
        """Open an empty page in a window whose only state is the log-in. Raises Unanswered on failure."""
        if not self.is_alive:
            raise Unanswered("browser-gone", "the browser has ended")
        try:
            async with asyncio.timeout(_CALL):
                context = await self._browser.new_context(**settings.context_options())
                try:
                    await context.add_init_script(eye_source())
                    if settings.trace:
                        await context.tracing.start(screenshots=True, snapshots=True)
                    window = Window(self._browser, context, await context.new_page(), settings, self._clock)
                    if settings.witness:
                        await window.start_recording()
                    return window
                except BaseException:
                    await ignore_errors(context.close())
                    raise
        except TimeoutError:
            raise Unanswered("browser-gone", f"the browser did not open a page within {_CALL:g} s") from None
        except playwright.Error as fault:
            # If Playwright itself has ended, the browser still seems to be there.
            self._lost = self._lost or is_end(fault)
            raise Unanswered(
                "page-broken" if self.is_alive else "browser-gone", summarize_error(fault.message)
            ) from None

    async def close(self) -> None:
        """Close the browser. Never raises; may be called twice."""
        if not self._closed:
            self._closed = True
            await ignore_errors(self._browser.close())
            await ignore_errors(self._playwright.stop())


async def _start_playwright() -> playwright.Playwright:
    """Start Playwright's own process. Raises NotSent (`browser-start`) if that takes too long. The start is never
    interrupted, because an interrupted start makes Playwright, and so the program, wait for ever."""
    starting = asyncio.ensure_future(playwright.async_playwright().start())
    try:
        async with asyncio.timeout(_START):
            return await asyncio.shield(starting)
    except BaseException as fault:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_CALL):
                await (await asyncio.shield(starting)).stop()
        if isinstance(fault, TimeoutError):
            raise NotSent("browser-start", f"Playwright did not start within {_START:g} s") from None
        raise


async def _launch_chromium(started: playwright.Playwright, settings: BrowserSettings) -> playwright.Browser:
    options, sandbox = settings.launch_options(), settings.with_sandbox
    try:
        return await started.chromium.launch(chromium_sandbox=sandbox, **options)
    except playwright.Error as fault:
        # Do without a sandbox that was not requested: many containers have none.
        if not sandbox or settings.sandbox or "sandbox" not in fault.message.lower():
            raise
        return await started.chromium.launch(chromium_sandbox=False, **options)
