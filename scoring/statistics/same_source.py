"""A test of whether two sets of texts come from the same system, by frequencies of sequences of four characters.

The test does not show which system is better: two systems may say the same in different words, and may use nearly the
same words although only one is right. Texts are compared within topics only, because texts on one topic are alike even
if different systems wrote them. The texts should be answers to the same turn, such as the first turn.

A text is the unit vector of the counts of its sequences. The statistic is the squared distance between the mean vectors
of the two sides, summed over topics: the maximum mean discrepancy with the 4-spectrum kernel (A. Gretton et al., J.
Mach. Learn. Res. 13 (2012), 723-773, Eq. 5; C. Leslie et al., Pac. Symp. Biocomput. 2002, 564-575). The texts of each
topic are randomly reassigned to the two sides; the test is exact if texts on a topic are independent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats

_LENGTH = 4  # characters of a gram
_BITS = 14  # of the hash of a sequence; two in one bucket cost a little power, but no validity
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: neighbours go far apart
_SAME = 1e-9  # values that differ only by the order of summation must compare as equal
_LARGE = 2**24  # multiplications


@dataclass(frozen=True, slots=True)
class SameSource:
    """The result of the test. `p` is the share of reassignments with sides at least as far apart as observed; NaN if no
    topic is informative. An informative topic has texts on both sides and several texts on one side. `n` is the number
    of texts, `topics` the number of informative topics, and `draws` the number of reassignments."""

    p: float
    n: int
    topics: int
    draws: int


def same_source(
    first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], rng: np.random.Generator, *, draws: int = 999
) -> SameSource:
    """Test two sets of texts. Each set has one entry for every topic, in the same order."""
    return same_sources([first, second], {(0, 1): rng}, draws=draws)[0, 1]


def same_sources(
    sides: Sequence[Sequence[Sequence[str]]],
    pairs: Mapping[tuple[int, int], np.random.Generator],
    *,
    draws: int = 999,
) -> dict[tuple[int, int], SameSource]:
    """Test pairs of several sets of texts as `same_source` does, counting sequences only once. `sides` has the texts of
    each set by topic, in the same order of topics. `pairs` maps the indices of two sides to a random generator."""
    found = {pair: SameSource(math.nan, 0, 0, draws) for pair in pairs}
    apart = {pair: np.zeros(1 + draws) for pair in pairs}
    for texts in zip(*sides, strict=True):
        counted = [_count_texts(own) if own else None for own in texts]
        for (first, second), rng in pairs.items():
            one, two = counted[first], counted[second]
            n = len(texts[first]) + len(texts[second])
            if one is None or two is None or n < 3:
                continue
            weight = np.repeat(
                [1 / len(texts[first]), -1 / len(texts[second])], [len(texts[first]), len(texts[second])]
            )
            dealt = rng.permuted(np.tile(weight, (1 + draws, 1)), axis=1)
            dealt[0] = weight
            # (n + m, n + m) cosines of the counts of all texts of both sides.
            across = one.products(two)
            products = np.block([[one.alike, across], [across.T, two.alike]])
            lengths = np.sqrt(np.diagonal(products))
            apart[first, second] += (_product(dealt, np.asarray(products / lengths / lengths[:, None])) * dealt).sum(
                axis=1
            )
            so_far = found[first, second]
            found[first, second] = replace(so_far, n=so_far.n + n, topics=so_far.topics + 1)
    return {
        pair: replace(one, p=float((apart[pair] >= apart[pair][0] - _SAME).mean())) if one.topics else one
        for pair, one in found.items()
    }


def _product(one: Floats, two: Floats) -> Floats:
    """Return one · twoᵀ. Small products avoid BLAS, because starting its threads takes ten times as long."""
    found: Floats = np.einsum("iw,jw->ij", one, two, optimize=len(one) * two.size > _LARGE)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """The sequence counts of one side's texts on a topic. `counts` (n, W + 1) has the frequencies of the W different
    sequences in each text, and a column of 0. `buckets` (W,) has the hash buckets of these sequences. `column` is the
    column of each bucket; W if no text has the bucket. `alike` (n, n) has products of counts."""

    counts: Floats
    buckets: npt.NDArray[np.int64]
    column: npt.NDArray[np.int32]
    alike: Floats

    def products(self, other: "_Counted") -> Floats:
        """Return (n, m) products of the counts of both sides. The products are whole numbers, so nothing is rounded."""
        return _product(self.counts[:, self.column[other.buckets]], other.counts[:, :-1])


def _count_texts(texts: Sequence[str]) -> _Counted:
    each = [_grams(text) for text in texts]
    grams, rows = np.concatenate(each), np.repeat(np.arange(len(texts)), [len(one) for one in each])
    column = np.zeros(2**_BITS, dtype=np.int32)
    column[grams] = 1
    buckets = np.flatnonzero(column)
    width = len(buckets)
    column[:] = width
    column[buckets] = np.arange(width)
    flat = np.bincount(rows * (width + 1) + column[grams], minlength=len(texts) * (width + 1))
    counts = flat.reshape(-1, width + 1).astype(np.float64)
    return _Counted(counts, buckets, column, _product(counts, counts))


def _grams(text: str) -> npt.NDArray[np.int64]:
    """Return the bucket of each sequence of four characters, with case and white space; blanks pad the text."""
    padded = " " * (_LENGTH - 1) + text + " " * (_LENGTH - 1)
    codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    mixed = np.zeros(len(codes) - _LENGTH + 1, dtype=np.uint64)
    for place in range(_LENGTH):
        mixed = (mixed + codes[place : place + len(mixed)] + np.uint64(1)) * _FACTOR
    return (mixed >> np.uint64(64 - _BITS)).astype(np.int64)
