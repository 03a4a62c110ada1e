"""The bars at the top of a report: values with their intervals, or a difference on an axis around zero."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harvest.report.bars import DIFFERENCE, PERCENT, Bar, Scale, difference_scale, scale_from_zero
from harvest.report.compared_finding import compared_measure, difference_words, highest_first, is_reversed
from harvest.report.finding import MOST_SYSTEMS
from harvest.report.forest import drawn_figure
from harvest.report.watch_finding import most_serious
from harvest.studies.compare.comparison import Comparison
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.selection import Ranges
from harvest.studies.watch.history_chart import SUSPECTED
from harvest.studies.watch.watched import Watched
from harvest.studies.watch.words import shift_words, value_text
from harvest.tables.comparison_words import drawn_ends
from scoring.table import ScoreRow, is_percentage

_MOST_TYPES = 8


def bars_of_scores(rows: Sequence[ScoreRow], measure: str, systems: Sequence[str], ranges: Ranges) -> Iterator[Bar]:
    """Yield a bar for each of the first `MOST_SYSTEMS` systems. A single system also has a bar for each topic type.
    Figures of which only the `ranges` are known are drawn as these."""
    of = [row for row in rows if (row.measure, row.turn, row.topic, row.trial, row.entity) == (measure, *[None] * 4)]
    of = [row for row in of if not math.isnan(row.value)]
    whole = [row for name in systems for row in of if row.system == name and row.topic_type is None][:MOST_SYSTEMS]
    types = [row for row in of if row.topic_type is not None and row.system in systems] if len(systems) == 1 else []
    shown = [*whole, *(types[:_MOST_TYPES] if len(types) > 1 else ())]
    scale = _value_scale([row.value if math.isnan(row.high) else row.high for row in shown], measure)
    for row in shown:
        yield scale.bar(
            row.topic_type or row.system,
            *drawn_figure(row, ranges),
            level=int(row.topic_type is not None),
            series=list(systems).index(row.system),
        )


def drawing_order(found: Comparison | str, systems: Sequence[str], leading: Leading) -> list[str]:
    """Return the systems in the order in which they are drawn. If there are too many systems to draw, the best
    systems come first, as in the finding; otherwise the order of the runs is kept."""
    one = compared_measure(found, leading) if isinstance(found, Comparison) else None
    if one is None or len(systems) <= MOST_SYSTEMS:
        return list(systems)
    order = highest_first(one)
    return sorted(systems, key=lambda name: order.index(name) if name in order else len(order))


def undrawn_note(found: Comparison | str, systems: int, leading: Leading, *, judged: bool) -> str:
    """Return what the bars are of, if anything was `judged`, and whether systems are left out, or ""."""
    said = []
    if leading.scorers:
        said.append(f"Drawn is {leading.measure} by the judgments of {leading.scorers}.")
    elif judged:
        said.append("Drawn are labels of the protocol's rules, not judgments.")
    if systems > MOST_SYSTEMS:
        which = "the first" if isinstance(found, str) else "those named below,"
        said.append(f"Drawn are {which} {MOST_SYSTEMS} of {systems} systems; all are under “Figures”.")
    return " ".join(said)


def _value_scale(values: Sequence[float], measure: str) -> Scale:
    return PERCENT if is_percentage(measure) else scale_from_zero(values)


def bars_of_comparison(found: Comparison, matters: float, leading: Leading) -> Iterator[Bar]:
    """Yield a bar for the difference between two systems, around zero. Yields nothing if more systems are compared."""
    one = compared_measure(found, leading)
    if one is None or len(found.systems) != 2 or not one.pairs:
        return
    pair = one.pairs[0]
    if math.isnan(pair.value):
        return
    turned = is_reversed(found, pair)
    sign, order = (-1, (pair.second, pair.first)) if turned else (1, (pair.first, pair.second))
    low, high = sorted((sign * pair.interval.low, sign * pair.interval.high))
    band = matters if is_percentage(one.measure) else math.nan
    said = difference_words(one, pair, turned=turned)
    ends = drawn_ends(pair, (sign * pair.value, low, high), turned=turned)
    scale = difference_scale((*ends, band), share=is_percentage(one.measure))
    yield scale.difference(" − ".join(order), said, ends, band)


def bars_of_watch(found: Watched) -> Iterator[Bar]:
    """Yield bars for the values at the baseline and now, and for their difference. Yields nothing if no value could
    be measured."""
    if not found.systems:
        return
    system, one = most_serious(found)
    if one is None or not system.is_measured:
        return
    name = one.name.partition(" ")[0]
    scale = _value_scale([one.value, one.before], name)
    before = scale.bar("baseline", value_text(one.before, one.name), (one.before, math.nan, math.nan))
    yield replace(before, series=DIFFERENCE, filled=False)
    # With the mark that the audit has in the history.
    series = int(one.word in SUSPECTED)
    yield scale.bar("now", value_text(one.value, one.name), (one.value, math.nan, math.nan), series=series)
    values, matters = (one.difference.value, *one.difference.printed_ends), found.smallest_effect
    between = difference_scale((*values, matters), share=is_percentage(name))
    yield between.difference("change", shift_words(one), values, matters)
