"""The topics a row is over, and the row itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.statistics.bootstrap import Interval
from scoring.summaries import SystemScores
from scoring.table import ScoreRow
from topics.topic import Topic

__all__ = ["Part", "form_row", "parts"]


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of the topics a figure is over, and what names it."""

    rows: Sequence[int]
    topic: str | None = None
    topic_type: str | None = None


def parts(topics: Sequence[Topic], *, each: bool = False) -> Iterator[Part]:
    """Every topic type and everything; each: also every topic."""
    types: dict[str, list[int]] = {}
    for row, topic in enumerate(topics):
        types.setdefault(topic.type.name, []).append(row)
        if each:
            yield Part([row], topic.id, topic.type.name)
    yield from (Part(rows, None, name) for name, rows in types.items())
    yield Part(range(len(topics)))


def form_row(
    scores: SystemScores,
    part: Part,
    measure: str,
    value: float,
    n: int,
    interval: Interval,
    *,
    topics: int | None,
    note: str = "",
    invalid: int = 0,
    worst: float = math.nan,
    best: float = math.nan,
) -> ScoreRow:
    """A row over trials. value: NaN where undefined. n: what it is over; topics: None within one topic."""
    return ScoreRow(
        measure=measure,
        system=scores.system,
        topic=part.topic,
        topic_type=part.topic_type,
        trial=None,
        value=value,
        n=n,
        topics=topics,
        low=interval.low,
        high=interval.high,
        level=scores.settings.level if interval.method else None,
        interval=interval.method or None,
        resampled=interval.resampled or None,
        invalid=invalid,
        worst=worst,
        best=best,
        note=note or interval.note,
    )
