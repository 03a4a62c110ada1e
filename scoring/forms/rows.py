"""Rows of what is taken over many conversations of a system: the worst case, the pooled readings, the label chain.

They are given for every topic type and for everything; the pooled readings also for every topic. Where a reading is
taken topic by topic, topics weigh the same, as in every mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoring.forms.pool import Pool, Reading
from scoring.measure import Measure
from scoring.settings import Settings
from scoring.table import ScoreRow

__all__ = ["form_rows"]


def form_rows(measures: Sequence[Measure], pool: Pool) -> Iterator[ScoreRow]:
    """Rows of one system; the order of measures changes nothing. Raises InputError where a worst case within topics is
    asked of a run that was to have too few trials.
    """
    for measure in measures:
        rows = (measure.form or measure.declaration).rows
        for reading in rows(measure, pool) if rows is not None else ():
            yield _row(reading, measure.name, pool.scores.system, pool.scores.settings)


def _row(reading: Reading, measure: str, system: str, settings: Settings) -> ScoreRow:
    interval = reading.interval
    return ScoreRow(
        measure=measure,
        system=system,
        topic=reading.part.topic,
        topic_type=reading.part.topic_type,
        trial=None,
        value=reading.value,
        n=reading.n,
        topics=reading.topics,
        low=interval.low,
        high=interval.high,
        level=settings.level if interval.method else None,
        interval=interval.method or None,
        resampled=interval.resampled or None,
        invalid=reading.invalid,
        worst=reading.worst,
        best=reading.best,
        note=reading.note or interval.note,
    )
