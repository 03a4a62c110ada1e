"""Compare groups of users within runs, for `harvest users groups`.

Each run is compared by itself. The header of a run lists which recorded systems are one system with several groups
of users. The protocol lists which groups say the same words. If such groups differ, the difference is due to the
system's own randomness.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from harvest.audits.groups import grouped_name, null_pairs_of
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.scores.trial_values import Key, read_single, row_values, share_values
from recordings.log.run_folder import Run
from scoring.inference.losses import End, LostTrials, SideWithLosses
from scoring.inference.matched import Difference, compare_family, difference, within_bounds
from scoring.library import read_term
from scoring.measures.group_fairness import FAIRNESS, SUMMARY
from scoring.measures.relevance import RELEVANCE
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term, parse
from scoring.scores import SHIPPED
from scoring.settings import Settings, scoring_settings
from scoring.swan.schema import load_schema
from scoring.table import ScoreRow, ScoreTable, has_top
from scoring.words import Unit, conversation_unit, length
from topics.errors import InputError, Place
from topics.identity import generator

# Shares over trials to which each conversation contributes.
_SHARES = (USEFUL, MEAN_USEFUL)


@dataclass(frozen=True, slots=True)
class GroupedSystem:
    """A system of a run and the groups of users that it met. `name` is the system's name, or `name@run` if several
    runs have the system. `names` maps each group, in the audit's order, to the system's name in the recording.
    `nulls` lists the pairs of groups that say the same words. `continued` is true if sessions continue from
    topic to topic."""

    name: str
    run: Run
    names: Mapping[str, str]
    nulls: tuple[tuple[str, str], ...]
    continued: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The groups of one system, compared with the group `base`.

    `figures` has score rows by measure and group. `differences` has each group's difference from the base. `nulls`
    has the differences of null pairs, second group minus first. If a pair includes the base, the base comes first.
    `family` is the number of comparisons in the correction of p. `words` is the mean length of the user's first
    turn by group. `unit` is the unit of this length in most conversations.
    """

    system: GroupedSystem
    base: str
    measures: tuple[Key, ...]
    figures: Mapping[tuple[Key, str], ScoreRow]
    differences: Mapping[tuple[Key, str], Difference]
    nulls: Mapping[tuple[Key, str, str], Difference]
    family: int
    settings: Settings
    words: Mapping[str, float]
    unit: Unit
    notes: tuple[str, ...]


def grouped_systems(runs: Sequence[Run]) -> tuple[GroupedSystem, ...]:
    """Return the systems of `runs` that met several groups of users. Raises InputError for a run without groups,
    and for a system that was played with only one group."""
    found: list[tuple[str, Run, dict[str, str], bool]] = []
    for run in runs:
        own: dict[str, dict[str, str]] = {}
        continued: set[str] = set()
        for name, definition in run.header.systems.items():
            match definition:
                case {"system": str(system), "group": str(group), **rest}:
                    if arm := str(rest.get("arm") or ""):
                        system = grouped_name(system, arm)
                    own.setdefault(system, {})[group] = name
                    if rest.get("session") == "continued":
                        continued.add(system)
        if not own:
            raise InputError(
                "this run has no groups of users",
                place=Place(str(run.path)),
                advice="add `groups` to its audit, and use a protocol with a persona, such as fair-treatment",
            )
        found += [(system, run, names, system in continued) for system, names in own.items()]
    often = Counter(system for system, *_ in found)
    folders = Counter(run.path.resolve().name for run in runs)
    grouped = []
    for system, run, names, goes_on in found:
        if len(names) < 2:
            raise InputError(
                f"{system!r} was played with only one group", place=Place(str(run.path)), advice="play a second group"
            )
        folder = run.path.resolve().name
        name = system if often[system] == 1 else f"{system}@{folder if folders[folder] == 1 else run.path}"
        # In the audit's order, so that a group added later is in its place.
        audit = run.header.audit
        audited = audit.get("groups") if isinstance(audit, dict) else None
        order = {str(group): place for place, group in enumerate(audited)} if isinstance(audited, list) else {}
        names = dict(sorted(names.items(), key=lambda entry: order.get(entry[0], len(order))))
        protocol = run.header.played_protocol()
        grouped.append(
            GroupedSystem(name, run, names, () if protocol is None else null_pairs_of(protocol, tuple(names)), goes_on)
        )
    return tuple(grouped)


