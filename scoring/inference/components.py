"""How much of the spread of values is between systems, between topics, between both, and between trials of one topic.

    one system        y = mean + topic + trial                               trials nested in topics
    several systems   y = mean + system + topic + system×topic + trial       trials nested in both

Components are found by the method of moments on the means of cells, so that each topic weighs alike however many of its
trials are valid, as it does in every figure of Harvest: what trials add to a mean of n is taken off as s²/n, s² being
the cell's own variance (the mean of all where a cell has one trial). Of several systems the sums of squares are those
of Henderson's method III (fitting constants), which takes tables with holes. In a balanced design both are the analysis
of variance. Nothing is assumed to be normal, and an estimate may lie below 0.

Intervals leave out one topic at a time, on the scale of the logarithm, with Student's t. The topic is the unit: they
speak of topics like these, and of these systems. Where 8, 15 or 45 topics were drawn, bootstrap percentiles covered .77
to .96 of a nominal .95, also when corrected for bias and skew; these .91 to .97 (docs/variance.md).

Sources: C. R. Henderson, Biometrics 9 (1953), 226-252, method III; J. N. Arvesen, Ann. Math. Statist. 40 (1969),
2076-2100, for leaving out groups and for the logarithm; R. L. Brennan, Generalizability Theory (2001), for Eρ² and Φ;
P. E. Shrout and J. L. Fleiss, Psychol. Bull. 86 (1979), 420-428, for ICC(1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval, no_interval, too_few
from scoring.statistics.beta import student_quantile

__all__ = ["FEWEST_SYSTEMS", "Component", "Crossed", "Nested", "across_systems", "within_system"]

Floats = npt.NDArray[np.float64]

FEWEST_SYSTEMS = 4
"""Systems that a reliability asks for: the variance between fewer is hardly more than a guess."""

METHOD = "jackknife, logarithm, t"

_SAME = 1e-12
_ONE_TRIAL = "no topic has two trials with a value: what trials add cannot be told from what topics do"
_ONE_TOPIC = "one topic: nothing to compare it with"


@dataclass(frozen=True, slots=True)
class Component:
    """value: the estimate, which chance can make negative; NaN where undefined, and the note of the interval says why.
    interval: over topics, cut to the possible range of the figure."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Nested:
    """One system. topic, trial: components of the variance. icc: ICC(1), the share of the variance of single trials
    that lies between topics. topics, trials: with a value. each: the harmonic mean of the trials of a topic.
    """

    topic: Component
    trial: Component
    icc: Component
    topics: int
    trials: int
    each: float

    def narrowing(self, times: float) -> tuple[float, float]:
        """By what share `times` as many trials would narrow an interval of the mean for topics like these, and for
        these topics; NaN where nothing varies or the components are unknown."""
        topic, trial = max(0.0, self.topic.value), max(0.0, self.trial.value) / self.each
        if not trial > 0:
            return math.nan, math.nan
        return 1 - math.sqrt((topic + trial / times) / (topic + trial)), 1 - math.sqrt(1 / times)


