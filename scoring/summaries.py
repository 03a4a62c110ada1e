"""Figures of one system over many conversations: by topic, by trial, by topic type, and over everything.

A mean over trials is first computed within each topic, then over topics, so topics with invalid trials have the same
weight as the others. The unit of every interval is the topic, except within a single topic, where it is the trial.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import is_end_stated
from recordings.conversations.outlines import Outlines
from recordings.files.times import unix_seconds
from scoring.columns import Answers, Cells, Columns, Grid, Mean, Tally
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import INDEPENDENT, Design
from scoring.inference.in_time import WIDENED_P, time_dependence
from scoring.inference.interval import Interval, no_interval
from scoring.library import declared, measures
from scoring.measures import usefulness
from scoring.settings import Settings
from scoring.stochastic.failures import rate_of
from scoring.table import ScoreRow, fewest_topics, has_top
from topics.arrays import Counts, Floats
from topics.counting import pluralize
from topics.topic import Topic

_IN_TIME = 3  # measures that are tested for trials that are alike in time


@dataclass(frozen=True, slots=True)
class Part:
    """Some topics and trials of a system, with the topic, type and trial that identify their rows."""

    topics: Sequence[int]
    trials: Sequence[int]
    topic: str | None = None
    topic_type: str | None = None
    trial: int | None = None

    @property
    def is_one_topic(self) -> bool:
        """True for a part over one topic, whose units are its trials."""
        return len(self.topics) == 1

    @property
    def unit(self) -> str:
        return "trial" if self.is_one_topic else "topic"


class SystemScores:
    """Collects the conversations of one system and makes the rows over them.

    Call `add` once for each valid conversation, `set_figures` once with all figures, and `add_lost_trial` once
    for each trial that never became valid. `topics` are in the order of the topic set, and `trials` are numbers,
    ascending. `turns` is the number of user turns that the protocol can take, by topic, and `design` is how trials
    depend on each other.

    `answers` are the labels so far, `valid` (topics, trials) marks the valid trials, and `cells` has the values by
    measure. `unlabelled` counts replies without a label, `not_asked` conversations that ended well before the
    protocol's last turn, and `unknown_ends` conversations whose recording does not say how they ended.
    """

    def __init__(
        self,
        system: str,
        topics: Sequence[Topic],
        trials: Sequence[int],
        turns: Mapping[str, int],
        settings: Settings,
        design: Design = INDEPENDENT,
    ) -> None:
        self.design = design
        self.system, self.topics, self.trials, self.turns, self.settings = system, topics, trials, turns, settings
        self._row = {topic.id: row for row, topic in enumerate(topics)}
        self._column = {trial: column for column, trial in enumerate(trials)}
        self._shape = (len(topics), len(trials))
        most = np.array([turns[topic.id] for topic in topics], dtype=np.int64)
        self.answers = Answers.empty(most, len(trials))
        self.unlabelled = self.not_asked = self.unknown_ends = 0
        self.valid = np.zeros(self._shape, dtype=bool)
        self.times = np.full(self._shape, np.nan)
        self.cells: dict[str, Cells] = {}
        self._measured: set[tuple[int, str]] = set()

    def add(self, conversation: Conversation) -> None:
        """Add a finished, valid conversation."""
        key = conversation.key
        at = self._row[key.topic], self._column[key.trial]
        row = usefulness.labels(conversation, self.turns[key.topic])
        self.valid[at] = True
        self._count_marks(conversation, row, 1)
        self.answers.useful[at][: len(row)] = usefulness.useful_cells(row)
        self.answers.recovered[at], self.answers.failed[at] = usefulness.recovery_cells(row)
        began = unix_seconds(conversation.started_at)
        self.times[at] = began if math.isfinite(began) else math.nan

    def _count_marks(self, conversation: Conversation, row: Sequence[str], count: int) -> None:
        self.unlabelled += count * row.count(usefulness.UNLABELLED)
        if usefulness.NOT_ASKED in row and "-" not in row:
            known = conversation.outcome is None or is_end_stated(conversation.outcome)
            self.not_asked += count * known
            self.unknown_ends += count * (not known)

    def add_outlines(self, several: Outlines) -> None:
        """Add the outlines of finished, valid conversations."""
        first, counts, kind = several.groups
        at = self.places(several)
        marks = [usefulness.labels(several[i], self.turns[several.key(i).topic]) for i in first.tolist()]
        useful = np.full((len(marks), self.answers.useful.shape[2]), np.nan)
        for own, row in zip(useful, marks, strict=True):
            own[: len(row)] = usefulness.useful_cells(row)
        for i, row, count in zip(first.tolist(), marks, counts.tolist(), strict=True):
            self._count_marks(several[i], row, count)
        self.valid[at] = True
        self.answers.useful[at] = useful[kind]
        recovery = np.array([usefulness.recovery_cells(row) for row in marks]).reshape(-1, 2)
        self.answers.recovered[at], self.answers.failed[at] = recovery[kind].T
        self.times[at] = several.started

    def places(self, several: Outlines) -> tuple[Counts, Counts]:
        """Return the topic's row and the trial's column of each conversation."""
        rows = np.array([self._row.get(name, -1) for name in several.topics], dtype=np.int64)
        return rows[several.topic], np.searchsorted(np.array(self.trials, dtype=np.int64), several.trial)

    def set_figures(self, found: Columns, places: tuple[Counts, Counts] | None = None) -> None:
        """Set the figures of all added conversations, in the order of the rows. `places` has the positions of the
        columns' conversations, if they are known."""
        if places is None:
            each = [(self._row[key.topic], self._column[key.trial]) for key in found.keys]
            both = np.array(each, dtype=np.int64).reshape(-1, 2)
            places = both[:, 0], both[:, 1]
        rows, columns = places
        joined: dict[tuple[int, ...], Any] = {}
        for measure, parts in found.parts.items():
            at = [(rows[part.at], columns[part.at]) for part in parts]
            self._measured.update((row, measure) for own, _ in at for row in np.unique(own).tolist())
            self.cells[measure] = Cells.spread(self._shape, at, parts, joined)

    def add_lost_trial(self, topic: str, trial: int) -> None:
        """Add a trial of which every attempt failed for reasons of infrastructure."""
        self.answers.invalid[self._row[topic], self._column[trial]] = True

    def adjust_for_time(self) -> str:
        """Widen intervals over trials if trials near in time are alike. Returns a sentence about the adjustment, or
        "" if there is none. The test uses the share of useful answers and the first measures, with p corrected for
        the number of tests."""
        shares = {one.measure: one.above / one.below for one in self.tallies() if one.turn is None and not one.pooled}
        chosen = {**shares, **{name: one.values for name, one in self.cells.items()}}
        known = [(name, values) for name, values in chosen.items() if not np.isnan(values).all()][:_IN_TIME]
        found = [(name, time_dependence(values, self.times)) for name, values in known]
        if not found:
            return ""
        name, most = min(found, key=lambda one: one[1].p)
        most = replace(most, p=min(1.0, len(found) * most.p), drift_p=min(1.0, len(found) * most.drift_p))
        if most.p <= WIDENED_P:
            self.design = replace(self.design, inflation=most.inflation)
        return f"{self.system}, {name}: {most.note}." if most.note else ""

    def values(self, measure: str) -> Floats:
        """Return the (topics, trials) values of a measure of conversations. Trials without a value are NaN."""
        cells = self.cells.get(measure)
        return np.full(self._shape, np.nan) if cells is None else cells.values.copy()

    @property
    def invalid(self) -> npt.NDArray[np.bool_]:
        """Boolean array (topics, trials), True if every attempt of the trial failed for reasons of infrastructure."""
        return self.answers.invalid.copy()

    def tallies(self) -> list[Tally]:
        """Return the two sides of each share over trials, in the order of tables."""
        return [one for made in measures() if made.tallies is not None for one in made.tallies(self.answers)]

    def rows(self, resampler: Resampler) -> Iterator[ScoreRow]:
        """Yield the rows over each topic type and over everything, with intervals."""
        parts = [Part(members, range(len(self.trials)), None, name) for name, members in self._members()]
        return (row for part in parts for rows in self._part_rows([part], resampler) for row in rows)

    def topic_rows(self, resampler: Resampler | None) -> Iterator[ScoreRow]:
        """Yield the rows of each topic over its trials, with intervals if there is a resampler."""
        trials = range(len(self.trials))
        parts = [Part([row], trials, topic.id, topic.type.name) for row, topic in enumerate(self.topics)]
        return (row for rows in self._part_rows(parts, resampler) for row in rows)

    def trial_rows(self, resampler: Resampler | None) -> Iterator[ScoreRow]:
        """Yield the rows of each trial, by topic type and over all topics, with intervals if there is a resampler."""
        each = [
            [Part(members, [column], None, name, trial) for column, trial in enumerate(self.trials)]
            for name, members in self._members()
        ]
        made = zip(*(self._part_rows(parts, resampler) for parts in each), strict=True)
        return (row for parts in made for rows in parts for row in rows)

    def _members(self) -> list[tuple[str | None, Sequence[int]]]:
        return [*self.types().items(), (None, range(len(self.topics)))]

    def types(self) -> dict[str, list[int]]:
        """Return the rows of the topics of each type, in the order in which types first occur."""
        types: dict[str, list[int]] = {}
        for row, topic in enumerate(self.topics):
            types.setdefault(topic.type.name, []).append(row)
        return types

    def _part_rows(self, parts: Sequence[Part], resampler: Resampler | None) -> Iterator[list[ScoreRow]]:
        """Yield the rows of each part. All parts must have the same number of topics, and of trials."""
        tried = [(self.valid | self.answers.invalid)[np.ix_(one.topics, one.trials)].any() for one in parts]
        parts = [one for one, some in zip(parts, tried, strict=True) if some]
        found: Iterator[tuple[list[ScoreRow], ...]] = iter(())
        if parts:
            topics, trials = np.array([one.topics for one in parts]), np.array([one.trials for one in parts])
            at = topics[:, :, None], trials[:, None, :]
            each = [self._shares(parts, at, one, resampler) for one in self.tallies()]
            found = zip(*each, self._means(parts, at, resampler), strict=True)
        for some in tried:
            yield [row for rows in next(found) for row in rows] if some else []

    def _shares(
        self, parts: Sequence[Part], at: Grid, one: Tally, resampler: Resampler | None
    ) -> Iterator[list[ScoreRow]]:
        """Yield, for each part, a list of one row with the share, or an empty list if the part cannot have the
        share."""
        sides = [np.ascontiguousarray(side[at]) for side in (one.above, one.below, one.lost)]
        if parts[0].is_one_topic:  # the trials are the units
            sides = [side.transpose(0, 2, 1) for side in sides]
        above, below, lost = sides
        whole = one.whole[at[0]].max(axis=(1, 2))
        there: list[bool] = np.any(one.there[at[0]], axis=(1, 2)).tolist()
        found, invalid = usefulness.shares(above, below, lost, whole, pooled=one.pooled), lost.sum(axis=(1, 2)).tolist()
        for i, part in enumerate(parts):
            own = found[i]
            if resampler is not None and there[i]:
                own = self._with_interval(part, own, above[i], below[i], one, resampler)
            yield [self._share_row(one.measure, own, part, invalid[i], one.turn)] if there[i] else []

    def _with_interval(
        self, part: Part, found: usefulness.Share, above: Floats, below: Floats, one: Tally, resampler: Resampler
    ) -> usefulness.Share:
        names = [self.topics[row].id for row in part.topics]
        found = usefulness.add_interval(
            found,
            [str(self.trials[column]) for column in part.trials] if part.is_one_topic else names,
            above,
            below,
            level=self.settings.level,
            pooled=one.pooled,
            resampler=resampler if self.settings.shares == "bootstrap" and not part.is_one_topic else None,
            unit=part.unit,
            design=self.design,
        )
        goes_on = self.design.continued and not part.is_one_topic
        if not 0 < found.units < one.fewest[0] or (goes_on and not found.interval.is_defined):
            return found
        unit = part.unit if part.is_one_topic else self.design.unit(names)
        unit = "session" if goes_on and found.units < found.topics else unit
        few = f"{pluralize(found.units, unit)} with {one.fewest[1]}, too few for an interval"
        return replace(found, interval=no_interval(few))

    def _share_row(
        self, measure: str, found: usefulness.Share, part: Part, invalid: int, turn: int | None = None
    ) -> ScoreRow:
        return ScoreRow(
            measure=measure,
            system=self.system,
            topic=part.topic,
            topic_type=part.topic_type,
            trial=part.trial,
            value=found.value,
            n=found.n,
            turn=turn,
            topics=None if part.topic is not None else min(found.topics, len(part.topics)),
            **interval_fields(found.interval, self.settings.level),
            invalid=invalid,
            worst=found.worst,
            best=found.best,
            note=found.interval.note,
        )

    def _means(self, parts: Sequence[Part], at: Grid, resampler: Resampler | None) -> Iterator[list[ScoreRow]]:
        valid, invalid = self.valid[at], self.answers.invalid[at].sum(axis=(1, 2)).tolist()
        columns: dict[str, list[Mean]] = {}
        there: dict[str, list[bool]] = {}
        for measure, cells in self.cells.items():
            having = np.array([(row, measure) in self._measured for row in range(len(self.topics))])[at[0]]
            there[measure] = np.any(having, axis=(1, 2)).tolist()
            if any(there[measure]) and not self._is_event(measure) and not self._counts(measure):
                columns[measure] = cells.means(at, valid & having)
        for i, part in enumerate(parts):
            present = [measure for measure in self.cells if there[measure][i]]
            intervals = self._intervals(part, [one for one in present if one in columns], resampler)
            yield [
                self._event_row(measure, part)
                if self._is_event(measure)
                else self._mean_row(measure, part, columns[measure][i], invalid[i], intervals[measure])
                if measure in columns
                else self._counted_row(measure, part, resampler)
                for measure in present
            ]

    def _intervals(self, part: Part, measures: Sequence[str], resampler: Resampler | None) -> Mapping[str, Interval]:
        if resampler is None or not measures:
            return dict.fromkeys(measures, no_interval())
        grid = np.ix_(part.topics, part.trials)
        units = np.stack([self.cells[measure].values[grid] for measure in measures], axis=-1)
        names = [self.topics[row].id for row in part.topics]
        if part.is_one_topic:
            names, units = [str(self.trials[column]) for column in part.trials], np.moveaxis(units, 0, 1)
        top = [1.0 if has_top(measure) else math.inf for measure in measures]
        fewest = [fewest_topics(measure) for measure in measures]
        found = resampler.with_design(self.design).means(names, units, top=top, fewest=fewest, unit=part.unit)
        return dict(zip(measures, found, strict=True))

    def _mean_row(self, measure: str, part: Part, found: Mean, invalid: int, interval: Interval) -> ScoreRow:
        left_out = found.left_out
        absent = f"{pluralize(left_out, 'conversation')} without a value, left out" if left_out else ""
        return ScoreRow(
            measure=measure,
            system=self.system,
            topic=part.topic,
            topic_type=part.topic_type,
            trial=part.trial,
            value=found.value,
            n=found.n,
            topics=None if part.topic is not None else found.topics,
            **interval_fields(interval, self.settings.level),
            invalid=invalid,
            worst=found.worst,
            best=found.best,
            unjudged=found.unjudged,
            unknown=found.unknown,
            note="; ".join(filter(None, (absent, interval.note))),
        )

    def _event_row(self, measure: str, part: Part) -> ScoreRow:
        grid = np.ix_(part.topics, part.trials)
        names, lost = [self.topics[row].id for row in part.topics], self.answers.invalid[grid]
        values, level = self.cells[measure].values[grid], self.settings.level
        rate = rate_of(names, values, level=level, invalid=lost, design=self.design)
        return replace(self._share_row(measure, rate.share, part, int(lost.sum())), note=rate.note)

    def _counted_row(self, measure: str, part: Part, resampler: Resampler | None) -> ScoreRow:
        """Return the row of a measure whose values are shares of n things in a conversation."""
        grid, cells = np.ix_(part.topics, part.trials), self.cells[measure]
        n, lost = cells.n[grid].astype(np.float64), self.answers.invalid[grid]
        below = np.where(self.valid[grid], n, np.nan)
        sides = [np.where(n > 0, end[grid] * n, 0.0) + 0 * below for end in (cells.values, cells.worst, cells.best)]
        if part.is_one_topic:
            below, lost, sides = below.T, lost.T, [side.T for side in sides]
        pooled, most = self._counts(measure) == "sums", float(n.max(initial=1))
        own, low, high = (
            usefulness.shares(side[None], below[None], lost[None], most, pooled=pooled)[0] for side in sides
        )
        there = np.ones(len(below), dtype=bool)
        if resampler is not None:
            fewest = (usefulness.FEWEST_FAILED, "a value") if pooled else (0, "")
            tally = Tally(measure, None, sides[0], below, lost, np.full(len(below), most), there, pooled, fewest)
            own = self._with_interval(part, own, sides[0], below, tally, resampler)
        without = 0 if pooled else int((self.valid[grid] & (n == 0)).sum())  # which weigh nothing in a ratio of sums
        absent = f"{pluralize(without, 'conversation')} without a value, left out" if without and own.n else ""
        row = self._share_row(measure, own, part, int(lost.sum()))
        return replace(
            row,
            worst=low.worst,
            best=high.best,
            unknown=int(cells.unknown[grid].sum()),
            note="; ".join(filter(None, (absent, row.note))),
        )

    def _counts(self, measure: str) -> str:
        found = declared(measure)
        return "" if found is None else found.counts

    def _is_event(self, measure: str) -> bool:
        found = declared(measure)
        return found is not None and found.event


def interval_fields(interval: Interval, level: float) -> dict[str, Any]:
    """Return the fields of a row that describe an interval with confidence `level`."""
    known = bool(interval.method)
    return {
        "low": interval.low,
        "high": interval.high,
        "level": level if known else None,
        "interval": interval.method or None,
        "resampled": interval.resampled or None,
    }
