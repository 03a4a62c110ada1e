"""Recall and W-recall of a text: how many of the known nuggets it holds, plainly and by weight.

Source: the 1CLICK tasks of NTCIR (Sakai, Kato and Song, CIKM 2011), as NTCIREVAL prints them. Position plays no part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["first_offsets", "recall", "weighted_recall"]

Floats = npt.NDArray[np.float64]


def first_offsets(nuggets: Sequence[str], matches: Iterable[tuple[str, float]]) -> Floats:
    """Where each gold nugget is met first: (N,) offsets in characters, NaN for a nugget that is not in the text.

    nuggets: (N,) names. matches: (name, offset from 0) in any order. Only the first match of a nugget earns. Raises
    ValueError for an offset below 0 and for a match of a nugget that is not gold.
    """
    place: Mapping[str, int] = {name: at for at, name in enumerate(nuggets)}
    if len(place) < len(nuggets):
        raise ValueError("a gold nugget is named twice")
    found = np.full(len(nuggets), math.nan)
    for name, offset in matches:
        if name not in place:
            raise ValueError(f"{name!r} is no gold nugget")
        if not offset >= 0:
            raise ValueError(f"{name}: an offset counts from 0, not {offset}")
        found[place[name]] = np.fmin(found[place[name]], offset)
    return found


def recall(offsets: npt.ArrayLike) -> float:
    """The share of gold nuggets that are in the text. offsets: (N,), NaN where not. In [0, 1]; NaN for N = 0."""
    places = np.asarray(offsets, dtype=np.float64)
    return float((~np.isnan(places)).mean()) if places.size else math.nan


def weighted_recall(weights: npt.ArrayLike, offsets: npt.ArrayLike) -> float:
    """W-recall: the weight of the nuggets in the text over the weight of all gold nuggets.

    weights: (N,) at least 0. offsets: (N,), NaN where not in the text. In [0, 1]; NaN where the weights sum to 0.
    """
    shares, places = np.asarray(weights, dtype=np.float64), np.asarray(offsets, dtype=np.float64)
    if shares.shape != places.shape:
        raise ValueError(f"{shares.size} weights for {places.size} nuggets")
    if not np.all(np.isfinite(shares) & (shares >= 0)):
        raise ValueError("weights of nuggets are numbers from 0")
    whole = shares.sum()
    return float(shares[~np.isnan(places)].sum() / whole) if whole > 0 else math.nan