def compare_groups(
    systems: Sequence[GroupedSystem],
    *,
    measures: Sequence[Term] = (),
    base: str | None = None,
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> list[Comparison]:
    """Compare the groups of every system with the group `base`, by default the first group, in each measure.
    `measures` must have values for single conversations; () means the default measures. `changes` override the
    audit's scoring settings. Raises InputError for an unknown base and for a measure without values for single
    conversations."""
    found, last = [], None
    for system in systems:
        if base is not None and base not in system.names:
            raise InputError(f"{system.name!r} was not played with a group {base!r}", allowed=", ".join(system.names))
        if last is None or last[0] is not system.run:
            last = (system.run, *_score_run(system.run, measures, changes, seed))
        _, material, table, settings = last
        found.append(
            _compare_group(system, base or next(iter(system.names)), material, table, settings, measures, seed)
        )
    return found


def _score_run(
    run: Run, measures: Sequence[Term], changes: Mapping[str, Any] | None, seed: int
) -> tuple[Material, ScoreTable, Settings]:
    material = gather_runs(run).material
    settings = scoring_settings(material.scoring, material.topics, material.gold, changes)
    of_gold = (RELEVANCE, FAIRNESS, SUMMARY) if material.gold is not None else ()
    wanted = measures or [Term(one.name) for one in (*_SHARES, *of_gold)]
    for term in wanted:
        read_single(term, settings, material.topics, load_schema(SHIPPED), _SHARES)
    return material, score_material(material, changes, seed=seed, measures=wanted, only=True), settings


def _compare_group(
    system: GroupedSystem,
    base: str,
    material: Material,
    table: ScoreTable,
    settings: Settings,
    asked: Sequence[Term],
    seed: int,
) -> Comparison:
    names = system.names
    values = {group: row_values(name, table) | share_values(name, material) for group, name in names.items()}
    own = [row for row in table.joint if row.system in names.values()]
    figures = {
        ((row.measure, row.turn), group): row
        for group, name in names.items()
        for row in own
        if row.system == name and row.topic is None and row.trial is None and row.topic_type is None
    }
    keys = [key for key in dict.fromkeys(key for key, _ in figures) if asked or key[1] in (None, 1)]
    topics = [topic.id for topic in material.topics.topics]
    recorded = {names[group]: own for group, own in values.items()}
    dependent = material.withholding(recorded)
    understood = {key: read_term(parse(key[0]), settings, material.topics, load_schema(SHIPPED))[0] for key in keys}

    @cache
    def lost_trials(key: Key, name: str) -> LostTrials:
        return lost_attempts(key, understood[key], name, recorded, material, topics)

    def between(key: Key, one: str, other: str) -> Difference:
        lost, missing = _count_unpaired(material, names[one], names[other])

        below, above = (
            SideWithLosses(
                values[group].get(key, {}), lost_trials(key, names[group]).losses_in_comparison(names[beside])
            )
            for group, beside in ((one, other), (other, one))
        )

        def apart(end: End) -> Difference:
            return difference(
                topics,
                below.cells_at(end, against=True),
                above.cells_at(end),
                generator(seed, "groups", "exchange", system.name, *map(str, key), one, other),
                level=settings.level,
                reach=1.0 if has_top(key[0]) else math.inf,
                continued=system.continued,
                clusters=material.topics.clusters,
                invalid=lost,
                unplayed=missing,
            )

        return within_bounds(apart, (below, above))

    pairs = [(two, one) if two == base else (one, two) for one, two in system.nulls]
    nulls = {(key, *pair): between(key, *pair) for key in keys for pair in pairs}
    twins = {base, *(other for one, other in pairs if one == base)}
    tested = [(key, group) for key in keys for group in names if group not in twins]
    noise = {key: [abs(one.value) for (of, *_), one in nulls.items() if of == key and one.n] for key in keys}
    differences = compare_family(
        [between(key, base, group) for key, group in tested],
        [max(noise[key], default=math.nan) for key, _ in tested],
        level=settings.level,
    )
    units = Counter(
        conversation_unit(one, settings.unit) for one in material.finished if one.key.system in names.values()
    )
    unit: Unit = "characters" if units["characters"] > units["words"] else "words"
    return Comparison(
        system=system,
        base=base,
        measures=tuple(keys),
        figures=figures,
        differences=dict(zip(tested, differences, strict=True)),
        nulls=nulls,
        family=sum(not math.isnan(one.p) for one in differences),
        settings=settings,
        words={group: _mean_opening_length(material, name, unit) for group, name in names.items()},
        unit=unit,
        notes=(
            *table.notes,
            *(f"{one.sentence}." for one in dependent),
        ),
    )


def _count_unpaired(material: Material, one: str, other: str) -> tuple[int, int]:
    """Return how many trials have an invalid side, and how many have a side that was not recorded."""
    sides = (one, other)
    done = Counter((one.key.topic, one.key.trial) for one in material.finished if one.key.system in sides)
    lost = {(key.topic, key.trial) for key in material.invalid if key.system in sides}
    planned = {(key.topic, key.trial) for key in material.planned if key.system in sides}
    return len(lost), len((planned | done.keys()) - lost - {trial for trial, count in done.items() if count == 2})


def _mean_opening_length(material: Material, system: str, unit: Unit) -> float:
    counts = [length(one.turns[0].said, unit) for one in material.finished if one.key.system == system and one.turns]
    return sum(counts) / len(counts) if counts else math.nan
