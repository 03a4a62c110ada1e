"""The cells of several systems in one measure, set beside each other topic by topic."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.inference.in_time import InTime, trials_in_time
from scoring.inference.paired import linear_values
from scoring.inference.sessions import session_variance

Floats = npt.NDArray[np.float64]

# p at most which trials near each other in time are treated as alike.
_ALIKE = 0.05

# A topic's id and the number of a trial.
Trial = tuple[str, int]

# What a conversation gives: a sum, and what it is a sum over: (value, 1) for a measure, (useful, asked) for a share.
# NaN, or over nothing, where it gives no value. The figure of a topic is the ratio of its sums.
Cell = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Systems over common topics: T topics, m systems.

    topics: in the order of the topic set. above, below: (T, m); the figure of a system is the ratio of their sums over
    topics. noise: (T, m), the variance that drawing other trials of the topic would give to its value; NaN with fewer
    than two. trials: (T, m), conversations with a value. left_out: topics without a value of some system. pooled: the
    figures are ratios of sums over all conversations, not means over topics. sessions: (m,), how many sessions run
    through all topics; 0 for a system with a fresh one for each conversation. shared: (m,), the variance that drawing
    other sessions would give to the figure; NaN for such a system, and with a single session. clusters: (T,) numbers,
    the same for topics that the topic set puts into one cluster; None if it names none. in_time: by system, whether
    its trials near each other in time are alike; if they are (p up to .05), `noise` is as many times as large as that
    makes it. Without those systems whose times are not known. moments: by system with fresh sessions, (T, trials) what
    each trial adds to its topic's figure and when it began; NaN where there is none, the same trials for all systems.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    above: Floats
    below: Floats
    noise: Floats
    trials: npt.NDArray[np.int64]
    left_out: tuple[str, ...]
    pooled: bool
    sessions: npt.NDArray[np.int64]
    shared: Floats
    clusters: npt.NDArray[np.int64] | None = None
    in_time: Mapping[str, InTime] = field(default_factory=dict)
    moments: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def figures(self) -> Floats:
        """(m,) figures; NaN where nothing is below the line."""
        return _ratio(self.above, self.below)

    @property
    def values(self) -> Floats:
        """(T, m) what topics add: their mean over topics is the figure."""
        return linear_values(self.above, self.below)

    @property
    def own(self) -> Floats:
        """(T, m) figures of topics by themselves; NaN where a topic has nothing below the line."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.above / self.below

    def without(self, topic: int, first: int, second: int) -> float:
        """The difference of two systems had one topic not been asked."""
        rest = [row for row in range(len(self.topics)) if row != topic]
        pair = [first, second]
        one, other = _ratio(self.above[np.ix_(rest, pair)], self.below[np.ix_(rest, pair)])
        return float(one - other)


def _ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above.sum(axis=0) / below.sum(axis=0))


