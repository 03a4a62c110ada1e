"""The JSON document, long-form rows and chart of a study of sources."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harvest.studies.sources.basis import Described
from harvest.studies.sources.exposure import ColumnSources, SourceStudy
from harvest.studies.sources.figures import share_words, source_tables
from harvest.studies.sources.news import News
from harvest.studies.sources.pairings import Pairing
from harvest.studies.sources.system_sources import Shown, SystemSources
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from harvest.tables.long_rows import LongRow, difference_cells, interval_cells
from harvest.tables.study_form import StudyForm
from topics.counting import pluralize

FORMAT = "harvest-sources/1"
_WIDTH = 720.0  # in pixels


def source_form(study: SourceStudy, news: Sequence[News], seed: int) -> StudyForm:
    """Return the printable form of a study, with names that are new since an earlier run."""
    return StudyForm(
        head={
            "format": FORMAT,
            "settings": study.settings.as_json(),
            "notes": list(study.notes),
            "differences": [one.as_json() for one in study.contrasts],
            "comparisons": study.family,
            "columns": [
                {"column": one.column, "names": list(one.names), "systems": [_system_head(own) for own in one.systems]}
                for one in study.columns
            ],
            "news": [_news_head(one) for one in news],
            "seed": seed,
        },
        rows=lambda: source_rows(study, news),
        tables=lambda _: source_tables(study, news),
        sources=study.runs,
        chart=lambda: source_chart(study),
        details=("share of answers in one trial",),
    )


def _system_head(one: SystemSources) -> dict[str, Any]:
    return {
        "system": one.system,
        "answers": one.answers,
        "with_source": one.with_source,
        "citations": one.citations,
        "unknown": one.unknown,
        "distinct": one.distinct,
        "leader": one.leader or None,
    }


def _news_head(one: News) -> dict[str, Any]:
    return {
        "system": one.system,
        "column": one.column,
        "new": [own.name for own in one.new],
        "gone": one.gone,
        "expected_range": None if math.isnan(one.range[0]) else list(one.range),
        "withheld": one.withheld or None,
    }


def source_rows(study: SourceStudy, news: Sequence[News]) -> Iterator[LongRow]:
    """Yield each figure once: figures of systems, then of pairs, then of new names."""
    level = study.settings.level
    for column in study.columns:
        base = LongRow(study="sources", run="", figure="", unit="share", measure=column.column, estimand="like-these")
        for one in column.systems:
            own = replace(base, run=study.recorded.get(one.system, ""), system=one.system)
            yield from _system_rows(own, one, level, alone=column.is_looked_up)
        for pair in column.pairs:
            runs = dict.fromkeys(study.recorded.get(name, "") for name in (pair.first, pair.second))
            own = replace(base, run=", ".join(runs), system=pair.second, other=pair.first)
            yield from _pair_rows(own, pair, level, alone=column.is_looked_up)
    for each in news:
        yield from _news_rows(each, study)


def _system_rows(base: LongRow, one: SystemSources, level: float, *, alone: bool) -> Iterator[LongRow]:
    for shown in one.shown:
        yield from _shown_rows(replace(base, entity=shown.name), one, shown, level)
    if alone:
        return
    described: dict[str, Described] = {
        "chance of the same in two topics": one.same,
        "largest share": one.largest,
        **{f"overlap of two trials, {name}": found for name, found in one.alike.items()},
    }
    for figure, found in described.items():
        yield _described_row(base, figure, found, level)
    counted = replace(base, estimand="", n=one.citations)
    yield replace(counted, figure="entropy of these citations", unit="bits", estimate=one.entropy)
    yield replace(counted, figure="Gini of these citations", unit="ratio", estimate=one.gini)
    yield replace(counted, figure="different ones", unit="count", estimate=float(one.distinct))


def _shown_rows(base: LongRow, one: SystemSources, shown: Shown, level: float) -> Iterator[LongRow]:
    cells = interval_cells(shown.answers_interval, level)
    yield replace(base, figure="share of answers", estimate=shown.answers, n=one.answers, **cells)
    cells = interval_cells(shown.citations_interval, level)
    yield replace(base, figure="share of citations", estimate=shown.citations, n=one.citations, **cells)
    for number, value in enumerate(shown.single, 1):
        yield replace(base, figure="share of answers in one trial", estimand="", trials=number, estimate=value)
    first, last = shown.ranks
    for figure, place in (("first possible place", first), ("last possible place", last)):
        yield replace(base, figure=figure, unit="count", estimate=float(place), n=one.answers)


def _pair_rows(base: LongRow, pair: Pairing, level: float, *, alone: bool) -> Iterator[LongRow]:
    for name, one in pair.shares.items():
        own = replace(base, entity=name, figure="difference of shares of answers")
        yield replace(own, **difference_cells(one, level))
    if alone:
        return
    for name, found in pair.between.items():
        yield _described_row(base, f"overlap between, {name}", found, level)
    for name, one in pair.apart.items():
        yield replace(base, figure=f"apart, {name}", **difference_cells(one, level))


def _described_row(base: LongRow, figure: str, one: Described, level: float) -> LongRow:
    return replace(base, figure=figure, estimate=one.value, topics=one.n, **interval_cells(one.interval, level))


def _news_rows(news: News, study: SourceStudy) -> Iterator[LongRow]:
    base = LongRow(
        study="sources",
        run=study.recorded.get(news.system, ""),
        figure="",
        unit="count",
        measure=news.column,
        system=news.system,
        note=news.withheld,
    )
    low, high = news.range
    yield replace(base, figure="new ones", estimate=float(len(news.new)), p=news.chance, n=news.trials[1])
    yield replace(base, figure="new ones, by chance", estimate=news.expected, lowest=low, highest=high)
    yield replace(base, figure="gone", estimate=float(news.gone), n=news.trials[0])
    unseen = interval_cells(news.unseen.interval, study.settings.level)
    yield replace(base, figure="unseen before", unit="share", estimate=news.unseen.value, n=news.unseen.n, **unseen)
    for one in news.new:
        own = replace(base, figure="trials with a new one", entity=one.name, estimate=float(one.trials))
        yield replace(own, p=one.p, p_corrected=one.corrected)


def source_chart(study: SourceStudy) -> str:
    """Return an SVG chart with a panel for each column: the share of answers that show each name, by system."""
    panels = [source_panel(column) for column in study.columns if column.names]
    inside = max([_WIDTH - 2 * MARGIN, *map(panel_width, panels)])
    title = f"Whose sources are shown: {', '.join(study.systems)}"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    about = (
        f"Shares of answers over {pluralize(study.topics, 'topic')}, with {100 * study.settings.level:g}% intervals "
        "for topics like these, each by itself"
    )
    more, down = paragraphs([about], inside, down + 2)
    elements += more
    for panel in panels:
        drawn, down = interval_panel(panel, inside, down + 14)
        elements += drawn
    more, down = paragraphs([f"Note: {note}" for note in study.notes], inside, down + 4)
    said = "; ".join(
        f"{panel.title}: " + ", ".join(f"{row.label} {row.said}".rstrip() for row in panel.rows) for panel in panels
    )
    return page(title, f"Shares with intervals. {said}", [*elements, *more], inside + 2 * MARGIN, down + MARGIN)


def source_panel(column: ColumnSources) -> IntervalPanel:
    """Return the rows of one column: a heading for each name, and a row for each system."""
    rows: list[IntervalRow] = []
    for at, name in enumerate(column.names):
        rows.append(IntervalRow(name, heading=True))
        for one in column.systems:
            shown = one.shown[at]
            interval = shown.answers_interval
            value, low, high = (100 * part for part in (shown.answers, interval.low, interval.high))
            rows.append(IntervalRow(one.system, value, low, high, share_words(shown.answers, interval)))
    return IntervalPanel(f"by {column.column}", "percent of answers", rows)
