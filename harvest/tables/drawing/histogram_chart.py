"""Histograms on a common axis. Each series has its own row, so that no information depends on colour."""

from collections.abc import Sequence
from dataclasses import dataclass

from harvest.tables.drawing.axis import Axis
from harvest.tables.drawing.svg import MARGIN, fit_text, line, rectangle, text

_HIGH, _GAP, _LEFT = 54.0, 24.0, 8.0


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """A histogram with a label above its bars, followed by the text `said`. `shares` are the shares of the values in
    each bin, with sum 1. A vertical line marks `middle` unless it is NaN."""

    label: str
    said: str
    shares: Sequence[float]
    middle: float


def histogram_panel(
    title: str, scale: str, rows: Sequence[HistogramRow], ends: tuple[float, float], wide: float, top: float
) -> tuple[list[str], float]:
    """Draw a panel from the y coordinate `top`. Returns the elements and their lower end. `ends` are the ends of the
    axis, which is divided into bins of equal width."""
    start, end = MARGIN + _LEFT, MARGIN + wide - _LEFT
    found = [text(MARGIN, top + 14, title, 13, bold=True)]
    axis = Axis(*ends, start, end, (ends[1] - ends[0]) / 5)
    most = max((share for row in rows for share in row.shares), default=1.0) or 1.0
    top += 22
    for row in rows:
        found.append(text(start, top + 12, fit_text(f"{row.label}: {row.said}", end - start, 11.5), 11.5))
        floor = top + _GAP - 6 + _HIGH
        width = (end - start) / max(1, len(row.shares))
        for place, share in enumerate(row.shares):
            if share > 0:
                high = max(1.5, share / most * (_HIGH - 6))
                found.append(rectangle(start + place * width + 1, floor - high, max(1.0, width - 2), high, "blue"))
        found.append(line(start, floor, end, floor, "hair", 1.2))
        if row.middle == row.middle:
            found.append(
                line(axis.position(row.middle), floor - _HIGH + 4, axis.position(row.middle), floor + 5, "ink", 1.6)
            )
        top = floor + 6
    for tick in axis.ticks:
        found.append(text(axis.position(tick), top + 12, axis.label(tick), 10.5, "dim", anchor="middle"))
    found.append(text((start + end) / 2, top + 28, scale, 11, "dim", anchor="middle"))
    return found, top + 40
