"""The numbers of topics or trials needed to detect an observed or planned difference."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scoring.inference.differences import FEWEST_OPEN, unseen_positions
from scoring.inference.paired import Estimand
from scoring.inference.unseen_topic import UNSEEN
from scoring.settings import Guard
from scoring.statistics.beta import beta_quantile, normal_quantile
from scoring.statistics.exchange import fewest_units

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_POWER = 0.8  # by convention (Cohen 1988)


@dataclass(frozen=True, slots=True)
class NeededSize:
    """The numbers that would detect a difference as large as the observed one, in four of five studies.

    `topics` assumes the present trials of each topic, and `trials`, the number for each topic, assumes the present
    topics. A number is infinite if no study is large enough, and NaN if unknown.
    """

    topics: float
    trials: float

    def omit_reached(self, topics: int, trials: int) -> "NeededSize":
        """Return a copy in which numbers that have already been reached are NaN."""
        return NeededSize(
            math.nan if self.topics <= topics else self.topics, math.nan if self.trials <= trials else self.trials
        )


def needed(
    differences: npt.ArrayLike,
    noise: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    alpha: float,
    estimand: Estimand,
    reach: float = math.inf,
    guard: Guard = "unseen",
) -> NeededSize:
    """Estimate how many topics or trials would detect a true difference equal to the observed one.

    `noise` and `trials` are (T, 2) as in `compare_these`, and show which part of the variance is due to trials. `alpha`
    is the level of the test, corrected for the number of pairs. `reach` and `guard` are as in `compare_like_these`.

    For topics like these, the result is the fewest topics, and the fewest trials, for which the observed difference
    reaches `detectable_difference` and a small enough p is possible. Without an unseen topic (`guard` none), the number
    of topics is z²·s²/d² + z_α²/2. For these topics, the number of trials solves (w/f)/T = d²/z² (Sakai 2018, ch. 6;
    Miller 2024, eq. 9).
    """
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    if len(each) < 2 or np.isnan(each).any():
        return NeededSize(math.nan, math.nan)
    size, count = abs(float(each.mean())), len(each)
    if size <= _SAME:
        return NeededSize(math.inf, math.inf)
    spread = float(each.var(ddof=1))
    within = float(own.sum(axis=1).mean()) if not np.isnan(own).any() else math.nan
    now = float(np.asarray(trials, dtype=np.float64).mean())
    if estimand == "these":
        squared = (normal_quantile(1 - alpha / 2) + normal_quantile(_POWER)) ** 2
        return NeededSize(
            math.nan, math.ceil(now * squared * within / (count * size**2)) if within == within else within
        )
    far = 0.0
    if guard == "unseen":
        far = size + (reach if math.isfinite(reach) else float(np.abs(unseen_positions(each[:, None])).max()))
    fewest = max(fewest_units(alpha), FEWEST_OPEN if guard == "unseen" and math.isinf(reach) else 0)

    def is_enough(topics: float, variance: float) -> bool:
        return size >= detectable_difference(topics, math.sqrt(max(0.0, variance)), far, alpha)

    topics = max(fewest, smallest_sufficient(lambda number: is_enough(number, spread)))
    if count < fewest:  # no number of trials makes p smaller
        return NeededSize(topics, math.inf)
    if math.isnan(within):
        return NeededSize(topics, math.nan)
    between = max(0.0, spread - within)
    return NeededSize(topics, smallest_sufficient(lambda number: is_enough(count, between + within * now / number)))


def detectable_difference(topics: float, deviation: float, far: float, alpha: float) -> float:
    """Return the smallest difference that this number of topics detects in four of five studies.

    `deviation` is the standard deviation of topics' differences. `far` is the distance to an unseen topic; pass 0 for
    none.
    """
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(_POWER)
    error = deviation / math.sqrt(topics)
    if not far:
        return math.sqrt((z_alpha + z_power) ** 2 / max(1e-9, topics - z_alpha**2 / 2)) * deviation
    weight = UNSEEN / (topics + UNSEEN)
    more = _most_weight(topics, alpha) - weight
    return weight * far + math.hypot(z_alpha * error, more * far) + z_power * error


@lru_cache(maxsize=4096)
def _most_weight(topics: float, alpha: float) -> float:
    """Return the upper quantile of the unseen topic's weight, cached because it took a quarter of a comparison."""
    return float(beta_quantile(1 - alpha / 2, UNSEEN, topics))


def smallest_sufficient(enough: Callable[[float], bool]) -> float:
    """Return the smallest number up to a million for which `enough` is True; infinite if there is none."""
    low, high = 0, 1_000_000
    if not enough(high):
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)
