"""`fair_exposure`: the fairness-based score of a turn ([SWAN] Eq. 3)."""

import math
from collections.abc import Iterator, Mapping, Sequence

from scoring.divergences import DIVERGENCES, distr_sim
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
    """Eq. 3: sum of AW_a · DistrSim(D_a, D*_a) over sum of AW_a, for one nugget or turn.

    achieved: D_a by attribute set, (C,) shares that sum to 1. attributes: the sets with their gold D*_a. weights: AW_a,
    1 for sets that are not named. ordinal: the divergence of ordinal sets; nominal ones use JSD. In [0, 1]; NaN without
    a set, or if all weigh 0. Raises KeyError for an unknown set, ValueError for shares that are not a distribution.
    """
    similar = {}
    for name, shares in achieved.items():
        known = attributes[name]
        divergence = DIVERGENCES["JSD" if known.scale == "nominal" else ordinal]
        similar[name] = float(distr_sim(shares, known.gold, divergence))
    return combine(similar, weights)


def judge(sight: Sight) -> Iterator[Verdict]:
    """Apply Eq. 3 to the mean membership of a turn's relevant entities, with the settings' weights. Gives no score to a
    turn without relevant entities."""
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
