"""One measure's values for several systems, aligned over the topics that all of them answered."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.inference.in_time import WIDENED_P, TimeDependence, time_dependence
from scoring.inference.paired import linear_values
from scoring.inference.sessions import session_variance
from topics.arrays import Floats

# A topic's id and the number of a trial.
Trial = tuple[str, int]

# A conversation's numerator and denominator: (value, 1) for a measure, (useful, asked) for a share; NaN, or a
# denominator of 0, without a value. The figure of a topic is the ratio of its sums.
Cell = tuple[float, float]

_FEW_OF_A_KIND = 10  # conversations: with fewer, t over trials covers too little


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Values of m systems on the T topics for which all of them have a value.

    - `above`, `below`: (T, m) numerators and denominators. A figure is the ratio of their sums over topics.
    - `noise`: (T, m) variances of a topic's value over other trials; NaN with fewer than two trials.
    - `trials`: (T, m) numbers of conversations with a value.
    - `left_out`: the topics for which some system has no value.
    - `pooled`: True if figures are ratios of sums over all conversations, False if they are means over topics.
    - `sessions`: (m,) numbers of sessions that run through all topics; 0 if each conversation has its own session.
    - `shared`: (m,) variances of the figure over other sessions; NaN with fewer than two sessions.
    - `scarce`: (m,) True for a ratio of sums to which each conversation contributes several items, if too few
      conversations have items of one kind: items of one conversation depend on each other, so their number says little.
    - `clusters`: (T,) cluster numbers of the topics; None if all topics are independent.
    - `in_time`: by system with known times, the test of dependence in time. If its p is at most .1, trials near each
      other are treated as alike, and `noise` is multiplied by the inflation.
    - `moments`: by system with fresh sessions, two (T, trials) arrays, NaN for a missing trial: each trial's
      contribution to its topic's figure, and the start of each trial. Columns are trial numbers.
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
    scarce: npt.NDArray[np.bool_]
    clusters: npt.NDArray[np.int64] | None = None
    in_time: Mapping[str, TimeDependence] = field(default_factory=dict)
    moments: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def figures(self) -> Floats:
        """Figures of the systems, (m,); NaN if the denominators sum to 0."""
        return _ratio(self.above, self.below)

    @property
    def values(self) -> Floats:
        """Contributions of topics, (T, m). The mean of a column over topics is the system's figure."""
        return linear_values(self.above, self.below)

    @property
    def topic_figures(self) -> Floats:
        """Figures of single topics, (T, m); NaN if a topic's denominator is 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.above / self.below

    def figures_without_each_topic(self) -> Floats:
        """Return the figures of the systems over all topics but one, as (T, m)."""
        every = np.arange(len(self.topics))
        rest = (np.delete(every, topic) for topic in every)
        return np.array([_ratio(self.above[kept], self.below[kept]) for kept in rest]).reshape(self.above.shape)


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
    """Align systems over the topics for which all of them have a value.

    If `pooled`, the figure is the ratio of sums over all conversations, as for %recovery, and topics that contribute
    nothing are left out. If not, the means of all topics have the same weight. `continued` names the systems in which
    all trials with one number belong to one session through all topics. `clusters` maps topics to clusters, and an
    unmapped topic is a cluster of its own. `times` are the starts of trials, by system. With `in_time`, dependence
    between trials that are near in time is tested and, if found, inflates the noise.
    """
    by_topic: dict[str, list[list[Cell]]] = {topic: [[] for _ in systems] for topic in topics}
    numbers: dict[str, list[list[int]]] = {topic: [[] for _ in systems] for topic in topics}
    for place, system in enumerate(systems):
        for (topic, trial), cell in cells.get(system, {}).items():
            there = cell[0] == cell[0]  # not NaN
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
    scarce = np.zeros(len(systems), dtype=bool)
    hanging, moments = dict[str, TimeDependence](), dict[str, tuple[Floats, Floats]]()
    played = sorted({number for own in numbers.values() for side in own for number in side})
    places = {number: at for at, number in enumerate(played)}
    noise, shared, sessions = np.full(shape, np.nan), np.full(len(systems), np.nan), np.zeros(len(systems), np.int64)
    for column, system in enumerate(systems):
        if not whole[column] > 0:
            continue  # without a figure there is no variance
        if pooled:
            over = np.concatenate([own[column] for own in common.values()])
            kinds = (over[:, 0] > 0).sum(), (over[:, 1] > over[:, 0]).sum()
            scarce[column] = over[:, 1].max() > 1 and min(kinds) < _FEW_OF_A_KIND
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
            added, began = np.full((2, len(common), len(places)), np.nan)
            rows = {topic: row for row, topic in enumerate(common)}
            for (topic, number), value in apart.items():
                at = rows[topic], places[number]
                added[at], began[at] = value, times[system].get((topic, number), math.nan)
            moments[system] = added, began
        if in_time and system in moments:
            hanging[system] = time_dependence(*moments[system])
            if hanging[system].p <= WIDENED_P:
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
        scarce,
        cluster_numbers(tuple(common), clusters or {}),
        hanging,
        moments,
    )


def cluster_numbers(topics: Sequence[str], clusters: Mapping[str, str]) -> npt.NDArray[np.int64] | None:
    """Return (T,) cluster numbers of topics, or None if no two topics share a cluster."""
    names = [("cluster", clusters[topic]) if topic in clusters else ("topic", topic) for topic in topics]
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return None if len(numbers) == len(topics) else np.array([numbers[name] for name in names], dtype=np.int64)
