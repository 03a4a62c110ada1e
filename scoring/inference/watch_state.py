"""The state of a watched figure: its history of alarms and changes, in addition to its accumulated evidence.

    watching → alarm → changed → perhaps back → watching, with evidence at zero

Accumulated evidence is about the past. After a repair it stays above its limit for several audits, and would call a
system *changed* although the audit's own interval shows no change. So evidence ends once a change is confirmed. From
then on the interval of each audit decides how far from the baseline the figure is:

    excludes 0 on the side of the change       still changed
    includes 0 or lies beyond 0, and
    excludes half of the change                perhaps back; if a second audit, at another hour, agrees: back
    includes 0 and half of the change          undecided

Once an audit has included 0, a later audit that excludes 0 leads to *changed* only if all audits since then together
exclude 0.

The size of the change is the mean of the audits since the alarm that excluded 0. If one audit is too small to
distinguish 0 from half of that size, all audits since 0 was last excluded are taken together.

During a change, evidence is collected for a second change further away, beyond the level since the change and an
allowance for the uncertainty of that level. A second change raises an alarm and is confirmed like the first.

When the figure is back, the watch begins again: evidence is zero, and the false-alarm probability counts from zero
again.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from scoring.inference.drift import OUTSIDE, Baseline, Limits, Side, evidence_levels, initial_evidence, update_evidence
from scoring.statistics.beta import normal_quantile
from topics.arrays import Floats

State = Literal["watching", "alarm", "changed", "perhaps back"]

# Returns the interval of a mean difference from (value, variance due to trials, number of audits).
Around = Callable[[float, float, int], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of one audit for a figure.

    - `at`: time in seconds.
    - `value`, `low`, `high`: the difference from the baseline, and its interval.
    - `own`: the variance of the audit's mean due to its trials.
    - `evidence`: (2, λ) against the limits of that time; None if no evidence was collected.
    - `confirms`: whether the audit by itself lies beyond these limits, for a drop and for a rise.
    - `declared`: whether the recording, made before states existed, calls the figure changed.
    """

    at: float
    value: float
    low: float
    high: float
    own: float
    evidence: Floats | None
    confirms: tuple[bool, bool] = (False, False)
    declared: bool = False

    def excludes_level(self, level: float, side: Side) -> bool:
        """Return True if the whole interval is closer to the baseline than `level`, or beyond the baseline."""
        return self.low > level if side == 0 else self.high < level

    def excludes_baseline(self, side: Side) -> bool:
        """Return True if the interval excludes 0 and lies on the given side of the baseline."""
        return self.high < 0 if side == 0 else self.low > 0


@dataclass(frozen=True, slots=True)
class WatchState:
    """The state of a watched figure. Times are NaN for events that never happened.

    - `name`, `side`: the state, and the side of the alarm or the change.
    - `raised`: when the last alarm was raised; NaN once its evidence has vanished. In *changed*, the alarm is for a
      second change.
    - `since`, `confirmed`: when the alarm of the change was raised, and when a later audit confirmed the change.
    - `times`: the number of changes confirmed since the baseline was last reached.
    - `near`, `is_near`: when the first audit was perhaps back, and whether the last audit was.
    - `back`, `ended`: when the figure was last back, and when the alarm of the change before that was raised.
    - `levels`: the evidence for a drop and for a rise, as a share of the threshold.
    - `began`: when the first of the audits behind the evidence on this side was played.
    - `joined`: if the last audit was near the baseline, the difference, low, high and number of audits taken together.
    - `kept`: the accumulated evidence.

    The other fields hold (value, variance) pairs of audits. `audits` determine the size of the change, `stretch` follow
    the last audit that excluded 0, `later` follow a second alarm, and `gathered` are behind the evidence on this side.
    """

    name: State = "watching"
    side: Side = 0
    raised: float = math.nan
    since: float = math.nan
    confirmed: float = math.nan
    times: int = 0
    near: float = math.nan
    is_near: bool = False
    back: float = math.nan
    ended: float = math.nan
    levels: tuple[float, float] = (0.0, 0.0)
    joined: tuple[float, float, float, int] = (math.nan, math.nan, math.nan, 0)
    began: float = math.nan
    kept: Floats = field(default_factory=initial_evidence)
    audits: tuple[tuple[float, float], ...] = ()
    stretch: tuple[tuple[float, float], ...] = ()
    later: tuple[tuple[float, float], ...] = ()
    gathered: tuple[tuple[float, float], ...] = ()

    @property
    def is_changed(self) -> bool:
        return self.name in ("changed", "perhaps back")

    @property
    def awaits_confirmation(self) -> bool:
        return self.name == "alarm" or (self.name == "changed" and not math.isnan(self.raised))

    def update_mean(self, value: float, own: float) -> tuple[float, float, int, float]:
        """Return the mean of this audit and the audits behind the evidence, its variance from trials, the number of
        audits, and the variance between them, NaN for one."""
        values, variances = zip(*self.gathered, (value, own), strict=True)
        spread = float(np.var(values, ddof=1)) if len(values) > 1 else math.nan
        return sum(values) / len(values), sum(variances) / len(values) ** 2, len(values), spread

    @property
    def change(self) -> float:
        """The mean difference from the baseline since the change; NaN without a change."""
        return float(np.mean([value for value, _ in self.audits])) if self.is_changed and self.audits else math.nan

    @property
    def is_change_visible(self) -> bool:
        """True if the figure has changed and the last audit shows it."""
        return self.name == "changed" and not self.stretch


