"""Estimate main effects and interactions of a run's factors, for `harvest robustness`.

Factors come from the audit. If the audit names groups, the group of users is a factor. If the audit names groups
and arms but no factors, the arm is a factor, too. Effects are estimated for each system and for the difference
between each pair of systems.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harvest.studies.scores.arms import ArmedSystem, GatheredArms
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.trial_values import Key, key_name
from scoring.inference.losses import Gain, SideWithLosses
from scoring.inference.matched import Combination, Difference, Levels, compare_family, factorial_effects, is_crossed
from scoring.measure import Measure
from topics.identity import generator

GROUP, ARM = "group", "arm"


@dataclass(frozen=True, slots=True)
class FactorEffects:
    """The effects of factors on one measure of `system`, or on the difference `system` minus `other`. The keys of
    `effects` are tuples of (factor, level) pairs. p is corrected over the whole study."""

    key: Key
    measure: Measure
    system: str
    other: str
    effects: Mapping[tuple[tuple[str, str], ...], Difference]

    @property
    def name(self) -> str:
        return f"{self.system} − {self.other}" if self.other else self.system

    @property
    def label(self) -> str:
        return key_name(self.key)


@dataclass(frozen=True, slots=True)
class FactorStudy:
    """All effects of a run's factors.

    `levels` has the levels of each factor, starting with the reference. `family` is the number of effects in the
    correction of p, and `level` is the confidence level of intervals. `left_out` explains systems and pairs without
    effects.
    """

    levels: Levels
    effects: tuple[FactorEffects, ...]
    family: int
    level: float
    left_out: tuple[str, ...] = ()


def factor_study(armed: GatheredArms, *, seed: int = 0) -> FactorStudy | None:
    """Estimate the effects of the factors. Returns None if arms are the only factor, because the differences
    between arms then give the same information."""
    played: dict[str, dict[Combination, tuple[ArmedSystem, str]]] = {}
    levels: dict[str, Sequence[str]] = dict(armed.factors)
    audience = tuple(dict.fromkeys(system.group for system in armed.systems if system.group))
    if len(audience) > 1:
        levels = {**(levels or {ARM: tuple(armed.systems[0].names)}), GROUP: audience}
    if not levels:
        return None
    for system in armed.systems:
        for arm in system.names:
            levels_of_arm = {ARM: arm, GROUP: system.group, **system.levels.get(arm, {})}
            played.setdefault(system.of, {})[tuple(levels_of_arm.get(factor, "") for factor in levels)] = (system, arm)
    systems = {name: own for name, own in played.items() if is_crossed(levels, own)}
    left_out = [f"{name}: not every combination of levels was played" for name in played if name not in systems]
    found: list[FactorEffects] = []
    for name, other in (*((name, "") for name in systems), *combinations(systems, 2)):
        if why := _reason_withheld(armed, systems[name], systems[other] if other else None):
            left_out.append(f"{name} − {other}: {why}" if other else f"{name}: {why}")
            continue
        for key, measure in armed.wanted.items():
            if not measure.declaration.pooled:  # a ratio of sums over conversations is not a mean over trials
                pair = (systems[name], systems[other] if other else None)
                found.append(
                    FactorEffects(key, measure, name, other, _effects(armed, levels, key, measure, pair, seed))
                )
    places = [(at, effect) for at, one in enumerate(found) for effect in one.effects]
    tests = [found[at].effects[effect] for at, effect in places]
    level = armed.settings.level
    corrected = dict(zip(places, compare_family(tests, [math.nan] * len(tests), level=level), strict=True))
    return FactorStudy(
        levels,
        tuple(
            FactorEffects(
                one.key,
                one.measure,
                one.system,
                one.other,
                {effect: corrected[at, effect] for effect in one.effects},
            )
            for at, one in enumerate(found)
        ),
        sum(not math.isnan(one.p) for one in tests),
        level,
        tuple(left_out),
    )


_PlayedArms = Mapping[Combination, tuple[ArmedSystem, str]]


def _reason_withheld(armed: GatheredArms, one: _PlayedArms, other: _PlayedArms | None) -> str:
    """Return why a system or pair is omitted, or "". The reasons are losses that depend on a system's answers, and
    users who spoke differently to the two systems."""
    if other is None:
        found = armed.material.withholding([system.names[arm] for system, arm in one.values()])
        return found[0].sentence if found else ""
    for combination, (system, arm) in one.items():
        beside, its = other[combination]
        if found := armed.material.withholding((system.names[arm], beside.names[its])):
            return found[0].sentence
    return ""


def _effects(
    armed: GatheredArms,
    levels: Levels,
    key: Key,
    measure: Measure,
    pair: tuple[_PlayedArms, _PlayedArms | None],
    seed: int,
) -> dict[tuple[tuple[str, str], ...], Difference]:
    lost = Counter(gone.system for gone in armed.material.invalid)
    one, other = pair

    topics = [topic.id for topic in armed.material.topics.topics]

    def side(played: _PlayedArms, at: Combination) -> SideWithLosses:
        system, arm = played[at]
        name = system.names[arm]
        own = lost_attempts(key, measure, name, armed.values, armed.material, topics)
        return SideWithLosses(armed.values[name].get(key, {}), own)

    def gone(at: Combination) -> int:
        sides = [played[at] for played in pair if played is not None]
        return sum(lost[system.names[arm]] for system, arm in sides)

    declared = measure.declaration
    systems = [system for played in pair if played is not None for system, _ in played.values()]
    names = tuple(dict.fromkeys(system.of for system in systems))
    whole = {at: Gain(side(one, at), None if other is None else side(other, at)) for at in one}
    return factorial_effects(
        topics,
        levels,
        {at: own.cells_at(None) for at, own in whole.items()},
        generator(seed, "factors", *names, *map(str, key)),
        level=armed.settings.level,
        reach=declared.reach if other is None else 2 * declared.reach,
        continued=any(system.continued for system in systems),
        clusters=armed.material.topics.clusters,
        invalid={at: gone(at) for at in one},
        whole=whole,
    )
