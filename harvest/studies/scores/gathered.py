"""Recorded runs prepared once for every study: their differences, the names of their systems, and their material."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from harvest.studies.runs.outlined_run import OutlinedRun
from harvest.studies.runs.readings import recorded_scoring, recorded_thresholds, reread_sentence
from harvest.studies.runs.side_by_side import SideBySide, find_contrasts, refuse_repeated_runs, run_names
from harvest.studies.runs.sources import sources
from harvest.studies.scores.scorecard import Material, score_material
from harvest.studies.scores.trial_values import Values, share_values
from harvest.studies.validity.worded_turns import models_of
from recordings.conversations.conversation import Conversation
from recordings.conversations.outlines import by_system, kinds
from recordings.conversations.trial_sets import TrialSet
from recordings.events.events import TrialStarted
from recordings.files.json_text import Json
from recordings.judged.gold_layers import gold_table
from recordings.judged.judgments import Layer, read_layers
from recordings.judged.source_layers import source_table
from recordings.log.caps import prevented_trials, standings, stop_sentences
from recordings.log.header import Header, topic_value
from recordings.log.run_folder import Run, read
from recordings.log.shard import planned_trials, refuse_shard
from recordings.log.turn_counts import add_missing_turns, most_turns
from scoring.inference.design import Design
from scoring.library import make_known
from scoring.measure import Declaration
from scoring.notation import Term, parse_all
from scoring.settings import Settings, scoring_settings
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.table import ScoreTable
from simulators.probing.recorded import contains_probe
from topics.clusters import assign_clusters, joined_clusters
from topics.errors import InputError, Place
from topics.source_table import SourceTable
from topics.topic import TopicSet


@dataclass(frozen=True)  # without slots, for cached properties
class Gathered:
    """The runs of a study, created by `gather_runs` and shared between studies of the same runs.

    `changes` override the audits' scoring settings. `judged` means that a gold table is given, so that the gold of the
    runs is not compared. `sources_given` replaces what the runs know about sources. With `whole`, topics that not every
    run tried are included. Everything else is computed on first use and cached. InputError is raised on this first use
    if the runs cannot be compared or do not include their topics.
    """

    runs: tuple[Run, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = False
    whole: bool = False
    sources_given: SourceTable | None = None
    _shares: dict[str, Values] = field(default_factory=dict, init=False, repr=False, compare=False)
    _layers: dict[Path, tuple[Layer, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def beside(self) -> SideBySide:
        """The differences between the runs, and the topics that are omitted from all runs."""
        return find_contrasts(self.runs, self.changes, judged=self.judged, layers_of=self.layers_of)

    @cached_property
    def names(self) -> tuple[Mapping[str, str], ...]:
        """For each run, its systems' names mapped to their names in this study. If several runs have a system, its
        name in the study is `system@run`."""
        places = run_names(self.runs) if len(self.runs) > 1 else [""]
        recorded = Counter(system for run in self.runs for system in _recorded_systems(run))
        return tuple(
            {system: f"{system}@{place}" if recorded[system] > 1 else system for system in _systems(run)}
            for run, place in zip(self.runs, places, strict=True)
        )

    @cached_property
    def recorded(self) -> Mapping[str, tuple[Path, str]]:
        """The run folder of each system of this study, and the system's name in that run."""
        return {
            name: (run.path, own)
            for run, names in zip(self.runs, self.names, strict=True)
            for own, name in names.items()
        }

    @cached_property
    def sources(self) -> list[dict[str, Json]]:
        """Descriptions of the runs (see `harvest.studies.runs.sources`)."""
        return sources(self.runs)

    @cached_property
    def settings(self) -> Settings:
        """The scoring settings of the first run's audit, with `changes`."""
        material = self.material
        return scoring_settings(material.scoring, material.topics, material.gold, self.changes)

    def layers_of(self, run: Run) -> tuple[Layer, ...]:
        """Return the judgments by people, rules and models in a run, which are read only once."""
        if run.path not in self._layers:
            self._layers[run.path] = read_layers(run.path)
        return self._layers[run.path]

    def shares(self, system: str) -> Values:
        """Return the values of the share measures, which are computed only once for each system."""
        if system not in self._shares:
            self._shares[system] = share_values(system, self.material)
        return self._shares[system]

    @cached_property
    def material(self) -> Material:
        """The joint material of the runs, without omitted topics. Raises InputError for a shard, for a run without
        its topics, and for runs that use one name for different topics."""
        for run in self.runs:
            refuse_shard(run.header, run.path)
        left_out = frozenset() if self.whole or len(self.runs) == 1 else self.beside.left_out
        topics = _united_topics(self.runs, left_out)
        each = list(zip(self.runs, self.names, strict=True))
        alone = len(each) == 1  # then all names stay as in the run
        capped = [standings(run.header, run.attempts) for run in self.runs]
        cut = [prevented_trials(found) for found in capped]
        layers = [layer for run in self.runs for layer in self.layers_of(run)]
        gold = gold_table(layers, topics) if any(layer.kind == "gold" for layer in layers) else None
        about_sources = self.sources_given
        if about_sources is None:
            about_sources = source_table(layers) if layers else SourceTable()
        return Material(
            topics=replace(topics, sources=about_sources),
            systems=self._systems(),
            conversations=self.runs[0].outlines
            if isinstance(self.runs[0], OutlinedRun)
            else tuple(
                one
                if alone
                else replace(
                    one,
                    key=replace(one.key, system=names[one.key.system]),
                    trial_id=_unique_trial_id(one.trial_id, run),
                )
                for (run, names), unplayed in zip(each, cut, strict=True)
                for one in add_missing_turns(run.conversations, run.header)
                if one.key.topic not in left_out and one.key not in unplayed
            ),
            turns={
                (names[system], topic): most
                for run, names in each
                for (system, topic), most in most_turns(
                    run.header, [one.example for one in kinds(run.finished)]
                ).items()
                if topic not in left_out
            },
            planned=TrialSet.of(
                key if alone else replace(key, system=names[key.system])
                for (run, names), unplayed in zip(each, cut, strict=True)
                for key in planned_trials(run.header)
                if key.topic not in left_out and key not in unplayed
            ),
            gold=gold or None,
            scoring=recorded_scoring(self.runs[0]),
            thresholds=recorded_thresholds(self.runs[0]) if alone else (),
            damage=tuple(sentence for run in self.runs for sentence in run.damage),
            layers=tuple(
                layer if alone else _rename_layer(layer, run, names)
                for run, names in each
                for layer in self.layers_of(run)
            ),
            probed=any(_has_probe(run) for run in self.runs),
            continued=frozenset(names[own] for run, names in each for own in _continued_systems(run) if own in names),
            folders={names[system]: run.path for run, names in each for system in by_system(run.finished)},
            capped=tuple(sentence for found in capped for sentence in stop_sentences(found)),
            reread=tuple(filter(None, map(reread_sentence, self.runs))),
            models={names[own]: users for run, names in each for own, users in models_of(run).items()},
            **_outlined_parts(self.runs[0]),
        )

    def _systems(self) -> tuple[str, ...]:
        """Return the systems in the order of the audits. Recordings of one system are next to each other."""
        recorded: dict[str, dict[str, None]] = {}
        for names in self.names:
            for system, name in names.items():
                recorded.setdefault(system, {})[name] = None
        return tuple(name for names in recorded.values() for name in names)