def new_limits(state: WatchState, baseline: Baseline, *, matters: float) -> Limits | None:
    """Return the limits for a second change beyond the level since the first change; None without a change.

    The limit on the opposite side is infinite.
    """
    if not state.is_changed:
        return None
    own = sum(variance for _, variance in state.audits) / len(state.audits) ** 2
    if len(state.audits) > 1:
        own = max(own, float(np.var([value for value, _ in state.audits], ddof=1)) / len(state.audits))
    half = normal_quantile(1 - OUTSIDE) * math.sqrt(own) + matters
    level = baseline.mean + state.change
    return (level - half, math.inf) if state.side == 0 else (-math.inf, level + half)


def advance(
    state: WatchState, seen: AuditResult, around: Around, *, looks: int, share: float = 1.0, apart: float = 0.0
) -> WatchState:
    """Return the state after a further audit.

    `looks` and `share` are as in `scoring.inference.drift.evidence_shares`. An audit can confirm an earlier audit if at
    least `apart` seconds lie between the two.
    """
    kept = state.kept if seen.evidence is None else update_evidence(state.kept, seen.evidence)
    drop, rise = evidence_levels(kept, looks=looks, share=share).tolist()
    after = replace(state, kept=kept, levels=(drop, rise))
    if state.is_changed:
        return _after_change(state, after, seen, around, apart)
    own, raised = (seen.value, seen.own), not math.isnan(state.raised)
    if seen.declared or (raised and seen.at - state.raised >= apart and seen.confirms[state.side]):
        side = state.side if raised else int(seen.value > 0)
        return _change_state(replace(after, side=side), state.raised if raised else seen.at, seen, times=1)
    top = max(after.levels)
    side = after.levels.index(top)
    raised = raised and after.levels[state.side] > 0  # an alarm is forgotten with its evidence
    if raised and (top < 1 or side == state.side):
        name: State = "alarm" if top >= 1 else "watching"
        return replace(after, name=name, audits=(*state.audits, own), gathered=(*state.gathered, own))
    gathered = (*(state.gathered if side == state.side else ()), own) if top > 0 else ()
    began = math.nan if not gathered else seen.at if len(gathered) == 1 else state.began
    after = replace(after, side=side, gathered=gathered, began=began)
    if top < 1:
        return replace(after, name="watching", raised=math.nan, audits=())
    return replace(after, name="alarm", raised=seen.at, audits=(own,))


def _change_state(after: WatchState, raised: float, seen: AuditResult, *, times: int) -> WatchState:
    return replace(
        after,
        name="changed",
        raised=math.nan,
        since=raised,
        confirmed=seen.at,
        times=times,
        near=math.nan,
        is_near=False,
        levels=(0.0, 0.0),
        kept=initial_evidence(),
        audits=(*after.audits, (seen.value, seen.own)),
        stretch=(),
        later=(),
        gathered=(),
    )


def _after_change(state: WatchState, after: WatchState, seen: AuditResult, around: Around, apart: float) -> WatchState:
    stretch = (*state.stretch, (seen.value, seen.own))
    values, variances = zip(*stretch, strict=True)
    count = len(stretch)
    mean = sum(values) / count
    low, high = around(mean, sum(variances) / count**2, count)
    together, joined = replace(seen, low=low, high=high), (mean, low, high, count)
    # One in ten audits after a repair excludes 0 by chance, so the audits before it are taken along.
    if seen.excludes_baseline(state.side) and (count == 1 or together.excludes_baseline(state.side)):
        return _continue_change(
            state, replace(after, name="changed", near=math.nan, is_near=False, stretch=()), seen, apart
        )
    half = state.change / 2
    holds = not (seen.excludes_baseline(state.side) or together.excludes_baseline(state.side))
    if not (holds and (seen.excludes_level(half, state.side) or together.excludes_level(half, state.side))):
        return replace(after, stretch=stretch, is_near=False)
    if state.name == "perhaps back" and seen.at - state.near >= apart:
        return WatchState(back=state.near, ended=state.since, joined=joined)
    near = seen.at if math.isnan(state.near) else state.near
    return replace(after, name="perhaps back", near=near, is_near=True, joined=joined, stretch=stretch, raised=math.nan)


def _continue_change(state: WatchState, after: WatchState, seen: AuditResult, apart: float) -> WatchState:
    own, level = (seen.value, seen.own), after.levels[state.side]
    after = replace(after, gathered=(*state.gathered, own) if level > 0 else ())
    further = seen.high < state.change if state.side == 0 else seen.low > state.change
    raised = not math.isnan(state.raised)
    if raised and seen.at - state.raised >= apart and seen.confirms[state.side] and further:
        return _change_state(replace(after, audits=state.later), state.raised, seen, times=state.times + 1)
    if level < 1:
        return replace(after, raised=math.nan, audits=(*state.audits, own), later=())
    # Audits with a second alarm may be at a new level, and do not count for the level since the first change.
    return replace(after, raised=state.raised if raised else seen.at, later=(*state.later, own))
