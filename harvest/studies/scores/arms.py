"""Systems that were played in arms, and the values of their conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harvest.audits.groups import grouped_name
from harvest.studies.scores import trial_values
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Judges, Material, score_material
from harvest.studies.scores.trial_values import Key, Values
from recordings.files.json_text import Json
from recordings.log.run_folder import Run
from scoring.inference.interval import Interval
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term
from scoring.settings import Settings, scoring_settings
from topics.errors import InputError, Place
from topics.source_table import SourceTable


@dataclass(frozen=True, slots=True)
class ArmedSystem:
    """A system of a run that was played in arms.

    `names` maps each arm to its system's name in the recording; the first arm is the control. `continued` is true
    if sessions continue from topic to topic. `users` has the arms whose simulated users differ from the control's
    users. `of` is the system that answered. `group` is the group of its users, or "" if the audit names no groups.
    `levels` maps each arm to its level of each factor; it is {} if the audit names arms instead of factors.
    """

    name: str
    run: Run
    names: Mapping[str, str]
    continued: bool
    users: frozenset[str] = frozenset()
    of: str = ""
    group: str = ""
    levels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def control(self) -> str:
        return next(iter(self.names))


@dataclass(frozen=True, slots=True)
class GatheredArms:
    """The systems of a run that was played in arms. `wanted` has the measures. `values` is keyed by the system's
    name in the recording. `factors` maps each factor to its levels in the audit's order; it is {} if the audit
    names arms instead. `designed` is true if the audit has a design. `judges` and `changes` are as in `gather_arms`."""

    systems: tuple[ArmedSystem, ...]
    material: Material
    settings: Settings
    wanted: Mapping[Key, Measure]
    values: Mapping[str, Values]
    notes: tuple[str, ...]
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    designed: bool = False
    judges: Judges = field(default_factory=Judges)
    changes: Mapping[str, Any] = field(default_factory=dict)

    def figure_intervals(self) -> dict[tuple[str, Key], Interval]:
        """Return the intervals that `harvest score` prints for figures over all topics, by the system's name in the
        recording."""
        table = score_material(
            self.material,
            self.changes,
            measures=[measure.term for measure in self.wanted.values()],
            only=True,
            schema=self.judges.criteria,
            judges=self.judges.precedence,
            trial_intervals=False,
        )
        return {
            (row.system, (row.measure, row.turn)): Interval(
                row.low, row.high, row.interval or "", row.resampled or "", row.note
            )
            for row in table.rows
            if row.topic is None and row.topic_type is None and row.trial is None
        }


def is_armed(run: Run) -> bool:
    """Return true if a system of the run was played in arms."""
    return any(isinstance(one, dict) and "arm" in one for one in run.header.systems.values())


def armed_systems(run: Run) -> tuple[ArmedSystem, ...]:
    """Return the systems of a run that were played in arms. Raises InputError if there are none."""
    own: dict[tuple[str, str], dict[str, str]] = {}
    users: dict[tuple[tuple[str, str], str], Json] = {}
    continued: set[str] = set()
    levels: dict[str, Mapping[str, str]] = {}
    for name, definition in run.header.systems.items():
        match definition:
            case {"system": str(system), "arm": str(arm), **rest}:
                met = system, str(rest.get("group") or "")
                own.setdefault(met, {})[arm] = name
                match rest:
                    case {"changes": {"users": other}}:
                        users[met, arm] = other
                match rest:
                    case {"levels": dict(those)}:
                        levels[arm] = {str(factor): str(level) for factor, level in those.items()}
                if rest.get("session") == "continued":
                    continued.add(system)
    if not own:
        raise InputError(
            "this run was not played in arms",
            place=Place(str(run.path)),
            advice="add `arms` to its audit, or compare systems with `harvest compare`",
        )
    audit = run.header.audit if isinstance(run.header.audit, dict) else {}
    listed = audit.get("arms")
    order = {str(arm): place for place, arm in enumerate(listed)} if isinstance(listed, list) else {}
    found = []
    for (system, group), unordered in own.items():
        names = dict(sorted(unordered.items(), key=lambda one: order.get(one[0], len(order))))
        control, *others = names
        met = system, group
        acting = frozenset(arm for arm in others if users.get((met, arm)) != users.get((met, control)))
        name = grouped_name(system, group) if group else system
        own_levels = {arm: levels[arm] for arm in names if arm in levels}
        found.append(ArmedSystem(name, run, names, system in continued, acting, system, group, own_levels))
    return tuple(found)


def gather_arms(
    run: Run,
    *,
    measures: Sequence[Term] = (),
    changes: Mapping[str, Any] | None = None,
    judges: Judges | None = None,
    sources: SourceTable | None = None,
) -> GatheredArms:
    """Compute the values of every system that was played in arms. `measures` must have values for single
    conversations; () means ave%useful. `changes` override the audit's scoring settings. `judges` selects whose
    judgments SWAN and WAN use (see `measure_values`). `sources` replaces the run's table of sources. Raises InputError
    for a run without arms and for a measure without values for single conversations."""
    systems = armed_systems(run)
    material = gather_runs(run, sources=sources).material
    settings = scoring_settings(material.scoring, material.topics, material.gold, changes or {})
    judges = judges or Judges()
    wanted = wanted_measures(measures or (Term(MEAN_USEFUL.name),), settings, material, judges)
    names = [name for system in systems for name in system.names.values()]
    others = [measure for measure in wanted.values() if measure.declaration not in trial_values.SHARES]
    computed, notes = trial_values.measure_values(names, material, others, settings, judges)
    values = {name: {**trial_values.share_values(name, material), **computed[name]} for name in names}
    listed = run.header.audit.get("factors") if isinstance(run.header.audit, dict) else None
    factors = listed.items() if isinstance(listed, dict) else ()
    levels = {name: tuple(map(str, own)) for name, own in factors if isinstance(own, list)}
    designed = isinstance(run.header.audit, dict) and "design" in run.header.audit
    return GatheredArms(systems, material, settings, wanted, values, notes, levels, designed, judges, changes or {})


def wanted_measures(
    terms: Sequence[Term], settings: Settings, material: Material, judges: Judges
) -> dict[Key, Measure]:
    """Return the requested measures by name and turn. Raises InputError for measures without values for single
    conversations."""
    schema, found = judges.criteria, dict[Key, Measure]()
    for term in terms:
        for measure in trial_values.read_single(term, settings, material.topics, schema):
            one = measure.declaration
            trial_values.refuse_turn(term, measure.turn, max(material.turns.values(), default=1))
            name = one.name if one in trial_values.SHARES else str(measure.base)
            found[name, (measure.turn or 1) if one is USEFUL else None] = measure
    return found
