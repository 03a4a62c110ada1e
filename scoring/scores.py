"""`score` makes the table of all figures from recorded conversations, offline and reproducibly."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.conversations.endings import missing_turns
from recordings.conversations.trial_sets import TrialSet
from scoring.asked import AskedMeasures, asked_columns, cautions
from scoring.columns import Columns
from scoring.conversations import (
    default_columns,
    default_figures,
    length_notes,
    nugget_figures,
    ordered_names,
)
from scoring.conversations import rows as conversation_rows
from scoring.figure import Figure
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.library import read_term
from scoring.material import Judged, Material
from scoring.measure import Measure
from scoring.measured import Measured
from scoring.notation import Term
from scoring.pool import Pool
from scoring.settings import Settings, check_weights
from scoring.summaries import SystemScores, interval_fields
from scoring.swan.assessment import TopicData
from scoring.swan.judged import Judgments
from scoring.swan.ruled_sets import judge_sets
from scoring.swan.rules.rule import Sight
from scoring.swan.schema import load_schema
from scoring.table import DeferredRows, ScoreRow, ScoreTable, Single
from scoring.words import passages
from topics.counting import pluralize
from topics.errors import InputError
from topics.gold import GoldTable
from topics.topic import TopicSet

# The schema that comes with Harvest.
SHIPPED = "sakai-2023"

_SESSIONS = (
    "Sessions of {} go on from topic to topic, so answers of one session depend on each other: intervals over several "
    "topics take each session whole."
)

# Makes rows, with intervals if it is given a resampler.
_MakeRows = Callable[[Resampler | None], Iterable[ScoreRow]]


def score(
    conversations: Iterable[Conversation] | Measured,
    topics: TopicSet,
    gold: GoldTable | None,
    settings: Settings,
    rng: np.random.Generator,
    *,
    turns: int | Mapping[tuple[str, str], int] | None = None,
    invalid: Collection[TrialKey] = (),
    planned: Collection[TrialKey] = (),
    measures: Sequence[Term] = (),
    only: bool = False,
    judged: Judged | Callable[[], Judged] | None = None,
    trial_intervals: bool = True,
    continued: Collection[str] = (),
) -> ScoreTable:
    """Score finished conversations. Returns every row, with intervals. An undefined value is NaN with its n.

    - `conversations`: one valid conversation for each finished trial, in any order; or the result of `Measuring`, for
      the measures it knows. The table then has no rows of single conversations.
    - `gold`: the gold table. Without a gold table only usefulness is scored, and a note says so.
    - `turns`: the number of user turns that the protocol can take, for all topics or by (system, topic id). None
      means the largest number recorded of each system, including missing turns. Recorded turns beyond the number are
      scored too.
    - `invalid`: trials of which every attempt failed for reasons of infrastructure.
    - `planned`: all trials of the run. A note counts those that are neither finished nor invalid; no figure includes
      them.
    - `rng`: two numbers are drawn from it, so the same recording and seed give the same table.
    - `measures`, `only`: measures to compute in addition to the default measures (see `scoring.library`), and whether
      only these measures are in the table.
    - `judged`: the basis of SWAN, or a function that loads it if a measure needs it. None means the schema that comes
      with Harvest and the judgments of rules.
    - `trial_intervals`: whether figures over one trial of each topic get intervals. Without these intervals, scoring
      of many trials takes a third less time.
    - `continued`: systems with sessions from topic to topic. The i-th trials of all topics are one session.

    Raises InputError for an unknown measure, a conversation that is not valid, a trial given twice, a topic that is
    not in `topics`, a grade without a gain, and weights for attribute sets that do not exist.
    """
    known = {topic.id: place for place, topic in enumerate(topics.topics)}
    measured = conversations if isinstance(conversations, Measured) else None
    found = {} if isinstance(conversations, Measured) else _group_by_trial(conversations, known, topics)
    done = TrialSet.of(found) if measured is None else measured.outlines.trials
    lost = sorted(set(invalid) - done)
    plan = TrialSet.of(planned)
    for name in (*(key.topic for key in lost), *(topic for _, topic in plan.numbers)):
        if name not in known:
            topics[name]  # raises, naming the topics there are
    check_weights(settings, topics)
    resampler = Resampler(rng, replications=settings.replications, level=settings.level, resample=settings.resample)

    @cache
    def rule_judgments() -> Judged:
        given = judged() if callable(judged) else judged or _judge_by_rules()

        def sight(conversation: Conversation) -> Sight:
            ground = TopicData(topics.topics[known[conversation.key.topic]], gold, topics.attributes, settings)
            nuggets = given.judgments.nuggets(
                conversation.trial_id, conversation.attempt, passages(conversation, settings.unit, settings.user_words)
            )
            return ground.sight(conversation, nuggets, given.judgments.extractor)

        return replace(given, judgments=judge_sets(given.judgments, found.values(), given.schema, sight))

    wanted = {
        one.name: one for term in measures for one in read_term(term, settings, topics, lambda: rule_judgments().schema)
    }
    if measured is not None:
        if not all(map(measured.has, wanted.values())):
            raise ValueError("the figures of these conversations were computed for other measures")
        measured = measured.only({one.base_name for one in wanted.values()})
    asked = AskedMeasures(tuple(wanted.values()), rule_judgments)
    seed = int(rng.integers(2**63))
    by_trial = resampler if trial_intervals else None

    each: list[Columns] = []
    blocks: list[tuple[tuple[DeferredRows, ...], list[ScoreRow]]] = []
    drifting: list[str] = []
    unlabelled = not_asked = unknown_ends = 0
    unjudged = 0 if measured is None else measured.unjudged
    for system in sorted({*(name for name, _ in done.numbers), *(key.system for key in lost)}):
        gone = [key for key in lost if key.system == system]
        played = {topic: trials for (name, topic), trials in done.numbers.items() if name == system}
        topics_played = sorted({*played, *(key.topic for key in gone)}, key=known.__getitem__)
        outlines = None if measured is None or not played else measured.outlines.of_system(system)
        keys = [key for key in found if key.system == system] if outlines is None else outlines.keys
        own = [found[key] for key in keys] if outlines is None else [one.example for one in outlines.kinds()]
        scores = SystemScores(
            system,
            [topics.topics[known[name]] for name in topics_played],
            sorted({key.trial for key in gone}.union(*(trials.tolist() for trials in played.values()))),
            _turns(turns, own, system, topics),
            settings,
            Design(topics.clusters, system in continued, settings.estimand),
        )
        grounds: list[Material] = []
        further: list[tuple[Figure, ...]] = []
        if outlines is not None and measured is not None:
            columns = list(measured.columns.get(system, ()))
            each.append(Columns(system, keys, [one for _, one in columns], ordered_names(columns), _refuse_words))
            scores.add_outlines(outlines)
            scores.set_figures(each[-1], scores.places(outlines))
        else:
            grounds = [
                Material(
                    one,
                    topics.topics[known[one.key.topic]],
                    gold,
                    topics.attributes,
                    settings,
                    rule_judgments,
                    settings,
                    topics.sources,
                )
                for one in own
            ]
            columns = default_columns(grounds)
            unjudged += sum(ground.unjudged for ground in grounds) if gold is not None else 0
            default = {column.measure for _, column in columns}
            further = [asked.figures(ground, default) for ground in grounds]
            columns += asked_columns(further)
            nuggets = partial(_nugget_figures_at, grounds)
            each.append(Columns(system, keys, [one for _, one in columns], ordered_names(columns), nuggets))
            for one in own:
                scores.add(one)
            scores.set_figures(each[-1])
        for key in gone:
            scores.add_lost_trial(key.topic, key.trial)
        drifting.append(scores.adjust_for_time())
        asked.designs[system] = scores.design
        unlabelled += scores.unlabelled
        not_asked += scores.not_asked
        unknown_ends += scores.unknown_ends
        joint = list(scores.rows(resampler))
        pool = Pool(
            scores,
            own,
            asked.assessments,
            gold,
            topics.attributes,
            rule_judgments,
            resampler.with_design(scores.design),
            seed,
            planned=plan.widest,
        )
        joint.extend(_form_rows(asked.measures, pool))
        makers: tuple[tuple[Single, _MakeRows, Resampler | None], ...] = (
            (
                "conversation",
                partial(_single_rows, grounds, further, asked) if outlines is None else _refuse_words,
                None,
            ),
            ("topic", scores.topic_rows, resampler),
            ("trial", scores.trial_rows, by_trial),
        )
        late = tuple(DeferredRows(of, partial(_late_rows, asked, topics, make, given)) for of, make, given in makers)
        blocks.append((late, joint))
    asked.refuse_unsettled()
    missing = len(plan.without(done, TrialSet.of(lost)))
    parts: list[ScoreRow | DeferredRows] = []
    for late, joint in blocks:
        parts += [*late, *asked.add_scorers(joint, topics.topics)]
    every = found.values() if measured is None else measured.outlines
    remarks = dict.fromkeys(one.declaration.notes for one in wanted.values() if one.declaration.notes is not None)
    explained = dict.fromkeys(one.declaration.key(one.base, topics) for one in wanted.values() if one.declaration.key)
    sessions = ", ".join(one.system for one in each if one.system in continued)
    notes = (
        *([_SESSIONS.format(sessions)] if sessions else ()),
        *_notes(gold, unlabelled, unjudged, len(lost), missing, not_asked, unknown_ends),
        *filter(None, drifting),
        *(length_notes(every, settings) if gold is not None or wanted else ()),
        *(note for make in remarks for note in make(every)),
        *explained,
        *cautions(wanted.values()),
        *asked.notes(),
    )
    whole = ScoreTable(tuple(parts), settings, notes, asked.coverage(), each)
    _refuse_late_turns(wanted.values(), whole)
    return whole.only(wanted) if only else whole


def _form_rows(measures: Sequence[Measure], pool: Pool) -> Iterator[ScoreRow]:
    """Yield rows of measures over many conversations. Raises InputError if too few trials are planned for a worst
    case."""
    for measure in measures:
        rows = (measure.form or measure.declaration).rows
        for reading in rows(measure, pool) if rows is not None else ():
            interval = reading.interval
            yield ScoreRow(
                measure=measure.name,
                system=pool.scores.system,
                topic=reading.part.topic,
                topic_type=reading.part.topic_type,
                trial=None,
                value=reading.value,
                n=reading.n,
                topics=reading.topics,
                **interval_fields(interval, pool.scores.settings.level),
                invalid=reading.invalid,
                worst=reading.worst,
                best=reading.best,
                note=reading.note or interval.note,
            )


def _late_rows(
    asked: AskedMeasures, topics: TopicSet, make: _MakeRows, resampler: Resampler | None, bounded: bool
) -> Iterator[ScoreRow]:
    return asked.add_scorers(make(resampler if bounded else None), topics.topics)


def _refuse_words(_: object) -> Any:
    raise ValueError("the words of these conversations were not kept: score them again to get their rows")


def _nugget_figures_at(grounds: Sequence[Material], at: int) -> Sequence[Figure]:
    return nugget_figures(grounds[at])


def _single_rows(
    grounds: Sequence[Material], further: Sequence[Sequence[Figure]], asked: AskedMeasures, resampler: Resampler | None
) -> Iterator[ScoreRow]:
    for ground, own in zip(grounds, further, strict=True):
        aside = ground.aside()
        figures = (*default_figures(aside), *own, *asked.parts(aside))
        yield from conversation_rows(ground.conversation, ground.topic, figures)


@cache
def _judge_by_rules() -> Judged:
    """Return the shipped schema, judged by rules. The result is cached, because reading the schema is slow."""
    return Judged(load_schema(SHIPPED), Judgments())


def _group_by_trial(
    conversations: Iterable[Conversation], known: Mapping[str, int], topics: TopicSet
) -> dict[TrialKey, Conversation]:
    found: dict[TrialKey, Conversation] = {}
    for conversation in conversations:
        key = conversation.key
        name = f"trial {key.trial} of topic {key.topic!r} with system {key.system!r}"
        if not conversation.valid:
            raise InputError(f"{name} did not end validly and cannot be scored", advice="pass its key in `invalid`")
        if key in found:
            raise InputError(f"{name} occurs twice", advice="score one valid attempt of each trial")
        if key.topic not in known:
            topics[key.topic]  # raises, naming the topics there are
        found[key] = conversation
    return {key: found[key] for key in sorted(found, key=lambda key: (key.system, known[key.topic], key.trial))}


def _turns(
    turns: int | Mapping[tuple[str, str], int] | None,
    conversations: Iterable[Conversation],
    system: str,
    topics: TopicSet,
) -> dict[str, int]:
    if turns is None:
        turns = max((len(one.turns) + missing_turns(one) for one in conversations), default=0)
    most = {
        topic.id: turns.get((system, topic.id), 0) if isinstance(turns, Mapping) else turns for topic in topics.topics
    }
    for one in conversations:  # turns that took place are scored, even beyond the protocol's last
        most[one.key.topic] = max(most[one.key.topic], *(turn.number for turn in one.turns), 0)
    return most


def _refuse_late_turns(measures: Iterable[Measure], table: ScoreTable) -> None:
    latest = max((one for one in measures if one.turn), key=lambda one: one.turn or 0, default=None)
    if latest is None or latest.turn is None:
        return
    name, last = latest.declaration.name, latest.turn
    most = max((row.turn or 0 for row in table.joint if row.measure == name), default=last)
    if last > most:
        allowed = f"S1 to S{most}" if most > 1 else "S1"
        raise InputError(f"{name} S{last}: no conversation can have that many turns", allowed=allowed)


def _notes(
    gold: GoldTable | None,
    unlabelled: int,
    unjudged: int,
    invalid: int,
    missing: int,
    not_asked: int,
    unknown_ends: int,
) -> Iterator[str]:
    if gold is None:
        yield "No gold table: only usefulness is scored; R, GF and GFR need one."
    if unjudged:
        links = pluralize(unjudged, "link")
        yield f"{links} to entities that the gold table does not judge: they count as nonrelevant."
    if unlabelled:
        yield f"{pluralize(unlabelled, 'reply')} without a label: in no %useful and no %recovery."
    if invalid:
        yield (
            f"{pluralize(invalid, 'trial')} without a valid attempt (failed by the infrastructure, interrupted, or "
            "without an answer, as in a replay that goes on otherwise): in no figure."
        )
    if missing:
        yield f"{pluralize(missing, 'planned trial')} not played yet: in no figure."
    if not_asked:
        yield (
            f"{pluralize(not_asked, 'conversation')} ended early without breaking down; turns that were not asked are "
            "not counted."
        )
    if unknown_ends:
        yield (
            f"{pluralize(unknown_ends, 'conversation')} whose end is not recorded: turns after the last recorded one "
            "count neither for nor against."
        )
