"""The runs of a comparison: all over the topics that they have in common, or each over topics of its own."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harvest.studies.runs import side_by_side
from harvest.studies.runs.readings import Contrast, recorded_scoring
from harvest.studies.runs.sources import sources
from harvest.studies.scores import trial_values
from harvest.studies.scores.arms import armed_systems, is_armed
from harvest.studies.scores.gathered import Gathered, Recorded, gather_runs
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Judges, Material
from harvest.studies.scores.trial_values import Key, Values
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.conversations.outlines import Outlines, kinds
from recordings.files.json_text import Json
from recordings.files.times import unix_seconds
from scoring.inference.aligned import Trial
from scoring.inference.losses import LostTrials, join_losses
from scoring.library import declared
from scoring.measure import Measure
from scoring.measures.usefulness import USEFUL
from scoring.notation import Term
from scoring.settings import SETTINGS, Settings
from scoring.table import ScoreTable
from topics.counting import pluralize
from topics.errors import InputError


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The topic sets of a comparison. `sets` has the runs of each set, prepared for studies: all runs, if there is one
    set; otherwise one run for each set. `names` are the names of the sets. Systems with the same name are one system in
    all sets. `contrasts` are the differences between the runs."""

    sets: tuple[Gathered, ...]
    names: tuple[str, ...]
    contrasts: tuple[Contrast, ...]

    @property
    def first(self) -> Gathered:
        return self.sets[0]

    @property
    def sources(self) -> list[dict[str, Json]]:
        """Descriptions of the runs (see `harvest.studies.runs.sources`)."""
        return self.first.sources if len(self.sets) == 1 else sources([run for one in self.sets for run in one.runs])

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems with a valid conversation in some topic set."""
        return tuple(dict.fromkeys(name for one in self.sets for name in _answering(one.material)))

    @property
    def silent(self) -> tuple[str, ...]:
        """The systems that were asked but have no valid conversation."""
        asked, answering = dict.fromkeys(name for one in self.sets for name in one.material.systems), {*self.systems}
        return tuple(name for name in asked if name not in answering)

    @property
    def continued(self) -> frozenset[str]:
        """The systems whose sessions continue from topic to topic."""
        return frozenset().union(*(one.material.continued for one in self.sets))

    @property
    def clusters(self) -> Mapping[str, str]:
        """The clusters, by topic; topics without a cluster are left out. A cluster is within one topic set."""
        if len(self.sets) == 1:
            return self.first.material.topics.clusters
        return {
            topic: f"{name}: {cluster}"
            for name, one in zip(self.names, self.sets, strict=True)
            for topic, cluster in one.material.topics.clusters.items()
        }

    def choose_systems(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Return the requested systems; () means all systems that have a valid conversation in every topic set. If all
        are returned, arms come before their controls, which gives differences the signs of `harvest robustness`."""
        first, *others = (_answering(one.material) for one in self.sets)
        known = [name for name in first if all(name in other for other in others)]
        for name in systems:
            if name not in known:
                why, advice = f"{name!r} is not a system of these runs", None
                if any(one.startswith(f"{name} [") for one in known):
                    advice = f"choose a cell of {name}, or compare systems over all cells: harvest robustness RUN"
                if name in self.silent:
                    why = side_by_side.no_valid_trials_clause([name])
                elif name in self.systems:
                    why = f"{name!r} did not answer in each of these runs, which have different topics"
                raise InputError(why, allowed=", ".join(known) or "none", advice=advice)
        chosen = tuple(dict.fromkeys(systems)) or tuple(known)
        if len(chosen) < 2 and self.silent and not systems:
            raise InputError(
                f"a comparison needs two systems, but {side_by_side.no_valid_trials_clause(self.silent)}",
                advice=side_by_side.failures_clause(),
            )
        if len(chosen) < 2:
            found = pluralize(len(chosen), "system")
            each = " in each run" if len(self.sets) > 1 else ""
            raise InputError(
                f"a comparison needs two systems, but got {found} with valid conversations{each}",
                advice="give a run of several systems, or several runs",
            )
        if systems:
            return chosen
        controls = set()
        for gathered in self.sets:
            for run, own in zip(gathered.runs, gathered.names, strict=True):
                armed = armed_systems(run) if is_armed(run) else ()
                controls |= {own[name] for one in armed if (name := one.names[one.control]) in own}
        return (*(name for name in chosen if name not in controls), *(name for name in chosen if name in controls))

    def parts(self, chosen: Sequence[str], *, by_type: bool) -> list[tuple[str | None, list[str]]]:
        """Return the topics that the `chosen` systems were asked: all, named None, then those of each of several topic
        sets, then, with `by_type`, those of each type."""
        played = [
            [topic for topic in one.material.topics.topics if topic.id in asked]
            for one in self.sets
            for asked in [
                {found.key.topic for found, _, _ in kinds(one.material.finished) if found.key.system in chosen}
            ]
        ]
        topics = [topic for own in played for topic in own]
        parts: list[tuple[str | None, list[str]]] = [(None, [topic.id for topic in topics])]
        if len(self.sets) > 1:
            parts += [(name, [topic.id for topic in own]) for name, own in zip(self.names, played, strict=True)]
        types = dict.fromkeys(topic.type.name for topic in topics) if by_type else ()
        return parts + [(name, [topic.id for topic in topics if topic.type.name == name]) for name in types]

    def start_times(self, chosen: Sequence[str]) -> dict[str, dict[Trial, float]]:
        """Return the start of each trial in Unix seconds, by system, for the systems that have any."""
        found: dict[str, dict[Trial, float]] = {name: {} for name in chosen}
        for each in self.sets:
            for key, began in _starts(each.material.finished):
                if key.system in found and math.isfinite(began):
                    found[key.system][key.topic, key.trial] = began
        return {name: own for name, own in found.items() if own}

    def values(
        self,
        chosen: Sequence[str],
        others: Sequence[str],
        terms: Sequence[Term],
        scored: ScoreTable | None,
        judges: Judges,
    ) -> tuple[dict[str, Values], dict[Key, Measure], tuple[str, ...]]:
        """Return the values of the `chosen` systems and of `others`, the measures to compare, and notes. () as terms
        means the measures that `harvest score` shows by default. `scored` is as in `compare_runs`."""
        values: dict[str, Values] = {name: {} for name in (*chosen, *others)}
        keys: dict[Key, Measure] = {}
        notes: dict[str, None] = {}
        for one in self.sets:
            wanted = list(_understand_terms(terms, one.settings, one.material, judges))
            there = [name for name in values if name in one.material.systems]
            found, said = _system_values(there, one, wanted, scored, judges)
            keys = {**_compared_keys(wanted, {name: found[name] for name in chosen}, asked=bool(terms)), **keys}
            notes.update(dict.fromkeys(said))
            for name, own in found.items():
                for key, cells in own.items():
                    values[name][key] = {**values[name].get(key, {}), **cells}
        return values, keys, tuple(notes)

    def lost_attempts(
        self, key: Key, measure: Measure, system: str, values: Mapping[str, Values], topics: Sequence[str]
    ) -> LostTrials:
        """Return the losses of a system (see `harvest.studies.scores.lost_attempts`). `values` has the compared
        systems."""
        if len(self.sets) == 1:
            return lost_attempts(key, measure, system, values, self.first.material, topics)
        wanted = set(topics)
        own = [[topic.id for topic in one.material.topics.topics if topic.id in wanted] for one in self.sets]
        return join_losses(
            [
                lost_attempts(key, measure, system, values, one.material, each)
                for one, each in zip(self.sets, own, strict=True)
            ]
        )


