"""Topics whose majority turns round: useful in most trials on one side, useless in most on the other.

With few trials a topic of which half of the answers are useful turns round by chance alone. So the number is set beside
what chance gives: within each topic, all labels of both sides are dealt anew to the two sides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Flips", "count_flips"]

_DRAWS = 4999


@dataclass(frozen=True, slots=True)
class Flips:
    """topics: with a label on both sides. names: those that turned round, in order. by_chance: how many would if the
    sides were alike, the mean over the deals. p: the share of deals with at least as many. Both NaN without a topic.
    """

    topics: int
    names: tuple[str, ...]
    by_chance: float
    p: float


def count_flips(labels: Mapping[str, tuple[Sequence[bool], Sequence[bool]]], rng: np.random.Generator) -> Flips:
    """labels: by topic, whether each answer was useful, on one side and on the other. A topic with as many useful as
    useless answers on a side has no majority there, and has not turned round."""
    kept = {topic: sides for topic, sides in labels.items() if all(sides)}
    names = tuple(topic for topic, (one, other) in kept.items() if _majority(one) * _majority(other) < 0)
    if not kept:
        return Flips(0, (), math.nan, math.nan)
    drawn: npt.NDArray[np.int64] = np.zeros(_DRAWS, dtype=np.int64)
    for one, other in kept.values():
        useful, first, second = sum(one) + sum(other), len(one), len(other)
        on_first = rng.hypergeometric(useful, first + second - useful, first, _DRAWS)
        drawn += np.sign(2 * on_first - first) * np.sign(2 * (useful - on_first) - second) < 0
    p = (1 + int((drawn >= len(names)).sum())) / (_DRAWS + 1)
    return Flips(len(kept), names, float(drawn.mean()), p)


def _majority(useful: Sequence[bool]) -> int:
    return int(np.sign(2 * sum(useful) - len(useful)))
