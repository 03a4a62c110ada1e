"""Read a run for its figures in one pass: words are held only while their conversation is measured.

Memory then grows by a few numbers for each conversation. A run that needs more than outlines is left to the reader that
holds it whole, which also names every fault, with its place: what is unusual has one way to be handled.
"""

from array import array
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from harvest.studies.runs.first_answers import FirstAnswers
from harvest.studies.runs.outlined_run import OutlinedRun
from harvest.studies.runs.readings import recorded_scoring, recorded_thresholds
from harvest.studies.scores.columns_file import Basis
from harvest.studies.scores.gathered import declared_continued
from harvest.studies.scores.kept_columns import keep_columns, kept_run, kept_trees
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.validity.odd_answers import COUNTED
from harvest.studies.validity.odd_users import ORDERS, count_orders
from harvest.studies.validity.worded_turns import models_of
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import end_name
from recordings.conversations.outlining import Outlining
from recordings.events.attempts import Attempt
from recordings.events.passing_attempts import PassingAttempts
from recordings.formats.imports import add_missing_turns
from recordings.judged.gold_layers import gold_table
from recordings.judged.judgments import read_layers
from recordings.judged.source_layers import source_table
from recordings.log.caps import standings
from recordings.log.header import topic_order
from recordings.log.run_folder import Run, event_files, lost_events, read, read_events
from recordings.log.store import read_header
from recordings.trees.arrays import reorder
from recordings.trees.builder import LABEL, path_of
from recordings.trees.growth import Growth
from recordings.trees.tree import Scope
from scoring.conversations import UNITS, units_of
from scoring.library import read_term, unasked_plug_ins
from scoring.measure import Measure
from scoring.measured import Measuring
from scoring.settings import scoring_settings
from scoring.swan.schema import Schema
from scoring.table import ScoreTable
from topics.errors import HarvestError
from topics.library import load_gold
from topics.source_file import load_sources

_AT_ONCE = 4000  # conversations measured together: addresses that they share are parsed once
_LEAST = 1 << 21  # bytes of events, of some thousand turns; smaller runs are read as quickly
_TURNS_WAITING = 1 << 16  # of a system, until they are placed in its tree
_MOST_WORDS = 1 << 25  # characters of first answers; runs with more are read whole by studies that compare them


class _NeedsWords(Exception):
    """Figures of this run need more than outlines."""


def outlined_run(path: Path, request: ScoreRequest, at_once: int = _AT_ONCE) -> OutlinedRun | None:
    """Return a run whose figures were computed while it was read. Returns None if the run or the request needs more:
    measures of judgments or over many conversations, bounds, a cap, users worded by a model, traffic of pages, or
    damage. `at_once` conversations are measured together."""
    try:
        return _Pass(path, request, at_once).run()
    except (HarvestError, _NeedsWords):
        return None


def run_or_columns(
    path: Path, request: ScoreRequest, code: str | None = None
) -> tuple[OutlinedRun | None, Basis | None]:
    """Return a run as `outlined_run` does, or as its columns have it; and what its figures rest on if these should be
    kept: the default ones. `code` is as in `Basis.of`."""
    try:
        if recorded_thresholds(Run(path, read_header(path), (), ())):  # whose bounds are of whole conversations
            return None, None
        basis = Basis.of(path, request, code)
    except (OSError, HarvestError):  # reported when the run is read
        return None, None
    if request.measures:
        return outlined_run(path, request), None
    again = partial(_scored_again, path, request, basis)
    if (kept := kept_run(path, basis, again, values=False)) is not None:
        return kept, None
    return kept_run(path, basis, again, values=True) or outlined_run(path, request), basis


def _scored_again(path: Path, request: ScoreRequest, basis: Basis) -> ScoreTable:
    run = kept_run(path, basis, partial(_scored_again, path, request, basis), values=True)
    return request.scored(request.gathered([run or outlined_run(path, request) or read(path)]).material).table


def run_with_values(path: Path, request: ScoreRequest, least: int = _LEAST) -> Run:
    """Return a run for a study of values of single conversations: of a large run outlines and these values, from its
    columns or read in one pass, which are then kept; otherwise, and if anything about it is unusual, the whole run. A
    run is large if its files of events have `least` bytes. Raises RunError as `read` does."""
    try:
        basis, continued = Basis.of(path, request), declared_continued(read_header(path))
    except (OSError, HarvestError):
        return read(path)
    if continued or sum(stamp[0] for stamp in basis.files.values()) < least:
        return read(path)
    found = None
    if not request.measures:
        found = kept_run(path, basis, partial(_scored_again, path, request, basis), values=True)
    if found is None:
        found = outlined_run(path, request)
        if found is not None and not request.measures:
            keep_columns(found, basis)
    # Sessions that go on from topic to topic are compared by their words.
    if found is None or found.answers is None or any(one.place > 1 for one, _ in found.outlines.examples):
        return read(path)
    return found


def run_with_trees(path: Path, code: str | None = None) -> OutlinedRun | None:
    """Return a run with the trees by label that its columns have, or None: to read what was said is quicker than to
    make columns. `code` is as in `Basis.of`."""
    try:
        return kept_trees(path, Basis.of(path, ScoreRequest(), code))
    except OSError:  # reported when the run is read
        return None


class _Pass:
    def __init__(self, path: Path, request: ScoreRequest, at_once: int) -> None:
        self._path, self._header, self._at_once = path, read_header(path), at_once
        empty = Run(path, self._header, (), ())
        topics = self._header.topic_set()
        if topics is None or standings(self._header, ()) or any(lost_events(path)):
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
        if not all(map(_is_of_one, wanted)):
            raise _NeedsWords
        traits = {**COUNTED, ORDERS: count_orders, UNITS: lambda one: units_of(one, settings)}
        self._topics = {topic.id for topic in topics.topics}
        self._outlining, self._measuring = Outlining(traits), Measuring(topics, gold, settings, wanted)
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


def _is_of_one(measure: Measure) -> bool:
    """Return True if a measure is only taken of conversations by themselves, or of their labels."""
    of = measure.declaration
    return (measure.form, of.rows, of.notes) == (None,) * 3 and not of.event and "judgments" not in of.needs


def _refuse_schema() -> Schema:
    raise _NeedsWords
