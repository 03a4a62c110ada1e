"""From run folders to scores: gathers what `scoring` needs from the runs alone, and scores it.

A run holds its topics, its protocol, its gold and its scoring settings, so it can be scored anywhere, again and again.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from harvest.audits.threshold import Threshold
from harvest.studies.runs.readings import reread_sentence
from harvest.studies.runs.recorded_audit import recorded_scoring, recorded_thresholds
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.silent_systems import none_valid, silent_systems, what_went_wrong
from harvest.studies.scores.judges import refuse_unknown
from harvest.studies.validity.concentrations import Concentration, concentrations, first_lost
from harvest.studies.validity.leaving import share_that_left
from harvest.studies.validity.odd_answers import odd_answers
from harvest.studies.validity.odd_users import odd_users
from harvest.studies.validity.user_card import UserCard, UserDifference, fault_tables, user_card
from harvest.studies.validity.witnessed import witness_notes
from harvest.studies.validity.worded_turns import Models, WordedTurn, models_of, worded_turns
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.conversations.endings import is_cut_short
from recordings.formats.lengths import most_turns, with_missing_turns
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import Layer, read_layers
from recordings.log.header import topic_value
from recordings.log.run_folder import Run, first_valid
from recordings.log.shard import planned_trials, refuse_shard
from scoring.catalogue import understand
from scoring.inference.design import Design
from scoring.inference.turn_events import EventTable
from scoring.material import Judged
from scoring.measures.usefulness import labels
from scoring.notation import Term
from scoring.scores import SHIPPED, score
from scoring.setting import ByName
from scoring.settings import SETTINGS, Settings, scoring_settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema, load_schema
from scoring.table import ScoreTable
from simulators.probing.recorded import holds_probe
from topics.clusters import joined_clusters, nearly_same_note, with_clusters
from topics.errors import InputError, Place
from topics.gold import GoldTable
from topics.identity import generator
from topics.topic import TopicSet

# The note on figures that do not hold what the run was played for.
PROBED = "A probe took the user's side: `harvest simulate findings RUN` prints what it found."


@dataclass(frozen=True)  # without slots, so that what is derived is kept
class Material:
    """What runs give to be scored.

    systems: names in the order of the runs' audits. conversations: every attempt. turns: user turns the protocol can
    take at most, by system and topic. planned: the trials that were to be played. gold: None where nothing is judged.
    scoring: the settings of the first run's audit. thresholds: of its audit, where there is but one run. layers: what
    people, rules and models judged. probed: a probe took the user's side in one of the runs. continued: the systems
    whose sessions go on from topic to topic, as the runs declare. folders: the run in which each system was recorded.
    reread: a sentence about each run whose answers are others than those that were recorded. models: the users whose
    turns a model words.
    """

    topics: TopicSet
    systems: tuple[str, ...]
    conversations: tuple[Conversation, ...]
    turns: Mapping[tuple[str, str], int]
    planned: frozenset[TrialKey]
    gold: GoldTable | None
    scoring: Mapping[str, Any]
    thresholds: tuple[Threshold, ...]
    damage: tuple[str, ...]
    layers: tuple[Layer, ...] = ()
    probed: bool = False
    continued: frozenset[str] = frozenset()
    folders: Mapping[str, Path] = field(default_factory=dict)
    reread: tuple[str, ...] = ()
    models: Models = field(default_factory=dict)

    @cached_property
    def finished(self) -> tuple[Conversation, ...]:
        """The first valid attempt of each trial."""
        return first_valid(self.conversations)

    @cached_property
    def labels(self) -> Mapping[TrialKey, tuple[str, ...]]:
        """Of each finished conversation, the labels of all turns that its protocol can take, or that it had."""
        most = self.turns
        return {
            one.key: labels(one, max(most.get((one.key.system, one.key.topic), 0), len(one.turns)))
            for one in self.finished
        }

    @cached_property
    def invalid(self) -> frozenset[TrialKey]:
        """Trials that were tried and have no valid attempt."""
        return frozenset(one.key for one in self.conversations) - frozenset(one.key for one in self.finished)

    @cached_property
    def cut_short(self) -> Mapping[str, Counter[str]]:
        """By system, why failures of the user cut conversations short: reasons, with how many conversations each."""
        found: dict[str, Counter[str]] = {}
        for one in self.finished:
            if one.outcome is not None and is_cut_short(one.outcome):
                found.setdefault(one.key.system, Counter())[one.outcome.reason] += 1
        return found

    @cached_property
    def first_lost(self) -> Mapping[TrialKey, Conversation]:
        """Of each trial whose first attempt with an answer was lost or cut short, that attempt."""
        return first_lost(self.conversations)

    @cached_property
    def concentrations(self) -> tuple[Concentration, ...]:
        """What the losses of systems depend on."""
        return concentrations(self.conversations)

    @cached_property
    def worded(self) -> tuple[WordedTurn, ...]:
        """The user turns of the finished conversations that a model worded."""
        topics = {topic.id: topic for topic in self.topics.topics}
        return worded_turns(self.finished, self.models, topics, self.folders) if self.models else ()

    @cached_property
    def user_card(self) -> UserCard:
        """How the users behaved whose turns a model words; without any system where none does."""
        if not self.worded:
            return UserCard()
        names = [topic.id for topic in self.topics.topics]
        return user_card(self.worded, self.finished, names, clusters=self.topics.clusters)

    def fault_tables(self, system: str) -> dict[str, EventTable]:
        """How often each fault of the system's users first happened; {} where no model words them."""
        own = [one for one in self.worded if one.key.system == system]
        return fault_tables(own, [one for one in self.finished if one.key.system == system])

    def withholding(self, systems: Collection[str]) -> tuple[Concentration | UserDifference, ...]:
        """Why no study names a winner among these systems: what losses of one depend on, and what users said to one and
        not to another."""
        return (
            *(one for one in self.concentrations if one.system in systems),
            *(one for one in self.user_card.withholding if one.system in systems and one.other in systems),
        )

    @property
    def silent(self) -> tuple[str, ...]:
        """A sentence about the systems without a valid conversation, where there are any: they are in no study."""
        names = silent_systems(self.systems, self.finished)
        return (f"{none_valid(names)}, so no figure holds any: {what_went_wrong()}",) if names else ()

    @cached_property
    def alike(self) -> tuple[str, ...]:
        """A sentence about topics that ask for nearly the same without a common cluster, where there are any."""
        note = nearly_same_note(self.topics.topics)
        return (note,) if note else ()


