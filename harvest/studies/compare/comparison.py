"""Compare systems of recorded runs, for `harvest compare`."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from harvest.studies.compare.reference import Reference, add_standardised, choose_reference
from harvest.studies.runs.readings import Contrast, recorded_scoring
from harvest.studies.runs.side_by_side import failures_clause, no_valid_trials_clause, silent_systems
from harvest.studies.scores import trial_values
from harvest.studies.scores.arms import armed_systems, is_armed
from harvest.studies.scores.gathered import Gathered, Recorded, gather_runs, requested_terms
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Judges, Material
from harvest.studies.scores.trial_values import Key, Values
from harvest.studies.trees.parted_systems import PartedSystems, cores, parted_systems
from harvest.studies.validity.concentrations import Concentration
from harvest.studies.validity.user_card import UserDifference
from harvest.tables.comparison_words import better_system, interval_words, measure_name, p_text, signed
from recordings.files.json_text import Json
from recordings.files.times import unix_seconds
from scoring.comparison.pairs import MeasureComparison, compare_pairs
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.losses import LostTrials, fill_losses
from scoring.inference.paired import Estimand, Guard
from scoring.library import declared, read_term
from scoring.measure import Declaration, Measure
from scoring.measures.usefulness import RECOVERY, USEFUL
from scoring.notation import Term
from scoring.settings import SETTINGS, Settings
from scoring.table import ScoreTable, is_percentage, shown_value
from topics.counting import pluralize
from topics.errors import InputError
from topics.html_table import html_table
from topics.identity import generator

_SESSION_NOTE = (
    "Sessions of {} go on from topic to topic, so answers of one session depend on each other: intervals and p take "
    "each session whole, and where conversations part is not tested."
)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """A comparison of systems in every measure.

    `runs` describes the compared runs (see `harvest.studies.runs.sources`), and `contrasts` the differences between
    the runs. `measures` starts with the comparisons over all topics; comparisons by topic type follow if requested.
    `invalid` is each system's number of trials without a valid attempt, and `unplayed` its number of planned trials
    that were not recorded. No figure includes such trials. `parted` describes where the conversations of each pair
    of systems diverge. `recorded` maps each system to its run folder and to its name in that run. Systems in
    `selected` lost trials depending on their own answers. Systems in `unlike` met users who spoke differently to
    another system. `standardised` has the form of standardised scores and the systems of their reference group, or is
    None.
    """

    runs: tuple[Mapping[str, Json], ...]
    systems: tuple[str, ...]
    estimand: Estimand
    guard: Guard
    settings: Settings
    seed: int
    measures: tuple[MeasureComparison, ...]
    invalid: Mapping[str, int]
    unplayed: Mapping[str, int]
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    parted: tuple[PartedSystems, ...] = ()
    recorded: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    selected: frozenset[str] = frozenset()
    unlike: frozenset[str] = frozenset()
    standardised: Reference | None = None

    @property
    def dependent(self) -> frozenset[str]:
        """Systems whose pairs have no winner."""
        return self.selected | self.unlike

    def __repr__(self) -> str:
        topics = max((len(one.topics) for one in self.measures), default=0)
        compared = f"{pluralize(len(self.measures), 'measure')} over {pluralize(topics, 'topic')}"
        return f"<Comparison of {', '.join(self.systems)}: {compared}>"

    def _repr_html_(self) -> str:
        of = "topics like these" if self.estimand == "like-these" else "these topics"
        return html_table(
            f"{repr(self)[1:-1]}; intervals and p are for {of}",
            ("measure", "first", "second", "its figure", "its figure", "first − second", "p, corrected", "better"),
            (
                (
                    measure_name(one),
                    pair.first,
                    pair.second,
                    *(shown_value(one.measure, one.figures[name]) for name in (pair.first, pair.second)),
                    f"{signed(one, pair.value)} {interval_words(pair.interval, share=is_percentage(one.measure))}",
                    p_text(pair.corrected),
                    better_system(pair),
                )
                for one in self.measures
                for pair in one.pairs
            ),
        )


def compare_runs(
    runs: Sequence[Recorded] | Gathered,
    *,
    systems: Sequence[str] = (),
    measures: Sequence[str | Term | Declaration] = (),
    estimand: Estimand = "like-these",
    guard: Guard = "unseen",
    by_type: bool = False,
    across_scoring: bool = False,
    ratios: bool = False,
    standardised: Reference | None = None,
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
    scored: ScoreTable | None = None,
    judges: Judges | None = None,
) -> Comparison:
    """Compare systems over the topics that all systems tried in the same wording, as `harvest compare` does.

    `runs` are run folders, or runs that were already read. `systems` are compared in the given order; () means all
    systems of the runs. `measures` are as in `harvest.score_runs`, but () means those that `harvest score` shows by
    default. `by_type` repeats the comparison for each type of topic. With `guard="unseen"`, intervals for topics like
    these allow for a kind of topic that was not sampled. `across_scoring` scores every run with the first audit's
    settings, even if the audits differ. `ratios` adds the ratio of the figures to each pair, and `standardised` the
    standardised scores of each measure. `changes` override the audits' scoring settings. If `scored` has scores of
    these runs under the audits' settings, they are reused.
    `judges` selects whose judgments SWAN and WAN use (see `measure_values`).

    Raises InputError for fewer than two systems, for a reference group of fewer than three, for a measure that has no
    value for a single topic, and for runs that cannot be compared.
    """
    gathered = gather_runs(runs, changes)
    if across_scoring:
        first = Settings.of(recorded_scoring(gathered.runs[0]), gathered.changes)
        gathered = replace(gathered, changes={name: getattr(first, name) for name in SETTINGS})
    material, settings = gathered.material, gathered.settings
    chosen = _choose_systems(gathered, systems)
    relative = choose_reference(material, standardised) if standardised is not None else None
    known = tuple(dict.fromkeys((*chosen, *(relative.systems if relative else ()))))
    continued = tuple(name for name in chosen if name in material.continued)
    judges = judges or Judges()
    wanted = list(_understand_terms(requested_terms(measures), settings, material, judges))
    values, notes = _system_values(known, gathered, wanted, scored, judges)
    keys = _compared_keys(wanted, {name: values[name] for name in chosen}, asked=bool(measures))
    played = {one.key.topic for one in material.finished if one.key.system in chosen}
    parts: list[tuple[str | None, list[str]]] = [(None, [t.id for t in material.topics.topics if t.id in played])]
    if by_type:
        types = dict.fromkeys(t.type.name for t in material.topics.topics if t.id in played)
        own = {t.id: t.type.name for t in material.topics.topics}
        parts += [(name, [topic for topic in parts[0][1] if own[topic] == name]) for name in types]
    times = _start_times(material, chosen)
    with cores() as pool:
        found = [
            pool.submit(
                compare_cells,
                key,
                measure,
                {name: values[name].get(key, {}) for name in chosen},
                {name: lost_attempts(key, measure, name, values, material, topics) for name in chosen},
                partial(
                    align,
                    topics,
                    chosen,
                    pooled=measure.declaration is RECOVERY,
                    continued=continued,
                    clusters=material.topics.clusters,
                    times=times,
                    in_time=estimand == "these",
                ),
                part,
                settings.level,
                estimand,
                guard,
                seed,
                ratios=ratios,
            )
            for part, topics in parts
            for key, measure in keys.items()
        ]
        parted, none = _part_systems(gathered, chosen, continued, seed)
        compared = tuple(one.result() for one in found)
    if relative is not None:
        compared, undefined = add_standardised(compared, relative, values, keys, material, settings.level, guard, seed)
        notes = (*notes, *undefined)
    dependent = material.withholding(chosen)
    done = Counter(one.key.system for one in material.finished)
    lost = Counter(key.system for key in material.invalid)
    planned = Counter(key.system for key in material.planned)
    return Comparison(
        runs=tuple(gathered.sources),
        systems=chosen,
        estimand=estimand,
        guard=guard,
        settings=settings,
        seed=seed,
        measures=compared,
        invalid={name: lost[name] for name in chosen},
        unplayed={name: max(0, planned[name] - done[name] - lost[name]) for name in chosen},
        contrasts=gathered.beside.contrasts,
        notes=(
            *(() if systems or len(gathered.runs) > 1 else material.silent),
            *material.alike,
            *material.reread,
            *notes,
            *(_missing_notes(keys, values, chosen) if measures else ()),
            *none,
            *([_SESSION_NOTE.format(", ".join(continued))] if continued else ()),
            *(f"{one.sentence}." for one in dependent),
        ),
        parted=parted,
        recorded=gathered.recorded,
        selected=frozenset(one.system for one in dependent if isinstance(one, Concentration)),
        unlike=frozenset(one.system for one in dependent if isinstance(one, UserDifference)),
        standardised=relative,
    )


def compare_cells(
    key: Key,
    measure: Measure,
    cells: Mapping[str, Mapping[Trial, Cell]],
    lost: Mapping[str, LostTrials],
    aligned: Callable[[Mapping[str, Mapping[Trial, Cell]]], Aligned],
    part: str | None,
    level: float,
    estimand: Estimand,
    guard: Guard,
    seed: int,
    *,
    ratios: bool = False,
) -> MeasureComparison:
    """Compare all pairs of systems in one measure. `cells` has each system's values, and `lost` its losses.
    `aligned` restricts cells to the common topics. `part` is a type of topic, or None for all topics."""
    of = measure.declaration

    def extreme(low: str, high: str) -> Aligned:
        moved = {
            low: fill_losses(cells[low], lost[low].losses_in_comparison(high), high=False),
            high: fill_losses(cells[high], lost[high].losses_in_comparison(low), high=True),
        }
        return aligned({**cells, **moved})

    return compare_pairs(
        *key,
        aligned(cells),
        generator(seed, "comparison", *map(str, key), str(part)),
        estimand=estimand,
        level=level,
        good=of.better(measure.term),
        reach=of.reach,
        topic_type=part,
        guard=guard,
        lost=lost,
        extreme=extreme,
        ratios=ratios,
    )


def _part_systems(
    gathered: Gathered, chosen: Sequence[str], continued: Collection[str], seed: int
) -> tuple[tuple[PartedSystems, ...], tuple[str, ...]]:
    """Return where the conversations of each pair diverge, or a note on why this is unknown."""
    finished, level = gathered.material.finished, gathered.settings.level
    if not any(turn.label for one in finished for turn in one.turns):
        return (), ("no answer has a label, so it cannot be said where the conversations part",)
    states: dict[str, tuple[str, ...]] = {}  # by system, those of its run's protocol, if it has any
    for run, names in zip(gathered.runs, gathered.names, strict=True):
        protocol = run.header.protocol
        own = protocol.get("states") if isinstance(protocol, dict) else None
        if isinstance(own, dict):
            states.update(dict.fromkeys(names.values(), tuple(own)))
    try:
        found = parted_systems(finished, chosen, level=level, seed=seed, continued=continued, states=states)
    except InputError as refused:
        return (), (f"it cannot be said where the conversations part: {refused.what}",)
    return found, ()


def _choose_systems(gathered: Gathered, systems: Sequence[str]) -> tuple[str, ...]:
    """Return the requested systems; () means all systems that have a valid conversation. If all are returned, arms
    come before their controls, which gives differences the signs of `harvest robustness`."""
    material = gathered.material
    silent = silent_systems(material.systems, material.finished)
    known = [name for name in material.systems if name not in silent]
    for name in systems:
        if name not in known:
            why = no_valid_trials_clause([name]) if name in silent else f"{name!r} is not a system of these runs"
            raise InputError(why, allowed=", ".join(known) or "none")
    chosen = tuple(dict.fromkeys(systems)) or tuple(known)
    if len(chosen) < 2 and silent and not systems:
        raise InputError(
            f"a comparison needs two systems, but {no_valid_trials_clause(silent)}", advice=failures_clause()
        )
    if len(chosen) < 2:
        raise InputError(
            f"a comparison needs two systems, but got {pluralize(len(chosen), 'system')} with valid conversations",
            advice="give a run of several systems, or several runs",
        )
    if systems:
        return chosen
    controls = set()
    for run, own in zip(gathered.runs, gathered.names, strict=True):
        armed = armed_systems(run) if is_armed(run) else ()
        controls |= {own[name] for one in armed if (name := one.names[one.control]) in own}
    return (*(name for name in chosen if name not in controls), *(name for name in chosen if name in controls))


def _start_times(material: Material, chosen: Sequence[str]) -> dict[str, dict[Trial, float]]:
    found: dict[str, dict[Trial, float]] = {name: {} for name in chosen}
    for one in material.finished:
        if one.key.system in found and math.isfinite(began := unix_seconds(one.started_at)):
            found[one.key.system][one.key.topic, one.key.trial] = began
    return {name: own for name, own in found.items() if own}


def _understand_terms(
    terms: Sequence[Term], settings: Settings, material: Material, judges: Judges
) -> Iterator[Measure]:
    for term in terms or trial_values.usual_measures(material):
        for measure in read_term(term, settings, material.topics, judges.criteria):
            trial_values.refuse_pooled(term, measure, "topics have no value of it to compare")
            yield measure


def _system_values(
    chosen: Sequence[str],
    gathered: Gathered,
    wanted: Sequence[Measure],
    scored: ScoreTable | None,
    judges: Judges,
) -> tuple[dict[str, Values], tuple[str, ...]]:
    others = [measure for measure in wanted if measure.declaration not in trial_values.SHARES]
    known = dict.fromkeys(row.measure for row in scored.joint) if scored is not None else {}
    names = {}  # in `scored`: settings turn `GFR` into `GFR(alpha=0.5)`; left out if several rows could be meant
    for measure in others:
        base = str(measure.base)
        bare = measure.base == Term(measure.base.name)
        own = [base] if base in known else [name for name in known if bare and declared(name) is measure.declaration]
        if len(own) == 1:
            names[base] = own[0]
    left = [measure for measure in others if str(measure.base) not in names]
    computed, notes = trial_values.measure_values(chosen, gathered.material, left, gathered.settings, judges)
    values: dict[str, Values] = {}
    for system in chosen:
        values[system] = {**(gathered.shares(system) if len(others) < len(wanted) else {}), **computed[system]}
        if scored is not None:
            kept = trial_values.row_values(system, scored)
            values[system] |= {(base, None): kept[name, None] for base, name in names.items() if (name, None) in kept}
    return values, notes


def _compared_keys(wanted: Sequence[Measure], values: Mapping[str, Values], *, asked: bool) -> dict[Key, Measure]:
    """Return the measures to compare, by name and turn, in the requested order. `%useful` without a turn becomes
    one measure for every turn that has values."""
    there = dict.fromkeys(key for own in values.values() for key in own)
    last = max((key[1] or 0 for key in there), default=0)
    found: dict[Key, Measure] = {}
    for measure in wanted:
        if measure.declaration is USEFUL:
            turns = range(1, last + 1) if measure.turn is None else (measure.turn,)
            trial_values.refuse_turn(measure.name, measure.turn, last)
            found.update({(USEFUL.name, turn): measure for turn in turns})
        elif asked or (str(measure.base), None) in there:
            found[str(measure.base), None] = measure
    return found


def _missing_notes(keys: Mapping[Key, Measure], values: Mapping[str, Values], chosen: Sequence[str]) -> Iterator[str]:
    """Yield a note, with the possible reason, for each measure without a value for some system."""
    for key, measure in keys.items():
        silent = [
            name
            for name in chosen
            if not any(weight and not math.isnan(value) for value, weight in values[name].get(key, {}).values())
        ]
        if silent:
            label = f"{key[0]} S{key[1]}" if key[1] else key[0]
            yield f"{label}, {', '.join(silent)}: no value: {measure.declaration.undefined}"
