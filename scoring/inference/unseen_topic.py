"""Intervals over topics that allow for a kind of topic that was not among those asked.

Five topics that all went well say little about a sixth. The spread between them only shows how the topics that were
asked differ; an interval made from it alone (a t interval, a percentile of the bootstrap) misses the true value
whenever a kind of topic is missing from the sample. So the topics get random weights, as in the Bayesian bootstrap, and
three quarters of a topic that was not asked are added:

    low     the lower quantile of   Σ W_k·x_k + W_0·bottom        (W_1, …, W_K, W_0) ~ Dirichlet(1, …, 1, 3/4)
    high    the upper quantile of   Σ W_k·x_k + W_0·top

bottom and top are the least and the largest value that a topic can have. In a ratio of sums each topic contributes its
numerator and its denominator, and the unseen topic has the quadratic mean of the other denominators: with the plain
mean, ratios dominated by few topics cover only .92. Shares that are ratios of sums (`pooled`) get a whole unseen topic
in place of three quarters.

With a whole topic in place of three quarters this is Gaffke's bound, and Clopper and Pearson's interval where every
topic has one of two values; with half a topic it is nearly Jeffreys'. If topics are all good or all bad, the lowest
coverage over all true shares, for 4 to 200 topics at a level of .95, is .92 with a half, .938 with three quarters and
.95 with a whole. Both ends are weighted means with weights of at least 0, so a better answer never lowers either.

If the scores of a measure never come near the end of its range, as those of R, it has no usable top. Its unseen topic
then scores `beyond` times the best observed topic: 1 + 4/sqrt(K), which is 3 for 4 topics and 1.6 for 45. The factor is
our own; docs/calibration.md shows what it covers.

Sources: D. B. Rubin, Annals of Statistics 9 (1981), 130-134; N. Gaffke, Three test statistics for a nonparametric
one-sided hypothesis on the mean of a nonnegative variable, Mathematical Methods of Statistics 14 (2005), 451-467.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import beta_quantile, normal_quantile
from topics.identity import generator

__all__ = [
    "UNSEEN",
    "answer_ends",
    "beyond",
    "boldest",
    "drawn_weights",
    "ends",
    "share_ends",
    "share_weights",
    "weighted_means",
    "weighted_sums",
    "with_unseen",
]

Floats = npt.NDArray[np.float64]

UNSEEN = 0.75
"""Topics' worth of what was not asked."""

_UNSEEN_OF_RATIOS = 1.0
"""The same of a ratio of sums: with three quarters, ratios of five topics cover .92 where one brings most of it."""

_DRAWS = 5_000
_AT_ONCE = 2_000_000  # weights of one number of topics
_COLUMNS = 256  # shares that are read at a time


def drawn_weights(rng: np.random.Generator, units: int, size: int, unseen: float = UNSEEN) -> Floats:
    """(units + 1, size) weights up to their sum, those of the unseen topic last."""
    shapes = np.append(np.ones(units), unseen)
    return np.ascontiguousarray(rng.standard_gamma(shapes, (size, units + 1)).T)  # draw after draw, in parts or at once


def with_unseen(above: Floats, below: Floats, bottom: npt.ArrayLike, top: npt.ArrayLike) -> Floats:
    """(K + 1, 2·C + D) what is weighted: the numerators for the low end, those for the high end, and the denominators,
    one for all (D = 1) where all columns have the same.

    above, below: (K, C) numerators and denominators of the topics. bottom, top: (C,) or one for all, ratios of the
    unseen topic.
    """
    size = np.sqrt((below**2).sum(axis=0) / np.maximum((below > 0).sum(axis=0), 1))
    low, high = (np.concatenate([above, (size * np.asarray(end))[None]]) for end in (bottom, top))
    whole = np.concatenate([below, size[None]])
    return np.concatenate([low, high, whole[:, :1] if (whole == whole[:, :1]).all() else whole], axis=1)


def ends(low: Floats, high: Floats, level: float) -> tuple[Floats, Floats]:
    """(C,) low and (C,) high end. low, high: (C, B) weighted means with the unseen topic at the bottom, and at the
    top."""
    tail = (1 - level) / 2
    return _quantile(low, tail), _quantile(high, 1 - tail)


