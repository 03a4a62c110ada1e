"""ERR, the expected reciprocal rank of a ranked list, and the decay by rank that iRBU and the GF of lists also use.

A user reads from the top and stops, satisfied, at a document with a probability that depends on its grade. Source:
Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; in the form of [GFRC] §2.1 and Sakai, Kim and Kang, TOIS 2023 (arXiv
2204.00280), where gains can be chosen freely and gmax is the largest gain.
"""

import numpy as np
import numpy.typing as npt

from scoring.measure import Declaration
from topics.arrays import Floats


def stop_probability(gains: npt.ArrayLike, highest: float) -> Floats:
    """Return g / (gmax + 1), in [0, 1), the probability that a document of this gain satisfies its reader. `highest`
    is gmax, the largest gain of the whole collection, above 0. Raises ValueError for gains out of range."""
    found = np.asarray(gains, dtype=np.float64)
    if not np.isfinite(highest) or highest <= 0:
        raise ValueError(f"the highest gain must be a number above 0, not {highest}")
    if not np.all((found >= 0) & (found <= highest)):
        raise ValueError(f"gains must lie between 0 and the highest gain, {highest:g}")
    stops: Floats = found / (highest + 1)
    return stops


def decay(gains: npt.ArrayLike, highest: float) -> Floats:
    """Return the (..., K) shares of users who stop at each rank k: stop_k · product over j < k of (1 - stop_j). The
    sum over all ranks is less than 1."""
    stops = stop_probability(gains, highest)
    if stops.ndim == 0:
        raise ValueError("gains must have at least one axis; the last axis is the ranks")
    going_on = np.cumprod(1.0 - stops, axis=-1)
    reached = np.concatenate([np.ones((*stops.shape[:-1], 1)), going_on], axis=-1)[..., : stops.shape[-1]]
    shares: Floats = stops * reached
    return shares


def err(gains: npt.ArrayLike, highest: float) -> Floats:
    """Return ERR of (..., K) gains: the sum over k of decay_k / k, in [0, 1). Lists without a relevant document have
    0."""
    shares = decay(gains, highest)
    value: Floats = (shares / np.arange(1, shares.shape[-1] + 1)).sum(axis=-1)
    return value


ERR = Declaration(
    name="ERR",
    sentence="How soon a list satisfies its reader, who stops at a document that does.",
    of="list",
    formula="Σ decay_k / k over the ranks k",
    source="Chapelle et al., CIKM 2009; [GFRC] §2.1",
    undefined="never; 0 for an empty list",
    example="ERR",
    n="documents in the list",
    needs=("qrels",),
)