def align(
    topics: Sequence[str],
    systems: Sequence[str],
    cells: Mapping[str, Mapping[Trial, Cell]],
    *,
    pooled: bool,
    continued: Collection[str] = (),
    clusters: Mapping[str, str] | None = None,
    times: Mapping[str, Mapping[Trial, float]] | None = None,
    in_time: bool = False,
) -> Aligned:
    """Systems over the topics for which each has a value.

    topics: those that all were asked, in order. cells: by system, of every valid conversation. pooled: the figure is
    the ratio of sums over all conversations, as of %recovery, and topics that give nothing to it are in neither;
    otherwise each topic's mean over trials counts the same. continued: systems whose trials of one number are one
    session through all topics. clusters: by topic, the cluster that it is in; a topic without one is a cluster of its
    own. times: by system, when each trial began. in_time: whether
    systems in it are asked if their trials hang together in time, and their noise is widened for it.
    """
    by_topic: dict[str, list[list[Cell]]] = {topic: [[] for _ in systems] for topic in topics}
    numbers: dict[str, list[list[int]]] = {topic: [[] for _ in systems] for topic in topics}
    for place, system in enumerate(systems):
        for (topic, trial), cell in cells.get(system, {}).items():
            there = cell[0] == cell[0]  # NaN is no value
            if there and topic in by_topic and (pooled or cell[1] > 0):
                by_topic[topic][place].append(cell)
                numbers[topic][place].append(trial)
    common = {topic: [np.array(side) for side in own] for topic, own in by_topic.items() if all(own)}
    if pooled:
        common = {topic: own for topic, own in common.items() if any(side[:, 1].any() for side in own)}
    shape = len(common), len(systems)
    sums, trials = np.zeros((*shape, 2)), np.zeros(shape, dtype=np.int64)
    for row, own in enumerate(common.values()):
        for column, side in enumerate(own):
            sums[row, column] = side.sum(axis=0)
            trials[row, column] = len(side)
    above, below = sums[..., 0], sums[..., 1]
    if not pooled:
        above, below = above / np.maximum(below, 1), np.ones(shape)
    whole, figures = below.sum(axis=0), _ratio(above, below)
    hanging, moments = dict[str, InTime](), dict[str, tuple[Floats, Floats]]()
    played = sorted({number for own in numbers.values() for side in own for number in side})
    places = {number: at for at, number in enumerate(played)}
    noise, shared, sessions = np.full(shape, np.nan), np.full(len(systems), np.nan), np.zeros(len(systems), np.int64)
    for column, system in enumerate(systems):
        if not whole[column] > 0:
            continue  # no figure, so nothing that other trials could move
        moved: dict[int, float] = {}
        apart: dict[Trial, float] = {}
        for row, (topic, own) in enumerate(common.items()):
            each = own[column]
            rest = each[:, 0] - figures[column] * each[:, 1] if pooled else each[:, 0] / each[:, 1]
            scale = len(each) * len(common) / whole[column] if pooled else 1.0
            apart.update(zip(((topic, number) for number in numbers[topic][column]), rest.tolist(), strict=True))
            if len(each) > 1:
                noise[row, column] = scale**2 * rest.var(ddof=1) / len(each)
            if system not in continued:
                continue
            for number, far in zip(numbers[topic][column], rest - rest.mean(), strict=True):
                moved[number] = moved.get(number, 0.0) + scale * float(far) / (len(each) * len(common))
        if times is not None and system in times and system not in continued:
            moments[system] = _laid_out(tuple(common), places, apart, times[system])
        if in_time and system in moments:
            hanging[system] = trials_in_time(*moments[system])
            if hanging[system].p <= _ALIKE:
                noise[:, column] *= hanging[system].inflation
        if system in continued:
            sessions[column], shared[column] = len(moved), session_variance([list(moved.values())])
    missing = tuple(topic for topic, own in by_topic.items() if not all(own))
    return Aligned(
        tuple(common),
        tuple(systems),
        above,
        below,
        noise,
        trials,
        missing,
        pooled,
        sessions,
        shared,
        cluster_numbers(tuple(common), clusters or {}),
        hanging,
        moments,
    )


def _laid_out(
    topics: Sequence[str], places: Mapping[int, int], values: Mapping[Trial, float], times: Mapping[Trial, float]
) -> tuple[Floats, Floats]:
    """(topics, trials) of one system. values: of each trial, what it adds to its topic's figure."""
    rows = {topic: row for row, topic in enumerate(topics)}
    cells, when = np.full((2, len(rows), len(places)), np.nan)
    for (topic, number), value in values.items():
        at = rows[topic], places[number]
        cells[at], when[at] = value, times.get((topic, number), math.nan)
    return cells, when


def cluster_numbers(topics: Sequence[str], clusters: Mapping[str, str]) -> npt.NDArray[np.int64] | None:
    """(T,) which topics are in one cluster; None if no two of them are. clusters: by topic; without those that are in
    none."""
    names = [("cluster", clusters[topic]) if topic in clusters else ("topic", topic) for topic in topics]
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return None if len(numbers) == len(topics) else np.array([numbers[name] for name in names], dtype=np.int64)
