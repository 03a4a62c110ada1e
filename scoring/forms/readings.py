"""Pooled readings: SWAN over all nuggets together, GF over all turns, and GF of the pooled distribution."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from recordings.conversations.conversation import Conversation
from scoring.divergences import DIVERGENCES
from scoring.fairness import TurnFairness, divergence_names, group_fairness
from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import Interval, no_interval, too_few_reason
from scoring.measure import Declaration, Measure, TermContext, refuse_parameters
from scoring.measures.group_fairness import FAIRNESS, attribute_of
from scoring.measures.swan import SWAN
from scoring.measures.wan import WAN, criterion_of, read_wan, weighted_schema
from scoring.notation import Term
from scoring.nuggets import find_nuggets
from scoring.pool import Pool, Reading, parts
from scoring.stochastic.expectation import fairness
from scoring.swan.assessment import Assessment, conversation_wans, system_swan
from scoring.swan.judged import Judgments
from scoring.swan.schema import Schema
from scoring.swan.wan import Swan, Wan
from scoring.words import passages
from topics.arrays import Floats
from topics.errors import InputError
from topics.topic import Topic


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    """Read one measure. GF gets all three readings: a pooled GF can look fair while nobody was treated fairly."""
    inside = term.arguments[0] if len(term.arguments) == 1 else None
    if declaration is POOLED and isinstance(inside, Term) and inside.name == WAN.name:
        base = read_wan(WAN, inside, asking, sets=True)[0]  # pooled, also of a criterion scored once for a topic
    else:
        base = asking.inner(term)
    refuse_parameters(term, ())
    if base.declaration in (SWAN, WAN) and declaration is POOLED:
        return (replace(base, term=Term(declaration.name, (base.term,)), form=declaration),)
    if base.declaration is FAIRNESS and attribute_of(base.base):
        readings = (replace(base, term=Term(form.name, (base.term,)), form=form) for form in (POOLED, OF_POOLED))
        return (base, *readings)
    of = f"{FAIRNESS.name}(SET)"
    pooled = [SWAN.name, *WAN.forms, of]
    allowed = ", ".join([*(f"{POOLED.name}({one})" for one in pooled), f"{OF_POOLED.name}({of})"])
    raise InputError(f"{term} is not a pooled reading of a measure", allowed=allowed)


def _rows(measure: Measure, pool: Pool) -> Iterator[Reading]:
    yield from (_fairness_readings if measure.declaration is FAIRNESS else _nugget_readings)(measure, pool)


def _fairness_readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
    """Yield the pooled reading of GF, or GF of the pooled distribution."""
    scores, resampler = pool.scores, pool.resampler
    by_topic: dict[str, list[Conversation]] = {}
    for one in pool.conversations:
        by_topic.setdefault(one.key.topic, []).append(one)
    values, turns = np.full(len(scores.topics), math.nan), np.zeros(len(scores.topics), dtype=int)
    within: dict[int, Interval] = {}
    name = attribute_of(measure.base)
    has = [name in topic.type.attributes for topic in scores.topics]
    for row, topic in enumerate(scores.topics):
        if has[row] and pool.gold is not None and by_topic.get(topic.id):
            values[row], turns[row], within[row] = _topic_reading(measure, pool, topic, by_topic[topic.id])
    for part in parts(scores.topics, each=True):
        rows = [row for row in part.rows if has[row]]
        if not rows:
            continue
        here = values[rows]
        known = ~np.isnan(here)
        if measure.form is OF_POOLED:
            interval = no_interval("what few trials achieve together differs from what all would")
        elif len(rows) == 1:
            interval = within.get(rows[0], no_interval("no value"))
        else:
            interval = resampler.means([scores.topics[row].id for row in rows], here[:, None, None])[0]
        yield Reading(
            part,
            float(here[known].mean()) if known.any() else math.nan,
            int(turns[rows].sum()),
            interval,
            None if part.topic is not None else int(known.sum()),
        )


def _topic_reading(
    measure: Measure, pool: Pool, topic: Topic, conversations: Sequence[Conversation]
) -> tuple[float, int, Interval]:
    attribute = pool.attributes[attribute_of(measure.base)]
    turns: list[tuple[int, TurnFairness]] = []
    for path, conversation in enumerate(conversations):
        nuggets = find_nuggets(conversation, topic, pool.gold, pool.attributes, measure.settings)
        told = passages(conversation, measure.settings.unit, measure.settings.user_words)
        spoken = [one for one in told if one.speaker == "system"]
        first = {one.turn: one.first_position for one in spoken}
        limit = measure.settings.limit(spoken[0].unit if spoken else "words")
        found = group_fairness(nuggets, first, attribute, measure.settings, limit)[0]
        turns += [(path, turn) for turn in found.turns]
    readings = fairness(
        [path for path, _ in turns],
        np.array([turn.achieved for _, turn in turns]).reshape(-1, len(attribute.groups)),
        [max(turn.nuggets, 1) for _, turn in turns],
        attribute.gold,
        DIVERGENCES[divergence_names(attribute, measure.settings)[0]],
        paths=len(conversations),
        turn_weights=[turn.weight for _, turn in turns],
    )
    value = readings.pooled if measure.form is POOLED else readings.of_pooled_distribution
    sums = np.zeros((2, len(conversations)))
    for path, turn in turns:
        sums[:, path] += turn.weight * turn.similarity, turn.weight
    trials = [str(one.key.trial) for one in conversations]
    return value, readings.turns, pool.resampler.ratio(trials, sums[0][:, None], sums[1][:, None], unit="trial")


def _nugget_readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
    """Yield SWAN or WAN over all nuggets of all conversations together ([SWAN] Eq. 2 as printed)."""
    scores, resampler, judgments = pool.scores, pool.resampler, pool.judged().judgments
    schema = weighted_schema(pool.judged().schema, measure.base)
    own = [one for one in pool.assessments if one.key.system == scores.system]
    for part in parts(scores.topics, each=True):
        names = [scores.topics[row].id for row in part.rows]
        within = set(names)
        here = [one for one in own if one.key.topic in within]
        found = system_swan(scores.system, here, schema, judgments).pooled
        if measure.declaration is SWAN:
            value, n, interval = found.value, found.n, no_interval()
            note = f"over {', '.join(found.covered)}" if found.covered else "no criterion is scored"
            if found.covered:
                interval = _swan_interval(found, names, scores.trials, here, schema, judgments, resampler)
        else:
            name = criterion_of(measure, schema)
            whole = found.wans[name]
            value, n, note = whole.value, whole.n, f"{whole.items - whole.n} of {whole.items} items are not scored"
            every = zip(here, conversation_wans(here, schema), strict=True)
            wans = {(one.key.topic, one.key.trial): own.get(name) for one, own in every}
            if schema[name].level == "set":
                note, wans = note.replace("items", "topics"), {}
                for topic in names if len(names) > 1 else ():  # a topic counts once, in its first trial
                    opinion = judgments.sets.get((scores.system, topic, name))
                    if opinion is not None and opinion.value is not None:
                        share = opinion.share
                        wans[topic, scores.trials[0]] = Wan(name, share * opinion.value, share, 1, 1)
            if not n:
                note = "; ".join((note, *schema[name].reasons_without_score))
            cells = [[wans.get((topic, trial)) for trial in scores.trials] for topic in names]
            sides = (
                np.array([[math.nan if one is None else getattr(one, side) for one in row] for row in cells])
                for side in ("numerator", "denominator")
            )
            units, above, below = _resampling_units(names, scores.trials, *sides)
            interval = resampler.ratio(units, above, below, unit="trial" if len(names) == 1 else "topic")
        criteria = found.covered if measure.declaration is SWAN else [criterion_of(measure, schema)]
        if n and len(names) == 1 and all(schema[one].level == "set" for one in criteria):
            interval = no_interval(too_few_reason(1))  # a topic has one score, so there are no trials to resample
        note = "; ".join(filter(None, (note, interval.note)))
        yield Reading(part, value, n, interval, None if part.topic else len(names), note)


def _resampling_units(
    names: Sequence[str], trials: Sequence[int], above: Floats, below: Floats
) -> tuple[list[str], Floats, Floats]:
    if len(names) != 1:
        return list(names), above, below
    return [str(trial) for trial in trials], np.swapaxes(above, 0, 1), np.swapaxes(below, 0, 1)


def _swan_interval(
    found: Swan,
    names: Sequence[str],
    trials: Sequence[int],
    assessments: Sequence[Assessment],
    schema: Schema,
    judgments: Judgments,
    resampler: Resampler,
) -> Interval:
    """Return the interval of SWAN over pooled nuggets, drawn as for WAN but for all criteria together. A criterion of
    sets has one score for a topic, which is divided evenly over the topic's trials."""
    every = zip(assessments, conversation_wans(assessments, schema), strict=True)
    wans = {(one.key.topic, one.key.trial): own for one, own in every}
    above = np.full((len(names), len(trials), len(found.covered)), math.nan)
    below = above.copy()
    sets = judgments.sets
    for row, name in enumerate(names):
        there = [column for column, trial in enumerate(trials) if (name, trial) in wans]
        for place, criterion in enumerate(found.covered):
            opinion = sets.get((assessments[0].key.system, name, criterion))
            for column in there:
                one = wans[name, trials[column]].get(criterion)
                if one is not None:
                    above[row, column, place], below[row, column, place] = one.numerator, one.denominator
                elif opinion is not None and opinion.value is not None:
                    above[row, column, place] = opinion.share * opinion.value / len(there)
                    below[row, column, place] = opinion.share / len(there)
                else:
                    above[row, column, place] = below[row, column, place] = 0.0
    weights = [schema.weights.get(criterion, 1.0) for criterion in found.covered]
    units, above, below = _resampling_units(names, trials, above, below)
    unit = "trial" if len(names) == 1 else "topic"
    return resampler.weighted_ratios(units, above, below, weights, unit)


POOLED = Declaration(
    name="pooled",
    sentence="A measure over the nuggets or turns of all conversations together: long conversations weigh more.",
    of="measure",
    formula="ratio of the sums over all conversations; GF(SET): in each topic, then the mean over topics",
    source="[SWAN] Eq. 2 as printed",
    undefined="as the inner measure",
    example="pooled(SWAN)",
    n="scored nuggets, or turns",
    written=("pooled(SWAN)", "pooled(WAN(Correctness))", "pooled(GF(SET))"),
    arguments=(1, 1),
    read=_read_term,
    rows=_rows,
    of_sets=True,
)
OF_POOLED = Declaration(
    name="of_pooled",
    sentence="GF of what all conversations of a topic achieve together; printed with the other two readings.",
    of="measure",
    formula="in each topic 1 - divergence(mean of achieved over all turns, gold), then the mean over topics",
    source="our own; docs/stochastic.md",
    undefined="as GF",
    example="of_pooled(GF(RATINGS))",
    n="turns",
    needs=("gold",),
    written=("of_pooled(GF(SET))",),
    arguments=(1, 1),
    read=_read_term,
    rows=_rows,
)
