"""R(C): relevance of a conversation, discounted by the number of words read ([GFRC] Eq. 3, 6-8).

In scripts without blanks between words, positions and L count characters, as in Eq. 2 ([GFRC] §2.2: L = 1,000); see
`scoring.words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.columns import Conversations
from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, require_number
from scoring.notation import Value
from scoring.nuggets import Nugget, position_weight

if TYPE_CHECKING:
    from scoring.material import Material


def hard_normaliser(patience: int) -> float:
    """Return N = (L + 1)/2, Eq. 7: the sum of pw over L words if each word is a relevant nugget."""
    return (patience + 1) / 2


def relevance(nuggets: Iterable[Nugget], patience: int) -> float:
    """Return R(C) = (1/N) · sum over the nuggets of pw(n)·g(n), Eq. 3, in [0, 1]. `patience` is L in the unit of the
    positions. In practice values are far below 1, so use them for comparisons, and print four digits or more. A
    conversation without relevant nuggets has 0, not NaN."""
    earning = [nugget for nugget in nuggets if nugget.relevant]
    if not earning:
        return 0.0
    weights = position_weight([nugget.position for nugget in earning], patience)
    gains = np.array([nugget.gain for nugget in earning])
    return float((weights * gains).sum() / hard_normaliser(patience))


def relevances(many: Conversations) -> npt.NDArray[np.float64]:
    """Return (conversations,) values equal to `relevance` to the last bit."""

    def make() -> npt.NDArray[np.float64]:
        products = position_weight(many.position, many.limit[many.of]) * many.gain
        counts = many.counts
        starts = np.cumsum(counts) - counts
        sums = np.zeros(len(many))
        for count in np.unique(counts[counts > 0]):  # numpy adds equally many numbers in the same order
            rows = np.flatnonzero(counts == count)
            sums[rows] = products[starts[rows][:, None] + np.arange(count)].sum(axis=1)
        return sums / ((many.limit + 1) / 2)

    return many.compute_once(relevance, make)


def _whole_number(value: Value) -> float:
    """Return a whole number as an int, and a fraction unchanged, so that the settings can refuse it."""
    number = require_number(value)
    return int(number) if number.is_integer() else number


LIMITS = (
    Parameter("L", "words a user reads at most", setting="patience", value=_whole_number),
    Parameter(
        "Lc",
        "characters a user reads at most where words have no blanks",
        setting="patience_characters",
        value=_whole_number,
    ),
)


def character_note(material: Material) -> str:
    """Return a note with the unit and L for figures that count characters, or "" for figures that count words."""
    return f"in characters, L = {material.patience}" if material.unit == "characters" else ""


def _score_relevance(material: Material, measure: Measure) -> Figure:
    repeated = sum(nugget.duplicate for nugget in material.nuggets)
    return Figure(
        measure.base_name,
        material.once(RELEVANCE, lambda: relevance(material.nuggets, material.patience)),
        len(material.relevant),
        unjudged=material.unjudged,
        note="; ".join(filter(None, (f"{repeated} repeated" if repeated else "", character_note(material)))),
    )


RELEVANCE: Declaration = Declaration(
    name="R",
    sentence="How much relevant content a conversation gives, discounted by the words read before it.",
    of="conversation",
    formula="(1/N) Σ pw(n)·g(n) over the nuggets n, N = (L + 1)/2",
    source="[GFRC] Eq. 3, 6, 7",
    undefined="nothing is known of the topic's entities; 0 without a relevant nugget",
    example="R(L=600)",
    n="relevant nuggets",
    needs=("gold",),
    parameters=LIMITS,
    legend="relevance (an entity of full gain in the first word adds 2/(L+1): .0016 with L = 1250)",
    has_top=False,  # divided by a relevant nugget at every word, which nobody reaches
    shown="always",
    score=_score_relevance,
    columns=lambda many: (many.column(RELEVANCE.name, relevances(many)),),
)


def _weight_figures(material: Material) -> Iterator[Figure]:
    nuggets = material.nuggets
    if not nuggets:
        return
    name, patience = POSITION_WEIGHT.name, material.patience
    for nugget in nuggets:
        weight = max(0.0, 1.0 - (nugget.position - 1.0) / patience)  # for few numbers faster than `position_weight`
        unjudged, unknown = int(nugget.unjudged), len(nugget.unknown)
        yield Figure(name, weight, 1, nugget.turn, nugget, unjudged, unknown, _weight_note(nugget))


def _weight_note(nugget: Nugget) -> str:
    if nugget.in_text and not nugget.duplicate and nugget.grade is not None:
        return ""
    remarks = (
        (nugget.duplicate, "repeated"),
        (nugget.unjudged, "unjudged"),
        (not nugget.in_text, "outside the text, placed at the last word of the turn"),
    )
    return "; ".join(note for applies, note in remarks if applies)


POSITION_WEIGHT = Declaration(
    name="pw",
    sentence="The weight of a nugget by the words that a user reads up to its end.",
    of="nugget",
    formula="max(0, 1 - (WC(n) - 1)/L)",
    source="[GFRC] Eq. 6; Eq. 8 prints WC for WC - 1, Table 1 needs Eq. 6",
    undefined="never",
    example="pw",
    n="1",
    needs=("gold",),
    shown="always",
    family=_weight_figures,
)
