"""Read a run for its figures in one pass: words are in memory only while their conversation is measured.

Memory then grows by a few numbers for each conversation. A run that needs more than outlines is left to the reader of
whole runs, which also reports every fault with its place, so that unusual cases are handled in only one place.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np

from harvest.audits.scoring_section import Threshold
from harvest.studies.runs.first_answers import FirstAnswers
from harvest.studies.runs.outlined_run import KeptTable, OutlinedRun
from harvest.studies.runs.readings import recorded_scoring, recorded_thresholds
from harvest.studies.scores.basis import Basis
from harvest.studies.scores.bounds import measures_needed
from harvest.studies.scores.gathered import declared_continued
from harvest.studies.scores.kept_columns import keep_columns, kept_run, kept_trees
from harvest.studies.scores.lost_bounds import losses_matter
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.validity.odd_answers import COUNTED
from harvest.studies.validity.odd_users import ORDERS, count_orders
from harvest.studies.validity.worded_turns import models_of
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import end_name
from recordings.conversations.outlining import Outlining
from recordings.events.attempts import Attempt
from recordings.events.passing_attempts import PassingAttempts
from recordings.judged.gold_layers import gold_table
from recordings.judged.judgments import read_layers
from recordings.judged.source_layers import source_table
from recordings.log.caps import standings
from recordings.log.header import Header, read_header, topic_order
from recordings.log.run_folder import Run, event_files, lost_events, read, read_events
from recordings.log.turn_counts import add_missing_turns
from recordings.trees.arrays import reorder
from recordings.trees.builder import LABEL, path_of
from recordings.trees.growth import Growth
from recordings.trees.tree import Scope
from scoring.conversations import UNITS, units_of
from scoring.library import read_term, unasked_plug_ins
from scoring.measure import Measure
from scoring.measured import Measuring
from scoring.settings import Settings, scoring_settings
from scoring.swan.schema import Schema
from scoring.table import ScoreTable
from topics.errors import HarvestError
from topics.gold import GoldTable
from topics.library import load_gold
from topics.source_file import load_sources
from topics.topic import TopicSet

_AT_ONCE = 4000  # conversations measured together: addresses that they share are parsed once
_LEAST = 1 << 21  # bytes of events, of some thousand turns; smaller runs are read as quickly
_TURNS_WAITING = 1 << 16  # of a system, until they are placed in its tree
_MOST_WORDS = 1 << 25  # characters of first answers; runs with more are read whole by studies that compare them


class _NeedsWords(Exception):
    """Figures of this run need more than outlines."""


def outlined_run(path: Path, request: ScoreRequest, at_once: int = _AT_ONCE) -> OutlinedRun | None:
    """Return a run whose figures were computed while it was read. Returns None if the run or the request needs more:
    measures of judgments or of many conversations' words, a cap, users worded by a model, traffic of pages, or damage.
    `at_once` conversations are measured together."""
    try:
        return _Pass(path, _Ground.of(path, request), at_once).run()
    except (HarvestError, _NeedsWords):
        return None


def run_or_columns(
    path: Path, request: ScoreRequest, code: str | None = None, *, basis: Basis | None = None
) -> tuple[OutlinedRun | None, Basis | None]:
    """Return a run for `harvest score`, as `outlined_run` does or as its columns have it, with the figures that its
    thresholds need; and what these rest on if they should be kept. `code` is as in `Basis.of`. If given, `basis` is
    that of the request without measures."""
    usual = replace(request, measures=())
    try:
        thresholds = recorded_thresholds(Run(path, read_header(path), (), ()))
        asked = replace(request, measures=(*request.measures, *map(str, measures_needed(thresholds))))
        basis = basis or Basis.of(path, usual, code)
        ground = _Ground.of(path, asked) if asked.measures else None
    except (OSError, HarvestError, _NeedsWords):  # errors are reported when the run is read
        return None, None
    kept = kept_run(path, basis, partial(_scored_again, path, usual, asked, basis))
    told = kept is not None and kept.kept is not None and _is_told(kept.kept, request, thresholds, ground)
    found = kept if told else _kept_values(path, basis, ground) or outlined_run(path, asked)
    if found is not None and thresholds and losses_matter(request.gathered([found]).material):
        return None, None  # bounds of lost trials are of whole conversations
    return found, None if told else basis


def _is_told(kept: KeptTable, request: ScoreRequest, thresholds: Sequence[Threshold], ground: "_Ground | None") -> bool:
    """Return True if the table has all rows and notes of a request, and its thresholds speak of its topics."""
    if ground is None:
        return True
    names = {row.measure for row in kept.rows}
    return (
        all(bound.estimand in (None, ground.settings.estimand) for bound in thresholds)
        and all(
            one.name in names or (one.form is None and one.declaration.of != "conversation") for one in ground.wanted
        )
        # Without gold, and of some measures, the notes say more once measures are asked for.
        and (not request.measures or ground.gold is not None)
        and not (request.measures and any(one.declaration.key or one.declaration.caution for one in ground.wanted))
    )


def _kept_values(path: Path, basis: Basis, ground: "_Ground | None") -> OutlinedRun | None:
    found = kept_run(path, basis)
    if found is None or found.measured is None or ground is None:
        return found
    return found if all(map(found.measured.has, ground.wanted)) else None


def _scored_again(path: Path, usual: ScoreRequest, asked: ScoreRequest, basis: Basis) -> ScoreTable:
    ground = _Ground.of(path, asked) if asked.measures else None
    run = _kept_values(path, basis, ground) or outlined_run(path, asked) or read(path)
    return usual.scored(usual.gathered([run]).material).table


def run_with_values(path: Path, request: ScoreRequest, least: int = _LEAST) -> Run:
    """Return a run for a study of values of single conversations: of a large run outlines and these values, from its
    columns or read in one pass, which are then kept; otherwise, and if anything about it is unusual, the whole run. A
    run is large if its files of events have `least` bytes. Raises RunError as `read` does."""
    usual = replace(request, measures=())
    try:
        basis, continued = Basis.of(path, usual), declared_continued(read_header(path))
        if continued or sum(stamp[0] for stamp in basis.files.values()) < least:
            return read(path)
        ground = _Ground.of(path, request) if request.measures else None
    except (OSError, HarvestError, _NeedsWords):
        return read(path)
    found = _kept_values(path, basis, ground)
    if found is None and (found := outlined_run(path, request)) is not None:
        keep_columns(found, basis)
    # Sessions that go on from topic to topic are compared by their words.
    if found is None or found.answers is None or any(one.place > 1 for one, _ in found.outlines.examples):
        return read(path)
    return found


def run_with_trees(path: Path, code: str | None = None) -> OutlinedRun | None:
    """Return a run with the trees by label in its columns, or None if it has no columns, since reading the words is
    quicker than making columns. `code` is as in `Basis.of`."""
    try:
        return kept_trees(path, Basis.of(path, ScoreRequest(), code))
    except OSError:  # reported when the run is read
        return None


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the values of a run are computed from, and by which settings. `wanted` are the measures asked for."""

    header: Header
    topics: TopicSet
    gold: GoldTable | None
    settings: Settings
    wanted: Sequence[Measure]

    @classmethod
    def of(cls, path: Path, request: ScoreRequest) -> Self:
        """Raises _NeedsWords if figures need more than outlines, and HarvestError as the reader of whole runs does."""
        header = read_header(path)
        empty, topics = Run(path, header, (), ()), header.topic_set()
        if topics is None or standings(header, ()) or any(lost_events(path)):
            raise _NeedsWords
        if models_of(empty) or unasked_plug_ins():
            raise _NeedsWords
        layers = read_layers(path)
        sources = source_table(layers) if request.sources is None else load_sources(request.sources)
        topics = replace(topics, sources=sources)
        gold = gold_table(layers, topics) or None if any(layer.kind == "gold" for layer in layers) else None
        gold = load_gold(request.gold, topics) if request.gold is not None else gold
        settings = scoring_settings(recorded_scoring(empty), topics, gold, request.settings)
        wanted = [one for term in request.terms for one in read_term(term, settings, topics, _refuse_schema)]
        if not all(map(_is_of_values, wanted)):
            raise _NeedsWords
        return cls(header, topics, gold, settings, wanted)


