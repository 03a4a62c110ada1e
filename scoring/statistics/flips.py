"""Topics whose majority flips: useful in most trials on one side, useless in most trials on the other side.

With few trials, a topic whose answers are useful half of the time flips by chance alone. So the number of flips is
reported together with the number expected if the second side were more trials of the first. The expectation uses
beta-binomial probabilities of each topic, given its own trials and the variation between topics of the first side
(empirical Bayes: the mean and the intraclass correlation of the topics, by moments; G. W. Snedecor and W. G. Cochran,
Statistical Methods, 1989, chapter 13).

There is no p. In simulation the expected share was within .04 of the true share for 8 to 45 topics with 3 to 20 trials,
and up to .10 below it if all topics are alike; a test built on it found up to 12 of 100 null arms at 5%. The mean
decides whether an arm differs (`scoring.inference.matched`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topics.arrays import Floats

_LEAST, _MOST = 0.01, 0.97  # of the intraclass correlation: at 0 and 1 there is no beta distribution
_lgamma = np.vectorize(math.lgamma, otypes=[np.float64])


@dataclass(frozen=True, slots=True)
class Flips:
    """The topics that flip. `topics` is the number of topics with a label on both sides, and `names` are the topics
    that flipped, in order. `by_chance` is the number expected if the second side were more trials of the first; NaN for
    fewer than two topics, or if no topic has two trials."""

    topics: int
    names: tuple[str, ...]
    by_chance: float


def count_flips(labels: Mapping[str, tuple[Sequence[bool], Sequence[bool]]]) -> Flips:
    """Count flips between the control and another side, from labels by topic: True for a useful answer. A topic with as
    many useful as useless answers on a side has no majority there, and does not flip."""
    kept = {topic: sides for topic, sides in labels.items() if all(sides)}
    names = tuple(topic for topic, (one, other) in kept.items() if _majority(one) * _majority(other) < 0)
    useful = np.array([sum(one) for one, _ in kept.values()], dtype=np.float64)
    trials = np.array([len(one) for one, _ in kept.values()], dtype=np.float64)
    prior = _prior(useful, trials)
    if prior is None:
        return Flips(len(kept), names, math.nan)
    by_chance = math.fsum(
        _opposite_chance(one, len(other), prior[0] + sum(one), prior[1] + len(one) - sum(one))
        for one, other in kept.values()
    )
    return Flips(len(kept), names, by_chance)


def _prior(useful: Floats, trials: Floats) -> tuple[float, float] | None:
    if len(useful) < 2 or trials.max() < 2:
        return None
    whole = trials.sum()
    mean = float((useful.sum() + 0.5) / (whole + 1))
    shares = useful / trials
    between = float((trials * (shares - useful.sum() / whole) ** 2).sum()) / (len(useful) - 1)
    within = float((trials * shares * (1 - shares)).sum() / (trials - 1).sum())
    each = float(whole - (trials**2).sum() / whole) / (len(useful) - 1)
    topic = (between - within) / each
    correlation = topic / (topic + within) if topic + within > 0 else 0.5
    weight = 1 / min(max(correlation, _LEAST), _MOST) - 1
    return mean * weight, (1 - mean) * weight


def _opposite_chance(one: Sequence[bool], trials: int, a: float, b: float) -> float:
    """Return the probability that `trials` new trials have the opposite majority to `one`, for Beta(a, b) topics."""
    side = _majority(one)
    if side == 0:
        return 0.0
    counts = np.arange(trials + 1, dtype=np.float64)
    chances = np.exp(
        _lgamma(trials + 1)
        - _lgamma(counts + 1)
        - _lgamma(trials - counts + 1)
        + _lgamma(counts + a)
        + _lgamma(trials - counts + b)
        - _lgamma(trials + a + b)
        + _lgamma(a + b)
        - _lgamma(a)
        - _lgamma(b)
    )
    return float(chances[np.sign(2 * counts - trials) == -side].sum())


def _majority(useful: Sequence[bool]) -> int:
    return int(np.sign(2 * sum(useful) - len(useful)))
