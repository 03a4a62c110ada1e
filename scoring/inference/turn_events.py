"""Comparison of how often an event occurs in the turns of two sides, and its association with the outcome.

The event may persist once it has begun, such as a user model that changes to another language. So only its first
occurrence in a conversation counts, and each turn up to this occurrence is a case. One side's conversations may be
longer, and reach other kinds of turns, because its answers are worse; so turns are compared within strata that the
caller names (topic, number of the turn, act).

There are two p, valid under different conditions, and the larger p counts:

    within    the exact conditional test over strata (`scoring.statistics.stratified`): valid for rare events and for
              sides of unequal lengths, if conversations of a topic are independent
    between   exchanges the sides of topics, on observed minus expected events within strata: valid even if all
              conversations of a topic are alike, as with a system that always answers the same

    u_topic = Σ_strata (k - a·m/n)        k: events of the first side, a: its turns, m: events, n: turns

Exchanges over fewer than six units cannot give a p of .05. Then only `within` is used, which says nothing about other
topics.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scoring.statistics.exchange import exchange_p, exchange_signs
from scoring.statistics.stratified import compare_within

# The number of units with which exchanges can give a p of 2/2^6 = .03.
_FEWEST = 6
_SAME = 1e-9  # values that differ only by the order of summation must compare as equal


@dataclass(frozen=True, slots=True)
class TurnCase:
    """A turn, its conversation, and the stratum within which it is compared.

    - `happened`: whether the event happened. None if unknown: the turn is then not a case, but later turns still count.
    - `useful`: the outcome of the turn, or None.
    """

    topic: str
    conversation: Hashable
    stratum: str
    happened: bool | None
    useful: bool | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """A comparison of two kinds of turns.

    - `difference`: the difference, pooled over strata (Mantel and Haenszel), in [-1, 1]; NaN if no stratum has both
      kinds.
    - `p`: the two-sided p; NaN if there is no test.
    - `n`, `topics`: the numbers of turns of both kinds, in all strata, and of topics with an informative stratum.
    """

    difference: float
    p: float
    n: tuple[int, int]
    topics: int


# By topic and stratum: the turns in which the event happened, and all turns.
EventTable = Mapping[str, Mapping[str, tuple[int, int]]]


def event_table(cases: Iterable[TurnCase]) -> EventTable:
    """Count one side's events, each conversation up to its first event. Turns of a conversation must be in order."""
    over: set[Hashable] = set()
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for one in cases:
        if one.happened is not None and one.conversation not in over:
            _count_turn(counts, one, happened=one.happened)
            if one.happened:
                over.add(one.conversation)
    return counts


def join_events(tables: Iterable[EventTable]) -> dict[str, dict[str, tuple[int, int]]]:
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for table in tables:
        for topic, strata in table.items():
            own = found.setdefault(topic, {})
            for stratum, (events, turns) in strata.items():
                before = own.get(stratum, (0, 0))
                own[stratum] = before[0] + events, before[1] + turns
    return found


def compare_events(
    first: EventTable, second: EventTable, rng: np.random.Generator, *, clusters: Mapping[str, str] | None = None
) -> Contrast:
    """Compare how often the event first occurs on the two sides. Topics of a cluster are exchanged together."""
    clusters = clusters or {}
    strata: list[tuple[int, int, int, int]] = []
    units: dict[str, float] = {}
    telling = 0
    for topic in dict.fromkeys((*first, *second)):
        one, two = first.get(topic, {}), second.get(topic, {})
        informs = False
        for stratum in dict.fromkeys((*one, *two)):
            (hits, ours), (others, theirs) = one.get(stratum, (0, 0)), two.get(stratum, (0, 0))
            marked, turns = hits + others, ours + theirs
            strata.append((hits, ours, marked, turns))
            unit = f"cluster {clusters[topic]}" if topic in clusters else topic
            units[unit] = units.get(unit, 0.0) + hits - ours * marked / turns
            informs = informs or (ours > 0 and theirs > 0 and 0 < marked < turns)
        telling += informs
    sizes = _count_turns(first), _count_turns(second)
    if not strata:
        return Contrast(math.nan, math.nan, sizes, 0)
    within = compare_within(*zip(*strata, strict=True))
    if not telling:
        return Contrast(within.difference, math.nan, sizes, 0)
    between = exchange_p(list(units.values()), rng) if len(units) >= _FEWEST else 0.0
    return Contrast(within.difference, float(max(within.p, between)), sizes, telling)


def effect_of_events(
    cases: Iterable[TurnCase], rng: np.random.Generator, *, clusters: Mapping[str, str] | None = None
) -> Contrast:
    """Compare the usefulness of turns with and without the event, within strata.

    All turns of a conversation count, including those after the event began.
    """
    faulty: dict[str, dict[str, tuple[int, int]]] = {}
    others: dict[str, dict[str, tuple[int, int]]] = {}
    for one in cases:
        if one.happened is not None and one.useful is not None:
            _count_turn(faulty if one.happened else others, one, happened=one.useful)
    return compare_events(faulty, others, rng, clusters=clusters)


def _count_turn(counts: dict[str, dict[str, tuple[int, int]]], one: TurnCase, *, happened: bool) -> None:
    own = counts.setdefault(one.topic, {})
    events, turns = own.get(one.stratum, (0, 0))
    own[one.stratum] = events + happened, turns + 1


def _count_turns(table: EventTable) -> int:
    return sum(turns for own in table.values() for _, turns in own.values())


@dataclass(frozen=True, slots=True)
class TurnValues:
    """A turn, the stratum within which it is compared, and its values by name (NaN if undefined)."""

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
    """Test whether turns of two sides differ in any of several values, such as their length. Returns two-sided p.

        u_topic = Σ_strata (Σ_turns of the first side x - a·mean x)     a: its turns; the mean is over both sides
        T = |Σ u_topic| / √(Σ u_topic²)                                 for each value

    The sides of topics are exchanged for all values together, and the largest statistic counts (P. H. Westfall and S.
    S. Young, Resampling-Based Multiple Testing, 1993): each p is corrected over the values, whatever their dependence.
    Changes in a user's wording may show in any of these values, and separate tests would need a stricter level each.
    All turns of a conversation count and may be dependent, since a topic is exchanged as a whole. Only values that both
    sides have in a common stratum get a p.
    """
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
