"""The judgment of one audit of a watched figure: its distance from the baseline, the new state, and the verdict.

Every verdict follows from the state and from the audit's own interval, so the two never contradict each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy.typing as npt

from scoring.inference.drift import (
    SAME_BUDGET,
    Baseline,
    Difference,
    confirms_alarm,
    difference,
    evidence,
)
from scoring.inference.watch_state import Around, AuditResult, WatchState, advance, new_limits

Verdict = Literal["changed", "same", "cannot tell"]

# `fell`, `rose`: the interval of this audit, or of the audits behind the evidence together, lies beyond what matters,
# but the evidence is not enough for an alarm. An audit near the baseline is never called so for the audits before it.
# `back`: from now on. `cannot tell`, after a change: whether the figure is back. Other words are verdicts and states.
Word = Literal["changed", "same", "cannot tell", "alarm", "fell", "rose", "perhaps back", "back"]


@dataclass(frozen=True, slots=True)
class JudgingRules:
    """Settings for judging the audits of a watched figure.

    `matters` is the smallest difference that matters, and `level` the confidence level of printed intervals. For
    `looks` and `share` see `scoring.inference.drift.evidence_shares`. An audit can confirm an earlier audit after
    `apart` seconds.
    """

    matters: float
    level: float = 0.95
    looks: int = 52
    share: float = 1.0
    apart: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged audit.

    - `difference`: the audit minus the baseline.
    - `seen`: the audit's result, for the history.
    - `before`, `state`: the state of the watch before and after.
    - `together`: the mean difference of this audit and the audits behind the evidence, both ends of its interval, and
      the number of audits. If this audit alone includes 0, these audits together confirmed the change.
    - `gathered`: the same for the audits behind the evidence, up to this one; NaN if there are fewer than two.
    """

    difference: Difference
    seen: AuditResult
    before: WatchState
    state: WatchState
    together: tuple[float, float, float, int]
    gathered: tuple[float, float, float, int] = (math.nan, math.nan, math.nan, 0)

    @property
    def rests_on_several(self) -> bool:
        """True if the change is confirmed only by this audit together with earlier audits, not by this audit alone."""
        return self.state.is_change_visible and not self.seen.excludes_baseline(self.state.side)

    @property
    def verdict(self) -> Verdict:
        if self.state.is_changed:
            return "changed" if self.state.is_change_visible else "cannot tell"
        return "same" if self.difference.same and self.state.name == "watching" else "cannot tell"

    def word(self, matters: float) -> Word:
        alarm = self.state.awaits_confirmation
        return audit_word(
            self.verdict, self.before, self.state, self.difference, matters, alarm=alarm, gathered=self.gathered[:3]
        )


def audit_word(
    verdict: Verdict,
    before: WatchState,
    state: WatchState,
    difference: Difference,
    matters: float,
    *,
    alarm: bool,
    gathered: tuple[float, float, float] = (math.nan, math.nan, math.nan),
) -> Word:
    """Return the word for an audit. `alarm` is True if an alarm waits for confirmation. `gathered` is the mean
    difference of the audits behind the evidence and both ends of its interval, or NaN."""
    if before.is_changed and not state.is_changed:
        return "back"
    if verdict != "cannot tell":
        return verdict
    if state.is_changed:
        return "perhaps back" if state.is_near else "cannot tell"
    if alarm:
        return "alarm"
    if difference.is_beyond(matters):
        return "fell" if difference.value < 0 else "rose"
    value, low, high = gathered
    if (low > matters or high < -matters) and not is_near_baseline(difference, value, matters):
        return "fell" if value < 0 else "rose"
    return "cannot tell"


def is_near_baseline(difference: Difference, gathered: float, matters: float) -> bool:
    """Return True if an audit lies within the margin around the baseline, or if the baseline lies between the audit and
    `gathered`, the mean of the audits behind the evidence. A change that they show may then be over."""
    return difference.value > -matters if gathered < 0 else difference.value < matters


def judge(
    state: WatchState,
    baseline: Baseline,
    values: Sequence[npt.ArrayLike],
    rules: JudgingRules,
    *,
    at: float,
    left: float = SAME_BUDGET,
) -> Judged:
    """Judge an audit from its values (see `scoring.inference.drift.evidence`), its time in seconds, and the state."""
    found = difference(baseline, values, matters=rules.matters, level=rules.level, left=left)
    low, high = found.printed_ends
    against = new_limits(state, baseline, matters=rules.matters)
    own = evidence(baseline, values, matters=rules.matters, against=against)
    # What confirms also excludes 0, by itself or with the audits that the evidence is from: otherwise the sentence
    # would claim what its interval denies.
    both = pooled_interval(baseline, rules.level)
    together, drop, rise = (found.value, low, high, 1), False, False
    side = int(found.value > 0)
    if confirms_alarm(baseline, values, side, matters=rules.matters, against=against):
        if not (low > 0 if side else high < 0):
            together = _pool_audits(baseline, state, (found.value, found.own), rules.level)
        drop, rise = not side and together[2] < 0, bool(side) and together[1] > 0
    seen = AuditResult(at, found.value, low, high, found.own, own, (drop, rise))
    after = advance(state, seen, both, looks=rules.looks, share=rules.share, apart=rules.apart)
    if len(after.gathered) < 2 or after.is_changed:
        return Judged(found, seen, state, after, together)
    gathered = _pool_audits(baseline, replace(after, gathered=after.gathered[:-1]), after.gathered[-1], rules.level)
    return Judged(found, seen, state, after, together, gathered)


def _pool_audits(
    baseline: Baseline, state: WatchState, last: tuple[float, float], level: float
) -> tuple[float, float, float, int]:
    """Return the mean difference of an audit and those behind the evidence, its interval, and the number of audits."""
    mean, variance, audits, spread = state.update_mean(*last)
    return (mean, *mean_interval(baseline, mean, variance, level=level, audits=audits, spread=spread), audits)


def mean_interval(
    baseline: Baseline, value: float, own: float, *, level: float, audits: int, spread: float = math.nan
) -> tuple[float, float]:
    """Return the interval of a mean difference of `audits` audits, for these runs alone if the baseline has too few.

    `own` is the variance of the mean from trials. `spread` is the variance between the audits if it is to count among
    what shows how much audits differ: with four blessed runs that differ much by chance, a fall of 15 points (15 × 20,
    τ = .3) would otherwise be confirmed 1.5 times as late as without an interval, and never in one year of 30.
    """
    level_now = min(max(baseline.mean + value, 0.0), 1.0)
    slope = max(level_now * (1 - level_now), baseline.slope)
    effects = baseline.run_effects
    if not math.isnan(spread):
        effects = effects.include_audits(spread, own * audits, slope, audits=audits)
    apart = effects.difference_distribution(own + baseline.sampling_variance, slope, audits=audits)
    reach = apart.tail_distance((1 - level) / 2)
    return value - reach, value + reach


def pooled_interval(baseline: Baseline, level: float) -> Around:
    return lambda value, own, audits: mean_interval(baseline, value, own, level=level, audits=audits)
