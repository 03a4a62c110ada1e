"""The worst case over many conversations: quantile, CVaR, minimum, and how often one is worse than a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from scoring.catalogue import Measure
from scoring.forms.part import form_row, parts
from scoring.statistics.bootstrap import no_interval
from scoring.statistics.tails import Tail, pooled_tail, trials_needed, within_topics
from scoring.stochastic.failures import BREAKDOWN, rate_below, rate_of
from scoring.summaries import SystemScores
from scoring.table import ScoreRow, has_top
from topics.errors import InputError
from topics.identity import generator

__all__ = ["rate_rows", "tail_rows"]

Floats = npt.NDArray[np.float64]


def tail_rows(measure: Measure, scores: SystemScores, seed: int, planned: int) -> Iterator[ScoreRow]:
    """planned: trials of each topic that the run is to have; as many as there are, where nobody said."""
    cells, settings = scores.values(str(measure.base)), scores.settings
    for part in parts(scores.topics):
        names, values = [scores.topics[row].id for row in part.rows], cells[list(part.rows)]
        if measure.within:
            tail = _within(names, values, _beta(measure), planned)
        else:
            rng = generator(seed, "forms", measure.name, part.topic_type or "")
            level, replications = settings.level, settings.replications
            top = 1.0 if has_top(str(measure.base)) else math.inf
            tail = pooled_tail(names, values, _beta(measure), rng, level=level, replications=replications, top=top)
        value, interval = {
            "Q": (tail.quantile, tail.quantile_interval),
            "CVaR": (tail.cvar, tail.cvar_interval),
            "min": (tail.minimum, no_interval("the least that was seen; another trial can be worse")),
        }[measure.form]
        note = interval.note
        if tail.undefined:
            note = "; ".join(filter(None, (note, f"{tail.undefined} trials without a value are left out")))
        yield form_row(scores, part, measure.name, value, tail.n, interval, topics=tail.topics, note=note)


def rate_rows(measure: Measure, scores: SystemScores, level: float) -> Iterator[ScoreRow]:
    cells = scores.values(str(measure.base))
    for part in parts(scores.topics):
        rows = list(part.rows)
        names, values, lost = [scores.topics[row].id for row in rows], cells[rows], scores.invalid[rows]
        if measure.base.name == BREAKDOWN:
            rate = rate_of(names, values, level=level, invalid=lost)
        else:
            rate = rate_below(names, values, measure.number, level=level, invalid=lost)
        share = rate.share
        yield form_row(
            scores,
            part,
            measure.name,
            share.value,
            share.n,
            share.interval,
            topics=min(share.topics, len(rows)),  # within one topic the units are its trials
            note=rate.note,
            invalid=int(lost.sum()),
            worst=share.worst,
            best=share.best,
        )


def _within(names: list[str], values: Floats, beta: float, planned: int) -> Tail:
    """Refused where the run never was to have enough trials. Where it has lost some, or has not played them yet, there
    is no value, so that its other figures can be had.
    """
    known = [place for place, row in enumerate(values) if not np.isnan(row).all()]
    try:
        return within_topics([names[place] for place in known], values[known], beta)
    except InputError as few:
        if max(values.shape[1], planned) < trials_needed(beta):
            raise
        none = no_interval("; ".join(filter(None, (few.what, few.advice))))
        return Tail(beta, math.nan, math.nan, math.nan, none, none, 0, len(known), 0)


def _beta(measure: Measure) -> float:
    """The share of the worst; of `min` none is asked, and any will do."""
    return measure.number if measure.number == measure.number else 1.0
