"""Findings on the recordings from which a run was made, kept in its `run.json`.

A run that was merged or reread has new chains, which do not show changes in the original recordings. So the run keeps
the findings on the originals. Each finding has the hash of its recording, so that the order of merging does not matter.
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
class NotedFinding:
    """A finding on an earlier recording, which `recording` identifies by its hash. `what` is a sentence with file and
    line. If `open`, the recording and all runs made from it cannot be verified; otherwise the finding is about
    something that was never protected."""

    recording: str
    what: str
    open: bool = True

    def __str__(self) -> str:
        return f"made from the recording {self.recording[:8]}…, about which this was noted: {self.what}"


def read_findings(run: Path) -> tuple[NotedFinding, ...]:
    """Return the findings in the header of a run folder, or () if there are none or the header cannot be read."""
    try:
        value = json.loads(read_inside(run, "run.json"))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(_read_findings(value)) if isinstance(value, dict) else ()


def add_findings(header: Header, noted: Iterable[NotedFinding]) -> Header:
    """Return the header with additional findings, in order and without repetitions."""
    every = sorted({*_read_findings(header.extra), *noted})
    kept = {key: item for key, item in header.extra.items() if key != KEY}
    if every:
        kept[KEY] = [{"recording": one.recording, "what": one.what, "open": one.open} for one in every]
    return replace(header, extra=kept)


def findings_in_header(header: Header) -> tuple[NotedFinding, ...]:
    return tuple(_read_findings(header.extra))


def _read_findings(value: Any) -> Iterator[NotedFinding]:
    rows: Json = value.get(KEY)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield NotedFinding(str(row.get("recording")), str(row.get("what")), row.get("open") is not False)
