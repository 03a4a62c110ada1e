"""Annotations and step summaries of GitHub Actions. Other output is made safe by `harvest.notices.disarmed`."""

import math
import re
from collections.abc import Iterator
from typing import Literal

from harvest.notices.bulletin import Bulletin, Estimate, Notice, plain
from topics.decimals import decimal

# Bytes of a step's summary: GitHub shows nothing of a larger one.
LARGEST_SUMMARY = 2**20

# Annotations of one kind that GitHub accepts from a step; it silently drops the others.
_MOST = 10

_Kind = Literal["error", "warning", "notice"]
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~&@#$]|:(?=//)|(?<=[wW]{3})\.")


def annotation_lines(bulletin: Bulletin) -> Iterator[str]:
    """Yield annotations for standard output, at most ten of each kind. Figures that cause an exit code other than 0
    become errors, and unclear verdicts become warnings. Without errors and warnings, a single notice is written."""
    found: dict[_Kind, list[tuple[str, str]]] = {"error": [], "warning": [], "notice": []}
    for account in bulletin.accounts:
        for one in account.notices:
            kind: _Kind = "error" if one.code else "notice" if one.verdict in ("same", "kept") else "warning"
            if one.decides and kind != "notice":
                found[kind].append((f"{bulletin.audit}, {account.system}: {one.printed_verdict}", one.sentence))
    if not (found["error"] or found["warning"]):
        found["notice"].append((f"{bulletin.audit}: {bulletin.verdict}", bulletin.sentence))
    for kind, each in found.items():
        for title, text in each[: _MOST - 1]:
            yield f"::{kind} title={_escape_property(title)}::{_escape_data(text)}"
        left = each[_MOST - 1 :]
        if left:
            title, text = left[0] if len(left) == 1 else (f"{len(left)} more", "they are in the summary of this step")
            yield f"::{kind} title={_escape_property(title)}::{_escape_data(text)}"


def _escape_data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def summary(bulletin: Bulletin, room: int = LARGEST_SUMMARY) -> str:
    """Return a Markdown summary of at most `room` bytes. If anything was left out, the last line mentions this."""
    lines = [f"## {_escape_markdown(bulletin.audit)}: {_escape_markdown(bulletin.verdict)}", ""]
    for account in bulletin.accounts:
        bound = any(not math.isnan(one.limit) for one in account.notices)
        held = bound or any(not math.isnan(one.before) for one in account.notices)
        heads = ["figure", *(["threshold" if bound else "baseline"] if held else []), "now"]
        heads += [*(["difference"] if held else []), "n", "verdict"]
        lines += [
            f"**{_escape_markdown(account.sentence)}**",
            "",
            f"| {' | '.join(heads)} |",
            f"|---|{'--:|' * (len(heads) - 2)}---|",
        ]
        lines += [f"| {' | '.join(_row_cells(one, bound=bound, held=held))} |" for one in account.notices]
        lines += ["", *(f"- {_escape_markdown(line.strip())}" for line in account.details), ""]
    lines += [f"Run: {_escape_markdown(bulletin.run)}. Exit code {bulletin.code}.", ""]
    cut = "\nMore was left out: the summary of a step has little room.\n"
    kept: list[str] = []
    size = len(cut)
    for line in lines:
        size += len(line.encode()) + 1
        if size > room:
            return "\n".join(kept) + cut if len(cut) <= room else ""
        kept.append(line)
    return "\n".join(kept)


def _row_cells(one: Notice, *, bound: bool, held: bool) -> Iterator[str]:
    from scoring.table import is_percentage  # late: it imports every measure, and most commands send no notices

    share = is_percentage(one.figure.partition(" ")[0]) or one.figure == "coverage"
    before, moved = one.before, one.moved
    if bound:
        before, moved = one.limit, Estimate(*(end - one.limit for end in (one.now.value, one.now.low, one.now.high)))
    yield _escape_markdown(one.figure)
    if held:
        yield _value_text(before, share)
    yield _value_text(one.now.value, share) + _interval_text(one.now, share)
    if held:
        yield _difference_text(moved.value, share, " points") + _interval_text(moved, share, apart=True)
    yield str(one.n)
    yield one.printed_verdict if one.decides else "shown only"


def _interval_text(one: Estimate, share: bool, *, apart: bool = False) -> str:
    if math.isnan(one.low) or math.isnan(one.high):
        return ""
    low, high = (_difference_text(end, share) if apart else _value_text(end, share) for end in (one.low, one.high))
    return f" [{low}, {high}]"


def _value_text(value: float, share: bool) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{decimal(100 * value, 1)}%" if share else decimal(value, 4)


def _difference_text(value: float, share: bool, unit: str = "") -> str:
    if math.isnan(value):
        return "n/a"
    return decimal(100 * value, 1, signed=True) + unit if share else decimal(value, 4, signed=True)


def _escape_markdown(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", plain(text))
