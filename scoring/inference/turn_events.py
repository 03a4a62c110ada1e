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

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scoring.statistics.exchange import exchange_p
from scoring.statistics.stratified import compare_within

__all__ = ["Contrast", "TurnCase", "compare_events", "effect_of_events"]


_FEWEST = 6
"""Units of which exchanges can give a p of 2/2^6 = .03."""


@dataclass(frozen=True, slots=True)
class TurnCase:
    """A turn. conversation: which one it is of. stratum: within which turns are compared. happened: None where it is
    not known, which is no case and ends nothing. useful: the outcome of the turn, None for none."""

    topic: str
    conversation: Hashable
    stratum: Hashable
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


def compare_events(
    first: Iterable[TurnCase],
    second: Iterable[TurnCase],
    rng: np.random.Generator,
    *,
    clusters: Mapping[str, str] | None = None,
) -> Contrast:
    """How much more often it first happens in turns of the first side. Turns are in the order of their conversations.

    clusters: by topic, whose topics are exchanged together."""
    sides = [(one, True) for one in _until_first(first)] + [(one, False) for one in _until_first(second)]
    return _contrast([(one, exposed, bool(one.happened)) for one, exposed in sides], rng, clusters or {})


def effect_of_events(
    cases: Iterable[TurnCase], rng: np.random.Generator, *, clusters: Mapping[str, str] | None = None
) -> Contrast:
    """How much more often turns are useful if it happened in them than others of their stratum are. Of all turns, as a
    fault that goes on may help or hinder each time."""
    known = [one for one in cases if one.happened is not None and one.useful is not None]
    return _contrast([(one, bool(one.happened), bool(one.useful)) for one in known], rng, clusters or {})


def _until_first(cases: Iterable[TurnCase]) -> list[TurnCase]:
    over: set[Hashable] = set()
    found = []
    for one in cases:
        if one.happened is not None and one.conversation not in over:
            found.append(one)
            if one.happened:
                over.add(one.conversation)
    return found


def _contrast(
    cases: list[tuple[TurnCase, bool, bool]], rng: np.random.Generator, clusters: Mapping[str, str]
) -> Contrast:
    """cases: each with whether it is exposed, and whether it has the outcome."""
    strata: dict[tuple[str, Hashable], list[int]] = defaultdict(lambda: [0] * 4)
    for one, exposed, outcome in cases:
        for at, counted in enumerate((exposed and outcome, exposed, outcome, True)):
            strata[one.topic, one.stratum][at] += counted
    sizes = sum(exposed for _, exposed, _ in cases), sum(not exposed for _, exposed, _ in cases)
    if not strata:
        return Contrast(math.nan, math.nan, sizes, 0)
    units: dict[str, float] = {}
    telling: set[str] = set()
    for (topic, _), (hits, ours, marked, turns) in strata.items():
        unit = f"cluster {clusters[topic]}" if topic in clusters else topic
        units[unit] = units.get(unit, 0.0) + hits - ours * marked / turns
        if 0 < ours < turns and 0 < marked < turns:
            telling.add(topic)
    within = compare_within(*zip(*strata.values(), strict=True))
    if not telling:
        return Contrast(within.difference, math.nan, sizes, 0)
    between = exchange_p(list(units.values()), rng) if len(units) >= _FEWEST else 0.0
    return Contrast(within.difference, float(max(within.p, between)), sizes, len(telling))