def gather_material(runs: Sequence[Run], left_out: Collection[str] = ()) -> Material:
    """What `runs` give together, without the topics `left_out`. A system that several runs recorded, as two audits of
    one assistant at different dates do, is told apart as `system@run`.

    Raises InputError for a shard, where a run does not know its topics, or one name stands for two topics.
    """
    refuse_twice(runs)
    for run in runs:
        refuse_shard(run.header, run.path)
    topics = _united_topics(runs, left_out)
    named = list(told_apart(runs))
    alone = len(runs) == 1  # then everything is called what its run calls it
    turns = {
        (names[system], topic): most
        for run, names in named
        for (system, topic), most in most_turns(run.header, run.finished).items()
        if topic not in left_out
    }
    gold = read_gold_layers([run.path for run in runs], topics)
    return Material(
        topics=topics,
        systems=_beside_each_other(named),
        conversations=tuple(
            one
            if alone
            else replace(
                one,
                key=replace(one.key, system=names[one.key.system]),
                trial_id=_own_trial(one.trial_id, run, runs),
            )
            for run, names in named
            for one in with_missing_turns(run.conversations, run.header)
            if one.key.topic not in left_out
        ),
        turns=turns,
        planned=frozenset(
            key if alone else replace(key, system=names[key.system])
            for run, names in named
            for key in planned_trials(run.header)
            if key.topic not in left_out
        ),
        gold=gold if len(gold) else None,
        scoring=recorded_scoring(runs[0]),
        thresholds=recorded_thresholds(runs[0]) if len(runs) == 1 else (),
        damage=tuple(sentence for run in runs for sentence in run.damage),
        layers=tuple(_own_layer(layer, run, names, runs) for run, names in named for layer in read_layers(run.path)),
        probed=any(_holds_probe(run) for run in runs),
        continued=frozenset(names[own] for run, names in named for own in continued_systems(run) if own in names),
        folders={
            names[system]: run.path for run, names in named for system in {one.key.system for one in run.finished}
        },
        reread=tuple(filter(None, map(reread_sentence, runs))),
        models={names[own]: users for run, names in named for own, users in models_of(run).items()},
    )


