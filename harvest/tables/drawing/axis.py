"""The axis of a chart: its range, and marks at round numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # times a power of ten: the usual round steps


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a chart, with marks at a distance of `step`. `low` < `high` are the values at its ends, and `start`
    and `end` the pixels of these ends. On a vertical axis that grows upwards, `end` < `start`."""

    low: float
    high: float
    start: float
    end: float
    step: float

    @classmethod
    def from_values(
        cls, values: Iterable[float], start: float, end: float, marks: int = 6, *, whole: bool = False
    ) -> "Axis":
        """Return an axis that contains all finite `values` and has about `marks` marks, including a mark at each end.
        With `whole`, only whole numbers are marked. Without values, the axis runs from 0 to 1. If all values are
        equal, the axis extends beyond the value on both sides."""
        known = [value for value in values if math.isfinite(value)]
        least, most = (min(known), max(known)) if known else (0.0, 1.0)
        if most - least <= 1e-12 * max(1.0, abs(most)):
            room = abs(most) / 2 or 1.0
            least, most = least - room, most + room
        # The smallest round number that is large enough.
        needed = max((most - least) / marks, float(whole))
        size = 10.0 ** math.floor(math.log10(needed))
        steps = (size * one for one in _STEPS if not whole or (size * one).is_integer())
        step = next(one for one in steps if one >= needed * (1 - 1e-9))
        return cls(step * math.floor(least / step + 1e-9), step * math.ceil(most / step - 1e-9), start, end, step)

    def position(self, value: float) -> float:
        """Return the pixel of a value. A value beyond an end is drawn at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> tuple[float, ...]:
        """The marked values."""
        count = round((self.high - self.low) / self.step)
        return tuple(self.low + place * self.step for place in range(count + 1))

    def label(self, value: float) -> str:
        """Format a marked value with as many decimals as the step needs, and with a typographic minus sign."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        if not math.isclose(self.step, round(self.step, digits), rel_tol=1e-9):
            digits += 1
        return f"{value:.{digits}f}".replace("-", "−") if abs(value) > self.step / 1000 else "0"
