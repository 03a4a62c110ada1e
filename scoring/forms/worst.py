"""The worst case over many conversations: quantile, CVaR, minimum, and how often one is worse than a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from scoring.catalogue import Measure
from scoring.forms.part import form_row, parts
from scoring.statistics.bootstrap import no_interval
from scoring.statistics.tails import pooled_tail, within_topics
from scoring.stochastic.failures import rate_below, rate_of
from scoring.summaries import SystemScores
from scoring.table import ScoreRow
from topics.identity import generator

__all__ = ["rate_rows", "tail_rows"]


def tail_rows(measure: Measure, scores: SystemScores, level: float, replications: int, seed: int) -> Iterator[ScoreRow]:
    cells = scores.values(str(measure.base))
    for part in parts(scores.topics):
        names, values = [scores.topics[row].id for row in part.rows], cells[list(part.rows)]
        if measure.within:
            known = [place for place, row in enumerate(values) if not np.isnan(row).all()]
            tail = within_topics([names[place] for place in known], values[known], _beta(measure))
        else:
            rng = generator(seed, "forms", measure.name, part.topic_type or "")
            tail = pooled_tail(names, values, _beta(measure), rng, level=level, replications=replications)
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
        if measure.base.name == "breakdown":
            rate = rate_of(names, values, level=level, invalid=lost)
        else:
            rate = rate_below(names, values, measure.number, level=level, invalid=lost)
        note = rate.share.interval.note
        if not math.isnan(rate.highest):
            said = f"never seen; with {level:.0%} confidence at most {rate.highest:.3f} over {rate.units} topics"
            note = "; ".join(filter(None, (note, said)))
        share = rate.share
        yield form_row(
            scores,
            part,
            measure.name,
            share.value,
            share.n,
            share.interval,
            topics=share.topics,
            note=note,
            invalid=int(lost.sum()),
            worst=share.worst,
            best=share.best,
        )


def _beta(measure: Measure) -> float:
    """The share of the worst; of `min` none is asked, and any will do."""
    return measure.number if measure.number == measure.number else 1.0
