"""The history of a watched audit: one line for each look, without any text of a conversation.

It stands beside the baseline and belongs to it: evidence against one baseline says nothing against another. A line
holds what the state of the watch needs (the evidence of each gated figure, and what its audit says by itself) and what
a picture of the series needs (its value, n and interval), so an old run may be deleted.

Lines are only ever added. A run that is judged again gets another line, which names the one before it; the last one
counts, and the others go on saying what was told then. Each line holds its own hash, so that one which was changed
since is noticed.

The state is not in the file: it is what comes of its lines, one after the other. A line from before states were has
fewer fields; what it said then counts as it was said.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from recordings.files.shared_file import SharedFile, shared_file
from recordings.files.times import moment
from scoring.inference.drift import SAME_BUDGET, SAME_SHARE, Baseline
from scoring.inference.watch_state import Seen, WatchState, advance
from scoring.inference.watched_audit import JudgingRules, pooled
from scoring.statistics.change_points import ChangePoint, change_points
from topics.counting import pluralize
from topics.document import StrictModel, validated_json
from topics.errors import InputError, Place
from topics.identity import content_hash, generator
from topics.json_file import JsonValue, NotJsonError, json_lines
from topics.regular_file import read_bytes
from topics.text_file import LARGEST, decode

FORMAT = "harvest-history/1"

# The smallest difference that matters, unless told otherwise.
MATTERS = 0.03

# Audits over which the chance of a false alarm is held: a year of weekly ones.
LOOKS = 52

# Seconds after an alarm before another audit can confirm it: another hour, since a bad one passes.
APART = 3600.0


_Finite = Annotated[float, Field(allow_inf_nan=False)]


class LookFigure(StrictModel):
    """A figure of one audit. value: for these topics. n: trials. low, high: interval of its difference from the
    baseline; null where the baseline has too few runs, and `these` then is that of these very runs. evidence: (2, λ)
    logarithms against no drop and no rise, or after a change against none further; null where it is not gated. alarm:
    the evidence so far raised one, or had.

    word: what the audit was called. difference: from the baseline. own: variance of the value from its trials.
    confirms: whether it lies beyond the limits of a drop, or rise, by itself. waits: an alarm was left to be confirmed.
    left, spent: of the chance of a wrong *same* at this run, before this look and by it. All are null in lines from
    before states were. cut: how far below and above the value could be, had failures of users cut no conversation
    short; null if they did not.
    """

    value: _Finite
    n: Annotated[int, Field(ge=0)]
    low: _Finite | None
    high: _Finite | None
    evidence: tuple[tuple[_Finite, ...], tuple[_Finite, ...]] | None = None
    verdict: Literal["changed", "same", "cannot tell"]
    alarm: bool = False
    word: str | None = None
    these: tuple[_Finite, _Finite] | None = None
    difference: _Finite | None = None
    own: Annotated[_Finite, Field(ge=0)] | None = None
    confirms: tuple[bool, bool] | None = None
    waits: bool | None = None
    left: Annotated[_Finite, Field(ge=0, le=1)] | None = None
    spent: Annotated[_Finite, Field(ge=0, le=1)] | None = None
    cut: tuple[_Finite, _Finite] | None = None

    @property
    def shown(self) -> tuple[float, float] | None:
        """The interval of audits, else that of these very runs; None without one."""
        return self.these if self.low is None or self.high is None else (self.low, self.high)

    @property
    def is_waiting(self) -> bool:
        """Whether it left an alarm to be confirmed."""
        return self.alarm and self.verdict != "changed" if self.waits is None else self.waits

    def left_for(self, n: int) -> float:
        """What is left of the chance of a wrong *same* for a look at the same run with n trials."""
        if self.left is None or self.spent is None:  # the looks of that time took all they could
            return SAME_BUDGET if n == self.n else (1 - SAME_SHARE) * SAME_BUDGET
        return self.left if n == self.n else max(0.0, self.left - self.spent)


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
    judged; None of one that was noted before rules were.

    harness: faults of the harness, for which nothing was said of the systems. revises: the identity of the look before
    it at the same run; "" of the first. hash: of all the rest; "" of one that was noted before hashes were."""

    format: Literal["harvest-history/1"] = "harvest-history/1"
    at: str
    run: str
    baseline: str
    systems: dict[str, LookSystem]
    rules: WatchRules | None = None
    harness: tuple[str, ...] = ()
    revises: str = ""
    hash: str = ""

    @property
    def identity(self) -> str:
        """The hash of all that it says; of an older line, the one that it would have."""
        return content_hash("look", self.model_dump(mode="json", exclude_defaults=True, exclude={"hash"}))

    @property
    def told(self) -> str:
        """What it said of each gated figure, in words."""
        parts = [
            f"{name} {figure} {one.word or one.verdict}"
            for name, system in self.systems.items()
            for figure, one in system.figures.items()
            if one.evidence is not None
        ]
        return "; ".join(parts) or "could not be measured"

    def says(self, other: Look) -> bool:
        """Whether it says the same as another look at its run, whatever each of them revises."""
        return self.model_copy(update={"revises": other.revises, "hash": other.hash}) == other

    @property
    def figures(self) -> tuple[LookFigure, ...]:
        """Of all systems; () where nothing could be measured."""
        return tuple(one for system in self.systems.values() for one in system.figures.values())


