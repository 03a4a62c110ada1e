"""From a run that was played in arms to how robust its systems are: what `harvest robustness` shows.

Each arm is set beside the control over matched trials, since users of one topic and trial draw the same numbers in all
arms. What then differs is what the arm changed, and the system's own chance.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial

import numpy as np

from harvest.studies.runs.sources import sources
from harvest.studies.scores.arms import Armed, ArmedSystem
from harvest.studies.scores.lost_attempts import Cells, lost_attempts, within_bounds
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import Key, Values
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import end_name
from recordings.files.json_text import Json
from scoring.inference.components import Component, across_systems
from scoring.inference.interval import Interval, no_interval
from scoring.inference.matched import Difference, compare, difference
from scoring.inference.spreads import Range
from scoring.inference.together import level_together
from scoring.measure import Measure
from scoring.measures.usefulness import RECOVERY
from scoring.settings import Settings
from scoring.statistics.flips import Flips, count_flips
from topics.identity import generator


@dataclass(frozen=True, slots=True)
class Changed:
    """What an arm really changed, over matched openings. openings: how many there are. other: in how many the words
    differ from the control's. words: mean share of words that differ, in [0, 1]; NaN without an opening."""

    openings: int
    other: int
    words: float


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What users of an arm did, over its valid conversations. turns: mean user turns; NaN without a conversation. acts:
    by name, the share of user turns; ends: by name, the share of conversations; both with the most frequent first."""

    conversations: int
    turns: float
    acts: Mapping[str, float]
    ends: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class MeasureOverArms:
    """One measure. figures: by arm, the mean over the topics that all arms have a value of; NaN without one. n: topics.
    differences: by arm except the control, corrected over all arms and measures (Holm).

    spread: variance component of the arms, over topics like these, chance taken off; its interval starts at 0 unless an
    arm is found to differ, so that the two say one thing. worst: the arm with the lowest
    figure (the highest, where low is good) of those played, "" where all are equal or undefined. apart: how far it is
    from the control, over the same topics, with an interval that holds although the arm was chosen for being worst; NaN
    where the control is worst, and where sessions go on from topic to topic.
    """

    key: Key
    measure: Measure
    figures: Mapping[str, float]
    n: int
    differences: Mapping[str, Difference]
    spread: Component
    worst: str
    apart: float
    interval: Interval

    @property
    def label(self) -> str:
        name, turn = self.key
        return f"{name} S{turn}" if turn else name


@dataclass(frozen=True, slots=True)
class Robustness:
    """One system over its arms. flips: by arm, of first answers. behaviour: of the control and of the arms with other
    users; {} where no arm has any. family: differences that the correction is over. invalid: by arm, trials without a
    valid attempt, in no figure."""

    system: ArmedSystem
    settings: Settings
    measures: tuple[MeasureOverArms, ...]
    flips: Mapping[str, Flips]
    changed: Mapping[str, Changed]
    behaviour: Mapping[str, Behaviour]
    family: int
    trials: int
    invalid: Mapping[str, int]
    sources: tuple[Mapping[str, Json], ...]
    notes: tuple[str, ...]


def robustness(armed: Armed, *, seed: int = 0) -> tuple[Robustness, ...]:
    """Of every system that was played in arms. seed: of resampling."""
    return tuple(
        _over_arms(system, armed.material, armed.wanted, armed.values, armed.settings, seed, armed.notes)
        for system in armed.systems
    )


def _over_arms(
    system: ArmedSystem,
    material: Material,
    wanted: Mapping[Key, Measure],
    values: Mapping[str, Values],
    settings: Settings,
    seed: int,
    notes: tuple[str, ...],
) -> Robustness:
    topics = [topic.id for topic in material.topics.topics]
    control, others = system.control, [arm for arm in system.names if arm != system.control]
    lost = Counter(key.system for key in material.invalid)
    done = {(one.key.system, one.key.topic, one.key.trial): one for one in material.finished}

    clusters = material.topics.clusters

    dependent = material.withholding(tuple(system.names.values()))

    def apart(key: Key, arm: str, level: float) -> Difference:
        declared = wanted[key].declaration

        def between(base: Cells, other: Cells) -> Difference:
            return difference(
                topics,
                base,
                other,
                generator(seed, "arms", "exchange", system.name, *map(str, key), arm),
                level=level,
                reach=declared.range[1] - declared.range[0] if declared.has_top else math.inf,
                pooled=declared is RECOVERY,
                continued=system.continued,
                clusters=clusters,
                invalid=lost[system.names[control]] + lost[system.names[arm]],
            )

        base, other = (system.names[one] for one in (control, arm))
        sides = values[base].get(key, {}), values[other].get(key, {})
        if not dependent:
            return between(*sides)
        gone = (
            lost_attempts(key, wanted[key], base, values, material, topics).beside(other),
            lost_attempts(key, wanted[key], other, values, material, topics).beside(base),
        )
        return within_bounds(between, sides, gone)

    def interval_at(key: Key, arm: str, level: float) -> Interval:
        return apart(key, arm, level).interval

    each = {(key, arm): apart(key, arm, settings.level) for key in wanted for arm in others}
    tested = dict(zip(each, compare(list(each.values()), [math.nan] * len(each), level=settings.level), strict=True))
    matched = {arm: _matched(done, system.names[control], system.names[arm]) for arm in others}
    return Robustness(
        system=system,
        settings=settings,
        measures=tuple(
            _measure(
                key,
                measure,
                system,
                topics,
                values,
                {arm: tested[key, arm] for arm in others},
                settings,
                partial(interval_at, key),
                generator(seed, "arms", "worst", system.name, *map(str, key)),
            )
            for key, measure in wanted.items()
        ),
        flips={arm: _flips(pairs) for arm, pairs in matched.items()},
        changed={arm: _changed(pairs) for arm, pairs in matched.items()},
        behaviour={
            arm: _behaviour([one for one in material.finished if one.key.system == name])
            for arm, name in system.names.items()
            if system.users and (arm == control or arm in system.users)
        },
        family=sum(not math.isnan(one.p) for one in tested.values()),
        trials=max((key.trial for key in material.planned), default=0),
        invalid={arm: lost[name] for arm, name in system.names.items()},
        sources=tuple(sources([system.run])),
        notes=(*notes, *(f"{one.sentence}." for one in dependent)),
    )


def _measure(
    key: Key,
    measure: Measure,
    system: ArmedSystem,
    topics: Sequence[str],
    values: Mapping[str, Values],
    differences: Mapping[str, Difference],
    settings: Settings,
    interval_of: Callable[[str, float], Interval],
    rng: np.random.Generator,
) -> MeasureOverArms:
    """interval_of: an arm's difference from the control, at a level."""
    cells = [values[name].get(key, {}) for name in system.names.values()]
    trials = sorted({trial for own in cells for _, trial in own})
    table = np.full((len(cells), len(topics), len(trials)), np.nan)
    for place, own in enumerate(cells):
        for (topic, trial), (above, below) in own.items():
            if below > 0:
                table[place, topics.index(topic), trials.index(trial)] = above / below
    sums = np.array([[_ratio(own, topic) for topic in topics] for own in cells])
    there = ~np.isnan(sums).any(axis=0)
    figures = sums[:, there].mean(axis=1) if there.any() else np.full(len(cells), math.nan)
    by_arm = dict(zip(system.names, map(float, figures), strict=True))
    low_is_good = measure.declaration.better(measure.term) == "low"
    worst = ""
    if there.any() and float(np.ptp(figures)) > 0:
        worst = (max if low_is_good else min)(by_arm, key=lambda arm: by_arm[arm])
    within = Range(*measure.range, has_top=measure.declaration.has_top)
    spread = across_systems(table, level=settings.level, within=within).system
    told = spread.from_0_unless(any(one.beyond for one in differences.values()))
    apart, interval = math.nan, no_interval()
    if worst not in ("", system.control) and not system.continued:
        level = level_together((sums[1:, there] - sums[0, there]).T, rng, level=settings.level)
        apart, interval = differences[worst].value, interval_of(worst, level)
    return MeasureOverArms(key, measure, by_arm, int(there.sum()), differences, told, worst, apart, interval)


