"""Printed tables of a study of sources."""

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.sources.basis import Described
from harvest.studies.sources.exposure import ColumnSources, SourceStudy
from harvest.studies.sources.news import News
from harvest.studies.sources.pairings import Pairing
from harvest.studies.sources.system_sources import Shown, SystemSources
from harvest.tables.comparison_words import difference_words, found_word, p_text
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from scoring.inference.interval import Interval
from scoring.inference.matched import Difference
from topics.counting import pluralize
from topics.decimals import decimal, format_change

_MOST_NEW = 8  # names that are listed
_LEGEND = (
    "answers: share of answers that show it, mean over topics; citations: share of all citations; [low, high]: "
    "{level:g}% interval for topics like these, each by itself",
    "place: the places that it may have among the names shown here, all of them together at {level:g}%",
    "one trial: the lowest and the highest share of answers, in percent, that a single trial of all topics would have "
    "said",
    "same {column}: chance that citations of two topics have the same one; 1/this is the number of equally frequent "
    "ones that would give it",
    "largest share: mean over topics, of whichever is the largest; entropy and Gini describe these citations, and have "
    "no interval: of few citations they say too little",
    "alike: overlap of two trials of a topic: Jaccard's index of what is shown, and rank-biased overlap (p = .9) of "
    "its order",
)
_PAIR_LEGEND = (
    "difference: second minus first, in points; p corrected over all {family} differences of shares (Holm); found: p "
    "at most {alpha:g}, and the interval excludes 0 with the same correction",
    "apart: how much more alike two trials of one system are than a trial of each; 0 if they show the same; p "
    "corrected over all pairs of systems",
)
_NEWS_LEGEND = (
    "new: shown since, and by no trial of the earlier run; p: the chance that an unchanged system would show it only "
    "since, corrected over all names (Holm); ?: shown by too few trials to tell"
)


def source_tables(study: SourceStudy, news: Sequence[News]) -> Iterator[RenderableType]:
    """Yield the tables of each column: for each system, for each pair, and for new names."""
    for contrast in study.contrasts:
        yield Text(printable(f"the runs differ: {contrast.said}", line=True), style="yellow")
    for column in study.columns:
        for one in column.systems:
            yield Text(printable(f"{one.system}, by {column.column}", line=True), style="bold")
            for sentence in system_sentences(one, column):
                yield Text(printable(sentence, line=True))
            if one.citations and column.names:
                yield _shown_table(one, column.column)
        for pair in column.pairs:
            yield Text(
                printable(f"{pair.first} and {pair.second} ({pair.facet}), by {column.column}", line=True), style="bold"
            )
            yield Text(printable(pair_sentence(pair, column), line=True))
            yield _pair_table(pair, column)
        for each in news:
            if each.column == column.column:
                yield Text(printable(f"{each.system}, new by {column.column}", line=True), style="bold")
                for sentence in news_sentences(each):
                    yield Text(printable(sentence, line=True))
    first = study.columns[0].column if study.columns else ""
    lines = [*_LEGEND, *(_PAIR_LEGEND if study.family else ()), *((_NEWS_LEGEND,) if news else ())]
    for line in lines:
        said = line.format(
            level=100 * study.settings.level,
            column=first,
            family=study.family,
            alpha=round(1 - study.settings.level, 6),
        )
        yield Text(said, style="dim")
    yield from (Text(f"note: {note}") for note in study.notes)


def system_sentences(sources: SystemSources, of: ColumnSources) -> Iterator[str]:
    """Yield the sentences about a system that precede its table."""
    column = of.column
    if of.is_looked_up:
        known = sources.citations - sources.unknown
        yield f"{known} of {sources.citations} could be looked up."
        return
    have = "has" if sources.with_source == 1 else "have"
    answers = f"{sources.with_source} of {pluralize(sources.answers, 'answer')} {have} a source"
    if not sources.citations:
        yield f"{answers}."
        return
    named = f"one {column}" if sources.distinct == 1 else f"{sources.distinct} different {_plural(column)}"
    told = f" of {named}"
    if sources.unknown:
        unknown = f"without a known {column}"
        told = f", {sources.unknown} of them {unknown}, the others of {named}" if sources.distinct else f" {unknown}"
    yield f"{answers}: {pluralize(sources.citations, 'citation')}{told}."
    if not sources.distinct:
        return
    equal = f", as of {1 / sources.same.value:.1f} equally frequent ones" if sources.same.value > 0 else ""
    yield (
        f"Same {column}: {described(sources.same)}{equal}. Largest share: {described(sources.largest)}, here "
        f"{sources.leader}. Of these citations: entropy {sources.entropy:.2f} bits, Gini {_number(sources.gini)}."
    )
    alike = "; ".join(f"{name} {described(found)}" for name, found in sources.alike.items())
    yield f"Two trials of a topic are alike by {alike}."
    if said := single_sentence(sources):
        yield said


def single_sentence(sources: SystemSources) -> str:
    """Return a sentence on how far the share in a single trial is from the mean, for the name with the widest range; ""
    if there is only one trial."""
    wide = widest_single(sources)
    if wide is None:
        return ""
    low, high, all_trials = single_cells(wide)
    return (
        f"A single trial would have said between {low} and {high} of {wide.name}, where all trials together say "
        f"{all_trials}."
    )


