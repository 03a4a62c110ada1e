"""GitHub Actions: annotations and the summary of a step.

What else a step prints is no command to the runner: see `harvest.notices.disarmed`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Literal

from harvest.notices.bulletin import Account, Bulletin, Notice, plain

__all__ = ["LARGEST_SUMMARY", "annotation_lines", "summary"]

LARGEST_SUMMARY = 2**20
"""Bytes of a step's summary: of a larger one GitHub shows nothing at all."""

_MOST = 10
"""Annotations of one kind that GitHub takes from a step; it drops the others without a word."""

_Kind = Literal["error", "warning", "notice"]
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~&@#$]|:(?=//)|(?<=[wW]{3})\.")


def annotation_lines(bulletin: Bulletin) -> Iterator[str]:
    """Lines for standard output, at most ten of each kind: errors where the exit code is not 0, warnings where it
    cannot be told, and one notice where all is well."""
    found: dict[_Kind, list[tuple[str, str]]] = {"error": [], "warning": [], "notice": []}
    for account in bulletin.accounts:
        for one in account.notices:
            kind: _Kind = "error" if one.code else "notice" if one.verdict in ("same", "kept") else "warning"
            if one.decides and kind != "notice":
                found[kind].append((f"{bulletin.audit}, {account.system}: {one.verdict}", one.sentence))
    if not (found["error"] or found["warning"]):
        found["notice"].append((f"{bulletin.audit}: {bulletin.verdict}", bulletin.sentence))
    for kind, each in found.items():
        for title, text in each[: _MOST - 1]:
            yield f"::{kind} title={_property(title)}::{_data(text)}"
        left = each[_MOST - 1 :]
        if left:
            title, text = left[0] if len(left) == 1 else (f"{len(left)} more", "they are in the summary of this step")
            yield f"::{kind} title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(bulletin: Bulletin, room: int = LARGEST_SUMMARY) -> str:
    """Markdown of at most `room` bytes; where something is left out, the last line says so."""
    lines = [f"## {_text(bulletin.audit)}: {_text(bulletin.verdict)}", ""]
    for account in bulletin.accounts:
        lines += [*_account(account), ""]
    lines += [f"Run: {_text(bulletin.run)}. Exit code {bulletin.code}.", ""]
    cut = "\nMore was left out: the summary of a step has little room.\n"
    kept: list[str] = []
    size = len(cut)
    for line in lines:
        size += len(line.encode()) + 1
        if size > room:
            return "\n".join(kept) + cut if len(cut) <= room else ""
        kept.append(line)
    return "\n".join(kept)


def _account(account: Account) -> Iterator[str]:
    yield f"**{_text(account.sentence)}**"
    yield ""
    yield "| figure | baseline | now | difference | n | verdict |"
    yield "|---|--:|--:|--:|--:|---|"
    for one in account.notices:
        yield "| " + " | ".join(_cells(one)) + " |"
    yield ""
    for line in account.details:
        yield f"- {_text(line.strip())}"


def _cells(one: Notice) -> Iterator[str]:
    from scoring.table import is_percentage  # late: it imports every measure, and most commands tell nobody

    share = is_percentage(one.figure.partition(" ")[0]) or one.figure == "coverage"
    yield _text(one.figure)
    yield _shown(one.before, share)
    yield _shown(one.now.value, share) + _between(one.now.low, one.now.high, share)
    yield _shown(one.moved.value, share, sign="+") + _between(one.moved.low, one.moved.high, share, sign="+")
    yield str(one.n)
    yield one.verdict if one.decides else "shown only"


def _between(low: float, high: float, share: bool, *, sign: str = "") -> str:
    return "" if math.isnan(low) else f" [{_shown(low, share, sign=sign)}, {_shown(high, share, sign=sign)}]"


def _shown(value: float, share: bool, *, sign: str = "") -> str:
    if math.isnan(value):
        return ""
    return f"{100 * value:{sign}.1f}%" if share else f"{value:{sign}.4f}"


def _text(text: str) -> str:
    """As Markdown that shows the text and does nothing else: no link, no mention, no markup."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", plain(text))
