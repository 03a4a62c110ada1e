"""The history of a watched audit: one line for each look, without any text of a conversation.

The history is stored with its baseline, because evidence against one baseline does not apply to another baseline. A
line has the evidence of each gated figure and the result of its audit, from which the state of the watch follows. A
line also has the value, n and interval that charts need, so that old runs can be deleted.

Lines are only ever appended. If a run is judged again, a new line refers to the earlier line. Only the last line
for a run counts; earlier lines keep what was reported at the time. Each line has its own hash, so that later edits
are detected.

The state is not stored, but computed from the lines in order. Lines from before states existed have fewer fields,
and their verdicts count as reported.
"""

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

from harvest.studies.watch.ways import KeptWays
from recordings.files.shared_file import SharedFile, shared_file
from recordings.files.times import unix_seconds
from scoring.inference.drift import SAME_BUDGET, SAME_SHARE, Baseline
from scoring.inference.watch_state import AuditResult, WatchState, advance
from scoring.inference.watched_audit import JudgingRules, pooled_interval
from topics.counting import pluralize
from topics.document import StrictModel, validated_json
from topics.errors import InputError, Place
from topics.identity import content_hash
from topics.json_file import NotJsonError, json_lines
from topics.regular_file import read_bytes
from topics.text_file import LARGEST, decode

FORMAT = "harvest-history/1"

# The smallest difference that matters by default.
MATTERS = 0.03

# Number of audits that share the chance of a false alarm: a year of weekly ones.
LOOKS = 52

# Seconds after an alarm before another audit can confirm it: another hour, since a bad one passes.
APART = 3600.0


_Finite = Annotated[float, Field(allow_inf_nan=False)]


# By topic, the number of trials, their mean, and their unbiased variance or null.
TopicMoments = dict[str, tuple[Annotated[int, Field(ge=1)], _Finite, _Finite | None]]


class ToldTopics(StrictModel):
    """The topics as reported by an audit: over `audits` audits, the first of which began at `since`. `fell` and `rose`
    count those of the `topics` whose interval excludes 0, and `named` has the difference, low and high of the topics
    that stand out."""

    audits: Annotated[int, Field(ge=1)]
    since: str
    fell: Annotated[int, Field(ge=0)]
    rose: Annotated[int, Field(ge=0)]
    topics: Annotated[int, Field(ge=0)]
    named: dict[str, tuple[_Finite, _Finite, _Finite]] = Field(default_factory=dict)


