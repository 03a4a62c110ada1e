"""The mean of people's scores over all items, from a judge's scores of every item and people's scores of some items.

In topic t let a_t be the mean of people's scores, and b_t the judge's mean over all items minus the judge's mean over
the items that people judged. The figure is the mean over topics of

    a_t + λ_t·b_t

If people judged a random part of each topic's items, b_t is 0 on average, however good the judge is. So the judge can
make the interval shorter, but cannot bias the figure. Source: prediction-powered inference (A. N. Angelopoulos et al.,
Science 382 (2023), 669-674), with the power tuning of PPI++ (arXiv 2311.01453), topics as clusters.

λ_t is the slope of people's scores on the judge's within topics, in [0, 1], lowered if the figure would vary more than
1.05 times as much as the figure from people alone. It is found from all other topics, or clusters of topics (as in
cross-fitting: V. Chernozhukov et al., Econometrics Journal 21 (2018), C1-C68; T. Zrnic and E. J. Candès, PNAS 121
(2024), e2322083121): the items that people judged in a topic then do not decide how much the judge counts there, which
with one λ moves the figure by -.013 for eight topics and a judge who is silent about bad items. All λ_t are lowered
together if the interval would be wider than that of people alone. This choice depends on the topic's own items and
moves the figure of eight topics by up to -.01 again, so with fewer than `FEWEST_TUNED` topics or clusters λ is 0. At
λ = 0 the figure is that of people alone.

The interval is made as in `score`: topics get random weights, and part of a topic that was not asked is added. A t
interval over topics covers .92 with 45 topics if one in twenty is bad, and .75 with 15.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval, too_few_reason
from scoring.inference.paired import PairedTest
from scoring.inference.unseen_topic import share_ends
from scoring.statistics.exchange import exchange_p
from topics.arrays import Floats


def cluster_sums(values: npt.ArrayLike, clusters: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Return (U,) sums and (U,) numbers of topics by cluster, from (K,) topics, in the order of first topics."""
    place = {cluster: row for row, cluster in enumerate(dict.fromkeys(clusters))}
    rows = np.array([place[cluster] for cluster in clusters], dtype=np.int64)
    each = np.asarray(values, dtype=np.float64)
    sums, counts = (np.bincount(rows, weights=one, minlength=len(place)) for one in (each, np.ones_like(each)))
    return sums.astype(np.float64), counts.astype(np.float64)


def mean_ends(
    values: npt.ArrayLike, *, level: float, clusters: Sequence[Hashable] | None = None
) -> tuple[Floats, Floats]:
    """Return (C,) low and high ends, in [0, 1], for the means of (K, C) topics, independent without `clusters`."""
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
    """Return the interval, in [0, 1], of the mean of (K,) topics.

    `clusters` is (K,), None if all topics are independent. `unit` is the name of a topic in notes. There is no interval
    for fewer than four topics or clusters.
    """
    each = np.asarray(values, dtype=np.float64)
    if not len(each) or np.isnan(each).any():
        return no_interval("no value")
    if clusters is not None and len(set(clusters)) == len(each):
        clusters = None
    drawn, of = (unit, len(each)) if clusters is None else ("cluster", len(set(clusters)))
    if of < FEWEST:
        return no_interval(too_few_reason(of, drawn))
    low, high = mean_ends(each[:, None], level=level, clusters=clusters)
    assumes = f"{unit}s are independent draws" if clusters is None else f"clusters of {unit}s are independent draws"
    return Interval(float(low[0]), float(high[0]), f"{METHOD} {drawn}", f"{drawn}s", assumes=assumes)


def compare_with_half(
    values: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    level: float,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "topic",
) -> PairedTest:
    """Compare a mean with 1/2: its interval, and the p from exchanging sides of topics or clusters.

    All arguments are as for `bounded_mean`. The mean is NaN without any topic. Fewer than two units have no p.
    """
    each = np.asarray(values, dtype=np.float64)
    value = float(each.mean()) if len(each) else math.nan
    interval = bounded_mean(each, level=level, clusters=clusters, unit=unit)
    aside = each - 0.5 if clusters is None else cluster_sums(each - 0.5, clusters)[0]
    return PairedTest(value, interval, exchange_p(aside, rng))


def is_side_preferred(interval: Interval, p: float, *, level: float) -> bool:
    """Return True if one side is preferred: the corrected p is at most 1 - level, and the interval excludes 1/2.

    A small p alone is not enough, because the test assumes that both sides lose equally in their bad topics, and says
    nothing about topics that were not asked.
    """
    return p <= 1 - level and interval.is_defined and not interval.contains(0.5)


# Items of each topic that people must have judged.
FEWEST_OF_PEOPLE = 2

# Topics or clusters from which the judge counts: fewer do not show without bias how much it should.
FEWEST_TUNED = 12

_WIDEST = 1.05  # what a wrong guess of the optimal weight may cost
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_STEPS = 20  # in which λ is lowered


