"""Estimate how much the trials of runs vary, for `harvest variance`.

For each system and measure, the study has the variance components between topics and between trials of a topic, how
often trials disagree, how often all of k trials pass, whether the means of first, second, … trials differ, and
whether answers depend on their position in a session. With several systems, the study also has the component
between systems.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np

from harvest.studies.runs.readings import Contrast
from harvest.studies.runs.side_by_side import failures_clause, run_names
from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Judges, Material
from harvest.studies.scores.trial_values import Key, Values, measure_values, read_single, refuse_turn
from harvest.studies.validity.echoes import echo_sentences
from harvest.studies.variance.facets import Group, facet_groups, system_facets
from recordings.conversations.outlines import examples, kinds
from recordings.log.run_folder import Run
from scoring.inference import instability
from scoring.inference.bootstrap import Resampler
from scoring.inference.carry_over import CarryOver, carry_over
from scoring.inference.components import Crossed, Nested, across_systems, within_system
from scoring.inference.design import Design
from scoring.inference.interval import Interval, no_interval
from scoring.inference.losses import reasons_withheld
from scoring.inference.spreads import Range
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term, parse
from scoring.settings import Settings
from scoring.table import is_percentage
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import generator

# Measures of trials with a value for each conversation.
_TRIAL_SHARES = (USEFUL, MEAN_USEFUL)

_DEFAULT_MEASURES = (f"{USEFUL.name} S1", MEAN_USEFUL.name)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over topics. `value` is NaN if no topic has a value. `trials` is the number of trials with a value in
    these `topics`."""

    value: float
    topics: int
    trials: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class SystemVariance:
    """The variation of one measure of one system. `passes` has pass^k by k, or is None if trials do not simply pass
    or fail. `disagree` is the share of topics whose trials differ, and `pairs` the share of pairs of a topic's
    trials that differ. `carried` is None without continued sessions, and for a measure that is not a share.
    `fresh` is the name of the same system with fresh sessions."""

    system: str
    key: Key
    split: Nested
    passes: Mapping[int, Figure] | None
    disagree: Figure
    pairs: Figure
    whole_trials: instability.Instability
    carried: CarryOver | None
    fresh: str | None

    def drop_intervals(self, why: str) -> "SystemVariance":
        """Return a copy without intervals and p. `why` explains their absence."""
        none, carried = no_interval(why), self.carried
        passes = self.passes and {k: replace(one, interval=none) for k, one in self.passes.items()}
        if carried is not None:
            carried = replace(carried, p=math.nan, p_lost=math.nan, found=None, interval=none, interval_lost=none)
        return replace(
            self,
            split=self.split.drop_intervals(why),
            passes=passes,
            disagree=replace(self.disagree, interval=none),
            pairs=replace(self.pairs, interval=none),
            whole_trials=replace(self.whole_trials, p=math.nan),
            carried=carried,
        )


@dataclass(frozen=True, slots=True)
class VarianceStudy:
    """The variation in several runs. `each` has the results by measure and system. `between` has, by measure, the
    components for each group of systems that differ in one facet (the system itself, its arm, its kind of
    session or its run). `topics` is the number of topics that all runs tried. `contrasts` are the differences
    between the runs, and `recorded` has the name of each system's run."""

    systems: tuple[str, ...]
    topics: int
    each: Mapping[Key, Sequence[SystemVariance]]
    between: Mapping[Key, Sequence[tuple[Group, Crossed]]]
    settings: Settings
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    runs: tuple[str, ...] = ()
    recorded: Mapping[str, str] = field(default_factory=dict)


