"""Dependence between trials that are near in time, and the information that it costs.

Load, caches and a provider's switch between models make answers of one hour alike. Trials of a topic are then not
independent, and an interval that assumes independence is too short: if answers of 0 and 1 depend on a hidden AR(1)
state of .8, the interval for one topic of 60 trials covers .72.

    lag 1       correlation of neighbours in time, of trials minus their topic's mean, beyond the correlation
                that subtracting the mean causes
    p           one-sided, of Σ_l .8^l Σ e_i·e_(i+l) over lags up to 10, by permuting the trials within each topic; of
                very many trials, from the mean and variance under permutation (`permuted_lines`)
    inflation   the factor by which the variance of a mean exceeds what independent trials with the observed variance
                would have, if the shared part of their variance decays as .8^l; the same statistic estimates that part

Similar trials also differ less from their topic's mean, so the observed variance is too small: if all of the variance
of five trials decays, it is a third of the true one, and the factor 10.5. With the factor for the true variance, 3.6,
intervals covered .74 of 15 topics with a state of .8.

The test is made within topics and, since topics share the load, over all trials of a run in order of time. The hidden
state decays more slowly than the lag 1 of the answers suggests, so several lags are used. Five trials of a topic can
hardly show dependence: a state of .8 is found in a sixth of studies of 15 topics with 5 trials. So intervals are
widened up to a p of `WIDENED_P`, which makes one in ten too wide where trials are independent. Answers of 0 and 1 in
five trials still cover .8 of 15 topics with a state of .8, and scores .96.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scoring.inference.permuted_lines import PermutedLine, upper_p
from scoring.statistics.beta import normal_cdf
from topics.arrays import Counts, Floats
from topics.identity import generator

_DECAY = 0.8  # of the weights of lags, so that short and long dependence both show
_LAGS = 10  # beyond them the weights are below .1
_WEIGHTS = [_DECAY**lag for lag in range(1, _LAGS + 1)]
_DRAWS = ((199, 0.15), (999, 0.005), (4999, 0.0))  # (draws, the largest p for which more are drawn)
WIDENED_P = 0.1  # the largest p for which intervals over trials are widened
_REPORTED_P = 0.002  # several measures are tested: at .05, one run of independent trials in ten would be reported
_MATRIX = 1000  # trials of a topic, above which a matrix of all pairs takes too much memory
_AT_ONCE = 2**19  # values of compared lines that are in memory together
_DRAWN_AT_ONCE = 2**16  # values of drawn lines, which are then still in the processor's cache
_SHARED = 2**23  # places of drawn orders, up to which they are kept for topics with the same numbers of trials
_FEWEST = 20  # the fewest trials that can show dependence
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


@dataclass(frozen=True, slots=True)
class TimeDependence:
    """The dependence of trials in time.

    - `lag`: correlation of neighbours, beyond the correlation if trials are independent; NaN if nothing varies.
    - `p`: the p of all lags together; 1 if nothing varies.
    - `inflation`: the factor for the estimated variance of a mean over trials, at least 1, whether or not p is small.
    - `drift`, `drift_p`: correlation of trials with their time in the run, and the two-sided p of this correlation.
    - `across`: True if `lag` and `p` are for the whole run, in which neighbours may belong to different topics.
    """

    lag: float
    p: float
    inflation: float
    drift: float
    drift_p: float
    across: bool = False

    @property
    def note(self) -> str:
        """A sentence about the dependence; "" if p is above .002, since a run has many such tests."""
        said = []
        if self.p <= _REPORTED_P:
            of = " of the run, whatever their topic," if self.across else ""
            said.append(
                f"trials{of} near each other in time are alike: lag 1 {_short_number(self.lag)}, {_p_text(self.p)}; "
                f"intervals of trials are {math.sqrt(self.inflation):.1f} times as wide for it"
            )
        if self.drift_p <= _REPORTED_P:
            way = "rise" if self.drift > 0 else "fall"
            said.append(
                f"values {way} in the course of the run: r {_short_number(self.drift)}, {_p_text(self.drift_p)}"
            )
        return "; ".join(said)


def time_dependence(values: npt.ArrayLike, times: npt.ArrayLike | None = None) -> TimeDependence:
    """Test a measure's (topics, trials) values, NaN if missing, for dependence in time.

    `times` are in any unit, NaN if unknown. Without `times`, and in topics with an unknown time, the trials keep the
    given order, and the whole run is not tested. Arrays of one shape get the same permutations. If no topic has two
    trials that differ, p and inflation are 1.
    """
    cells = np.asarray(values, dtype=np.float64)
    when = np.full(cells.shape, np.nan) if times is None else np.asarray(times, dtype=np.float64)
    if when.shape != cells.shape or cells.ndim != 2:
        raise ValueError("values and times must be arrays of one shape, (topics, trials)")
    rows, moments = [], []
    for own, at in zip(cells, when, strict=True):
        seen = ~np.isnan(own)
        if seen.sum() < 2:
            continue
        order = np.argsort(at[seen], kind="stable") if not np.isnan(at[seen]).any() else np.arange(seen.sum())
        rows.append((own[seen] - own[seen].mean())[order])
        moments.append(at[seen][order])
    nothing = TimeDependence(math.nan, 1.0, 1.0, math.nan, 1.0)
    if not rows or sum(float(np.square(row).sum()) for row in rows) <= _SAME:
        return nothing
    orders = _Orders([len(row) for row in rows], generator(0, "trials in time", *cells.shape))
    within = _test_within_topics(rows, orders)
    known = np.concatenate(moments)
    if np.isnan(known).any() or len(rows) == 1:
        return within
    whole = _test_whole_run(rows, known, orders)
    # Two tests of one question: the smaller p counts twice.
    first = min((within, whole), key=lambda one: one.p)
    inflation = max(one.inflation for one in (within, whole) if one.p <= max(WIDENED_P, first.p))
    return TimeDependence(first.lag, min(1.0, 2 * first.p), inflation, whole.drift, whole.drift_p, first.across)


def common_time_p(values: npt.ArrayLike, times: npt.ArrayLike) -> float:
    """Return the one-sided p, in (0, 1], for whether consecutive trials of any topics are alike; 1 below 20 trials.

    The p comes from a normal approximation to the statistic of `time_dependence` over the whole run. Both arrays are
    (topics, trials), NaN if missing.
    """
    cells, when = np.asarray(values, dtype=np.float64), np.asarray(times, dtype=np.float64)
    seen = ~(np.isnan(cells) | np.isnan(when))
    counts = seen.sum(axis=1, keepdims=True)
    means = np.where(seen, cells, 0.0).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    line = (cells - means)[seen][np.argsort(when[seen], kind="stable")]
    square = float(np.square(line).mean()) if len(line) else 0.0
    if len(line) < _FEWEST or square <= _SAME:
        return 1.0
    lags = np.arange(1, _LAGS + 1)
    spread = square * math.sqrt(float((_DECAY ** (2 * lags) * (len(line) - lags)).sum()))
    return 1 - normal_cdf(float(_lagged_products(line[None])[0]) / spread)


def common_time_ps(values: Floats, times: Floats, pairs: Counts) -> Floats:
    """Return the (pairs,) `common_time_p` of the differences of two sides, `pairs` (pairs, 2), and of their mean times.
    Values and times are (sides, topics, trials)."""
    _, topics, trials = values.shape
    found = np.ones(len(pairs))
    known = np.array([not (np.isnan(own) | np.isnan(at)).any() for own, at in zip(values, times, strict=True)])
    whole = known[pairs].all(axis=1)
    for at in np.flatnonzero(~whole).tolist():
        (first, second), (began, then) = values[pairs[at]], times[pairs[at]]
        found[at] = common_time_p(first - second, (began + then) / 2)
    if topics * trials < _FEWEST:
        return found
    lags = np.arange(1, _LAGS + 1)
    scale = math.sqrt(float((_DECAY ** (2 * lags) * (topics * trials - lags)).sum()))
    step = max(1, _AT_ONCE // (topics * trials))
    places = np.flatnonzero(whole)
    for some in (places[start : start + step] for start in range(0, len(places), step)):
        first, second = pairs[some].T
        cells, when = values[first] - values[second], (times[first] + times[second]) / 2
        lines = (cells - cells.sum(axis=2, keepdims=True) / trials).reshape(len(some), topics * trials)
        order = np.argsort(when.reshape(lines.shape), axis=1, kind="stable")
        lines = np.take_along_axis(lines, order, axis=1)
        squares, products = np.square(lines).mean(axis=1).tolist(), _lagged_products(lines).tolist()
        for at, square, product in zip(some.tolist(), squares, products, strict=True):
            if square > _SAME:
                found[at] = 1 - normal_cdf(product / (square * scale))
    return found


class _Orders:
    """Random orders of the trials of each topic, for topics with these numbers of trials. Measures and systems with as
    many trials get the same orders, so these are drawn only once."""

    def __init__(self, lengths: Sequence[int], rng: np.random.Generator) -> None:
        self._lengths, self._state = tuple(lengths), json.dumps(rng.bit_generator.state)
        self.starts = np.repeat(np.cumsum((0, *lengths[:-1])), lengths)
        """The place of the first trial of each trial's topic."""

    def draw(self, draws: int) -> Iterator[npt.NDArray[np.unsignedinteger]]:
        """Yield arrays (some of the draws, n trials) of the drawn places of trials within their topic."""
        n = len(self.starts)
        drawn_orders = _drawn_orders if draws * n <= _SHARED else _drawn_orders.__wrapped__
        drawn, self._state = drawn_orders(self._lengths, draws, self._state)
        step = max(1, _DRAWN_AT_ONCE // n)
        yield from (drawn[at : at + step] for at in range(0, draws, step))


@lru_cache(maxsize=4)
def _drawn_orders(lengths: tuple[int, ...], draws: int, state: str) -> tuple[npt.NDArray[np.unsignedinteger], str]:
    """Return (draws, n) places of trials within their topic, and the state of the generator after that in `state`."""
    rng = generator(0)
    rng.bit_generator.state = json.loads(state)
    found = np.empty((draws, sum(lengths)), dtype=np.min_scalar_type(max(lengths)))
    for own, count in zip(np.split(found, np.cumsum(lengths)[:-1], axis=1), lengths, strict=True):
        places = np.tile(np.arange(count), (draws, 1))  # whole words are permuted faster than bytes
        own[:] = rng.permuted(places, axis=1, out=places)
    return found, json.dumps(rng.bit_generator.state)


def _test_within_topics(rows: Sequence[Floats], orders: _Orders) -> TimeDependence:
    values = np.concatenate(rows)
    # With blanks of 0 between topics, no product is of two topics.
    places = np.arange(len(values)) + _LAGS * np.repeat(np.arange(len(rows)), [len(row) for row in rows])

    def statistics(draws: int) -> Floats:
        found = []
        for drawn in orders.draw(draws):
            lines = np.zeros((len(drawn), places[-1] + 1))
            lines[:, places] = values.take(drawn + orders.starts)
            found.append(_lagged_products(lines))
        return np.concatenate(found)

    seen = float(sum(float(_lagged_products(row[None])[0]) for row in rows))
    if PermutedLine.of(rows).is_settled():
        mean, variance = map(sum, zip(*(PermutedLine.of([row]).products(_WEIGHTS) for row in rows), strict=True))
        p = upper_p(seen, mean, variance)
    else:
        p = _permutation_p(seen, statistics)
    total = sum(float(np.square(row).sum()) for row in rows)
    first = sum(float((row[1:] * row[:-1]).sum()) for row in rows)
    by_chance = sum(-float(np.square(row).sum()) / len(row) for row in rows)
    shared, plain, room, free = (
        float(sum(part)) for part in zip(*(_expected_moments(len(row)) for row in rows), strict=True)
    )
    # Per unit of variance, of a share c that decays: statistic c·shared + (1-c)·plain, squares c·room + (1-c)·free.
    ratio = seen / total
    slope = (shared - plain) - ratio * (room - free)
    part = min(1.0, max(0.0, (ratio * free - plain) / slope)) if slope > _SAME else 1.0
    lengths = np.array([len(row) for row in rows], dtype=np.float64)
    means = np.array([_mean_inflation(len(row)) for row in rows])
    grown = float((means / lengths).sum() / (1 / lengths).sum())
    # The observed variance has the part of the squares that is left.
    left = (part * room + (1 - part) * free) / free
    return TimeDependence((first - by_chance) / total, p, (1 + part * (grown - 1)) / left, math.nan, 1.0)


def _test_whole_run(rows: Sequence[Floats], when: Floats, orders: _Orders) -> TimeDependence:
    order = np.argsort(when, kind="stable")
    values = np.concatenate(rows)
    line = values[order]
    ranks = np.linspace(-1, 1, len(line))

    def statistics(draws: int, of: Callable[[Floats], Floats]) -> Floats:
        starts = orders.starts[order]
        return np.concatenate([of(values.take(drawn.take(order, axis=1) + starts)) for drawn in orders.draw(draws)])

    seen = float(_lagged_products(line[None])[0])
    trend = float(line @ ranks)
    permuted = PermutedLine.of(rows, order)
    if permuted.is_settled():
        p = upper_p(seen, *permuted.products(_WEIGHTS))
        drift_p = min(1.0, 2 * upper_p(abs(trend), 0.0, permuted.weighted_variance(ranks)))
    else:
        p = _permutation_p(seen, lambda draws: statistics(draws, _lagged_products))
        drift_p = _permutation_p(abs(trend), lambda draws: statistics(draws, lambda drawn: np.abs(drawn @ ranks)))
    total = float(np.square(line).sum())
    part = min(1.0, max(0.0, seen / total / float(np.square(_WEIGHTS).sum())))
    scale = math.sqrt(total * float(np.square(ranks).sum()))
    lag = float((line[1:] * line[:-1]).sum()) / total
    return TimeDependence(lag, p, 1 + part * (_mean_inflation(len(line)) - 1), trend / scale, drift_p, True)


def _permutation_p(seen: float, draw: Callable[[int], Floats]) -> float:
    p, drawn, beyond = 1.0, 0, 0
    for draws, unsettled in _DRAWS:
        while drawn < draws:
            some = draw(min(1000, draws - drawn))
            drawn, beyond = drawn + len(some), beyond + int((some >= seen - _SAME).sum())
        p = (1 + beyond) / (1 + drawn)
        if p > unsettled:
            break
    return p


def _lagged_products(rows: Floats) -> Floats:
    found = np.zeros(len(rows))
    for lag in range(1, min(_LAGS, rows.shape[1] - 1) + 1):
        found += _DECAY**lag * (rows[:, lag:] * rows[:, :-lag]).sum(axis=1)
    return found


@lru_cache(maxsize=256)
def _expected_moments(trials: int) -> tuple[float, float, float, float]:
    if trials > _MATRIX:
        return _moments_of_sums(trials)
    apart = np.abs(np.subtract.outer(np.arange(trials), np.arange(trials)))
    centred = np.eye(trials) - 1 / trials
    shared = centred @ (_DECAY**apart) @ centred
    weights = np.where((apart > 0) & (apart <= _LAGS), _DECAY**apart, 0.0) / 2
    statistic, by_chance = (float((weights * one).sum()) for one in (shared, centred))
    return statistic, by_chance, float(np.trace(shared)), float(np.trace(centred))


def _moments_of_sums(trials: int) -> tuple[float, float, float, float]:
    """Return what `_expected_moments` does, to twelve digits, without a matrix of all pairs of trials."""
    before = _DECAY * (1 - _DECAY ** np.arange(trials)) / (1 - _DECAY)  # of each trial with those before it
    rows = (1 + before + before[::-1]) / trials
    whole = float(rows.mean())
    statistic = by_chance = 0.0
    for lag in range(1, _LAGS + 1):
        weight, pairs = _DECAY**lag, trials - lag
        statistic += weight * (pairs * (weight + whole) - float(rows[lag:].sum() + rows[:-lag].sum()))
        by_chance -= weight * pairs / trials
    return statistic, by_chance, trials * (1 - whole), float(trials - 1)


@lru_cache(maxsize=256)
def _mean_inflation(trials: int) -> float:
    """Return the factor for the variance of a mean over this number of trials, if their whole variance decays."""
    lags = np.arange(1, trials)
    return 1 + 2 * float(((1 - lags / trials) * _DECAY**lags).sum())


def _short_number(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def _p_text(p: float) -> str:
    return (
        "p < .001" if p <= 0.001 else f"p = {_short_number(p)}" if p >= 0.01 else f"p = {p:.3f}".replace("0.", ".", 1)
    )
