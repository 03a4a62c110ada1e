"""How many answers of an audit may have been misread, by a second witness that sees most faults and not all.

It is a bound for the answers of this audit, not for those of another one. Faults hang together: what is misread once in
a conversation is misread in its later turns, and a fault that the witness does not see it sees in none of them. So
conversations are counted first: if D of them hold a fault that was seen, at most K hold one at all, the largest number
for which to see D or fewer is not too unlikely; those that were not seen may be the longest. In conversations with a
fault that was seen, single answers may still have been missed, which is bounded in the same way.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

# The share of faulty conversations, and of misread answers in them, that is assumed to be seen at least. In the tests
# it was .97 and more; the least on a single transport was .89.
SENSITIVITY = 0.9


@dataclass(frozen=True, slots=True)
class Told:
    """Of one conversation: answers on which both witnesses agree, on which they differ, and of which one is silent."""

    agree: int
    differ: int
    silent: int


@dataclass(frozen=True, slots=True)
class ReadingError:
    """compared: answers with two witnesses. differ: of these. silent: answers with one. misread: of those with two at
    most so many were misread, at the confidence `level`; of all answers at most misread + silent."""

    compared: int
    differ: int
    silent: int
    misread: int
    level: float

    @property
    def share(self) -> float:
        """The bound as a share of the answers with two witnesses, from 0 to 1; NaN where there are none."""
        return self.misread / self.compared if self.compared else math.nan

    @property
    def share_of_all(self) -> float:
        """The same of all answers, with each that has one witness counted as misread; NaN where there are none."""
        answers = self.compared + self.silent
        return (self.misread + self.silent) / answers if answers else math.nan


def reading_error(told: Sequence[Told], *, level: float = 0.95, sensitivity: float = SENSITIVITY) -> ReadingError:
    """told: of each conversation. sensitivity: what is assumed of the witness, more than 0 and at most 1."""
    unlikely = (1 - level) / 2  # for each of two bounds that both must hold
    seen = [one for one in told if one.differ]
    unseen = sorted((one.agree for one in told if not one.differ), reverse=True)
    hidden = _most(len(seen), sensitivity, unlikely) - len(seen)
    differ = sum(one.differ for one in seen)
    missed = min(_most(differ, sensitivity, unlikely) - differ, sum(one.agree for one in seen))
    return ReadingError(
        sum(one.agree + one.differ for one in told),
        differ,
        sum(one.silent for one in told),
        differ + missed + sum(unseen[:hidden]),
        level,
    )


@functools.cache
def _most(seen: int, sensitivity: float, unlikely: float) -> int:
    """The largest number of faults of which so few as `seen` are seen with more than the probability `unlikely`."""
    if sensitivity >= 1:
        return seen
    number = int(seen / sensitivity)  # the largest that would be expected to show `seen`
    while _at_least(number + 1 - seen, number + 1, 1 - sensitivity) > unlikely:
        number += 1
    return number


def _at_least(missed: int, number: int, chance: float) -> float:
    """The probability that at least `missed` of `number` are missed, each with the same chance."""
    return 1 - math.fsum(math.comb(number, few) * chance**few * (1 - chance) ** (number - few) for few in range(missed))
