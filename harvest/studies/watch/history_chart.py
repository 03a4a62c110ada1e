"""A chart of a watched audit over time: the baseline, and each audit with its interval and its verdict."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise

from harvest.studies.watch.changes import find_moves
from harvest.studies.watch.history import MATTERS, Look, LookFigure
from harvest.tables.drawing.axis import Axis
from harvest.tables.drawing.svg import MARGIN, circle, diamond, line, page, path, rectangle, text, text_width
from recordings.files.times import format_seconds, unix_seconds
from scoring.table import is_percentage

_WIDTH = 760.0  # in pixels: the column of the report
_HEIGHT, _LEFT, _BELOW = 220.0, 46.0, 30.0
_LEVEL_NAME = "mean between change points"
_HOUR, _DAY = 3600.0, 86400.0
# Steps between the dates on the axis, in seconds, and the form in which dates are written at each.
_STEPS = (
    *((one, "%H:%M:%S") for one in (1.0, 5.0, 15.0)),
    *((60 * one, "%H:%M") for one in (1, 5, 15)),
    *((_HOUR * one, "%m-%d %H:%M") for one in (1, 6, 12)),
    *((_DAY * one, "%Y-%m-%d") for one in (1, 2, 7, 14, 28, 56, 91, 182, 364, 728)),
)
_MOST_DATES = 7
SUSPECTED = ("changed", "alarm", "fell", "rose")  # words of audits that say or suspect a change


@dataclass(frozen=True, slots=True)
class Point:
    """A figure of one audit, in percent if it is a share. `before` is the baseline, `low` and `high` are the ends of
    the interval around `value`, and `matters` is the smallest difference that matters. All are NaN if unknown.
    `is_renewed` is true if the previous audit had another baseline."""

    at: float
    value: float
    before: float
    low: float
    high: float
    matters: float
    word: str
    is_renewed: bool = False

    @property
    def is_suspected(self) -> bool:
        """True if the audit says or suspects a change."""
        return self.word in SUSPECTED


def audit_points(looks: Sequence[Look], system: str, figure: str) -> list[Point]:
    """Return the figure of each audit of a system, in order of time. An audit that could not be measured has NaN."""
    own = [look for look in looks if system in look.systems]
    return [
        replace(
            _point(look, look.systems[system].figures.get(figure), figure),
            is_renewed=last is not None and last.baseline != look.baseline,
        )
        for last, look in zip((None, *own), own, strict=False)
    ]


def _point(look: Look, one: LookFigure | None, figure: str) -> Point:
    at, share, nan = unix_seconds(look.at), is_percentage(figure.partition(" ")[0]), math.nan
    if one is None:
        return Point(at, nan, nan, nan, nan, nan, "")
    scale = 100.0 if share else 1.0
    before = nan if one.difference is None else one.value - one.difference
    low, high = one.shown or (nan, nan)
    matters = (MATTERS if look.rules is None else look.rules.matters) if share else nan
    value, before, low, high = (scale * part for part in (one.value, before, before + low, before + high))
    if share:  # the interval is one of the difference, and beyond 0 and 100% no share can lie
        low, high = (min(max(end, 0.0), 100.0) if end == end else nan for end in (low, high))
    return Point(at, value, before, low, high, scale * matters, one.word or one.verdict)


def value_axis(points: Sequence[Point], start: float, end: float, marks: int = 5) -> Axis:
    """Return an axis with all values, intervals and baselines of the points."""
    every = [value for one in points for value in (one.value, one.low, one.high, *_band(one))]
    return Axis.from_values(every, start, end, marks)


def _band(one: Point) -> tuple[float, float]:
    """Return the ends of what does not matter around the baseline. Only of shares it is known what matters."""
    if math.isnan(one.matters):
        return one.before, one.before
    return max(one.before - one.matters, 0.0), min(one.before + one.matters, 100.0)


def history_chart(looks: Sequence[Look], series: Sequence[tuple[str, str]]) -> str:
    """Return an SVG chart with a panel for each system and figure in `series`."""
    elements: list[str] = []
    said = []
    down = MARGIN - 12
    for system, figure in series:
        points = audit_points(looks, system, figure)
        levels = list(_level_line(looks, system, figure))
        elements += _panel(f"{system}, {figure}", figure, points, levels, down)
        down += 26 + _HEIGHT + _BELOW
        key, down = _key(points, levels, down)
        elements += key
        down += 10
        moved = "".join(
            f"; moved with the audit of {looks[place].at[:16].replace('T', ' ')}"
            for place in find_moves(looks, system, figure)
        )
        each = ", ".join(f"{format_seconds(one.at, '%Y-%m-%d %H:%M')}: {_words(one)}" for one in points)
        said.append(f"{system}, {figure}: {each}{moved}")
    title = ", ".join(series[0]) if len(series) == 1 else "Audit by audit"
    return page(title, "; ".join(said), elements, _WIDTH, down)


def _words(one: Point) -> str:
    return "could not be measured" if math.isnan(one.value) else f"{one.value:.3g} ({one.word})"


def _panel(
    title: str, figure: str, points: Sequence[Point], levels: Sequence[tuple[float, float]], down: float
) -> list[str]:
    top, start, end = down + 26, MARGIN + _LEFT, _WIDTH - MARGIN - 12
    bottom = top + _HEIGHT
    up = value_axis(points, bottom, top)
    dates = [one.at for one in points]
    room = 0.02 * (dates[-1] - dates[0]) or 1.0
    first, last = dates[0] - room, dates[-1] + room

    def across(at: float) -> float:
        return start + (at - first) / (last - first) * (end - start)

    unit = "percent" if is_percentage(figure.partition(" ")[0]) else figure
    found = [text(MARGIN, down + 14, title, 13, bold=True), text(end, down + 14, unit, 10.5, "dim", anchor="end")]
    known = [one for one in points if not math.isnan(one.value)]
    for _, own in groupby(known, key=lambda one: (round(one.before, 6), one.matters)):
        found += _baseline(list(own), across, up)
    for earlier, one in pairwise(points):
        if one.is_renewed:
            between = across((earlier.at + one.at) / 2)
            found.append(line(between, top, between, bottom, "dim", 1, "2 3"))
            found.append(text(between, top - 4, "new baseline", 10.5, "dim", anchor="middle"))
    for tick in up.ticks:
        found.append(line(start, up.position(tick), end, up.position(tick), "hair"))
        found.append(text(start - 7, up.position(tick) + 4, up.label(tick), 10.5, "dim", anchor="end"))
    found.append(line(start, bottom, end, bottom, "dim"))
    for at, words in _date_ticks(dates[0], dates[-1]):
        found.append(line(across(at), bottom, across(at), bottom + 4, "dim"))
        found.append(text(across(at), bottom + 16, words, 10.5, "dim", anchor="middle"))
    for (begin, level), (finish, _) in zip(levels[::2], levels[1::2], strict=True):
        ends = [(across(begin), up.position(level)), (across(finish), up.position(level))]
        found.append(path(ends, "grey", 2, "10 3 2 3"))
    size = 4.5 if len(points) <= 60 else 3.0
    for one in points:
        found += _mark(one, across(one.at), up, bottom, size)
    return found


def _baseline(own: Sequence[Point], across: Callable[[float], float], up: Axis) -> Iterator[str]:
    """Draw the baseline of consecutive audits, and what matters around it."""
    if math.isnan(own[0].before):
        return
    low, high = _band(own[0])
    start, end = across(own[0].at) - 8, across(own[-1].at) + 8
    if high > low:
        yield rectangle(start, up.position(high), end - start, up.position(low) - up.position(high), "hair")
    yield line(start, up.position(own[0].before), end, up.position(own[0].before), "dim", 1.4, "4 3")


def _mark(one: Point, x: float, up: Axis, bottom: float, size: float) -> Iterator[str]:
    if math.isnan(one.value):
        yield text(x, bottom - 5, "×", 13, "dim", anchor="middle")
        return
    ink = "orange" if one.is_suspected else "blue"
    if not math.isnan(one.low):
        yield line(x, up.position(one.low), x, up.position(one.high), ink, 1.6)
    if one.is_suspected:
        yield diamond(x, up.position(one.value), ink, size=size + 1, filled=not _is_unconfirmed(one))
    else:
        yield circle(x, up.position(one.value), ink, size=size)


def _is_unconfirmed(one: Point) -> bool:
    return one.is_suspected and one.word != "changed"


def _key(points: Sequence[Point], levels: Sequence[tuple[float, float]], down: float) -> tuple[list[str], float]:
    known = [one for one in points if not math.isnan(one.value)]
    entries: list[tuple[Callable[[float, float, str], str] | None, str, str, bool]] = [
        (circle, "blue", "an audit, with the interval of its difference", any(not one.is_suspected for one in known)),
        (diamond, "orange", "a confirmed change", any(one.word == "changed" for one in known)),
        (partial(diamond, filled=False), "orange", "an alarm or a move, unconfirmed", any(map(_is_unconfirmed, known))),
        (None, "dim", "baseline, and ± what matters", any(not math.isnan(one.before) for one in known)),
        (None, "grey", _LEVEL_NAME, bool(levels)),
        (None, "×", "could not be measured", len(known) < len(points)),
    ]
    found, across, down = [], MARGIN, down + 14
    for draw, ink, words, shown in entries:
        if not shown:
            continue
        width = 34 + text_width(words, 11) + 16
        if across > MARGIN and across + width > _WIDTH - MARGIN:
            across, down = MARGIN, down + 19
        if draw is not None:
            found += [line(across + 13, down - 8, across + 13, down + 8, ink, 1.6), draw(across + 13, down, ink)]
        elif ink == "×":
            found.append(text(across + 13, down + 4, ink, 13, "dim", anchor="middle"))
        else:
            if ink == "dim":
                found.append(rectangle(across, down - 6, 26, 12, "hair"))
            found.append(line(across, down, across + 26, down, ink, 1.6, "4 3" if ink == "dim" else "10 3 2 3"))
        found.append(text(across + 34, down + 4, words, 11))
        across += width
    return found, down + 12


def _date_ticks(first: float, last: float) -> Iterator[tuple[float, str]]:
    """Yield dates between two times, in seconds, at round distances, and how they are written."""
    step, form = next((one for one in _STEPS if (last - first) / one[0] < _MOST_DATES), _STEPS[-1])
    if first == last:
        yield first, format_seconds(first, "%Y-%m-%d %H:%M")
        return
    at = first if step >= _DAY else math.ceil(first / step) * step  # days count from the first audit
    while at <= last:
        yield at, format_seconds(at, form)
        at += step


def _level_line(looks: Sequence[Look], system: str, figure: str) -> Iterator[tuple[float, float]]:
    """Yield the two ends of each level between change points, as (time, value)."""
    found = find_moves(looks, system, figure)
    if not found:
        return
    scale = 100.0 if is_percentage(figure.partition(" ")[0]) else 1.0
    starts = [0, *found]
    ends = [*(start - 1 for start in found), len(looks) - 1]
    means = [next(iter(found.values())).before, *(one.after for one in found.values())]
    for start, end, mean in zip(starts, ends, means, strict=True):
        yield unix_seconds(looks[start].at), scale * mean
        yield unix_seconds(looks[end].at), scale * mean
