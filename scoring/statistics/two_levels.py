"""Draws with replacement on two levels: topics, and then trials of each topic that was drawn."""

import numpy as np
import numpy.typing as npt

_AT_ONCE = 2**17  # drawn trials, whose counts fit in the cache of a processor


def two_level_counts(
    rng: np.random.Generator, trials: npt.NDArray[np.int64], size: int
) -> npt.NDArray[np.unsignedinteger]:
    """Return (n · most, size) counts of how often each trial is drawn. A topic drawn twice draws its trials twice.

    `trials` (n,) is the number of trials of each topic, and `most` the largest. Rows are contiguous and have the
    smallest integer type, since transposing and summing other layouts is slow.
    """
    topics, most = len(trials), int(trials.max())
    if (trials < most).any():
        often = rng.multinomial(topics, [1 / topics] * topics, size=size)
        shares = (np.arange(most) < trials[:, None]) / trials[:, None]
        drawn = rng.multinomial(often * trials, shares).reshape(size, -1)
        return np.ascontiguousarray(drawn.astype(np.min_scalar_type(int(drawn.max(initial=0)))).T)
    # An index for each trial, and how often it comes: a fifth of the time of multinomial counts.
    found = np.empty((topics * most, size), dtype=np.min_scalar_type(topics * most))
    at_once = max(1, _AT_ONCE // (topics * most))
    for start in range(0, size, at_once):
        some = min(at_once, size - start)
        first = (rng.integers(topics, size=(some, topics)) + topics * np.arange(some)[:, None]) * most
        place = rng.integers(most, size=(some, topics, most), dtype=np.min_scalar_type(most - 1))
        counts = np.bincount((first[:, :, None] + place).ravel(), minlength=some * topics * most)
        found[:, start : start + some] = counts.reshape(some, -1).T
    return found.astype(np.min_scalar_type(int(found.max(initial=0))), copy=False)
