"""A test of whether two systems show the same kinds, based on the similarity of single trials: the overlap within
systems minus the overlap between systems.

Two trials of one system differ, too, so an overlap of .4 between two systems says nothing by itself. If both answer
from one distribution, two trials of different systems are as similar as two trials of the same system, on every topic
and for every measure of overlap:

    apart_k = (mean overlap of two trials of A + mean overlap of two trials of B)/2 - mean overlap of a trial of each

All three means are over pairs of different trials, so the expected value of apart is exactly 0 if the systems do not
differ, whatever the number of trials. The same holds for languages, places and dates in the place of systems. The
figures are means over topics. p comes from exchanging the systems of the trials within each topic, which is exact if
they are alike. The interval gives topics random weights and adds part of a topic that was not asked, as for all means
over topics. Jaccard's index and rank-biased overlap are inner products of the cited sources, so apart_k, the squared
distance of two means, has an expected value of at least 0 on every topic: the topic that was not asked is at 0 or 1. A
verdict needs both.

Source: A. Gretton et al., A kernel two-sample test, Journal of Machine Learning Research 13 (2012), 723-773 (the
unbiased statistic, equation 3).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval, too_few_reason
from scoring.inference.unseen_topic import (
    UNSEEN,
    append_unseen_topic,
    fixed_weights,
    interval_ends,
    weighted_means,
    weighted_sums,
)
from topics.arrays import Floats

_DRAWS = 4999  # with one more, for the data themselves, a round number: p in steps of .0002
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """The overlaps of two sides, (topics,) each; NaN if a topic has too few trials with a value.

    - `first`, `second`: the mean overlap of two trials of one side.
    - `between`: the mean overlap of a trial of each side.
    - `apart`: how much more similar trials of one side are.
    - `p`: the one-sided p of the mean of `apart`; NaN if no topic has two trials of each side.
    """

    first: Floats
    second: Floats
    between: Floats
    apart: Floats
    p: float


def within(overlaps: npt.ArrayLike) -> float:
    """Return the mean overlap of two different trials; NaN if there is no pair with a value.

    `overlaps` (trials, trials) is symmetric; NaN if an overlap is undefined. The diagonal is not used.
    """
    table = np.asarray(overlaps, dtype=np.float64)
    pairs = table[_pairs(len(table))]
    pairs = pairs[~np.isnan(pairs)]
    return float(pairs.mean()) if len(pairs) else math.nan


@lru_cache(64)
def _pairs(trials: int) -> tuple[npt.NDArray[np.int64], ...]:
    return np.triu_indices(trials, 1)


def compare_likeness(topics: Sequence[tuple[npt.ArrayLike, int]], rng: np.random.Generator) -> Likeness:
    """Compare two sides from the overlaps of their trials.

    For each topic, `topics` has the symmetric overlaps (trials, trials) of the first side's trials, followed by the
    second side's, and the number of the first side's trials. A trial whose overlaps with the others are all NaN (an
    answer without sources) is left out.
    """
    rows, drawn, count = [], np.zeros(_DRAWS), 0
    for given, number in topics:
        table = np.array(given, dtype=np.float64)
        np.fill_diagonal(table, math.nan)
        side = np.arange(len(table)) < number
        kept = ~np.isnan(table).all(axis=1)
        table, side = table[np.ix_(kept, kept)], side[kept]
        one, other = within(table[np.ix_(side, side)]), within(table[np.ix_(~side, ~side)])
        across = table[np.ix_(side, ~side)]
        across = across[~np.isnan(across)]
        between = float(across.mean()) if len(across) else math.nan
        apart = (one + other) / 2 - between
        rows.append((one, other, between, apart))
        if apart == apart:
            drawn += _exchanged(np.nan_to_num(table), int(side.sum()), rng)
            count += 1
    cells = np.array(rows).reshape(-1, 4)
    first, second, between_all, apart_all = cells.T
    p = math.nan
    if count:
        seen = float(np.nansum(apart_all)) - _SAME * count
        p = (1 + int((drawn >= seen).sum())) / (1 + _DRAWS)
    return Likeness(first, second, between_all, apart_all, p)


def apart_interval(
    sums: npt.ArrayLike, sizes: npt.ArrayLike, *, p: float = math.nan, level: float = 0.95, unit: str = "topic"
) -> tuple[Interval, float]:
    """Return the interval of the mean of `apart`, and the smallest error probability at which it excludes 0.

    `sums` (U,) are sums of `apart` over the topics of a unit, and `sizes` (U,) the numbers of topics. `p` is that of
    the exact test: as long as it does not reject 0, the interval contains 0, which resampling may miss if few topics
    differ at all. Without an interval, on fewer than four units, the probability is NaN.
    """
    above, below = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if len(above) < FEWEST:
        return no_interval(too_few_reason(len(above), unit) if len(above) else "no value"), math.nan
    order = np.lexsort((above, below))
    values = append_unseen_topic(above[order][:, None], below[order][:, None], 0.0, 1.0)
    lows, highs = weighted_means(weighted_sums(values, fixed_weights(len(above), UNSEEN)), 1)
    low, high = interval_ends(lows, highs, level)
    if p > 1 - level:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    wrong = min(float((lows <= 0).mean()), float((highs >= 0).mean()))
    found = Interval(
        max(-1.0, float(low[0])),
        min(1.0, float(high[0])),
        f"{METHOD} {unit}",
        f"{unit}s",
        assumes=f"{unit}s are independent draws; on one of a kind that was not asked sides may show anything",
    )
    return found, min(1.0, max(2 * wrong, 2 / lows.shape[1]))


def _exchanged(table: Floats, number: int, rng: np.random.Generator) -> Floats:
    """Return (draws,) values of `apart` of one topic after trials were dealt to the sides at random."""
    # The side of each trial in the order of random numbers: the first has the numbers of the first trials. To compare
    # and to sum over whole rows takes a fraction of the time of `argsort` and `einsum` over a handful of trials.
    drawn = np.ascontiguousarray(rng.random((_DRAWS, len(table))).T)
    places, first = np.arange(len(table), dtype=np.uint16)[:, None], np.zeros(drawn.shape, dtype=bool)
    for own in drawn[:number]:
        first |= (drawn < own).sum(axis=0, dtype=np.uint16) == places
    sums = np.einsum("st,td->sd", table, first.astype(np.float64))
    inside = (sums * first).sum(axis=0)
    across = sums.sum(axis=0) - inside
    rest = float(table.sum()) - inside - 2 * across
    other = len(table) - number
    return np.asarray((inside / (number * (number - 1)) + rest / (other * (other - 1))) / 2 - across / (number * other))