class LookFigure(StrictModel):
    """A figure of one audit.

    `value` is over the audit's topics, and `n` is the number of trials. `low` and `high` are the interval of the
    difference from the baseline. If the baseline has too few runs, both are null; `these` is then the interval of
    the difference between the recorded runs only. `evidence`, of shape (2, λ), is the log evidence against no drop
    and against no rise. After a change, it is the evidence against no further drop and no further rise. `evidence`
    is null for figures that are not gated. `alarm` is true if the figure has raised an alarm.

    `word` is the verdict, `difference` is the difference from the baseline, and `own` is the variance of the value due
    to its trials. `confirms` is whether this audit alone exceeds the limit for a drop, and for a rise. `waits` is true
    if an alarm is yet to be confirmed. `left` is the error budget of *same* before this look at the run, and `spent`
    the part that this look used. Lines from before states existed have null in all of these fields. `cut` is how far
    below and above the value could be if failing users had cut no conversation short; null means that no conversation
    was cut. `topics` has, for each topic of a gated figure, the number of trials, their mean, and their variance or
    null; later audits use it to find the topics that changed. `told` has the audits over which this audit reported
    topics, and the topics that it named.
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
    topics: TopicMoments | None = None
    told: ToldTopics | None = None

    @property
    def shown(self) -> tuple[float, float] | None:
        """The interval between audits if known, or else the interval between the recorded runs, or None."""
        return self.these if self.low is None or self.high is None else (self.low, self.high)

    @property
    def is_waiting(self) -> bool:
        """True if an alarm is yet to be confirmed."""
        return self.alarm and self.verdict != "changed" if self.waits is None else self.waits

    @property
    def needs_audit(self) -> bool:
        """True if another audit can confirm a result of this one: an alarm, or a fall or a rise without an alarm
        yet."""
        # A figure that is only shown can fall, too, but no audit can confirm that.
        return self.is_waiting or (self.evidence is not None and self.word in ("fell", "rose"))

    def remaining_budget(self, n: int) -> float:
        """Return the error budget of *same* that is left for a look at the same run with `n` trials."""
        if self.left is None or self.spent is None:  # earlier looks used all they could
            return SAME_BUDGET if n == self.n else (1 - SAME_SHARE) * SAME_BUDGET
        return self.left if n == self.n else max(0.0, self.left - self.spent)


class LookSystem(StrictModel):
    """A system in one audit. `planned` and `valid` are numbers of trials. `figures` has the figures by name; it is
    {} if nothing could be measured. `ways` has the paths through the protocol; null in older lines."""

    planned: Annotated[int, Field(ge=0)]
    valid: Annotated[int, Field(ge=0)]
    figures: dict[str, LookFigure] = Field(default_factory=dict)
    ways: KeptWays | None = None


class WatchRules(StrictModel):
    """The rules by which an audit is judged. `matters` is the smallest difference that matters. `looks` is the
    number of audits that share the probability of a false alarm. `apart` is the number of seconds after an alarm
    before another audit can confirm the alarm. With `enforce`, alarms count even if the baseline has fewer than
    four runs."""

    matters: Annotated[_Finite, Field(gt=0, lt=1)] = MATTERS
    looks: Annotated[int, Field(ge=1)] = LOOKS
    apart: Annotated[_Finite, Field(ge=0)] = APART
    enforce: bool = False


class Look(StrictModel):
    """One audit in the history. `at` is its start in UTC, `run` the name of its folder, and `baseline` the identity
    of the baseline. `rules` is None in older lines. `harness` has faults of the harness, because of which
    nothing was concluded. `revises` is the identity of the earlier look at the same run, or "" for the first
    look. `hash` is the hash of all other fields, or "" in older lines."""

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
        """The hash of all other fields, even for older lines without a stored hash."""
        return content_hash("look", self.model_dump(mode="json", exclude_defaults=True, exclude={"hash"}))

    @property
    def verdict_text(self) -> str:
        """The verdict on each gated figure, as text."""
        parts = [
            f"{name} {figure} {one.word or one.verdict}"
            for name, system in self.systems.items()
            for figure, one in system.figures.items()
            if one.evidence is not None
        ]
        return "; ".join(parts) or "could not be measured"

    def has_same_content(self, other: "Look") -> bool:
        """Return true if another look at the same run has the same content, ignoring which look it revises."""
        return self.model_copy(update={"revises": other.revises, "hash": other.hash}) == other

    @property
    def figures(self) -> tuple[LookFigure, ...]:
        """The figures of all systems, or () if nothing could be measured."""
        return tuple(one for system in self.systems.values() for one in system.figures.values())


def alarm_waits(looks: Sequence[Look]) -> bool:
    """Return true if the last measured look left an alarm to be confirmed, or showed a fall or a rise that is not yet
    enough for an alarm, since its cause may be gone a week later. All `looks` must be against one baseline."""
    last = last_measured(looks)
    return last is not None and any(one.needs_audit for one in last.figures)


def last_measured(looks: Sequence[Look]) -> Look | None:
    """Return the last look that measured anything, or None."""
    return next((one for one in reversed(looks) if one.figures), None)


@dataclass(frozen=True)
class History:
    """The content of a history file. `lines` are all looks in the order of the file. `torn` has the places of
    incomplete lines, left by a command that was stopped. Incomplete lines are ignored and stay in the file.
    `bare` has the places of lines without a hash. `glued` has the places of lines with several looks, which
    arise if files are concatenated after a lost line break."""

    lines: tuple[Look, ...] = ()
    torn: tuple[Place, ...] = ()
    bare: tuple[Place, ...] = ()
    glued: tuple[Place, ...] = ()

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """The last look for each run and baseline, in order of time. Earlier looks at a run do not count."""
        last = {(one.baseline, one.at): one for one in self.lines}
        return tuple(sorted(last.values(), key=lambda one: unix_seconds(one.at)))

    @cached_property
    def _looks_by_run(self) -> Mapping[tuple[str, str], list[Look]]:
        found: dict[tuple[str, str], list[Look]] = {}
        for one in self.lines:
            found.setdefault((one.baseline, one.at), []).append(one)
        return found

    def earlier(self, look: Look) -> tuple[Look, ...]:
        """Return the earlier looks at the same run and baseline, starting with the oldest."""
        same = self._looks_by_run[look.baseline, look.at]
        return tuple(same[: same.index(look)])

    def cut_after(self, now: float) -> "History":
        """Return the history without looks dated after `now`, in seconds."""
        return replace(self, lines=tuple(one for one in self.lines if unix_seconds(one.at) <= now))

    def damage(self, path: Path, now: float) -> Iterator[str]:
        """Describe the faults in the file. A look dated after `now`, in seconds, is a fault."""
        for place in self.torn:
            yield f"{place}: this line is incomplete, as if a command was stopped while writing it, and does not count"
        for place in self.glued:
            yield f"{place}: this line has several looks; each of them counts"
        if self.bare:
            others = f" (and {pluralize(len(self.bare) - 1, 'more line')})" if len(self.bare) > 1 else ""
            yield (
                f"{self.bare[0]}{others}: it has no hash, so changes to it cannot be detected: an earlier version "
                "wrote it, or somebody edited it"
            )
        late = [one for one in self.looks if unix_seconds(one.at) > now]
        if late:
            first, more = late[0], len(late) - 1
            others = f", and {pluralize(more, 'more look')} after it" if more else ""
            yield (
                f"{path}: the look at {first.run} is dated {first.at[:16]}{others}, which is in the future, and does "
                "not count until then; is the clock right?"
            )


def read_history(path: str | PathLike[str], baseline: str = "") -> tuple[Look, ...]:
    """Return the looks that count against a baseline, in order of time, or () if there is no file. `baseline` is
    the identity of the baseline, or "" for all baselines. Raises InputError as `whole_history` does."""
    return tuple(one for one in whole_history(path).looks if not baseline or one.baseline == baseline)


def whole_history(path: str | PathLike[str]) -> History:
    """Return the content of a history file; without a file, the content is empty. Raises InputError for a line that
    is not a look, and for a line that was changed after it was written."""
    return (
        _parse_history(read_bytes(path, "JSON lines", largest=LARGEST), str(path)) if Path(path).exists() else History()
    )


# Bytes that a power cut leaves instead of the end of a line, or of a line, that was not yet on disk.
_ZEROS = re.compile(rb"\0+(?=\r?\n|\Z)")

# The beginning of a look within a line. Inside a look's text the quotation marks would have backslashes.
_GLUED = re.compile(rb'(?<=[^\n])(?=\{"format":"harvest-history/1")')


def _parse_history(data: bytes, path: str) -> History:
    found: list[Look] = []
    torn: list[Place] = []
    bare: list[Place] = []
    # A line of zeros alone becomes one cut off after its first character, and is reported like any other.
    data = _ZEROS.sub(lambda zeros: b"" if data[: zeros.start()][-1:] not in (b"", b"\n") else b"{", data)
    glued = dict.fromkeys(Place(path, data.count(b"\n", 0, one.start()) + 1) for one in _GLUED.finditer(data))
    data = _GLUED.sub(b"\n", data)
    try:
        for value in json_lines(decode(data, path, "JSON lines"), path, torn=torn):
            found.append(look := validated_json(value, Look))
            if look.hash and look.hash != look.identity:
                raise value["hash"].error(
                    "this look was changed after it was written: the rest of its line does not match its hash",
                    advice='restore the line; or, if the change is intended, remove "hash" and its value from it',
                )
            if not look.hash:
                bare.append(Place(path, value.line))
    except NotJsonError as fault:
        advice = (
            "restore the file from a copy, or remove the line: its look is then forgotten"
            if found or torn or fault.place is None or fault.place.line > 1
            else "check which file is meant: harvest watch run writes a history, a look on each line"
        )
        raise InputError(fault.what, place=fault.place, advice=advice) from None
    return History(tuple(found), tuple(torn), tuple(bare), tuple(glued))


class HistoryFile:
    """A history that is locked against other commands."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self.history = _parse_history(file.data, str(file.path))

    def add(self, look: Look) -> Look:
        """Append a look, flush it to the disk, and return it with its hash and with the look that it revises. If
        the look equals the last look at its run, nothing is appended. Raises StoreError if the file cannot be
        written."""
        before = own_look(self.history.looks, look.baseline, look.at)
        if before is not None and look.has_same_content(before):
            return before
        look = look.model_copy(update={"revises": "" if before is None else before.identity})
        look = look.model_copy(update={"hash": look.identity})
        # In ASCII: a line cut off within a character could not be read as text.
        line = json.dumps(look.model_dump(mode="json"), separators=(",", ":"))
        self._file.append(f"{line}\n".encode())
        self.history = replace(self.history, lines=(*self.history.lines, look))
        return look


