"""A test of whether turns of two sides differ in any of several values, such as their length.

This is the omnibus test behind the card of the user: changes in a user's words may show in their number, in words that
were added or in words that were left out, and separate tests would divide the chance of a false alarm. Here all values
are exchanged together, and the largest statistic counts (P. H. Westfall and S. S. Young, Resampling-Based Multiple
Testing, 1993): each p is corrected over the values, whatever their dependence.

    u_topic = Σ_strata (Σ_turns of the first side x - a·mean x)     a: its turns; the mean is of both sides
    T = |Σ u_topic| / √(Σ u_topic²)                                 of each value; the sides of topics are exchanged

All turns of a conversation count, since a topic is exchanged as a whole: turns of a conversation may be dependent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scoring.statistics.exchange import exchange_signs

_SAME = 1e-9  # values that differ only by the order of summation must compare as equal


@dataclass(frozen=True, slots=True)
class TurnValues:
    """A turn. Turns of a topic are compared within a `stratum`; `values` are by name, NaN if undefined."""

    topic: str
    stratum: str
    values: Mapping[str, float]


def compare_values(
    first: Iterable[TurnValues],
    second: Iterable[TurnValues],
    rng: np.random.Generator,
    *,
    clusters: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Return the two-sided p of each value that both sides have in a common stratum, corrected over the values."""
    clusters = clusters or {}
    cells: dict[tuple[str, str, str], tuple[list[float], list[float]]] = {}
    for side, turns in enumerate((first, second)):
        for turn in turns:
            for name, value in turn.values.items():
                if value == value:
                    cells.setdefault((name, turn.topic, turn.stratum), ([], []))[side].append(value)
    sums: dict[str, dict[str, float]] = {}
    for (name, topic, _), (one, two) in cells.items():
        if one and two:
            mean = (sum(one) + sum(two)) / (len(one) + len(two))
            unit = f"cluster {clusters[topic]}" if topic in clusters else topic
            own = sums.setdefault(name, {})
            own[unit] = own.get(unit, 0.0) + sum(one) - len(one) * mean
    units = list(dict.fromkeys(unit for own in sums.values() for unit in own))
    table = np.array([[own.get(unit, 0.0) for unit in units] for own in sums.values()]).reshape(len(sums), len(units))
    table = table[:, np.abs(table).max(axis=0, initial=0.0) > _SAME]
    spread = np.sqrt(np.square(table).sum(axis=1, keepdims=True))
    scaled = np.divide(table, spread, out=np.zeros_like(table), where=spread > _SAME)
    if not scaled.size:
        return dict.fromkeys(sums, 1.0)
    seen = np.abs(scaled.sum(axis=1))
    as_far, of = np.zeros(len(table)), 0
    for signs in exchange_signs(table.shape[1], rng):
        largest = np.abs(scaled @ signs.T).max(axis=0)
        as_far += (largest[None, :] >= seen[:, None] - _SAME).sum(axis=1)
        of += len(signs)
    return dict(zip(sums, (as_far / of).tolist(), strict=True))
