"""A rotation of browsers, so that a long run needs no more memory than a short run. Playwright keeps some memory for
every window until its process ends: about half a megabyte per window when measured. After `MOST_WINDOWS` windows
the next window opens in a new browser, and the old browser ends when its last window is closed. A browser that has
died is replaced as well."""

import asyncio
from dataclasses import dataclass

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings
from harvest.pages.browser.window import Window
from harvest.systems.driver import Unanswered
from harvest.systems.timing import REAL_CLOCK, Clock

# Windows for each browser.
MOST_WINDOWS = 100


@dataclass(slots=True, eq=False)
class _RunningBrowser:
    browser: Browser
    taken: int = 0
    open: int = 0


class BrowserRotation:
    """A rotation that uses `settings` for every browser and window and opens at most `most` windows in each browser.
    `first` is a browser that is already running, and `clock` is used for all waiting in the windows."""

    def __init__(
        self,
        settings: BrowserSettings,
        *,
        most: int = MOST_WINDOWS,
        first: Browser | None = None,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        self._settings, self._most, self._clock = settings, most, clock
        self._changing = asyncio.Lock()
        self._now = _RunningBrowser(first) if first is not None else None
        self._all = [self._now] if self._now is not None else []
        self._of: dict[Window, _RunningBrowser] = {}
        self._closed = False

    async def open_window(self) -> Window:
        """Open a fresh window. Raises DriverError if the browser fails or if the rotation is closed."""
        async with self._changing:
            runner = await self._current_runner()
            runner.taken += 1
            runner.open += 1
        try:
            window = await runner.browser.open_window(self._settings)
        except BaseException:
            await self._note_left(runner)
            raise
        self._of[window] = runner
        return window

    async def leave(self, window: Window) -> None:
        """Close a window. If its browser has been replaced in the rotation and has no other window, close that browser
        as well. May be called twice."""
        runner = self._of.pop(window, None)
        await window.close()
        if runner is not None:
            await self._note_left(runner)

    async def close(self) -> None:
        """Close every browser, including any that is still starting. No new browser is started afterwards."""
        self._closed = True
        async with self._changing:
            self._now = None
            while self._all:
                await self._all.pop().browser.close()

    async def _current_runner(self) -> _RunningBrowser:
        if self._closed:
            raise Unanswered("browser-gone", "the driver is closed")
        if self._now is not None and (not self._now.browser.is_alive or self._now.taken >= self._most):
            before, self._now = self._now, None
            if not before.open or not before.browser.is_alive:
                await self._end(before)
        if self._now is None:
            self._now = _RunningBrowser(await Browser.launch(self._settings, self._clock))
            self._all.append(self._now)
        return self._now

    async def _note_left(self, runner: _RunningBrowser) -> None:
        runner.open -= 1
        if not runner.open and runner is not self._now:
            await self._end(runner)

    async def _end(self, runner: _RunningBrowser) -> None:
        if runner in self._all:
            self._all.remove(runner)
            await runner.browser.close()
