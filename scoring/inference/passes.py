"""Consistency of the trials of a topic: how often all of k pass, whether all agree, and how often two differ.

For a topic with n trials, c of which pass, the probability that k trials drawn from them all pass is

    pass^k = C(c, k) / C(n, k)

It is unbiased for the probability that k new trials of the topic all pass; (c/n)^k is too high (Jensen). For k > n it
is undefined. Source: S. Yao et al., τ-bench, arXiv 2406.12045 (2024), section 3.

Figures over topics are means of these; their intervals are for topics like these.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_SAME = 1e-9  # what rounding leaves between values that are the same


def all_pass(passed: npt.ArrayLike, k: int) -> Floats:
    """Return (topics,) pass^k in [0, 1]; NaN for a topic with fewer than k trials.

    `passed` is (topics, trials), 1.0, 0.0 or NaN if missing; k is at least 1. ValueError for other values.
    """
    cells = np.asarray(passed, dtype=np.float64)
    if k < 1:
        raise ValueError(f"pass^{k}: k is at least 1")
    if not np.isin(cells[~np.isnan(cells)], (0.0, 1.0)).all():
        raise ValueError("a trial passes (1) or does not (0)")
    trials, some = (~np.isnan(cells)).sum(axis=1), np.nansum(cells, axis=1)
    found = np.ones(len(cells))
    for already in range(k):
        found *= np.maximum(0.0, some - already) / np.maximum(1, trials - already)
    return np.where(trials >= k, found, np.nan)


def disagree(values: npt.ArrayLike) -> Floats:
    """Return (topics,) 1.0 for topics whose trials differ, else 0.0; NaN for fewer than two trials.

    `values` is (topics, trials), NaN for missing trials. The more trials, the more likely it is that one differs:
    compare only figures over equal numbers of trials.
    """
    cells = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(cells)
    highest = np.where(seen, cells, -np.inf).max(axis=1, initial=-np.inf)
    lowest = np.where(seen, cells, np.inf).min(axis=1, initial=np.inf)
    return np.where(seen.sum(axis=1) < 2, np.nan, (highest > lowest + _SAME).astype(np.float64))


def pairs_that_differ(values: npt.ArrayLike) -> Floats:
    """Return (topics,) the share of pairs of a topic's trials that differ; NaN for fewer than two trials.

    `values` is (topics, trials), NaN for missing trials. The share is unbiased for the probability that two new trials
    of the topic differ, whatever the number of trials.
    """
    cells = np.sort(np.asarray(values, dtype=np.float64), axis=1)  # NaN last
    trials = (~np.isnan(cells)).sum(axis=1)
    found = np.full(len(cells), np.nan)
    for row in np.flatnonzero(trials > 1):
        own = cells[row, : trials[row]]
        steps = np.flatnonzero(np.diff(own) > _SAME) + 1
        alike = np.diff(np.concatenate(([0], steps, [len(own)])))
        found[row] = 1 - float((alike * (alike - 1)).sum()) / (len(own) * (len(own) - 1))
    return found