@dataclass(frozen=True, slots=True)
class Crossed:
    """Several systems, over topics with a value of at least one. system, topic, both, trial: components of variance.

    relative: Eρ², how well means over as many topics and trials tell these systems apart. absolute: Φ, how well they
    give each one's own level. systems, topics, trials: with a value. empty: cells of system and topic without any.
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


def within_system(values: npt.ArrayLike, *, level: float) -> Nested:
    """The split of one system. values: (topics, trials), NaN where there is none. level: of intervals, in (0, 1)."""
    cells = np.asarray(values, dtype=np.float64)
    cells = cells[(~np.isnan(cells)).any(axis=1)]
    counts = (~np.isnan(cells)).sum(axis=1)
    topics, trials = len(cells), int(counts.sum())
    each = topics / float((1 / counts).sum()) if topics else math.nan
    if topics < 2 or counts.max() < 2:
        why = "no value" if not topics else _ONE_TRIAL if topics > 1 else _ONE_TOPIC
        none = Component(math.nan, no_interval(why))
        return Nested(none, none, none, topics, trials, each)
    mean, own = _cells(cells, counts)
    every = np.vstack([np.ones(topics), 1 - np.eye(topics)])
    whole = every.sum(axis=1)
    trial = every @ own / whole
    noise = every @ (own / counts) / whole
    shifted = mean - mean.mean()
    spread = (every @ shifted**2 - (every @ shifted) ** 2 / whole) / np.maximum(1, whole - 1)
    spread[spread < _SAME] = 0.0
    topic = spread - noise
    return Nested(
        topic=_shifted(spread, topic, level),
        trial=_mean(trial, level),
        icc=_icc(topic, trial, spread, noise, level),
        topics=topics,
        trials=trials,
        each=each,
    )


def across_systems(values: npt.ArrayLike, *, level: float) -> Crossed:
    """The split of several systems. values: (systems, topics, trials), NaN where there is none. level: in (0, 1)."""
    cells = np.asarray(values, dtype=np.float64)
    often = (~np.isnan(cells)).sum(axis=2)
    cells = cells[often.sum(axis=1) > 0][:, often.sum(axis=0) > 0]
    counts = (~np.isnan(cells)).sum(axis=2)
    systems, topics = counts.shape
    trials, empty = int(counts.sum()), int((counts == 0).sum())
    why = _why_not_crossed(counts)
    found = None if why else _fit(*_cells(cells, counts), counts)
    if found is None:
        none = Component(math.nan, no_interval(why or "systems share too few topics to be told from them"))
        return Crossed(none, none, none, none, none, none, systems, topics, trials, empty)
    few = Component(math.nan, no_interval(f"{systems} systems: a reliability asks for {FEWEST_SYSTEMS}"))
    absolute = found.relative + np.maximum(0.0, found.topic[1]) / topics
    enough = systems >= FEWEST_SYSTEMS
    return Crossed(
        system=_shifted(*found.system, level),
        topic=_shifted(*found.topic, level),
        both=_shifted(*found.both, level),
        trial=_mean(found.trial, level),
        relative=_reliability(found, found.relative, level) if enough else few,
        absolute=_reliability(found, absolute, level) if enough else few,
        systems=systems,
        topics=topics,
        trials=trials,
        empty=empty,
    )


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
    """(…) mean and variance of each cell, 0 where it is empty; the variance of one trial is the mean of the others'."""
    seen = ~np.isnan(cells)
    mean = np.where(seen, cells, 0.0).sum(axis=-1) / np.maximum(1, counts)
    squares = np.where(seen, cells - mean[..., None], 0.0) ** 2
    own = squares.sum(axis=-1) / np.maximum(1, counts - 1)
    own[own < _SAME] = 0.0
    return mean, np.where(counts > 1, own, np.where(counts == 1, own[counts > 1].mean(), 0.0))


@dataclass(frozen=True, slots=True)
class _Squares:
    """(1 + topics,) each: of all topics, then without one after the other. Every mean square over its coefficient, and
    the component that is left of it; relative: the variance of a system's mean that is not the system's own."""

    system: tuple[Floats, Floats]
    topic: tuple[Floats, Floats]
    both: tuple[Floats, Floats]
    trial: Floats
    relative: Floats


def _fit(mean: Floats, own: Floats, counts: npt.NDArray[np.int64]) -> _Squares | None:
    """Henderson's method III; None where systems share too few topics to be told from them.

    mean, own, counts: (systems, topics) of the cells. Topics with their weights w are absorbed: with d in {0, 1} for
    the cells there are, B their number in a topic, v = d(e - d/B) what a cell of a system adds to its adjusted sum r,
    and e the variance of a cell's mean that is not of its system and topic,

        C = Σ w (diag d - dd'/B),  R(s|t) = r'C⁻r,  E R(s|t) = σ²_s tr C + σ²_st (S - 1) + Σ w e v'C⁻v
    """
    there = (counts > 0).astype(np.float64)
    systems, topics = there.shape
    weights = np.vstack([np.ones(topics), 1 - np.eye(topics)])
    error = np.divide(own, counts, out=np.zeros_like(own), where=counts > 0)
    shifted = (mean - mean[counts > 0].mean()) * there  # sums of squares of large numbers lose digits
    in_topic = there.sum(axis=0)
    adjusted = (np.eye(systems)[:, :, None] - there / in_topic) * there[
        :, None
    ]  # (system of the cell, systems, topics)
    sums = weights @ np.einsum("ist,it->ts", adjusted, shifted)
    crossing = np.einsum("bt,trs->brs", weights, np.einsum("irt,ist->trs", adjusted, adjusted))
    noisy = np.einsum("bt,trs->brs", weights, np.einsum("it,irt,ist->trs", error, adjusted, adjusted))
    cells, drawn = weights @ in_topic, weights.sum(axis=1)
    degrees = cells - drawn - systems + 1
    if (np.linalg.matrix_rank(crossing, hermitian=True) < systems - 1).any() or (degrees < 1).any():
        return None
    inverse = np.linalg.pinv(crossing, hermitian=True)
    by_system = np.einsum("br,brs,bs->b", sums, inverse, sums)
    of_system = np.einsum("brs,bsr->b", inverse, noisy)
    size = np.einsum("brr->b", crossing)
    within = weights @ (shifted**2 - shifted.sum(axis=0) * shifted / in_topic).sum(axis=0)
    of_within = weights @ (error.sum(axis=0) - error.sum(axis=0) / in_topic)
    each = weights @ there.T
    topical = weights @ (shifted**2).sum(axis=0) - ((weights @ shifted.T) ** 2 / each).sum(axis=1)
    of_topical = weights @ error.sum(axis=0) - ((weights @ error.T) / each).sum(axis=1)
    rest, of_rest = _positive(within - by_system), of_within - of_system
    both = (rest - of_rest) / degrees
    system = (by_system - (systems - 1) * both - of_system) / size
    others = cells - systems
    topical, of_topical = _positive(topical - rest), of_topical - of_rest
    topic = (topical - (others - degrees) * both - of_topical) / others
    return _Squares(
        system=(_positive(by_system) / size, system),
        topic=(topical / others, topic),
        both=(rest / degrees, both),
        trial=weights @ own.sum(axis=0) / cells,
        relative=rest / degrees * (systems - 1) / size,
    )


