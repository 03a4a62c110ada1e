"""The finding about a run whose answers were asked for their sources: whose are shown, and where that differs."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence

from harvest.report.bars import PERCENT, Bar
from harvest.report.designed import found_levels, level_names, level_words
from harvest.report.finding import MOST_NAMED, Finding, join_names, safe_name, shown_path, trial_count
from harvest.report.grid import address
from harvest.studies.robustness.levels import LevelDifference, LevelStudy
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.gathered import Gathered
from harvest.studies.sources.citations import citing_systems
from harvest.studies.sources.exposure import ColumnSources, SourceStudy
from harvest.studies.sources.figures import share_words
from harvest.studies.sources.pairings import Pairing
from harvest.studies.sources.system_sources import Shown
from harvest.tables.comparison_words import difference_words
from scoring.measures.sources import SOURCED
from scoring.notation import Term, parse
from topics.counting import pluralize
from topics.decimals import decimal
from topics.source_table import DOMAIN, OWNER

_MOST_LISTED = 3  # systems whose shares are all in the first sentence
_MOST_BARS = 10  # of a name


def leading_sources(gathered: Gathered, study: SourceStudy | str, leading: Leading) -> SourceStudy | None:
    """Return the study of sources if a report begins with it: a table says whose they are, and neither gold nor
    judgments say what else the answers are worth. Otherwise, return None."""
    if isinstance(study, str) or leading.scorers or gathered.material.gold is not None:
        return None
    named = any(one.names and not one.is_looked_up for one in study.columns)
    return study if named and gathered.material.topics.sources.entries else None


def main_column(study: SourceStudy) -> ColumnSources:
    """Return the column of the first sentences: the owners of sources, or else the first that has names."""
    named = [one for one in study.columns if one.names and not one.is_looked_up]
    return next((one for one in named if one.column == OWNER), named[0])


def _names(column: ColumnSources) -> list[str]:
    """Return the names of the column, those first that most answers show: the mean over systems."""

    def often(name: str) -> float:
        return math.fsum(one.answers for one in _each(column, name).values())

    return sorted(column.names, key=often, reverse=True)


def _each(column: ColumnSources, name: str) -> dict[str, Shown]:
    """Return how often each system shows a name, without systems that have no answer."""
    at = column.names.index(name)
    return {one.system: one.shown[at] for one in column.systems if not math.isnan(one.shown[at].answers)}


def level_sources(study: SourceStudy) -> tuple[Term, ...]:
    """Return the measure by which the levels of a design are compared: how often the first name is shown. All
    differences are one family, so with further names fewer of them would be found."""
    column = main_column(study)
    name = _names(column)[0]
    if column.column == DOMAIN:
        return (Term(SOURCED.name, (Term(name),)),) if "." in name else ()
    return (Term(SOURCED.name, (Term(column.column), Term(name))),)


def source_finding(study: SourceStudy, gathered: Gathered, levels: LevelStudy | None) -> Finding:
    """Return the finding: which name is shown most and how often, what differs within systems, and then, between
    systems. `levels` has the comparisons of a design."""
    column = main_column(study)
    name, *others = _names(column)
    shown = _each(column, name)
    each = sorted(shown.items(), key=lambda one: one[1].answers)
    if len(each) > _MOST_LISTED:
        (fewest, low), (most, high) = each[0], each[-1]
        how = f"in {_words(low)} of the answers of {safe_name(fewest)}, the fewest, to {_words(high)} of those of "
        how += f"{safe_name(most)}, the most"
    else:
        how = "in " + join_names([f"{_words(one)} of the answers of {safe_name(system)}" for system, one in each[::-1]])
    also = [safe_name(other) for other in others[: MOST_NAMED - 1]]
    said = f"By {column.column}, {safe_name(name)} is shown most in these answers: {how}"
    with_source = sum(one.with_source for one in column.systems)
    answers = pluralize(sum(one.answers for one in column.systems), "answer")
    citations = pluralize(sum(one.citations for one in column.systems), "citation")
    named = shlex.quote(shown_path(gathered.runs[0].path)) if len(gathered.runs) == 1 else "RUN…"
    return Finding(
        "shown",
        f"{said}{f'; then {join_names(also)}' if also else ''}.",
        f"{100 * study.settings.level:g}% intervals for topics like these, each by itself; {with_source} of {answers} "
        f"show a source, {citations} in all; {trial_count(gathered.material)}.",
        " ".join(filter(None, (*_compared(study, column, levels), _single_words(shown)))),
        "Look at the differences below, and read answers that show it.",
        f"harvest sources {named}",
        _example(gathered, column, each[-1][0], name) if each else "",
    )


def bars_of_sources(study: SourceStudy) -> Iterator[Bar]:
    """Yield bars for the names shown most: of one system all names of the column, of several the first name by
    system."""
    column = main_column(study)
    names = _names(column)
    rows = _each(column, names[0])
    if len(column.systems) == 1:
        rows = {name: one for name in names for one in _each(column, name).values()}
    for label, shown in [*rows.items()][:_MOST_BARS]:
        ends = shown.answers, shown.answers_interval.low, shown.answers_interval.high
        yield PERCENT.bar(safe_name(label), _words(shown), ends)


def undrawn_sources(study: SourceStudy) -> str:
    """Return what the bars are of, and whether some are left out."""
    column = main_column(study)
    if len(column.systems) == 1:
        return f"Shares of answers that show each {column.column}."
    drawn = min(_MOST_BARS, len(column.systems))
    left = (
        f", for {drawn} of {len(column.systems)} systems; all are under “Sources”"
        if drawn < len(column.systems)
        else ""
    )
    return f"Shares of answers that show {safe_name(_names(column)[0])}{left}."


def _words(shown: Shown) -> str:
    return share_words(shown.answers, shown.answers_interval)


def _compared(study: SourceStudy, column: ColumnSources, levels: LevelStudy | None) -> Iterator[str]:
    """Yield what differs within systems, and then between systems."""
    if levels is not None:
        parts = [[one for one in levels.differences if bool(one.other) == other] for other in (False, True)]
        for each in parts:
            found = found_levels(each)
            if each:
                levels_of = level_words(each)
                which = f"systems within {levels_of}" if each[0].other else f"{levels_of} within systems"
                said = f": {level_names(found, _of_name)}" if found else ""
                yield f"{_count_words(len(each), f'between {which}', len(found))}{said}."
        return
    within = [one for one in column.pairs if one.facet != "system"]
    between = [one for one in column.pairs if one.facet == "system"]
    for which, pairs in (("within systems", within), ("between systems", between)):
        if pairs:
            yield _pair_words(which, pairs)


def _count_words(many: int, which: str, found: int) -> str:
    return f"Of {pluralize(many, 'difference')} {which}, {found or 'none'} {'is' if found < 2 else 'are'} found"


def _pair_words(which: str, pairs: Sequence[Pairing]) -> str:
    found = [(pair, name, one) for pair in pairs for name, one in pair.shares.items() if one.beyond]
    found = sorted(found, key=lambda one: -abs(one[2].value))
    said = []
    for pair, name, one in found[:MOST_NAMED]:
        value, opened, ends = difference_words(one, share=True).partition(" [")
        said.append(
            f"{safe_name(pair.second)} − {safe_name(pair.first)} is {value} points{opened}{ends} for {safe_name(name)}"
        )
    left = len(found) - MOST_NAMED
    more = f"; {left} more {'is' if left == 1 else 'are'} found" if left > 0 else ""
    count = _count_words(sum(len(pair.shares) for pair in pairs), which, len(found))
    return f"{count}{': ' + join_names(said) if said else ''}{more}."


def _of_name(one: LevelDifference) -> str:
    """Say of which name a difference between levels is."""
    name = parse(one.key[0]).arguments[-1]
    return f" for {safe_name(name.name)}" if isinstance(name, Term) else ""


def _single_words(shown: Mapping[str, Shown]) -> str:
    """Say how far single trials of a system are from the mean of all, where they differ most."""
    known = {system: [value for value in one.single if not math.isnan(value)] for system, one in shown.items()}
    spans = {system: max(values) - min(values) for system, values in known.items() if len(values) > 1}
    system = max(spans, key=lambda name: spans[name], default="")
    if not spans.get(system, 0.0) > 0:
        return ""
    one, low, high = shown[system], min(known[system]), max(known[system])
    return (
        f"A single trial of {safe_name(system)} would have said between {decimal(100 * low, 1)}% and "
        f"{decimal(100 * high, 1)}% of {safe_name(one.name)}, where all its trials together say "
        f"{decimal(100 * one.answers, 1)}%."
    )


def _example(gathered: Gathered, column: ColumnSources, system: str, name: str) -> str:
    """Return the link to a conversation of the system whose answer shows the name."""
    citing = citing_systems(gathered, (system,), (column.column,), gathered.settings)[column.column][system]
    for (topic, trial), answers in citing.trials.items():
        if any(name in one.known for one in answers):
            return address(topic=topic, system=system, trial=trial)
    return ""
