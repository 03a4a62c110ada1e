"""A forest plot of a comparison."""

import math
from collections.abc import Iterator

from harvest.studies.compare.comparison import Comparison
from harvest.tables.comparison_words import (
    better_system,
    difference_text,
    drawn_ends,
    is_known,
    measure_name,
    p_text,
    signed,
)
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.paired import ESTIMANDS
from scoring.table import is_percentage
from topics.counting import pluralize
from topics.decimals import decimal

_WIDTH = 800.0  # in pixels
_MOST_PAIRS, _MOST_TOPICS = 3, 30


def comparison_chart(found: Comparison, *, details: bool = False) -> str:
    """Return an SVG forest plot of all differences. With `details`, additional panels show how much each topic
    contributes to the first three differences."""
    panels = [*_difference_panels(found), *(_part_panels(found) if details else ())]
    inside = max(_WIDTH - 2 * MARGIN, *map(panel_width, panels))
    title = f"{', '.join(found.systems)}: differences of each pair"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    most = max((len(one.topics) for one in found.measures), default=0)
    said = (
        f"First minus second, over {pluralize(most, 'common topic')}, with {100 * found.settings.level:g}% intervals "
        f"for {ESTIMANDS[found.estimand]}; {', '.join(str(one['run']) for one in found.runs)}"
    )
    more, down = paragraphs([said], inside, down + 2)
    elements += more
    for panel in panels:
        drawn, down = interval_panel(panel, inside, down + 14)
        elements += drawn
    more, down = paragraphs([*_key_lines(found, details=details)], inside, down + 4)
    each = (
        f"{measure_name(one)}, {_pair_label(pair)}: {_difference_text(one, pair)}"
        for one in found.measures
        for pair in one.pairs
    )
    return page(title, "A forest plot. " + "; ".join(each), [*elements, *more], inside + 2 * MARGIN, down + MARGIN)


def _difference_panels(found: Comparison) -> Iterator[IntervalPanel]:
    shares = [one for one in found.measures if is_percentage(one.measure)]
    if shares:
        rows = [row for one in shares for row in (_heading_row(one), *_pair_rows(one, 100.0))]
        yield IntervalPanel("Percentages", "difference in points", rows)
    for name in dict.fromkeys(one.measure for one in found.measures if not is_percentage(one.measure)):
        own = [one for one in found.measures if one.measure == name]
        rows = [row for one in own for row in (*([_heading_row(one)] if len(own) > 1 else ()), *_pair_rows(one, 1.0))]
        yield IntervalPanel(name, f"difference in {name}", rows)


def _heading_row(one: MeasureComparison) -> IntervalRow:
    return IntervalRow(measure_name(one), heading=True)


def _pair_rows(one: MeasureComparison, scale: float) -> Iterator[IntervalRow]:
    for pair in one.pairs:
        value, low, high = drawn_ends(pair, (pair.value, pair.interval.low, pair.interval.high), turned=False)
        yield IntervalRow(
            _pair_label(pair),
            value * scale,
            low * scale,
            high * scale,
            _difference_text(one, pair),
            filled=pair.is_distinguished,
        )


def _pair_label(pair: Pair) -> str:
    return f"{pair.first} − {pair.second}"


def _difference_text(one: MeasureComparison, pair: Pair) -> str:
    if math.isnan(pair.value):
        return "n/a"
    low, high = pair.interval.low, pair.interval.high
    interval = "" if math.isnan(low) else f" [{signed(one, low)}, {signed(one, high)}]"
    figures = _minus_signs(f"{difference_text(one, pair)}{interval}")
    return f"{figures}, p {p_text(pair.corrected)}, {better_system(pair, most=80)}"


def _pairs_with_drivers(found: Comparison) -> list[tuple[MeasureComparison, Pair]]:
    whole = (one for one in found.measures if one.topic_type is None)
    return [(one, pair) for one in whole for pair in one.pairs if pair.drivers and is_known(pair)]


def _part_panels(found: Comparison) -> Iterator[IntervalPanel]:
    for one, pair in _pairs_with_drivers(found)[:_MOST_PAIRS]:
        scale = 100.0 if is_percentage(one.measure) else 1.0
        each = sorted(((driver.share * pair.value * scale, driver.topic) for driver in pair.drivers), reverse=True)
        rows = [IntervalRow(topic, value, said=_signed_number(value, scale)) for value, topic in each]
        half = _MOST_TOPICS // 2
        if len(each) > _MOST_TOPICS:  # the middle ones share a row without a bar, which would dwarf the others
            rest = [value for value, _ in each[half:-half]]
            said = f"{_signed_number(math.fsum(rest), scale)} together"
            rows = [*rows[:half], IntervalRow(f"{pluralize(len(rest), 'topic')} between", said=said), *rows[-half:]]
        unit = "points" if scale == 100 else one.measure
        whole = _minus_signs(signed(one, pair.value))
        title = f"What topics add to {_pair_label(pair)} in {measure_name(one)}: together {whole}"
        yield IntervalPanel(title, f"part in the difference, in {unit}", rows, mark="bar", small=True)


def _signed_number(value: float, scale: float) -> str:
    return _minus_signs(decimal(value, 2 if scale == 100 else 5, signed=True))


def _minus_signs(text: str) -> str:
    return text.replace("-", "−")


def _key_lines(found: Comparison, *, details: bool) -> Iterator[str]:
    yield (
        "● distinguished, by a p of at most "
        f"{1 - found.settings.level:.4g}, corrected over pairs; ○ not distinguished (?); the name on the right is "
        "the better system"
    )
    if details and len(_pairs_with_drivers(found)) > _MOST_PAIRS:
        yield f"What topics add is drawn for the first {_MOST_PAIRS} differences; --csv has it for every one"
    if found.contrasts:
        yield "What differs: " + "; ".join(one.said for one in found.contrasts)
    yield from (f"Note: {note}" for note in found.notes)
