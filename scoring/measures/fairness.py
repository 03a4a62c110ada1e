"""GF: group fairness of a conversation, and GFR(C), its summary with R ([GFRC] Eq. 4, 5, 9, 10).

Each system turn that holds a relevant entity has an achieved distribution over the groups of an attribute set: the
mean membership of the turn's relevant nuggets (*independent*) or of all relevant nuggets so far (*cumulative*, GF_cum).
Its similarity to the gold distribution is DistrSim; GF of the set is the mean of DistrSim over those turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scoring.divergences import DIVERGENCES, distr_sim
from scoring.measures.relevance import position_weight
from scoring.measures.unknown_groups import similarity_bounds
from scoring.nuggets import Nugget
from scoring.settings import Settings
from topics.attributes import AttributeSet

__all__ = ["GroupFairness", "TurnFairness", "combine", "divergence_names", "group_fairness", "summary"]


@dataclass(frozen=True, slots=True)
class TurnFairness:
    """One turn that counts. achieved: (C,) distribution over the groups. similarity: DistrSim in [0, 1].

    weight: PW(S). nuggets: how many relevant nuggets the distribution is the mean of; 0 where the uniform one is used
    instead.
    """

    turn: int
    achieved: tuple[float, ...]
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
    numbers: list[int] = []
    rows: list[np.ndarray] = []
    weights: list[float] = []
    counts: list[int] = []
    so_far, known_so_far = np.zeros(size), np.zeros(size)
    total = 0
    known_parts: list[np.ndarray] = []
    for number, first_position in turns.items():
        relevant = [nugget for nugget in nuggets if nugget.turn == number and nugget.relevant]
        if relevant:
            here = np.array([nugget.memberships[attribute.name] for nugget in relevant], dtype=np.float64)
            known = here[[attribute.name not in nugget.unknown for nugget in relevant]].sum(axis=0)
            so_far, total = so_far + here.sum(axis=0), total + len(relevant)
            known_so_far = known_so_far + known
            rows.append(so_far / total if cumulative else here.mean(axis=0))
            known_parts.append(known_so_far / total if cumulative else known / len(relevant))
            positions = [nugget.position for nugget in relevant]
            counts.append(total if cumulative else len(relevant))
        elif settings.irrelevant == "uniform":
            rows.append(np.full(size, 1.0 / size))
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
    achieved = np.stack(rows)
    unknowns = [round(1.0 - float(part.sum()), 9) for part in known_parts]
    found = []
    for name in names:
        similar = np.array([_similarity(tuple(row.tolist()), attribute.gold, name) for row in achieved])
        whole = math.fsum(weights)
        value = math.fsum((similar * weights).tolist()) / whole if whole > 0 else 0.0
        bounds = [
            (float(one), float(one)) if unknown == 0 else _bounds(tuple(part.tolist()), attribute.gold, name)
            for part, one, unknown in zip(known_parts, similar, unknowns, strict=True)
        ]
        worst, best = (
            math.fsum(bound[side] * weight for bound, weight in zip(bounds, weights, strict=True)) / whole
            if whole > 0
            else 0.0
            for side in (0, 1)
        )
        each = tuple(
            TurnFairness(number, tuple(row.tolist()), float(one), weight, count)
            for number, row, one, weight, count in zip(numbers, achieved, similar, weights, counts, strict=True)
        )
        found.append(GroupFairness(attribute.name, name, value, each, worst, best))
    return tuple(found)


# A turn has few relevant entities and few groups, so the same distributions come again in many conversations.
@lru_cache(maxsize=2**14)
def _similarity(row: tuple[float, ...], gold: tuple[float, ...], name: str) -> float:
    return float(distr_sim(row, gold, DIVERGENCES[name]))


@lru_cache(maxsize=2**14)
def _bounds(known: tuple[float, ...], gold: tuple[float, ...], name: str) -> tuple[float, float]:
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