def _positive(squares: Floats) -> Floats:
    """Sums of squares without what rounding leaves of nothing."""
    return np.where(squares < _SAME, 0.0, squares)


def _spread(figures: Floats) -> float:
    """The standard error of the first figure, from those without one topic each."""
    without = figures[1:]
    return math.sqrt((len(without) - 1) * float(np.var(without)))


def _reach(topics: int, level: float) -> float:
    return student_quantile(0.5 + level / 2, topics - 1)


def _shifted(whole: Floats, part: Floats, level: float) -> Component:
    """A component that is a mean square less the rest, with the interval of the logarithm of the whole, less the rest.

    whole, part: (1 + topics,) of all topics, then without each. The error is the component's own, with what the rest
    varies; the logarithm is of the whole, which is above 0 where the component may not be.
    """
    value, topics = float(part[0]), len(part) - 1
    if topics < FEWEST:
        return Component(value, no_interval(too_few(topics)))
    error = _spread(part)
    if not whole[0] > _SAME or error <= _SAME:
        return Component(value, no_interval("every topic has the same value"))
    reach = _reach(topics, level) * error / float(whole[0])
    if reach > _FARTHEST:
        return Component(value, no_interval("too few topics differ"))
    low, high = (max(0.0, value + float(whole[0]) * math.expm1(side)) for side in (-reach, reach))
    return Component(value, Interval(low, high, METHOD, "topics"))


def _mean(figures: Floats, level: float) -> Component:
    """A mean of variances. Where most topics are a toss-up they are skewed to the low side, which a logarithm makes
    worse: there the low end is not above that on their own scale."""
    found = _shifted(figures, figures, level)
    skew_of_topics = -float(((figures[1:] - figures[1:].mean()) ** 3).sum())  # a low one that is left out raises it
    if math.isnan(found.interval.low) or skew_of_topics >= 0:
        return found
    low = found.value - _reach(len(figures) - 1, level) * _spread(figures)
    return replace(found, interval=replace(found.interval, low=max(0.0, min(low, found.interval.low))))


_FARTHEST = 25.0  # an end e^25 times as far says nothing


def _icc(topic: Floats, trial: Floats, spread: Floats, noise: Floats, level: float) -> Component:
    """ICC(1), with the interval of log F, F = spread of means / what trials add to it."""
    total = topic[0] + trial[0]
    value = float(topic[0] / total) if total > _SAME else math.nan
    if math.isnan(value):
        return Component(value, no_interval("every trial has the same value"))
    if (spread <= _SAME).any() or (noise <= _SAME).any():
        what = "trials of a topic" if (noise <= _SAME).any() else "topics"
        return Component(value, no_interval(f"too few {what} differ"))
    if len(topic) - 1 < FEWEST:
        return Component(value, no_interval(too_few(len(topic) - 1)))
    log = np.log(spread / noise)
    reach, share = _reach(len(topic) - 1, level) * _spread(log), noise[0] / trial[0]
    if reach > _FARTHEST:
        return Component(value, no_interval("too few topics differ"))
    odds = [(math.exp(log[0] + side) - 1) * share for side in (-reach, reach)]
    low, high = (max(0.0, one / (one + 1)) for one in odds)
    return Component(value, Interval(low, high, METHOD, "topics"))


def _reliability(found: _Squares, error: Floats, level: float) -> Component:
    """system / (system + error), with the interval of the logarithm of the systems' mean square / error."""
    whole, part = found.system
    topics = len(part) - 1
    total = max(0.0, float(part[0])) + float(error[0])
    value = max(0.0, float(part[0])) / total if total > _SAME else math.nan
    if (whole <= _SAME).any() or (error <= _SAME).any():
        return Component(value, no_interval("too little varies"))
    if topics < FEWEST:
        return Component(value, no_interval(too_few(topics)))
    log = np.log(whole / error)
    reach = _reach(topics, level) * _spread(log)
    if reach > _FARTHEST:
        return Component(value, no_interval("too few topics differ"))
    rest = float((whole[0] - part[0]) / error[0])
    low, high = (max(0.0, math.exp(float(log[0]) + side) - rest) for side in (-reach, reach))
    return Component(value, Interval(low / (low + 1), high / (high + 1), METHOD, "topics"))