@contextmanager
def open_history(path: Path) -> Iterator[HistoryFile]:
    """Open and lock the history at `path`, after other commands. Raises like `shared_file` and `whole_history`."""
    with shared_file(path) as file:
        yield HistoryFile(file)


def looks_before(looks: Sequence[Look], baseline: str, at: str) -> tuple[Look, ...]:
    """Return the looks against this baseline that began before `at`, in order of time."""
    before = (one for one in looks if one.baseline == baseline and unix_seconds(one.at) < unix_seconds(at))
    return tuple(sorted(before, key=lambda one: unix_seconds(one.at)))


def own_look(looks: Sequence[Look], baseline: str, at: str) -> Look | None:
    """Return the earlier look at the run that began at `at`, or None. This look had fewer trials or other rules."""
    return next((one for one in looks if (one.baseline, one.at) == (baseline, at)), None)


def state_after(looks: Sequence[Look], system: str, figure: str, baseline: Baseline, rules: JudgingRules) -> WatchState:
    """Return the state of a gated figure's watch after these looks, which must be in order of time."""
    state, together = WatchState(), pooled_interval(baseline, rules.level)
    for look in looks:
        one = look.systems[system].figures.get(figure) if system in look.systems else None
        if one is None or one.evidence is None or one.shown is None:
            continue
        # Lines from before states existed have evidence against the baseline, which a change ends, and count as
        # confirmed if they were called changed.
        before_states = one.confirms is None
        low, high = one.shown or (math.nan, math.nan)
        changed = before_states and one.verdict == "changed"
        seen = AuditResult(
            at=unix_seconds(look.at),
            value=one.value - baseline.mean if one.difference is None else one.difference,
            low=low,
            high=high,
            own=one.value * (1 - one.value) / max(1, one.n) if one.own is None else one.own,
            evidence=None if before_states and state.is_changed else np.array(one.evidence),
            confirms=(changed, changed) if one.confirms is None else one.confirms,
            declared=changed and math.isnan(state.back),
        )
        state = advance(state, seen, together, looks=rules.looks, share=rules.share, apart=rules.apart)
    return state


def rules_of(looks: Sequence[Look], baseline: str, at: str) -> WatchRules:
    """Return the rules of the audit that began at `at` or, if this audit has no look, of the last earlier look."""
    own = own_look(looks, baseline, at)
    known = (one.rules for one in (*([] if own is None else [own]), *reversed(looks_before(looks, baseline, at))))
    return next((one for one in known if one is not None), WatchRules())
