"""A bound on the number of misread answers in an audit, from a second witness that sees most faults but not all.

The bound is for the answers of this audit alone. Faults are dependent: an answer misread once in a conversation is
misread in later turns, and a fault that the witness misses is missed in all of them. So the number of faulty
conversations is bounded first. If D conversations have an observed fault, at most K are faulty, where K is the largest
number for which observing D or fewer is not too unlikely. The faulty conversations that were not observed are assumed
to be the longest. In conversations with an observed fault, further faults may have been missed, and their number is
bounded in the same way.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

# The smallest share of faulty conversations, and of misread answers in these, assumed to be seen. In the tests
# the share was .97 or more; the smallest on a single transport was .89.
SENSITIVITY = 0.9


@dataclass(frozen=True, slots=True)
class WitnessCounts:
    """Numbers of answers in one conversation with two witnesses that agree or differ, and with one witness."""

    agree: int
    differ: int
    silent: int


@dataclass(frozen=True, slots=True)
class ReadingError:
    """A bound on the number of misread answers.

    - `compared`, `differ`: the number of answers with two witnesses, and the number on which the witnesses differ.
    - `silent`: the number of answers with one witness.
    - `misread`: the bound for answers with two witnesses, at confidence `level`; misread + silent for all answers.
    """

    compared: int
    differ: int
    silent: int
    misread: int
    level: float

    @property
    def share(self) -> float:
        """The bound as a share of the answers with two witnesses, from 0 to 1; NaN if there are no such answers."""
        return self.misread / self.compared if self.compared else math.nan

    @property
    def share_of_all(self) -> float:
        """The bound as a share of all answers, including all answers with one witness; NaN without any answer."""
        answers = self.compared + self.silent
        return (self.misread + self.silent) / answers if answers else math.nan


def reading_error(
    counts: Sequence[WitnessCounts], *, level: float = 0.95, sensitivity: float = SENSITIVITY
) -> ReadingError:
    """Bound the number of misread answers. `sensitivity`, in (0, 1], is the probability that a fault is seen."""
    unlikely = (1 - level) / 2  # for each of two bounds that must hold together
    seen = [one for one in counts if one.differ]
    unseen = sorted((one.agree for one in counts if not one.differ), reverse=True)
    hidden = _largest_fault_count(len(seen), sensitivity, unlikely) - len(seen)
    differ = sum(one.differ for one in seen)
    missed = min(_largest_fault_count(differ, sensitivity, unlikely) - differ, sum(one.agree for one in seen))
    return ReadingError(
        sum(one.agree + one.differ for one in counts),
        differ,
        sum(one.silent for one in counts),
        differ + missed + sum(unseen[:hidden]),
        level,
    )


@functools.cache
def _largest_fault_count(seen: int, sensitivity: float, unlikely: float) -> int:
    if sensitivity >= 1:
        return seen
    number = int(seen / sensitivity)  # the largest that would be expected to show `seen`
    while _chance_of_at_least(number + 1 - seen, number + 1, 1 - sensitivity) > unlikely:
        number += 1
    return number


def _chance_of_at_least(missed: int, number: int, chance: float) -> float:
    return 1 - math.fsum(math.comb(number, few) * chance**few * (1 - chance) ** (number - few) for few in range(missed))
