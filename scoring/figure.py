"""The value of one measure for one conversation, and which end of its range is good."""

import math
from dataclasses import dataclass
from typing import Literal

from scoring.nuggets import Nugget

# Which end of the range is the good one.
Good = Literal["high", "low", "neither"]


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of one measure for one conversation.

    measure: its name as printed. value: NaN where undefined. turn: of one system turn, from 1; None for the whole
    conversation. nugget: of one nugget; None for all of them. n, unjudged, unknown, note, worst, best: as in
    `scoring.ScoreRow`.
    """

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

    @property
    def whole(self) -> bool:
        """Whether it is of the whole conversation, and so can be averaged over conversations."""
        return self.turn is None
