"""A log-in made by hand. Cookies and storage are kept in Playwright's format in a file that only its owner can read.
The log-in never gets into a recording: code that uses the file passes its secrets to the writer, which removes
them."""

import asyncio
import contextlib
import json
import re
import stat
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from harvest.systems.driver import Unanswered
from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.files.evidence import new_temporary, remove_leftovers
from topics.errors import InputError, Place
from topics.regular_file import read_regular

_SHORTEST_SECRET = 12  # characters: shorter values are settings (`dark`, `en-GB`), not keys
# Texts and plain addresses: pages store them next to their keys, and answers may contain them.
_NO_KEY = re.compile(r"\s|^https?://[^?#@]*$")
_STEP = 0.1  # seconds


class LoginWindow(Protocol):
    """The browser window in which a person logs in."""

    @property
    def gone(self) -> str | None: ...

    async def state(self) -> dict[str, Any]: ...


async def log_in(
    window: LoginWindow, done: Callable[[], Coroutine[Any, Any, None]], clock: Clock = REAL_CLOCK
) -> dict[str, Any]:
    """Wait until the person is done or has closed the window, and return the secret state of the browser. Raises
    Unanswered if the browser has ended and its state is lost."""
    waiting = asyncio.ensure_future(done())
    try:
        while not waiting.done() and window.gone is None:
            await clock.sleep(_STEP)
    finally:
        waiting.cancel()
    if window.gone in (None, "page-closed"):
        try:
            return await window.state()
        except Unanswered as fault:
            # The pages of a browser that ends are closed before it is known to have ended.
            if fault.reason != "browser-gone":
                raise
    advice = "press Enter here, or close only the window"
    raise Unanswered(window.gone or "browser-gone", f"the browser ended before the log-in could be saved; {advice}")


def keep_login(path: Path, state: dict[str, Any]) -> None:
    """Write a browser's state to `path` with mode 600 from the first byte on, and replace any older file atomically.
    Temporary files left by a killed command are removed, because they contain secrets. Raises OSError if the file
    cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, path.name)
    draft, file = new_temporary(path, stat.S_IRUSR | stat.S_IWUSR)
    try:
        with file:
            file.write(json.dumps(state, ensure_ascii=False, indent=1).encode())
            file.flush()
            draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_secrets(path: Path) -> set[str]:
    """Return the values of the cookies and storage in this log-in, which must not appear in a recording. Raises
    InputError if the file is not a log-in, or if people other than the owner can read the file."""
    try:
        data = read_regular(path)
        shared = path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
        why = getattr(fault, "strerror", None) or fault
        advice = "make it with: harvest pages login SITE --out FILE"
        raise InputError(f"the log-in cannot be read: {why}", place=Place(str(path)), advice=advice) from None
    if shared:
        raise InputError(
            "people other than its owner can read this log-in", place=Place(str(path)), advice=f"chmod 600 {path}"
        )
    try:
        state = json.loads(data)
        if not isinstance(state, dict):
            raise TypeError
        return {value for value in _secret_values(state) if len(value) >= _SHORTEST_SECRET}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError(
            "the file is not a log-in saved by harvest pages login",
            place=Place(str(path)),
            advice="make a new one: harvest pages login",
        ) from None


def _secret_values(state: dict[str, Any]) -> Iterator[str]:
    for cookie in state["cookies"]:
        value = str(cookie["value"])
        yield value
        yield from _strings_in_json(unquote(value.strip('"')))
    for origin in state["origins"]:
        for item in origin.get("localStorage", ()):
            value = str(item["value"])
            if not _NO_KEY.search(value):
                yield value
            yield from _strings_in_json(value)
        for database in origin.get("indexedDB", ()):
            yield from _strings_in(database)


def _strings_in_json(value: str) -> Iterator[str]:
    """Yield the strings in a JSON value, because pages store secret keys inside larger objects."""
    with contextlib.suppress(ValueError, RecursionError):
        inner = json.loads(value)
        if isinstance(inner, (dict, list)):
            yield from _strings_in(inner)


def _strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _strings_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings_in(inner)
    elif isinstance(value, str) and not _NO_KEY.search(value):
        yield value
