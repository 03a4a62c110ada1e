"""The worst case of a score: quantile, CVaR, the worst value seen, probability below a threshold.

    Q_β         the least x with P(score <= x) >= β
    CVaR_β      mean of the worst β of the probability mass. The last score counts with the fraction of its mass that
                is needed; β = 1 is the mean (Rockafellar and Uryasev 2002, J. Banking & Finance 26)

The worst scores are low or high (`worst`): a low R is bad, and so is a high latency. Q_β always counts from the lowest
score.

Pooled over topics and trials, both figures have the interval of `scoring.inference.unseen_topic`: topics with all their
trials get random weights, and part of a topic that was not asked is added. Every trial of that topic has the lowest
possible score (for the low end) or the highest (for the high end). The tail, a share β of the topics or 1 - β for a
quantile above the middle, must contain four topics. With two topics in the tail, the interval of the quantile .9 of 22
topics covers .91 if one topic in ten is thirty times as slow as the rest. With four, coverage was at least .93 in all
simulations. The percentiles of a two-stage bootstrap (.87 to .93 for two kinds of topics) and 2·estimate - mean of the
bootstrap ± t (.79 to .94) cover less.

The mean of the highest scores of a measure without a top, such as latency, depends on a few topics. With 45 topics its
interval covers .72 if 3% of topics are ten times as slow, and .92 if topics are lognormal (σ 1.5), so it needs 150
topics. The unseen topic then scores up to three times the highest score. With up to twice the highest, coverage is .90
for scores with a Pareto tail of exponent 1.7.

Within a topic, few trials cannot show the tail at all: with 5 trials and β = .25 the estimate is .10 too high and its
interval never covers the true value. `within_topics` refuses fewer than 10/β trials, or 10/(1 - β) above the middle.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, METHOD, Interval, no_interval
from scoring.inference.unseen_topic import drawn_weights, smallest_reach
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import generator

TailKind = Literal["cvar", "quantile"]

# Which scores are the worst: the smallest or the greatest.
Worst = Literal["low", "high"]

# Words for the smallest and the greatest scores in a sentence.
ENDS: dict[Worst, tuple[str, str]] = {"low": ("worst", "best"), "high": ("best", "worst")}

_BYTES = 64 * 2**20  # of weights drawn at a time
_CRUMB = 1e-12  # tolerance of probabilities, so that .1 + .2 reaches a β of .3
_OF_TOPLESS = 150  # units needed for a mean of the greatest scores without a top
_BEYOND_TOPLESS = 3.0  # the largest unseen score in that case, in multiples of the greatest score


@dataclass(frozen=True, slots=True)
class Tail:
    """The tail of a score; figures are NaN for n = 0.

    - `quantile`, `cvar`, `extreme`: Q_β and CVaR_β at `beta`, and the worst score.
    - `n`, `topics`: the numbers of scores and of their topics.
    - `undefined`: the number of trials without a score (NaN), which are left out.
    """

    beta: float
    quantile: float
    cvar: float
    extreme: float
    quantile_interval: Interval
    cvar_interval: Interval
    n: int
    topics: int
    undefined: int


def lower_quantile(values: npt.ArrayLike, beta: float, weights: npt.ArrayLike | None = None) -> float:
    """Return Q_β of (n,) values, β in (0, 1], with (n,) probabilities or equal weights; NaN for n = 0."""
    ordered, mass = _order_scores(values, weights, beta)
    if not ordered.size:
        return math.nan
    reached = np.cumsum(mass)
    return float(ordered[min(int(np.searchsorted(reached, beta * reached[-1] - _CRUMB)), len(ordered) - 1)])


def cvar(values: npt.ArrayLike, beta: float, weights: npt.ArrayLike | None = None, *, worst: Worst = "low") -> float:
    """Return CVaR_β, in the range of the values; NaN for n = 0. Arguments are as for `lower_quantile`."""
    if worst == "high":
        return -cvar(-np.asarray(values, dtype=np.float64), beta, weights)
    ordered, mass = _order_scores(values, weights, beta)
    return float(_worst(ordered, np.cumsum(mass)[None, :], beta)[0]) if ordered.size else math.nan


def probability_below(values: npt.ArrayLike, threshold: float, weights: npt.ArrayLike | None = None) -> float:
    """Return P(score < threshold), in [0, 1]; NaN for n = 0. A score equal to the threshold is not below it."""
    ordered, mass = _order_scores(values, weights, 1.0)
    return float(mass[ordered < threshold].sum() / mass.sum()) if ordered.size else math.nan


def tail_share(kind: TailKind, beta: float) -> float:
    """Return the share of scores in the tail, in [0, 1]: β, or 1 - β for a quantile above the middle."""
    return min(beta, 1 - beta) if kind == "quantile" else beta


def units_needed(kind: TailKind, beta: float, *, worst: Worst = "low", top: float = 1.0) -> float:
    """Return the number of topics, or of trials of a single topic, that an interval needs.

    The result is infinite if no number is enough, as for the highest possible score (a quantile with β = 1).
    """
    share = tail_share(kind, beta)
    needed = math.ceil(FEWEST / share - _CRUMB) if share > _CRUMB else math.inf
    return max(needed, _OF_TOPLESS) if kind == "cvar" and worst == "high" and math.isinf(top) else needed


def pooled_tail(
    topics: Sequence[str],
    values: npt.ArrayLike,
    beta: float,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    replications: int = 2000,
    top: float = 1.0,
    worst: Worst = "low",
    called: tuple[str, str] | None = None,
) -> Tail:
    """Return the tail of all topics and trials together, in which bad topics count as much as bad luck.

    - `values`: (topics, trials) scores of at least 0, NaN if missing.
    - `rng`: the generator, from which one number is drawn.
    - `top`: the highest possible score; infinite if unknown, as for R and latency.
    - `worst`: whether CVaR is the mean of low or of high scores.
    - `called`: words for the lowest and the highest scores, such as ("fastest", "slowest"); None for `ENDS`.

    With one topic, trials are the units of the intervals. There is no interval on fewer than `units_needed`, or if all
    scores, or both ends, are equal. A topic with an invalid trial weighs slightly less.
    """
    cells = _cells(topics, values)
    _check(beta, level, replications)
    seed = int(rng.integers(2**63))
    names, unit = list(topics), "topic"
    if len(names) == 1:
        cells, names, unit = cells.T, [str(number) for number in range(1, cells.shape[1] + 1)], "trial"
    seen = ~np.isnan(cells)
    rows: npt.NDArray[np.bool_] = np.asarray(seen.any(axis=1))
    flat = cells[seen]
    n, units = int(seen.sum()), int(rows.sum())
    count, undefined = min(units, len(topics)), int(cells.size - n)
    if not n:
        none = no_interval("no value")
        return Tail(beta, math.nan, math.nan, math.nan, none, none, 0, 0, undefined)
    values_of = lower_quantile(flat, beta), cvar(flat, beta, worst=worst), _extreme(flat, worst)
    words = called or ENDS[worst]
    refused = {kind: _refusal_reason(kind, beta, units, unit, worst, top, words) for kind in _KINDS}
    if flat.min() == flat.max():
        refused = {kind: why or "every score is the same" for kind, why in refused.items()}
    intervals = {kind: no_interval(why) for kind, why in refused.items()}
    named = [name for name, row in zip(names, rows.tolist(), strict=True) if row]
    drawn, how = (cells[rows], seen[rows], beta), (replications, level)

    def stream() -> np.random.Generator:  # both tails have the same weights
        return generator(seed, "tails", repr(named))

    ends: dict[TailKind, tuple[float, float]] = {}
    if not refused["quantile"] or (worst == "low" and not refused["cvar"]):
        most = top if math.isfinite(top) else smallest_reach(units) * float(flat.max())
        ends = dict(zip(_KINDS, _ends(*drawn, most, stream(), *how), strict=True))
    if worst == "high" and not refused["cvar"]:
        # The mean of the greatest β follows from the mean of the smallest distances from the top.
        most = top if math.isfinite(top) else _BEYOND_TOPLESS * float(flat.max())
        low, high = _ends(most - drawn[0], *drawn[1:], most, stream(), *how)[1]
        ends["cvar"] = most - high, most - low
    for kind, (low, high) in ends.items():
        if refused[kind]:
            continue
        if low == high:  # for example a quantile of many scores of 0: [v, v] would claim too much
            intervals[kind] = no_interval(f"no interval: nearly all resamples give {low:.4g}")
        else:
            assumes = f"{unit}s are independent draws"
            intervals[kind] = Interval(low, high, f"{METHOD} {unit}", f"{unit}s", assumes=assumes)
    return Tail(beta, *values_of, intervals["quantile"], intervals["cvar"], n, count, undefined)


_KINDS: tuple[TailKind, TailKind] = ("quantile", "cvar")


def _extreme(scores: Floats, worst: Worst) -> float:
    return float(np.nanmin(scores) if worst == "low" else np.nanmax(scores))


def _refusal_reason(
    kind: TailKind, beta: float, units: int, unit: str, worst: Worst, top: float, called: tuple[str, str]
) -> str:
    needed, share = units_needed(kind, beta, worst=worst, top=top), tail_share(kind, beta)
    if units >= needed:
        return ""
    upper = worst == "high" if kind == "cvar" else beta > 0.5
    end = called[1] if upper else called[0]
    if math.isinf(needed):
        return f"no number of {unit}s shows the {end} score there can be"
    enough = f"so an interval needs {needed:g} {unit}s (here {units})"
    if units * share >= FEWEST - _CRUMB:
        return f"the mean of the {end} {100 * share:g}% depends on a few {unit}s, {enough}; a quantile needs fewer"
    return f"the {end} {100 * share:g}% must hold at least {FEWEST} {unit}s, {enough}"


def trials_needed(beta: float, kind: TailKind = "cvar") -> float:
    """Return how many trials per topic put ten in the tail; infinite for a quantile with β = 1."""
    _check(beta, 0.95, 100)
    share = tail_share(kind, beta)
    return math.ceil(10 / share - _CRUMB) if share > _CRUMB else math.inf


def within_topics(
    topics: Sequence[str],
    values: npt.ArrayLike,
    beta: float,
    *,
    kind: TailKind = "cvar",
    worst: Worst = "low",
    called: tuple[str, str] | None = None,
) -> Tail:
    """Return the mean over topics of each topic's own Q_β, CVaR_β and worst score: bad luck, given the topic.

    `kind` is the figure that will be used, and all other arguments are as for `pooled_tail`. Estimates are biased in
    favour of the system. There is no interval, since no known method covers well. Raises InputError if a topic has
    fewer than `trials_needed` scores.
    """
    cells = _cells(topics, values)
    needed, share = trials_needed(beta, kind), tail_share(kind, beta)
    if math.isinf(needed):
        raise InputError(
            f"beta={beta:g} asks for the highest score of a topic, which no number of trials can show",
            allowed="beta below 1",
            advice="use beta=0.9, which one trial in ten exceeds",
        )
    counts = (~np.isnan(cells)).sum(axis=1)
    short = np.flatnonzero(counts < needed)
    if short.size:
        row = int(short[np.argmin(counts[short])])
        has = int(counts[row])
        others = f" ({short.size} topics have too few)" if short.size > 1 else ""
        words = called or ENDS[worst]
        end = words[(worst == "high") if kind == "cvar" else beta > 0.5]
        # The tail of all trials is their mean, for which any number of trials is enough.
        otherwise = (
            "ask for the plain mean of the measure"
            if share >= 1
            else f"take a share nearer to 0.5 than {beta:g}"
            if kind == "quantile"
            else f"take a larger share than {beta:g}"
        )
        raise InputError(
            f"the {end} {100 * share:g}% of each topic's trials cannot be estimated from so few: topic {topics[row]!r} "
            f"has {has} trial{'s' if has != 1 else ''} with a score{others}",
            allowed=f"at least {needed:g} trials with a score of each topic (10 divided by {share:g})",
            advice=f"play {needed - has:g} more, {otherwise}, or ask for the worst case over all topics and trials "
            "together",
        )
    none = no_interval("no interval covers the worst case within topics")
    each = np.array([[lower_quantile(row, beta), cvar(row, beta, worst=worst), _extreme(row, worst)] for row in cells])
    quantile, mean, extreme = each.mean(axis=0).tolist() if len(each) else (math.nan,) * 3
    n = int(counts.sum())
    return Tail(beta, quantile, mean, extreme, none, none, n, len(cells), int(cells.size - n))


def _ends(
    cells: Floats,
    seen: npt.NDArray[np.bool_],
    beta: float,
    top: float,
    rng: np.random.Generator,
    replications: int,
    level: float,
) -> list[tuple[float, float]]:
    """Return the ends of Q_β and of CVaR_β. The unseen topic scores 0 for the low ends and `top` for the high ends."""
    units, trials = len(cells), seen.sum(axis=1)
    of, each = np.repeat(np.arange(units), trials), cells[seen]
    order = np.lexsort((of, each))
    of, scores = of[order], each[order]
    # Equal scores of a topic get one weight: the many trials of a merged tree have few different scores.
    first = np.append(True, (np.diff(scores) > 0) | (np.diff(of) != 0))
    often = np.diff(np.flatnonzero(np.append(first, True)))
    of, scores = of[first], scores[first]
    often = often / trials.mean()  # a topic with an invalid trial weighs a little less, as in the estimate
    low, high = np.empty((replications, 2)), np.empty((replications, 2))
    size = max(1, _BYTES // (8 * len(scores)))
    for start in range(0, replications, size):
        part = slice(start, start + size)
        weights = drawn_weights(rng, units, len(low[part])).T
        mass, unseen = weights[:, of] * often, weights[:, -1:]
        low[part] = _tail(np.append(0.0, scores), np.append(unseen, mass, axis=1), beta)
        high[part] = _tail(np.append(scores, top), np.append(mass, unseen, axis=1), beta)
    tail = (1 - level) / 2
    lows, highs = np.quantile(low, tail, axis=0), np.quantile(high, 1 - tail, axis=0)
    return [(float(first), float(last)) for first, last in zip(lows, highs)]


def _tail(ordered: Floats, mass: Floats, beta: float) -> Floats:
    reached = np.cumsum(mass, axis=1)
    at = (reached < beta * reached[:, -1:] - _CRUMB).sum(axis=1)
    return np.stack([ordered[np.minimum(at, len(ordered) - 1)], _worst(ordered, reached, beta)], axis=1)


def _worst(ordered: Floats, reached: Floats, beta: float) -> Floats:
    wanted = beta * reached[:, -1:]
    taken = np.diff(np.minimum(reached, wanted), axis=1, prepend=0.0)
    found: Floats = (taken * ordered).sum(axis=1) / wanted[:, 0]
    return np.clip(found, ordered[0], ordered[-1])


def _order_scores(values: npt.ArrayLike, weights: npt.ArrayLike | None, beta: float) -> tuple[Floats, Floats]:
    _check(beta, 0.95, 100)
    given = np.asarray(values, dtype=np.float64)
    mass = np.ones(given.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or mass.shape != given.shape or not np.all(np.isfinite(mass)) or np.any(mass < 0):
        raise ValueError("each score needs a weight of at least 0")
    kept = ~np.isnan(given) & (mass > 0)
    given, mass = given[kept], mass[kept]
    order = np.argsort(given, kind="stable")
    return given[order], mass[order] / mass.sum() if len(order) else mass


def _cells(topics: Sequence[str], values: npt.ArrayLike) -> Floats:
    cells = np.asarray(values, dtype=np.float64)
    if cells.ndim != 2 or len(cells) != len(topics) or np.any(np.isinf(cells)):
        raise ValueError(f"scores must be ({len(topics)} topics, trials), finite or NaN")
    return cells


def _check(beta: float, level: float, replications: int) -> None:
    if not 0 < beta <= 1:
        raise InputError(
            f"{beta:g} is not a share of the worst scores",
            allowed="a number above 0 and up to 1",
            advice="use 0.25 for the worst quarter: a fraction, not a percentage",
        )
    if not 0.5 <= level <= 0.9999:
        raise InputError(
            f"{level:g} is not a level of confidence",
            allowed="a number from 0.5 to 0.9999",
            advice="use 0.95, the usual level: a fraction, not a percentage",
        )
    if not 100 <= replications <= 1_000_000:
        raise InputError(
            f"{replications} is not a number of replications",
            allowed="a whole number, 100 to 1000000",
            advice="use 2000: with fewer, the ends of intervals are unstable",
        )
