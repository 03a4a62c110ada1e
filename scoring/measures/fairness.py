"""GF: group fairness of a conversation, and GFR(C), its summary with R ([GFRC] Eq. 4, 5, 9, 10).

Each system turn that holds a relevant entity has an achieved distribution over the groups of an attribute set: the
mean membership of the turn's relevant nuggets (*independent*) or of all relevant nuggets so far (*cumulative*, GF_cum).
Its similarity to the gold distribution is DistrSim; GF of the set is the mean of DistrSim over those turns.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scoring.divergences import DIVERGENCES, distr_sim
from scoring.measures.relevance import position_weight
from scoring.measures.unknown_groups import similarity_bounds
from scoring.nuggets import Nugget
from scoring.settings import Settings
from topics.attributes import AttributeSet

__all__ = ["GroupFairness", "TurnFairness", "combine", "divergence_names", "group_fairness", "summary"]

Shares = tuple[float, ...]
"""(C,) of the groups of a set."""


@dataclass(frozen=True, slots=True)
class TurnFairness:
    """One turn that counts. achieved: (C,) distribution over the groups. similarity: DistrSim in [0, 1].

    weight: PW(S). nuggets: how many relevant nuggets the distribution is the mean of; 0 where the uniform one is used
    instead.
    """

    turn: int
    achieved: Shares
    similarity: float
    weight: float
    nuggets: int


@dataclass(frozen=True, slots=True)
class GroupFairness:
    """GF of one attribute set. value: in [0, 1]; 0 where no turn counts ([GFRC] under Eq. 10), see `turns`.

    worst, best: bounds on the value, whatever groups the entities of unknown group belong to. For cumulative
    distributions, which share entities, they are wider than necessary.
    """

    attribute: str
    divergence: str
    value: float
    turns: tuple[TurnFairness, ...]
    worst: float = 0.0
    best: float = 0.0


def divergence_names(attribute: AttributeSet, settings: Settings) -> tuple[str, ...]:
    """The divergences a set is measured by, the one that enters GF first: JSD for nominal groups; RNOD and NMD."""
    if attribute.scale == "nominal":
        return ("JSD",)
    return (settings.ordinal, "NMD" if settings.ordinal == "RNOD" else "RNOD")


def group_fairness(
    nuggets: Sequence[Nugget],
    turns: Mapping[int, int],
    attribute: AttributeSet,
    settings: Settings,
    *,
    cumulative: bool = False,
) -> tuple[GroupFairness, ...]:
    """GF^m, Eq. 10 with turn weights: one value for each of `divergence_names`.

    nuggets: of one conversation, in reading order. turns: the system turns, number -> position of the first word.
    A turn without relevant nuggets is left out, or with `irrelevant="uniform"` counts as a uniform distribution
    under both methods; with `turn_weight="largest-pw"` its weight is then that of its first word, the largest any
    nugget in it could have had. Value 0 where no turn counts, or where every turn that counts weighs 0.
    """
    names = divergence_names(attribute, settings)
    size = len(attribute.groups)
    by_turn: dict[int, list[Nugget]] = {}
    for nugget in nuggets:
        if nugget.relevant:
            by_turn.setdefault(nugget.turn, []).append(nugget)
    numbers: list[int] = []
    rows: list[Shares] = []
    weights: list[float] = []
    counts: list[int] = []
    so_far = known_so_far = (0.0,) * size
    total = 0
    known_parts: list[Shares] = []
    for number, first_position in turns.items():
        relevant = by_turn.get(number)
        if relevant:
            here = _sum((nugget.memberships[attribute.name] for nugget in relevant), size)
            sure = [nugget for nugget in relevant if attribute.name not in nugget.unknown]
            known = here if len(sure) == len(relevant) else _sum((n.memberships[attribute.name] for n in sure), size)
            count = len(relevant)
            if cumulative:
                so_far, known_so_far, total = (
                    _sum((so_far, here), size),
                    _sum((known_so_far, known), size),
                    total + count,
                )
                here, known, count = so_far, known_so_far, total
            rows.append(tuple([one / count for one in here]))
            known_parts.append(tuple([one / count for one in known]))
            positions = [nugget.position for nugget in relevant]
            counts.append(count)
        elif settings.irrelevant == "uniform":
            rows.append((1.0 / size,) * size)
            known_parts.append(rows[-1])
            positions = [first_position]
            counts.append(0)
        else:
            continue
        numbers.append(number)
        if settings.turn_weight == "largest-pw":
            weights.append(float(position_weight(positions, settings.patience).max()))
        else:
            weights.append(1.0)
    if not rows:
        return tuple(GroupFairness(attribute.name, name, 0.0, ()) for name in names)
    unknowns = [round(1.0 - math.fsum(part), 9) for part in known_parts]
    whole = math.fsum(weights)

    def mean(values: Sequence[float]) -> float:
        return math.fsum(map(operator.mul, values, weights)) / whole if whole > 0 else 0.0

    found = []
    for name in names:
        similar = [_similarity(row, attribute.gold, name) for row in rows]
        bounds = [
            (one, one) if unknown == 0 else _bounds(part, attribute.gold, name)
            for part, one, unknown in zip(known_parts, similar, unknowns, strict=True)
        ]
        worst, best = (mean([bound[side] for bound in bounds]) for side in (0, 1))
        each = tuple(map(TurnFairness, numbers, rows, similar, weights, counts))
        found.append(GroupFairness(attribute.name, name, mean(similar), each, worst, best))
    return tuple(found)


def _sum(shares: Iterable[Shares], size: int) -> Shares:
    """The sum by group, in their order: `sum` adds in another way from one Python to the next."""
    whole = [0.0] * size
    for one in shares:
        whole = list(map(operator.add, whole, one))
    return tuple(whole)


# A turn has few relevant entities and few groups, so the same distributions come again in many conversations.
@lru_cache(maxsize=2**14)
def _similarity(row: Shares, gold: Shares, name: str) -> float:
    return float(distr_sim(row, gold, DIVERGENCES[name]))


@lru_cache(maxsize=2**14)
def _bounds(known: Shares, gold: Shares, name: str) -> tuple[float, float]:
    return similarity_bounds(known, gold, name)


def combine(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """GF(C) = sum of w_m·GF^m over the M attribute sets, weights scaled to sum 1; Eq. 9, where 1/m is read as 1/M.

    values: GF^m by set, each in [0, 1]. weights: by set, 1 where a set is not named. NaN where M is 0 or all
    weights are 0: there is nothing to be fair about.
    """
    scale = [weights.get(name, 1.0) for name in values]
    if math.fsum(scale) <= 0:
        return math.nan
    return math.fsum(weight * value for weight, value in zip(scale, values.values(), strict=True)) / math.fsum(scale)


def summary(relevance: float, fairness: float, alpha: float) -> float:
    """GFR(C) = alpha·R + (1 - alpha)·GF, Eq. 5: a quick summary, in [0, 1]; NaN where either part is."""
    return alpha * relevance + (1 - alpha) * fairness
