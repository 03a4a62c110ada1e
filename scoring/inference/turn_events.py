"""Does something happen in the turns of one side more often than in those of another, and does it go with the outcome?

For what may happen in a turn and goes on once it began, as a user's model that changes to another language and stays
there. So only the first time in a conversation counts: until then each turn is a case. One side's conversations may be
longer, and come to other kinds of turns, because its answers are worse; so turns are compared within strata that the
caller names (topic, number of the turn, act).

Two p are asked, and the larger one counts, as each is right where the other is not:

    within    the exact conditional test over strata (`scoring.statistics.stratified`): right for rare events and for
              sides of unlike lengths, if conversations of a topic are independent
    between   exchanges of the sides of topics, of what happened less what was expected within their strata: right if
              all conversations of a topic are alike, as with a system that always answers the same

    u_topic = Σ_strata (k - a·m/n)        k: events of the first side, a: its turns, m: events, n: turns

Fewer than six units cannot give a p of .05 by exchanges, whatever happens in them. Then `within` stands alone, and says
nothing of other topics.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scoring.statistics.exchange import exchange_p
from scoring.statistics.stratified import compare_within

# Units of which exchanges can give a p of 2/2^6 = .03.
_FEWEST = 6


@dataclass(frozen=True, slots=True)
class TurnCase:
    """A turn. conversation: which one it is of. stratum: within which turns are compared. happened: None where it is
    not known, which is no case and ends nothing. useful: the outcome of the turn, None for none."""

    topic: str
    conversation: Hashable
    stratum: str
    happened: bool | None
    useful: bool | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """difference: pooled over strata (Mantel and Haenszel), in [-1, 1]; NaN where no stratum has both kinds of turns.
    p: two-sided; NaN where it cannot be asked. n: turns of both kinds, in all strata. topics: how many of them have a
    stratum that tells."""

    difference: float
    p: float
    n: tuple[int, int]
    topics: int


# By topic and stratum: turns in which it happened, and turns.
EventTable = Mapping[str, Mapping[str, tuple[int, int]]]


def event_table(cases: Iterable[TurnCase]) -> EventTable:
    """The counts of one side, each conversation up to the first time in it. Turns are in the order of their
    conversations."""
    over: set[Hashable] = set()
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for one in cases:
        if one.happened is not None and one.conversation not in over:
            _count(counts, one, happened=one.happened)
            if one.happened:
                over.add(one.conversation)
    return counts


def joined_events(tables: Iterable[EventTable]) -> dict[str, dict[str, tuple[int, int]]]:
    """The counts of several tables added up."""
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
    """How much more often it first happens in turns of the first side. clusters: by topic, whose topics are exchanged
    together."""
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
    sizes = _turns(first), _turns(second)
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
    """How much more often turns are useful if it happened in them than others of their stratum are. Of all turns, as a
    fault that goes on may help or hinder each time."""
    faulty: dict[str, dict[str, tuple[int, int]]] = {}
    others: dict[str, dict[str, tuple[int, int]]] = {}
    for one in cases:
        if one.happened is not None and one.useful is not None:
            _count(faulty if one.happened else others, one, happened=one.useful)
    return compare_events(faulty, others, rng, clusters=clusters)


def _count(counts: dict[str, dict[str, tuple[int, int]]], one: TurnCase, *, happened: bool) -> None:
    own = counts.setdefault(one.topic, {})
    events, turns = own.get(one.stratum, (0, 0))
    own[one.stratum] = events + happened, turns + 1


def _turns(table: EventTable) -> int:
    return sum(turns for own in table.values() for _, turns in own.values())
