"""Krippendorff's alpha from its definition, with coincidences."""

import math
from collections.abc import Callable, Sequence

Metric = Callable[[float, float], float]
Units = Sequence[Sequence[float]]
"""For every unit the judgments that were made of it."""


def nominal(one: float, other: float) -> float:
    """1 where values differ."""
    return float(one != other)


def interval(one: float, other: float) -> float:
    """The squared difference."""
    return (one - other) ** 2


def coincidences(units: Units) -> dict[tuple[float, float], float]:
    """o_ck: pairs of judgments of one unit, each weighted by 1/(m_u − 1), in both orders (Krippendorff, "Computing
    Krippendorff's alpha-reliability", 2011). Units with fewer than two judgments do not count."""
    found: dict[tuple[float, float], float] = {}
    for unit in units:
        for i, one in enumerate(unit):
            for j, other in enumerate(unit):
                if i != j:
                    found[one, other] = found.get((one, other), 0.0) + 1 / (len(unit) - 1)
    return found


def ordinal(units: Units) -> Metric:
    """The ordinal metric of these units: (Σ_{g=c..k} n_g − (n_c + n_k)/2)² (Krippendorff 2011)."""
    counts: dict[float, float] = {}
    for (one, _), weight in coincidences(units).items():
        counts[one] = counts.get(one, 0.0) + weight

    def metric(one: float, other: float) -> float:
        low, high = min(one, other), max(one, other)
        between = math.fsum(count for value, count in counts.items() if low <= value <= high)
        return (between - (counts[one] + counts[other]) / 2) ** 2

    return metric


def alpha(units: Units, metric: Metric = nominal) -> float:
    """1 − D_o/D_e with D_o = Σ o_ck δ²_ck / n and D_e = Σ n_c n_k δ²_ck / (n (n − 1)) (Krippendorff 2011). NaN if
    nothing could disagree: one value, or no pair."""
    table = coincidences(units)
    total = math.fsum(table.values())
    if not total:
        return math.nan
    counts: dict[float, float] = {}
    for (one, _), weight in table.items():
        counts[one] = counts.get(one, 0.0) + weight
    seen = math.fsum(weight * metric(*pair) for pair, weight in table.items()) / total
    expected = math.fsum(counts[one] * counts[other] * metric(one, other) for one in counts for other in counts) / (
        total * (total - 1)
    )
    return 1 - seen / expected if expected else math.nan
