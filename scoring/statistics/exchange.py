"""Matched pairs: could the difference between the two sides have come about by chance, and Holm's correction.

If the two sides of every pair were treated alike, each topic's difference would be as likely with the other sign
(Fisher's randomisation test for pairs; the topic is the unit, as for intervals). Apart from random sampling of
exchanges, p is exact: whatever the distribution of the values, it is at most a with probability at most a.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_WHOLE = 13  # up to so many units that differ, all exchanges are taken: 8192
_DRAWS = 9999  # with one more, for the data themselves, a round number: p in steps of .0001
_SAME = 1e-12  # rounding: what is equal but for the order of sums must rank as equal on every machine
_CELLS = 2**21  # of exchanged sums held at a time
_NEAR = 2**16  # of the signs of one study: what the processor holds close by


def exchange_p(differences: npt.ArrayLike, rng: np.random.Generator) -> float:
    """Two-sided p for the mean of differences, one of each topic; NaN for fewer than two.

    The share of exchanges of sides whose mean is at least as far from 0; where more than 13 topics differ, from a
    sample of 9999 exchanges and the observed one.
    """
    each = np.asarray(differences, dtype=np.float64)
    if len(each) < 2:
        return math.nan
    each = each[np.abs(each) > _SAME]  # a topic without a difference is the same from both sides
    units = len(each)
    if not units:
        return 1.0
    seen = abs(float(np.einsum("t->", each))) - _SAME * units
    if units <= _WHOLE:
        return float((np.abs(np.einsum("st,t->s", _signs(units), each)) >= seen).mean())
    at_once, as_far = max(1, _NEAR // units), 0
    for start in range(0, _DRAWS, at_once):
        signs = rng.random((min(at_once, _DRAWS - start), units))
        signs -= 0.5
        np.copysign(1.0, signs, out=signs)
        as_far += int((np.abs(np.einsum("st,t->s", signs, each)) >= seen).sum())
    return float((1 + as_far) / (1 + _DRAWS))


def exchange_ps(differences: npt.ArrayLike, rng: np.random.Generator, *, draws: int = _DRAWS) -> Floats:
    """(studies,) `exchange_p` of many studies at once; what is drawn is drawn once, for all of them.

    differences: (studies, topics). draws: of exchanges, where not all of them are taken.
    """
    table = np.asarray(differences, dtype=np.float64)
    studies, topics = table.shape
    if topics < 2:
        return np.full(studies, math.nan)
    seen = np.abs(table.sum(axis=1)) - _SAME * topics
    if topics <= _WHOLE:
        return np.asarray((np.abs(_signs(topics) @ table.T) >= seen).mean(axis=0))
    as_far, at_once = np.zeros(studies), max(1, _CELLS // max(studies, topics))
    for start in range(0, draws, at_once):
        signs = np.where(rng.random((min(at_once, draws - start), topics)) < 0.5, -1.0, 1.0)
        as_far += (np.abs(signs @ table.T) >= seen).sum(axis=0)
    found = (1 + as_far) / (1 + draws)
    few = (np.abs(table) > _SAME).sum(axis=1) <= _WHOLE
    found[few] = [exchange_p(each, rng) for each in table[few]]
    return np.asarray(found)


def exchange_signs(units: int, rng: np.random.Generator) -> Iterator[Floats]:
    """(exchanges, units) signs, some at a time: every exchange of up to 13 units, the observed one and a sample of 9999
    of more. The share of them in which a statistic is at least as large as the observed one is its p."""
    if units <= _WHOLE:
        yield _signs(units)
        return
    yield np.ones((1, units))
    at_once = max(1, _NEAR // units)
    for start in range(0, _DRAWS, at_once):
        signs = rng.random((min(at_once, _DRAWS - start), units))
        yield np.where(signs < 0.5, -1.0, 1.0)


@lru_cache(maxsize=_WHOLE)
def _signs(units: int) -> Floats:
    """(2^(units-1), units): every exchange; the first unit stays, since all signs turned round give the same."""
    return np.array([(1.0, *signs) for signs in product((1.0, -1.0), repeat=units - 1)])


def least_p(units: int) -> float:
    """The smallest p that so many topics, or sessions, can give: when all differ in the same direction. NaN for fewer
    than two."""
    return math.nan if units < 2 else max(2.0 ** (1 - units), 1 / (1 + _DRAWS))


def fewest_units(alpha: float) -> float:
    """How many topics, or sessions, it takes before any difference can have a p of at most `alpha`; infinite where the
    drawn exchanges are too few for it."""
    return next((float(units) for units in range(2, 64) if least_p(units) <= alpha + _SAME), math.inf)


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p of several comparisons (Holm 1979, Scand. J. Statist. 6, 65-70): if those at most alpha are rejected,
    the chance of any false rejection is at most alpha, however the comparisons depend on each other. NaN stays NaN and
    does not count."""
    known = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    found, highest = [math.nan] * len(p), 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        found[place] = highest
    return found


def false_discovery(p: Sequence[float]) -> list[float]:
    """q values of Benjamini and Yekutieli (Ann. Statist. 29 (2001), 1165-1188), in the order of `p`: where those up to
    q are taken for found, the expected share of false ones among them is at most q, however the tests depend on each
    other. NaN where p is."""
    known = sorted((one, at) for at, one in enumerate(p) if not math.isnan(one))
    tests = len(known)
    wider = tests * math.fsum(1 / rank for rank in range(1, tests + 1))
    found, least = [math.nan] * len(p), 1.0
    for rank, (one, at) in reversed(list(enumerate(known, 1))):
        least = min(least, one * wider / rank)
        found[at] = least
    return found