Recorded: TypeAlias = Run | str | PathLike[str]  # a run folder, or a run that was already read


def gather_runs(
    runs: Run | Sequence[Recorded] | Gathered,
    changes: Mapping[str, Any] | None = None,
    *,
    judged: bool = False,
    whole: bool = False,
    sources: SourceTable | None = None,
) -> Gathered:
    """Prepare runs for studies. Runs that are given as folders are read. The arguments are as in `Gathered`. If `runs`
    is a `Gathered` already, it is returned unchanged, and the other arguments are ignored. Raises InputError if a run
    is given twice."""
    if isinstance(runs, Gathered):
        return runs
    given = (runs,) if isinstance(runs, Run) else tuple(one if isinstance(one, Run) else read(one) for one in runs)
    assert len(given) == 1 or not any(isinstance(one, OutlinedRun) for one in given), "outlines are of a run alone"
    if len(given) > 1:
        refuse_repeated_runs(given)
    return Gathered(given, changes or {}, judged, whole, sources)


def score_runs(
    *runs: Recorded,
    measures: Sequence[str | Declaration] = (),
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    schema: str | None = None,
    judges: str | None = None,
    nuggets: str | None = None,
) -> ScoreTable:
    """Return the table that `harvest score RUN…` prints, with one row for each value.

    `runs` are run folders, or runs that were already read. Several runs are scored side by side over the topics
    that all runs tried. If several runs recorded a system, it is called `system@run`. `measures` are computed in
    addition to the default measures and are written as in tables, for example `["CVaR(R)"]`, or are declarations of
    measures of your own. `settings` override scoring settings of the audit (`scoring.Settings`). `seed` is for the
    bootstrap; the same runs, settings and seed give the same table. `schema`, `judges` and `nuggets` are for measures
    of judgments, such as SWAN: the criteria (a shipped name or a file), whose judgments count (`"human,model"`), and
    whose nuggets, as in the options of the command. Raises InputError for an unknown measure or setting, for a
    declaration that is not valid, and if the runs cannot be compared.
    """
    return score_material(
        gather_runs(runs, settings).material,
        settings,
        seed=seed,
        measures=requested_terms(measures),
        schema=load_schema(schema) if schema is not None else None,
        judges=Precedence.from_options(judges, nuggets) if judges is not None or nuggets is not None else None,
    )


