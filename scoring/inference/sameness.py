"""The numbers of topics or trials that would show two systems to be the same within a margin."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.needed import NeededSize, detectable_difference, smallest_sufficient
from scoring.inference.paired import Estimand
from scoring.settings import Guard
from scoring.statistics.beta import normal_quantile

_POWER = 0.8  # by convention (Cohen 1988), as for differences


@dataclass(frozen=True, slots=True)
class Sameness:
    """What a study shows of a difference, from which follows how large another one has to be for an interval within a
    margin.

    `size` is the observed difference without its sign, of `topics` with `trials` each. `deviation` is that of topics'
    differences, `within` the part of its variance that is due to trials. `far` is the distance to an unseen topic, or
    0 for none. `alpha` is one minus the level of the interval.
    """

    size: float
    topics: int
    trials: float
    deviation: float
    within: float
    far: float
    alpha: float
    estimand: Estimand

    def needed(self, margin: float) -> NeededSize:
        """Return the numbers for which, in four of five studies, the whole interval lies within ± `margin`, if the true
        difference is the observed one. They are infinite if it is not smaller than the margin."""
        if self.size >= margin:
            return NeededSize(math.inf, math.inf)
        between = max(0.0, self.deviation**2 - self.within)

        def is_enough(topics: float, trials: float) -> bool:
            noise = self.within * self.trials / trials
            if self.estimand == "these":
                return self._chance(topics, math.sqrt(noise), 0.0, margin) >= _POWER
            return self._chance(topics, math.sqrt(between + noise), self.far, margin) >= _POWER

        return NeededSize(
            math.nan
            if self.estimand == "these"
            else smallest_sufficient(lambda number: number > 0 and is_enough(number, self.trials)),
            smallest_sufficient(lambda number: number > 0 and is_enough(self.topics, number))
            if self.within == self.within
            else math.nan,
        )

    def _chance(self, topics: float, deviation: float, far: float, margin: float) -> float:
        error = deviation / math.sqrt(topics)
        if far:
            # Without the part for power, this is how far the interval reaches on each side.
            half = detectable_difference(topics, deviation, far, self.alpha) - normal_quantile(_POWER) * error
        else:
            half = normal_quantile(1 - self.alpha / 2) * error
        room = margin - half
        if room <= 0:
            return 0.0
        if not error:
            return float(self.size <= room)
        ends = ((sign * room - self.size) / (error * math.sqrt(2)) for sign in (-1, 1))
        low, high = map(math.erf, ends)
        return (high - low) / 2


def sameness(
    differences: npt.ArrayLike,
    noise: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    alpha: float,
    estimand: Estimand,
    reach: float,
    guard: Guard,
) -> Sameness | None:
    """Return the evidence in the differences of topics, or None for fewer than two topics or a missing value. Arguments
    are as in `needed`; `alpha` is not corrected, as *same* is said of a pair by its own interval. With `guard` unseen,
    None for a measure without an end near its values: no number of topics says where an unseen one lies."""
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    if len(each) < 2 or np.isnan(each).any() or (guard == "unseen" and math.isinf(reach) and estimand != "these"):
        return None
    size = abs(float(each.mean()))
    return Sameness(
        size=size,
        topics=len(each),
        trials=float(np.asarray(trials, dtype=np.float64).mean()),
        deviation=float(each.std(ddof=1)),
        within=float(own.sum(axis=1).mean()) if not np.isnan(own).any() else math.nan,
        far=size + reach if guard == "unseen" else 0.0,
        alpha=alpha,
        estimand=estimand,
    )
