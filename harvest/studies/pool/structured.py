"""Structured answers: the part of a topic's pooled information in each answer, and scores of lines (experimental).

The lines of all answers to a topic, of every system, trial and run given, are pooled. Lines that say the same are one
piece of information: lines with the same words, and lines to which people gave the same name in a sheet.

    comprehensiveness(conversation) = pieces in the conversation / pieces in the pool of its topic

The pool is what the answers say, not what is true: a line brings no piece if it was scored below .5 by a criterion of
the schema, or if people marked it with `-` in the sheet. Faithfulness, relevance and other criteria of lines are means
over the scored lines of a conversation, of its overviews, and of its sections.

Source of the plan: T. Sakai et al., "Plans for Evaluating Structured Generative Search Summaries", arXiv 2605.26400.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike

from rich import box
from rich.table import Table

from harvest.judging.pool import PooledRun, PooledText
from harvest.judging.sheets.annotation_sheet import Assessed
from harvest.judging.sheets.sheet_file import Row, escape_text, read_rows, restore_cell
from harvest.studies.pool.figures import pool_rows
from harvest.studies.pool.held_nuggets import MeanFigure, mean_figures, mean_notes, mean_rows, mean_table
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.sources import sources
from harvest.tables.long_rows import LongRow
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.swan.structure import read_structure, same_words_key
from topics.identity import generator

FORMAT = "harvest-structured/1"
COLUMNS = ("topic", "text", "piece", "times", "conversations", "systems", "where")
COMPREHENSIVENESS = "comprehensiveness"
NO_PIECE = "-"
_LEAST_SCORE = 0.5

# The names of pieces that people gave, by topic and text of the line.
Pieces = Mapping[tuple[str, str], str]


@dataclass(slots=True)
class PooledAnswer:
    """A conversation in the pool. `pieces` are the names of its pieces. `scores` has the scores of its lines by
    criterion and part (`overview` or `sections`). The counts are over its `turns` system turns."""

    system: str
    topic: str
    trial: int
    turns: int = 0
    units: int = 0
    sections: int = 0
    documents: int = 0
    pieces: set[str] = field(default_factory=set)
    scores: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def mean_score(self, criterion: str, parts: Sequence[str]) -> float:
        """Return the mean score in [0, 1] of the lines in these parts, or NaN if none was scored."""
        found = [score for part in parts for score in self.scores.get((criterion, part), ())]
        return math.fsum(found) / len(found) if found else math.nan


def read_pieces(path: str | PathLike[str], words: Iterable[PooledText]) -> Pieces:
    """Read the names of pieces from the column `piece` of a filled-in sheet. Raises InputError, with file, line and
    column, for a line of text that no answer to the topic has, and for one that occurs twice."""
    known = {(escape_text(one.topic), escape_text(one.text)): (one.topic, one.text) for one in words}
    found: dict[tuple[str, str], str] = {}
    for row in read_rows(path, COLUMNS, ("topic", "text", "piece")):
        key = known.get((restore_cell(row.get("topic")), restore_cell(row.get("text"))))
        if key is None:
            raise row.error(
                "text",
                f"no answer here on the topic {row.get('topic')[:40]!r} has this line",
                advice="give the sheet with the runs that it was written for, and change only the column 'piece'",
            )
        if key in found:
            raise row.error("text", "this line occurs twice for its topic", advice="keep one of the two rows")
        found[key] = restore_cell(row.get("piece")).strip()
    return found


def sheet_rows(runs: Sequence[PooledRun], words: Sequence[PooledText], pieces: Pieces) -> Iterator[Row]:
    """Yield a row for each distinct line of a topic, with the name of its piece or an empty cell for people to fill."""
    for one, row in zip(words, pool_rows(runs, (), words), strict=True):
        yield {**row, "piece": pieces.get((one.topic, one.text), "")}


def pooled_answers(
    judged: Sequence[Sequence[Assessed]],
    names: Sequence[Mapping[str, str]],
    words: Iterable[PooledText],
    pieces: Pieces,
) -> tuple[PooledAnswer, ...]:
    """Return all conversations with their pieces and scores. `judged` has the conversations of each run with the scores
    that count, and `names` the names of its systems in this study; `words` are the distinct lines of the same runs."""
    found: dict[tuple[int, str, int], PooledAnswer] = {}
    parts: dict[tuple[int, str, int], dict[tuple[int, int], str]] = {}
    low: set[tuple[int, str, int, int, int]] = set()
    for number, run in enumerate(judged):
        for one in run:
            talk = one.conversation
            where = (number, talk.trial_id, talk.attempt)
            answer = found[where] = PooledAnswer(names[number][talk.key.system], talk.key.topic, talk.key.trial)
            part = parts[where] = {}
            for turn in talk.turns:
                if turn.reply is not None:
                    said = turn.reply.answer
                    structure = read_structure(said.text)
                    answer.turns += 1
                    answer.units += len(structure.units)
                    answer.sections += len(structure.titles)
                    answer.documents += len(said.sources) or structure.documents
                    part |= {
                        (turn.number, line.start): "sections" if line.section else "overview"
                        for line in structure.units
                    }
            for criterion, scored in one.assessment.scored.items():
                for entry in scored:
                    if (entry.item.turn, entry.item.start) in part:
                        answer.scores[criterion, part[entry.item.turn, entry.item.start]].append(entry.value)
                        if entry.value < _LEAST_SCORE:
                            low.add((*where, entry.item.turn, entry.item.start))
    words = tuple(words)
    names_of_words: dict[tuple[str, str], set[str]] = {}
    for text in words:
        if name := pieces.get((text.topic, text.text), ""):
            names_of_words.setdefault((text.topic, same_words_key(text.text)), set()).add(name)
    for text in words:
        key = same_words_key(text.text)
        given = names_of_words.get((text.topic, key), set())
        # A line without a name has that of other lines with the same words, unless they have several.
        name = pieces.get((text.topic, text.text), "") or (min(given) if len(given) == 1 else "")
        # A name that a person gave cannot meet the words of another line by accident.
        piece = f"piece {name}" if name else f"words {key}"
        for place in text.where:
            where = (place.run, place.conversation.trial_id, place.conversation.attempt)
            if name != NO_PIECE and (*where, place.turn, place.start) not in low:
                found[where].pieces.add(piece)
    return tuple(found.values())


def pool_sizes(answers: Iterable[PooledAnswer]) -> dict[str, tuple[int, int]]:
    """Return the numbers of conversations and of distinct pieces in the pool of each topic."""
    pools: dict[str, list[set[str]]] = {}
    for one in answers:
        pools.setdefault(one.topic, []).append(one.pieces)
    return {topic: (len(each), len(set().union(*each))) for topic, each in pools.items()}


def structured_figures(
    answers: Sequence[PooledAnswer], criteria: Sequence[str], designs: Mapping[str, Design], *, seed: int = 0
) -> tuple[MeanFigure, ...]:
    """Return the comprehensiveness of each system, and the mean score of its lines by each criterion: of all lines, of
    overviews, and of sections. A pool of one conversation, or without a piece, gives no comprehensiveness. `designs`
    has how the trials of each system depend on each other."""
    pools = pool_sizes(answers)
    parts = {"": ("overview", "sections"), ": overview": ("overview",), ": sections": ("sections",)}
    readings = (COMPREHENSIVENESS, *(f"{name}{part}" for name in criteria for part in parts))
    found: list[MeanFigure] = []
    for system in dict.fromkeys(one.system for one in answers):
        own = [one for one in answers if one.system == system]
        trials = sorted({one.trial for one in own})
        cells = {one.topic: [[math.nan] * len(readings) for _ in trials] for one in own}  # a column is a session
        alone = 0
        for one in own:
            conversations, size = pools[one.topic]
            share = len(one.pieces) / size if conversations > 1 and size else math.nan
            alone += math.isnan(share)
            scores = [one.mean_score(name, part) for name in criteria for part in parts.values()]
            cells[one.topic][trials.index(one.trial)] = [share, *scores]
        resampler = Resampler(generator(seed, "structured", system)).with_design(designs[system])
        found += mean_figures(system, readings, cells, resampler, alone)
    return tuple(found)


def structured_form(
    runs: Sequence[PooledRun], answers: Sequence[PooledAnswer], figures: Sequence[MeanFigure], seed: int
) -> StudyForm:
    """Return the printable form of the figures, of the counts per answer, and of the sizes of the pools."""
    recorded = [run.recorded for run in runs]
    names = ", ".join(run_names(recorded))
    counts = _mean_counts(answers)
    scored = {one.reading for one in figures if one.n or one.reading == COMPREHENSIVENESS}
    shown = [one for one in figures if one.reading in scored]

    def rows() -> Iterator[LongRow]:
        yield from mean_rows(figures, "structured", names, "structured answers")
        for system, turns, means in counts:
            for measure, value in means.items():
                common = {"study": "structured", "run": names, "system": system, "unit": "value", "n": turns}
                yield LongRow(**common, figure="per answer", measure=measure, estimate=value)  # type: ignore[arg-type]
        for topic, (conversations, size) in pool_sizes(answers).items():
            yield LongRow(
                study="structured",
                run=names,
                figure="pool",
                unit="count",
                measure="pieces",
                topic=topic,
                estimate=float(size),
                n=conversations,
            )

    return StudyForm(
        head={"format": FORMAT, "seed": seed},
        rows=rows,
        tables=lambda _: [mean_table(shown, "figure"), *mean_notes(shown), _count_table(counts)],
        sources=sources(recorded),
    )


def _mean_counts(answers: Iterable[PooledAnswer]) -> list[tuple[str, int, dict[str, float]]]:
    found = []
    by_system: dict[str, list[PooledAnswer]] = {}
    for one in answers:
        by_system.setdefault(one.system, []).append(one)
    for system, own in by_system.items():
        turns = sum(one.turns for one in own)
        sums = {name: sum(getattr(one, name) for one in own) for name in ("units", "sections", "documents")}
        found.append((system, turns, {name: whole / turns if turns else math.nan for name, whole in sums.items()}))
    return found


def _count_table(counts: Iterable[tuple[str, int, Mapping[str, float]]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("per answer", overflow="fold")
    for heading in ("lines", "sections", "documents", "answers"):
        table.add_column(heading, justify="right")
    for system, turns, means in counts:
        values = ("-" if math.isnan(value) else f"{value:.1f}" for value in means.values())
        table.add_row(printable(system, line=True), *values, str(turns))
    return table
