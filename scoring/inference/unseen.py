"""The probability that the next trial does something new: the Good-Turing estimate of unseen mass, with its error.

    estimate = f1/n          f1: kinds that were seen exactly once in n trials (Good 1953, Biometrika 40, 237-264)

Its standard error comes from Esty's limit law (1983, Annals of Statistics 11, 905-912): the variance is (u(1 - u) +
2·f2/n)/n, with f2 the kinds seen exactly twice. The upper end of the interval is the largest u with |f1/n - u| <=
z·sqrt(variance), as in Wilson's interval, so that the interval does not collapse at f1 = 0. The lower end is the
smaller of the smallest such u and the plain end (u = f1/n in the variance): a kind seen just once may have been the
last unseen kind, so with few such kinds the interval includes 0. f2 is increased by one, and both ends are moved
outwards by half a trial: without these corrections the intervals cover .67 to .94 with 5 to 20 trials.

Over several topics (`unseen_over_topics`) the question is about a trial of another topic, and the estimate is the share
of trials whose kind no other topic showed: five equal trials of one topic count as one kind seen once.

Known limits, which no formula cures:
- Trials must be independent and alike. This excludes trials of one continued session and trials of a system that
  changed.
- The estimate shows how much is unseen, but not how many kinds or which kinds.
- With one trial the estimate is 1, and with few trials it moves in steps of 1/n: always read it together with n.
- The merge key decides what a kind is: with exact texts nearly every answer is new, and the estimate is high.
- On average the estimate is too high by at most 1/n, since it estimates the mass that n - 1 trials leave unseen.
- The intervals are cautious if little is unseen and few kinds are rare; docs/calibration.md shows their coverage.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import normal_quantile
from topics.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class UnseenMass:
    """The estimated probability of something new, as arrays of any shape (...).

    - `estimate`, `low`, `high`: the estimate and its interval, in [0, 1]; NaN for n = 0.
    - `n`: the number of trials.
    - `once`, `twice`: the numbers of kinds seen exactly once and twice. Over topics, `once` is the number of trials
      whose kind no other topic showed.
    """

    estimate: Floats
    low: Floats
    high: Floats
    n: npt.NDArray[np.int64]
    once: npt.NDArray[np.int64]
    twice: npt.NDArray[np.int64]

    def withhold_estimate(self) -> "UnseenMass":
        """Return the counts without an estimate, for dependent trials."""
        nothing = np.full_like(self.estimate, np.nan)
        return replace(self, estimate=nothing, low=nothing, high=nothing)


def unseen_mass(once: npt.ArrayLike, twice: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> UnseenMass:
    """Estimate the probability that the next trial is of a kind not seen so far.

    `once` and `twice` are (...) numbers of kinds seen exactly once and twice, and `n` is (...) the number of trials, at
    least once + 2·twice. The three arrays broadcast. The confidence `level` is in (0, 1). Raises ValueError for
    impossible counts.
    """
    f1, f2, trials = np.broadcast_arrays(*(np.asarray(part, dtype=np.int64) for part in (once, twice, n)))
    if not 0 < level < 1:
        raise ValueError(f"level must be inside (0, 1), not {level}")
    if np.any(f1 < 0) or np.any(f2 < 0) or np.any(f1 + 2 * f2 > trials):
        raise ValueError("once and twice must be at least 0, and once + 2·twice at most n")
    z2, some = normal_quantile(0.5 + level / 2) ** 2, trials > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        found = f1 / trials
        # n(f1/n - u)² = z²(u(1 - u) + 2·pairs/n), solved for u.
        pairs, further = f2 + 1.0, 0.5 / trials
        middle = (f1 + z2 / 2) / (trials + z2)
        constant = (f1 * found - 2 * z2 * pairs / trials) / (trials + z2)
        half = np.sqrt(np.maximum(middle * middle - constant, 0.0))
        plain = np.sqrt(z2 * (found * (1 - found) + 2 * pairs / trials) / trials)
        low = np.clip(np.minimum(middle - half, found - plain) - further, 0.0, found)
        high = np.clip(middle + half + further, found, 1.0)
    return UnseenMass(
        np.where(some, found, np.nan), np.where(some, low, np.nan), np.where(some, high, np.nan), trials, f1, f2
    )