def _ratio(cells: Mapping[tuple[str, int], tuple[float, float]], topic: str) -> float:
    own = [cell for (of, _), cell in cells.items() if of == topic and cell[1] > 0 and not math.isnan(cell[0])]
    below = math.fsum(cell[1] for cell in own)
    return math.fsum(cell[0] for cell in own) / below if below else math.nan


Pair = tuple[Conversation, Conversation]


def _matched(done: Mapping[tuple[str, str, int], Conversation], control: str, arm: str) -> list[Pair]:
    """The control's and the arm's conversation of each trial that both have."""
    return [
        (one, done[arm, topic, trial])
        for (system, topic, trial), one in done.items()
        if system == control and (arm, topic, trial) in done
    ]


def _changed(pairs: Sequence[Pair]) -> Changed:
    openings = [(one.turns[0].said, other.turns[0].said) for one, other in pairs if one.turns and other.turns]
    kept = [SequenceMatcher(None, a.split(), b.split(), autojunk=False).ratio() for a, b in openings]
    return Changed(len(openings), sum(a != b for a, b in openings), 1 - float(np.mean(kept)) if kept else math.nan)


def _behaviour(conversations: Sequence[Conversation]) -> Behaviour:
    acts = Counter(turn.act or turn.state for one in conversations for turn in one.turns)
    ends = Counter(end_name(one.outcome) for one in conversations if one.outcome is not None)
    turns = float(np.mean([len(one.turns) for one in conversations])) if conversations else math.nan
    return Behaviour(len(conversations), turns, _shares(acts), _shares(ends))


def _shares(counts: Counter[str]) -> dict[str, float]:
    return {name: count / counts.total() for name, count in counts.most_common()}


def _flips(pairs: Sequence[Pair]) -> Flips:
    """Of the topics, by the labels of first answers."""
    by_topic: dict[str, tuple[list[bool], list[bool]]] = {}
    for pair in pairs:
        for side, one in enumerate(pair):
            label = one.turns[0].label if one.turns else None
            if label in (USEFUL, NOT_USEFUL):
                by_topic.setdefault(one.key.topic, ([], []))[side].append(label == USEFUL)
    return count_flips(by_topic)
