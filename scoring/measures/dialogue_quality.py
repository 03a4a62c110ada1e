"""Dialogue quality (STC-3, DialEval): how well a predictor predicts the annotators' ratings of a whole dialogue.

Annotators rate a dialogue on L ordered levels for each of several questions (A: is the task accomplished, S: is the
customer satisfied, E: is the exchange effective). Predicted and gold ratings are distributions over the levels. A
dialogue's score is the divergence between the two, and a predictor's score is the unweighted mean over dialogues.

    NMD, RSNOD          the measures of the evaluation campaigns, which respect the order of levels
    RNSS, JSD, SNOD     further measures from the task's design, [STC3] §3.2.3

All are divergences in [0, 1], and 0 is good. Official tables print -log2 of the mean instead, which has no upper
bound and is better if larger; `minus_log2` computes it, always under its own name.

Source: [STC3] T. Sakai, "Towards Automatic Evaluation of Multi-Turn Dialogues", EVIA 2017, Eq. 3-10.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy.typing as npt

from scoring.divergences import Divergence, jsd, nmd, rnss, rsnod, snod
from scoring.measure import Declaration
from topics.arrays import Floats


def _declare(name: str, by: str, formula: str) -> Declaration:
    return Declaration(
        name=name,
        sentence=f"How far the predicted ratings of a dialogue are from those of the annotators, {by}.",
        of="predictor",
        formula=formula,
        source="[STC3] Eq. 3-10",
        undefined="no annotator answered the question",
        example=f"{name}(A)",
        n="dialogues",
        needs=("annotations",),
        good="low",
        has_top=False,
    )


_DIVERGENCES: Mapping[Declaration, Divergence] = MappingProxyType(
    {
        _declare("NMD", "by cumulated shares", "Σ abs(cumP - cumQ) / (L - 1)"): nmd,
        _declare("RSNOD", "by the distance of levels, both ways", "√((OD(p,q) + OD(q,p)) / 2 / (L - 1))"): rsnod,
        _declare("RNSS", "by squared differences", "√(Σ(p - q)² / 2)"): rnss,
        _declare("JSD", "by information, in bits", "(KL(p‖m) + KL(q‖m)) / 2, m = (p + q) / 2"): jsd,
        _declare("SNOD", "as RSNOD without the root", "(OD(p,q) + OD(q,p)) / 2 / (L - 1)"): snod,
    }
)
# The official ones first.
QUALITY = tuple(_DIVERGENCES)

# By printed name.
QUALITY_DIVERGENCES: Mapping[str, Divergence] = MappingProxyType({one.name: by for one, by in _DIVERGENCES.items()})


def quality_divergences(predicted: npt.ArrayLike, gold: npt.ArrayLike) -> dict[str, Floats]:
    """Return each measure's (...) divergences of (..., L) distributions over L >= 2 levels, in ascending or
    descending order. Raises ValueError for a row that is not a distribution."""
    return {name: divergence(predicted, gold) for name, divergence in QUALITY_DIVERGENCES.items()}


def minus_log2(mean: float) -> float:
    """Return -log2 of a mean divergence in [0, 1], as official scripts print it. The result is infinite for 0 and NaN
    for NaN. It is not a mean over dialogues. For its interval, transform and exchange the ends of the mean's
    interval."""
    if math.isnan(mean):
        return math.nan
    if not 0 <= mean <= 1:
        raise ValueError(f"a mean divergence must lie in [0, 1], not be {mean}")
    return -math.log2(mean) + 0.0 if mean > 0 else math.inf
