"""Rows of each topic over its trials, and of each trial over its topics; without intervals of many parts at once. To
the last bit the values of `scoring.summaries`, which makes a part after the other."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import no_interval
from scoring.measures.usefulness import Share
from scoring.summaries import Part, SystemScores
from scoring.table import ScoreRow

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def present_means(values: npt.ArrayLike) -> Floats:
    """(parts,) the mean of what is not NaN in each row; NaN where nothing is. values: (parts, units)."""
    rows = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(rows)
    counts = seen.sum(axis=1)
    means = np.full(len(rows), math.nan)
    for count in np.unique(counts[counts > 0]).tolist():  # numpy adds as many numbers in the same order
        alike = counts == count
        means[alike] = rows[alike][seen[alike]].reshape(-1, count).mean(axis=1)
    return means


@dataclass(frozen=True, slots=True)
class ShareValues:
    """(parts,) each, as in `scoring.measures.usefulness.Share`."""

    value: Floats
    n: npt.NDArray[np.int64]
    counted: npt.NDArray[np.int64]
    worst: Floats
    best: Floats


def share_values(above: Floats, below: Floats, lost: Flags, whole: npt.ArrayLike, *, pooled: bool) -> ShareValues:
    """Shares where every unit is one trial, or every trial one unit: those of `scoring.measures.usefulness.share`.

    above, below: (parts, units) useful answers and answers, NaN without an answer. lost: (parts, units) trials that
    never became valid; whole: answers that were lost in each.
    """
    seen = ~(np.isnan(above) | np.isnan(below))
    top, bottom = np.where(seen, above, 0.0), np.where(seen, below, 0.0)
    gone = lost & ~seen
    filled = np.where(gone, whole, bottom)
    return ShareValues(
        _values(top, bottom, pooled),
        np.rint(bottom.sum(axis=1)).astype(np.int64),
        (bottom > 0).sum(axis=1),
        _values(top, filled, pooled),
        _values(np.where(gone, whole, top), filled, pooled),
    )


def _values(top: Floats, bottom: Floats, pooled: bool) -> Floats:
    if pooled:
        sums = bottom.sum(axis=1)
        ratios: Floats = np.divide(top.sum(axis=1), sums, out=np.full(len(sums), math.nan), where=sums > 0)
        return ratios
    return present_means(np.divide(top, bottom, out=np.full(top.shape, math.nan), where=bottom > 0))


def sum_means(values: npt.ArrayLike) -> Floats:
    """(parts,) the mean of what is not NaN in each row, of a sum with zeros in the place of the others, as a topic's
    trials are averaged before topics are; NaN where nothing is. values: (parts, units)."""
    rows = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(rows)
    counts = seen.sum(axis=1)
    sums = np.where(seen, rows, 0.0).sum(axis=1)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, math.nan), where=counts > 0)
    return means


# Makes (parts, units) of (topics, trials).
_Take = Callable[[Any], Any]


def topic_rows(scores: SystemScores, resampler: Resampler | None) -> Iterator[ScoreRow]:
    """Rows of each topic over its trials. Without a resampler they have no intervals."""
    all_trials = range(len(scores.trials))
    parts = [Part([row], all_trials, topic.id, topic.type.name) for row, topic in enumerate(scores.topics)]
    if resampler is not None:
        return scores.part_rows(parts, resampler)
    return (row for rows in _bare_rows(scores, parts) for row in rows)


def trial_rows(scores: SystemScores, resampler: Resampler | None) -> Iterator[ScoreRow]:
    """Rows of each trial over its topics: by topic type, and over everything. As `topic_rows`."""
    each = [
        [Part(members, [column], None, name, trial) for column, trial in enumerate(scores.trials)]
        for name, members in (*scores.types().items(), (None, range(len(scores.topics))))
    ]
    if resampler is not None:
        return scores.part_rows((part for parts in zip(*each, strict=True) for part in parts), resampler)
    found = (_bare_rows(scores, parts) for parts in each)
    return (row for parts in zip(*found, strict=True) for rows in parts for row in rows)


def _bare_rows(scores: SystemScores, parts: Sequence[Part]) -> list[list[ScoreRow]]:
    """The rows of each part. parts: all topics, each over all trials; or all trials, each over the same topics."""
    by_topic = parts[0].topic is not None
    members = list(range(len(scores.topics))) if by_topic else list(parts[0].topics)

    def take(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return cells if by_topic else np.ascontiguousarray(cells[members].T)

    rows: list[list[ScoreRow]] = [[] for _ in parts]
    for one in scores.tallies():
        there = [bool(one.there[list(part.topics)].any()) for part in parts]
        whole = np.array([[one.whole[list(part.topics)].max()] for part in parts])
        lost = take(one.lost)
        found = share_values(take(one.above), take(one.below), lost, whole, pooled=one.pooled)
        invalid = lost.sum(axis=1).tolist()
        each = zip(*(getattr(found, field.name).tolist() for field in fields(found)), strict=True)
        for i, (value, n, counted, worst, best) in enumerate(each):
            if there[i]:
                share = Share(value, n, counted, no_interval(), worst, best)
                rows[i].append(scores.share_row(one.measure, share, parts[i], invalid[i], one.turn))
    for i, row in _means(scores, parts, take, members, by_topic=by_topic):
        rows[i].append(row)
    tried = np.any(take(scores.valid | scores.invalid), axis=1).tolist()
    return [own if some else [] for own, some in zip(rows, tried, strict=True)]


def _means(
    scores: SystemScores, parts: Sequence[Part], take: _Take, members: Sequence[int], *, by_topic: bool
) -> Iterator[tuple[int, ScoreRow]]:
    """The place of a part, and its row, by measure."""
    invalid, valid = take(scores.invalid).sum(axis=1).tolist(), take(scores.valid)
    over = sum_means if by_topic else present_means
    for measure, cells in scores.cells.items():
        having = scores.having(measure, members)
        there = having.tolist() if by_topic else [bool(having.any())] * len(parts)
        if not any(there):
            continue
        if scores.is_event(measure):
            yield from ((i, scores.event_row(measure, part)) for i, part in enumerate(parts) if there[i])
            continue
        values = take(cells.values)
        seen = ~np.isnan(values)
        absent = valid & ~seen & (having[:, None] if by_topic else having)
        columns = (
            over(values),
            over(take(cells.worst)),
            over(take(cells.best)),
            seen.sum(axis=1),
            absent.sum(axis=1),
            take(cells.unjudged).sum(axis=1),
            take(cells.unknown).sum(axis=1),
        )
        each = zip(*(column.tolist() for column in columns), strict=True)
        for i, (value, worst, best, n, left_out, unjudged, unknown) in enumerate(each):
            if there[i]:
                yield (
                    i,
                    scores.mean_row(
                        measure,
                        parts[i],
                        (value, worst, best),
                        n,
                        topics=n,
                        invalid=invalid[i],
                        unjudged=unjudged,
                        unknown=unknown,
                        left_out=left_out if n else 0,
                        interval=no_interval(),
                    ),
                )
