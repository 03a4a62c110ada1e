"""The mean over topics of one value from 0 to 1 each, such as a preference between systems or people's opinions.

It has the interval of `scoring.inference.unseen_topic`, as shares have in `score`: topics get random weights, and part
of a topic that was not asked is added, at 0 for the low end and at 1 for the high one. A t interval over topics misses
the mean if it depends on rare topics: if a system is preferred in nine topics of ten and loses one in twenty
completely, it covers .87 with 15 topics.

Dependent topics, such as wordings of one question, are one unit, a cluster: the mean over topics is then a ratio of
sums over clusters.
"""

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval, too_few
from scoring.inference.paired import Paired
from scoring.inference.unseen_topic import share_ends
from scoring.statistics.exchange import exchange_p

Floats = npt.NDArray[np.float64]


def cluster_sums(values: npt.ArrayLike, clusters: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Return ((U,) sums, (U,) counts) by unit: clusters in the order of their first topic.

    `values` is (K,) by topic, and `clusters` (K,) the cluster of each topic; a single topic has a cluster of its own.
    """
    place = {cluster: row for row, cluster in enumerate(dict.fromkeys(clusters))}
    rows = np.array([place[cluster] for cluster in clusters], dtype=np.int64)
    each = np.asarray(values, dtype=np.float64)
    sums, counts = (np.bincount(rows, weights=one, minlength=len(place)) for one in (each, np.ones_like(each)))
    return sums.astype(np.float64), counts.astype(np.float64)


def ends_of_means(
    values: npt.ArrayLike, *, level: float, clusters: Sequence[Hashable] | None = None
) -> tuple[Floats, Floats]:
    """Return ((C,) low, (C,) high) ends of the mean of each column, in [0, 1].

    values: (K, C) by topic; they may lie slightly beyond 0 and 1, as corrected values do.
    clusters: (K,) the cluster of each topic; None if all topics are independent.
    """
    sums = np.asarray(values, dtype=np.float64)
    counts = np.ones_like(sums)
    if clusters is not None and len(set(clusters)) < len(sums):
        each, of = sums, cluster_sums(np.ones(len(sums)), clusters)[1]
        sums = np.stack([cluster_sums(column, clusters)[0] for column in each.T], axis=1)
        counts = np.repeat(of[:, None], each.shape[1], axis=1)
    low, high = share_ends(sums, counts, level, pooled=bool((counts != counts[:1]).any()))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def bounded_mean(
    values: npt.ArrayLike, *, level: float, clusters: Sequence[Hashable] | None = None, unit: str = "topic"
) -> Interval:
    """Return the interval, in [0, 1], of the mean of `values`, (K,) by topic.

    clusters: (K,) the cluster of each topic; None if all topics are independent. unit: the word for a topic.

    There is no interval for fewer than four topics, or clusters.
    """
    each = np.asarray(values, dtype=np.float64)
    if not len(each) or np.isnan(each).any():
        return no_interval("no value")
    if clusters is not None and len(set(clusters)) == len(each):
        clusters = None
    drawn, of = (unit, len(each)) if clusters is None else ("cluster", len(set(clusters)))
    if of < FEWEST:
        return no_interval(too_few(of, drawn))
    low, high = ends_of_means(each[:, None], level=level, clusters=clusters)
    assumes = f"{unit}s are independent draws" if clusters is None else f"clusters of {unit}s are independent draws"
    return Interval(float(low[0]), float(high[0]), f"{METHOD} {drawn}", f"{drawn}s", assumes=assumes)


def compare_with_half(
    values: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    level: float,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "topic",
) -> Paired:
    """Return the mean of `values` with its interval, and the p of its distance from 1/2.

    The p comes from exchanging the two sides of topics, or of whole clusters. Arguments are as for `bounded_mean`. NaN
    without a topic; no p on fewer than two units.
    """
    each = np.asarray(values, dtype=np.float64)
    value = float(each.mean()) if len(each) else math.nan
    interval = bounded_mean(each, level=level, clusters=clusters, unit=unit)
    aside = each - 0.5 if clusters is None else cluster_sums(each - 0.5, clusters)[0]
    return Paired(value, interval, exchange_p(aside, rng))


def beyond_half(interval: Interval, p: float, *, level: float) -> bool:
    """Return whether one side is preferred: the corrected p is at most 1 - level, and the interval excludes 1/2.

    A small p alone is not enough: the test assumes that each side loses as much in its bad topics as the other, and
    says nothing about topics that were not asked.
    """
    return p <= 1 - level and interval.printed and not interval.holds(0.5)
