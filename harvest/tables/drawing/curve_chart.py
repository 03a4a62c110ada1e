"""Charts of curves, which differ in colour, dashes and marks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harvest.tables.drawing.axis import Axis
from harvest.tables.drawing.svg import MARGIN, break_lines, circle, diamond, line, path, text, text_width, triangle

_HEIGHT, _AXIS, _BETWEEN = 230.0, 46.0, 30.0
# (colour, dashes, mark, filled) of the first curve, the second, and so on, repeated from the beginning.
_STYLES: tuple[tuple[str, str, Callable[..., str], bool], ...] = (
    ("blue", "", circle, True),
    ("orange", "7 4", diamond, True),
    ("green", "2 3", triangle, True),
    ("grey", "10 3 2 3", circle, False),
    ("blue", "4 4", diamond, False),
    ("orange", "1 3", triangle, False),
)


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve and its name in the key. The points (x, y) are sorted by x, and NaN leaves a gap."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class CurvePanel:
    """Curves on common axes. `x` and `y` are the names of the axes with their units, and `ends` is the range of the y
    axis. A horizontal line marks the y value `wanted`, unless it is None."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    ends: tuple[float, float]
    wanted: float | None = None


def curve_panels(panels: Sequence[CurvePanel], wide: float, top: float) -> tuple[list[str], float]:
    """Draw panels next to one another from the y coordinate `top`. Returns the elements and their lower end."""
    elements: list[str] = []
    width = (wide - _BETWEEN * (len(panels) - 1)) / len(panels)
    for place, panel in enumerate(panels):
        elements += _curve_panel(panel, MARGIN + place * (width + _BETWEEN), width, top)
    return elements, top + 26 + _HEIGHT + 42


def _curve_panel(panel: CurvePanel, left: float, width: float, down: float) -> list[str]:
    top, start, end = down + 26, left + _AXIS, left + width - 12
    bottom = top + _HEIGHT
    places = [0.0, *(x for curve in panel.curves for x, _ in curve.points)]
    across = Axis.from_values(places, start, end, 5, whole=all(float(x).is_integer() for x in places))
    up = Axis(*panel.ends, bottom, top, (panel.ends[1] - panel.ends[0]) / 5)
    found = [text(left, down + 14, panel.title, 13, bold=True)]
    for tick in up.ticks:
        found.append(line(start, up.position(tick), end, up.position(tick), "hair"))
        found.append(text(start - 7, up.position(tick) + 4, up.label(tick), 10.5, "dim", anchor="end"))
    for tick in across.ticks:
        found.append(line(across.position(tick), bottom, across.position(tick), bottom + 4, "dim"))
        found.append(text(across.position(tick), bottom + 16, across.label(tick), 10.5, "dim", anchor="middle"))
    found.append(line(start, bottom, end, bottom, "dim"))
    found.append(text((start + end) / 2, bottom + 33, panel.x, 11, "dim", anchor="middle"))
    x, y = left + 10, (top + bottom) / 2
    turned = text(0, 0, panel.y, 11, "dim", anchor="middle")
    found.append(f'<g transform="translate({x:.1f} {y:.1f}) rotate(-90)">{turned}</g>')
    if panel.wanted is not None:
        found.append(line(start, up.position(panel.wanted), end, up.position(panel.wanted), "ink", 1.4))
    for place, curve in enumerate(panel.curves):
        ink, dash, mark, filled = _STYLES[place % len(_STYLES)]
        points = [(across.position(x), up.position(y)) for x, y in curve.points if not math.isnan(y)]
        if len(points) > 1:
            found.append(path(points, ink, 2, dash))
        found += [mark(x, y, ink, filled=filled) for x, y in points]
    return found


def curve_key(names: Sequence[str], wide: float, top: float, wanted: str = "") -> tuple[list[str], float]:
    """Draw the key of the curves and of the horizontal line, in as many rows as needed. Returns the elements and
    their lower end."""
    found, across, top = [], MARGIN, top + 14
    for place, name in enumerate([*names, *([wanted] if wanted else ())]):
        ink, dash, mark, filled = _STYLES[place % len(_STYLES)]
        words = break_lines(name, wide - 50, 12, 1)[0]
        width = 46 + text_width(words, 12) + 18
        if across > MARGIN and across + width > MARGIN + wide:
            across, top = MARGIN, top + 21
        if place < len(names):
            found.append(line(across, top, across + 38, top, ink, 2, dash))
            found.append(mark(across + 19, top, ink, filled=filled))
        else:
            found.append(line(across, top, across + 38, top, "ink", 1.4))
        found.append(text(across + 46, top + 4, words, 12))
        across += width
    return found, top + 14