def study_variance(
    runs: Sequence[Run] | Gathered,
    *,
    systems: Sequence[str] = (),
    measures: Sequence[Term] = (),
    ks: Sequence[int] = (),
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
    judges: Judges | None = None,
) -> VarianceStudy:
    """Estimate how much the trials of `systems` vary, in the given order; () means all systems of the runs.

    `measures` must be measures of single conversations or shares of their turns; () means %useful of the first turn
    and ave%useful. `ks` are the values of k in pass^k; () means 2 and the number of trials that every topic has.
    `changes` override the audit's scoring settings. `judges` selects whose judgments SWAN and WAN use (see
    `measure_values`). Raises InputError for runs that cannot be compared, an unknown system, a measure without
    values for single conversations, and a turn that no conversation can have.
    """
    gathered = gather_runs(runs, changes)
    runs, material, settings = gathered.runs, gathered.material, gathered.settings
    chosen = _choose_systems(systems, material)
    criteria = (judges or Judges()).criteria
    asked = [
        (term, one)
        for term in measures or tuple(map(parse, _DEFAULT_MEASURES))
        for one in read_single(term, settings, material.topics, criteria, _TRIAL_SHARES)
    ]
    others = [one for _, one in asked if one.declaration not in _TRIAL_SHARES]
    kinds = system_facets(gathered)
    twins: dict[str, str] = {}  # systems with continued sessions, and the same ones with fresh sessions in the same run
    for group in facet_groups(kinds):
        if group.facet == "session":
            fresh = [name for name in group.names if kinds[name].session == "fresh"]
            twins.update({name: fresh[0] for name in group.names if fresh and name != fresh[0]})
    needed = tuple(dict.fromkeys((*chosen, *(twins[name] for name in chosen if name in twins))))
    scored, notes = measure_values(needed, material, others, settings, judges)
    values = {name: scored.get(name, {}) | gathered.shares(name) for name in needed}
    last = max((key[1] or 1 for own in values.values() for key in own), default=1)
    for term, measure in asked:
        refuse_turn(term, measure.turn, last)
    of_keys = {key: one for _, one in asked for key in _keys(one, values, scored)}
    resampler = Resampler(
        generator(seed, "variance"), replications=settings.replications, level=settings.level, resample="topics"
    )
    beside = list(facet_groups({name: kinds[name] for name in chosen}))
    study = _Study(material, settings, resampler, values, of_keys, twins, tuple(ks), seed)
    return VarianceStudy(
        systems=chosen,
        topics=len(material.topics.topics),
        each={key: [study.system_variance(name, key) for name in chosen] for key in of_keys},
        between={key: [(group, study.variance_between(group.names, key)) for group in beside] for key in of_keys},
        settings=settings,
        contrasts=gathered.beside.contrasts,
        notes=(
            *(() if systems or len(runs) > 1 else material.silent),
            *(one.sentence for one in material.withholding(chosen)),
            *notes,
            *echo_sentences(material.finished, chosen),
        ),
        runs=run_names(runs),
        recorded={name: place for place, names in zip(run_names(runs), gathered.names) for name in names.values()},
    )


def _choose_systems(systems: Sequence[str], material: Material) -> tuple[str, ...]:
    recorded = {one.key.system for one, _, _ in kinds(material.finished)}
    known = tuple(name for name in material.systems if name in recorded)
    for name in systems:
        if name not in known:
            raise InputError(
                f"no trial of a system {name!r} is valid", allowed=", ".join(known) or "none: no trial is valid"
            )
    if not known:
        raise InputError("no trial is valid, so nothing varies", advice=failures_clause())
    return tuple(dict.fromkeys(systems)) or known


def _keys(measure: Measure, values: Mapping[str, Values], scored: Mapping[str, Values]) -> Iterator[Key]:
    """Yield the keys of a measure. %useful without a turn stands for the keys of all turns."""
    if measure.declaration is MEAN_USEFUL or measure.turn is not None:
        yield measure.declaration.name, measure.turn
    elif measure.declaration is USEFUL:
        found = {key[1] or 0 for own in values.values() for key in own if key[0] == USEFUL.name}
        yield from ((USEFUL.name, turn) for turn in sorted(found))
    else:
        known = dict.fromkeys(key for own in scored.values() for key in own)
        yield from known if (measure.name, None) not in known else ((measure.name, None),)


