"""Intervals of variance components if several systems answered the same topics: systems, topics, interaction, trials.

The compared systems are the whole population, so only the errors of their means count. Consider the effects of systems
as a vector whose length is the root of the variance between them. Errors lengthen this vector more often than they
shorten it. The interval contains all lengths, in the direction of the estimated effects, for which the observed length
is in neither tail of its distribution. The distribution allows for errors and an unseen topic. The interval starts at 0
unless systems that do not differ would rarely be observed so far apart.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference import spreads
from scoring.inference.interval import Interval, no_interval
from scoring.inference.spreads import Range
from scoring.inference.unseen_topic import UNSEEN
from topics.arrays import Counts, Floats

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_EVERY = 3  # mean squares take longer, so every third draw is used


@dataclass(frozen=True, slots=True, eq=False)
class MeanSquares:
    """Mean squares for W sets of weights, (W,) each.

    - `system`, `topic`, `both`: two arrays each. The first is the mean square over its coefficient. The second is the
      component that remains after the other components and the trials are subtracted, which can be negative by chance.
    - `trial`: the variance of trials.
    - `error`: the error variance of a system's mean.
    - `effects`: (W, systems) effects of systems, adjusted for topics, summing to 0.
    - `degrees`: the degrees of freedom of systems × topics.
    - `form`: (systems, systems) quadratic form. The first mean square of systems is e'·form·e for the first effects e.
    """

    system: tuple[Floats, Floats]
    topic: tuple[Floats, Floats]
    both: tuple[Floats, Floats]
    trial: Floats
    error: Floats
    effects: Floats
    form: Floats
    degrees: Floats


@dataclass(frozen=True, slots=True)
class CrossedEnds:
    system: Interval
    topic: Interval
    both: Interval
    trial: Interval
    relative: Interval
    absolute: Interval


def crossed_ends(
    mean: Floats, own: Floats, counts: Counts, squares: MeanSquares, within: Range, *, level: float
) -> CrossedEnds:
    """Return intervals of the components of systems, topics, interaction and trials, and of Eρ² and Φ.

    `mean`, `own` and `counts` (systems, topics) are the means, variances and trial numbers of the cells, 0 if empty.
    `squares` are the mean squares with all weights 1, `within` is the range of the values, and `level` is in (0, 1).
    """
    topics = mean.shape[1]
    why = within.missing_interval_reason(topics)
    if why:
        return CrossedEnds(*(no_interval(why),) * 6)
    order = np.lexsort((*mean, mean.sum(axis=0) / np.maximum(1, (counts > 0).sum(axis=0))))
    table = _Table(mean[:, order], own[:, order], counts[:, order], squares, within, level)
    topic, both, trial, system = table.topic_ends(), table.interaction_ends(), table.trial_ends(), table.system_ends()
    named = {
        "topic": (topic, "every topic has the same value"),
        "both": (both, "systems differ alike on every topic"),
        "trial": (trial, "trials of a topic all agree"),
        "system": (system, "every topic has the same value"),
    }
    made = {
        name: spreads.make_interval(ends, within) if ends else no_interval(why) for name, (ends, why) in named.items()
    }
    relative = absolute = no_interval("too little varies")
    if system and both and topic:
        error = table.error_ends()
        relative = spreads.make_interval(spreads.share_ends(system, error), within)
        far = error[0] + topic[0] / topics, error[1] + topic[1] / topics
        absolute = spreads.make_interval(spreads.share_ends(system, far), within)
    return CrossedEnds(**made, relative=relative, absolute=absolute)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    mean: Floats
    own: Floats
    counts: Counts
    found: MeanSquares
    within: Range
    level: float

    @property
    def _tail(self) -> float:
        return (1 - self.level) / 2

    @property
    def _has_value(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.counts > 0)

    def _by_topic(self) -> Floats:
        return np.asarray(self.mean.sum(axis=0) / self._has_value.sum(axis=0))

    def _interactions(self) -> Floats:
        beyond = self.mean - self._by_topic() - self.found.effects[0][:, None]
        return np.where(self._has_value, beyond, 0.0)

    def _drawn_squares(self, unseen: Floats | None) -> MeanSquares:
        topics = self.mean.shape[1]
        weights = topics * spreads.topic_weights(topics, 0.0 if unseen is None else UNSEEN)[:, ::_EVERY].T
        columns, counts = (self.mean, self.own), self.counts.astype(np.float64)
        if unseen is None:
            weights = weights[:, :-1]
        else:
            columns = np.column_stack([self.mean, unseen]), np.column_stack([self.own, np.zeros_like(unseen)])
            counts = np.column_stack([counts, np.full(len(unseen), math.inf)])
        return self._squares(*columns, counts, weights)

    def _squares(self, mean: Floats, own: Floats, counts: Floats, weights: Floats) -> MeanSquares:
        drawn = mean_squares(mean, own, counts, weights, degrees=float(self.found.degrees[0]))
        assert drawn is not None, "weights that are all above 0 take no cell away"
        return drawn

    def _low_end(self, square: Floats, part: Floats) -> float:
        """Return the low end of a component among the asked topics, without the factor for a population."""
        topics = self.mean.shape[1]
        return max(0.0, float(np.quantile(part - square / topics, self._tail)))

    def topic_ends(self) -> tuple[float, float] | None:
        far = spreads.unseen_positions(self._by_topic(), self.within)
        if far is None:
            return None
        systems = len(self.mean)
        highs = [self._drawn_squares(np.full(systems, end)).topic[1] for end in far]
        high = max(float(np.quantile(each, 1 - self._tail)) for each in highs)
        return self._low_end(*self._drawn_squares(None).topic), max(0.0, min(high, self.within.largest_variance))

    def interaction_ends(self) -> tuple[float, float] | None:
        unseen = self._reversed_means()
        if unseen is None:
            return None
        high = float(np.quantile(self._drawn_squares(unseen).both[1], 1 - self._tail))
        return self._low_end(*self._drawn_squares(None).both), max(0.0, high)

    def error_ends(self) -> tuple[float, float]:
        unseen, topics = self._reversed_means(), self.mean.shape[1]
        low = self._drawn_squares(None).error * (1 - 1 / topics)
        high = self._drawn_squares(unseen).error if unseen is not None else low
        return float(np.quantile(low, self._tail)), float(np.quantile(high, 1 - self._tail))

    def trial_ends(self) -> tuple[float, float] | None:
        there = self._has_value
        several = self.counts > 1
        each = float(several.sum() / (1 / self.counts[several]).sum())
        cells = there.sum(axis=0)
        # A topic's weight is its number of cells, and an unseen topic's weight is the average number.
        own = np.where(there, self.own, 0.0).sum(axis=0)
        largest = spreads.largest_variance(self._by_topic(), own / cells, each, self.within)
        if not largest > spreads.SAME:
            return None
        weights = spreads.topic_weights(self.mean.shape[1], UNSEEN)
        above, below = own @ weights[:-1], cells @ weights[:-1]
        more = cells.mean() * weights[-1]
        low = float(np.quantile(above / (below + more), self._tail))
        return low, float(np.quantile((above + more * largest) / (below + more), 1 - self._tail))

    def system_ends(self) -> tuple[float, float] | None:
        """Return the low and high end of the variance between systems, at which the observed variance is in a tail."""
        away = self._unseen_distance()
        if away is None:
            return None
        effects, form, topics = self.found.effects[0], self.found.form, self.mean.shape[1]
        weights = topics * spreads.topic_weights(topics, UNSEEN)[:, ::_EVERY].T
        drawn = self._squares(self.mean, self.own, self.counts.astype(np.float64), weights[:, :-1])
        share = weights[:, -1] / topics
        errors = (drawn.effects - effects) * (1 - share)[:, None]
        seen = math.sqrt(float(self.found.system[0][0]))
        square = np.einsum("br,rs,bs->b", errors, form, errors)
        along = errors @ form @ effects / seen if seen > spreads.SAME else -np.sqrt(square)  # else the worst direction
        low, high = _length_range(seen, along, square, share * away, self._tail)
        # The variance of systems is largest if half of them are at each end of the range.
        systems = len(effects)
        most = self.within.largest_variance * systems / (systems - 1) * (1 - (systems % 2) / systems**2)
        return low**2, min(high**2, most)

    def _reversed_means(self) -> Floats | None:
        effects = self.found.effects[0]
        up = np.argsort(np.argsort(effects, kind="stable")) < len(effects) / 2
        if self.within.is_bounded:
            return np.where(up, self.within.top, self.within.bottom)
        far = self._unseen_reach()
        if far is None:
            return None
        return np.asarray(float(np.median(self._by_topic())) + effects + np.where(up, far, -far))

    def _unseen_reach(self) -> float | None:
        beyond = np.abs(self._interactions())
        far = spreads.distance_factor(beyond.max(axis=0)) * float(beyond.max())
        return far if far > spreads.SAME else None

    def _unseen_distance(self) -> float | None:
        effects = self.found.effects[0]
        systems = len(effects)
        if not self.within.is_bounded:
            beyond = self._interactions()
            far = math.sqrt(float(np.square(beyond).sum(axis=0).max()) / (systems - 1))
            return spreads.NEAREST * far if far > spreads.SAME else None
        falling, wide = -np.sort(-effects), self.within.top - self.within.bottom
        lengths = []
        for low in range(1, systems):  # this many systems at one end, and the rest at the opposite end
            profile = np.where(np.arange(systems) < low, 0.0, wide)
            lengths.append(math.sqrt(float(np.square(profile - profile.mean() - falling).sum()) / (systems - 1)))
        return max(lengths)


def _length_range(seen: float, along: Floats, square: Floats, more: Floats, tail: float) -> tuple[float, float]:
    """Return the least and the largest length of a vector that, with errors, may be observed with the length `seen`.

    Each of the (draws,) errors has a component `along` the vector and a squared length `square`. `more` is how much an
    unseen topic can lengthen or shorten the vector, and `tail` is the probability in each tail.
    """

    def longest(length: float) -> float:
        return float(np.quantile(np.sqrt(np.maximum(0.0, length * (length + 2 * along) + square)) + more, 1 - tail))

    def shortest(length: float) -> float:
        return float(np.quantile(np.sqrt(np.maximum(0.0, length * (length + 2 * along) + square)) - more, tail))

    low = 0.0 if longest(0.0) >= seen else _root(lambda length: longest(length) - seen, 0.0, seen)
    far = 2 * (seen + float((np.sqrt(square) + more).max()))
    return low, _root(lambda length: shortest(length) - seen, seen, far)


def _root(rises: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) > 0 else (middle, high)
    return (low + high) / 2


def mean_squares(
    mean: Floats,
    own: Floats,
    counts: npt.NDArray[np.int64] | Floats,
    weights: Floats,
    *,
    degrees: float | None = None,
) -> MeanSquares | None:
    """Return the mean squares for each set of weights, or None if systems share too few topics.

    This is Henderson's method III (fitting constants): system effects are adjusted for topics and topic effects for
    systems, so a system that missed hard topics is not favoured. In a balanced table the method is the analysis of
    variance. Weights of 1 give the sums for the topics themselves, and random weights show how reliable these sums are.

    `mean`, `own` and `counts` are (systems, topics): the cells' means, variances of trials, and numbers of trials
    (infinite for a cell whose mean is exact). `weights` is (W, topics), not negative. `degrees` are the degrees of
    freedom of systems × topics; by default they are computed for each set of weights, and may be almost 0 if some cells
    are empty.

    Topics with their weights w are absorbed. With d in {0, 1} for the cells that exist, B their number in a topic, v =
    d(e - d/B) the contribution of a system's cell to its adjusted sum r, and e the error variance of a cell's mean,

        C = Σ w (diag d - dd'/B),  R(s|t) = r'C⁻r,  E R(s|t) = σ²_s tr C + σ²_st (S - 1) + Σ w e v'C⁻v

    Source: C. R. Henderson, Biometrics 9 (1953), 226-252, method III.
    """
    there = (counts > 0).astype(np.float64)
    systems = len(there)
    error = np.divide(own, counts, out=np.zeros_like(own), where=counts > 0)
    shifted = (mean - mean[counts > 0].mean()) * there  # sums of squares of large numbers lose digits
    in_topic = there.sum(axis=0)
    # (system of the cell, systems, topics)
    adjusted = (np.eye(systems)[:, :, None] - there / in_topic) * there[:, None]
    sums = weights @ np.einsum("ist,it->ts", adjusted, shifted)
    crossing = _weighted_sums(weights, np.einsum("irt,ist->trs", adjusted, adjusted))
    noisy = _weighted_sums(weights, np.einsum("it,irt,ist->trs", error, adjusted, adjusted))
    cells, drawn = weights @ in_topic, weights.sum(axis=1)
    free = cells - drawn - systems + 1 if degrees is None else np.full(len(weights), degrees)
    if (free < 1).any():
        return None
    if there.all():  # each set of weights gives a multiple of one projection, which is its own inverse
        inverse = (np.eye(systems) - 1 / systems) / drawn[:, None, None]
    elif (np.linalg.matrix_rank(crossing, hermitian=True) < systems - 1).any():
        return None
    else:
        inverse = np.linalg.pinv(crossing, hermitian=True)
    by_system = np.einsum("br,brs,bs->b", sums, inverse, sums)
    of_system = np.einsum("brs,bsr->b", inverse, noisy)
    size = np.einsum("brr->b", crossing)
    within = weights @ (shifted**2 - shifted.sum(axis=0) * shifted / in_topic).sum(axis=0)
    of_within = weights @ (error.sum(axis=0) - error.sum(axis=0) / in_topic)
    each = weights @ there.T
    topical = weights @ (shifted**2).sum(axis=0) - ((weights @ shifted.T) ** 2 / each).sum(axis=1)
    of_topical = weights @ error.sum(axis=0) - ((weights @ error.T) / each).sum(axis=1)
    rest, of_rest = _positive(within - by_system), of_within - of_system
    both = (rest - of_rest) / free
    system = (by_system - (systems - 1) * both - of_system) / size
    others = cells - systems
    topical, of_topical = _positive(topical - rest), of_topical - of_rest
    topic = (topical - (others - free) * both - of_topical) / others
    return MeanSquares(
        system=(_positive(by_system) / size, system),
        topic=(topical / others, topic),
        both=(rest / free, both),
        trial=weights @ own.sum(axis=0) / cells,
        error=rest / free * (systems - 1) / size,
        effects=np.einsum("brs,bs->br", inverse, sums),
        form=crossing[0] / size[0],
        degrees=free,
    )


def _weighted_sums(weights: Floats, each: Floats) -> Floats:
    return np.asarray((weights @ each.reshape(len(each), -1)).reshape(len(weights), *each.shape[1:]))


def _positive(squares: Floats) -> Floats:
    return np.where(squares < _SAME, 0.0, squares)