@dataclass(frozen=True, slots=True)
class ComparedItems:
    """The items of one topic, with (items,) scores of the judge and of people in [0, 1], NaN if missing.

    Items with a weight of 0 are ignored.
    """

    judge: Floats
    people: Floats
    weights: Floats

    @property
    def checked(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.people) & (self.weights > 0)))


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean of people's scores, corrected by a judge.

    - `value`, `interval`: the mean in [0, 1] and its interval; NaN without any topic.
    - `power`: the mean λ.
    - `people`, `people_interval`: the figure from people's items alone.
    - `judge`: the judge's own mean, uncorrected.
    - `items`, `checked`: the number of items, and the number of items that people judged.
    - `units`: the number of clusters of topics, or of topics if all are independent.
    """

    value: float
    interval: Interval
    power: float
    people: float
    people_interval: Interval
    judge: float
    items: int
    checked: int
    units: int


def corrected_mean(
    topics: Sequence[ComparedItems],
    *,
    level: float,
    tuned: bool = True,
    clusters: Sequence[Hashable] | None = None,
) -> CorrectedMean:
    """Return the mean over topics of their weighted means, with its interval.

    `clusters` are the clusters of the topics, such as wordings of one question; None if all topics are independent. If
    `tuned`, λ is chosen from the scores. If not, or with fewer than `FEWEST_TUNED` topics or clusters, λ is 0, and the
    figure is from people alone. There is no interval for fewer than four topics or clusters. An item without a judge's
    score gets the judge's mean score, which does not bias the figure. Raises ValueError if people judged fewer than two
    items of a topic.
    """
    if any(one.checked < FEWEST_OF_PEOPLE for one in topics):
        raise ValueError("people must have judged at least two items of each topic")
    scores = np.concatenate([one.judge[~np.isnan(one.judge)] for one in topics]) if topics else np.empty(0)
    usual = float(scores.mean()) if scores.size else 0.0
    filled = [ComparedItems(np.where(np.isnan(one.judge), usual, one.judge), one.people, one.weights) for one in topics]
    people = np.array([_mean(one.people, one.weights, ~np.isnan(one.people)) for one in topics])
    judge = np.array([_mean(one.judge, one.weights, one.weights > 0) for one in filled])
    beyond = judge - np.array([_mean(one.judge, one.weights, ~np.isnan(one.people)) for one in filled])
    own = list(range(len(topics))) if clusters is None else list(clusters)
    powers = np.zeros(len(topics))
    units = len(set(own))
    if tuned and units >= FEWEST_TUNED:
        powers = _cross_fitted_powers(filled, people, beyond, own)
        powers = _share_no_wider(people, powers * beyond, level, own) * powers
    each = people + powers * beyond
    interval = bounded_mean(each, level=level, clusters=own)
    return CorrectedMean(
        float(np.clip(each.mean(), 0, 1)) if topics else math.nan,
        replace(interval, method=f"{interval.method}, prediction-powered") if interval.is_defined else interval,
        float(powers.mean()) if topics else 0.0,
        float(people.mean()) if topics else math.nan,
        bounded_mean(people, level=level, clusters=own),
        float(judge.mean()) if topics else math.nan,
        sum(int(np.count_nonzero(one.weights > 0)) for one in topics),
        sum(one.checked for one in topics),
        units,
    )


def _mean(scores: Floats, weights: Floats, counted: npt.NDArray[np.bool_]) -> float:
    own = weights[counted]
    return float((own * scores[counted]).sum() / own.sum())


def _cross_fitted_powers(
    topics: Sequence[ComparedItems], people: Floats, beyond: Floats, clusters: Sequence[Hashable]
) -> Floats:
    """Return (T,) λ of each topic, from the topics of all other clusters."""
    products = np.array([_products(one) for one in topics])
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    of = np.array([places[cluster] for cluster in clusters])
    powers = np.empty(len(topics))
    for place in range(len(places)):
        rest = of != place
        above, below = products[rest].sum(axis=0)
        # The slope is pooled because people judge few items of a topic.
        slope = min(1.0, max(0.0, float(above / below))) if below > _SAME else 0.0
        others = of[rest].tolist()
        sides = _cluster_deviations(people[rest], others), _cluster_deviations(beyond[rest], others)
        powers[~rest] = _bound_power(slope, *sides)
    return powers


def _products(one: ComparedItems) -> tuple[float, float]:
    """Return the sums of products within a topic, whose ratio is the slope of people's scores on the judge's."""
    seen = ~np.isnan(one.people) & (one.weights > 0)
    weights = one.weights[seen] / one.weights[seen].sum()
    judge, people = one.judge[seen], one.people[seen]
    off = judge - (weights * judge).sum()
    return float((weights * off * (people - (weights * people).sum())).sum()), float((weights * off**2).sum())


def _cluster_deviations(values: Floats, clusters: Sequence[Hashable]) -> Floats:
    return cluster_sums(values - values.mean(), clusters)[0] if len(values) else values


def _bound_power(power: float, people: Floats, beyond: Floats) -> float:
    """Return the largest λ up to `power` with which the figure varies at most 1.05 times as much as people's figure."""
    spread, both, own = np.cov(people, beyond)[[0, 0, 1], [0, 1, 1]]
    if spread + 2 * power * both + power**2 * own <= _WIDEST**2 * spread:
        return power
    # The variance is a parabola in λ that is too high at `power`, and not at 0.
    return float((-both + math.sqrt(both**2 + own * (_WIDEST**2 - 1) * spread)) / own)


def _share_no_wider(people: Floats, moved: Floats, level: float, clusters: Sequence[Hashable]) -> float:
    """Return the largest share of `moved`, in steps, with which the interval is no wider than that of `people`."""
    for tried in (np.array([1.0, 0.0]), np.arange(_STEPS - 1, -1, -1) / _STEPS):
        low, high = mean_ends(people[:, None] + tried * moved[:, None], level=level, clusters=clusters)
        narrow = high - low <= high[-1] - low[-1]
        if narrow[:-1].any():
            break
    return float(tried[int(np.argmax(narrow))])
