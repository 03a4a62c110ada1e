"""Score the material of recorded runs.

A run includes its topics, protocol, gold and scoring settings, so that it can be scored anywhere and repeatedly.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harvest.audits.scoring_section import Threshold
from harvest.studies.runs.outlined_run import KeptTable
from harvest.studies.runs.side_by_side import failures_clause, no_valid_trials_clause, silent_systems
from harvest.studies.validity.concentrations import Concentration, concentrations, first_lost
from harvest.studies.validity.odd_answers import odd_answers
from harvest.studies.validity.odd_users import leaving_sentences, odd_users
from harvest.studies.validity.user_card import UserCard, UserDifference, fault_tables, user_card
from harvest.studies.validity.witnessed import witness_notes
from harvest.studies.validity.worded_turns import Models, WordedTurn, worded_turns
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.conversations.endings import is_cut_short
from recordings.conversations.outlines import Outlines, kinds
from recordings.conversations.trial_sets import TrialSet
from recordings.judged.judgments import Layer
from recordings.log.run_folder import first_valid
from scoring.inference.turn_events import EventTable
from scoring.library import read_term
from scoring.material import Judged
from scoring.measured import Measured
from scoring.measures.usefulness import labels
from scoring.notation import Term
from scoring.scores import SHIPPED, score
from scoring.settings import SETTINGS, NumbersByName, Settings, scoring_settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import FOLDINGS, Precedence, named_judge
from scoring.swan.schema import Schema, load_schema
from scoring.table import ScoreTable
from topics.clusters import nearly_equal_topics, nearly_same_note
from topics.errors import InputError
from topics.gold import GoldTable
from topics.identity import generator
from topics.topic import TopicSet

# The note on figures that leave out the run's purpose.
PROBED = "A probe took the user's side: `harvest users findings RUN` prints what it found."


@dataclass(frozen=True)  # without slots, for cached properties
class Material:
    """The parts of recorded runs that scoring uses.

    `systems` are in the order of the runs' audits. `conversations` has all attempts, and `planned` the planned
    trials. `turns` is the largest number of user turns that the protocol allows, by system and topic. `gold` is
    None if there are no gold judgments. `scoring` has the settings of the first run's audit. `thresholds` are the
    audit's thresholds, or () for several runs. `layers` are judgments by people, rules and models.

    `probed` is true if a probe acted as the user in some run. `continued` has the systems whose sessions continue from
    topic to topic. `folders` has the run folder of each system. `reread` has a sentence about each run whose answers
    changed when the stored pages were read again. `capped` has a sentence about each run, or shard of a run, that its
    cap stopped. `models` has the users whose turns a model words. If `conversations` are outlines, `measured` has their
    figures, unless `kept` has their table and its conversations.
    """

    topics: TopicSet
    systems: tuple[str, ...]
    conversations: Sequence[Conversation]
    turns: Mapping[tuple[str, str], int]
    planned: Set[TrialKey]
    gold: GoldTable | None
    scoring: Mapping[str, Any]
    thresholds: tuple[Threshold, ...]
    damage: tuple[str, ...]
    layers: tuple[Layer, ...] = ()
    probed: bool = False
    continued: frozenset[str] = frozenset()
    folders: Mapping[str, Path] = field(default_factory=dict)
    reread: tuple[str, ...] = ()
    capped: tuple[str, ...] = ()
    models: Models = field(default_factory=dict)
    measured: Measured | None = None
    kept: tuple[Outlines, KeptTable] | None = None

    @cached_property
    def finished(self) -> Sequence[Conversation]:
        """The first valid attempt of each trial."""
        whole = self.conversations
        return whole.valid if isinstance(whole, Outlines) else first_valid(whole)

    @cached_property
    def labels(self) -> Mapping[TrialKey, tuple[str, ...]]:
        """The labels of each finished conversation, for all turns that took place or that its protocol allows."""
        ways = [labels for _, labels, _ in self.ways]
        if isinstance(self.finished, Outlines):
            return {key: ways[of] for key, of in zip(self.finished.keys, self.finished.groups[2].tolist(), strict=True)}
        return {one.key: own for one, own in zip(self.finished, ways, strict=True)}

    @cached_property
    def ways(self) -> Sequence[tuple[TrialKey, tuple[str, ...], int]]:
        """The labels of each kind of finished conversations, as in `labels`, with their first trial and number."""
        most = self.turns
        return [
            (one.key, labels(one, max(most.get((one.key.system, one.key.topic), 0), len(one.turns))), count)
            for one, count, _ in kinds(self.finished)
        ]

    @cached_property
    def tried(self) -> TrialSet:
        """Trials that were tried, with or without a valid attempt."""
        whole = self.conversations
        return whole.trials if isinstance(whole, Outlines) else TrialSet.of(one.key for one in whole)

    @cached_property
    def invalid(self) -> frozenset[TrialKey]:
        """Trials that were tried without a valid attempt."""
        found = self.finished
        done = found.trials if isinstance(found, Outlines) else TrialSet.of(one.key for one in found)
        return frozenset(self.tried.without(done))

    @cached_property
    def cut_short(self) -> Mapping[str, Counter[str]]:
        """For each system, the number of conversations cut short by a failure of the user, by reason."""
        found: dict[str, Counter[str]] = {}
        for one, count, _ in kinds(self.finished):
            if one.outcome is not None and is_cut_short(one.outcome):
                found.setdefault(one.key.system, Counter())[one.outcome.reason] += count
        return found

    @cached_property
    def first_lost(self) -> Mapping[TrialKey, Conversation]:
        """The first attempt with an answer of each trial, if this attempt was lost or cut short."""
        return first_lost(self.conversations)

    @cached_property
    def concentrations(self) -> tuple[Concentration, ...]:
        """Conditions under which systems lose more attempts than elsewhere."""
        return concentrations(self.conversations)

    @cached_property
    def worded(self) -> tuple[WordedTurn, ...]:
        """The user turns that a model worded, in finished conversations."""
        topics = {topic.id: topic for topic in self.topics.topics}
        return worded_turns(self.finished, self.models, topics, self.folders) if self.models else ()

    @cached_property
    def user_card(self) -> UserCard:
        """The behaviour of users whose turns a model words. Without such users, the card has no systems."""
        if not self.worded:
            return UserCard()
        names = [topic.id for topic in self.topics.topics]
        return user_card(self.worded, self.finished, names, clusters=self.topics.clusters)

    def fault_tables(self, system: str) -> dict[str, EventTable]:
        """Return when each fault of the system's users first occurred, or {} if no model words their turns."""
        own = [one for one in self.worded if one.key.system == system]
        return fault_tables(own, [one for one in self.finished if one.key.system == system])

    def withholding(self, systems: Collection[str]) -> tuple[Concentration | UserDifference, ...]:
        """Return the reasons not to name a winner among these systems: losses that depend on answers, and users
        that differ between systems."""
        return (
            *(one for one in self.concentrations if one.system in systems),
            *(one for one in self.user_card.withholding_differences if one.system in systems and one.other in systems),
        )

    @property
    def silent(self) -> tuple[str, ...]:
        """A sentence about systems without a valid conversation, which no study includes, or () if there are none."""
        names = silent_systems(self.systems, self.finished)
        return (f"{no_valid_trials_clause(names)}, so no figure holds any: {failures_clause()}",) if names else ()

    @cached_property
    def alike(self) -> tuple[str, ...]:
        """A sentence about topics with nearly the same question but no common cluster, or () if there are none."""
        note = nearly_same_note(nearly_equal_topics(self.topics.topics))
        return (note,) if note else ()


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
    """Score the gathered material.

    `changes` override the audit's settings, and `gold` replaces the gold of the runs. `measures` are computed in
    addition to the default measures; with `only`, they replace the default measures. `schema` is the schema of
    SWAN, by default the shipped schema. `judges` selects whose judgments count. With `trial_intervals`, figures
    over the topics of a single trial have intervals, too.
    """
    truth = material.gold if gold is None else gold
    if measures and judges is not None:
        refuse_unknown(judges, material.layers)

    def judged() -> Judged:
        chosen = schema or load_schema(SHIPPED)
        return Judged(chosen, Judgments.from_layers(material.layers, chosen, judges))

    settings = scoring_settings(material.scoring, material.topics, truth, changes)
    if material.kept is not None and material.kept[0] is material.conversations:
        return material.kept[1].table(settings)
    table = score(
        _measured_alike(material, truth, settings) or material.finished,
        material.topics,
        truth,
        settings,
        generator(seed, "scores"),
        turns=material.turns,
        invalid=material.invalid,
        planned=material.planned,
        measures=measures,
        only=only,
        judged=judged if measures else None,
        trial_intervals=trial_intervals,
        continued=material.continued,
    )
    notes = (
        *material.capped,
        *leaving_sentences(material.finished),
        *material.alike,
        *material.reread,
        *odd_answers(material.conversations, material.finished, material.folders),
        *witness_notes(material.finished, material.folders),
        *odd_users(material.finished),
        *([PROBED] if material.probed else ()),
    )
    return replace(table, notes=(*table.notes, *notes), systems=material.systems)


