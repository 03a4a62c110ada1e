"""Matched pairs: could what lies between the two sides have come about by exchanging them, and Holm's correction.

If the two sides of every pair were treated alike, each topic's difference would be as likely with the other sign
(Fisher's randomisation test for pairs; the topic is the unit, as for intervals). The p is exact but for drawing: never
less than its name says, whatever the distribution of the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

__all__ = ["exchange_p", "holm", "least_p"]

_WHOLE = 13  # up to so many topics that differ, all exchanges are taken: 8192
_DRAWS = 9999
_SAME = 1e-12


def exchange_p(differences: npt.ArrayLike, rng: np.random.Generator) -> float:
    """Two-sided p for the mean of differences, one of each topic; NaN for fewer than two.

    The share of exchanges of sides whose mean is at least as far from 0; a sample of 9999 of them, and the one that was
    seen, where more than 13 topics differ.
    """
    each = np.asarray(differences, dtype=np.float64)
    if len(each) < 2:
        return math.nan
    each = each[np.abs(each) > _SAME]  # a topic without a difference is the same from both sides
    if not len(each):
        return 1.0
    seen = abs(float(each.sum())) - _SAME * len(each)
    if len(each) <= _WHOLE:
        return float((np.abs(np.einsum("st,t->s", _signs(len(each)), each)) >= seen).mean())
    signs = np.where(rng.random((_DRAWS, len(each))) < 0.5, -1.0, 1.0)
    return float((1 + int((np.abs(np.einsum("st,t->s", signs, each)) >= seen).sum())) / (1 + _DRAWS))


@lru_cache(maxsize=_WHOLE)
def _signs(topics: int) -> npt.NDArray[np.float64]:
    """(2^(topics-1), topics): every exchange; the first topic stays, since all signs turned round give the same."""
    return np.array([(1.0, *signs) for signs in product((1.0, -1.0), repeat=topics - 1)])


def least_p(topics: int) -> float:
    """The smallest p that so many topics can give: all of them differ, and the same way. NaN for fewer than two."""
    return math.nan if topics < 2 else max(2.0 ** (1 - topics), 1 / (1 + _DRAWS))


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p of several comparisons (Holm 1979, Scand. J. Statist. 6, 65-70): to reject those at most alpha keeps
    the chance of a single false one at most alpha, whatever hangs together. NaN stays NaN and counts for nothing."""
    known = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    found, highest = [math.nan] * len(p), 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        found[place] = highest
    return found
