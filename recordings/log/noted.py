"""Findings on the recordings that a run was made from, kept in its `run.json`.

A run that is merged or reread from others has its own chains, which do not show changes in those. So it keeps the
findings, with the hash of the recording in which they were found, so that the order of merging does not matter.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recordings.files.json_text import Json
from recordings.log.header import Header
from topics.regular_file import read_inside

# The key in `run.json`.
KEY = "noted"


@dataclass(frozen=True, slots=True, order=True)
class Noted:
    """A finding. recording: the hash of the one in which it was found. what: with file and line. open: it prevents that
    recording, and all made from it, from being verified; if false, it is about something never covered."""

    recording: str
    what: str
    open: bool = True

    def __str__(self) -> str:
        return f"made from the recording {self.recording[:8]}…, about which this was noted: {self.what}"


def read_noted(run: Path) -> tuple[Noted, ...]:
    """Return the findings in the header of a run folder; () if there are none, or the header cannot be read."""
    try:
        value = json.loads(read_inside(run, "run.json"))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(_read_findings(value)) if isinstance(value, dict) else ()


def with_noted(header: Header, noted: Iterable[Noted]) -> Header:
    """Return the header with additional findings, each once and in order."""
    every = sorted({*_read_findings(header.extra), *noted})
    kept = {key: item for key, item in header.extra.items() if key != KEY}
    if every:
        kept[KEY] = [{"recording": one.recording, "what": one.what, "open": one.open} for one in every]
    return replace(header, extra=kept)


def noted_of(header: Header) -> tuple[Noted, ...]:
    return tuple(_read_findings(header.extra))


def _read_findings(value: Any) -> Iterator[Noted]:
    rows: Json = value.get(KEY)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield Noted(str(row.get("recording")), str(row.get("what")), row.get("open") is not False)
