"""A chart of arms against their control: differences with their intervals."""

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
    """Return an SVG file with a panel for each system and measure."""
    panels = []
    for one in found:
        for measure in one.measures:
            unit = "points" if is_percentage(measure.key[0]) else measure.label
            rows = list(_rows(one, measure))
            panels.append(IntervalPanel(f"{one.system.name}, {measure.label}", f"difference in {unit}", rows))
    inside = max(_WIDTH - 2 * MARGIN, *map(panel_width, panels))
    title = f"{', '.join(one.system.name for one in found)}: what arms change"
    elements, down = paragraphs([title], inside, MARGIN - 4, size=16, ink="ink", bold=True)
    level = found[0].settings.level
    said = (
        f"Arm minus control over matched trials, with {100 * level:g}% intervals for topics like these; "
        f"{found[0].sources[0]['run']}"
    )
    more, down = paragraphs([said], inside, down + 2)
    elements += more
    for panel in panels:
        drawn, down = interval_panel(panel, inside, down + 14)
        elements += drawn
    key = (
        f"● found: by a p of at most {1 - level:.4g}, corrected over all differences (Holm); ○ not distinguished from "
        "the control"
    )
    more, down = paragraphs([key], inside, down + 4)
    each = (f"{panel.title}, {row.label}: {row.said}" for panel in panels for row in panel.rows)
    description = "A forest plot. " + "; ".join(each)
    return page(title, description, [*elements, *more], inside + 2 * MARGIN, down + MARGIN)


def _rows(found: Robustness, measure: MeasureOverArms) -> Iterator[IntervalRow]:
    scale = 100.0 if is_percentage(measure.key[0]) else 1.0
    for arm, one in measure.differences.items():
        yield IntervalRow(
            f"{arm} − {found.system.control}",
            one.value * scale,
            one.interval.low * scale,
            one.interval.high * scale,
            _figure_words(one, scale),
            filled=bool(one.beyond),
        )


def _figure_words(one: Difference, scale: float) -> str:
    if math.isnan(one.value):
        return "n/a"
    low, high = one.interval.low, one.interval.high
    interval = "" if math.isnan(low) else f" [{_number(low, scale)}, {_number(high, scale)}]"
    return f"{_number(one.value, scale)}{interval}, p {p_text(one.adjusted)}"


def _number(value: float, scale: float) -> str:
    text = decimal(100 * value, 1, signed=True) if scale == 100 else decimal(value, 4, signed=True)
    return text.replace("-", "−")
