"""Nugget recall of conversations, computed as in AutoNuggetizer (arXiv 2504.15068), in four readings.

A reading combines `strict` or `partial` with `all` or `vital`. With `strict`, only supported nuggets count; with
`partial`, a partially supported nugget counts half. With `all`, recall is over every nugget of the topic. With
`vital`, it is over vital nuggets only, and is undefined, not 0, if the topic has no vital nugget.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from harvest.studies.runs.sources import sources
from harvest.tables.figures import estimand_of
from harvest.tables.long_rows import LongRow, interval_cells
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from recordings.conversations.conversation import Conversation
from recordings.judged.wanted import Held
from recordings.log.run_folder import Run
from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import Interval
from topics.identity import generator

FORMAT = "harvest-nuggets/2"

LEVEL = 0.95
READINGS = ("strict all", "strict vital", "partial all", "partial vital")
_SUPPORT_VALUES = {"strict": {"support": 1.0}, "partial": {"support": 1.0, "partial_support": 0.5}}


@dataclass(frozen=True, slots=True)
class MeanFigure:
    """A system's mean of a share in [0, 1]: conversations are averaged within a topic, and then topics. `value` is NaN
    if no conversation has a value. `n` is the number of conversations with a value and `topics` the number of
    their topics. `unassigned` is the number of valid conversations that could not be evaluated, such as those in which
    some nugget of the topic was not assigned."""

    system: str
    reading: str
    value: float
    interval: Interval
    n: int
    topics: int
    unassigned: int


def mean_figures(
    system: str,
    readings: Sequence[str],
    cells: Mapping[str, Sequence[Sequence[float]]],
    resampler: Resampler,
    unassigned: int,
) -> Iterator[MeanFigure]:
    """Yield a system's figure for each reading, with an interval from resampling topics. `cells` has a row for each
    conversation, by topic, with one value in [0, 1] or NaN for each of `readings`."""
    topics = list(cells)
    most = max(map(len, cells.values()), default=1)
    values = np.full((len(topics), most, len(readings)), math.nan)
    for row, topic in enumerate(topics):
        values[row, : len(cells[topic])] = cells[topic]
    intervals = resampler.means(topics, values)
    for column, reading in enumerate(readings):
        here = [[cell[column] for cell in rows if not math.isnan(cell[column])] for rows in cells.values()]
        means = [math.fsum(rows) / len(rows) for rows in here if rows]
        value = math.fsum(means) / len(means) if means else math.nan
        count = sum(map(len, here))
        yield MeanFigure(system, reading, value, intervals[column], count, len(means), unassigned)


def nugget_recall(importances: Mapping[str, str], said: Mapping[str, str], reading: str) -> float:
    """Return the nugget recall of one conversation, in [0, 1], or NaN if no nugget counts in this reading."""
    how, which = reading.split()
    counted = [text for text, importance in importances.items() if which == "all" or importance == which]
    worth = _SUPPORT_VALUES[how]
    return math.fsum(worth.get(said[text], 0.0) for text in counted) / len(counted) if counted else math.nan


def recall_figures(
    wanted: Mapping[str, Mapping[str, str]],
    held_nuggets: Held,
    conversations: Sequence[Conversation],
    *,
    seed: int = 0,
    level: float = LEVEL,
) -> tuple[MeanFigure, ...]:
    """Return the recall of each system in each of `READINGS`, with intervals from resampling topics."""
    found: list[MeanFigure] = []
    for system in dict.fromkeys(one.key.system for one in conversations):
        own = [one for one in conversations if one.key.system == system and one.key.topic in wanted]
        said = {id(one): held_nuggets.get((one.trial_id, one.attempt), {}) for one in own}
        done = [one for one in own if said[id(one)].keys() == wanted[one.key.topic].keys()]
        cells: dict[str, list[list[float]]] = {one.key.topic: [] for one in done}
        for one in done:
            nuggets = wanted[one.key.topic]
            cells[one.key.topic].append([nugget_recall(nuggets, said[id(one)], reading) for reading in READINGS])
        resampler = Resampler(generator(seed, "held", system), level=level)
        found += mean_figures(system, READINGS, cells, resampler, len(own) - len(done))
    return tuple(found)


def recall_form(run: Run, figures: Sequence[MeanFigure], kind: str, name: str, seed: int) -> StudyForm:
    """Return the printable form of these figures. `kind` and `name` describe the author of the assignments, such as
    `model` and `gpt`."""
    unassigned = {one.system: one.unassigned for one in figures}

    by = {"kind": kind, "name": name, "checked": kind == "human"}
    return StudyForm(
        head={"format": FORMAT, "by": by, "seed": seed, "unassigned": unassigned},
        rows=lambda: mean_rows(figures, "nuggets", run.path.resolve().name, "nuggets held"),
        tables=lambda _: [mean_table(figures, "held"), *mean_notes(figures)],
        sources=sources([run]),
    )


def mean_rows(figures: Iterable[MeanFigure], study: str, run: str, figure: str) -> Iterator[LongRow]:
    """Yield a row in long form for each figure."""
    for one in figures:
        yield LongRow(
            study=study,
            run=run,
            figure=figure,
            unit="share",
            measure=one.reading,
            system=one.system,
            estimate=one.value,
            topics=one.topics,
            n=one.n,
            **interval_cells(one.interval, LEVEL),
        )


def mean_table(figures: Sequence[MeanFigure], reading: str) -> Table:
    """Return a table with a line for each figure. `reading` is the heading of the column of readings."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("system", overflow="fold")
    table.add_column(reading, no_wrap=True)
    of = estimand_of(one.interval.resampled for one in figures if one.interval.is_defined)
    for heading in (f"share [low, high]\n{of}".strip(), "n", "topics"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for one in figures:
        shown = "-" if math.isnan(one.value) else f"{one.value:.4f}"
        if not math.isnan(one.interval.low):
            shown += f" [{one.interval.low:.4f}, {one.interval.high:.4f}]"
        table.add_row(Text(printable(one.system, line=True)), one.reading, Text(shown), str(one.n), str(one.topics))
    return table


def mean_notes(figures: Sequence[MeanFigure]) -> Iterator[Text]:
    """Say how the intervals in the table were made, and why figures have none."""
    made = dict.fromkeys((one.interval.method, one.interval.resampled) for one in figures if one.interval.is_defined)
    for method, resampled in made:
        yield Text(f"[low, high]: {100 * LEVEL:g}% {method}, resampled: {resampled}", style="dim")
    bare = [one for one in figures if not math.isnan(one.value) and not one.interval.is_defined]
    for why in dict.fromkeys(one.interval.note for one in bare):
        names = dict.fromkeys(
            f"{printable(one.system, line=True)} {one.reading}" for one in bare if one.interval.note == why
        )
        yield Text(f"no interval of {', '.join(names)}: {why}", style="dim")