def continued_systems(run: Run) -> frozenset[str]:
    """The systems of a run whose sessions go on from topic to topic: by their definition, or, as an import defines no
    sessions, because a conversation was not the first one of its session."""
    declared = {
        name for name, one in run.header.systems.items() if isinstance(one, dict) and one.get("session") == "continued"
    }
    begun = (attempt.started for attempt in run.attempts if attempt.valid)  # whatever else of them was read
    return frozenset(declared | {one.key.system for one in begun if one.place > 1})


def recorded_design(run: Run, systems: Collection[str]) -> Design:
    """What hangs together in the trials of these systems of a run, as it was recorded."""
    topics = run.header.topic_set()
    return Design(topics.clusters if topics else {}, not continued_systems(run).isdisjoint(systems))


def _own_trial(trial: str, run: Run, runs: Sequence[Run]) -> str:
    """The identity of a trial among several runs: audits of one assistant at two dates play the same trials, and what
    was judged in one recording says nothing of the other.
    """
    return trial if len(runs) == 1 else f"{trial}@{run.path.resolve()}"


def _own_layer(layer: Layer, run: Run, names: Mapping[str, str], runs: Sequence[Run]) -> Layer:
    """The layer with the names that its run's trials and systems go by."""
    if len(runs) == 1 or layer.kind == "gold":
        return layer

    def about(value: Mapping[str, str | int]) -> dict[str, str | int]:
        own = dict(value)
        if "trial" in own:
            own["trial"] = _own_trial(str(own["trial"]), run, runs)
        if "system" in own:
            own["system"] = names.get(str(own["system"]), own["system"])
        return own

    return replace(layer, judgments=tuple(replace(one, about=about(one.about)) for one in layer.judgments))


def _holds_probe(run: Run) -> bool:
    protocol = run.header.protocol
    users = protocol.get("users") if isinstance(protocol, dict) else None
    return isinstance(users, dict) and any(holds_probe(user) for user in users.values())


def _systems(run: Run) -> Iterator[str]:
    yield from dict.fromkeys((*run.header.systems, *(one.key.system for one in run.conversations)))


def refuse_twice(runs: Sequence[Run]) -> None:
    """Raises InputError where one run is given twice, be it as a copy in another folder."""
    for path, count in Counter(run.path.resolve() for run in runs).items():
        if count > 1:
            raise InputError("the same run is given twice", place=Place(str(path)))
    for (one, own), (other, others) in combinations([(run, _dated_attempts(run)) for run in runs], 2):
        fewer, more = sorted((own, others), key=len)
        if fewer and all(more.get(key) == attempt for key, attempt in fewer.items()):
            copy, kept = (one, other) if len(own) < len(others) else (other, one)
            raise InputError(
                f"the same run is given twice: every attempt in it is in {kept.path}, too",
                place=Place(str(copy.path)),
                advice="give one of them: a copy is no run of its own",
            )


def _dated_attempts(run: Run) -> dict[tuple[str, int, str], Conversation]:
    """Those that say when they began: two plays of one audit share trials and, with a system that always says the same,
    words, but no time."""
    return {(one.trial_id, one.attempt, one.started_at): one for one in run.conversations if one.started_at}


def told_apart(runs: Sequence[Run]) -> Iterator[tuple[Run, Mapping[str, str]]]:
    """Each run with the names its systems go by."""
    recorded = Counter(system for run in runs for system in {one.key.system for one in run.conversations})
    for run, place in zip(runs, run_names(runs), strict=True):
        yield run, {system: f"{system}@{place}" if recorded[system] > 1 else system for system in _systems(run)}


def _beside_each_other(named: Sequence[tuple[Run, Mapping[str, str]]]) -> tuple[str, ...]:
    """The systems in the order of the audits, with what several runs recorded of one system together."""
    recorded: dict[str, dict[str, None]] = {}
    for run, names in named:
        for system in _systems(run):
            recorded.setdefault(system, {})[names[system]] = None
    return tuple(name for names in recorded.values() for name in names)


