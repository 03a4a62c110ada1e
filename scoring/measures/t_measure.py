"""T-measure and T-flat of a text: the share of the text that its nuggets need, a precision for nuggets.

Source: Sakai and Kato, "One Click One Revisited", AIRS 2012; NTCIREVAL's `1click` gives the same values (tests).
"""

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.figure import Figure
from scoring.measure import Declaration, Measure
from scoring.measures.nugget_recall import known_nuggets, recall_figure

if TYPE_CHECKING:
    from scoring.material import Material


def t_measure(lengths: npt.ArrayLike, offsets: npt.ArrayLike, text_length: float) -> float:
    """Return the T-measure: the sum of the vital string lengths of the nuggets found, over the length of the text.

    `lengths` (N,) of the vital strings are at least 0. `offsets` (N,) are NaN for nuggets that are not in the text.
    `text_length` is in characters. The value is at least 0, and NaN for an empty text. It may exceed 1 if a text
    expresses a nugget in fewer characters than its vital string; T-flat caps it.
    """
    long, places = np.asarray(lengths, dtype=np.float64), np.asarray(offsets, dtype=np.float64)
    if long.shape != places.shape:
        raise ValueError(f"lengths must have one value per nugget: {long.size} lengths, {places.size} nuggets")
    if not np.all(np.isfinite(long) & (long >= 0)) or not math.isfinite(text_length) or text_length < 0:
        raise ValueError("lengths must be finite and not negative")
    return float(long[~np.isnan(places)].sum() / text_length) if text_length > 0 else math.nan


def t_flat(value: float) -> float:
    """Return T-flat = min(1, T-measure); NaN stays NaN."""
    return value if math.isnan(value) else min(1.0, value)


def conversation_t_measure(material: "Material") -> float:
    """Return the T-measure of a conversation, including user turns, over relevant entities of length 1 each."""
    known = known_nuggets(material)
    return t_measure(known.lengths, known.offsets, sum(passage.words for passage in material.passages))


def _text_figure(material: "Material", measure: Measure, value: float) -> Figure:
    return recall_figure(material, measure, value, "in characters" if material.unit == "characters" else "")


_of_entities = partial(
    Declaration,
    of="conversation",
    source="Sakai and Kato, AIRS 2012",
    undefined="nothing is known of the topic's entities, or no word was exchanged",
    n="relevant entities named",
    needs=("gold",),
    has_top=False,
)
T_MEASURE = _of_entities(
    name="T-measure",
    sentence="How much of the text is needed, at one word for each relevant entity named.",
    formula="relevant entities named / words of the conversation",
    example="T-measure",
    range=(0.0, math.inf),
    score=lambda material, measure: _text_figure(material, measure, conversation_t_measure(material)),
)
T_FLAT = _of_entities(
    name="T-flat",
    sentence="T-measure, capped at 1.",
    formula="T-measure, at most 1",
    example="T-flat",
    score=lambda material, measure: _text_figure(material, measure, t_flat(conversation_t_measure(material))),
)
