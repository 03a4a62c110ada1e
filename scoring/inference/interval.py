"""The interval of a figure, or the reason why there is none, as returned by all methods of inference."""

import math
from dataclasses import dataclass

# The fewest units (topics, sessions, or trials within one topic) for statements about other units like these.
FEWEST = 4

# The fewest topics for the mean, over topics like these, of a count without an end. A kind of topic that is one in 20
# can decide such a mean, and 59 is the smallest number of topics of which all are of other kinds in less than 5% of
# studies: .95**59 = .048.
FEWEST_WITHOUT_END = 59

# How most intervals are made: `… topic`, `… cluster`, `… session`, or `… trial` of these topics or of one. It is a
# confidence interval, so it is not called Bayesian. With a whole unseen topic it is the bound of the named author.
METHOD = "Gaffke-type interval with an unseen"

# The former name of `METHOD` in tables. The intervals of tables with that name are still valid.
EARLIER_METHOD = "Bayesian bootstrap with an unseen"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of one figure, or the reason why there is none.

    - `low`, `high`: NaN if there is no interval; `note` then gives the reason.
    - `method`: the name of the method; "" without an interval.
    - `resampled`: `topics`, `clusters`, `topics+trials`, `topics+sessions`, `sessions`, `trials` within one topic,
      `trials of topics` for these topics, or `nothing` for a formula.
    - `assumes`: the assumptions, for example "topics are independent draws".
    """

    low: float
    high: float
    method: str
    resampled: str
    note: str = ""
    assumes: str = ""

    @property
    def is_defined(self) -> bool:
        return self.low == self.low

    def contains(self, value: float) -> bool:
        """Return True if the value lies in the interval; False without an interval."""
        return self.low <= value <= self.high


def no_interval(why: str = "") -> Interval:
    return Interval(math.nan, math.nan, "", "", why)


def too_few_reason(units: int, unit: str = "topic") -> str:
    return f"one {unit}: nothing to resample" if units == 1 else f"{units} {unit}s: too few to resample"


def no_end_reason(units: int, unit: str, needed: int) -> str:
    return f"it has no end, and {units} {unit}s may lack the kind that decides its mean (it takes {needed})"
