"""Scatter charts, in which the series differ in colour and marks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harvest.tables.drawing.axis import Axis
from harvest.tables.drawing.svg import (
    MARGIN,
    break_lines,
    circle,
    diamond,
    escape_text,
    line,
    quote_attribute,
    text,
    text_width,
    triangle,
)

_HEIGHT, _LEFT = 320.0, 54.0
# (colour, mark, filled) of the first series, the second, and so on, repeated from the beginning.
_MARKS: tuple[tuple[str, Callable[..., str], bool], ...] = (
    ("blue", circle, True),
    ("orange", diamond, True),
    ("green", triangle, True),
    ("grey", circle, False),
    ("blue", diamond, False),
    ("orange", triangle, False),
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
    start, end, top = MARGIN + _LEFT, MARGIN + wide - 12, down + 26
    bottom = top + _HEIGHT
    across = Axis.from_values([point[0] for one in series for point in one.points], start, end)
    up = Axis.from_values([point[1] for one in series for point in one.points], bottom, top)
    found = [text(MARGIN, down + 14, y, 11, "dim")]
    for tick in up.ticks:
        found.append(line(start, up.position(tick), end, up.position(tick), "hair"))
        found.append(text(start - 7, up.position(tick) + 4, up.label(tick), 10.5, "dim", anchor="end"))
    for tick in across.ticks:
        found.append(line(across.position(tick), top, across.position(tick), bottom, "hair"))
        found.append(text(across.position(tick), bottom + 16, across.label(tick), 10.5, "dim", anchor="middle"))
    found.append(text((start + end) / 2, bottom + 34, x, 11, "dim", anchor="middle"))
    for place, one in enumerate(series):
        ink, mark, filled = _MARKS[place % len(_MARKS)]
        drawn = [mark(across.position(a), up.position(b), ink, size=3.8, filled=filled) for a, b in one.points]
        found += map(_titled, drawn, one.about) if one.about else drawn
    key, down = _series_key([one.name for one in series], wide, bottom + 44)
    return [*found, *key], down


def _titled(drawn: str, about: tuple[str, str]) -> str:
    title, link = about
    return f"<g data-go={quote_attribute(link)}><title>{escape_text(title)}</title>{drawn}</g>"


def _series_key(names: Sequence[str], wide: float, down: float) -> tuple[list[str], float]:
    found, across, down = [], MARGIN, down + 14
    for place, name in enumerate(names):
        ink, mark, filled = _MARKS[place % len(_MARKS)]
        words = break_lines(name, wide - 30, 12, 1)[0]
        width = 20 + text_width(words, 12) + 18
        if across > MARGIN and across + width > MARGIN + wide:
            across, down = MARGIN, down + 21
        found.append(mark(across + 7, down, ink, filled=filled))
        found.append(text(across + 20, down + 4, words, 12))
        across += width
    return found, down + 14
