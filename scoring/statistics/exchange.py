"""Randomisation tests for matched pairs, and corrections for multiple comparisons.

If the two sides of every pair were treated alike, each topic's difference would be as likely with the opposite sign
(Fisher's randomisation test for pairs; the topic is the unit, as for intervals). p is exact, apart from the random
sampling of exchanges: whatever the distribution of the values, P(p <= a) is at most a.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from topics.arrays import Counts, Floats

_ENUMERATED_UNITS = 13  # up to this many differing units, all exchanges are used: 8192 at most
_DRAWS = 9999  # a round number together with the observed data: p in steps of .0001
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_CELLS = 2**21  # exchanged sums in memory at a time
_NEAR = 2**16  # signs of one study that fit in the cache of a processor


def exchange_p(differences: npt.ArrayLike, rng: np.random.Generator) -> float:
    """Return the two-sided p for the mean of differences, one difference for each topic; NaN for fewer than two topics.

    p is the share of exchanges of sides whose mean is at least as far from 0 as the observed mean. If more than 13
    topics differ, the share is taken over 9999 random exchanges and the observed data.
    """
    each = np.asarray(differences, dtype=np.float64)
    if len(each) < 2:
        return math.nan
    each = each[np.abs(each) > _SAME]  # a topic without a difference is the same from both sides
    units = len(each)
    if not units:
        return 1.0
    seen = abs(float(np.einsum("t->", each))) - _SAME * units
    if units <= _ENUMERATED_UNITS:
        return float((np.abs(np.einsum("st,t->s", _signs(units), each)) >= seen).mean())
    at_once, as_far = max(1, _NEAR // units), 0
    for start in range(0, _DRAWS, at_once):
        signs = rng.random((min(at_once, _DRAWS - start), units))
        signs -= 0.5
        np.copysign(1.0, signs, out=signs)
        as_far += int((np.abs(np.einsum("st,t->s", signs, each)) >= seen).sum())
    return float((1 + as_far) / (1 + _DRAWS))


def count_exchange_draws(differences: Floats) -> Counts:
    """Return (studies,) how many random numbers `exchange_p` draws for each column of (topics, studies) differences."""
    units = (np.abs(differences) > _SAME).sum(axis=0)
    return np.where(units > _ENUMERATED_UNITS, _DRAWS * units, 0)


def exchange_ps(differences: npt.ArrayLike, rng: np.random.Generator, *, draws: int = _DRAWS) -> Floats:
    """Return the (studies,) `exchange_p` of (studies, topics) differences, with the same `draws` exchanges for all."""
    table = np.asarray(differences, dtype=np.float64)
    studies, topics = table.shape
    if topics < 2:
        return np.full(studies, math.nan)
    seen = np.abs(table.sum(axis=1)) - _SAME * topics
    if topics <= _ENUMERATED_UNITS:
        return np.asarray((np.abs(_signs(topics) @ table.T) >= seen).mean(axis=0))
    as_far, at_once = np.zeros(studies), max(1, _CELLS // max(studies, topics))
    for start in range(0, draws, at_once):
        signs = np.where(rng.random((min(at_once, draws - start), topics)) < 0.5, -1.0, 1.0)
        as_far += (np.abs(signs @ table.T) >= seen).sum(axis=0)
    found = (1 + as_far) / (1 + draws)
    few = (np.abs(table) > _SAME).sum(axis=1) <= _ENUMERATED_UNITS
    found[few] = [exchange_p(each, rng) for each in table[few]]
    return np.asarray(found)


def exchange_signs(units: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield batches of (exchanges, units) signs: all sign patterns for up to 13 units, else the observed one and
    9999 random ones."""
    if units <= _ENUMERATED_UNITS:
        yield _signs(units)
        return
    yield np.ones((1, units))
    at_once = max(1, _NEAR // units)
    for start in range(0, _DRAWS, at_once):
        signs = rng.random((min(at_once, _DRAWS - start), units))
        yield np.where(signs < 0.5, -1.0, 1.0)


@lru_cache(maxsize=_ENUMERATED_UNITS)
def _signs(units: int) -> Floats:
    """Return all (2^(units-1), units) exchanges. The first unit is fixed: reversing all signs changes nothing."""
    return np.array([(1.0, *signs) for signs in product((1.0, -1.0), repeat=units - 1)])


def smallest_p(units: int) -> float:
    """Return the smallest p possible with this number of units; NaN for fewer than two units."""
    return math.nan if units < 2 else max(2.0 ** (1 - units), 1 / (1 + _DRAWS))


def fewest_units(alpha: float) -> float:
    """Return the number of units that allow a p of at most `alpha`; infinite if the sampled exchanges are too few."""
    return next((float(units) for units in range(2, 64) if smallest_p(units) <= alpha + _SAME), math.inf)


def holm_correction(p: Sequence[float]) -> list[float]:
    """Return p values adjusted for several comparisons (Holm 1979, Scand. J. Statist. 6, 65-70).

    If comparisons with an adjusted p of at most alpha are rejected, the probability of any false rejection is at most
    alpha, whatever the dependence between comparisons. NaN stays NaN and does not count.
    """
    known = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    found, highest = [math.nan] * len(p), 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        found[place] = highest
    return found


def benjamini_yekutieli(p: Sequence[float]) -> list[float]:
    """Return q values of Benjamini and Yekutieli (Ann. Statist. 29 (2001), 1165-1188), in the order of `p`.

    If tests with values up to q are rejected, the expected share of false rejections is at most q, whatever the
    dependence between tests. NaN stays NaN.
    """
    known = sorted((one, at) for at, one in enumerate(p) if not math.isnan(one))
    tests = len(known)
    wider = tests * math.fsum(1 / rank for rank in range(1, tests + 1))
    found, least = [math.nan] * len(p), 1.0
    for rank, (one, at) in reversed(list(enumerate(known, 1))):
        least = min(least, one * wider / rank)
        found[at] = least
    return found
