"""The smallest fall that a watch is likely to find, from its baseline alone.

Audits after a fall are drawn, and judged by the rule of the watch: the evidence of the audits raises an alarm, and a
later audit confirms it (`scoring.inference.drift`, `scoring.inference.watch_state`). In the drawn audits,

    the log odds of all topics move alike, so that their mean falls by the given size; the variation between audits is
    drawn from its distribution given the blessed runs (`run_effects`); trials are 0 or 1 if trials of the baseline vary
    as much as their mean allows, or else beta distributed.

The power of each size is simulated, and the smallest size with the wanted power is found by halving.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from scoring.inference.drift import (
    CONFIRMED,
    SAME_BUDGET,
    SAME_SHARE,
    Baseline,
    audit_evidence,
    evidence_levels,
    initial_evidence,
    limits,
    update_evidence,
)
from scoring.inference.watched_audit import JudgingRules, mean_interval
from scoring.statistics.beta import normal_quantile
from topics.arrays import Floats

# The share of drawn changes that must be found.
WANTED = 0.8

# Trials of each topic beyond which nobody plays an audit.
MOST_FOR_SAME = 2000

_STUDIES = 150
_FEWEST = 40
_MOST_TRIALS = 300_000  # that are drawn for one size: each is weighed twelve times
_BLOCK = 40_000  # trials that are weighed at once
_STEP = 0.01  # the precision of the smallest fall
_BINARY = 0.97  # of the variance that the mean allows: above it, trials are drawn as 0 or 1


@dataclass(frozen=True, slots=True)
class Power:
    """The shares of drawn falls of one size for which the first audit raises an alarm, and which are confirmed."""

    alarm: float
    confirmed: float


class SmallestFall:
    """The smallest falls of the mean over topics that audits with `trials`, (T,), of each topic are likely to find, in
    steps of a point. Likely is a probability of `WANTED`.

    `make` returns a generator, the same each time it is called. `audits` is the number of audits within which a fall
    is to be confirmed.
    """

    def __init__(
        self,
        baseline: Baseline,
        trials: Floats,
        rules: JudgingRules,
        *,
        make: Callable[[], np.random.Generator],
        audits: int = 4,
    ) -> None:
        self.audits = audits
        self._drawn = (baseline, trials)
        self._rules, self._make = rules, make
        self._known: dict[int, Power] = {}
        self._most = math.ceil(baseline.mean / _STEP) - 1

    def power(self, fall: float) -> Power:
        """Return the power for a fall in (0, 1)."""
        steps = round(fall / _STEP)
        if steps not in self._known:
            self._known[steps] = fall_power(*self._drawn, steps * _STEP, self._rules, self._make(), audits=self.audits)
        return self._known[steps]

    @cached_property
    def confirmed(self) -> float:
        """The smallest fall, in (0, 1), that is confirmed within `audits` audits; NaN if no fall is."""
        return self._smallest(1, lambda power: power.confirmed)

    @cached_property
    def alarm(self) -> float:
        """The smallest fall, in (0, 1), for which the first audit after it raises an alarm; NaN if no fall does."""
        least = self.confirmed
        return math.nan if math.isnan(least) else self._smallest(round(least / _STEP), lambda power: power.alarm)

    def _smallest(self, least: int, share: Callable[[Power], float]) -> float:
        low, high = least - 1, self._most
        if high < 1 or share(self.power(high * _STEP)) < WANTED:
            return math.nan
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if share(self.power(middle * _STEP)) >= WANTED else (middle, high)
        return high * _STEP


def more_trials(baseline: Baseline, times: int) -> Baseline:
    """Return the baseline as it would be with `times` as many trials of each topic in each run."""
    return replace(baseline, counts=baseline.counts * times)


def more_runs(baseline: Baseline, times: int) -> Baseline:
    """Return the baseline as it would be with `times` as many runs that differ as much."""
    centre, spread = baseline.runs.mean(), 1.0
    number = len(baseline.runs)
    if number > 1:  # repeated values have a smaller variance
        spread = math.sqrt((times * number - 1) / (times * (number - 1)))
    runs = np.tile(centre + spread * (baseline.runs - centre), times)
    return replace(baseline, counts=baseline.counts * times, runs=runs)


def same_chance(baseline: Baseline, trials: float, matters: float) -> float:
    """Return the probability in [0, 1] that one audit with `trials` of each topic is called the same as the baseline,
    if nothing has changed."""
    own = float(baseline.within_variances.sum()) / trials / len(baseline.means) ** 2
    apart = baseline.run_effects.difference_distribution(own + baseline.sampling_variance, baseline.slope)
    left = matters - apart.tail_distance(SAME_SHARE * SAME_BUDGET)
    return 1 - 2 * apart.tail_probability(left) if left > 0 else 0.0


def trials_for_same(baseline: Baseline, matters: float) -> int:
    """Return the fewest trials of each topic with which an audit of an unchanged system is likely (`WANTED`) to be
    called the same; 0 if up to `MOST_FOR_SAME` are not enough, because the baseline or hours are not known well
    enough."""
    low, high = 0, MOST_FOR_SAME
    if same_chance(baseline, high, matters) < WANTED:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if same_chance(baseline, middle, matters) >= WANTED else (middle, high)
    return high


def fall_power(
    baseline: Baseline, trials: Floats, fall: float, rules: JudgingRules, rng: np.random.Generator, *, audits: int = 4
) -> Power:
    """Return how many of the drawn falls of one size are found, within `audits` audits."""
    drawn = draw_audits(baseline, trials, fall, rng, audits=audits)
    studies, counts = len(drawn), trials.astype(np.float64)
    blocks = np.array_split(drawn, min(studies, max(1, drawn.size // _BLOCK)))
    each = [audit_evidence(baseline, counts, block, matters=rules.matters, sides=(0,)) for block in blocks]
    evidence = np.concatenate(each, axis=1)
    kept = np.repeat(initial_evidence()[:, None, :], studies, axis=1)
    levels = np.zeros((studies, audits))
    for audit in range(audits):
        kept = update_evidence(kept, evidence[:, :, audit])
        levels[:, audit] = evidence_levels(kept, looks=rules.looks, share=rules.share)[0]
    starts = np.concatenate([[0], np.cumsum(trials.astype(int))[:-1]])
    means = np.add.reduceat(drawn, starts, axis=-1) / counts
    apart = np.square(drawn - np.repeat(means, trials.astype(int), axis=-1))
    with np.errstate(invalid="ignore"):  # a topic with one trial has no variance
        variances = np.add.reduceat(apart, starts, axis=-1) / (counts - 1)
    each_own = baseline.audit_variances(means, variances, counts) / counts
    owns, slopes = each_own.sum(axis=-1) / len(counts) ** 2, (means * (1 - means) + each_own).mean(axis=-1)
    audit_means = means.mean(axis=-1)
    limit = limits(baseline, matters=rules.matters)[0]
    reach = normal_quantile(1 - CONFIRMED) * math.sqrt(float((baseline.within_variances / counts).sum())) / len(counts)
    beyond = limit - audit_means >= reach
    drawn_audits = np.stack([audit_means - baseline.mean, owns, slopes, levels, beyond], axis=-1)
    confirmed = sum(
        _is_confirmed(baseline, drawn_audits[at].tolist(), rules.level)
        for at in np.flatnonzero((levels[:, :-1] >= 1).any(axis=1))
    )
    return Power(float((levels[:, 0] >= 1).mean()), confirmed / studies)


def draw_audits(baseline: Baseline, trials: Floats, fall: float, rng: np.random.Generator, *, audits: int) -> Floats:
    """Draw (studies, audits, N) values of trials after a fall, topic after topic."""
    means = (baseline.means * baseline.counts + 0.5) / (baseline.counts + 1)
    within = baseline.within_variances / (means * (1 - means))
    weight = 1 / np.clip(within, 1e-4, _BINARY) - 1
    odds = np.log(means / (1 - means))
    odds = odds + _shift(odds, baseline.mean - fall)
    number = int(trials.sum())
    studies = max(_FEWEST, min(_STUDIES, _MOST_TRIALS // (audits * number)))
    effects = baseline.run_effects
    sizes = rng.choice(effects.sizes, studies, p=effects.weights)
    moved = odds + (sizes[:, None] * rng.standard_normal((studies, audits)))[..., None]
    chances = np.clip(1 / (1 + np.exp(-moved)), 1e-6, 1 - 1e-6)
    each = np.repeat(chances, trials.astype(int), axis=-1)
    binary = np.repeat(within >= _BINARY, trials.astype(int))
    spread = np.repeat(weight, trials.astype(int))
    yes = (rng.random(each.shape) < each).astype(np.float64)
    return yes if binary.all() else np.where(binary, yes, rng.beta(each * spread, (1 - each) * spread))


def _shift(odds: Floats, mean: float) -> float:
    """Return the number to add to all log odds so that their mean chance is `mean`."""
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-(odds + middle)))).mean() < mean else (low, middle)
    return low


def _is_confirmed(baseline: Baseline, audits: Sequence[Sequence[float]], level: float) -> bool:
    """Return True if an alarm of these audits is confirmed by a later one. That one must lie beyond the limit of an
    alarm, and its interval, or that of the audits behind the evidence, must leave out 0.

    An audit is its difference from the baseline's mean, the variance of this from its trials, its slope, its level of
    evidence, and whether it lies beyond the limit.
    """
    raised, gathered = False, list[tuple[float, float]]()
    for value, own, slope, evidence, beyond in audits:
        if raised and beyond:
            apart = baseline.run_effects.difference_distribution(own + baseline.sampling_variance, slope)
            if value < 0 and apart.tail_probability(-value) < (1 - level) / 2:
                return True
            values, owns = zip(*gathered, (value, own), strict=True)
            number, mean = len(values), sum(values) / len(values)
            spread = float(np.var(values, ddof=1)) if number > 1 else math.nan
            _, high = mean_interval(baseline, mean, sum(owns) / number**2, level=level, audits=number, spread=spread)
            if high < 0:
                return True
        raised = evidence >= 1 or (raised and evidence > 0)
        gathered = [*gathered, (value, own)] if evidence > 0 else []
    return False
