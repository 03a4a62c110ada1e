"""Values of many parts of a run at once, without intervals: each trial over its topics, each topic over its trials.

Every function takes rows, one for each part, and gives of each to the last bit what is given of it alone.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def present_means(values: npt.ArrayLike) -> Floats:
    """(parts,) the mean of what is not NaN in each row; NaN where nothing is. values: (parts, units)."""
    rows = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(rows)
    counts = seen.sum(axis=1)
    means = np.full(len(rows), math.nan)
    for count in np.unique(counts[counts > 0]).tolist():  # numpy adds as many numbers in the same order
        alike = counts == count
        means[alike] = rows[alike][seen[alike]].reshape(-1, count).mean(axis=1)
    return means


@dataclass(frozen=True, slots=True)
class ShareValues:
    """(parts,) each, as in `scoring.measures.usefulness.Share`."""

    value: Floats
    n: npt.NDArray[np.int64]
    counted: npt.NDArray[np.int64]
    worst: Floats
    best: Floats


def share_values(above: Floats, below: Floats, lost: Flags, whole: npt.ArrayLike, *, pooled: bool) -> ShareValues:
    """Shares where every unit is one trial, or every trial one unit: those of `scoring.measures.usefulness.share`.

    above, below: (parts, units) useful answers and answers, NaN where there is none. lost: (parts, units) trials that
    never became valid; whole: answers that were lost in each.
    """
    seen = ~(np.isnan(above) | np.isnan(below))
    top, bottom = np.where(seen, above, 0.0), np.where(seen, below, 0.0)
    gone = lost & ~seen
    filled = np.where(gone, whole, bottom)
    return ShareValues(
        _values(top, bottom, pooled),
        np.rint(bottom.sum(axis=1)).astype(np.int64),
        (bottom > 0).sum(axis=1),
        _values(top, filled, pooled),
        _values(np.where(gone, whole, top), filled, pooled),
    )


def _values(top: Floats, bottom: Floats, pooled: bool) -> Floats:
    if pooled:
        sums = bottom.sum(axis=1)
        ratios: Floats = np.divide(top.sum(axis=1), sums, out=np.full(len(sums), math.nan), where=sums > 0)
        return ratios
    return present_means(np.divide(top, bottom, out=np.full(top.shape, math.nan), where=bottom > 0))


def sum_means(values: npt.ArrayLike) -> Floats:
    """(parts,) the mean of what is not NaN in each row, of a sum with zeros in the place of the others, as a topic's
    trials are averaged before topics are; NaN where nothing is. values: (parts, units)."""
    rows = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(rows)
    counts = seen.sum(axis=1)
    sums = np.where(seen, rows, 0.0).sum(axis=1)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, math.nan), where=counts > 0)
    return means
