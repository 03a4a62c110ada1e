"""Components of variance: between systems, between topics, of their interaction, and between trials of one topic.

    one system        y = mean + topic + trial                               trials nested in topics
    several systems   y = mean + system + topic + system×topic + trial       trials nested in both

Components are estimated by the method of moments on the means of cells, so that topics have equal weight whatever their
numbers of valid trials, as in every figure of Harvest. The contribution of trials to a mean of n, s²/n, is subtracted,
with s² the cell's own variance (for a cell with one trial, the mean variance of all cells). For several systems the
sums of squares follow Henderson's method III (`mean_squares`), which allows empty cells. In a balanced design both are
the analysis of variance. Nothing is assumed to be normal, and an estimate may be negative.

Intervals (`scoring.inference.spreads`) are about topics like these, and about these systems.

Sources: R. L. Brennan, Generalizability Theory (2001), for Eρ² and Φ; P. E. Shrout and J. L. Fleiss, Psychol. Bull. 86
(1979), 420-428, for ICC(1); J. N. Arvesen, Ann. Math. Statist. 40 (1969), 2076-2100, for leaving out groups and for the
logarithm (`upper_interaction`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.crossed_spreads import MeanSquares, crossed_ends, mean_squares
from scoring.inference.interval import FEWEST, Interval, no_interval
from scoring.inference.spreads import UNKNOWN, Range, nested_ends, share_ends
from scoring.statistics.beta import student_quantile
from topics.arrays import Floats

# The fewest systems for a reliability: the variance between fewer systems is hardly more than a guess.
FEWEST_SYSTEMS = 4

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_ONE_TRIAL = "no topic has two trials with a value: what trials add cannot be told from what topics do"
_ONE_TOPIC = "one topic: nothing to compare it with"


@dataclass(frozen=True, slots=True)
class Component:
    """A component of variance, or a ratio of components, with its interval over topics.

    The estimate can be negative by chance. An undefined estimate is NaN, and the interval's note states the reason.
    """

    value: float
    interval: Interval

    def agree_with_test(self, differ: bool) -> "Component":
        """Return a copy whose interval starts at 0 unless systems `differ`, so that it does not contradict a test."""
        return (
            self if differ or not self.interval.is_defined else replace(self, interval=replace(self.interval, low=0.0))
        )

    def drop_interval(self, why: str) -> "Component":
        return replace(self, interval=no_interval(why)) if self.interval.is_defined else self


@dataclass(frozen=True, slots=True)
class Nested:
    """Components of variance of one system.

    - `topic`, `trial`: the components between topics and between trials of a topic.
    - `icc`: ICC(1), the share of the variance of single trials that lies between topics.
    - `topics`, `trials`: the numbers of topics and trials with a value.
    - `each`: the harmonic mean of the number of trials per topic.
    """

    topic: Component
    trial: Component
    icc: Component
    topics: int
    trials: int
    each: float

    def narrowing_shares(self, times: float) -> tuple[float, float]:
        """Return by which shares `times` the number of trials would narrow the interval of the mean.

        The first share is for topics like these and the second for these topics. A share is NaN if trials do not vary
        or a component is NaN.
        """
        topic, trial = max(0.0, self.topic.value), max(0.0, self.trial.value) / self.each
        if not trial > 0:
            return math.nan, math.nan
        return 1 - math.sqrt((topic + trial / times) / (topic + trial)), 1 - math.sqrt(1 / times)

    def narrowing_ends(self, times: float) -> tuple[float, float]:
        """Return the range of the first of `narrowing_shares` over the ICC's interval; NaN if there is no interval."""
        shares = self.icc.interval.high, self.icc.interval.low
        ends = [math.sqrt((one + (1 - one) / self.each / times) / (one + (1 - one) / self.each)) for one in shares]
        return 1 - ends[0], 1 - ends[1]

    def drop_intervals(self, why: str) -> "Nested":
        parts = self.topic, self.trial, self.icc
        topic, trial, icc = (one.drop_interval(why) for one in parts)
        return replace(self, topic=topic, trial=trial, icc=icc)


