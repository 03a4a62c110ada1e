"""A guard for calls to a page: each call has a time limit and ends at once when the page is gone."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from harvest.pages.browser.settings import LIMITS, Limits
from harvest.systems.driver import Denied, DriverError, NotSent, Unanswered

_NAVIGATION_ERRORS = ("Execution context was destroyed", "Cannot find context", "navigat")
_FRAME_ERRORS = ("Frame was detached", "frame was detached", "Frame has been detached")
_BAD_SELECTOR = re.compile(r"bad selector <(?P<name>[^>]*)>: (?P<css>.*)")
_COVERED = re.compile(r"(<.*?>.*) intercepts pointer events")
_EXIT = re.compile(r"<process did exit: exitCode=(?P<code>\d+)")
_STDERR_LINE = re.compile(r"^\[pid=\d+\]\[err\] (?P<said>.*\S)", re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def summarize_error(message: str) -> str:
    """Return the first meaningful line of an error message, without colour codes and without the name of the call."""
    lines = [line.strip() for line in _COLOURS.sub("", message).splitlines() if line.strip()]
    first = lines[0] if lines else "no reason given"
    return re.sub(r"^(?:\w+\.\w+: )?(?:Error: )?", "", first)[:300]


def start_failure(message: str) -> str:
    """Explain why a browser did not start, with the exit code and the first output line if it ended at once."""
    if "Socket path too long" in message:
        return "the path of the folder for temporary files is too long; set TMPDIR to a path of at most 60 characters"
    ended = _EXIT.search(message)
    if ended is None:
        return summarize_error(message)
    complaint = _STDERR_LINE.search(_COLOURS.sub("", message))
    said = f" and said {complaint['said'][:300]!r}" if complaint else ""
    return f"it ended at once with exit code {ended['code']}{said}; check that it is a Chromium, Chrome or Edge"


def call_failure(message: str) -> DriverError:
    """Return the error to raise for a call that failed although the page is still alive."""
    bad = _BAD_SELECTOR.search(message)
    if bad:
        return Denied("bad-selector", f"{bad['name']}: {bad['css'].strip()!r} is not a CSS selector")
    if any(words in message for words in _FRAME_ERRORS):
        return Unanswered("frame-gone", "the frame has left the page")
    if any(words in message for words in _NAVIGATION_ERRORS):
        return Unanswered("page-moved", "the page loaded another document while Harvest was reading it")
    return Unanswered("page-broken", summarize_error(message))


def action_failure(message: str) -> NotSent:
    """Return the error to raise for an element that could not be clicked or typed into. The page is unchanged, but if
    the code is `part-unsure`, the click may have happened."""
    message = _COLOURS.sub("", message)
    covered = _COVERED.findall(message)
    if message.rfind("performing click action") > message.rfind("intercepts pointer events"):
        return NotSent("part-unsure", "it is unknown whether the element was clicked")
    if covered:
        return NotSent("part-covered", f"{covered[-1][:200]} covers the element")
    if "not attached" in message or "detached" in message:
        return NotSent("part-gone", "the element has left the page")
    for state in ("not stable", "not visible", "not enabled", "not editable", "outside of the viewport"):
        if state in message:
            return NotSent("part-off", f"the element is {state}")
    return NotSent("part-off", summarize_error(message))


def is_timeout(fault: NotSent) -> bool:
    """Return True if `action_failure` found no obstacle, so that the action failed only because time ran out."""
    return fault.reason == "part-off" and "Timeout" in fault.detail


T = TypeVar("T")

END_REASONS = {
    "page-crashed": "the page has crashed",
    "page-closed": "the page was closed",
    "page-hung": "the page no longer responds",
    "browser-gone": "the browser has ended",
}
CLOSE_SECONDS = 5.0  # seconds for clean-up work
_END_EVENT_DELAY = 1.0  # seconds by which the event of an end may follow the error that it causes


class CallGuard:
    """The guard for calls to one page. `connected` returns whether the browser is still running, and `complaint` is the
    exception class that calls to the page raise."""

    def __init__(self, connected: Callable[[], bool], complaint: type[Exception], limits: Limits = LIMITS) -> None:
        self._connected, self.complaint, self.limits = connected, complaint, limits
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @property
    def gone(self) -> str | None:
        """The reason why no call is possible any more (`page-crashed`, `page-closed`, `page-hung` or `browser-gone`),
        or None while the page is alive."""
        return self._ended.result() if self._ended.done() else None

    def note_end(self, reason: str) -> None:
        """Note that the page has ended. Only the first reason is kept."""
        if not self._ended.done():
            self._ended.set_result(reason)

    def note_close(self) -> None:
        self.note_end("page-closed" if self._connected() else "browser-gone")

    async def run(self, work: Coroutine[Any, Any, T], seconds: float | None = None, *, apart: bool = False) -> T:
        """Return the result of a call, or raise its error. Raises Unanswered if the page is gone or does not respond
        within `seconds` (by default the limit for calls). Set `apart` for a call to a single frame: if the frame
        does not respond, the reason is `frame-silent` and the page still counts as alive."""
        seconds = self.limits.call if seconds is None else seconds
        if self.gone is not None:
            work.close()
            raise Unanswered(self.gone, END_REASONS[self.gone])
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait((task, self._ended), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done() and (task.cancelled() or not is_end(task.exception())):
                return task.result()
            if task.done():
                await asyncio.wait((self._ended,), timeout=_END_EVENT_DELAY)
                # A page that is closed sends an event; without one, all of Playwright has ended.
                self.note_end("browser-gone")
        finally:
            task.cancel()
            # Nobody awaits it any more; asyncio would report its error as never retrieved.
            task.add_done_callback(lambda one: one.cancelled() or one.exception())
        if apart and self.gone is None:
            raise Unanswered("frame-silent", f"a frame of the page did not respond within {seconds:g} s")
        # A page that once did not answer is not called again: each call would wait as long.
        self.note_end("page-hung")
        assert self.gone is not None
        raise Unanswered(self.gone, END_REASONS[self.gone])

    async def call(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Run a call as `run` does, but convert every error of class `complaint` into a DriverError."""
        try:
            return await self.run(work, seconds)
        except self.complaint as fault:
            raise call_failure(str(fault)) from None


def is_end(error: BaseException | None) -> bool:
    """Return True if the call failed because the page or the browser is gone."""
    return error is not None and (type(error).__name__ == "TargetClosedError" or "Target crashed" in str(error))


async def ignore_errors(work: Awaitable[Any]) -> None:
    """Wait up to 5 seconds for clean-up work and ignore any error in it."""
    with contextlib.suppress(Exception):
        await asyncio.wait_for(work, CLOSE_SECONDS)