def compared_runs(
    runs: Sequence[Recorded] | Gathered, changes: Mapping[str, Any] | None, *, across_scoring: bool, separate: bool
) -> ComparedRuns:
    """Prepare the runs of a comparison. The arguments are as in `compare_runs`; with `separate`, runs may have no topic
    in common. Raises InputError for runs that cannot be compared, such as those that have different systems with one
    name."""
    gathered = gather_runs(runs, changes)
    if across_scoring:
        first = Settings.of(recorded_scoring(gathered.runs[0]), gathered.changes)
        gathered = replace(gathered, changes={name: getattr(first, name) for name in SETTINGS})
    if not separate or not side_by_side.have_separate_topics(gathered.runs):
        return ComparedRuns((gathered,), ("",), gathered.beside.contrasts)
    contrasts = side_by_side.find_contrasts(gathered.runs, gathered.changes, separate=True).contrasts
    for one in contrasts:
        if one.what == "system":
            raise InputError(
                f"{one.said}; runs without a common topic must have the same systems",
                advice="give the systems different names, or compare each run by itself",
            )
    sets = tuple(gather_runs(run, gathered.changes, sources=gathered.sources_given) for run in gathered.runs)
    names = side_by_side.run_names(gathered.runs)
    topics = {
        name: list(dict.fromkeys(one.key.topic for one in each.runs[0].conversations))
        for name, each in zip(names, sets, strict=True)
    }
    counts = ", ".join(f"{len(own)} in {name}" for name, own in topics.items())
    said = f"topics: each run has its own ({counts}); figures are over all of them, then over those of each run"
    return ComparedRuns(sets, names, (Contrast("topics", said, {**topics}), *contrasts))


def _starts(finished: Sequence[Conversation]) -> Iterator[tuple[TrialKey, float]]:
    """Yield the start of each conversation in Unix seconds; NaN if it is unknown."""
    if isinstance(finished, Outlines):
        return zip(finished.keys, finished.started.tolist(), strict=True)
    return ((one.key, unix_seconds(one.started_at)) for one in finished)


def _answering(material: Material) -> list[str]:
    silent = side_by_side.silent_systems(material.systems, material.finished)
    return [name for name in material.systems if name not in silent]


def _understand_terms(
    terms: Sequence[Term], settings: Settings, material: Material, judges: Judges
) -> Iterator[Measure]:
    for term in terms or trial_values.usual_measures(material):
        yield from trial_values.read_single(term, settings, material.topics, judges.criteria)


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
