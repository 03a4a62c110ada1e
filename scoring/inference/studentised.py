"""Bootstrap-t for ratios of sums over topics: the ends follow the skew of the topics that were asked.

    t* = (r* - r)/se*,   low = r - q(t*, 1 - a/2)·se,   high = r - q(t*, a/2)·se

r is a ratio of sums, se its standard error from what each topic adds to it, and * a draw of as many topics. A draw in
which all topics have the same ratio has se* = 0; it makes an end infinite. Source: B. Efron, JASA 76 (1981), 312-319.
"""

import numpy as np
import numpy.typing as npt

from scoring.inference.unseen_topic import weighted_sums

Floats = npt.NDArray[np.float64]


def studentised_ends(counts: Floats, above: Floats, below: Floats, level: float) -> tuple[Floats, Floats]:
    """Return (C,) low and (C,) high ends, infinite if draws set no bound; NaN if all topics have the same ratio.

    counts: (K, B) how often each topic was drawn. above, below: (K, C) of the topics, below > 0. level: in (0, 1).
    """
    value = above.sum(axis=0) / below.sum(axis=0)
    error = _error(np.ones((len(above), 1)), above, below)[:, 0]
    drawn = weighted_sums(above, counts) / weighted_sums(below, counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (drawn - value[:, None]) / _error(counts, above, below)
    t = np.where(np.isnan(t), 0.0, t)
    tail = (1 - level) / 2
    least = np.quantile(t, tail, axis=1, method="lower")
    most = np.quantile(t, 1 - tail, axis=1, method="higher")
    with np.errstate(invalid="ignore"):
        return value - most * error, value - least * error


def _error(counts: Floats, above: Floats, below: Floats) -> Floats:
    whole, units = weighted_sums(below, counts), len(counts)
    ratio = weighted_sums(above, counts) / whole
    own = weighted_sums(above**2, counts)
    squares = own - 2 * ratio * weighted_sums(above * below, counts) + ratio**2 * weighted_sums(below**2, counts)
    squares = np.where(squares > 1e-12 * own, squares, 0.0)
    found: Floats = np.sqrt(squares * units / (units - 1)) / whole
    return found
