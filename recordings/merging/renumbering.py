"""Judgments and replies of models in a run whose attempts get other numbers by a merge: they stay with what was judged.

What is about an attempt that is not in its run is left out: its number may be that of another attempt, whose answers
nobody judged. So is what is about one of two attempts of one number, which a damaged run may have.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recordings.events.attempts import AttemptId
from recordings.files.json_text import line
from recordings.judged.judgments import Layer
from topics.counting import pluralize

Numbers = Mapping[AttemptId, int]
"""The number that each attempt of one run gets; without attempts of which a number does not say which it means."""


def renumbered(layer: Layer, numbers: Numbers) -> tuple[Layer, str]:
    """The layer with the numbers that its attempts get, and a sentence on what is left out, "" where nothing is."""
    judgments, lost = [], []
    for judgment in layer.judgments:
        number = _number(judgment.about, numbers)
        if number is None:
            lost.append(judgment.about)
        else:
            judgments.append(replace(judgment, about=_with(judgment.about, number)))
    told = ""
    if lost:
        what = f"{pluralize(len(lost), 'judgment')} left out, of attempts that this run does not have, or has twice"
        told = f"{what}: attempt {lost[0]['attempt']} at trial {lost[0]['trial']}{', …' if len(lost) > 1 else ''}"
    return replace(layer, judgments=tuple(judgments)), told


def renumbered_layer(data: bytes, numbers: Numbers) -> bytes:
    """The same of the file of a layer. Lines that need no change stay the same bytes; of the others, keys that a later
    version wrote are kept."""
    opening, *lines = data.split(b"\n")
    kept = [opening]
    for text in lines:
        row: dict[str, Any] = json.loads(text) if text else {}
        about = row.get("about", {})
        number = _number(about, numbers)
        if number is not None:
            same = number in (0, about.get("attempt"))
            kept.append(text if same else line({**row, "about": _with(about, number)})[:-1])
    return b"\n".join(kept)


def renumbered_replies(data: bytes, numbers: Numbers) -> bytes:
    """A file of replies. They are found by what was asked, and say for people alone where that stood; so none is left
    out, and a line that cannot be read is kept as it is."""
    kept = []
    for text in data.split(b"\n"):
        try:
            row: Any = json.loads(text)
        except (ValueError, RecursionError):  # what a killed command left
            row = None
        number = _number(row, numbers) if isinstance(row, dict) else 0
        same = not number or number == row["attempt"]
        kept.append(text if same else line({**row, "attempt": number})[:-1])
    return b"\n".join(kept)


def _number(about: Mapping[str, Any], numbers: Numbers) -> int | None:
    """The number that the attempt gets; 0 for what is about no attempt, None for one that is not in the run."""
    trial, attempt = about.get("trial"), about.get("attempt")
    if not isinstance(trial, str) or not isinstance(attempt, int):
        return 0
    return numbers.get((trial, attempt))


def _with(about: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {**about, "attempt": number} if number else dict(about)