def weighted_means(products: Floats, columns: int) -> tuple[Floats, Floats]:
    """(C, B) low and high. products: (2·C + D, B), `with_unseen` times weights."""
    low, high, whole = np.split(products, (columns, 2 * columns))
    return low / whole, high / whole


def _quantile(rows: Floats, share: float) -> Floats:
    """(C,) of (C, B) numbers: to the last bit what `np.quantile` gives, which also sets the ends in order and looks for
    NaN, in twice the time."""
    place = (rows.shape[1] - 1) * share
    at = int(place)
    after, part = min(at + 1, rows.shape[1] - 1), place - at
    ordered = np.partition(rows, (at, after), axis=1)
    least, most = ordered[:, at], ordered[:, after]
    between: Floats = least + (most - least) * part if part < 0.5 else most - (most - least) * (1 - part)
    return between


def weighted_sums(values: Floats, weights: Floats) -> Floats:
    """(C, B) weighted sums. values: (rows, C). weights: (rows, B).

    Without BLAS, whose last bits vary with threads and alignment: files of scores are compared.
    """
    found: Floats = np.einsum("kc,kb->cb", values, weights)
    return found


def boldest(units: int, level: float) -> float:
    """The highest possible low end of a share with so many topics, in (0, 1): that of topics that all went well, by
    Clopper and Pearson's interval or by Wilson's, whichever is lower."""
    z = normal_quantile(0.5 + level / 2)
    return min(math.exp(math.log((1 - level) / 2) / units), units / (units + z * z))


def beyond(units: int) -> float:
    """How many times as good as the best of `units` topics an unseen one may be, where a measure has no top."""
    return 1 + 4 / math.sqrt(units)


@cache
def answer_ends(useful: float, answers: float, level: float) -> tuple[float, float]:
    """(low, high) of a share where every topic gave one answer: the weights of the useful ones sum to a beta variable,
    so nothing needs to be drawn. useful, answers: how many, answers > 0. For 4 to 225 answers it covers at least .938
    at every rate; Wilson's interval, 5% shorter at a rate of .5, covers .84 to .93.
    """
    tail, rest = (1 - level) / 2, answers - useful
    low = float(beta_quantile(tail, useful, rest + UNSEEN)) if useful > 0 else 0.0
    high = float(beta_quantile(1 - tail, useful + UNSEEN, rest)) if rest > 0 else 1.0
    most = boldest(round(answers), level)
    return min(low, most), max(high, 1 - most)


def share_ends(above: Floats, below: Floats, level: float, *, pooled: bool = False) -> tuple[Floats, Floats]:
    """The interval of each share: (C,) low and (C,) high, in [0, 1]. pooled: a ratio of sums, to which topics bring
    unequal parts.

    above, below: (K, C) useful answers and answers of each topic, below > 0; with below = 1, shares of topics that all
    weigh the same. The weights are the same for all systems and depend on K alone, and the order of the topics does not
    matter. More useful answers never lower an end.
    """
    units, columns = below.shape
    low, high = np.empty(columns), np.empty(columns)
    weights = _weights(units, _UNSEEN_OF_RATIOS if pooled else UNSEEN)
    for start in range(0, columns, _COLUMNS):
        part = slice(start, start + _COLUMNS)
        order = np.lexsort((above[:, part], below[:, part]), axis=0)
        tops, bottoms = (np.take_along_axis(side[:, part], order, axis=0) for side in (above, below))
        sums = weighted_sums(with_unseen(tops, bottoms, 0.0, 1.0), weights)
        low[part], high[part] = ends(*weighted_means(sums, tops.shape[1]), level)
    most = boldest(units, level)
    return np.minimum(low, most), np.maximum(high, 1 - most)


def share_weights(units: int) -> Floats:
    """(units + 1, B) the weights with which `share_ends` finds the interval of a ratio of sums."""
    return _weights(units, _UNSEEN_OF_RATIOS)


@lru_cache(maxsize=16)
def _weights(units: int, unseen: float) -> Floats:
    size = max(1000, min(_DRAWS, _AT_ONCE // units)) // 2
    half = drawn_weights(generator(0, "unseen topic", str(units)), units, size, unseen)
    # Each draw also with the topics in the other order: then it does not matter which answer is called useful.
    return np.concatenate([half, np.concatenate([half[-2::-1], half[-1:]])], axis=1)
