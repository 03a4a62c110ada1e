"""A test of whether whole trials differ. In the pilot study of GFRC "the behaviour of each system is vastly different
across the two trials, even though they were tested on the same day" (T. Sakai, EVIA 2023, section 5, first
observation).

The i-th trials of all topics are one run through the topic set, made about the same time or in one session. If trials
of a topic are independent, their numbers do not matter: exchanging the trials within each topic, separately for each,
shows how far apart whole trials are by chance, and how often further apart than observed.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_DRAWS = 999  # with one more, for the data themselves, a round number: p in steps of .001
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_CELLS = 2**21  # of exchanged values held at a time


@dataclass(frozen=True, slots=True)
class Instability:
    """The variation between whole trials.

    means: (trials,) mean of each whole trial, adjusted for missing topics: its mean deviation from the means of its
    topics, plus the mean of all topics; NaN if it has no value. topics: (trials,) the number of topics of each.
    spread, by_chance: standard deviation of the means, and for exchanged trials (a root mean square). p: one-sided;
    NaN below two trials.
    """

    means: tuple[float, ...]
    topics: tuple[int, ...]
    spread: float
    by_chance: float
    p: float


def between_trials(values: npt.ArrayLike, rng: np.random.Generator) -> Instability:
    """Test whether whole trials of (topics, trials) differ; exact if a topic's trials are exchangeable."""
    cells = np.asarray(values, dtype=np.float64)
    cells = cells[(~np.isnan(cells)).sum(axis=1) > 1]
    seen = ~np.isnan(cells)
    often = seen.sum(axis=0)
    kept = often > 0
    none = tuple(math.nan for _ in often)
    if kept.sum() < 2:
        return Instability(none, tuple(map(int, often)), math.nan, math.nan, math.nan)
    own = np.nanmean(cells, axis=1, keepdims=True)
    above = np.where(seen, cells - own, 0.0)

    def spread(sums: Floats) -> Floats:
        return np.asarray(np.sqrt(np.var(sums[..., kept] / often[kept], axis=-1, ddof=1)))

    seen_spread = float(spread(above.sum(axis=0)))
    drawn = _exchange_trials(above, seen, rng)
    chance = spread(drawn)
    as_far = int((chance >= seen_spread - _SAME).sum())
    means = np.where(kept, above.sum(axis=0) / np.maximum(1, often) + float(own.mean()), np.nan)
    return Instability(
        means=tuple(map(float, means)),
        topics=tuple(map(int, often)),
        spread=seen_spread,
        by_chance=math.sqrt(float(np.square(chance).mean())),
        p=(1 + as_far) / (1 + _DRAWS),
    )


def _exchange_trials(above: Floats, seen: npt.NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    topics, trials = above.shape
    counts = seen.sum(axis=1)
    packed = np.take_along_axis(above, np.argsort(~seen, axis=1, kind="stable"), axis=1)
    filled = np.arange(trials) < counts[:, None]
    place = np.where(seen, np.cumsum(seen, axis=1) - 1, 0)
    found, rows, whole = np.empty((_DRAWS, trials)), np.arange(topics)[:, None], bool(seen.all())
    at_once = max(1, _CELLS // above.size)
    for start in range(0, _DRAWS, at_once):
        size = min(at_once, _DRAWS - start)
        keys = rng.random((size, topics, trials))
        if not whole:
            keys = np.where(filled, keys, 2.0)
        mixed = packed[rows, np.argsort(keys, axis=2)]
        if not whole:
            mixed = np.where(seen, np.take_along_axis(mixed, np.broadcast_to(place, keys.shape), axis=2), 0.0)
        found[start : start + size] = mixed.sum(axis=1)
    return found
