"""Estimate how robust systems are, from a run played in arms, for `harvest robustness`.

Each arm is compared with the control over matched trials. Users of the same topic and trial draw the same random
numbers in all arms, so that only the arm and the system's own randomness differ.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial

import numpy as np

from harvest.studies.runs.sources import sources
from harvest.studies.scores.arms import ArmedSystem, GatheredArms
from harvest.studies.scores.lost_attempts import loss_notes, lost_attempts
from harvest.studies.scores.trial_values import Key, Values, key_name
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import end_name
from recordings.files.json_text import Json
from scoring.inference.aligned import Cell, Trial, align
from scoring.inference.components import Component, across_systems
from scoring.inference.interval import Interval, no_interval
from scoring.inference.losses import End, SideWithLosses
from scoring.inference.matched import Difference, compare_family, difference, simultaneous_level, within_bounds
from scoring.inference.spreads import Range
from scoring.measure import Measure
from scoring.settings import Settings
from scoring.statistics.flips import Flips, count_flips
from topics.identity import generator

_ROUNDING = 1e-12  # rounding: sums in another order must compare as equal on every machine


@dataclass(frozen=True, slots=True)
class OpeningChange:
    """How much an arm changed the users' first turns. `openings` is the number of matched openings, and `other` the
    number of openings with a different text than in the control. `words` is the mean share of words that differ,
    in [0, 1], or NaN without openings."""

    openings: int
    other: int
    words: float


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The behaviour of users in the valid conversations of an arm. `turns` is the mean number of user turns; it is
    NaN without conversations. `acts` are shares of user turns and `ends` are shares of conversations, both
    ordered by frequency."""

    conversations: int
    turns: float
    acts: Mapping[str, float]
    ends: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class MeasureOverArms:
    """One measure in every arm of a system.

    `figures` has each arm's figure as in `harvest score` (NaN without a value), `intervals` its interval as there,
    and `topics` its number of topics.
    `differences` has each arm's difference from the control, with both figures computed over matched trials; p is
    corrected over all arms and measures (Holm). `spread` is the variance component of arms over topics like these,
    without the part due to chance. Unless some arm is found to differ, the interval of `spread` starts at 0.

    `worst` is the arm farthest below the control (above the control, if low is good) over matched trials. If no arm
    is below the control, `worst` is the control. If no arm differs or has a value, `worst` is "". `apart` is the
    worst arm's difference from the control, and `interval` allows for having chosen the worst arm. Both are
    undefined if the control is the worst, and if sessions continue from topic to topic.
    """

    key: Key
    measure: Measure
    figures: Mapping[str, float]
    intervals: Mapping[str, Interval]
    topics: Mapping[str, int]
    differences: Mapping[str, Difference]
    spread: Component
    worst: str
    apart: float
    interval: Interval

    @property
    def label(self) -> str:
        return key_name(self.key)

    def differs_from_printed(self, arm: str) -> bool:
        """Return true if an arm's difference, because trials are missing, is not the difference of printed figures."""
        one, control = self.differences[arm], next(iter(self.figures))
        return one.n > 0 and (
            abs(one.other - self.figures[arm]) > _ROUNDING or abs(one.base - self.figures[control]) > _ROUNDING
        )


@dataclass(frozen=True, slots=True)
class Robustness:
    """One system in all its arms. `flips` compares the first answers of each arm with the first answers of the
    control. `behaviour` covers the control and the arms with other users; without such arms, it is {}. `family`
    is the number of differences in the correction of p. `invalid` is the number of trials without a valid
    attempt, which no figure includes."""

    system: ArmedSystem
    settings: Settings
    measures: tuple[MeasureOverArms, ...]
    flips: Mapping[str, Flips]
    changed: Mapping[str, OpeningChange]
    behaviour: Mapping[str, Behaviour]
    family: int
    trials: int
    invalid: Mapping[str, int]
    sources: tuple[Mapping[str, Json], ...]
    notes: tuple[str, ...]


