"""`fair_exposure`: the fairness-based score of a turn or nugget ([SWAN] Eq. 3)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scoring.divergences import DIVERGENCES, distribution_similarity
from scoring.fairness import combine, group_fairness
from scoring.nuggets import Nugget as Entity
from scoring.swan.item import Item
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


def judge_turns(sight: Sight) -> Iterator[Verdict]:
    """Score a turn by Eq. 3 over the mean group membership of its relevant entities, with the weights of the
    settings. A turn without relevant entities gets no score."""
    turns = {one.turn: one.first_position for one in passages(sight.conversation) if one.speaker == "system"}
    yield from _judge(sight, {item.turn: item for item in sight.items}, turns, sight.entities)


def judge_nuggets(sight: Sight) -> Iterator[Verdict]:
    """Score a nugget by Eq. 3 over the relevant entities whose links begin in its words. A nugget without relevant
    entities gets no score, and neither does an entity outside the text."""
    items = dict(enumerate(sight.items, 1))
    by_turn: dict[int, list[Entity]] = {}
    for entity in sight.entities:
        if entity.in_text:
            by_turn.setdefault(entity.turn, []).append(entity)
    inside = [
        replace(entity, turn=number)  # each nugget takes the place of a turn
        for number, item in items.items()
        for entity in by_turn.get(item.turn, ())
        if item.start <= entity.start < item.end
    ]
    yield from _judge(sight, items, {number: item.position for number, item in items.items()}, inside)


def _judge(
    sight: Sight, items: Mapping[int, Item], positions: Mapping[int, int], entities: Sequence[Entity]
) -> Iterator[Verdict]:
    """Score each item over the entities that have its number as their turn."""
    sets = {one.name: one for one in sight.attributes}
    achieved: dict[int, dict[str, tuple[float, ...]]] = {}
    for name, attribute in sets.items():
        for turn in group_fairness(entities, positions, attribute, sight.settings)[0].turns:
            if turn.nuggets:
                achieved.setdefault(turn.turn, {})[name] = turn.achieved
    for number, item in items.items():
        if number in achieved:
            value = fairness_score(achieved[number], sets, sight.settings.weights, ordinal=sight.settings.ordinal)
            if not math.isnan(value):
                yield Verdict(item, value)


def fair_exposure_rule(of: str = "turn") -> Rule:
    """Score turns, or nuggets, by the fairness of the entities that they mention ([SWAN] Eq. 3).

    With of=turn, D_a is the mean membership of the relevant entities of a system turn. With of=nugget, D_a is that of
    the relevant entities in a single nugget, as Eq. 3 is printed. AW_a are the weights of the settings. A turn or
    nugget without relevant entities gets no score.
    """
    if of not in ("turn", "nugget"):
        raise ValueError("`of` must be turn or nugget")
    return Rule(
        name="fair_exposure" if of == "turn" else "fair_exposure(of=nugget)",
        version="1",
        level="turn" if of == "turn" else "nugget",
        limits="sees entities by their links, relevant ones only, and groups by the gold table; an unknown group "
        "counts as uniform",
        silence=f"the {of} links to no relevant entity, or nothing is known of their groups",
        judge=judge_turns if of == "turn" else judge_nuggets,
    )


FAIR_EXPOSURE = fair_exposure_rule()
