"""Charts of a report, and the way a standalone picture is embedded in a page."""

import math
import re
from collections.abc import Mapping, Sequence

from harvest.tables.drawing.histogram_chart import HistogramRow, histogram_panel
from harvest.tables.drawing.scatter_chart import ScatterSeries, scatter_panel
from harvest.tables.drawing.svg import MARGIN, page
from scoring.table import is_percentage

_WIDTH = 760.0  # in pixels: the column of the report
_BINS = 20  # of a histogram

_OWN_STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
_ROOT = re.compile(r'\A(<svg [^>]*?) style="[^"]*"')


def embedded(svg: str) -> str:
    """Return a picture without its styles: the page has them once, and its policy allows no others."""
    return _OWN_STYLE.sub("", _ROOT.sub(r"\1", svg, count=1), count=1).strip()


def points_chart(series: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str) -> str:
    """Draw a scatter plot. `series` contains a point for each topic, by system."""
    shown = [ScatterSeries(name, points) for name, points in series.items()]
    elements, down = scatter_panel(shown, x, y, _WIDTH - 2 * MARGIN, MARGIN - 8)
    counts = "; ".join(f"{name}: {len(points)} points" for name, points in series.items())
    return page(f"{x} against {y}", f"A point for each topic and system. {counts}", elements, _WIDTH, down + 8)


def distributions_chart(values: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Draw histograms. `values` contains one value for each conversation, by measure and system."""
    elements: list[str] = []
    down = MARGIN - 10
    said = []
    for measure, systems in values.items():
        scale = 100.0 if is_percentage(measure) else 1.0
        every = [value for each in systems.values() for value in each]
        ends = (0.0, scale) if scale > 1 else (min(0.0, *every), _round_end(max(every)))
        rows = [_histogram_row(name, [scale * value for value in each], ends) for name, each in systems.items()]
        said += [f"{measure} of {row.label}: {row.said}" for row in rows]
        unit = "percent" if scale > 1 else measure
        drawn, down = histogram_panel(measure, f"{unit} of a conversation", rows, ends, _WIDTH - 2 * MARGIN, down + 8)
        elements += drawn
    return page("Distributions over conversations", "; ".join(said), elements, _WIDTH, down + 6)


def _round_end(most: float) -> float:
    """Return a round end for an axis that starts at 0."""
    if most <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(most))
    return next(size * step for step in (1, 2, 2.5, 5, 10) if size * step >= most * (1 - 1e-9))


def _histogram_row(name: str, values: Sequence[float], ends: tuple[float, float]) -> HistogramRow:
    low, high = ends
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, max(0, int((value - low) / (high - low) * _BINS)))] += 1
    ordered = sorted(values)
    quartiles = []
    for share in (0.25, 0.5, 0.75):
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        above = min(below + 1, len(ordered) - 1)
        quartiles.append(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
    low_quarter, middle, high_quarter = quartiles
    form = ".1f" if high == 100.0 else ".4f"
    said = f"median {middle:{form}} (line), half of {len(values):,} conversations from {low_quarter:{form}} to "
    said += f"{high_quarter:{form}}"
    return HistogramRow(name, said, [count / len(values) for count in counts], middle)
