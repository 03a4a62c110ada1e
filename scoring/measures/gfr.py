"""GF and GFR of a ranked list: group fairness weighted by the ranks at which users stop, and its mean with a utility.

    GF-X = sum over k of decay_k · (1 - X(achieved at k, gold)),   X one of JSD, NMD, RNOD
    GFR  = unweighted mean of one utility (ERR or iRBU) and one GF for each attribute set

The achieved distribution at k is the mean membership of *all* the top k documents, relevant or not; a document of
unknown groups counts as uniform. The GF of a conversation (`scoring.fairness`) uses relevant nuggets only, so the two
are on different scales and must not be compared.

Source: Sakai, Kim and Kang, TOIS 2023 (arXiv 2204.00280); [GFRC] Eq. 1 with equal weights; NTCIREVAL's GFRcompute.
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


def gfr(utility: float, fairness: Sequence[float]) -> float:
    """Return GFR = (utility + sum of GF over the M attribute sets) / (1 + M), in [0, 1). The utility is ERR or iRBU.

    Returns NaN if a part is NaN, and if M is 0, because a utility alone does not measure fairness.
    """
    if not fairness:
        return math.nan
    return math.fsum((utility, *fairness)) / (1 + len(fairness))


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
    formula="mean of a utility (ERR or iRBU) and one GF for each attribute set",
    undefined="no row where a topic has no set, or one of unknown scale",
    example="GFR(ERR, ordinal=RNOD)",
    parameters=(Parameter("ordinal", "X of sets whose groups have an order: RNOD or NMD"),),
    written=("GFR(ERR, ordinal=RNOD)",),
)
