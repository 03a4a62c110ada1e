"""Variation between the trials of a topic: how consistent trials are, and whether whole trials differ.

In the pilot study of GFRC "the behaviour of each system is vastly different across the two trials, even though they
were tested on the same day" (T. Sakai, EVIA 2023, section 5, first observation).

`between_trials` tests whether whole trials differ. The i-th trials of all topics are one run through the topic set,
made about the same time or in one session. If the trials of a topic are independent, their order does not matter.
Exchanging the trials within each topic, separately for each topic, shows how far apart whole trials are by chance, and
how often the distance exceeds the observed one. `chance_of_all`, `has_disagreement` and `differing_share` describe the
trials of each topic. Figures over topics are means of these values, with intervals for topics like these.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats

_DRAWS = 999  # with one more, for the data themselves, a round number: p in steps of .001
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_CELLS = 2**21  # of exchanged values held at a time
_ROUNDING = 1e-9  # values of two trials that differ by no more than rounding are equal


@dataclass(frozen=True, slots=True)
class Instability:
    """The variation between whole trials.

    - `means`: (trials,) mean of each whole trial, adjusted for missing topics: the mean deviation from the topics'
      means, plus the mean over all topics. NaN if the trial has no value.
    - `topics`: (trials,) the number of topics in each trial.
    - `spread`, `by_chance`: the standard deviation of the means, and its root mean square over exchanged trials.
    - `p`: the one-sided p; NaN for fewer than two trials.
    """

    means: tuple[float, ...]
    topics: tuple[int, ...]
    spread: float
    by_chance: float
    p: float


def between_trials(values: npt.ArrayLike, rng: np.random.Generator) -> Instability:
    """Test whether whole trials differ, from (topics, trials) values, NaN if missing.

    The test is exact if the trials of a topic are exchangeable.
    """
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


def chance_of_all(passed: npt.ArrayLike, k: int) -> Floats:
    """Return (topics,) pass^k in [0, 1], the probability that k random trials of a topic all pass.

        pass^k = C(c, k) / C(n, k)      for a topic with n trials, c of which pass

    This estimate for k new trials of the topic is unbiased, while (c/n)^k is too high (Jensen). A topic with fewer than
    k trials gets NaN. `passed` (topics, trials) is 1.0, 0.0, or NaN for a missing trial. Raises ValueError for other
    values and for k below 1. Source: S. Yao et al., τ-bench, arXiv 2406.12045 (2024), section 3.
    """
    cells = np.asarray(passed, dtype=np.float64)
    if k < 1:
        raise ValueError(f"k must be at least 1 in pass^k, not {k}")
    if not np.isin(cells[~np.isnan(cells)], (0.0, 1.0)).all():
        raise ValueError("a trial must be 1 (it passes) or 0 (it does not)")
    trials, some = (~np.isnan(cells)).sum(axis=1), np.nansum(cells, axis=1)
    found = np.ones(len(cells))
    for already in range(k):
        found *= np.maximum(0.0, some - already) / np.maximum(1, trials - already)
    return np.where(trials >= k, found, np.nan)


def has_disagreement(values: npt.ArrayLike) -> Floats:
    """Return (topics,) 1.0 for topics whose trials differ and 0.0 for others; NaN for fewer than two trials.

    `values` is (topics, trials), NaN for missing trials. Trials are more likely to differ the more there are, so
    compare only figures over equal numbers of trials.
    """
    cells = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(cells)
    highest = np.where(seen, cells, -np.inf).max(axis=1, initial=-np.inf)
    lowest = np.where(seen, cells, np.inf).min(axis=1, initial=np.inf)
    return np.where(seen.sum(axis=1) < 2, np.nan, (highest > lowest + _ROUNDING).astype(np.float64))


def differing_share(values: npt.ArrayLike) -> Floats:
    """Return (topics,) the share of pairs of a topic's trials that differ; NaN for fewer than two trials.

    `values` is (topics, trials), NaN for missing trials. The share is an unbiased estimate of the probability that two
    new trials of the topic differ, whatever the number of trials.
    """
    cells = np.sort(np.asarray(values, dtype=np.float64), axis=1)  # NaN last
    trials = (~np.isnan(cells)).sum(axis=1)
    found = np.full(len(cells), np.nan)
    for row in np.flatnonzero(trials > 1):
        own = cells[row, : trials[row]]
        steps = np.flatnonzero(np.diff(own) > _ROUNDING) + 1
        alike = np.diff(np.concatenate(([0], steps, [len(own)])))
        found[row] = 1 - float((alike * (alike - 1)).sum()) / (len(own) * (len(own) - 1))
    return found