def widest_single(sources: SystemSources) -> Shown | None:
    """Return the name whose shares in single trials have the widest range, or None if none differs."""
    known = (shown for shown in sources.shown if sum(value == value for value in shown.single) > 1)
    wide = max(known, key=lambda shown: _span(shown.single), default=None)
    return wide if wide is not None and _span(wide.single) > 0 else None


def single_cells(shown: Shown) -> tuple[str, str, str]:
    """Return the lowest and the highest share in single trials, and the share in all trials together."""
    known = [value for value in shown.single if value == value]
    return _percentage(min(known)), _percentage(max(known)), _percentage(shown.answers)


def pair_sentence(pair: Pairing, column: ColumnSources) -> str:
    """Return a sentence on the differences between two systems."""
    told = [
        f"{name} by {format_change(one.value, share=True)} points" for name, one in pair.shares.items() if one.beyond
    ]
    shares = f"Their shares differ: {', '.join(told)}" if told else f"No difference by {column.column} is found"
    if column.is_looked_up:
        return f"{shares}."
    alike = [name for name, one in pair.apart.items() if one.beyond]
    reasons = dict.fromkeys(one.interval.note for one in pair.apart.values() if one.beyond is None)
    if alike:
        said = f"what they show differs by {' and '.join(alike)}"
    elif all(one.beyond is None for one in pair.apart.values()):
        why = "; ".join(filter(None, reasons))
        said = f"whether they show the same cannot be told{f' ({why})' if why else ''}"
    else:
        said = "a trial of each is not found to be less alike than two trials of one"
    return f"{shares}; {said}."


def news_sentences(news: News) -> Iterator[str]:
    """Yield sentences on the names that are new since an earlier run, and on how many new names chance would bring."""
    seen = pluralize(len(news.new), f"new {news.column}", f"new {_plural(news.column)}")
    if news.withheld:
        yield f"{seen}; how many are expected cannot be told: {news.withheld}."
        return
    low, high = news.range
    yield (
        f"{seen} in {pluralize(news.trials[1], 'trial')}, {news.gone} no longer shown. An unchanged system would have "
        f"shown {decimal(news.expected, 1)} new ones [{low:.0f}, {high:.0f}] (p {p_text(news.chance)} for as many)."
    )
    yield (
        f"In the earlier run, {_percentage(news.unseen.value)} of a trial's citations went where no other trial of "
        f"its {news.trials[0]} did."
    )
    if told := [one for one in news.new if one.corrected == one.corrected]:
        names = (
            f"{one.name} ({pluralize(one.trials, 'trial')}, p {p_text(one.corrected)})" for one in told[:_MOST_NEW]
        )
        yield f"Enough trials to tell: {', '.join(names)}{_more(told)}."
    if rare := [one for one in news.new if one.corrected != one.corrected]:
        yield (
            f"Too few trials to tell news from chance: "
            f"{', '.join(f'{one.name} ({one.trials})' for one in rare[:_MOST_NEW])}{_more(rare)}."
        )


def _more(names: Sequence[object]) -> str:
    rest = len(names) - _MOST_NEW
    return f" and {rest} more" if rest > 0 else ""


def _shown_table(one: SystemSources, column: str) -> Table:
    headings = ("answers [low, high]", "citations [low, high]", "place", "one trial\nlow, high")
    table = figure_table(column, headings, min_width=12, max_width=30)
    for shown in one.shown:
        table.add_row(printable(shown.name, line=True), *shown_cells(shown))
    return table


def shown_cells(shown: Shown) -> tuple[str, str, str, str]:
    """Return the cells of a name: its shares, its ranks, and its shares in single trials."""
    first, last = shown.ranks
    known = [value for value in shown.single if value == value]
    single = f"{_bare(min(known))}, {_bare(max(known))}" if len(known) > 1 else ""
    return (
        share_words(shown.answers, shown.answers_interval),
        share_words(shown.citations, shown.citations_interval),
        str(first) if first == last else f"{first} to {last}",
        single,
    )


def _pair_table(pair: Pairing, column: ColumnSources) -> Table:
    table = figure_table(column.column, ("difference [low, high]", "p", "found"), min_width=12, max_width=30)
    for name, one in pair.shares.items():
        table.add_row(printable(name, line=True), *_difference_cells(one))
    for name, one in () if column.is_looked_up else pair.apart.items():
        table.add_row(f"apart, {name}", *_difference_cells(one))
    return table


def _difference_cells(one: Difference) -> tuple[str, str, str]:
    return difference_words(one, share=True), p_text(one.adjusted), found_word(one)


def share_words(value: float, interval: Interval) -> str:
    """Return a share with its interval, in percent."""
    if math.isnan(value):
        return "n/a"
    ends = f" [{_bare(interval.low)}, {_bare(interval.high)}]" if interval.is_defined else ""
    return f"{_percentage(value)}{ends}"


def described(one: Described) -> str:
    """Return a figure from 0 to 1 with its interval, or with the reason why there is none."""
    if math.isnan(one.value):
        return f"n/a ({one.interval.note})"
    if not one.interval.is_defined:
        return f"{_number(one.value)} (no interval: {one.interval.note})"
    return f"{_number(one.value)} [{_number(one.interval.low)}, {_number(one.interval.high)}]"


def _plural(column: str) -> str:
    return f"{column[:-1]}ies" if column.endswith("y") else column if column == "official" else f"{column}s"


def _span(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return max(known) - min(known)


def _percentage(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{decimal(100 * value, 1)}%"


def _bare(value: float) -> str:
    return decimal(100 * value, 1)


def _number(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.3f}".replace("0.", ".", 1)
