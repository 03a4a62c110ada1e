"""Score standardisation: the score of a system on a topic, relative to those of a reference group on the same topic.

    z         (x - mean) / sd, with the mean and the sd (divisor n - 1) of the reference group's scores on the topic
    std-CDF   Φ(z)                                          Webber, Moffat and Zobel 2008
    std-AB    A·z + B, clipped to [0, 1]; A = .15, B = .5   Sakai 2016
    E-std     the share of the reference group whose score is at most x     Urbano, Lima and Hanjalic 2019

So hard and easy topics count alike, and so do measures and topic sets with different ranges, such as R without its
normalisation ([GFRC] note 7). All forms keep the order of the systems on a topic. With two systems, z is ±.71 whatever
their scores, so the reference group needs at least three.

Sources: W. Webber, A. Moffat and J. Zobel, SIGIR 2008, 51-58; T. Sakai, ICTIR 2016, 95-104; J. Urbano, H. Lima and
A. Hanjalic, SIGIR 2019, 1061-1064.
"""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import normal_cdf
from topics.arrays import Floats

Standard = Literal["z", "std-CDF", "std-AB", "E-std"]

# How each form is printed, with its source; {} stands for the reference group.
STANDARDS: dict[Standard, str] = {
    "z": "(score - mean) / sd, of the scores of {} on the topic",
    "std-CDF": "the normal CDF at (score - mean) / sd, of the scores of {} on the topic (Webber 2008)",
    "std-AB": ".15·(score - mean) / sd + .5, from 0 to 1, of the scores of {} on the topic (Sakai 2016)",
    "E-std": "the share of {} whose score on the topic is at most this one (Urbano 2019)",
}

# The fewest systems of a reference group with a score on a topic.
FEWEST_SYSTEMS = 3

_A, _B = 0.15, 0.5
_SAME = 1e-12  # scores that differ only by the order of summation must compare as equal


def standardise(scores: npt.ArrayLike, reference: npt.ArrayLike, form: Standard) -> Floats:
    """Return standardised scores, (T, m).

    `scores` is (T, m), and `reference` (T, r) has the scores of the reference group on the same topics; NaN if a system
    has no score. std-CDF, std-AB and E-std lie in [0, 1], and z has no bounds. The result is NaN if the score is
    missing, if fewer than `FEWEST_SYSTEMS` of the reference group have a score on the topic, or, except for E-std, if
    all of these are equal.
    """
    own, group = np.asarray(scores, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    there = ~np.isnan(group)
    count = there.sum(axis=1, keepdims=True)
    enough = count >= FEWEST_SYSTEMS
    if form == "E-std":
        at_most = (group[:, None, :] <= own[:, :, None] + _SAME).sum(axis=2)
        return np.where(enough & ~np.isnan(own), at_most / np.maximum(count, 1), np.nan)
    mean = np.where(there, group, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    squares = np.square(np.where(there, group - mean, 0.0)).sum(axis=1, keepdims=True)
    sd = np.sqrt(squares / np.maximum(count - 1, 1))
    z = np.where(enough & (sd > _SAME), own - mean, np.nan) / np.where(sd > _SAME, sd, 1.0)
    if form == "z":
        return np.asarray(z)
    if form == "std-AB":
        return np.clip(_A * z + _B, 0.0, 1.0)
    return np.asarray(np.vectorize(normal_cdf, otypes=[np.float64])(z))


def largest_difference(form: Standard, systems: int, *, members: bool) -> float:
    """Return the largest possible difference of two systems' standardised scores on a topic.

    `systems` is the size of the reference group. If both systems are `members` of it, their z are at most √(2(r - 1))
    apart: two scores lie equally far on either side of all others. Infinite for z if one of them is not a member.
    """
    far = math.sqrt(2 * (systems - 1)) if members else math.inf
    if form == "z":
        return far
    if form == "std-AB":
        return min(1.0, _A * far)
    if form == "std-CDF":
        return 2 * normal_cdf(far / 2) - 1
    return (systems - 1) / systems if members else 1.0
