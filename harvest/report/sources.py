"""The section of sources: who is shown, where systems differ, and what is new since an earlier run."""

import math
from collections.abc import Iterator, Sequence

from harvest.report.bars import PERCENT, UNIT, Bar, difference_scale
from harvest.report.blocks import Block, as_blocks, details, refusal_block, table, text
from harvest.report.finding import MOST_SYSTEMS, safe_name
from harvest.report.forest import forest
from harvest.studies.scores.gathered import Gathered, gather_runs
from harvest.studies.sources.basis import Described
from harvest.studies.sources.exposure import ColumnSources, SourceStudy, study_sources
from harvest.studies.sources.figures import (
    described,
    news_sentences,
    pair_sentence,
    share_words,
    single_cells,
    source_tables,
    widest_single,
)
from harvest.studies.sources.news import News, find_news
from harvest.studies.sources.pairings import Pairing
from harvest.tables.comparison_words import difference_words, found_word, p_text
from recordings.log.run_folder import Run
from topics.counting import pluralize
from topics.errors import InputError

_MOST_PAIRS = 3  # of systems, whose differences are drawn


def shown_sources(gathered: Gathered, drawn: Sequence[str], seed: int) -> SourceStudy | str:
    """Return the study of the sources of `drawn`, the systems in the order of drawing, or why there is none; "" if the
    runs have no table of sources and no system names sources beside its answers: links that an audit asks for are no
    sources."""
    turns = (turn for one in gathered.material.finished for turn in one.turns)
    named = any(turn.reply is not None and turn.reply.answer.sources for turn in turns)
    if not named and not gathered.material.topics.sources.entries:
        return ""
    try:
        return study_sources(gathered, systems=drawn, seed=seed)
    except InputError as refused:  # no answer has a source, or no trial is valid
        return refused.what


def source_blocks(gathered: Gathered, study: SourceStudy | str, before: Run | None, seed: int) -> Iterator[Block]:
    """Yield who is shown, by domain and by each column of the table of sources, then how systems differ, then what is
    new since `before`."""
    if isinstance(study, str):
        yield from refusal_block(study)
        return
    news = _find_news(gathered, before, study, seed)
    for column in study.columns:
        if column.names:
            head = "What was looked up" if column.is_looked_up else "Who is shown"
            yield text(f"{head}, by {column.column}", "heading")
            yield _shown_forest(column)
            yield from _single_trials(column)
            yield from _difference_blocks(column)
    domains = study.columns[0]
    if domains.names:
        yield text("How concentrated, and how alike", "heading")
        yield _index_forest(domains)
    for one in news:
        yield text(f"New since the earlier run, {safe_name(one.system)}, by {one.column}", "heading")
        yield from map(text, news_sentences(one))
    tables = [part for part in as_blocks(source_tables(study, news), "Sources shown") if part.get("tone") != "dim"]
    yield details("In words and figures", tables)
    yield text(
        "A source is a page that an answer links to or that the system names beside it, once in each answer. Lines are "
        f"{100 * study.settings.level:g}% intervals for topics like these, each by itself. A difference is found if p "
        f"and its interval, both corrected over all {study.family} differences, tell it from 0.",
        "dim",
    )
    yield from (text(note, "dim") for note in study.notes)


def _find_news(gathered: Gathered, before: Run | None, study: SourceStudy, seed: int) -> tuple[News, ...]:
    if before is None or before.path.resolve() in [run.path.resolve() for run in gathered.runs]:
        return ()
    earlier = gather_runs([before], sources=gathered.material.topics.sources)
    try:
        return find_news(gathered, earlier, study.systems, study.groupings, seed=seed)
    except InputError:  # the earlier run has none of these systems
        return ()


