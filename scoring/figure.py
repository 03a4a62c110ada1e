"""The value of one measure for one conversation, and which end of a range is good."""

import math
from dataclasses import dataclass
from typing import Literal

from scoring.nuggets import Nugget

# Which end of the range is the good one.
Good = Literal["high", "low", "neither"]


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of one measure for one conversation. `measure` is the printed name, and `value` is NaN if undefined.
    `turn` is the number of the system turn, from 1, or None for the whole conversation. `nugget` is one nugget, or
    None for all nuggets. For the other fields, see `scoring.ScoreRow`."""

    measure: str
    value: float
    n: int
    turn: int | None = None
    nugget: Nugget | None = None
    unjudged: int = 0
    unknown: int = 0
    note: str = ""
    worst: float = math.nan
    best: float = math.nan

    def cell(self, *, pooled: bool) -> tuple[float, float]:
        """Return a conversation's contribution to a figure over many: numerator and denominator. If `pooled`, the value
        is a share of n things, and a conversation without any has (0, 0)."""
        if not pooled:
            return self.value, 1.0
        return (self.value * self.n, float(self.n)) if self.n else (0.0, 0.0)

    @property
    def whole(self) -> bool:
        """True for a figure of the whole conversation, which can be averaged over conversations."""
        return self.turn is None