def _topics(run: Run) -> TopicSet:
    topics = run.header.topic_set()
    if topics is None:
        raise InputError(
            "this run was recorded without its topics",
            place=Place(str(run.path)),
            advice="import it again with --topics",
        )
    topics.only({one.key.topic for one in run.finished})  # which raises for an unknown one
    return topics


def _united_topics(runs: Sequence[Run], without: Collection[str]) -> TopicSet:
    sets = [_topics(run) for run in runs]
    known = {topic.id: topic for topic in sets[0].topics if topic.id not in without}
    for run, topics in zip(runs, sets, strict=True):
        for topic in topics.topics:
            if topic.id not in without and topic_value(known.setdefault(topic.id, topic)) != topic_value(topic):
                raise InputError(
                    f"topic {topic.id} is not the same as in {runs[0].path}",
                    place=Place(str(run.path)),
                    advice="score the two runs apart",
                )
    attributes = {name: item for topics in reversed(sets) for name, item in topics.attributes.items()}
    left_out = tuple(topic for topic in sets[0].left_out if topic not in known)
    kept = with_clusters(known.values(), joined_clusters(sets)) if len(sets) > 1 else tuple(known.values())
    return replace(sets[0], topics=kept, attributes=attributes, left_out=left_out)


def score_material(
    material: Material,
    changes: Mapping[str, Any] | None = None,
    *,
    gold: GoldTable | None = None,
    seed: int = 0,
    measures: Sequence[Term] = (),
    only: bool = False,
    schema: Schema | None = None,
    judges: Precedence | None = None,
    trial_intervals: bool = True,
) -> ScoreTable:
    """Score what was gathered. changes: settings instead of the audit's. gold: instead of the runs' own. seed: of the
    bootstrap. measures: these besides the default ones, or (only) these alone. schema: of SWAN, the shipped one by
    default. judges: whose judgments count. trial_intervals: whether the figures over a single trial's topics
    get intervals.
    """
    truth = material.gold if gold is None else gold
    judged = None
    if measures:
        chosen = schema or load_schema(SHIPPED)
        refuse_unknown(judges, material.layers)
        judged = Judged(chosen, Judgments.of(material.layers, chosen, judges))
    table = score(
        material.finished,
        material.topics,
        truth,
        scoring_settings(material.scoring, material.topics, truth, changes),
        generator(seed, "scores"),
        turns=material.turns,
        invalid=material.invalid,
        planned=material.planned,
        measures=measures,
        only=only,
        judged=judged,
        trial_intervals=trial_intervals,
        continued=material.continued,
    )
    notes = (
        *share_that_left(material.finished),
        *material.alike,
        *material.reread,
        *odd_answers(material.conversations, material.finished, material.folders),
        *witness_notes(material.finished, material.folders),
        *odd_users(material.finished),
        *([PROBED] if material.probed else ()),
    )
    return replace(table, notes=(*table.notes, *notes)) if notes else table


def refuse_unused(material: Material, changes: Mapping[str, Any], gold: GoldTable | None = None) -> None:
    """Raises InputError for a setting that would change nothing: by the name of a system which is not there, or of a
    grade that no entity has. gold: instead of the runs' own."""
    for name, declared in SETTINGS.items():
        if isinstance(declared.kind, ByName) and declared.kind.of == "system":
            for system in changes.get(name) or {}:
                if system not in material.systems:
                    what = f"scoring setting {name}: there is no system {system!r}"
                    raise InputError(what, allowed=", ".join(material.systems))
    truth = material.gold if gold is None else gold
    if changes.get("gains") and truth is not None:
        known = {*Settings.of(material.scoring).gains, *(entry.grade for entry in truth)}
        for grade in sorted(Settings.of(changes).gains.keys() - known):
            raise InputError(
                f"scoring setting gains: no entity of the gold table has grade {grade}",
                allowed=", ".join(f"L{one}" for one in sorted(known - {0})),
            )


def asked_names(measures: Sequence[Term], topics: TopicSet, schema: Schema | None = None) -> tuple[str, ...]:
    """What the rows of these measures are called, in the order in which they were asked for: of `CVaR(R)` there are
    those of `CVaR(R, beta=0.25)`. Raises InputError for what is not a measure.
    """
    chosen = schema or load_schema(SHIPPED)
    made = (one for term in measures for one in understand(term, Settings(), topics, chosen))
    return tuple(dict.fromkeys(one.name for one in made))
