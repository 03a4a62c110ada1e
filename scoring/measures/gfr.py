"""GF and GFR of a ranked list: group fairness weighted by the ranks at which users stop, and its mean with a utility.

    GF-X = sum over k of decay_k · (1 - X(achieved at k, gold)),   X one of JSD, NMD, RNOD
    GFR  = (w_0 · utility + sum of w_m · GF_m) / (w_0 + … + w_M), the utility being ERR or iRBU, one GF for each set

The achieved distribution at k is the mean membership of *all* the top k documents, relevant or not; a document of
unknown groups counts as uniform. The GF of a conversation (`scoring.fairness`) uses relevant nuggets only, so the two
are on different scales and must not be compared.

Source: Sakai, Kim and Kang, TOIS 2023 (arXiv 2204.00280); [GFRC] Eq. 1, with weights that sum to 1; with equal
weights it is NTCIREVAL's GFRcompute.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from scoring.divergences import Divergence, distribution_similarity
from scoring.measure import Declaration, Parameter
from scoring.measures.err import decay
from topics.arrays import Floats


def mean_membership(memberships: npt.ArrayLike) -> Floats:
    """Return the (..., K, C) mean membership of the top k documents for every k, from rows of probabilities."""
    rows = np.asarray(memberships, dtype=np.float64)
    sums: Floats = np.cumsum(rows, axis=-2)
    return sums / np.arange(1, rows.shape[-2] + 1)[:, None]


def list_fairness(
    gains: npt.ArrayLike, memberships: npt.ArrayLike, gold: npt.ArrayLike, highest: float, divergence: Divergence
) -> Floats:
    """Return GF-X of a list for one attribute set, (...) in [0, 1).

    `gains` (..., K), from the top document on, are in [0, highest], where `highest` is gmax of the collection.
    `memberships` (..., K, C) are rows of probabilities, and `gold` is (C,). `divergence` is X: JSD for nominal
    groups, NMD or RNOD for ordinal groups. A list that is empty or has no relevant document has GF 0, since no user
    stops there: fairness counts only where users are served. Raises ValueError for a row that is not a distribution.
    """
    shares = decay(gains, highest)
    if shares.shape[-1] == 0:
        return np.zeros(shares.shape[:-1])
    similar = distribution_similarity(mean_membership(memberships), gold, divergence)
    value: Floats = (shares * similar).sum(axis=-1)
    return value


def gfr(utility: float, fairness: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return GFR, the weighted mean of a utility (ERR or iRBU) and the GF of each of M attribute sets, in [0, 1).

    `weights` are w_0 of the utility and w_1 to w_M of the sets, at least 0; None for equal weights. Only their ratios
    matter, and a part with weight 0 does not count, even if it is NaN. Returns NaN if another part is NaN, and if M is
    0 or no set has a weight above 0, because a utility alone does not measure fairness.
    """
    shares = [1.0] * (1 + len(fairness)) if weights is None else list(weights)
    if len(shares) != 1 + len(fairness) or min(shares) < 0:
        raise ValueError("there must be one weight for the utility and one for each attribute set, all at least 0")
    if not any(shares[1:]):
        return math.nan
    parts = [share * value for share, value in zip(shares, (utility, *fairness), strict=True) if share]
    return math.fsum(parts) / math.fsum(shares)


_of_lists = partial(
    Declaration,
    of="list",
    source="Sakai, Kim and Kang, TOIS 2023; [GFRC] Eq. 1",
    n="documents in the list",
    needs=("qrels", "memberships"),
    arguments=(1, 1),
)
LIST_FAIRNESS = _of_lists(
    name="GF",
    sentence="How close the groups of a list are to the gold shares where its readers stop.",
    formula="Σ decay_k · (1 - X(achieved at k, gold)) over the ranks k",
    undefined="no row where the topic has no memberships; 0 for an empty list",
    example="GF(RATINGS, by=RNOD)",
    parameters=(Parameter("by", "X: RNOD, NMD or JSD"),),
    written=("GF(SET, by=RNOD)",),
)
LIST_SUMMARY = _of_lists(
    name="GFR",
    sentence="A summary of a list's utility and group fairness; read it together with both.",
    formula="weighted mean of a utility (ERR or iRBU) and one GF for each attribute set; equal weights by default",
    undefined="no row where a topic has no set, or one of unknown scale; NaN if all sets of a topic have weight 0",
    example="GFR(ERR, ordinal=RNOD)",
    parameters=(Parameter("ordinal", "X of sets whose groups have an order: RNOD or NMD"),),
    written=("GFR(ERR, ordinal=RNOD)",),
)
