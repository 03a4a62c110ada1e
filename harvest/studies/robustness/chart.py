"""Arms beside their control, as a picture: differences with their intervals."""

import math
from collections.abc import Iterator, Sequence

from harvest.studies.robustness.robustness import MeasureOverArms, Robustness
from harvest.tables.comparison_words import p_text
from harvest.tables.drawing.interval_chart import IntervalPanel, IntervalRow, interval_panel, panel_width
from harvest.tables.drawing.svg import MARGIN, page, paragraphs
from scoring.inference.matched import Difference
from scoring.table import is_percentage
from topics.decimals import decimal

_WIDTH = 800.0  # in pixels


def robustness_chart(found: Sequence[Robustness]) -> str:
    """An SVG file: a panel for each system and measure."""
    panels = [_panel(one, measure) for one in found for measure in one.measures]
    inside = max(_WIDTH - 2 * MARGIN, *map(panel_width, panels))
    title = f"{', '.join(one.system.name for one in found)}: what arms change"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    more, down = paragraphs([_said(found)], inside, down + 2)
    elements += more
    for panel in panels:
        drawn, down = interval_panel(panel, inside, down + 14)
        elements += drawn
    more, down = paragraphs([_key(found)], inside, down + 4)
    return page(title, _description(found), [*elements, *more], inside + 2 * MARGIN, down + MARGIN)


def _said(found: Sequence[Robustness]) -> str:
    first = found[0]
    return (
        f"Arm minus control over matched trials, with {100 * first.settings.level:g}% intervals for topics like these; "
        f"{first.sources[0]['run']}"
    )


def _panel(found: Robustness, measure: MeasureOverArms) -> IntervalPanel:
    share = is_percentage(measure.key[0])
    unit = "difference in points" if share else f"difference in {measure.label}"
    return IntervalPanel(f"{found.system.name}, {measure.label}", unit, list(_rows(found, measure)))


def _rows(found: Robustness, measure: MeasureOverArms) -> Iterator[IntervalRow]:
    scale = 100.0 if is_percentage(measure.key[0]) else 1.0
    for arm, one in measure.differences.items():
        yield IntervalRow(
            f"{arm} − {found.system.control}",
            one.value * scale,
            one.interval.low * scale,
            one.interval.high * scale,
            _figures(one, scale),
            filled=bool(one.beyond),
        )


def _figures(one: Difference, scale: float) -> str:
    if math.isnan(one.value):
        return "n/a"
    low, high = one.interval.low, one.interval.high
    interval = "" if math.isnan(low) else f" [{_number(low, scale)}, {_number(high, scale)}]"
    return f"{_number(one.value, scale)}{interval}, p {p_text(one.adjusted)}"


def _number(value: float, scale: float) -> str:
    text = decimal(100 * value, 1, signed=True) if scale == 100 else decimal(value, 4, signed=True)
    return text.replace("-", "−")


def _key(found: Sequence[Robustness]) -> str:
    first = found[0]
    return (
        f"● found: by a p of at most {1 - first.settings.level:.4g}, corrected over all differences (Holm); "
        "○ cannot be told from the control"
    )


def _description(found: Sequence[Robustness]) -> str:
    each = (
        f"{one.system.name}, {measure.label}, {row.label}: {row.said}"
        for one in found
        for measure in one.measures
        for row in _rows(one, measure)
    )
    return "A forest plot. " + "; ".join(each)
