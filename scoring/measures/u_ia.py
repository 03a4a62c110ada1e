"""U-IA: intent-aware U-measure, for a query that different users mean differently.

The intent is latent: it is one branch at the root of all possible paths, after which one trailtext can earn different
gains.

Source: Sakai and Dou, SIGIR 2013; [SWAN] §3 names it as one of the two ancestors of stochastic SWAN.
"""

import numpy.typing as npt

from scoring.measures.u_measure import expected_utility


def u_ia(intents: npt.ArrayLike, utilities: npt.ArrayLike) -> float:
    """Return U-IA = Σ P(i)·U_i over (I,) intents; NaN for I = 0, and if a possible intent has no U."""
    return expected_utility(intents, utilities)
