"""F-flat and S♯ of a text, which combine S-flat and T-flat, with S-flat beta times as important.

Source: Sakai and Kato, AIRS 2012. NTCIREVAL prints F-flat with beta = 1; S♯ of the 1CLICK-2 task has beta = 10.
"""

import math
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, require_number
from scoring.measures.nugget_recall import recall_figure
from scoring.measures.relevance import LIMITS
from scoring.measures.s_measure import conversation_s_measure as s_of
from scoring.measures.s_measure import s_flat as flat_s
from scoring.measures.t_measure import conversation_t_measure as t_of
from scoring.measures.t_measure import t_flat as flat_t
from scoring.notation import Value
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material


def f_flat(s_flat: float, t_flat: float, beta: float = 1.0) -> float:
    """Return F = (1 + beta²)·S·T / (S + beta²·T), the weighted harmonic mean with S as recall and T as precision.
    `s_flat` and `t_flat` are in [0, 1], and `beta` is above 0; 1 gives both the same weight. The result lies between
    the two. It is 0 if either is 0, and NaN if either is NaN. Raises ValueError for values out of range."""
    if not math.isfinite(beta) or beta <= 0:
        raise ValueError(f"beta must be a number above 0, not {beta}")
    if math.isnan(s_flat) or math.isnan(t_flat):
        return math.nan
    if not (0 <= s_flat <= 1 and 0 <= t_flat <= 1):
        raise ValueError(f"S-flat and T-flat must lie in [0, 1], but are {s_flat} and {t_flat}")
    if s_flat == 0 or t_flat == 0:
        return 0.0
    square = beta * beta
    return (1 + square) / (1 / t_flat + square / s_flat)


def _beta(value: Value) -> float:
    beta = require_number(value)
    if beta <= 0:
        raise InputError(f"beta cannot be {beta:g}", allowed="a number above 0")
    return beta


def _score(material: "Material", measure: Measure) -> Figure:
    value = f_flat(flat_s(s_of(material)), flat_t(t_of(material)), measure.number_of("beta"))
    return recall_figure(material, measure, value)


F_FLAT = Declaration(
    name="F-flat",
    sentence="S-flat and T-flat combined, with S-flat beta times as important; S♯ is beta=10.",
    of="conversation",
    formula="(1 + beta²)·S·T / (S + beta²·T) of S-flat and T-flat",
    source="Sakai and Kato, AIRS 2012",
    undefined="as S-flat or T-flat",
    example="F-flat(beta=10)",
    n="relevant entities named",
    needs=("gold",),
    parameters=(Parameter("beta", "importance of S-flat relative to T-flat", default=1.0, value=_beta), *LIMITS),
    has_top=False,
    score=_score,
)
