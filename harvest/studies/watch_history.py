"""The history of a watched audit: one line for each look, without any text of a conversation.

It stands beside the baseline and belongs to it: evidence against one baseline says nothing against another. A line
holds what the alarm needs (the evidence of each gated figure) and what a picture of the series needs (its value, n and
interval), so an old run may be deleted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from recordings.evidence import write_safely
from recordings.times import moment
from scoring.statistics.change_points import ChangePoint, change_points
from topics.document import StrictModel, validated_json
from topics.errors import InputError
from topics.identity import generator
from topics.json_file import NotJsonError, json_lines
from topics.text_file import read_text

__all__ = [
    "APART",
    "LOOKS",
    "MATTERS",
    "Look",
    "LookFigure",
    "LookSystem",
    "WatchRules",
    "alarm_waits",
    "looks_before",
    "moves",
    "read_history",
    "rules_of",
    "write_history",
]

FORMAT = "harvest-history/1"

MATTERS = 0.03
"""The smallest difference that matters, unless told otherwise."""

LOOKS = 52
"""Audits over which the chance of a false alarm is held: a year of weekly ones."""

APART = 3600.0
"""Seconds after an alarm before another audit can confirm it: another hour, since a bad one passes."""


_Finite = Annotated[float, Field(allow_inf_nan=False)]


class LookFigure(StrictModel):
    """A figure of one audit. value: for these topics. n: trials. low, high: interval of its difference from the
    baseline. evidence: (2, λ) logarithms against no drop and no rise; null where it is not gated. alarm: the evidence
    so far raised one, or had."""

    value: _Finite
    n: Annotated[int, Field(ge=0)]
    low: _Finite
    high: _Finite
    evidence: tuple[tuple[_Finite, ...], tuple[_Finite, ...]] | None = None
    verdict: Literal["changed", "same", "cannot tell"]
    alarm: bool = False


class LookSystem(StrictModel):
    """planned, valid: trials. figures: by name; {} where nothing could be measured."""

    planned: Annotated[int, Field(ge=0)]
    valid: Annotated[int, Field(ge=0)]
    figures: dict[str, LookFigure] = Field(default_factory=dict)


class WatchRules(StrictModel):
    """How an audit is judged. matters: the smallest difference that matters. looks: over how many audits the chance of
    a false alarm is held. apart: seconds after an alarm before an audit can confirm it. enforce: alarms count although
    the baseline has fewer than four runs."""

    matters: Annotated[_Finite, Field(gt=0, lt=1)] = MATTERS
    looks: Annotated[int, Field(ge=1)] = LOOKS
    apart: Annotated[_Finite, Field(ge=0)] = APART
    enforce: bool = False


class Look(StrictModel):
    """One audit. at: when it was begun, UTC. run: its folder's name. baseline: its identity. rules: by which it was
    judged; None of one that was noted before rules were."""

    format: Literal["harvest-history/1"] = "harvest-history/1"
    at: str
    run: str
    baseline: str
    systems: dict[str, LookSystem]
    rules: WatchRules | None = None

    @property
    def figures(self) -> tuple[LookFigure, ...]:
        """Of all systems; () where nothing could be measured."""
        return tuple(one for system in self.systems.values() for one in system.figures.values())


def alarm_waits(looks: Sequence[Look]) -> bool:
    """Whether the last look that measured anything, of these against one baseline, left an alarm to be confirmed."""
    last = next((one.figures for one in reversed(looks) if one.figures), ())
    return any(one.alarm and one.verdict != "changed" for one in last)


def read_history(path: str | PathLike[str], baseline: str = "") -> tuple[Look, ...]:
    """The looks in the file, in its order; () where there is no file. baseline: only those against it, "" for all.

    Raises InputError, with its place, for a line that is no look.
    """
    if not Path(path).exists():
        return ()
    found: list[Look] = []
    try:
        for value in json_lines(read_text(Path(path), "JSON lines"), str(path)):
            found.append(validated_json(value, Look))
    except NotJsonError as fault:
        advice = (
            "restore the file from a copy, or remove the line: its look is then forgotten"
            if found or fault.place is None or fault.place.line > 1
            else "check which file is meant: harvest reaudit writes a history, a look on each line"
        )
        raise InputError(fault.what, place=fault.place, advice=advice) from None
    return tuple(one for one in found if not baseline or one.baseline == baseline)


def looks_before(looks: Sequence[Look], baseline: str, at: str) -> tuple[Look, ...]:
    """Those against this baseline that were begun before `at`, in order of time."""
    before = (one for one in looks if one.baseline == baseline and moment(one.at) < moment(at))
    return tuple(sorted(before, key=lambda one: moment(one.at)))


def rules_of(looks: Sequence[Look], baseline: str, at: str) -> WatchRules:
    """By which rules the audit that was begun at `at` was judged; of one that is not among the looks, those of the last
    audit before it."""
    own = [one for one in looks if (one.baseline, one.at) == (baseline, at)]
    known = (one.rules for one in (*own, *reversed(looks_before(looks, baseline, at))))
    return next((one for one in known if one is not None), WatchRules())


def moves(looks: Sequence[Look], system: str, figure: str, seed: int = 0) -> dict[int, ChangePoint]:
    """Where a figure moved to another level, in looking back, by the place of the first look at that level; looks that
    could not measure it are passed over. {} for fewer than `change_points.FEWEST` that did."""
    places = [
        place
        for place, look in enumerate(looks)
        if system in look.systems
        and figure in look.systems[system].figures
        and math.isfinite(look.systems[system].figures[figure].value)
    ]
    values = [looks[place].systems[system].figures[figure].value for place in places]
    found = change_points(values, generator(seed, "change points", system, figure))
    return {places[one.at]: one for one in found}


def write_history(path: Path, looks: Mapping[str, Look] | tuple[Look, ...]) -> None:
    """Put the looks into the file, whole or not at all."""
    values = looks.values() if isinstance(looks, Mapping) else looks
    lines = [json.dumps(one.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":")) for one in values]
    write_safely(path, "".join(f"{one}\n" for one in lines).encode())