def _measured_alike(material: Material, gold: GoldTable | None, settings: Settings) -> Measured | None:
    """Return the figures that were computed while the run was read, if they are those of these conversations."""
    found = material.measured
    if found is None or found.outlines is not material.finished:
        return None
    if found.of_values != settings.of_values or found.judged != (gold is not None):
        raise ValueError("the figures of this run were computed with other settings")
    return found


def refuse_unused(material: Material, changes: Mapping[str, Any], gold: GoldTable | None = None) -> None:
    """Raise InputError for a setting about an unknown system, or about a grade that no entity of the gold table has."""
    for name, declared in SETTINGS.items():
        if isinstance(declared.kind, NumbersByName) and declared.kind.of == "system":
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


def requested_names(measures: Sequence[Term], topics: TopicSet, schema: Schema | None = None) -> tuple[str, ...]:
    """Return the names of rows, such as `CVaR(R, beta=0.25)`, in the requested order. Raises InputError for an
    unknown measure."""
    chosen = schema or load_schema(SHIPPED)
    made = (one for term in measures for one in read_term(term, Settings(), topics, chosen))
    return tuple(dict.fromkeys(one.name for one in made))


@dataclass(frozen=True, slots=True)
class Judges:
    """The criteria and judgments that a study uses. If `schema` is None, the shipped schema is loaded on first use,
    because loading is slow. `precedence` selects whose judgments count, and how several judgments of one item
    are combined."""

    schema: Schema | None = None
    precedence: Precedence = field(default_factory=Precedence)

    @property
    def criteria(self) -> Schema:
        return self.schema or load_schema(SHIPPED)

    def judged(self, layers: Iterable[Layer]) -> Judged:
        """Return the judgments in these layers. Raises InputError for a judge without judgments."""
        schema, layers = self.criteria, tuple(layers)
        refuse_unknown(self.precedence, layers)
        return Judged(schema, Judgments.from_layers(layers, schema, self.precedence))


def refuse_unknown(judges: Precedence | None, layers: Sequence[Layer]) -> None:
    """Raise InputError for a judge without judgments, which may be a misspelt name."""
    known = sorted({(layer.kind, layer.author) for layer in layers if layer.kind != "gold"})
    judges = judges or Precedence()
    for kind, author in judges.entries:
        if author and (kind, author) not in known and kind != "rule":
            allowed = ", ".join(f"{one}:{name}" for one, name in known if one == kind) or f"there is no {kind} layer"
            raise InputError(f"there are no judgments by {kind} {author!r}", allowed=allowed)
    kind, author = named_judge(judges.folding)
    voters = [(one, name) for one, name in known if one != "rule"]
    if author and not any(author == name and kind in ("", one) for one, name in voters):
        names = dict.fromkeys(name for _, name in voters)
        raise InputError(f"there are no judgments by {judges.folding!r}", allowed=", ".join((*FOLDINGS, *names)))
