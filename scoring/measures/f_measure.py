"""F-flat and S♯ of a text: S-flat and T-flat in one figure, with S taken beta times as seriously.

Source: Sakai and Kato, AIRS 2012. NTCIREVAL prints F-flat with beta = 1; S♯ of the 1CLICK-2 task is beta = 10.
"""

from __future__ import annotations

import math

__all__ = ["f_flat"]


def f_flat(s_flat: float, t_flat: float, beta: float = 1.0) -> float:
    """F = (1 + beta²)·S·T / (S + beta²·T): the weighted harmonic mean, S in the part of recall and T of precision.

    s_flat, t_flat: in [0, 1]. beta: above 0; 1 weighs both alike. In [0, 1], between the two; 0 where either is 0.
    NaN where either is NaN. Raises ValueError for values out of range.
    """
    if not math.isfinite(beta) or beta <= 0:
        raise ValueError(f"beta is a number above 0, not {beta}")
    if math.isnan(s_flat) or math.isnan(t_flat):
        return math.nan
    if not (0 <= s_flat <= 1 and 0 <= t_flat <= 1):
        raise ValueError(f"S-flat and T-flat lie in [0, 1], not {s_flat} and {t_flat}")
    if s_flat == 0 or t_flat == 0:
        return 0.0
    square = beta * beta
    return (1 + square) / (1 / t_flat + square / s_flat)
