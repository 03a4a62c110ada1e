"""Nugget detection (STC-3, DialEval): how well a predictor predicts the annotators' nugget types in a dialogue.

A block is everything that one side says before the other side speaks. Annotators give each block one type of its
side. Predictions and gold are distributions over the types, which have no order, so RNSS and JSD compare them.

    customer    CNUG0 states the problem · CNUG useful to the helpdesk · CNUG* says that it is solved · CNaN none
    helpdesk    HNUG useful to the customer · HNUG* gives the solution · HNaN none

A dialogue's score is alpha times the mean over customer blocks plus (1 - alpha) times the mean over helpdesk blocks
([STC3] Eq. 12), so that a talkative side does not weigh more. If one side says nothing, the score is the mean of the
other side. A predictor's score is the unweighted mean over dialogues (Eq. 13), in [0, 1], and 0 is good.
This is the macro average. The micro average (note 8) is the mean over all blocks of all dialogues, so that long
dialogues weigh more.

Source: [STC3] T. Sakai, "Towards Automatic Evaluation of Multi-Turn Dialogues", EVIA 2017, §3.2.4.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scoring.divergences import Divergence, jsd, rnss
from scoring.measure import Declaration

CUSTOMER_TYPES = ("CNUG0", "CNUG", "CNUG*", "CNaN")
HELPDESK_TYPES = ("HNUG", "HNUG*", "HNaN")


def _declare(name: str, by: str) -> Declaration:
    return Declaration(
        name=name,
        sentence=f"How far the predicted nugget types of each block are from those of the annotators, {by}.",
        of="predictor",
        formula="alpha·mean over customer blocks + (1 - alpha)·mean over helpdesk blocks",
        source="[STC3] Eq. 11-13",
        undefined="a dialogue without blocks",
        example=f"{name}(nugget)",
        n="dialogues",
        needs=("annotations",),
        good="low",
        has_top=False,
    )


_DIVERGENCES: Mapping[Declaration, Divergence] = MappingProxyType(
    {_declare("RNSS", "by squared differences"): rnss, _declare("JSD", "by information, in bits"): jsd}
)
NUGGETS = tuple(_DIVERGENCES)
# By printed name.
NUGGET_DIVERGENCES: Mapping[str, Divergence] = MappingProxyType({one.name: by for one, by in _DIVERGENCES.items()})


def block_divergences(
    predicted: Sequence[npt.ArrayLike], gold: Sequence[npt.ArrayLike], divergence: Divergence
) -> list[float]:
    """Return the divergence of each block, from as many (T,) distributions over the T types of its side."""
    if len(predicted) != len(gold):
        raise ValueError(f"predicted and gold must have equally many blocks, not {len(predicted)} and {len(gold)}")
    if not len(gold):
        return []
    found: list[float] = divergence(
        np.asarray(predicted, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    ).tolist()
    return found


def side_mean(divergences: Sequence[float]) -> float:
    """Return the mean divergence of one side's blocks, or NaN without blocks."""
    return math.fsum(divergences) / len(divergences) if divergences else math.nan


def dialogue_score(customer: float, helpdesk: float, alpha: float = 0.5) -> float:
    """Return Eq. 12 from the means of the two sides. `alpha`, in [0, 1], is the weight of the customer side. If one
    side has no blocks (NaN), the result is the other side's mean, even if its weight is 0. If neither side has
    blocks, the result is NaN."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie in [0, 1], not {alpha}")
    if math.isnan(customer):
        return helpdesk
    if math.isnan(helpdesk):
        return customer
    return alpha * customer + (1 - alpha) * helpdesk
