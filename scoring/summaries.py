"""Figures over many conversations of one system: by topic, by trial, by topic type, and over everything.

A mean over trials is first taken within each topic, then over topics, so that a topic with an invalid trial weighs
what the others weigh. Every interval has the topic as its unit, except within a single topic, where it is the trial.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import says_how
from recordings.files.times import moment
from scoring.answers import Answers, Tally
from scoring.columns import Columns
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import INDEPENDENT, Design
from scoring.inference.in_time import trials_in_time
from scoring.inference.interval import Interval, no_interval
from scoring.library import declared, measures
from scoring.measures.usefulness import (
    NOT_ASKED,
    UNLABELLED,
    Share,
    labels,
    recovery_cells,
    share,
    useful_cells,
)
from scoring.settings import Settings
from scoring.stochastic.failures import rate_of
from scoring.table import ScoreRow, has_top
from topics.counting import pluralize
from topics.topic import Topic

Floats = npt.NDArray[np.float64]

_IN_TIME = 3  # measures that are asked whether trials hang together in time
_ALIKE = 0.05  # p at which they do


@dataclass(frozen=True, slots=True)
class _Cells:
    """A measure over (topics, trials): NaN where there is no value, its bounds, and the counts that go with it."""

    values: Floats
    worst: Floats
    best: Floats
    unjudged: npt.NDArray[np.int64]
    unknown: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """Some topics and trials of the system, and what the rows over them are of."""

    topics: Sequence[int]
    trials: Sequence[int]
    topic: str | None = None
    topic_type: str | None = None
    trial: int | None = None

    @property
    def one(self) -> bool:
        """Whether it is over one topic, within which the trials are the units."""
        return len(self.topics) == 1

    @property
    def unit(self) -> str:
        return "trial" if self.one else "topic"


class SystemScores:
    """Collects the conversations of one system and yields the rows over them.

    topics: in the order of the topic set. trials: numbers, ascending. turns: by topic, how many user turns the
    protocol can take. design: what hangs together. `add` once for each valid conversation, `fill` once with their
    figures, `lose` once for each trial that never became valid.
    answers: the labels so far. valid: (topics, trials) so far. cells: by measure.
    unlabelled: replies without a label so far, which are not counted. not_asked: conversations so far that ended well
    before the protocol's last turn. unknown_ends: those whose recording does not say how they ended.
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
        self.cells: dict[str, _Cells] = {}
        self._measured: set[tuple[int, str]] = set()

    def add(self, conversation: Conversation) -> None:
        """Add a finished, valid conversation."""
        key = conversation.key
        at = self._row[key.topic], self._column[key.trial]
        row = labels(conversation, self.turns[key.topic])
        self.valid[at] = True
        self.unlabelled += row.count(UNLABELLED)
        if NOT_ASKED in row and "-" not in row:
            known = conversation.outcome is None or says_how(conversation.outcome)
            self.not_asked += known
            self.unknown_ends += not known
        self.answers.useful[at][: len(row)] = useful_cells(row)
        self.answers.recovered[at], self.answers.failed[at] = recovery_cells(row)
        began = moment(conversation.started_at)
        self.times[at] = began if math.isfinite(began) else math.nan

    def fill(self, found: Columns) -> None:
        """Take the figures of the conversations that were added, in the order in which they are to have rows."""
        places = [(self._row[key.topic], self._column[key.trial]) for key in found.keys]
        rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
        for measure, parts in found.parts.items():
            counts = np.zeros((2, *self._shape), dtype=np.int64)
            none = np.full((3, *self._shape), np.nan)
            cells = self.cells[measure] = _Cells(none[0], none[1], none[2], counts[0], counts[1])
            for part in parts:
                at = rows[part.at], columns[part.at]
                self._measured.update((row, measure) for row in np.unique(at[0]).tolist())
                cells.values[at], cells.worst[at], cells.best[at] = part.value, part.worst, part.best
                cells.unjudged[at], cells.unknown[at] = part.unjudged, part.unknown

    def lose(self, topic: str, trial: int) -> None:
        """Add a trial whose every attempt failed for reasons of infrastructure."""
        self.answers.invalid[self._row[topic], self._column[trial]] = True

    def heed_time(self) -> str:
        """Widen the intervals of trials where trials near each other in time are alike, and say so in a sentence; "" if
        they are not. Asked are shares of a conversation's answers and the first measures of conversations; each of
        them counts in p."""
        shares = {one.measure: one.above / one.below for one in self.tallies() if one.turn is None and not one.pooled}
        chosen = {**shares, **{name: one.values for name, one in self.cells.items()}}
        known = [(name, values) for name, values in chosen.items() if not np.isnan(values).all()][:_IN_TIME]
        found = [(name, trials_in_time(values, self.times)) for name, values in known]
        if not found:
            return ""
        name, most = min(found, key=lambda one: one[1].p)
        most = replace(most, p=min(1.0, len(found) * most.p), drift_p=min(1.0, len(found) * most.drift_p))
        if most.p <= _ALIKE:
            self.design = replace(self.design, inflation=most.inflation)
        return f"{self.system}, {name}: {most.note}." if most.note else ""

    def values(self, measure: str) -> Floats:
        """(topics, trials) of a measure of conversations, NaN where a trial has none."""
        cells = self.cells.get(measure)
        return np.full(self._shape, np.nan) if cells is None else cells.values.copy()

    @property
    def invalid(self) -> npt.NDArray[np.bool_]:
        """(topics, trials) whether the infrastructure failed the trial in every attempt."""
        return self.answers.invalid.copy()

    def tallies(self) -> list[Tally]:
        """Both sides of each share over trials, in the order of tables."""
        return [one for made in measures() if made.tallies is not None for one in made.tallies(self.answers)]

    def rows(self, resampler: Resampler) -> Iterator[ScoreRow]:
        """Rows by topic type, and over everything."""
        parts = [Part(members, range(len(self.trials)), None, name) for name, members in self.types().items()]
        return self.part_rows((*parts, Part(range(len(self.topics)), range(len(self.trials)))), resampler)

    def types(self) -> dict[str, list[int]]:
        """The rows of the topics of each type, in the order in which types first occur."""
        types: dict[str, list[int]] = {}
        for row, topic in enumerate(self.topics):
            types.setdefault(topic.type.name, []).append(row)
        return types

    def part_rows(self, parts: Iterable[Part], resampler: Resampler) -> Iterator[ScoreRow]:
        """The rows of each part, with intervals."""
        tallies = self.tallies()
        for part in parts:
            if (self.valid | self.answers.invalid)[np.ix_(part.topics, part.trials)].any():
                yield from self._shares(part, tallies, resampler)
                yield from self._means(part, resampler)

    def _shares(self, part: Part, tallies: Sequence[Tally], resampler: Resampler) -> Iterator[ScoreRow]:
        grid, topics = np.ix_(part.topics, part.trials), list(part.topics)
        for one in tallies:
            if not one.there[topics].any():
                continue
            lost, whole = one.lost[grid], float(one.whole[topics].max())
            found = self._share(part, one.above[grid], one.below[grid], lost, resampler, whole=whole, pooled=one.pooled)
            goes_on = self.design.continued and not part.one
            if 0 < found.units < one.fewest[0] and (found.interval.printed or not goes_on):
                unit = part.unit if part.one else self.design.unit([self.topics[row].id for row in part.topics])
                unit = "session" if goes_on and found.units < found.topics else unit
                few = f"{pluralize(found.units, unit)} with {one.fewest[1]}, too few for an interval"
                found = replace(found, interval=no_interval(few))
            yield self.share_row(one.measure, found, part, int(lost.sum()), one.turn)

    def _share(
        self,
        part: Part,
        above: Floats,
        below: Floats,
        invalid: npt.NDArray[np.bool_],
        resampler: Resampler,
        *,
        whole: float = 1.0,
        pooled: bool = False,
    ) -> Share:
        names = [self.topics[row].id for row in part.topics]
        if part.one:
            above, below, invalid = above.T, below.T, invalid.T
            names = [str(self.trials[column]) for column in part.trials]
        return share(
            names,
            above,
            below,
            invalid,
            level=self.settings.level,
            pooled=pooled,
            whole=whole,
            resampler=resampler if self.settings.shares == "bootstrap" and not part.one else None,
            unit=part.unit,
            design=self.design,
        )

    def share_row(self, measure: str, found: Share, part: Part, invalid: int, turn: int | None = None) -> ScoreRow:
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
            low=found.interval.low,
            high=found.interval.high,
            level=self.settings.level if found.interval.method else None,
            interval=found.interval.method or None,
            resampled=found.interval.resampled or None,
            invalid=invalid,
            worst=found.worst,
            best=found.best,
            note=found.interval.note,
        )

    def _means(self, part: Part, resampler: Resampler) -> Iterator[ScoreRow]:
        grid = np.ix_(part.topics, part.trials)
        present = {measure: cells for measure, cells in self.cells.items() if self._belongs(measure, part)}
        if not present:
            return
        stacked = np.stack([cells.values[grid] for cells in present.values()], axis=-1)
        top = [1.0 if has_top(measure) else math.inf for measure in present]
        names, units = [self.topics[row].id for row in part.topics], stacked
        if part.one:
            names, units = [str(self.trials[column]) for column in part.trials], np.moveaxis(stacked, 0, 1)
        intervals = resampler.under(self.design).means(names, units, top=top, unit=part.unit)
        lost = self.answers.invalid[grid]
        invalid, valid = int(lost.sum()), self.valid[grid]
        columns = np.ascontiguousarray(np.moveaxis(stacked, -1, 0))
        means = _over_topics(columns)
        worst, best = (
            _over_topics(np.stack([getattr(cells, side)[grid] for cells in present.values()]))
            for side in ("worst", "best")
        )
        for place, (measure, cells) in enumerate(present.items()):
            values = columns[place]
            if self.is_event(measure):
                yield self.event_row(measure, part)
                continue
            seen = ~np.isnan(values)
            rows = seen.any(axis=1)
            absent = int((valid & ~seen & self.having(measure, part.topics)[:, None]).sum()) if rows.any() else 0
            yield self.mean_row(
                measure,
                part,
                (float(means[place]), float(worst[place]), float(best[place])),
                int(seen.sum()),
                topics=int(rows.sum()),
                invalid=invalid,
                unjudged=int(cells.unjudged[grid].sum()),
                unknown=int(cells.unknown[grid].sum()),
                left_out=absent,
                interval=intervals[place],
            )

    def mean_row(
        self,
        measure: str,
        part: Part,
        values: tuple[float, float, float],
        n: int,
        *,
        topics: int,
        invalid: int,
        unjudged: int,
        unknown: int,
        left_out: int,
        interval: Interval,
    ) -> ScoreRow:
        """values: the mean, worst and best. left_out: conversations without a value."""
        absent = f"{pluralize(left_out, 'conversation')} without a value, left out" if left_out else ""
        return ScoreRow(
            measure=measure,
            system=self.system,
            topic=part.topic,
            topic_type=part.topic_type,
            trial=part.trial,
            value=values[0],
            n=n,
            topics=None if part.topic is not None else topics,
            low=interval.low,
            high=interval.high,
            level=self.settings.level if interval.method else None,
            interval=interval.method or None,
            resampled=interval.resampled or None,
            invalid=invalid,
            worst=values[1],
            best=values[2],
            unjudged=unjudged,
            unknown=unknown,
            note="; ".join(filter(None, (absent, interval.note))),
        )

    def event_row(self, measure: str, part: Part) -> ScoreRow:
        """A share, with the interval of one: P(breakdown) is the same figure."""
        grid = np.ix_(part.topics, part.trials)
        names, lost = [self.topics[row].id for row in part.topics], self.answers.invalid[grid]
        values, level = self.cells[measure].values[grid], self.settings.level
        rate = rate_of(names, values, level=level, invalid=lost, design=self.design)
        return replace(self.share_row(measure, rate.share, part, int(lost.sum())), note=rate.note)

    def is_event(self, measure: str) -> bool:
        """Whether the measure is 1 where something happened and 0 where not."""
        found = declared(measure)
        return found is not None and found.event

    def _belongs(self, measure: str, part: Part) -> bool:
        """Whether any topic of the part can have the measure: a movie has no GF(HINDEX)."""
        return bool(self.having(measure, part.topics).any())

    def having(self, measure: str, topics: Sequence[int]) -> npt.NDArray[np.bool_]:
        """(topics,) which of them, given by their rows, can have the measure."""
        return np.array([(row, measure) in self._measured for row in topics], dtype=bool)


def _over_topics(values: Floats) -> Floats:
    """(measures,) the mean over topics of each topic's mean over its trials; NaN cells are in none.

    values: (measures, topics, trials), the trials side by side in memory: a sum adds them in that order.
    """
    seen = ~np.isnan(values)
    counts = seen.sum(axis=2)
    sums = np.where(seen, values, 0.0).sum(axis=2)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    if counts.all():
        whole: Floats = means.mean(axis=1)
        return whole
    kept = (own[there] for own, there in zip(means, counts > 0, strict=True))
    return np.array([own.mean() if len(own) else math.nan for own in kept])
