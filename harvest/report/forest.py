"""Forest plots of measures and systems: the figures of `harvest score`, and the differences of `harvest compare`."""

import math
from collections.abc import Iterable, Iterator, Sequence

from harvest.report.bars import PERCENT, UNIT, Bar, Scale, difference_scale, scale_from_zero
from harvest.report.blocks import Block
from harvest.report.finding import MOST_SYSTEMS, join_names, safe_name
from harvest.studies.compare.comparison import MOST_PAIRS, Comparison
from harvest.studies.scores.selection import Ranges
from harvest.tables.comparison_words import (
    better_system,
    difference_text,
    drawn_ends,
    is_within,
    mark_noted,
    measure_name,
    p_text,
    signed,
)
from harvest.tables.figures import estimand_of, ordered_rows, shown_with_interval
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.library import range_of
from scoring.table import ScoreRow, is_percentage, shown_range
from topics.counting import pluralize

_LEAST = 0.1  # the least highest value that is drawn on an axis from 0 to 1
_MOST_PAIRS = 12  # of a measure


def forest(bars: Iterable[Bar], caption: str, head: Sequence[str], note: str = "", first: str = "measure") -> Block:
    """Return a forest plot. Bars with equal scales must follow one another. `first` names the column of labels, and
    `head` that of systems or pairs, that of figures, and further ones. `note` has sentences on what is drawn and what
    is not."""
    shown = [bar.as_block() for bar in bars]
    return {"forest": {"bars": shown, "caption": caption, "head": [first, *head], "note": note}}


def figure_forest(
    rows: Sequence[ScoreRow], systems: Sequence[str], ranges: Ranges, caption: str = "Measures and systems"
) -> Iterator[Block]:
    """Yield a forest plot of the figures of at most `MOST_SYSTEMS` systems. Figures of which only the `ranges` are
    known are drawn as these. Yields nothing if there is no figure."""
    drawn = list(systems)[:MOST_SYSTEMS]
    by_measure: dict[tuple[str, int | None], list[ScoreRow]] = {}
    for row in ordered_rows(rows):
        if row.system in drawn and row.value == row.value:
            by_measure.setdefault((row.measure, row.turn), []).append(row)
    grouped: dict[Scale, list[list[ScoreRow]]] = {}
    for (measure, _), own in by_measure.items():
        grouped.setdefault(_scale_of(measure, own), []).append(own)
    bars = [
        scale.bar(
            row.label if place == 0 else "",
            *drawn_figure(row, ranges),
            of=safe_name(row.system) if len(drawn) > 1 else "",
            series=drawn.index(row.system),
        )
        for scale, measures in grouped.items()
        for own in measures
        for place, row in enumerate(sorted(own, key=lambda row: drawn.index(row.system)))
    ]
    more = len(systems) - len(drawn)
    of = estimand_of(row.resampled for measures in grouped.values() for own in measures for row in own)
    notes = [f"Intervals are for {of}."] if of else []
    notes += ["A line without a mark is what the lost trials leave possible."] if any(map(_is_range, bars)) else []
    notes += [f"{pluralize(more, 'more system')}: see the table."] if more > 0 else []
    if bars:
        yield forest(bars, caption, ("system", "value [low, high]"), " ".join(notes))


def drawn_figure(row: ScoreRow, ranges: Ranges) -> tuple[str, tuple[float, float, float]]:
    """Return a figure in words, and its value and interval as they are drawn: its range, if only that is known."""
    ends = ranges.get((row.system, row.measure, row.turn)) if row.topic_type is None else None
    if ends is None:
        return shown_with_interval(row), (row.value, row.low, row.high)
    value = math.nan if ends[0] < ends[1] else ends[0]
    return shown_range(row.measure, ends), (value, *ends)


def _is_range(bar: Bar) -> bool:
    return math.isnan(bar.value) and not math.isnan(bar.low)