def alarm_waits(looks: Sequence[Look]) -> bool:
    """Whether the last look that measured anything, of these against one baseline, left an alarm to be confirmed."""
    last = next((one.figures for one in reversed(looks) if one.figures), ())
    return any(one.is_waiting for one in last)


@dataclass(frozen=True)
class History:
    """lines: every look in the file, in its order. torn: places of lines that break off, as a writer leaves one that is
    stopped: they are no looks, and stay where they are. bare: places of lines without a hash. glued: places of lines on
    which several looks stand, as when files are joined of which one has lost its last line break."""

    lines: tuple[Look, ...] = ()
    torn: tuple[Place, ...] = ()
    bare: tuple[Place, ...] = ()
    glued: tuple[Place, ...] = ()

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Those that count, in order of time: of each run and baseline, the last."""
        last = {(one.baseline, one.at): one for one in self.lines}
        return tuple(sorted(last.values(), key=lambda one: moment(one.at)))

    @cached_property
    def _told(self) -> Mapping[tuple[str, str], list[Look]]:
        """All looks by baseline and run, each list in the order of the file."""
        found: dict[tuple[str, str], list[Look]] = {}
        for one in self.lines:
            found.setdefault((one.baseline, one.at), []).append(one)
        return found

    def earlier(self, look: Look) -> tuple[Look, ...]:
        """What was told of the same run and baseline before this look, the oldest first."""
        same = self._told[look.baseline, look.at]
        return tuple(same[: same.index(look)])

    def until(self, now: float) -> History:
        """Without the looks that are dated later than `now`, seconds."""
        return replace(self, lines=tuple(one for one in self.lines if moment(one.at) <= now))

    def damage(self, path: Path, now: float) -> Iterator[str]:
        """What is wrong with it, in sentences. now: seconds; no look can be later."""
        for place in self.torn:
            yield f"{place}: this line breaks off, as if a command was stopped while it wrote it, and does not count"
        for place in self.glued:
            yield f"{place}: several looks stand on this line; each of them counts"
        if self.bare:
            others = f" (and {pluralize(len(self.bare) - 1, 'more line')})" if len(self.bare) > 1 else ""
            yield (
                f"{self.bare[0]}{others}: it has no hash, so nothing shows whether it is as it was written: an earlier "
                "version wrote it, or somebody changed it"
            )
        late = [one for one in self.looks if moment(one.at) > now]
        if late:
            first, more = late[0], len(late) - 1
            others = f", and {pluralize(more, 'more look')} after it" if more else ""
            yield (
                f"{path}: the look at {first.run} is dated {first.at[:16]}{others}, which is in the future, and does "
                "not count until then; is the clock right?"
            )


def read_history(path: str | PathLike[str], baseline: str = "") -> tuple[Look, ...]:
    """The looks in the file that count, in order of time; () where there is no file. baseline: only those against it,
    "" for all. Raises InputError as `whole_history` does."""
    return tuple(one for one in whole_history(path).looks if not baseline or one.baseline == baseline)


def whole_history(path: str | PathLike[str]) -> History:
    """All that is in the file; nothing where there is none. Raises InputError, with its place, for a line that is no
    look, or not the one that was written."""
    return _history(read_bytes(path, "JSON lines", largest=LARGEST), str(path)) if Path(path).exists() else History()


# What a power cut leaves in the place of the end of a line, or of a line, that was not on the disk yet.
_ZEROS = re.compile(rb"\0+(?=\r?\n|\Z)")

# Where a look begins within a line. In a text of a look its quotation marks would have backslashes.
_GLUED = re.compile(rb'(?<=[^\n])(?=\{"format":"harvest-history/1")')


def _history(data: bytes, path: str) -> History:
    found: list[Look] = []
    torn: list[Place] = []
    bare: list[Place] = []
    # A line of zeros alone becomes one that breaks off after its first character, and is named like any other.
    data = _ZEROS.sub(lambda zeros: b"" if data[: zeros.start()][-1:] not in (b"", b"\n") else b"{", data)
    glued = dict.fromkeys(Place(path, data.count(b"\n", 0, one.start()) + 1) for one in _GLUED.finditer(data))
    data = _GLUED.sub(b"\n", data)
    try:
        for value in json_lines(decode(data, path, "JSON lines"), path, torn=torn):
            found.append(look := _look(value))
            if not look.hash:
                bare.append(Place(path, value.line))
    except NotJsonError as fault:
        advice = (
            "restore the file from a copy, or remove the line: its look is then forgotten"
            if found or torn or fault.place is None or fault.place.line > 1
            else "check which file is meant: harvest reaudit writes a history, a look on each line"
        )
        raise InputError(fault.what, place=fault.place, advice=advice) from None
    return History(tuple(found), tuple(torn), tuple(bare), tuple(glued))


def _look(value: JsonValue) -> Look:
    look = validated_json(value, Look)
    if look.hash and look.hash != look.identity:
        raise value["hash"].error(
            "this look was changed after it was written: the rest of its line does not match its hash",
            advice='restore the line; or, if the change is intended, remove "hash" and its value from it',
        )
    return look


class HistoryFile:
    """A history while no other command can add to it. history: what it holds."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self.history = _history(file.data, str(file.path))

    def add(self, look: Look) -> Look:
        """Put a look into the file, on the disk when this returns, and return it as it is there: with its hash, and the
        one that it revises. One that says what the last look at its run says is not added again. Raises StoreError."""
        before = own_look(self.history.looks, look.baseline, look.at)
        if before is not None and look.says(before):
            return before
        look = look.model_copy(update={"revises": "" if before is None else before.identity})
        look = look.model_copy(update={"hash": look.identity})
        # In ASCII: a line that breaks off within a character could not be read as text.
        line = json.dumps(look.model_dump(mode="json"), separators=(",", ":"))
        self._file.append(f"{line}\n".encode())
        self.history = replace(self.history, lines=(*self.history.lines, look))
        return look


