"""The length of stay: survival of dialogues by user turns, and the distance between two groups.

The survival after t turns is the share of users who make more than t turns. Dialogues that were cut off count for as
long as they were observed (Kaplan-Meier): S(t) = Π over k ≤ t of (1 - d_k / n_k). d_k is the number of users who left
after exactly k turns, and n_k the number whose decision after k turns was observed. A dialogue cut off at L turns is in
n_k for k < L: it is unknown whether its user would have left after L.

Source: E. L. Kaplan, P. Meier, JASA 53, 1958; intervals by the log(-log) transform of Greenwood's variance, as in J. D.
Kalbfleisch, R. L. Prentice, The Statistical Analysis of Failure Time Data, 2nd ed. 2002, §1.4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recordings.acts.dialogue import Dialogue
from scoring.statistics.beta import normal_quantile
from topics.arrays import Counts, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Survival:
    """A survival curve, as arrays over t = 0 … T user turns, with T the longest dialogue.

    `share` is S(t), with S(0) = 1. It is NaN from the first t after which no decision was observed, unless all users
    had left before. `low` and `high` are the ends of its interval at confidence `level`, NaN if S is 0, 1 or NaN.
    `left` is d_t, and `at_risk` is n_t; at t = 0, `at_risk` counts all dialogues.
    """

    share: Floats
    low: Floats
    high: Floats
    left: Counts
    at_risk: Counts
    level: float

    @property
    def last_known_turn(self) -> int:
        """The last t for which S(t) is known."""
        return int(np.flatnonzero(~np.isnan(self.share))[-1])

    @property
    def median(self) -> float:
        """The number of user turns after which at most half of the users remain; NaN if more than half do."""
        low = np.flatnonzero(self.share <= 0.5)
        return float(low[0]) if low.size else math.nan


def survival(dialogues: Sequence[Dialogue], *, level: float = 0.95) -> Survival:
    """Return the survival curve of dialogues. Raises ValueError for no dialogue, or for a level outside (0, 1)."""
    if not dialogues or not 0 < level < 1:
        raise ValueError("a survival curve needs at least one dialogue, and a level inside (0, 1)")
    lengths = np.array([one.length for one in dialogues])
    ended = np.array([one.ended for one in dialogues])
    size = int(lengths.max()) + 1
    left = np.bincount(lengths[ended], minlength=size)
    cut = np.bincount(lengths[~ended], minlength=size)
    at_risk = len(dialogues) - np.concatenate(([0], np.cumsum(left + cut)[:-1])) - cut
    at_risk[0] = len(dialogues)
    share, spread = np.ones(size), np.zeros(size)
    for t in range(1, size):
        if share[t - 1] == 0:
            share[t] = 0.0
        elif at_risk[t] == 0 or math.isnan(share[t - 1]):
            share[t] = np.nan
        else:
            n, d = int(at_risk[t]), int(left[t])
            share[t] = share[t - 1] * (n - d) / n
            spread[t] = spread[t - 1] + (d / (n * (n - d)) if n > d else math.inf)
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    inside = (share > 0) & (share < 1)
    logs = np.log(share[inside])
    reach = normal_quantile(0.5 + level / 2) * np.sqrt(spread[inside]) / np.abs(logs)
    low[inside], high[inside] = np.exp(logs * np.exp(reach)), np.exp(logs * np.exp(-reach))
    return Survival(share, low, high, left, at_risk, level)


@dataclass(frozen=True, slots=True)
class LengthGap:
    """The distance between the lengths of two groups; all NaN if a group has no dialogue.

    `ks` is the Kolmogorov-Smirnov distance, the largest |S1(t) - S2(t)|, in [0, 1]. `wasserstein` is Σ |S1(t) - S2(t)|,
    the mean change in user turns that makes the groups equal. Both distances are over t = 0 … `horizon`, the last t for
    which both curves are known; without censoring, all lengths are covered. Both distances are NaN if the horizon is 0,
    because one group then has no observed decision. `beyond` is the larger of the two shares of users who remain at the
    horizon, 0 if nothing was cut off.
    """

    ks: float
    wasserstein: float
    horizon: int
    beyond: float


def length_gap(real: Sequence[Dialogue], simulated: Sequence[Dialogue]) -> LengthGap:
    """Return the distance between the lengths of two groups, in user turns."""
    if not real or not simulated:
        return LengthGap(math.nan, math.nan, 0, math.nan)
    curves = [survival(side) for side in (real, simulated)]
    horizon = _horizon(curves)
    first, second = np.zeros((2, horizon + 1))  # a curve that is at 0 stays there
    for padded, curve in zip((first, second), curves, strict=True):
        share = curve.share[: curve.last_known_turn + 1][: horizon + 1]
        padded[: len(share)] = share
    beyond = float(max(first[-1], second[-1]))
    if not horizon:
        return LengthGap(math.nan, math.nan, 0, beyond)
    apart = np.abs(first - second)
    return LengthGap(float(apart.max()), float(apart.sum()), horizon, beyond)


def cut_at_horizon(groups: Sequence[Sequence[Dialogue]]) -> list[list[Dialogue]]:
    """Cut every dialogue one turn after the last t for which all curves are known, to compare groups fairly. At a
    horizon of 0, one turn of each dialogue remains. No group may be empty."""
    horizon = _horizon([survival(group) for group in groups])
    return [
        [replace(one, turns=one.turns[: horizon + 1], ended=False) if one.length > horizon else one for one in group]
        for group in groups
    ]


def _horizon(curves: Sequence[Survival]) -> int:
    """Return the last t for which all curves are known. A curve that has reached 0 is known for all later t."""
    known = [curve.last_known_turn for curve in curves if curve.share[curve.last_known_turn] > 0]
    return min(known) if known else max(curve.last_known_turn for curve in curves)