def _shown_forest(column: ColumnSources) -> Block:
    systems = column.systems[:MOST_SYSTEMS]
    bars = [
        PERCENT.bar(
            safe_name(name) if series == 0 else "",
            share_words(shown.answers, shown.answers_interval),
            (shown.answers, shown.answers_interval.low, shown.answers_interval.high),
            of=safe_name(one.system) if len(systems) > 1 else "",
            series=series,
        )
        for at, name in enumerate(column.names)
        for series, one in enumerate(systems)
        for shown in (one.shown[at],)
    ]
    caption = f"Share of answers that show each {column.column}"
    left = len(column.systems) - len(systems)
    note = f"{pluralize(left, 'more system')}: see “In words and figures”." if left else ""
    return forest(bars, caption, ("system", "of answers [low, high]"), note, first=column.column)


def _single_trials(column: ColumnSources) -> Iterator[Block]:
    """Yield a table of the names whose shares differ most between single trials of a system."""
    found = [(one.system, wide) for one in column.systems[:MOST_SYSTEMS] if (wide := widest_single(one)) is not None]
    rows = [[safe_name(system), safe_name(wide.name), *single_cells(wide)] for system, wide in found]
    head = ("system", f"{column.column} that varies most", "a trial's least", "a trial's most", "all trials")
    if rows:
        yield table(head, rows, (False, False, True, True, True), f"Shares in single trials, by {column.column}")


def _difference_blocks(column: ColumnSources) -> Iterator[Block]:
    """Yield a sentence for each pair of systems, or one for those of which the same can be said, and the differences of
    the pairs in which one is found; the others, closed."""
    # What a system shows in two languages, or from two places, is closer to a cause than what two systems show.
    drawn = sorted(column.pairs, key=lambda pair: pair.facet == "system")[:_MOST_PAIRS]
    alike: dict[str, list[Pairing]] = {}
    for pair in drawn:
        alike.setdefault(pair_sentence(pair, column), []).append(pair)
    rest: list[Pairing] = []
    for sentence, pairs in alike.items():
        yield text(f"{', '.join(f'{safe_name(one.second)} − {safe_name(one.first)}' for one in pairs)}: {sentence}")
        found = [pair for pair in pairs if any(one.beyond for one in pair.shares.values())]
        yield from (_difference_forest(pair, column.column) for pair in found)
        rest += [pair for pair in pairs if pair not in found]
    if rest:
        yield details(f"Differences by {column.column}", [_difference_forest(pair, column.column) for pair in rest])


def _difference_forest(pair: Pairing, column: str) -> Block:
    ends = [end for one in pair.shares.values() for end in (one.value, one.interval.low, one.interval.high)]
    scale = difference_scale(ends, share=True)
    bars = [
        scale.difference(
            safe_name(name),
            difference_words(one, share=True),
            (one.value, one.interval.low, one.interval.high),
            math.nan,
            filled=one.beyond is True,
            more=(p_text(one.adjusted), found_word(one)),
        )
        for name, one in pair.shares.items()
    ]
    head = ("", f"{safe_name(pair.second)} − {safe_name(pair.first)} [low, high]", "p", "found")
    return forest(bars, f"Differences of shares by {column}", head, first=column)


def _index_forest(column: ColumnSources) -> Block:
    systems = column.systems[:MOST_SYSTEMS]
    figures = {
        f"same {column.column} in two topics": [one.same for one in systems],
        "largest share": [one.largest for one in systems],
        **{f"two trials alike, {name}": [one.alike[name] for one in systems] for name in systems[0].alike},
    }
    bars = [
        _index_bar(label if series == 0 else "", found, safe_name(one.system) if len(systems) > 1 else "", series)
        for label, each in figures.items()
        for series, (one, found) in enumerate(zip(systems, each, strict=True))
    ]
    return forest(bars, "Concentration and overlap", ("system", "value [low, high]"), first="figure")


def _index_bar(label: str, found: Described, system: str, series: int) -> Bar:
    ends = found.value, found.interval.low, found.interval.high
    return UNIT.bar(label, described(found), ends, of=system, series=series)
