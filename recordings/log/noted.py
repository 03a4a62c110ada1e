"""What was wrong with the recordings that a run was made of, kept in its `run.json`.

A run that is made of others, merged or read again, has chains of its own, which show nothing of what was changed in
those. What was found in them when it was made stays with it, by the hash of the recording in which it was found, so
that the order of merging changes nothing.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recordings.files.json_text import Json
from recordings.log.header import Header
from topics.regular_file import read_inside

# Of `run.json`.
KEY = "noted"


@dataclass(frozen=True, slots=True, order=True)
class Noted:
    """recording: the hash of the one in which it was found. what: with the file and the line. open: it keeps that
    recording, and all that is made of it, from being verified; else it is outside of what is promised."""

    recording: str
    what: str
    open: bool = True

    def __str__(self) -> str:
        return f"made of the recording {self.recording[:8]}…, of which this was noted: {self.what}"


def read_noted(run: Path) -> tuple[Noted, ...]:
    """What is noted in the header of a run folder; () if nothing is, or the header cannot be read."""
    try:
        value = json.loads(read_inside(run, "run.json"))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(_of(value)) if isinstance(value, dict) else ()


def with_noted(header: Header, noted: Iterable[Noted]) -> Header:
    """The header with what was noted in addition to what it says, each once and in order."""
    every = sorted({*_of(header.extra), *noted})
    kept = {key: item for key, item in header.extra.items() if key != KEY}
    if every:
        kept[KEY] = [{"recording": one.recording, "what": one.what, "open": one.open} for one in every]
    return replace(header, extra=kept)


def noted_of(header: Header) -> tuple[Noted, ...]:
    return tuple(_of(header.extra))


def _of(value: Any) -> Iterator[Noted]:
    rows: Json = value.get(KEY)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield Noted(str(row.get("recording")), str(row.get("what")), row.get("open") is not False)