def robustness(armed: GatheredArms, *, seed: int = 0) -> tuple[Robustness, ...]:
    """Compare the arms of every system with its control. `seed` is for resampling."""
    intervals = armed.figure_intervals()
    return tuple(_compare_arms(system, armed, intervals, seed) for system in armed.systems)


def _compare_arms(
    system: ArmedSystem, armed: GatheredArms, intervals: Mapping[tuple[str, Key], Interval], seed: int
) -> Robustness:
    material, wanted, values, settings = armed.material, armed.wanted, armed.values, armed.settings
    topics = [topic.id for topic in material.topics.topics]
    control, others = system.control, [arm for arm in system.names if arm != system.control]
    lost = Counter(key.system for key in material.invalid)
    done = {(one.key.system, one.key.topic, one.key.trial): one for one in material.finished}
    dependent = material.withholding(tuple(system.names.values()))
    gone = {
        (key, name): lost_attempts(key, measure, name, values, material, topics)
        for key, measure in wanted.items()
        for name in system.names.values()
    }

    def difference_of_arm(key: Key, arm: str, level: float) -> Difference:
        declared = wanted[key].declaration
        base, other = (system.names[one] for one in (control, arm))
        below = SideWithLosses(values[base].get(key, {}), gone[key, base].losses_in_comparison(other))
        above = SideWithLosses(values[other].get(key, {}), gone[key, other].losses_in_comparison(base))

        def between(end: End) -> Difference:
            return difference(
                topics,
                below.cells_at(end, against=True),
                above.cells_at(end),
                generator(seed, "arms", "exchange", system.name, *map(str, key), arm),
                level=level,
                reach=declared.reach,
                pooled=declared.pooled,
                continued=system.continued,
                clusters=material.topics.clusters,
                invalid=lost[base] + lost[other],
            )

        return within_bounds(between, (below, above))

    def interval_at(key: Key, arm: str, level: float) -> Interval:
        return difference_of_arm(key, arm, level).interval

    each = {(key, arm): difference_of_arm(key, arm, settings.level) for key in wanted for arm in others}
    tested = dict(
        zip(each, compare_family(list(each.values()), [math.nan] * len(each), level=settings.level), strict=True)
    )
    bounded = {arm for (_, arm), one in tested.items() if one.bounds is not None}
    matched = {arm: _match_pairs(done, system.names[control], system.names[arm]) for arm in others}
    return Robustness(
        system=system,
        settings=settings,
        measures=tuple(
            _compare_in_measure(
                key,
                measure,
                system,
                topics,
                values,
                {arm: tested[key, arm] for arm in others},
                {arm: intervals.get((name, key), no_interval()) for arm, name in system.names.items()},
                settings,
                partial(interval_at, key),
                generator(seed, "arms", "worst", system.name, *map(str, key)),
            )
            for key, measure in wanted.items()
        ),
        flips={arm: _count_reversals(pairs) for arm, pairs in matched.items()},
        changed={arm: _count_changes(pairs) for arm, pairs in matched.items()},
        behaviour={
            arm: _behaviour([one for one in material.finished if one.key.system == name])
            for arm, name in system.names.items()
            if system.users and (arm == control or arm in system.users)
        },
        family=sum(not math.isnan(one.p) for one in tested.values()),
        trials=max((key.trial for key in material.planned), default=0),
        invalid={arm: lost[name] for arm, name in system.names.items()},
        sources=tuple(sources([system.run])),
        notes=(
            *armed.notes,
            *(f"{one.sentence}." for one in dependent),
            *loss_notes(
                (system.names[arm] for arm in system.names if arm in bounded or (bounded and arm == control)), material
            ),
        ),
    )


