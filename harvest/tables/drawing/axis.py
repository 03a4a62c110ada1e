"""The axis of a chart: from which value to which, and where it has marks, at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # times a power of ten: people count in these


@dataclass(frozen=True, slots=True)
class Axis:
    """low, high: the values at its ends, low < high. start, end: pixels there; a scale that grows upwards has end <
    start. step: between marks."""

    low: float
    high: float
    start: float
    end: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float, marks: int = 6, *, whole: bool = False) -> Axis:
        """An axis that holds all of `values` (NaN and infinities do not count), with about so many marks, at ends too.
        whole: only whole numbers are marked.

        Without any value it goes from 0 to 1; around a single one it has some room on both sides.
        """
        known = [value for value in values if math.isfinite(value)]
        least, most = (min(known), max(known)) if known else (0.0, 1.0)
        if most - least <= 1e-12 * max(1.0, abs(most)):
            room = abs(most) / 2 or 1.0
            least, most = least - room, most + room
        step = _step(max((most - least) / marks, float(whole)), whole)
        return cls(step * math.floor(least / step + 1e-9), step * math.ceil(most / step - 1e-9), start, end, step)

    def at(self, value: float) -> float:
        """The pixel of a value; what lies beyond an end is drawn at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> tuple[float, ...]:
        """The values that are marked."""
        count = round((self.high - self.low) / self.step)
        return tuple(self.low + place * self.step for place in range(count + 1))

    def label(self, value: float) -> str:
        """A marked value in as many digits as the step needs; minus as a sign of its own width."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        if not math.isclose(self.step, round(self.step, digits), rel_tol=1e-9):
            digits += 1
        return f"{value:.{digits}f}".replace("-", "−") if abs(value) > self.step / 1000 else "0"


def _step(least: float, whole: bool) -> float:
    """The smallest round number that is not smaller."""
    size = 10.0 ** math.floor(math.log10(least))
    steps = (size * step for step in _STEPS if not whole or (size * step).is_integer())
    return next(step for step in steps if step >= least * (1 - 1e-9))
