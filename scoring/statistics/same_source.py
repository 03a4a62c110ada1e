"""Could two sets of texts come from the same system? By how often each sequence of four characters occurs in them.

This says nothing about which is better: two systems may say the same in other words, and one may be right where the
other is wrong in nearly the same words. Texts are compared within topics only, since those of one topic are alike even
if different systems wrote them; they should be answers to the same turn, such as the first.

A text is the unit vector of the counts of its sequences. The statistic is the squared distance between the mean vectors
of the two sides, summed over topics: the maximum mean discrepancy with the 4-spectrum kernel (A. Gretton et al.,
J. Mach. Learn. Res. 13 (2012), 723-773, Eq. 5; C. Leslie et al., Pac. Symp. Biocomput. 2002, 564-575). The texts of
each topic are randomly reassigned to the two sides; the test is exact if texts of a topic are independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["SameSource", "same_source"]

Floats = npt.NDArray[np.float64]

_LENGTH = 4
_BITS = 14  # sequences are counted in so many bits of a hash: two in one bucket cost a little power, no validity
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: neighbours go far apart
_SAME = 1e-9
_LARGE = 2**24  # multiplications


@dataclass(frozen=True, slots=True)
class SameSource:
    """p: the share of reassignments in which the sides lie at least as far apart; NaN without an informative topic. n:
    texts. topics: how many are informative: with texts of both sides, and several of one. draws: how many
    reassignments."""

    p: float
    n: int
    topics: int
    draws: int


def same_source(
    first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], rng: np.random.Generator, *, draws: int = 999
) -> SameSource:
    """Test two sets of texts. first, second: the texts of each side, by topic, in the same order of topics."""
    told = [(one, two) for one, two in zip(first, second, strict=True) if one and two and len(one) + len(two) > 2]
    if not told:
        return SameSource(math.nan, 0, 0, draws)
    apart = np.zeros(1 + draws)
    for one, two in told:
        vectors = _vectors([*one, *two])
        weight = np.concatenate([np.full(len(one), 1 / len(one)), np.full(len(two), -1 / len(two))])
        dealt = rng.permuted(np.tile(weight, (1 + draws, 1)), axis=1)
        dealt[0] = weight
        apart += (_product(dealt, _product(vectors, vectors)) * dealt).sum(axis=1)
    p = float((apart >= apart[0] - _SAME).mean())
    return SameSource(p, sum(len(one) + len(two) for one, two in told), len(told), draws)


def _product(one: Floats, two: Floats) -> Floats:
    """one · twoᵀ. Small ones are summed here: to wake the threads of a matrix library takes ten times as long."""
    found: Floats = np.einsum("iw,jw->ij", one, two, optimize=len(one) * two.size > _LARGE)
    return found


def _vectors(texts: Sequence[str]) -> Floats:
    """(len(texts), W) unit vectors of the counts of sequences; W: different sequences, by bucket."""
    grams = [_grams(text) for text in texts]
    rows = np.repeat(np.arange(len(texts)), [len(one) for one in grams])
    different, column = np.unique(np.concatenate(grams), return_inverse=True)
    width = len(different)
    counts = np.bincount(rows * width + column, minlength=len(texts) * width).reshape(-1, width).astype(np.float64)
    vectors: Floats = counts / np.sqrt((counts * counts).sum(axis=1, keepdims=True))
    return vectors


@lru_cache(maxsize=8192)  # each answer is set against those of every other system
def _grams(text: str) -> npt.NDArray[np.int64]:
    """The bucket of each sequence of four characters; blanks are set around the text, so that even "" has some.

    White space and case count: they tell systems apart as well as words do.
    """
    padded = " " * (_LENGTH - 1) + text + " " * (_LENGTH - 1)
    codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    mixed = np.zeros(len(codes) - _LENGTH + 1, dtype=np.uint64)
    for place in range(_LENGTH):
        mixed = (mixed + codes[place : place + len(mixed)] + np.uint64(1)) * _FACTOR
    return (mixed >> np.uint64(64 - _BITS)).astype(np.int64)
