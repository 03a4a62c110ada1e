"""R(C): relevance of a conversation, discounted by how many words it takes to get there ([GFRC] Eq. 3, 6-8)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from scoring.nuggets import Nugget

__all__ = ["hard_normaliser", "position_weight", "relevance"]


def position_weight(position: npt.ArrayLike, patience: int) -> npt.NDArray[np.float64]:
    """pw(n) = max(0, 1 - (WC(n) - 1)/L), Eq. 6: 1 for the first word, 0 from word L + 1 on.

    position: (...) WC(n) from 1. patience: L in words, at least 1. Returns (...) in [0, 1].
    Eq. 8 prints WC for WC - 1; Table 1 and the normaliser of Eq. 7 need Eq. 6.
    """
    places = np.asarray(position, dtype=np.float64)
    if patience < 1 or not np.all(places >= 1):
        raise ValueError("positions and patience count from 1")
    return np.maximum(0.0, 1.0 - (places - 1.0) / patience)


def hard_normaliser(patience: int) -> float:
    """N = (L + 1)/2, Eq. 7: the sum of pw over L words, every one of them a relevant nugget."""
    return (patience + 1) / 2


def relevance(nuggets: Iterable[Nugget], patience: int) -> float:
    """R(C) = (1/N) · sum over the nuggets of pw(n)·g(n), Eq. 3.

    patience: L in words. In [0, 1]; 1 is out of reach in practice, so values are small: compare them, and print
    four digits or more. On a conversation without relevant nuggets: 0, which is its value and not a gap.
    """
    earning = [nugget for nugget in nuggets if nugget.relevant]
    if not earning:
        return 0.0
    weights = position_weight([nugget.position for nugget in earning], patience)
    gains = np.array([nugget.gain for nugget in earning])
    return float((weights * gains).sum() / hard_normaliser(patience))
