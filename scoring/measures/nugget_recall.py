"""Recall and W-recall of a text: the unweighted and weighted share of the known nuggets that it contains.

The known nuggets of a conversation are the entities that the gold table marks as relevant to its topic, weighted by
their gains. The vital string of an entity is its address, which is one word (or one character); offsets are in the
unit of the conversation, see `scoring.words`. Position has no effect.

Source: the 1CLICK tasks of NTCIR (Sakai, Kato and Song, CIKM 2011), as NTCIREVAL prints them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.figure import Figure
from scoring.measure import Declaration, Measure
from topics.arrays import Floats

if TYPE_CHECKING:
    from scoring.material import Material


def first_offsets(nuggets: Sequence[str], matches: Iterable[tuple[str, float]]) -> Floats:
    """Return the (N,) offsets in characters of the first match of each gold nugget. Nuggets not in the text are NaN.
    Raises ValueError for an offset below 0 and for a match of a nugget that is not gold."""
    place: Mapping[str, int] = {name: at for at, name in enumerate(nuggets)}
    if len(place) < len(nuggets):
        raise ValueError("gold nuggets must be distinct, but one appears twice")
    found = np.full(len(nuggets), math.nan)
    for name, offset in matches:
        if name not in place:
            raise ValueError(f"{name!r} is not a gold nugget")
        if not offset >= 0:
            raise ValueError(f"{name}: the offset must be at least 0, not {offset}")
        found[place[name]] = np.fmin(found[place[name]], offset)
    return found


def recall(offsets: npt.ArrayLike) -> float:
    """Return the share of the N gold nuggets that are in the text, or NaN for N = 0. `offsets` (N,) are NaN for
    nuggets that are not in the text."""
    places = np.asarray(offsets, dtype=np.float64)
    return float((~np.isnan(places)).mean()) if places.size else math.nan


def weighted_recall(weights: npt.ArrayLike, offsets: npt.ArrayLike) -> float:
    """Return W-recall: the weight of the nuggets in the text (offset not NaN) over all weight. NaN if all weight is
    0."""
    shares, places = np.asarray(weights, dtype=np.float64), np.asarray(offsets, dtype=np.float64)
    if shares.shape != places.shape:
        raise ValueError(f"weights must have one value per nugget: {shares.size} weights, {places.size} nuggets")
    if not np.all(np.isfinite(shares) & (shares >= 0)):
        raise ValueError("weights of nuggets must be finite and not negative")
    whole = shares.sum()
    return float(shares[~np.isnan(places)].sum() / whole) if whole > 0 else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class KnownNuggets:
    """The N relevant entities of a topic, as (N,) arrays.

    `weights` are gains, and `lengths` of vital strings are 1 each. `offsets` count the words, or characters, read up
    to the end of the first link to each entity. Entities not in the conversation are NaN.
    """

    weights: Floats
    lengths: Floats
    offsets: Floats

    @property
    def found(self) -> int:
        return int((~np.isnan(self.offsets)).sum())


def known_nuggets(material: Material) -> KnownNuggets:
    def make() -> KnownNuggets:
        assert material.gold is not None
        gains = {one.entity: material.settings.gain(one.grade) for one in material.gold.entries(material.topic.id)}
        names = [entity for entity, gain in gains.items() if gain > 0]
        matches = [(nugget.entity, float(nugget.position)) for nugget in material.nuggets if nugget.relevant]
        weights = np.array([gains[name] for name in names], dtype=np.float64)
        return KnownNuggets(weights, np.ones(len(names)), first_offsets(names, matches))

    return material.once(KnownNuggets, make)


def recall_figure(material: Material, measure: Measure, value: float, note: str = "") -> Figure:
    """Return the figure for a value over the relevant entities in the conversation."""
    return Figure(measure.name, value, known_nuggets(material).found, unjudged=material.unjudged, note=note)


def _share_figure(share: Callable[[KnownNuggets], float]) -> Callable[[Material, Measure], Figure]:
    def score(material: Material, measure: Measure) -> Figure:
        known = known_nuggets(material)
        return Figure(measure.name, share(known), len(known.weights), unjudged=material.unjudged)

    return score


_of_known = partial(
    Declaration,
    of="conversation",
    source="NTCIR 1CLICK (Sakai, Kato and Song, CIKM 2011)",
    undefined="nothing is known of the topic's entities, or none is relevant",
    n="relevant entities of the gold table",
    needs=("gold",),
)
RECALL = _of_known(
    name="Recall",
    sentence="The share of the known relevant entities that a conversation names.",
    formula="relevant entities named / relevant entities of the gold table",
    example="Recall",
    score=_share_figure(lambda known: recall(known.offsets)),
)
WEIGHTED_RECALL = _of_known(
    name="W-recall",
    sentence="The share of the total gain of all relevant entities that a conversation names.",
    formula="gains of the relevant entities named / gains of those of the gold table",
    example="W-recall",
    score=_share_figure(lambda known: weighted_recall(known.weights, known.offsets)),
)
