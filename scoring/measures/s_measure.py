"""S-measure and S-flat of a text: weighted nugget recall in which a nugget is worth less the later it is read.

    S-measure = sum over the nuggets found of w·max(0, L - offset) / the same sum over the pseudo-minimal output

The pseudo-minimal output is the shortest possible text: the vital strings of all gold nuggets by decreasing weight,
and shortest first among equal weights. It corresponds to the ideal list of nDCG.

Source: Sakai, Kato and Song, CIKM 2011; [GFRC] Eq. 2. NTCIREVAL's `1click` gives the same values (tests).
"""

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.measure import Declaration
from scoring.measures.nugget_recall import known_nuggets, recall_figure
from scoring.measures.relevance import LIMITS, character_note
from topics.arrays import Floats

if TYPE_CHECKING:
    from scoring.material import Material


def pseudo_minimal_offsets(weights: npt.ArrayLike, lengths: npt.ArrayLike) -> Floats:
    """Return the (N,) ends, in characters, of the gold nuggets in the pseudo-minimal output."""
    heavy, long = _check_nuggets(weights, lengths)
    order = np.lexsort((long, -heavy))
    found = np.empty(len(heavy))
    found[order] = np.cumsum(long[order])
    return found


def s_measure(weights: npt.ArrayLike, lengths: npt.ArrayLike, offsets: npt.ArrayLike, patience: float) -> float:
    """Return the S-measure of one text for one question, at least 0.

    `weights` (N,) and `lengths` (N,) belong to the gold nuggets. `offsets` (N,) are the characters before the first
    occurrence of each nugget, NaN for nuggets that do not occur; an offset of `patience` or more earns nothing.
    `patience` is L in characters, above 0 (1CLICK: 1000, two minutes of reading Japanese).

    The value may exceed 1 if a text is denser than the vital strings; S-flat caps it. Returns NaN if there is no gold
    nugget that a reader with this patience could reach. Raises ValueError for values out of range.
    """
    heavy, long = _check_nuggets(weights, lengths)
    places = np.asarray(offsets, dtype=np.float64)
    if places.shape != heavy.shape:
        raise ValueError(f"offsets must have one value per nugget: {places.size} offsets, {heavy.size} nuggets")
    if not np.isfinite(patience) or patience <= 0:
        raise ValueError(f"patience must be a number of characters above 0, not {patience}")
    found = ~np.isnan(places)
    if np.any(places[found] < 0):
        raise ValueError("offsets must not be negative")
    best = _discounted_weight(heavy, pseudo_minimal_offsets(heavy, long), patience)
    return _discounted_weight(heavy[found], places[found], patience) / best if best > 0 else math.nan


def s_flat(value: float) -> float:
    """Return S-flat = min(1, S-measure); NaN stays NaN."""
    return value if math.isnan(value) else min(1.0, value)


def _discounted_weight(weights: Floats, offsets: Floats, patience: float) -> float:
    return float((weights * np.maximum(0.0, patience - offsets)).sum())


def _check_nuggets(weights: npt.ArrayLike, lengths: npt.ArrayLike) -> tuple[Floats, Floats]:
    heavy, long = np.asarray(weights, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if heavy.ndim != 1 or heavy.shape != long.shape:
        raise ValueError(f"weights and lengths must have the same shape, not {heavy.shape} and {long.shape}")
    if not (np.all(np.isfinite(heavy) & (heavy >= 0)) and np.all(np.isfinite(long) & (long >= 0))):
        raise ValueError("weights and vital string lengths must be finite and not negative")
    return heavy, long


def conversation_s_measure(material: "Material") -> float:
    """Return the S-measure of a conversation over the relevant entities of its topic, in words or characters."""
    known = known_nuggets(material)
    return s_measure(known.weights, known.lengths, known.offsets, material.patience)


_of_entities = partial(
    Declaration,
    of="conversation",
    undefined="nothing is known of the topic's entities, or none is relevant and within reach",
    n="relevant entities named",
    needs=("gold",),
    parameters=LIMITS,
)
S_MEASURE = _of_entities(
    name="S-measure",
    sentence="Relevance as in R, divided by that of the best list: all relevant entities at once, best first.",
    formula="Σ g·max(0, L - WC) over the relevant entities named / the same of the pseudo-minimal output",
    source="Sakai, Kato and Song, CIKM 2011; [GFRC] Eq. 2",
    example="S-measure(L=600)",
    range=(0.0, math.inf),
    has_top=False,
    score=lambda material, measure: recall_figure(
        material, measure, conversation_s_measure(material), character_note(material)
    ),
)
S_FLAT = _of_entities(
    name="S-flat",
    sentence="S-measure, capped at 1 (it exceeds 1 if one word contains several addresses).",
    formula="S-measure, at most 1",
    source="Sakai, Kato and Song, CIKM 2011",
    example="S-flat(L=600)",
    score=lambda material, measure: recall_figure(
        material, measure, s_flat(conversation_s_measure(material)), character_note(material)
    ),
)