@dataclass(frozen=True, slots=True)
class Crossed:
    """Components of variance of several systems, over topics with a value for at least one of them.

    - `system`, `topic`, `both`, `trial`: the components of systems, of topics, of their interaction, and of trials.
    - `relative`: Eρ², how well means over these numbers of topics and trials distinguish these systems.
    - `absolute`: Φ, how well the same means estimate each system's own level.
    - `systems`, `topics`, `trials`: the numbers of systems, topics and trials with a value.
    - `empty`: the number of cells (a system and a topic) without a value.
    """

    system: Component
    topic: Component
    both: Component
    trial: Component
    relative: Component
    absolute: Component
    systems: int
    topics: int
    trials: int
    empty: int

    def drop_intervals(self, why: str) -> "Crossed":
        parts = self.system, self.topic, self.both, self.trial, self.relative, self.absolute
        system, topic, both, trial, relative, absolute = (one.drop_interval(why) for one in parts)
        return replace(self, system=system, topic=topic, both=both, trial=trial, relative=relative, absolute=absolute)


def within_system(values: npt.ArrayLike, *, level: float, within: Range = UNKNOWN) -> Nested:
    """Estimate components from (topics, trials), NaN if missing. ValueError for values outside `within`."""
    cells = np.asarray(values, dtype=np.float64)
    within.check_values(cells[~np.isnan(cells)])
    cells = cells[(~np.isnan(cells)).any(axis=1)]
    counts = (~np.isnan(cells)).sum(axis=1)
    topics, trials = len(cells), int(counts.sum())
    each = topics / float((1 / counts).sum()) if topics else math.nan
    if topics < 2 or counts.max() < 2:
        why = "no value" if not topics else _ONE_TRIAL if topics > 1 else _ONE_TOPIC
        none = Component(math.nan, no_interval(why))
        return Nested(none, none, none, topics, trials, each)
    mean, own = _cells(cells, counts)
    trial = own.sum() / topics
    noise = (own / counts).sum() / topics
    shifted = mean - mean.mean()
    spread = ((shifted**2).sum() - shifted.sum() ** 2 / topics) / max(1, topics - 1)
    topic = (0.0 if spread < _SAME else spread) - noise
    total = topic + trial
    icc = float(topic / total) if total > _SAME else math.nan
    of_topic, of_trial, of_icc = nested_ends(mean, own, counts, within, level=level)
    if math.isnan(icc):
        of_icc = no_interval("every trial has the same value")
    return Nested(
        topic=_containing_value(float(topic), of_topic),
        trial=_containing_value(float(trial), of_trial),
        icc=_containing_value(icc, of_icc),
        topics=topics,
        trials=trials,
        each=each,
    )


def _containing_value(value: float, interval: Interval) -> Component:
    if not interval.is_defined or math.isnan(value):
        return Component(value, interval)
    seen = max(0.0, value)
    return Component(value, replace(interval, low=min(interval.low, seen), high=max(interval.high, seen)))


def across_systems(values: npt.ArrayLike, *, level: float, within: Range = UNKNOWN) -> Crossed:
    """Estimate components from (systems, topics, trials), NaN if missing. ValueError for values outside `within`."""
    cells = np.asarray(values, dtype=np.float64)
    within.check_values(cells[~np.isnan(cells)])
    cells, counts = _drop_empty(cells)
    systems, topics = counts.shape
    trials, empty = int(counts.sum()), int((counts == 0).sum())
    why = _why_not_crossed(counts)
    mean, own = (np.zeros(0), np.zeros(0)) if why else _cells(cells, counts)
    found = None if why else mean_squares(mean, own, counts, np.ones((1, topics)))
    if found is None:
        none = Component(math.nan, no_interval(why or "systems share too few topics to be told from them"))
        return Crossed(none, none, none, none, none, none, systems, topics, trials, empty)
    few = Component(math.nan, no_interval(f"{systems} systems: a reliability asks for {FEWEST_SYSTEMS}"))
    ends = crossed_ends(mean, own, counts, found, within, level=level)
    error = float(found.error[0])
    absolute = error + max(0.0, float(found.topic[1][0])) / topics
    enough = systems >= FEWEST_SYSTEMS
    return Crossed(
        system=_containing_value(float(found.system[1][0]), ends.system),
        topic=_containing_value(float(found.topic[1][0]), ends.topic),
        both=_containing_value(float(found.both[1][0]), ends.both),
        trial=_containing_value(float(found.trial[0]), ends.trial),
        relative=_reliability(found, error, ends.relative) if enough else few,
        absolute=_reliability(found, absolute, ends.absolute) if enough else few,
        systems=systems,
        topics=topics,
        trials=trials,
        empty=empty,
    )


