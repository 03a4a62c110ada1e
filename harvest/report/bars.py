"""Rows of forest plots: a value and its interval as positions on an axis, next to the figure in words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harvest.tables.drawing.axis import Axis

_PLACES = ("value", "low", "high", "zero", "band")
_MARKS = 4  # of an axis, about: its labels do not touch on a telephone
DIFFERENCE = -1  # the series of differences, which have a mark of their own
_HALF = 50.0  # points on each side of an axis of differences that is as wide as the axis of percentages


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a forest plot.

    The row has positions, each a fraction of the track from 0 to 1, or NaN: `value`, the ends `low` and `high` of its
    interval, and the line of no difference, `zero`. Differences matter only beyond the distance `band` from that line.
    `said` is the figure in words. `level` is 1 for a part of the row above, else 0. `series` is the number of the
    system, which decides on the mark, or `DIFFERENCE`, and `of` its name. The mark is hollow unless `filled`. `more`
    are further cells. `ticks` are the positions and labels of the marks of the axis, and `unit` its unit.
    """

    label: str
    said: str
    value: float
    low: float = math.nan
    high: float = math.nan
    zero: float = math.nan
    band: float = math.nan
    level: int = 0
    of: str = ""
    series: int = 0
    filled: bool = True
    more: tuple[str, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    unit: str = ""

    def as_block(self) -> dict[str, Any]:
        """Return the row as a block, with positions rounded to visible precision and None for NaN."""
        shown = {name: getattr(self, name) for name in _PLACES}
        return {
            **{name: None if math.isnan(place) else round(place, 4) for name, place in shown.items()},
            **{name: getattr(self, name) for name in ("label", "said", "level", "of", "series", "filled", "more")},
            "ticks": [[round(place, 4), label] for place, label in self.ticks],
            "unit": self.unit,
        }


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of `unit`. A value times `factor` is a number on the axis, whose ends are at the positions 0 and 1."""

    axis: Axis
    unit: str = ""
    factor: float = 1.0

    def bar(
        self,
        label: str,
        said: str,
        values: tuple[float, float, float],
        *,
        level: int = 0,
        of: str = "",
        series: int = 0,
    ) -> Bar:
        """Return a row with a value and the ends of its interval, each in the unit of the value, or NaN."""
        value, low, high = map(self._place, values)
        ticks = tuple((self.axis.position(tick), self.axis.label(tick)) for tick in self.axis.ticks)
        return Bar(label, said, value, low, high, level=level, of=of, series=series, ticks=ticks, unit=self.unit)

    def difference(
        self,
        label: str,
        said: str,
        values: tuple[float, float, float],
        matters: float,
        *,
        of: str = "",
        filled: bool = True,
        more: tuple[str, ...] = (),
    ) -> Bar:
        """Return a row with a difference. `matters` is the smallest difference that matters, or NaN."""
        zero = self._place(0.0)
        found = self.bar(label, said, values, of=of, series=DIFFERENCE)
        return replace(found, zero=zero, band=self._place(matters) - zero, filled=filled, more=more)

    def _place(self, value: float) -> float:
        return math.nan if math.isnan(value) else self.axis.position(self.factor * value)


PERCENT = Scale(Axis(0.0, 100.0, 0.0, 1.0, 25.0), "percent", 100.0)
UNIT = Scale(Axis(0.0, 1.0, 0.0, 1.0, 0.25))


def scale_from_zero(values: Sequence[float], unit: str = "") -> Scale:
    """Return a scale from 0 to the largest value, or to 1 if there is none."""
    return Scale(Axis.from_values([0.0, *(values if any(values) else (1.0,))], 0.0, 1.0, _MARKS), unit)


def difference_scale(values: Iterable[float], *, share: bool) -> Scale:
    """Return a scale with 0 in the middle. A point is as wide on it as on the scale of percentages, if possible."""
    known = [abs(value) for value in values if math.isfinite(value)]
    if share:
        half = _HALF if 100 * max(known, default=0.0) <= _HALF else 2 * _HALF
        return Scale(Axis(-half, half, 0.0, 1.0, half / 2), "points", 100.0)
    most = max(known, default=0.0) or 1.0
    return Scale(Axis.from_values([-most, most], 0.0, 1.0, _MARKS))