class _Pass:
    def __init__(self, path: Path, ground: _Ground, at_once: int) -> None:
        self._path, self._header, self._at_once = path, ground.header, at_once
        topics, settings = ground.topics, ground.settings
        traits = {**COUNTED, ORDERS: count_orders, UNITS: lambda one: units_of(one, settings)}
        self._topics = {topic.id: topic for topic in topics.topics}
        self._outlining = Outlining(traits)
        self._measuring = Measuring(topics, ground.gold, settings, ground.wanted)
        self._waiting: list[Conversation] = []
        self._answers: FirstAnswers | None = FirstAnswers()
        self._trees: dict[str, tuple[Growth, array[int]]] = {}  # with the numbers of the conversations

    def run(self) -> OutlinedRun:
        attempts = PassingAttempts(self._take)
        damage = [sentence for file in event_files(self._path) for sentence in read_events(file, attempts)]
        for one in attempts.found.values():
            self._take(one)
        self._measure()
        found = self._outlining.outlines(tuple(self._header.systems), topic_order(self._header))
        if found is None:
            raise _NeedsWords
        outlines, order = found
        measured = self._measuring.measured(outlines.valid, order[outlines.valid_rows])
        answers = None if self._answers is None else self._answers.texts
        trees = {}
        for name, (growth, numbers) in self._trees.items():
            places = np.full(len(self._outlining), -1, dtype=np.int64)
            places[np.frombuffer(numbers, dtype=np.int32)] = np.arange(len(numbers))
            own = places[order[outlines.valid_rows]]
            trees[name] = reorder(growth.tree(Scope()), own[own >= 0])
        return OutlinedRun(
            self._path, self._header, (), tuple(damage), outlines, measured, answers=answers, trees=trees
        )

    def _grow(self, one: Conversation) -> None:
        assert one.outcome is not None, "it is valid"
        if one.key.system not in self._trees:
            self._trees[one.key.system] = Growth(LABEL.name, LABEL.declared_keys, _TURNS_WAITING), array("i")
        growth, numbers = self._trees[one.key.system]
        growth.add(path_of(one, LABEL), None, end_name(one.outcome))
        numbers.append(len(self._outlining))

    def _take(self, attempt: Attempt) -> None:
        one = attempt.conversation()
        if any(turn.reply is not None and "wire" in turn.reply.evidence for turn in one.turns):
            raise _NeedsWords  # at once, as all others will have their traffic, too
        self._waiting.append(one)
        if len(self._waiting) >= self._at_once:
            self._measure()

    def _measure(self) -> None:
        valid, numbers = [], []
        for one in add_missing_turns(self._waiting, self._header):
            if one.key.topic not in self._topics:
                raise _NeedsWords
            if one.valid:
                valid.append(one)
                self._grow(one)
                if self._answers is not None:
                    self._answers.add(one)
                numbers.append(len(self._outlining))
            self._outlining.add(one)
        if self._answers is not None and self._answers.characters > _MOST_WORDS:
            self._answers = None
        self._measuring.add(valid, numbers)
        self._waiting.clear()


def _is_of_values(measure: Measure) -> bool:
    """Return True if a measure is taken of conversations by themselves, of these values, or of labels."""
    of, form = measure.declaration, measure.form
    alone = form is None or form.needs_values_alone
    return alone and (of.rows, of.notes) == (None,) * 2 and not of.event and "judgments" not in of.needs


def _refuse_schema() -> Schema:
    raise _NeedsWords
