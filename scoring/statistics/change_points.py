"""Changes of level in a series of figures, detected in hindsight.

This is binary segmentation (L. Y. Vostrikova, Detecting "disorder" in multidimensional random processes, Soviet
Mathematics Doklady 24 (1981), 55-59) with a permutation test of the largest CUSUM (J. Antoch and M. Hušková,
Permutation tests in change point analysis, Statistics & Probability Letters 53 (2001), 37-46). In a series without a
change, all orders are equally likely, so a change point is found in at most 1 - `level` of the cases, whatever the
distribution. Change points are for plots of a history. Alarms must not test repeatedly in hindsight, so they come from
`scoring.inference.drift`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topics.arrays import Floats

# The fewest values whose orders allow a p small enough for a change at 95%.
FEWEST = 8

_EVEN = 1e-9  # a series without any change
_CELLS = 2**17  # values in memory at a time, which fit in the cache of a processor


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of level. `at` is the index of the first value on the new level. `before` and `after` are the means on
    each side, up to the next change points. `p` is from the permutation test."""

    at: int
    before: float
    after: float
    p: float


def change_points(
    values: Sequence[float], rng: np.random.Generator, *, level: float = 0.95, draws: int = 999
) -> tuple[ChangePoint, ...]:
    """Find the change points of (n,) values in order of time. Fewer than `FEWEST` values have no change point.
    `level` applies to each test, and `draws` is the number of orders drawn from `rng`. Raises ValueError for
    infinity or NaN."""
    series = np.asarray(values, dtype=np.float64)
    if not np.isfinite(series).all():
        raise ValueError("all values must be finite; leave out values that could not be measured")
    found = sorted(_find_changes(series, 0, rng, 1 - level, draws))
    if not found:
        return ()
    ends = [0, *(at for at, _ in found), len(series)]
    means = [float(series[start:end].mean()) for start, end in pairwise(ends)]
    return tuple(
        ChangePoint(at, before, after, p) for (at, p), before, after in zip(found, means, means[1:], strict=False)
    )


def _find_changes(
    series: Floats, start: int, rng: np.random.Generator, alpha: float, draws: int
) -> Iterator[tuple[int, float]]:
    if len(series) < FEWEST or np.ptp(series) < _EVEN:
        return
    usual = (series - series.mean()) / series.std()
    sums = np.round(_cusum(usual[None, :])[0], 9)  # so that rounding does not choose between equally good places
    place = int(sums.argmax())
    beyond, at_once = 0, max(1, _CELLS // len(series))
    for begun in range(0, draws, at_once):
        orders = rng.permuted(np.tile(usual, (min(at_once, draws - begun), 1)), axis=1)
        beyond += int((_cusum(orders).max(axis=1) >= sums[place] - _EVEN).sum())
    p = (1 + beyond) / (1 + draws)
    if p > alpha:
        return
    yield start + place + 1, p
    yield from _find_changes(series[: place + 1], start, rng, alpha, draws)
    yield from _find_changes(series[place + 1 :], start + place + 1, rng, alpha, draws)


def _cusum(rows: Floats) -> Floats:
    """Return (rows, n - 1) distances between the means before and after each position, in units of their spread."""
    n = rows.shape[1]
    sizes = np.arange(1, n)
    sums = np.cumsum(rows - rows.mean(axis=1, keepdims=True), axis=1)[:, :-1]
    scaled: Floats = np.abs(sums) / np.sqrt(sizes * (n - sizes) / n)
    return scaled
