"""Simultaneous intervals of several arms' differences from one control.

An arm that was chosen as the worst is so partly by chance: its own 95% interval covers the truth less often. Intervals
that are valid for all arms at once are valid for the chosen one. The largest |t| over arms is resampled over topics by
changing the signs of the residuals of the differences (R. Y. Liu, Annals of Statistics 16 (1988), 1696-1708; for the
largest of several, P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, 1993, 2.3). All arms get the same
signs, so that intervals are narrower for correlated arms than for unrelated ones.

The result is the level of single t intervals that are valid together. Any other method can be used at this level.
"""

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST
from scoring.statistics.beta import student_tails

_DRAWS = 4999  # with one more, for the data themselves, a round number: p in steps of .0002
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


def level_together(differences: npt.ArrayLike, rng: np.random.Generator, *, level: float) -> float:
    """Return the level that single intervals need so that all of them hold together at `level`.

    `differences` is (T, A) for topics and arms, without NaN. The result is at most Bonferroni's 1 - (1 - level)/A, and
    is Bonferroni's on fewer than four topics. An arm whose difference is the same on all topics counts only in
    Bonferroni's A.
    """
    each = np.asarray(differences, dtype=np.float64)
    topics, arms = each.shape
    most: float = 1 - (1 - level) / max(1, arms)
    if arms < 2 or topics < FEWEST:
        return most
    rest = each - each.mean(axis=0)
    squares = np.square(rest).sum(axis=0)
    varies = squares > _SAME
    if not varies.any():
        return most
    signs = rng.integers(2, size=(_DRAWS, topics)) * 2.0 - 1.0
    means = signs @ rest[:, varies] / topics
    left = np.maximum(squares[varies] - topics * np.square(means), _SAME)
    largest = np.abs(means * np.sqrt(topics * (topics - 1) / left)).max(axis=1)
    reached = float(np.quantile(largest, level, method="higher"))
    return float(min(most, max(level, 1 - student_tails(reached, topics - 1))))
