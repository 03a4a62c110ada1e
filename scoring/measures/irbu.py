"""iRBU: intentwise rank-biased utility of a ranked list, which differs from ERR in the utility of a rank.

A user who stops at rank k has gained the utility p^k. With p near 1, the value depends much on whether users are
satisfied, and little on the rank. Source: Sakai and Zeng, SIGIR 2019; in the form of Sakai, Kim and Kang, TOIS 2023
(arXiv 2204.00280).
"""

import numpy as np
import numpy.typing as npt

from scoring.measure import Declaration, Parameter
from scoring.measures.err import decay

# p of the NTCIR tasks.
PERSISTENCE = 0.99


def irbu(gains: npt.ArrayLike, highest: float, *, persistence: float = PERSISTENCE) -> npt.NDArray[np.float64]:
    """Return iRBU, the sum over k of decay_k · p^k, in [0, 1). Lists without a relevant document have 0.

    `highest` is gmax of the collection. `persistence` is p in (0, 1]; with 1, iRBU is the share of users who are ever
    satisfied. Raises ValueError for gains or p out of range.
    """
    if not 0 < persistence <= 1:
        raise ValueError(f"persistence must lie in (0, 1], not be {persistence}")
    shares = decay(gains, highest)
    value: npt.NDArray[np.float64] = (shares * persistence ** np.arange(1, shares.shape[-1] + 1)).sum(axis=-1)
    return value


IRBU = Declaration(
    name="iRBU",
    sentence="Whether a list satisfies its reader, and to a small degree how soon.",
    of="list",
    formula="Σ decay_k · p^k over the ranks k",
    source="Sakai and Zeng, SIGIR 2019; Sakai, Kim and Kang, TOIS 2023",
    undefined="never; 0 for an empty list",
    example="iRBU(p=0.9)",
    n="documents in the list",
    needs=("qrels",),
    parameters=(Parameter("p", "how little it costs to read on, at most 1", default=PERSISTENCE),),
)
