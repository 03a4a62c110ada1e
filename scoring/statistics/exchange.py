"""Matched pairs: could what lies between the two sides have come about by exchanging them, and Holm's correction.

If the two sides of every pair were treated alike, each topic's difference would be as likely with the other sign
(Fisher's randomisation test for pairs; the topic is the unit, as for intervals). Where a session runs through all
topics, what it gave them hangs together: only the sessions of a pair can be exchanged, each as a whole. The p is exact
but for drawing: never less than its name says, whatever the distribution of the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

__all__ = ["exchange_p", "exchange_sessions_p", "holm", "least_p"]

Floats = npt.NDArray[np.float64]

_WHOLE = 13  # up to so many units that differ, all exchanges are taken: 8192
_DRAWS = 9999
_SAME = 1e-12
_CELLS = 2**21  # of exchanged sums held at a time


def exchange_p(differences: npt.ArrayLike, rng: np.random.Generator) -> float:
    """Two-sided p for the mean of differences, one of each topic; NaN for fewer than two.

    The share of exchanges of sides whose mean is at least as far from 0; a sample of 9999 of them, and the one that was
    seen, where more than 13 topics differ.
    """
    each = np.asarray(differences, dtype=np.float64)
    if len(each) < 2:
        return math.nan
    each = each[np.abs(each) > _SAME]  # a topic without a difference is the same from both sides
    return _share_as_far(lambda signs: np.einsum("st,t->s", signs, each), len(each), 1, len(each), rng)


def exchange_sessions_p(base: npt.ArrayLike, other: npt.ArrayLike, rng: np.random.Generator) -> float:
    """Two-sided p for the mean over topics of the difference of their ratios; NaN for fewer than two sessions.

    base, other: (topics, sessions, 2), each cell a sum and what it is a sum over; both 0 where there is no pair, and
    no topic and no session without one. A session is exchanged as a whole, as `exchange_p` does a topic.
    """
    sides = np.asarray(base, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if sides[0].shape[1] < 2:
        return math.nan
    whole, half = sides[1] + sides[0], sides[1] - sides[0]
    half = half[:, (np.abs(half) > _SAME).any(axis=(0, 2))]
    total, topics = whole.sum(axis=1), len(whole)

    def means(signs: Floats) -> Floats:
        moved = np.einsum("st,ktc->skc", signs, half)
        above, below = total + moved, total - moved
        found: Floats = (above[..., 0] / above[..., 1] - below[..., 0] / below[..., 1]).mean(axis=1)
        return found

    return _share_as_far(means, half.shape[1], 2 * topics, 1, rng)


def _share_as_far(
    statistic: Callable[[Floats], Floats], units: int, cells: int, scale: int, rng: np.random.Generator
) -> float:
    """The share of exchanges of `units` units with a statistic at least as far from 0 as without any.

    statistic: (exchanges, units) signs -> (exchanges,), `cells` numbers being held for each. scale: of its rounding.
    """
    if not units:
        return 1.0
    seen = abs(float(statistic(np.ones((1, units)))[0])) - _SAME * scale
    if units <= _WHOLE:
        return float((np.abs(statistic(_signs(units))) >= seen).mean())
    at_once, as_far = max(1, _CELLS // max(cells, units)), 0
    for start in range(0, _DRAWS, at_once):
        signs = np.where(rng.random((min(at_once, _DRAWS - start), units)) < 0.5, -1.0, 1.0)
        as_far += int((np.abs(statistic(signs)) >= seen).sum())
    return float((1 + as_far) / (1 + _DRAWS))


@lru_cache(maxsize=_WHOLE)
def _signs(units: int) -> Floats:
    """(2^(units-1), units): every exchange; the first unit stays, since all signs turned round give the same."""
    return np.array([(1.0, *signs) for signs in product((1.0, -1.0), repeat=units - 1)])


def least_p(units: int) -> float:
    """The smallest p that so many topics, or sessions, can give: all differ, and the same way. NaN for fewer than
    two."""
    return math.nan if units < 2 else max(2.0 ** (1 - units), 1 / (1 + _DRAWS))


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p of several comparisons (Holm 1979, Scand. J. Statist. 6, 65-70): to reject those at most alpha keeps
    the chance of a single false one at most alpha, whatever hangs together. NaN stays NaN and counts for nothing."""
    known = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    found, highest = [math.nan] * len(p), 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        found[place] = highest
    return found
