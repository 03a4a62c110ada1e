"""T-measure and T-flat of a text: how much of it is needed, a precision for nuggets.

Source: Sakai and Kato, "One Click One Revisited", AIRS 2012; NTCIREVAL's `1click` gives the same values (tests).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["t_flat", "t_measure"]


def t_measure(lengths: npt.ArrayLike, offsets: npt.ArrayLike, text_length: float) -> float:
    """T-measure: vital string lengths of the nuggets found, over the length of the text.

    lengths: (N,) vital string lengths of the gold nuggets, from 0. offsets: (N,), NaN where a nugget is not in the
    text. text_length: characters of the text. At least 0; it may exceed 1 where a text says a nugget in fewer
    characters than its vital string, which T-flat cuts. NaN for an empty text: it says nothing, neither densely nor
    thinly.
    """
    long, places = np.asarray(lengths, dtype=np.float64), np.asarray(offsets, dtype=np.float64)
    if long.shape != places.shape:
        raise ValueError(f"{long.size} lengths for {places.size} nuggets")
    if not np.all(np.isfinite(long) & (long >= 0)) or not math.isfinite(text_length) or text_length < 0:
        raise ValueError("lengths are numbers from 0")
    return float(long[~np.isnan(places)].sum() / text_length) if text_length > 0 else math.nan


def t_flat(value: float) -> float:
    """T-flat = min(1, T-measure); NaN stays NaN."""
    return value if math.isnan(value) else min(1.0, value)