@contextmanager
def open_history(path: Path) -> Iterator[HistoryFile]:
    """The history at `path`, for this command alone; others wait. Raises what `shared_file` and `whole_history` do."""
    with shared_file(path) as file:
        yield HistoryFile(file)


def looks_before(looks: Sequence[Look], baseline: str, at: str) -> tuple[Look, ...]:
    """Those against this baseline that were begun before `at`, in order of time."""
    before = (one for one in looks if one.baseline == baseline and moment(one.at) < moment(at))
    return tuple(sorted(before, key=lambda one: moment(one.at)))


def own_look(looks: Sequence[Look], baseline: str, at: str) -> Look | None:
    """The look at the run that was begun at `at`: it may have been judged before, with fewer trials or other rules."""
    return next((one for one in looks if (one.baseline, one.at) == (baseline, at)), None)


def state_after(looks: Sequence[Look], system: str, figure: str, baseline: Baseline, rules: JudgingRules) -> WatchState:
    """Where the watch of a gated figure is after these looks, in order of time."""
    state, together = WatchState(), pooled(baseline, rules.level)
    for look in looks:
        one = look.systems[system].figures.get(figure) if system in look.systems else None
        if one is None or one.evidence is None or one.shown is None:
            continue
        seen = _see_line(one, moment(look.at), baseline, state)
        state = advance(state, seen, together, looks=rules.looks, share=rules.share, apart=rules.apart)
    return state


def _see_line(one: LookFigure, at: float, baseline: Baseline, state: WatchState) -> Seen:
    """What a line says. One from before states were has its evidence against the baseline, which a change closes, and
    was confirmed where it was called changed."""
    before_states = one.confirms is None
    low, high = one.shown or (math.nan, math.nan)
    changed = before_states and one.verdict == "changed"
    return Seen(
        at=at,
        value=one.value - baseline.mean if one.difference is None else one.difference,
        low=low,
        high=high,
        own=one.value * (1 - one.value) / max(1, one.n) if one.own is None else one.own,
        evidence=None if before_states and state.is_changed else np.array(one.evidence),
        confirms=(changed, changed) if one.confirms is None else one.confirms,
        declared=changed and math.isnan(state.back),
    )


def rules_of(looks: Sequence[Look], baseline: str, at: str) -> WatchRules:
    """By which rules the audit that was begun at `at` was judged; of one that is not among the looks, those of the last
    audit before it."""
    own = own_look(looks, baseline, at)
    known = (one.rules for one in (*([] if own is None else [own]), *reversed(looks_before(looks, baseline, at))))
    return next((one for one in known if one is not None), WatchRules())


def moves(looks: Sequence[Look], system: str, figure: str, seed: int = 0) -> dict[int, ChangePoint]:
    """Where a figure moved to another level, in looking back, by the place of the first look at that level; looks that
    could not measure it are passed over, and so is a move that what failures of users cut short could have hidden or
    made. {} for fewer than `change_points.FEWEST` that did."""
    places = [
        place
        for place, look in enumerate(looks)
        if system in look.systems
        and figure in look.systems[system].figures
        and math.isfinite(look.systems[system].figures[figure].value)
    ]
    seen = [looks[place].systems[system].figures[figure] for place in places]

    def found(values: Sequence[float]) -> tuple[ChangePoint, ...]:
        return change_points(values, generator(seed, "change points", system, figure))

    moved = found([one.value for one in seen])
    if any(one.cut for one in seen):
        ends = (0, *(one.at for one in moved), len(seen))
        moved = tuple(
            one
            for one, start, end in zip(moved, ends, ends[2:], strict=False)
            if any(
                start < other.at < end and (other.after > other.before) == (one.after > one.before)
                for other in found(_against(seen, one))
            )
        )
    return {places[one.at]: one for one in moved}


def _against(seen: Sequence[LookFigure], moved: ChangePoint) -> list[float]:
    """The values at those ends of what was cut short that leave least of a move."""
    rises = moved.after > moved.before
    values = []
    for place, one in enumerate(seen):
        down, up = one.cut or (0.0, 0.0)
        values.append(one.value + up if (place < moved.at) == rises else one.value - down)
    return values
