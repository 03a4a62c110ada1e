"""Split the change in a system's scores between two audits into five shares, for `harvest attribute`.

The five shares belong to the system, the users, the rules, the page reader and the topics. To separate the shares,
the current code reads the stored pages of both audits, and the rules of both audits label every answer. Recordings
cannot decide two cases: answers without a stored page, and users who never said the same words in both audits. The
study reports these cases.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harvest.pages.chats.reread import read_again
from harvest.studies.runs.readings import Contrast, recorded_audit
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.lost_attempts import loss_words, lost_attempts
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import Key, Values, measure_values, read_single, share_values
from harvest.studies.watch.baseline import identities
from protocols.answer import Answer, Exchange
from protocols.interpreter import retrace
from protocols.protocol import Protocol
from protocols.route import Stop
from recordings.conversations.conversation import Conversation, Turn
from recordings.events.attempts import AttemptId
from recordings.files.json_text import Json
from recordings.log.header import as_plain_json
from recordings.log.run_folder import Run
from scoring.inference.attribution import Attribution, Side, TrialValues, attribute
from scoring.inference.interval import no_interval
from scoring.inference.losses import SideWithLosses, needs_bounds
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term, parse
from scoring.scores import SHIPPED
from scoring.settings import Settings, scoring_settings
from scoring.swan.schema import load_schema
from topics.errors import InputError
from topics.topic import TopicSet


@dataclass(frozen=True, slots=True)
class Reading:
    """Answers of one run, as the current code reads them from the stored pages. `answers` has the answers that
    changed, by attempt and turn. `refused` has the attempts with a page that now counts as a fault. `read` is
    the number of answers with a readable stored page, and `unread` the number of all other answers."""

    answers: Mapping[AttemptId, Mapping[int, Answer]]
    refused: frozenset[AttemptId]
    read: int
    unread: int


def current_reading(run: Run, system: str) -> Reading:
    """Read the stored pages of one system with the current code. Contacts no system and leaves the run unchanged."""
    answers: dict[AttemptId, dict[int, Answer]] = {}
    refused: set[AttemptId] = set()
    found, _ = read_again(run, system=system)
    for one in found:
        attempt = (one.conversation.trial_id, one.conversation.attempt)
        if one.changed and one.now is not None:
            answers.setdefault(attempt, {})[one.turn.number] = one.now
        if one.refused:
            refused.add(attempt)
    read = sum(one.now is not None for one in found)
    return Reading(answers, frozenset(refused), read, len(found) - read)


def decide_again(
    conversation: Conversation, protocol: Protocol | None, topics: TopicSet, answers: Mapping[int, Answer] | None = None
) -> Conversation:
    """Return the conversation with new `answers`, by turn, and with the decisions that `protocol` makes about these
    answers. If there is no protocol, or if the recorded conversation has no decisions, only the answers are
    replaced. If the protocol stops at an earlier turn, the later turns are removed."""
    turns = tuple(_replace_answer(turn, (answers or {}).get(turn.number)) for turn in conversation.turns)
    if protocol is None or all(turn.route is None for turn in conversation.turns):
        return replace(conversation, turns=turns)
    answered = [turn for turn in turns if turn.reply is not None]
    exchanges = [Exchange(turn.said, turn.reply.answer) for turn in answered if turn.reply is not None]
    # Any words match, whatever another user would have said.
    actions = retrace(
        protocol, topics[conversation.key.topic], exchanges, greeting=conversation.greeting, reworded=True
    )
    routes = {turn.number: action.route for turn, action in zip(answered, actions[1:], strict=False)}
    last = answered[len(actions) - 2].number if isinstance(actions[-1], Stop) and len(actions) > 1 else None
    kept = [turn for turn in turns if last is None or turn.number <= last]
    return replace(
        conversation,
        turns=tuple(replace(turn, route=routes[turn.number]) if turn.number in routes else turn for turn in kept),
    )


def _replace_answer(turn: Turn, answer: Answer | None) -> Turn:
    if answer is None or turn.reply is None:
        return turn
    return replace(turn, reply=replace(turn.reply, answer=answer))


@dataclass(frozen=True, slots=True)
class Coverage:
    """The trials of a system: `planned` and `valid` count trials, and `lost` counts topics without a valid trial."""

    planned: int
    valid: int
    lost: int


@dataclass(frozen=True, slots=True)
class AttributedSystem:
    """The attribution of one system's changes. `each` has the shares by measure and turn. `coverage` and `reading`
    are pairs: the earlier audit, then the later audit. `other_users` is true if any input to the users' turns
    changed. `cut_short` describes the losses in each audit; it is () if losses cannot explain any difference."""

    system: str
    each: Mapping[Key, Attribution]
    coverage: tuple[Coverage, Coverage]
    other_users: bool
    reading: tuple[Reading, Reading]
    cut_short: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttributionStudy:
    """The attribution of every system that two runs have in common. `settings` are the scoring settings of the
    later audit. `contrasts` are the differences between the headers of the runs. `harness` maps each software
    component whose version changed to its earlier and its later version."""

    runs: tuple[str, str]
    systems: tuple[AttributedSystem, ...]
    settings: Settings
    contrasts: tuple[Contrast, ...]
    harness: Mapping[str, tuple[str, str]]


def study_attribution(
    before: Run, after: Run, *, systems: Sequence[str] = (), measures: Sequence[Term] = ()
) -> AttributionStudy:
    """Attribute the differences in scores between two audits. `systems` names the systems to study; () means every
    system that both runs have. `measures` must be measures of single conversations or shares of their turns; ()
    means %useful of the first turn and ave%useful. Raises InputError if the runs have no topic or no system in
    common, and for a measure that has no value for a single conversation."""
    runs = (before, after)
    both = gather_runs(runs)
    sides = [gather_runs(run).material for run in runs]
    settings = scoring_settings(sides[1].scoring, sides[1].topics, sides[1].gold)
    contrasts = replace(both, changes=settings.as_json()).beside.contrasts
    shared = [name for name in sides[0].systems if name in sides[1].systems]
    for name in systems:
        if name not in shared:
            raise InputError(f"no system called {name!r} is in both runs", allowed=", ".join(shared) or "none")
    if not shared:
        told = "; ".join(
            f"{run} has {', '.join(side.systems)}" for run, side in zip(run_names(runs), sides, strict=True)
        )
        raise InputError(
            f"these runs have no system in common: {told}",
            advice="use `harvest compare` to compare different systems",
        )
    schema = load_schema(SHIPPED)
    asked = [
        one
        for term in measures or (parse(f"{USEFUL.name} S1"), parse(MEAN_USEFUL.name))
        for one in read_single(term, settings, sides[1].topics, schema, (USEFUL, MEAN_USEFUL))
    ]
    study = _Study(runs, (sides[0], sides[1]), settings, tuple(asked))
    names = run_names(runs)
    return AttributionStudy(
        runs=(names[0], names[1]),
        systems=tuple(study.attribute_system(name) for name in dict.fromkeys(systems or shared)),
        settings=settings,
        contrasts=contrasts,
        harness=_software_changes(before, after),
    )


@dataclass(frozen=True, slots=True)
class _Study:
    runs: tuple[Run, Run]
    sides: tuple[Material, Material]
    settings: Settings
    measures: tuple[Measure, ...]

    def attribute_system(self, name: str) -> AttributedSystem:
        protocols = [run.header.played_protocol() for run in self.runs]
        readings = [current_reading(run, name) for run in self.runs]
        told = [
            self._versions_of_trials(name, side, protocols[place], protocols[1 - place], readings[place])
            for place, side in enumerate(self.sides)
        ]
        other = _user_inputs(self.runs[0], name) != _user_inputs(self.runs[1], name)
        now = [identities(run)["topics"] for run in self.runs]
        assert isinstance(now[0], Mapping)
        assert isinstance(now[1], Mapping)
        same = [topic for topic, own in now[0].items() if now[1].get(topic) == own]
        keys = [key for key in told[0] if key in told[1]]
        each = {
            key: attribute(
                told[0][key],
                told[1][key],
                same_topics=same,
                other_users=other,
                level=self.settings.level,
                reach=self._measure(key).declaration.reach,
            )
            for key in keys
        }
        cut = self._cut_short(name, keys)
        return AttributedSystem(
            system=name,
            each={
                key: replace(one, intervals=dict.fromkeys(one.intervals, no_interval(LOSS_REASON)))
                if key in cut
                else one
                for key, one in each.items()
            },
            cut_short=tuple(loss_words(name, side) for side in self.sides) if cut else (),
            coverage=(_count_coverage(name, self.sides[0]), _count_coverage(name, self.sides[1])),
            other_users=other,
            reading=(readings[0], readings[1]),
        )

    def _measure(self, key: Key) -> Measure:
        return next(one for one in self.measures if key[0] in (one.name, one.declaration.name))

    def _cut_short(self, name: str, keys: Sequence[Key]) -> frozenset[Key]:
        found = set()
        for key in keys:
            measure = self._measure(key)
            sides = []
            for side in self.sides:
                values = self._values(name, side)
                topics = [topic.id for topic in side.topics.topics]
                lost = lost_attempts(key, measure, name, {name: values}, side, topics).losses_in_comparison("")
                sides.append(SideWithLosses(values.get(key, {}), lost))
            if needs_bounds(sides):
                found.add(key)
        return frozenset(found)

    def _versions_of_trials(
        self, name: str, side: Material, own: Protocol | None, other: Protocol | None, reading: Reading
    ) -> dict[Key, Side]:
        """Return the values of one audit's trials by measure and topic. Each trial has four values: as recorded,
        after the audit's own rules decided again, after the page was read again, and after the rules of the
        other audit decided."""
        recorded = tuple(one for one in side.finished if one.key.system == name)
        decided = tuple(decide_again(one, own, side.topics) for one in recorded)
        kept = [one for one in recorded if (one.trial_id, one.attempt) not in reading.refused]
        answers = [reading.answers.get((one.trial_id, one.attempt)) for one in kept]
        read = tuple(decide_again(one, own, side.topics, now) for one, now in zip(kept, answers, strict=True))
        crossed = tuple(decide_again(one, other, side.topics, now) for one, now in zip(kept, answers, strict=True))
        ways = [self._values(name, replace(side, conversations=each)) for each in (recorded, decided, read, crossed)]
        words = {(one.key.topic, one.key.trial): tuple(turn.said for turn in one.turns) for one in recorded}
        found: dict[Key, dict[str, list[TrialValues]]] = {}
        for key, cells in ways[0].items():
            if not self._is_asked(key):
                continue
            for trial in cells:
                as_recorded, decided_now, read_now, by_other_rules = (
                    _cell_value(way.get(key, {}).get(trial)) for way in ways
                )
                said = words[trial][: key[1]] if key[1] else words[trial]
                one = TrialValues(as_recorded, decided_now, read_now, by_other_rules, said)
                found.setdefault(key, {}).setdefault(trial[0], []).append(one)
        return dict(found)

    def _values(self, name: str, side: Material) -> Values:
        others = [one for one in self.measures if one.declaration not in (USEFUL, MEAN_USEFUL)]
        computed, _ = measure_values([name], side, others, self.settings)
        return {**share_values(name, side), **computed[name]}

    def _is_asked(self, key: Key) -> bool:
        for one in self.measures:
            if one.declaration is USEFUL:
                if key[0] == USEFUL.name and one.turn in (None, key[1]):
                    return True
            elif key[0] in (one.name, one.declaration.name):
                return True
        return False


# Why no share of a difference has an interval if conversations were lost.
LOSS_REASON = "what was lost in the runs could be all of it"


def _cell_value(cell: tuple[float, float] | None) -> float:
    return cell[0] if cell is not None and cell[1] > 0 else math.nan


def _count_coverage(name: str, side: Material) -> Coverage:
    planned = {key for key in side.planned if key.system == name}
    valid = [one for one in side.finished if one.key.system == name]
    topics = {key.topic for key in planned} or {topic.id for topic in side.topics.topics}
    return Coverage(len(planned) or len(valid), len(valid), len(topics - {one.key.topic for one in valid}))


# The keys of a protocol's state that decide; the others are the user's words.
_RULE_KEYS = frozenset({"edges", "then", "empty", "label"})


def _user_inputs(run: Run, system: str) -> Json:
    protocol, definition = run.header.protocol, run.header.systems.get(system)
    says: dict[str, Any] = {}
    if isinstance(protocol, dict):
        states = protocol.get("states")
        says = {key: protocol.get(key) for key in ("users", "start")}
        if isinstance(states, dict):
            says["states"] = {
                name: {key: value for key, value in state.items() if key not in _RULE_KEYS}
                for name, state in states.items()
                if isinstance(state, dict)
            }
    changes = definition.get("changes") if isinstance(definition, dict) else None
    audit = recorded_audit(run)
    return as_plain_json({**says, "arm": changes, **{key: audit.get(key) for key in ("user_files", "endpoints")}})


def _software_changes(before: Run, after: Run) -> dict[str, tuple[str, str]]:
    known = dict.fromkeys((*before.header.software, *after.header.software))
    pairs = {name: tuple(run.header.software.get(name, "") for run in (before, after)) for name in known}
    return {name: (was, now) for name, (was, now) in pairs.items() if was != now}