def share_of_spread(part: Component, others: Sequence[Component]) -> tuple[float, float]:
    """Return the low and high ends of a component's share in the sum of all; NaN if a component has no interval."""
    least, most = (math.fsum(ends) for ends in zip(*((one.interval.low, one.interval.high) for one in others)))
    return share_ends((part.interval.low, part.interval.high), (least, most))


def _drop_empty(cells: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    often = (~np.isnan(cells)).sum(axis=2)
    cells = cells[often.sum(axis=1) > 0][:, often.sum(axis=0) > 0]
    return cells, (~np.isnan(cells)).sum(axis=2)


def _why_not_crossed(counts: npt.NDArray[np.int64]) -> str:
    systems, topics = counts.shape
    if not counts.size:
        return "no value"
    if systems < 2:
        return "one system: nothing to compare it with"
    if topics < 2:
        return _ONE_TOPIC
    if counts.max() < 2:
        return _ONE_TRIAL
    return ""


def _cells(cells: Floats, counts: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return means and variances of cells, 0 if empty. A cell with one trial gets the other cells' mean variance."""
    seen = ~np.isnan(cells)
    mean = np.where(seen, cells, 0.0).sum(axis=-1) / np.maximum(1, counts)
    squares = np.where(seen, cells - mean[..., None], 0.0) ** 2
    own = squares.sum(axis=-1) / np.maximum(1, counts - 1)
    own[own < _SAME] = 0.0
    return mean, np.where(counts > 1, own, np.where(counts == 1, own[counts > 1].mean(), 0.0))


def _reliability(found: MeanSquares, error: float, interval: Interval) -> Component:
    system = max(0.0, float(found.system[1][0]))
    if not system + error > _SAME:
        return Component(math.nan, no_interval("too little varies"))
    return _containing_value(system / (system + error), interval)


_FARTHEST = 25.0  # an end e^25 times as far is useless


def upper_interaction(values: npt.ArrayLike, *, level: float) -> float:
    """Return an upper limit of the variance of system × topic, for planning. `values` is as for `across_systems`.

    The limit is the upper end of a two-sided interval of this level, by the jackknife over topics on a logarithmic
    scale with Student's t. It is NaN if the table cannot be split into components, with fewer than four topics, or if
    nothing varies. If a few topics dominate, the limit covers less than its level. So the limit is never printed as an
    interval, and a plan reports how often it was right.
    """
    cells, counts = _drop_empty(np.asarray(values, dtype=np.float64))
    topics = counts.shape[1]
    if topics < FEWEST or _why_not_crossed(counts):
        return math.nan
    found = mean_squares(*_cells(cells, counts), counts, np.vstack([np.ones(topics), 1 - np.eye(topics)]))
    if found is None:
        return math.nan
    whole, part = found.both
    error = math.sqrt((topics - 1) * float(np.var(part[1:])))
    if not whole[0] > _SAME or error <= _SAME:
        return math.nan
    reach = student_quantile(0.5 + level / 2, topics - 1) * error / float(whole[0])
    return math.nan if reach > _FARTHEST else max(0.0, float(part[0]) + float(whole[0]) * math.expm1(reach))
