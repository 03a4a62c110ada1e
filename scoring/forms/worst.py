"""Worst cases over many conversations: quantile, CVaR, minimum and maximum, and the rate of values beyond a bound.

The measure declares whether its smallest values (as for R) or its greatest values (as for latency) are the worst.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from scoring.figure import Good
from scoring.inference.design import Design, too_few_sessions_reason
from scoring.inference.interval import Interval, no_interval
from scoring.inference.tails import ENDS, Tail, TailKind, Worst, pooled_tail, trials_needed, within_topics
from scoring.measure import Declaration, Measure, Parameter, TermContext, refuse_parameters
from scoring.notation import Term
from scoring.pool import Pool, Reading, parts
from scoring.stochastic.failures import rate_below, rate_of
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import generator


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    """Read the inner measure and the parameters of a worst case. Raises InputError."""
    base = asking.inner(term)
    term = Term(term.name, (base.term,), term.parameters)
    event = base.declaration.event
    if event and declaration is RATE:
        refuse_parameters(term, ())
        return (replace(base, term=term, form=declaration, number=1.0),)
    if event or base.declaration.of != "conversation":
        raise InputError(
            f"{term}: {base.term} does not rank single conversations, so it has no worst conversations",
            advice=f"ask for {base.term} itself",
        )
    refuse_parameters(term, [one.name for one in declaration.parameters])
    end = base.declaration.better(base.term)
    if declaration is CVAR and end == "neither":
        raise InputError(
            f"{term}: {base.term} has no worse end, so {declaration.name} of it is undefined",
            advice=f"ask for a quantile: one conversation in ten exceeds Q({base.term}, beta=0.9)",
        )
    other = {MINIMUM: ("low", MAXIMUM, "smallest"), MAXIMUM: ("high", MINIMUM, "greatest")}.get(declaration)
    if other is not None and end == other[0]:
        raise InputError(
            f"{term}: the {other[2]} value of {base.term} is the best value, not the worst",
            advice=f"ask for {other[1].name}({base.term}), the worst value that was observed",
        )
    if not declaration.parameters:
        return (replace(base, term=term, form=declaration),)
    key = declaration.parameters[0]
    number = term.get(key.name)
    if number is None and isinstance(key.default, float):
        number = key.default
        term = Term(term.name, term.arguments, (*term.parameters, (key.name, number)))
    if not isinstance(number, float):
        raise InputError(
            f"{term}: {key.name} is missing or not a number", allowed=f"{term.name}({base.term}, {key.name}=0.25)"
        )
    if key is _SHARE and not 0 < number <= 1:
        raise InputError(
            f"{term}: the value of {key.name} is not a share of conversations", allowed="above 0, at most 1"
        )
    within = term.get("within")
    if within is not None and str(within) != "topics":
        raise InputError(f"{term}: within={within} is not allowed", allowed="within=topics")
    return (replace(base, term=term, form=declaration, number=number, within=within is not None),)


def worst_end(measure: Measure) -> Worst:
    """Return "high" if high values of the inner measure are worse, else "low"."""
    return "high" if measure.declaration.better(measure.base) == "low" else "low"


def tail_names(measure: Measure) -> tuple[str, str]:
    """Return the words for the smallest and the greatest values, such as "fastest" and "slowest"."""
    if measure.declaration.better(measure.base) == "neither":
        return "lowest", "highest"
    return measure.declaration.called or ENDS[worst_end(measure)]


def tail_kind(measure: Measure) -> TailKind:
    """Return the tail statistic that the measure reports."""
    return "quantile" if measure.form is QUANTILE else "cvar"


def _tail_readings(take: Callable[[Tail], tuple[float, Interval]]) -> Callable[[Measure, Pool], Iterator[Reading]]:
    def readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
        cells, topics = pool.scores.values(str(measure.base)), pool.scores.topics
        for part in parts(topics):
            names, values = [topics[row].id for row in part.rows], cells[list(part.rows)]
            if measure.within:
                tail = _tail_within_topics(names, values, measure, pool.planned)
            else:
                tail = _pooled_tail(measure, pool, names, values, part.topic_type or "")
            value, interval = take(tail)
            left_out = f"{tail.undefined} trials without a value are left out" if tail.undefined else ""
            note = "; ".join(filter(None, (_tail_note(measure), interval.note, left_out)))
            yield Reading(part, value, tail.n, interval, tail.topics, note)

    return readings


def _tail_note(measure: Measure) -> str:
    """Describe the conversations in the tail, or return "" if low values are the worst."""
    beta = measure.number
    if worst_end(measure) == "low" or measure.form not in (CVAR, QUANTILE):
        return ""
    best, worst = tail_names(measure)
    if measure.form is CVAR:
        return f"the mean of the {worst} {100 * beta:g}%"
    if beta > 0.5:
        return f"the {worst} {100 * (1 - beta):g}% lie above it"
    return f"the {best} {100 * beta:g}% do not exceed it"


def _rate_readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
    scores, level = pool.scores, pool.scores.settings.level
    cells = scores.values(str(measure.base))
    for part in parts(scores.topics):
        rows = list(part.rows)
        names, values, lost = [scores.topics[row].id for row in rows], cells[rows], scores.invalid[rows]
        if measure.declaration.event:
            rate = rate_of(names, values, level=level, invalid=lost, design=scores.design)
        else:
            rate = rate_below(names, values, measure.number, level=level, invalid=lost, design=scores.design)
        share = rate.share
        yield Reading(
            part,
            share.value,
            share.n,
            share.interval,
            min(share.topics, len(rows)),  # within one topic the units are its trials
            rate.note,
            int(lost.sum()),
            share.worst,
            share.best,
        )


def _tail_within_topics(names: list[str], values: Floats, measure: Measure, planned: int) -> Tail:
    """Return the mean tail of topics. Raises InputError if the run plans too few trials. If trials are lost or not
    played yet, the value is undefined instead."""
    beta, kind = _beta(measure), tail_kind(measure)
    known = [place for place, row in enumerate(values) if not np.isnan(row).all()]
    try:
        return within_topics(
            [names[place] for place in known],
            values[known],
            beta,
            kind=kind,
            worst=worst_end(measure),
            called=tail_names(measure),
        )
    except InputError as few:
        if max(values.shape[1], planned) < trials_needed(beta, kind):
            raise
        none = no_interval("; ".join(filter(None, (few.what, few.advice))))
        return Tail(beta, math.nan, math.nan, math.nan, none, none, 0, len(known), 0)


def _pooled_tail(measure: Measure, pool: Pool, names: Sequence[str], values: Floats, topic_type: str) -> Tail:
    """Return the tail over all topics and trials together, with the topics of one cluster as one unit."""
    rng, settings, design = (
        generator(pool.seed, "forms", measure.name, topic_type),
        pool.scores.settings,
        pool.scores.design,
    )
    level, replications = settings.level, settings.replications
    top = 1.0 if measure.declaration.has_top else math.inf
    units, laid = list(names), values
    if design.has_clusters(names):
        units, (laid,) = design.group_topics(names, values)
    tail = pooled_tail(
        units,
        laid,
        _beta(measure),
        rng,
        level=level,
        replications=replications,
        top=top,
        worst=worst_end(measure),
        called=tail_names(measure),
    )
    counted = int((~np.isnan(values)).any(axis=1).sum())
    tail = replace(tail, topics=counted, undefined=int(np.isnan(values).sum()))
    why = _missing_interval_reason(design, units, values) if len(names) > 1 and tail.n else ""
    none = no_interval(why)
    return replace(tail, quantile_interval=none, cvar_interval=none) if why else tail


def _missing_interval_reason(design: Design, names: Sequence[str], values: Floats) -> str:
    """Return why a worst case over several topics has no interval under the design, or "" if it may have one."""
    if design.is_about_these_topics:
        return "intervals of the worst conversations speak of topics like these alone"
    if design.continued:
        played = int((~np.isnan(values)).any(axis=0).sum())
        return (
            too_few_sessions_reason(played)
            or "sessions go on from topic to topic: no interval of the worst conversations"
        )
    return "one cluster: nothing to resample" if len(names) == 1 else ""


def _beta(measure: Measure) -> float:
    """Return the share of the worst conversations; 1 for the minimum, which does not use the share."""
    return measure.number if measure.number == measure.number else 1.0


def _good_end_of_inner(term: Term, inner: Good) -> Good:
    return inner


def _good_end_of_rate(term: Term, inner: Good) -> Good:
    """Return the good end of a rate: low for events; for a rate below a bound, the end opposite to the scores."""
    good: dict[Good, Good] = {"high": "low", "low": "high", "neither": "neither"}
    return good[inner] if term.get("below") is not None else "low"


_SHARE = Parameter("beta", "share of the worst conversations, above 0", default=0.25)
_WITHIN = Parameter("within", "topics: the worst of each topic, and their mean")

_of_scores = partial(
    Declaration,
    of="measure",
    undefined="no conversation has a value of M",
    n="conversations",
    arguments=(1, 1),
    read=_read_term,
)
CVAR = _of_scores(
    name="CVaR",
    sentence="How good the worst conversations are on average.",
    formula="mean of the worst share beta of all conversations: the lowest, or the highest where little is good",
    source="R. T. Rockafellar and S. Uryasev, J. Banking & Finance 26 (2002)",
    example="CVaR(R, beta=0.25)",
    good=_good_end_of_inner,
    parameters=(_SHARE, _WITHIN),
    written=("CVaR(R, beta=0.25)", "CVaR(latency, beta=0.05)"),
    legend="mean of the worst",
    rows=_tail_readings(lambda tail: (tail.cvar, tail.cvar_interval)),
    needs_values_alone=True,
)
QUANTILE = _of_scores(
    name="Q",
    sentence="The score that a share beta of all conversations does not exceed.",
    formula="smallest x such that at least a share beta of all conversations score x or less",
    source="lower quantile",
    example="Q(R, beta=0.1)",
    good=_good_end_of_inner,
    parameters=(_SHARE, _WITHIN),
    written=("Q(R, beta=0.25)", "Q(latency, beta=0.95)"),
    legend="quantile",
    rows=_tail_readings(lambda tail: (tail.quantile, tail.quantile_interval)),
    needs_values_alone=True,
)
MINIMUM = _of_scores(
    name="min",
    sentence="The score of the worst conversation that was observed.",
    formula="smallest value of all conversations",
    source="minimum",
    example="min(R)",
    written=("min(R)",),
    rows=_tail_readings(
        lambda tail: (tail.extreme, no_interval("the smallest that was observed; another trial can be worse"))
    ),
    needs_values_alone=True,
)
MAXIMUM = _of_scores(
    name="max",
    sentence="The score of the worst conversation that was observed, of a measure where little is good.",
    formula="largest value of all conversations",
    source="maximum",
    example="max(latency)",
    good=_good_end_of_inner,
    written=("max(latency)",),
    rows=_tail_readings(
        lambda tail: (tail.extreme, no_interval("the largest that was observed; another trial can be worse"))
    ),
    needs_values_alone=True,
)
RATE = _of_scores(
    name="P",
    sentence="How often a conversation scores below a bound, or an event happens in it.",
    formula="share of the conversations that score less than the bound, or in which the event took place",
    source="[GFRC] §5 counts breakdowns so; bounds of scores are our own",
    example="P(R, below=0.1)",
    parameters=(Parameter("below", "the bound; required, except for an event"),),
    good=_good_end_of_rate,
    written=("P(R, below=0.1)", "P(breakdown)"),
    legend="how often",
    event=True,
    rows=_rate_readings,
)