@dataclass(frozen=True, slots=True)
class _Study:
    material: Material
    settings: Settings
    resampler: Resampler
    values: Mapping[str, Values]
    measures: Mapping[Key, Measure]
    twins: Mapping[str, str]
    ks: tuple[int, ...]
    seed: int

    def system_variance(self, name: str, key: Key) -> SystemVariance:
        cells = self._cells(name, key)
        split = within_system(cells, level=self.settings.level, within=self._range(key))
        if why := self._reason_dependent([name], cells):
            split = split.drop_intervals(why)
        passes = self._passes(name, cells) if np.isin(cells[~np.isnan(cells)], (0.0, 1.0)).all() else None
        apart, pairs = instability.has_disagreement(cells), instability.differing_share(cells)
        carried = self._carry_over(name, key, cells) if is_percentage(key[0]) else None
        found = SystemVariance(
            system=name,
            key=key,
            split=split,
            passes=passes,
            disagree=self._figure(name, apart, cells, "no topic has two trials"),
            pairs=self._figure(name, pairs, cells, "no topic has two trials"),
            whole_trials=instability.between_trials(cells, self._rng("whole trials", name, key)),
            carried=carried,
            fresh=self.twins.get(name) if carried is not None and carried.fresh else None,
        )
        lost = self._reason_withheld([name], key)
        return found.drop_intervals(lost) if lost else found

    def variance_between(self, systems: Sequence[str], key: Key) -> Crossed:
        tables = [self._cells(name, key) for name in systems]
        widest = max(table.shape[1] for table in tables)
        filled = [np.pad(table, ((0, 0), (0, widest - table.shape[1])), constant_values=np.nan) for table in tables]
        found = across_systems(np.stack(filled), level=self.settings.level, within=self._range(key))
        why = self._reason_withheld(systems, key) or self._reason_dependent(systems, *tables)
        return found.drop_intervals(why) if why else found

    def _range(self, key: Key) -> Range:
        return Range(*self.measures[key].range, has_top=self.measures[key].declaration.has_top)

    def _reason_withheld(self, systems: Sequence[str], key: Key) -> str:
        """Return why these systems have no intervals (losses depend on answers, or users differ), or ""."""
        lost = {
            name: lost_attempts(key, self.measures[key], name, self.values, self.material, self._topics)
            for name in systems
        }
        beside = [lost[one].losses_in_comparison(other) for one, other in permutations(systems, 2)]
        return reasons_withheld(beside or [own.losses_in_comparison("") for own in lost.values()])

    def _reason_dependent(self, systems: Sequence[str], *tables: Floats) -> str:
        """Return why intervals that treat topics and trials as independent would be too narrow, or ""."""
        if together := [name for name in systems if name in self.material.continued]:
            return f"sessions of {', '.join(together)} go on from topic to topic, so trials are not independent"
        # Row by row: runs may have different numbers of trials.
        there = [
            one for one, *own in zip(self._topics, *tables, strict=True) if not all(np.isnan(row).all() for row in own)
        ]
        if Design(self.material.topics.clusters).has_clusters(there):
            return "topics of one cluster hang together, and a spread takes topics as independent"
        return ""

    @property
    def _topics(self) -> list[str]:
        return [topic.id for topic in self.material.topics.topics]

    def _cells(self, system: str, key: Key) -> Floats:
        own = self.values[system].get(key, {})
        rows = {topic.id: row for row, topic in enumerate(self.material.topics.topics)}
        trials = sorted({trial for _, trial in own}) or [1]
        columns = {trial: column for column, trial in enumerate(trials)}
        cells = np.full((len(rows), len(columns)), np.nan)
        for (topic, trial), (value, over) in own.items():
            if over > 0:
                cells[rows[topic], columns[trial]] = value / over
        return cells

    def _passes(self, system: str, cells: Floats) -> dict[int, Figure]:
        counts = (~np.isnan(cells)).sum(axis=1)
        least = int(counts[counts > 0].min(initial=cells.shape[1]))
        wanted = self.ks or tuple(sorted({min(2, least), least}))
        return {
            k: self._figure(system, instability.chance_of_all(cells, k), cells, f"no topic has {k} trials")
            for k in dict.fromkeys(wanted)
            if k
        }

    def _figure(self, system: str, each: Floats, cells: Floats, none: str) -> Figure:
        """Average `each`, of shape (topics,) with NaN for no value, as `harvest score` does. Continued sessions
        have no interval, because a session is in all topics, and a topic's figure over its trials cannot be
        split by session."""
        there = ~np.isnan(each)
        if not there.any():
            return Figure(math.nan, 0, 0, no_interval(none))
        if system in self.material.continued:
            interval = no_interval(self._reason_dependent([system], cells))
        else:
            resampler = self.resampler.with_design(Design(self.material.topics.clusters))
            (interval,) = resampler.means(self._topics, each[:, None, None])
        return Figure(float(each[there].mean()), int(there.sum()), int((~np.isnan(cells[there])).sum()), interval)

    def _carry_over(self, name: str, key: Key, cells: Floats) -> CarryOver | None:
        own = self.values[name].get(key, {})
        rows = {topic.id: row for row, topic in enumerate(self.material.topics.topics)}
        columns = {trial: column for column, trial in enumerate(sorted({trial for _, trial in own}))}
        places = np.full(cells.shape, np.nan)
        for trial, _, one in examples(self.material.finished):
            if trial.system == name and (trial.topic, trial.trial) in own:
                places[rows[trial.topic], columns[trial.trial]] = one.place
        if not (places > 1).any():
            return None
        twin = self.twins.get(name)
        fresh = self._cells(twin, key) if twin is not None else None
        types = [topic.type.name for topic in self.material.topics.topics]
        rng = self._rng("carry-over", name, key)
        return carry_over(cells, places, types, rng, level=self.settings.level, fresh=fresh)

    def _rng(self, purpose: str, name: str, key: Key) -> np.random.Generator:
        return generator(self.seed, "variance", purpose, name, *map(str, key))
