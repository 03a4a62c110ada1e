"""Line plots as small SVG files, for the pages of this folder: no library, the same bytes on every machine.

    from plot import Line, Plot, drawn
    text = drawn(Plot("Survival", "turn", "still there", (Line("p = .25", ((1, 1.0), (2, 0.75))),), y=(0, 1)))

Several plots stand side by side. Colours are those of the reader's theme, light or dark, and of print: an <img> follows
`prefers-color-scheme` too. Lines differ in their dashes as well as in colour. Numbers are written with one decimal of a
pixel, so that rounding in the last place of a floating-point number changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

__all__ = ["Line", "Plot", "drawn"]

_LIGHT = ("#1b6ca8", "#c8553d", "#4a7c59", "#7d5ba6", "#9a7009", "#333333")
_DARK = ("#6db3e8", "#f0886f", "#86c79a", "#bd9ee0", "#e3bd4c", "#d8d8d8")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "1 2")
_STYLE = "".join(
    (
        ".paper{fill:#ffffff}text{fill:#1a1a1a}.axis{stroke:#333333}.grid{stroke:#dddddd}.line{fill:none;stroke-width:2}",
        *(f".c{place}{{stroke:{colour}}}" for place, colour in enumerate(_LIGHT)),
        "@media screen and (prefers-color-scheme:dark){",
        ".paper{fill:#0d1117}text{fill:#e6e6e6}.axis{stroke:#9a9a9a}.grid{stroke:#30363d}",
        *(f".c{place}{{stroke:{colour}}}" for place, colour in enumerate(_DARK)),
        "}",
    )
)
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _ROW = 300, 210, 58, 34, 44, 19


@dataclass(frozen=True, slots=True)
class Line:
    """name: in the legend. points: (x, y), in the order in which they are joined; NaN breaks the line.

    steps: holds its value until the next point, for things that change at turns."""

    name: str
    points: Sequence[tuple[float, float]]
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """At most six lines. x, y: (lowest, highest) of an axis; not given: as the data need, with round ends."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None


def drawn(*plots: Plot) -> str:
    """The plots side by side, as the text of an SVG file. Raises ValueError where there is nothing to draw."""
    if not plots or any(not plot.lines or len(plot.lines) > len(_LIGHT) for plot in plots):
        raise ValueError(f"a plot has 1 to {len(_LIGHT)} lines")
    rows = max(len(plot.lines) for plot in plots)
    wide, high = len(plots) * (_LEFT + _WIDTH + 22), _TOP + _HEIGHT + _BOTTOM + rows * _ROW + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape('; '.join(plot.title for plot in plots))}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{wide}" height="{high}"/>',
    ]
    for place, plot in enumerate(plots):
        parts += _panel(plot, place * (_LEFT + _WIDTH + 22) + _LEFT)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(plot: Plot, left: float) -> list[str]:
    points = [point for line in plot.lines for point in line.points if all(map(math.isfinite, point))]
    if not points:
        raise ValueError(f"nothing to draw in {plot.title!r}")
    (x_low, x_high), x_ticks = _axis([x for x, _ in points], plot.x)
    (y_low, y_high), y_ticks = _axis([y for _, y in points], plot.y)

    def across(x: float) -> float:
        return left + _WIDTH * (x - x_low) / (x_high - x_low)

    def down(y: float) -> float:
        return _TOP + _HEIGHT * (1 - (y - y_low) / (y_high - y_low))

    floor, middle = _TOP + _HEIGHT, left + _WIDTH / 2
    parts = [f'<text x="{middle:.1f}" y="20" text-anchor="middle" font-weight="bold">{escape(plot.title)}</text>']
    for tick in x_ticks:
        x = across(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{floor}" x2="{x:.1f}" y2="{floor + 4}" class="axis"/>')
        parts.append(f'<text x="{x:.1f}" y="{floor + 17}" text-anchor="middle">{tick:g}</text>')
    for tick in y_ticks:
        y = down(tick)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + _WIDTH}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    parts.append(f'<rect x="{left}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" class="axis"/>')
    parts.append(f'<text x="{middle:.1f}" y="{floor + 34}" text-anchor="middle">{escape(plot.x_label)}</text>')
    turned = f"{left - 42:.1f} {_TOP + _HEIGHT / 2:.1f}"
    parts.append(
        f'<text x="{left - 42:.1f}" y="{_TOP + _HEIGHT / 2:.1f}" text-anchor="middle" transform="rotate(-90 {turned})">'
        f"{escape(plot.y_label)}</text>"
    )
    for place, line in enumerate(plot.lines):
        style = f'class="line c{place}"'
        style += f' stroke-dasharray="{_DASHES[place]}"' if _DASHES[place] else ""
        for piece in _pieces(line):
            inside = [(min(max(x, x_low), x_high), min(max(y, y_low), y_high)) for x, y in piece]
            if line.steps and len(inside) > 1 and inside[-2][0] >= x_high:
                # What happens at the end of the axis would be a drop along the frame, and nothing comes after it.
                inside = inside[: next(at for at, (x, _) in enumerate(inside) if x >= x_high) + 1]
            way = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in inside)
            parts.append(f'<polyline points="{way}" {style}/>')
        y = floor + _BOTTOM + 8 + place * _ROW
        parts.append(f'<line x1="{left}" y1="{y - 4}" x2="{left + 28}" y2="{y - 4}" {style}/>')
        parts.append(f'<text x="{left + 36}" y="{y}">{escape(line.name)}</text>')
    return parts


def _pieces(line: Line) -> list[list[tuple[float, float]]]:
    """The line without its gaps, with corners where it goes in steps."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in line.points:
        if not (math.isfinite(x) and math.isfinite(y)):
            found.append([])
            continue
        if line.steps and found[-1]:
            found[-1].append((x, found[-1][-1][1]))
        found[-1].append((x, y))
    return [piece for piece in found if piece]


def _axis(values: Sequence[float], asked: tuple[float, float] | None) -> tuple[tuple[float, float], list[float]]:
    """Ends and ticks at round numbers: steps of 1, 2 or 5 times a power of ten."""
    low, high = asked or (min(values), max(values))
    if low == high:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw * 0.999)
    if asked is None:
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first = math.ceil(low / step - 1e-9)
    ticks = [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]
    return (low, high), ticks
