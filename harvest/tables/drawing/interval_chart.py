"""Forest plots: each row shows a value and its interval, next to the figure in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harvest.tables.drawing.axis import Axis
from harvest.tables.drawing.svg import MARGIN, circle, diamond, fit_text, line, paragraphs, rectangle, text, text_width

Mark = Literal["circle", "diamond", "bar"]

_ROW, _SMALL_ROW = 21.0, 15.0
_SIZE, _SMALL = 12.0, 10.5
_INDENT, _BOLD = 10.0, 1.12  # pixels before a label below a heading; how much wider bold letters are
_GAP = 14.0  # in pixels
_MOST, _PLOT = 560.0, 270.0  # the largest width of the text on either side; the smallest width of the plot


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A row with a label on the left and the text `said` on the right. `value`, `low` and `high` are NaN if
    undefined. The mark is hollow unless `filled`. A `heading` has only a label."""

    label: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    said: str = ""
    filled: bool = True
    heading: bool = False


@dataclass(frozen=True, slots=True)
class IntervalPanel:
    """Rows on a common axis. `scale` is the name of the axis with its unit. With `zero`, the axis includes 0, marked
    by a line. The mark `bar` draws bars from 0. Rows are closer together if `small` is true."""

    title: str
    scale: str
    rows: Sequence[IntervalRow]
    zero: bool = True
    mark: Mark = "circle"
    small: bool = False


def panel_width(panel: IntervalPanel) -> float:
    """Return the width of a panel between its margins, in pixels. Labels and figures take at most 560 pixels each."""
    left, right = _side_widths(panel)
    return left + _GAP + _PLOT + _GAP + right


def _side_widths(panel: IntervalPanel) -> tuple[float, float]:
    size = _SMALL if panel.small else _SIZE
    labels = [
        text_width(row.label, size * _BOLD) if row.heading else text_width(row.label, size) + _INDENT
        for row in panel.rows
    ]
    left = max(labels, default=0.0)
    right = max((text_width(row.said, size) for row in panel.rows), default=0.0)
    return min(_MOST, left + 1), min(_MOST, right + 1)


def interval_panel(panel: IntervalPanel, wide: float, down: float) -> tuple[list[str], float]:
    """Draw a panel from the y coordinate `down`. Returns the elements and their lower end. `wide` is the number of
    pixels between the margins, at least `panel_width`."""
    size, high = (_SMALL, _SMALL_ROW) if panel.small else (_SIZE, _ROW)
    elements, down = paragraphs([panel.title], wide, down, size=13.0, ink="ink", bold=True)
    left, right = _side_widths(panel)
    start, end = MARGIN + left + _GAP, MARGIN + wide - right - _GAP
    values = [value for row in panel.rows for value in (row.value, row.low, row.high)]
    axis = Axis.from_values([*values, 0.0] if panel.zero else values, start, end)
    top = down + 8
    bottom = top + high * len(panel.rows)
    for tick in axis.ticks:
        own = panel.zero and abs(tick) < axis.step / 1000
        elements.append(
            line(axis.position(tick), top, axis.position(tick), bottom, "dim" if own else "hair", 1.4 if own else 1)
        )
        elements.append(text(axis.position(tick), bottom + 15, axis.label(tick), 10.5, "dim", anchor="middle"))
    elements.append(text((start + end) / 2, bottom + 31, panel.scale, 11, "dim", anchor="middle"))
    for place, row in enumerate(panel.rows):
        middle = top + high * (place + 0.5)
        indent, swell = (0.0, _BOLD) if row.heading else (_INDENT, 1.0)
        words = fit_text(row.label, left - indent, size * swell)
        elements.append(text(MARGIN + indent, middle + size * 0.35, words, size, bold=row.heading))
        elements.append(text(end + _GAP, middle + size * 0.35, fit_text(row.said, right, size), size))
        elements += _row_elements(panel, row, axis, middle, high)
    return elements, bottom + 40


def _row_elements(panel: IntervalPanel, row: IntervalRow, axis: Axis, middle: float, high: float) -> list[str]:
    if math.isnan(row.value):
        return []
    at = axis.position(row.value)
    if panel.mark == "bar":
        zero = axis.position(0.0)
        return [rectangle(min(at, zero), middle - high * 0.32, max(abs(at - zero), 0.8), high * 0.64, "blue")]
    found = []
    if not math.isnan(row.low):
        low, top = axis.position(row.low), axis.position(row.high)
        found.append(line(low, middle, top, middle, "ink", 1.6))
        found += [line(end, middle - 4, end, middle + 4, "ink", 1.6) for end in (low, top)]
    mark = diamond if panel.mark == "diamond" else circle
    found.append(mark(at, middle, "blue" if row.filled else "ink", filled=row.filled))
    return found
