"""Randomised Tukey HSD: which of several systems differ, with one error probability over all pairs.

If systems were alike, each topic's values would be equally likely in any order. So each topic's row is permuted, and p
is the share of permutations in which the largest and the smallest mean are at least as far apart as observed (B.
Carterette, ACM TOIS 30 (2012), article 4; T. Sakai, Laboratory Experiments in Information Retrieval, 2018, chapter 4).
Nothing is assumed about the distribution of values.

This tests whether all systems are alike: if a single system is far from the rest, permuting spreads its values over all
columns and hides differences between the rest. So, for up to six systems, every subset is tested separately, and two
systems differ if every hypothesis under which they are alike is rejected (closed testing; R. Marcus, E. Peritz and K.
R. Gabriel, Biometrika 63 (1976), 655-660). The probability of any false difference is then at most alpha, whichever
systems are alike.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np
import numpy.typing as npt

from scoring.statistics.exchange import exchange_p
from topics.arrays import Floats

DRAWS = 4999  # a round number together with the observed data: p in steps of .0002

# Up to this many systems every subset is tested; more are tested all at once, which finds less.
MOST_CLOSED = 6

_CELLS = 2**21  # permuted values in memory at a time
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


def tukey_p(values: npt.ArrayLike, rng: np.random.Generator, *, draws: int = DRAWS) -> Floats:
    """Return the (m, m) corrected p of each pair of systems, 1 on the diagonal.

    `values` is (T, m) for topics and systems, without NaN. For two systems this is the p of exchanging sides, exact for
    few topics. More than six systems get the plain test over all systems, without closed testing. For fewer than two
    topics, p is NaN.
    """
    table = np.asarray(values, dtype=np.float64)
    topics, systems = table.shape
    found = np.full((systems, systems), math.nan)
    np.fill_diagonal(found, 1.0)
    if topics < 2:
        return found
    if systems > MOST_CLOSED:
        means = table.mean(axis=0)
        ranges = _drawn_ranges(table, rng, draws)
        for one, other in combinations(range(systems), 2):
            found[one, other] = found[other, one] = _share(ranges, abs(means[one] - means[other]))
        return found
    sets = [chosen for size in range(2, systems + 1) for chosen in combinations(range(systems), size)]
    alone = {chosen: _range_p(table[:, chosen], rng, draws) for chosen in sets}
    for one, other in combinations(range(systems), 2):
        found[one, other] = found[other, one] = max(
            _joint_p(blocks, alone)
            for blocks in _partitions(tuple(range(systems)))
            if any(one in block and other in block for block in blocks)
        )
    return found


def _range_p(table: Floats, rng: np.random.Generator, draws: int) -> float:
    if table.shape[1] == 2:
        return exchange_p(table[:, 0] - table[:, 1], rng)
    means = table.mean(axis=0)
    return _share(_drawn_ranges(table, rng, draws), float(means.max() - means.min()))


def _joint_p(blocks: Sequence[tuple[int, ...]], alone: dict[tuple[int, ...], float]) -> float:
    """Return the p for systems being alike within each block: the smallest p, with Bonferroni weights by block size."""
    several = [block for block in blocks if len(block) > 1]
    members = sum(map(len, several))
    return min(1.0, *(alone[block] * members / len(block) for block in several))


def _partitions(members: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    if not members:
        yield []
        return
    first, rest = members[0], members[1:]
    for size in range(len(rest) + 1):
        for chosen in combinations(rest, size):
            left = tuple(one for one in rest if one not in chosen)
            for blocks in _partitions(left):
                yield [(first, *chosen), *blocks]


def _share(ranges: Floats, seen: float) -> float:
    return float((1 + (ranges >= seen - _SAME).sum()) / (1 + len(ranges)))


def _drawn_ranges(table: Floats, rng: np.random.Generator, draws: int) -> Floats:
    topics, systems = table.shape
    at_once, found = max(1, _CELLS // (topics * systems)), np.empty(draws)
    known = np.array(list(permutations(range(systems)))) if systems <= MOST_CLOSED else None
    every = table[:, known] if known is not None else None
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        if every is not None:  # each row's permutations are written out: to draw one is to draw a number
            sums, moved = np.zeros((size, systems)), np.empty((size, systems))
            for own, which in zip(every, rng.integers(every.shape[1], size=(topics, size)), strict=True):
                sums += np.take(own, which, axis=0, out=moved, mode="clip")  # which copies nothing in between
        else:
            sums = rng.permuted(np.broadcast_to(table, (size, topics, systems)), axis=2).sum(axis=1)
        found[start : start + size] = (sums.max(axis=1) - sums.min(axis=1)) / topics
    return found


def undistinguished_sets(p: npt.ArrayLike, alpha: float) -> tuple[tuple[int, ...], ...]:
    """Return the largest sets of systems in which no two differ by `tukey_p`; NaN counts as no difference."""
    apart = np.asarray(p) <= alpha
    systems = len(apart)
    found: list[set[int]] = [set()]
    for one in range(systems):  # each set with the new system, less those it differs from, unless within another
        near = {other for other in range(one) if not apart[one, other]}
        grown = [{*known & near, one} for known in found]
        every = [*found, *grown]
        found = [
            own
            for i, own in enumerate(every)
            if not any(own < other or (own == other and j < i) for j, other in enumerate(every))
        ]
    return tuple(sorted(tuple(sorted(own)) for own in found if own))


def group_letters(sets: Sequence[Sequence[int]], order: Sequence[int]) -> list[str]:
    """Return the letters of each system, from `a` for the first in `order`. Systems without a common letter differ."""
    place = {system: rank for rank, system in enumerate(order)}
    ranked = sorted(sets, key=lambda own: sorted(place[system] for system in own))
    names = ["".join(part) for size in (1, 2) for part in product("abcdefghijklmnopqrstuvwxyz", repeat=size)]
    return ["".join(name for name, own in zip(names, ranked) if system in own) for system in range(len(order))]
