"""A log-in made by hand, kept in a file that only its owner reads: cookies and storage, as a browser takes them.

It never goes into a recording: whoever uses it hands its secrets to the writer, which takes them out.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from topics.errors import InputError, Place
from topics.regular_file import read_regular

__all__ = ["keep_login", "secrets_of"]

_SHORTEST = 12  # characters: shorter values are settings (`dark`, `en-GB`), not keys


def keep_login(path: Path, state: dict[str, Any]) -> None:
    """Write a browser's state to `path`, mode 600 from its first byte on; replaces an older one as a whole.

    Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(state, file, ensure_ascii=False, indent=1)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def secrets_of(path: Path) -> set[str]:
    """What must not stand in a recording made with this log-in: the values of its cookies and of its storage.

    Raises InputError where the file is no log-in, or where others than its owner can read it.
    """
    try:
        data = read_regular(path)
        shared = path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    except OSError as fault:
        advice = "make it with: harvest login SITE --out FILE"
        raise InputError(
            f"the log-in cannot be read: {fault.strerror}", place=Place(str(path)), advice=advice
        ) from None
    if shared:
        raise InputError(
            "others than its owner may read this log-in", place=Place(str(path)), advice=f"chmod 600 {path}"
        )
    try:
        state = json.loads(data)
        if not isinstance(state, dict):
            raise TypeError
        return {value for value in _values(state) if len(value) >= _SHORTEST}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(
            "this is no log-in that harvest login keeps", place=Place(str(path)), advice="make it anew: harvest login"
        ) from None


def _values(state: dict[str, Any]) -> Iterator[str]:
    for cookie in state["cookies"]:
        yield str(cookie["value"])
    for origin in state["origins"]:
        for item in origin.get("localStorage", ()):
            yield from _texts(str(item["value"]))
        for database in origin.get("indexedDB", ()):
            yield from _leaves(database)


def _texts(value: str) -> Iterator[str]:
    """The value, and what is in it where it is JSON: pages keep keys inside larger objects."""
    yield value
    with contextlib.suppress(ValueError, RecursionError):
        inner = json.loads(value)
        if isinstance(inner, (dict, list)):
            yield from _leaves(inner)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str) and " " not in value:
        yield value
