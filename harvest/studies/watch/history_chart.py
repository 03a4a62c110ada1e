"""A chart of a watched audit with its figures look by look and their change points."""

import math
from collections.abc import Iterator, Sequence

from harvest.studies.watch.changes import find_moves
from harvest.studies.watch.history import Look
from harvest.tables.drawing.curve_chart import Curve, CurvePanel, curve_key, curve_panels
from harvest.tables.drawing.svg import MARGIN, page
from scoring.table import is_percentage

_WIDTH = 760.0  # in pixels: the column of the report
_LEVEL_NAME = "mean between change points"


def history_chart(looks: Sequence[Look], series: Sequence[tuple[str, str]]) -> str:
    """Return an SVG chart with a panel for each system and figure in `series`."""
    elements: list[str] = []
    said = []
    down, wide = MARGIN - 12, _WIDTH - 2 * MARGIN
    for system, figure in series:
        measured = [(place, look.systems[system]) for place, look in enumerate(looks, 1) if system in look.systems]
        points = [
            (float(place), _unit_scale(figure) * one.figures[figure].value)
            for place, one in measured
            if figure in one.figures
        ]
        levels = list(_level_line(looks, system, figure))
        before = [
            (float(place), _unit_scale(figure) * (own.value - own.difference))
            for place, one in measured
            if (own := one.figures.get(figure)) is not None and own.difference is not None
        ]
        further = {_LEVEL_NAME: levels, "baseline": before}
        curves = [Curve(figure, points), *(Curve(name, own) for name, own in further.items() if own)]
        unit = "percent" if is_percentage(figure) else figure
        panel = CurvePanel(f"{system}, {figure}", "look", unit, curves, (0.0, _axis_end(points, figure)))
        drawn, down = curve_panels([panel], wide, down)
        key, down = curve_key([curve.name for curve in curves], wide, down - 8)
        elements += [*drawn, *key]
        down += 10
        each = ", ".join(f"{place:.0f}: {value:.3g}" for place, value in points)
        moved = "".join(f"; moved at look {place + 1}" for place in find_moves(looks, system, figure))
        said.append(f"{system}, {figure}: {each}{moved}")
    title = ", ".join(series[0]) if len(series) == 1 else "Look by look"
    return page(title, "; ".join(said), elements, _WIDTH, down)


def _unit_scale(figure: str) -> float:
    return 100.0 if is_percentage(figure) else 1.0


def _level_line(looks: Sequence[Look], system: str, figure: str) -> Iterator[tuple[float, float]]:
    found = find_moves(looks, system, figure)
    if not found:
        return
    starts = [0, *found]
    ends = [*(start - 1 for start in found), len(looks) - 1]
    means = [next(iter(found.values())).before, *(one.after for one in found.values())]
    for start, end, mean in zip(starts, ends, means, strict=True):
        yield start + 1.0, _unit_scale(figure) * mean
        yield end + 1.0, _unit_scale(figure) * mean


def _axis_end(points: Sequence[tuple[float, float]], figure: str) -> float:
    most = max((value for _, value in points if not math.isnan(value)), default=1.0)
    if is_percentage(figure) or most <= 0:
        return _unit_scale(figure)
    size = 10.0 ** math.floor(math.log10(most))
    return next(size * step for step in (1, 2, 2.5, 5, 10) if size * step >= most * (1 - 1e-9))