def requested_terms(measures: Sequence[str | Term | Declaration]) -> tuple[Term, ...]:
    """Return the terms that measures are written as, each once, and make declared measures known (see `make_known`).
    Raises InputError for text that cannot be read, and for a declaration that is not valid."""
    found: dict[Term, None] = {}
    for one in measures:
        match one:
            case Term():
                found[one] = None
            case Declaration():
                found[make_known(one)] = None
            case _:
                found.update(dict.fromkeys(parse_all(one)))
    return tuple(found)


def recorded_design(run: Run, systems: Collection[str]) -> Design:
    """Return how the recorded trials of these systems depend on each other."""
    topics = run.header.topic_set()
    return Design(topics.clusters if topics else {}, not _continued_systems(run).isdisjoint(systems))


def declared_continued(header: Header) -> set[str]:
    """Return the systems whose sessions continue from topic to topic as their audit says."""
    return {name for name, one in header.systems.items() if isinstance(one, dict) and one.get("session") == "continued"}


def _continued_systems(run: Run) -> frozenset[str]:
    """Return the systems whose sessions continue from topic to topic. In imported runs, this is not declared; a
    system then counts as continued if some conversation is not the first of its session."""
    declared = declared_continued(run.header)
    if isinstance(run, OutlinedRun):
        begun: Iterator[Conversation | TrialStarted] = (one.example for one in kinds(run.finished))
    else:
        begun = (attempt.started for attempt in run.attempts if attempt.valid)  # other attempts are not read whole
    return frozenset(declared | {one.key.system for one in begun if one.place > 1})


def _outlined_parts(run: Run) -> dict[str, Any]:
    if not isinstance(run, OutlinedRun):
        return {}
    return {"measured": run.measured, "kept": None if run.kept is None else (run.outlines, run.kept)}


def _systems(run: Run) -> Iterator[str]:
    yield from dict.fromkeys((*run.header.systems, *_recorded_systems(run)))


def _recorded_systems(run: Run) -> list[str]:
    return list(dict.fromkeys(one.key.system for one, _, _ in kinds(run.conversations)))


def _unique_trial_id(trial: str, run: Run) -> str:
    """Return an id that is unique among several runs, because a judgment applies to a single recording of an audit."""
    return f"{trial}@{run.path.resolve()}"


def _rename_layer(layer: Layer, run: Run, names: Mapping[str, str]) -> Layer:
    if layer.kind == "gold":
        return layer

    def about(value: Mapping[str, str | int]) -> dict[str, str | int]:
        own = dict(value)
        if "trial" in own:
            own["trial"] = _unique_trial_id(str(own["trial"]), run)
        if "system" in own:
            own["system"] = names.get(str(own["system"]), own["system"])
        return own

    return replace(layer, judgments=tuple(replace(one, about=about(one.about)) for one in layer.judgments))


def _has_probe(run: Run) -> bool:
    protocol = run.header.protocol
    users = protocol.get("users") if isinstance(protocol, dict) else None
    return isinstance(users, dict) and any(contains_probe(user) for user in users.values())


def _united_topics(runs: Sequence[Run], without: Collection[str]) -> TopicSet:
    sets = []
    for run in runs:
        topics = run.header.topic_set()
        if topics is None:
            raise InputError(
                "this run was recorded without its topics",
                place=Place(str(run.path)),
                advice="import it again with --topics",
            )
        topics.only({one.key.topic for one, _, _ in kinds(run.finished)})  # raises for an unknown topic
        sets.append(topics)
    known = {topic.id: topic for topic in sets[0].topics if topic.id not in without}
    for run, topics in zip(runs, sets, strict=True):
        for topic in topics.topics:
            if topic.id not in without and topic_value(known.setdefault(topic.id, topic)) != topic_value(topic):
                raise InputError(
                    f"topic {topic.id} is not the same as in {runs[0].path}",
                    place=Place(str(run.path)),
                    advice="score the two runs separately",
                )
    attributes = {name: item for topics in reversed(sets) for name, item in topics.attributes.items()}
    left_out = tuple(topic for topic in sets[0].left_out if topic not in known)
    kept = assign_clusters(known.values(), joined_clusters(sets)) if len(sets) > 1 else tuple(known.values())
    return replace(sets[0], topics=kept, attributes=attributes, left_out=left_out)
