"""From the aligned cells of systems to what can be said of each pair of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from scoring.comparison.aligned import Aligned
from scoring.comparison.result import Driver, MeasureComparison, Pair, Verdict
from scoring.inference.paired import (
    Estimand,
    Needed,
    Paired,
    compare_like_these,
    compare_these,
    needed,
    residual_variance,
)
from scoring.inference.sessions import compare_sessions, needed_sessions
from scoring.measure import Good
from scoring.statistics.exchange import holm, least_p
from scoring.statistics.tukey import letters, tukey_p, undistinguished

__all__ = ["compare_pairs"]

Floats = npt.NDArray[np.float64]

_SAME = 1e-12


def compare_pairs(
    measure: str,
    turn: int | None,
    aligned: Aligned,
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    good: Good,
    reach: float,
    topic_type: str | None = None,
) -> MeasureComparison:
    """Every pair of the systems. good: which end of the measure is. reach: how far apart figures can be at most.

    Corrected p: of topics like these by the randomised Tukey HSD; of these topics, of ratios of sums, and where
    sessions of a system run through all topics, by Holm's method. A system whose first turn seldom fails has a noisier
    %recovery, and to permute its values among systems that are less noisy makes .07 errors of .05.
    """
    values, figures = aligned.values, aligned.figures
    places = list(combinations(range(len(aligned.systems)), 2))
    paired = [_paired(aligned, values, place, rng, estimand, level, reach) for place in places]
    corrected = np.full((len(aligned.systems),) * 2, math.nan)
    if estimand == "these" or aligned.pooled or aligned.sessions.any():
        for (one, other), p in zip(places, holm([pair.p for pair in paired]), strict=True):
            corrected[one, other] = corrected[other, one] = p
    elif values.size and not np.isnan(values).any():
        corrected = tukey_p(values, rng)
    alpha = 1 - level + _SAME
    best = np.argsort(figures if good == "low" else -figures, kind="stable")
    sets = letters(undistinguished(corrected, alpha), [int(place) for place in best])
    spread = residual_variance(values) if values.size and not np.isnan(values).any() else math.nan
    least = least_p(len(aligned.topics)) if estimand == "like-these" else math.nan
    pairs = tuple(
        _pair(
            aligned, values, place, found, corrected[place], spread, least, alpha / len(places), estimand, alpha, good
        )
        for place, found in zip(places, paired, strict=True)
    )
    return MeasureComparison(
        measure=measure,
        turn=turn,
        topic_type=topic_type,
        estimand=estimand,
        figures={name: float(figure) for name, figure in zip(aligned.systems, figures, strict=True)},
        topics=aligned.topics,
        left_out=aligned.left_out,
        trials=(int(aligned.trials.min(initial=2**31)), int(aligned.trials.max(initial=0))) if values.size else (0, 0),
        pairs=pairs,
        letters=dict(zip(aligned.systems, sets, strict=True)),
        pooled=aligned.pooled,
        sessions={name: int(count) for name, count in zip(aligned.systems, aligned.sessions, strict=True) if count},
    )


def _paired(
    aligned: Aligned,
    values: Floats,
    place: tuple[int, int],
    rng: np.random.Generator,
    estimand: Estimand,
    level: float,
    reach: float,
) -> Paired:
    each, sides = values[:, place[0]] - values[:, place[1]], list(place)
    if aligned.sessions[sides].any():
        whole, counts = aligned.shared[sides], aligned.sessions[sides]
        noise = aligned.noise[:, sides]
        return compare_sessions(each, noise, whole, counts, estimand=estimand, level=level, reach=reach)
    if estimand == "these":
        return compare_these(each, aligned.noise[:, place], aligned.trials[:, place], level=level, reach=reach)
    return compare_like_these(each, rng, level=level, reach=reach)


def _pair(
    aligned: Aligned,
    values: Floats,
    place: tuple[int, int],
    found: Paired,
    corrected: float,
    spread: float,
    least: float,
    share_of_alpha: float,
    estimand: Estimand,
    alpha: float,
    good: Good,
) -> Pair:
    first, second = place
    if aligned.sessions[[first, second]].any():
        least = math.nan  # nothing is exchanged
    each = values[:, first] - values[:, second]
    apart = aligned.own[:, first] - aligned.own[:, second]
    apart = np.where(np.abs(apart) <= _SAME, 0.0, apart[:]) * (-1 if good == "low" else 1)
    return Pair(
        first=aligned.systems[first],
        second=aligned.systems[second],
        value=found.value,
        interval=found.interval,
        p=found.p,
        corrected=corrected,
        least=least,
        effect=abs(found.value) / math.sqrt(spread) if spread > _SAME**2 else math.nan,
        wins=int((apart > 0).sum()),
        ties=int((apart == 0).sum()),
        losses=int((apart < 0).sum()),
        drivers=tuple(_drivers(aligned, each, first, second)),
        needed=_needed(aligned, each, [first, second], share_of_alpha, estimand),
        verdict=_verdict(found.value, corrected, least, alpha, good),
    )


def _needed(aligned: Aligned, each: Floats, place: list[int], alpha: float, estimand: Estimand) -> Needed:
    noise, trials = aligned.noise[:, place], aligned.trials[:, place]
    if not aligned.sessions[place].any():
        return needed(each, noise, trials, alpha=alpha, estimand=estimand)
    whole, counts = aligned.shared[place], aligned.sessions[place]
    return needed_sessions(each, noise, whole, counts, trials, alpha=alpha, estimand=estimand)


def _verdict(value: float, corrected: float, least: float, alpha: float, good: Good) -> Verdict:
    if math.isnan(value):
        return "no value"
    if corrected <= alpha:
        if good == "neither":
            return "higher" if value > 0 else "lower"
        return "better" if (value > 0) == (good == "high") else "worse"
    return "too few" if least > alpha else "cannot tell"


def _drivers(aligned: Aligned, each: Floats, first: int, second: int) -> Iterator[Driver]:
    whole = float(each.sum())
    if len(each) < 2 or math.isnan(whole) or abs(whole) <= _SAME:
        return
    shares = each / whole
    for row in np.argsort(-shares, kind="stable"):
        yield Driver(aligned.topics[row], float(shares[row]), aligned.without(int(row), first, second))
