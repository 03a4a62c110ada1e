"""Scatter charts, in which the series differ in colour and marks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harvest.tables.drawing import svg
from harvest.tables.drawing.axis import Axis

_HEIGHT, _LEFT = 320.0, 54.0
# (colour, mark, filled) of the first series, the second, and so on, repeated from the beginning.
_MARKS: tuple[tuple[str, Callable[..., str], bool], ...] = (
    ("blue", svg.circle, True),
    ("orange", svg.diamond, True),
    ("green", svg.triangle, True),
    ("grey", svg.circle, False),
    ("blue", svg.diamond, False),
    ("orange", svg.triangle, False),
)


@dataclass(frozen=True, slots=True)
class ScatterSeries:
    """A series of points (x, y), which must be finite, and its name in the key. `about` has for each point a title and
    a link, which a script of the page may follow; () without titles."""

    name: str
    points: Sequence[tuple[float, float]]
    about: Sequence[tuple[str, str]] = ()


def scatter_panel(series: Sequence[ScatterSeries], x: str, y: str, wide: float, down: float) -> tuple[list[str], float]:
    """Draw a chart with axes named `x` and `y`, and its key, from the y coordinate `down`. Returns the elements and
    their lower end."""
    start, end, top = svg.MARGIN + _LEFT, svg.MARGIN + wide - 12, down + 26
    bottom = top + _HEIGHT
    across = Axis.from_values([point[0] for one in series for point in one.points], start, end)
    up = Axis.from_values([point[1] for one in series for point in one.points], bottom, top)
    found = [svg.text(svg.MARGIN, down + 14, y, 11, "dim")]
    for tick in up.ticks:
        found.append(svg.line(start, up.position(tick), end, up.position(tick), "hair"))
        found.append(svg.text(start - 7, up.position(tick) + 4, up.label(tick), 10.5, "dim", anchor="end"))
    for tick in across.ticks:
        found.append(svg.line(across.position(tick), top, across.position(tick), bottom, "hair"))
        found.append(svg.text(across.position(tick), bottom + 16, across.label(tick), 10.5, "dim", anchor="middle"))
    found.append(svg.text((start + end) / 2, bottom + 34, x, 11, "dim", anchor="middle"))
    for place, one in enumerate(series):
        ink, mark, filled = _MARKS[place % len(_MARKS)]
        drawn = [mark(across.position(a), up.position(b), ink, size=3.8, filled=filled) for a, b in one.points]
        found += map(_titled, drawn, one.about) if one.about else drawn
    key, down = _series_key([one.name for one in series], wide, bottom + 44)
    return [*found, *key], down


def _titled(drawn: str, about: tuple[str, str]) -> str:
    title, link = about
    return f"<g data-go={svg.quote_attribute(link)}><title>{svg.escape_text(title)}</title>{drawn}</g>"


def _series_key(names: Sequence[str], wide: float, down: float) -> tuple[list[str], float]:
    found, across, down = [], svg.MARGIN, down + 14
    for place, name in enumerate(names):
        ink, mark, filled = _MARKS[place % len(_MARKS)]
        words = svg.break_lines(name, wide - 30, 12, 1)[0]
        width = 20 + svg.text_width(words, 12) + 18
        if across > svg.MARGIN and across + width > svg.MARGIN + wide:
            across, down = svg.MARGIN, down + 21
        found.append(mark(across + 7, down, ink, filled=filled))
        found.append(svg.text(across + 20, down + 4, words, 12))
        across += width
    return found, down + 14
