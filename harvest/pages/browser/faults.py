"""The meaning of Playwright's error messages, recognised by their words because there are hardly any error types."""

import re

from harvest.systems.driver import Denied, DriverError, NotSent, Unanswered

_MOVED = ("Execution context was destroyed", "Cannot find context", "navigat")
_FRAME_GONE = ("Frame was detached", "frame was detached", "Frame has been detached")
_BAD_SELECTOR = re.compile(r"bad selector <(?P<name>[^>]*)>: (?P<css>.*)")
_COVERED = re.compile(r"(<.*?>.*) intercepts pointer events")
_EXIT = re.compile(r"<process did exit: exitCode=(?P<code>\d+)")
_COMPLAINT = re.compile(r"^\[pid=\d+\]\[err\] (?P<said>.*\S)", re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def sentence(message: str) -> str:
    """The first meaningful line, without colours and without the name of the call."""
    lines = [line.strip() for line in _COLOURS.sub("", message).splitlines() if line.strip()]
    first = lines[0] if lines else "no reason given"
    return re.sub(r"^(?:\w+\.\w+: )?(?:Error: )?", "", first)[:300]


def start_failure(message: str) -> str:
    """Why a browser did not start. For a program that ends at once this is its exit code and the first line it
    printed."""
    if "Socket path too long" in message:
        return "the folder for temporary files has too long a path: set TMPDIR to one of at most 60 characters"
    ended = _EXIT.search(message)
    if ended is None:
        return sentence(message)
    complaint = _COMPLAINT.search(_COLOURS.sub("", message))
    said = f" and said {complaint['said'][:300]!r}" if complaint else ""
    return f"it ended at once with exit code {ended['code']}{said}; is it a Chromium, Chrome or Edge?"


def call_failure(message: str) -> DriverError:
    """The error for a call that failed while the page lives."""
    bad = _BAD_SELECTOR.search(message)
    if bad:
        return Denied("bad-selector", f"{bad['name']}: {bad['css'].strip()!r} is not a CSS selector")
    if any(words in message for words in _FRAME_GONE):
        return Unanswered("frame-gone", "the frame has left the page")
    if any(words in message for words in _MOVED):
        return Unanswered("page-moved", "another document was loaded in the middle of a look")
    return Unanswered("page-broken", sentence(message))


def action_failure(message: str) -> NotSent:
    """The error for an element that could not be clicked or typed into; nothing was done, except perhaps with
    `part-unsure`."""
    message = _COLOURS.sub("", message)
    covered = _COVERED.findall(message)
    if message.rfind("performing click action") > message.rfind("intercepts pointer events"):
        return NotSent("part-unsure", "no word came back of whether it was clicked")
    if covered:
        return NotSent("part-covered", f"{covered[-1][:200]} lies over it")
    if "not attached" in message or "detached" in message:
        return NotSent("part-gone", "the element has left the page")
    for state in ("not stable", "not visible", "not enabled", "not editable", "outside of the viewport"):
        if state in message:
            return NotSent("part-off", f"the element is {state}")
    return NotSent("part-off", sentence(message))


def out_of_time(fault: NotSent) -> bool:
    """True if `action_failure` found no obstacle and only the time ran out."""
    return fault.reason == "part-off" and "Timeout" in fault.detail
