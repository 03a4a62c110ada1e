"""`fair_exposure`: the fairness-based score of a turn ([SWAN] Eq. 3)."""

import math
from collections.abc import Iterator, Mapping, Sequence

from scoring.divergences import DIVERGENCES, distribution_similarity
from scoring.fairness import combine, group_fairness
from scoring.swan.rules.rule import Rule, Sight, Verdict
from scoring.words import passages
from topics.attributes import AttributeSet


def fairness_score(
    achieved: Mapping[str, Sequence[float]],
    attributes: Mapping[str, AttributeSet],
    weights: Mapping[str, float],
    *,
    ordinal: str = "RNOD",
) -> float:
    """Return Eq. 3 for one nugget or turn: the sum of AW_a · DistrSim(D_a, D*_a) over the sum of AW_a, in [0, 1].

    `achieved` has D_a by attribute set: (C,) shares that sum to 1. `attributes` are the sets with their gold D*_a.
    `weights` are AW_a, 1 for sets that are not named. `ordinal` is the divergence for ordinal sets; nominal sets use
    JSD. Returns NaN without a set or if all weights are 0. Raises KeyError for an unknown set and ValueError for
    shares that are not a distribution.
    """
    similar = {}
    for name, shares in achieved.items():
        known = attributes[name]
        divergence = DIVERGENCES["JSD" if known.scale == "nominal" else ordinal]
        similar[name] = float(distribution_similarity(shares, known.gold, divergence))
    return combine(similar, weights)


def judge(sight: Sight) -> Iterator[Verdict]:
    """Score a turn by Eq. 3 over the mean group membership of its relevant entities, with the weights of the
    settings. A turn without relevant entities gets no score."""
    turns = {one.turn: one.first_position for one in passages(sight.conversation) if one.speaker == "system"}
    sets = {one.name: one for one in sight.attributes}
    achieved: dict[int, dict[str, tuple[float, ...]]] = {}
    for name, attribute in sets.items():
        for turn in group_fairness(sight.entities, turns, attribute, sight.settings)[0].turns:
            if turn.nuggets:
                achieved.setdefault(turn.turn, {})[name] = turn.achieved
    for item in sight.items:
        if item.turn in achieved:
            value = fairness_score(achieved[item.turn], sets, sight.settings.weights, ordinal=sight.settings.ordinal)
            if not math.isnan(value):
                yield Verdict(item, value)


FAIR_EXPOSURE = Rule(
    name="fair_exposure",
    version="1",
    level="turn",
    limits="sees entities by their links, relevant ones only, and groups by the gold table; an unknown group counts "
    "as uniform",
    silence="the turn links to no relevant entity, or nothing is known of their groups",
    judge=judge,
)