def _compare_in_measure(
    key: Key,
    measure: Measure,
    system: ArmedSystem,
    topics: Sequence[str],
    values: Mapping[str, Values],
    differences: Mapping[str, Difference],
    intervals: Mapping[str, Interval],
    settings: Settings,
    interval_of: Callable[[str, float], Interval],
    rng: np.random.Generator,
) -> MeasureOverArms:
    pooled = measure.declaration.pooled
    cells = {arm: values[name].get(key, {}) for arm, name in system.names.items()}
    own = {arm: align(topics, (arm,), {arm: each}, pooled=pooled) for arm, each in cells.items()}
    sign = 1.0 if measure.declaration.better(measure.term) == "low" else -1.0
    apart = {system.control: 0.0} | {arm: one.value for arm, one in differences.items() if one.value == one.value}
    worst = max(apart, key=lambda arm: sign * apart[arm]) if any(apart.values()) else ""
    spread = _spread_of_arms(measure, cells, topics, settings)
    told = spread.agree_with_test(any(one.beyond for one in differences.values()))
    if any(one.bounds is not None for one in differences.values()):
        told = told.drop_interval("what was lost in arms could have been like the control, or unlike it")
    far, interval = math.nan, no_interval()
    if worst not in ("", system.control) and not system.continued:
        others = [arm for arm in apart if arm != system.control]
        # A ratio of sums is not a mean over topics, so signs of topics cannot be drawn: Bonferroni's level applies.
        common = () if pooled else tuple(topics)
        together = align(common, (system.control, *others), cells, pooled=pooled).values
        level = simultaneous_level(together[:, 1:] - together[:, :1], rng, level=settings.level)
        far, interval = differences[worst].value, interval_of(worst, level)
    return MeasureOverArms(
        key=key,
        measure=measure,
        figures={arm: float(one.figures[0]) for arm, one in own.items()},
        intervals=intervals,
        topics={arm: len(one.topics) for arm, one in own.items()},
        differences=differences,
        spread=told,
        worst=worst,
        apart=far,
        interval=interval,
    )


def _spread_of_arms(
    measure: Measure, cells: Mapping[str, Mapping[Trial, Cell]], topics: Sequence[str], settings: Settings
) -> Component:
    """Return the variance component of arms. For a ratio of sums, it is undefined, as in `harvest variance`."""
    if measure.declaration.pooled:
        return Component(math.nan, no_interval("a ratio over all conversations is no mean over trials"))
    trials = sorted({trial for own in cells.values() for _, trial in own})
    table = np.full((len(cells), len(topics), len(trials)), np.nan)
    for place, own in enumerate(cells.values()):
        for (topic, trial), (above, below) in own.items():
            if below > 0:
                table[place, topics.index(topic), trials.index(trial)] = above / below
    within = Range(*measure.range, has_top=measure.declaration.has_top)
    return across_systems(table, level=settings.level, within=within).system


Pair = tuple[Conversation, Conversation]


def _match_pairs(done: Mapping[tuple[str, str, int], Conversation], control: str, arm: str) -> list[Pair]:
    return [
        (one, done[arm, topic, trial])
        for (system, topic, trial), one in done.items()
        if system == control and (arm, topic, trial) in done
    ]


def _count_changes(pairs: Sequence[Pair]) -> OpeningChange:
    openings = [(one.turns[0].said, other.turns[0].said) for one, other in pairs if one.turns and other.turns]
    kept = [SequenceMatcher(None, a.split(), b.split(), autojunk=False).ratio() for a, b in openings]
    return OpeningChange(
        len(openings), sum(a != b for a, b in openings), 1 - float(np.mean(kept)) if kept else math.nan
    )


def _behaviour(conversations: Sequence[Conversation]) -> Behaviour:
    acts = Counter(turn.act or turn.state for one in conversations for turn in one.turns)
    ends = Counter(end_name(one.outcome) for one in conversations if one.outcome is not None)
    turns = float(np.mean([len(one.turns) for one in conversations])) if conversations else math.nan
    return Behaviour(len(conversations), turns, _shares(acts), _shares(ends))


def _shares(counts: Counter[str]) -> dict[str, float]:
    return {name: count / counts.total() for name, count in counts.most_common()}


def _count_reversals(pairs: Sequence[Pair]) -> Flips:
    by_topic: dict[str, tuple[list[bool], list[bool]]] = {}
    for pair in pairs:
        for side, one in enumerate(pair):
            label = one.turns[0].label if one.turns else None
            if label in (USEFUL, NOT_USEFUL):
                by_topic.setdefault(one.key.topic, ([], []))[side].append(label == USEFUL)
    return count_flips(by_topic)