def _scale_of(measure: str, rows: Sequence[ScoreRow]) -> Scale:
    if is_percentage(measure):
        return PERCENT
    values = [value for row in rows for value in (row.value, row.low, row.high) if math.isfinite(value)]
    small = 0 < max(values, default=0.0) < _LEAST
    return UNIT if range_of(measure) == (0.0, 1.0) and not small else scale_from_zero(values, measure)


def difference_forest(
    found: Comparison, matters: float, *, turned: bool, caption: str = "Differences"
) -> Iterator[Block]:
    """Yield a forest plot of the differences over all topics. Differences of shares smaller than `matters` are
    shaded. The differences of two systems are shown as second minus first if `turned`. Yields nothing if no measure
    can be compared."""
    several = len(found.systems) > 2
    grouped: dict[str, list[MeasureComparison]] = {}
    for one in found.measures:
        if one.topic_type is None and any(pair.verdict != "no value" for pair in one.pairs):
            drawn = one.pairs[:_MOST_PAIRS]  # of 60 systems, all 1,770 would take seconds
            ends = [end for pair in drawn for end in (pair.value, pair.interval.low, pair.interval.high)]
            small = max((abs(end) for end in ends if math.isfinite(end)), default=0.0) < _LEAST / 2
            unit = range_of(one.measure) == (0.0, 1.0) and not small
            grouped.setdefault("%" if is_percentage(one.measure) else "" if unit else one.label, []).append(one)
    bars = [bar for own in grouped.values() for bar in _difference_bars(own, matters, several=several, turned=turned)]
    order = found.systems[::-1] if turned else found.systems
    pair = "" if several else f" {safe_name(order[0])} − {safe_name(order[1])}"
    left = any(len(one.pairs) > _MOST_PAIRS for own in grouped.values() for one in own)
    note = f"Intervals are for {ESTIMANDS[found.estimand]}."
    note += " A line without a mark is what the lost trials leave possible." if any(map(_is_range, bars)) else ""
    common = [measure_name(one) for own in grouped.values() for one in own if one.left_out]
    if common:
        note += f" {join_names(common)}: over the topics that all systems have a value of, unlike under “Figures”."
    pairs = math.comb(len(found.systems), 2)
    rest = "see the table for all" if pairs <= MOST_PAIRS else "harvest compare --all-pairs prints all"
    note += f" The first {_MOST_PAIRS} of {pairs:,} pairs of each measure are drawn: {rest}." if left else ""
    head = ("pair" if several else "", f"difference{pair} [low, high]", "p", "better")
    if bars:
        yield forest(bars, caption, head, note)


def _difference_bars(
    measures: Sequence[MeasureComparison], matters: float, *, several: bool, turned: bool
) -> Iterator[Bar]:
    share = is_percentage(measures[0].measure)
    shown = [(one, pair, place) for one in measures for place, pair in enumerate(one.pairs[:_MOST_PAIRS])]
    ends = [end for _, pair, _ in shown for end in (pair.value, pair.interval.low, pair.interval.high)]
    scale = difference_scale([*ends, *([matters] if share else [])], share=share)
    for one, pair, place in shown:
        value, low, high = pair.value, pair.interval.low, pair.interval.high
        value, low, high = (-value, -high, -low) if turned else (value, low, high)
        said = _difference_words(one, pair, low, high, turned=turned)
        value, low, high = drawn_ends(pair, (value, low, high), turned=turned)
        yield scale.difference(
            measure_name(one) if place == 0 else "",
            said,
            (value, low, high),
            matters if share else math.nan,
            of=f"{safe_name(pair.first)} − {safe_name(pair.second)}" if several else "",
            filled=pair.is_distinguished,
            more=(p_text(pair.corrected), better_system(pair, same=is_within(one, pair, matters)) + mark_noted(pair)),
        )


def _difference_words(one: MeasureComparison, pair: Pair, low: float, high: float, *, turned: bool) -> str:
    if math.isnan(pair.value):
        return "n/a"
    ends = f" [{signed(one, low)}, {signed(one, high)}]" if low == low else ""
    return f"{difference_text(one, pair, turned=turned)}{ends}"
