"""The power of a comparison of two systems and the width of its interval, by simulating the actual test.

    topics like these   exchanging the sides of topics, and an interval with an unseen topic (`compare_like_these`)
    these topics        t over trials within topics, and its interval (`compare_these`)

Many studies are drawn at once (`scoring.statistics.outcomes`) and tested at once, as those functions do. The only
difference is that all studies of a design share one set of exchanges and weights, which is smaller.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.differences import guarded_differences
from scoring.inference.interval import FEWEST
from scoring.inference.paired import Estimand, hidden_noise
from scoring.settings import Guard
from scoring.statistics.beta import beta_quantile, normal_quantile, student_quantile
from scoring.statistics.exchange import exchange_ps
from scoring.statistics.outcomes import Components, Outcomes, Trials, draw_outcomes, draw_outcomes_of_these
from topics.arrays import Floats

Bools = npt.NDArray[np.bool_]

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_DRAWS = 1999  # of exchanges: p to .0005, which moves power by less than chance does
_MANY = 200  # degrees of freedom


@dataclass(frozen=True, slots=True)
class Power:
    """Power and interval width found by simulation; NaN if the studies allow no test or no interval.

    `found` is the share of studies that distinguish the systems in the right direction, and `width` the mean width of
    the intervals. `found_error` and `width_error` are Monte Carlo standard errors.
    """

    found: float
    found_error: float
    width: float
    width_error: float


def simulate_power(
    components: Components,
    difference: float,
    topics: int,
    trials: int | Sequence[int],
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    alpha: float,
    studies: int,
    reach: float | None = None,
    guard: Guard = "unseen",
) -> Power:
    """Simulate `studies` studies of two systems whose true difference is `difference`, above 0.

    `topics` is at least 2. `trials` is the number of trials of each topic with each system, or one number per topic.
    Numbers are dealt to topics at random in every study, since it is unknown which topics vary most. `level` is the
    confidence level of the intervals, and `alpha` the level of the test, below 1 - level if several pairs are compared.
    `reach` is the largest possible difference of a topic, by default the range of the values. `guard` is as in
    `compare_like_these`. Raises ValueError for a difference that does not fit in the range of values.
    """
    check_room(components, difference)
    draw = draw_outcomes if estimand == "like-these" else draw_outcomes_of_these
    each = trials if isinstance(trials, int) else deal_trials(trials, topics, studies, rng)
    drawn = draw(components, difference, topics, each, studies, rng)
    if reach is None:
        reach = math.inf if components.shape == "unbounded" else components.high - components.low
    apart, widths = judge_studies(
        drawn, each, rng, estimand=estimand, level=level, alpha=alpha, reach=reach, guard=guard
    )
    if estimand == "these" and np.min(each) < 2:
        return Power(math.nan, math.nan, math.nan, math.nan)
    means = (drawn.values[..., 0] - drawn.values[..., 1]).mean(axis=1)
    return summarize_power(apart & (means > 0), widths)


def check_room(components: Components, difference: float) -> None:
    if components.shape != "unbounded" and not (
        components.low < components.mean - difference / 2 and components.mean + difference / 2 < components.high
    ):
        raise ValueError(f"a mean of {components.mean:g} leaves no room for a difference of {difference:g}")


def summarize_power(verdicts: Bools, widths: Floats) -> Power:
    """Summarise studies from (studies,) verdicts and (studies,) widths of intervals, NaN without an interval."""
    studies, share = len(verdicts), float(verdicts.mean())
    known = widths[~np.isnan(widths)]
    error = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.nan
    return Power(
        found=share,
        found_error=math.sqrt(max(share * (1 - share), 1 / studies) / studies),
        width=float(known.mean()) if len(known) else math.nan,
        width_error=error,
    )


def deal_trials(trials: Sequence[int], topics: int, studies: int, rng: np.random.Generator) -> Trials:
    """Deal numbers of trials to the topics of every study at random, as (studies, topics, 1)."""
    if len(trials) != topics:
        raise ValueError(f"trials must be one number, or one for each of {topics} topics, not {len(trials)} numbers")
    every = np.broadcast_to(np.asarray(trials, dtype=np.int64), (studies, topics))
    dealt: Trials = rng.permuted(every, axis=1)[..., None]
    return dealt


def judge_studies(
    drawn: Outcomes,
    trials: Trials,
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    alpha: float,
    reach: float,
    guard: Guard = "unseen",
) -> tuple[Bools, Floats]:
    """Return (studies,) verdicts and (studies,) widths of intervals at `level`; False and NaN without an interval.

    The verdict is True if `compare_like_these` or `compare_these` would give a p of at most alpha, and an interval of
    level 1 - alpha that excludes 0. `reach` is the largest possible difference.
    """
    each = drawn.values[..., 0] - drawn.values[..., 1]
    if estimand == "these":
        return _judge_these_topics(each, drawn.noise, trials, level, alpha, reach)
    p = exchange_ps(each, rng, draws=_DRAWS)
    if guard == "none":
        topics = each.shape[1]
        if topics < FEWEST:
            return np.zeros(len(each), dtype=np.bool_), np.full(len(each), np.nan)
        value, error = each.mean(axis=1), each.std(axis=1, ddof=1) / math.sqrt(topics)
        outside = np.abs(value) >= student_quantile(1 - alpha / 2, topics - 1) * error * (1 - _SAME)
        widths = _width(value, student_quantile(0.5 + level / 2, topics - 1) * error, reach)
        return (p <= alpha + _SAME) & outside & (error > _SAME), np.where(error <= _SAME, np.nan, widths)
    found = guarded_differences(each.T, np.ones((each.shape[1], 1)), level=level, reach=reach, many=True)
    return np.asarray((p <= alpha + _SAME) & (found.p <= alpha + _SAME)), found.high - found.low


def _judge_these_topics(
    each: Floats, noise: Floats, trials: Trials, level: float, alpha: float, reach: float
) -> tuple[Bools, Floats]:
    studies, topics = each.shape
    apart, widths = np.zeros(studies, dtype=np.bool_), np.full(studies, np.nan)
    hidden, behind = hidden_noise(noise, np.broadcast_to(np.asarray(trials, dtype=np.float64), noise.shape), reach)
    variance = noise.sum(axis=(1, 2)) + hidden.sum(axis=1)
    some = variance > _SAME**2  # also False of NaN: single trials
    if not some.any():
        return apart, widths
    own, value = variance[some], each[some].mean(axis=1)
    squares = (np.square(noise) / (trials - 1)).sum(axis=(1, 2)) + (np.square(hidden) / behind).sum(axis=1)
    squares = squares[some]
    degrees = np.maximum(1.0, np.floor(own**2 / squares + _SAME))
    error = np.sqrt(own) / topics
    reached = _quantiles(degrees, level)
    widths[some] = _width(value, reached * error, reach)
    needed = reached if math.isclose(alpha, 1 - level) else _quantiles(degrees, 1 - alpha)
    apart[some] = np.abs(value) >= needed * error * (1 - _SAME)
    return apart, widths


def _quantiles(degrees: Floats, level: float) -> Floats:
    """Return (n,) values of `student_quantile` for many degrees of freedom at once.

    Large degrees use the series around the normal quantile (Abramowitz and Stegun 1964, 26.7.5), accurate to 8 digits,
    because exact values would take most of the simulation's time.
    """
    different, places = np.unique(degrees, return_inverse=True)
    few = different < _MANY
    at = beta_quantile(1 - level, different[few] / 2, 0.5)
    z = normal_quantile(0.5 + level / 2)
    series = (
        z * (z**2 + 1) / 4,
        z * (5 * z**4 + 16 * z**2 + 3) / 96,
        z * (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / 384,
        z * (79 * z**8 + 776 * z**6 + 1482 * z**4 - 1920 * z**2 - 945) / 92160,
    )
    of_many = z + sum(term / different[~few] ** power for power, term in enumerate(series, 1))
    found = np.concatenate([np.sqrt(different[few] * (1 - at) / at), of_many])
    reached: Floats = found[places]
    return reached


def _width(value: Floats, half: Floats, reach: float) -> Floats:
    return np.minimum(reach, value + half) - np.maximum(-reach, value - half)
