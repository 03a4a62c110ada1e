"""Test whether the order of a run's systems depends on the user, for the last part of `harvest robustness`."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from harvest.studies.scores.arms import ArmedSystem, GatheredArms
from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.trial_values import Key, key_name
from scoring.comparison.by_user import ByUser, by_user
from scoring.figure import Good
from scoring.inference.matched import compare_family
from scoring.inference.paired import Estimand
from scoring.measure import Measure
from topics.identity import generator

Depends = Literal["which", "how much", ""]


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two systems compared in one measure, in each arm of users.

    `found` is the comparison, with interactions corrected over all pairs, arms and measures (Holm). The chance of
    error is shared by all `pairs` of systems. `good` is the good end of the measure. `estimand` is whether the
    preferences of arms hold for topics like these or only for these topics. `first` has the arms in which the first
    system is better, and `second` the arms in which the second system is better; both start with the clearest arm.
    Unless each system is better in some arm, both are (). If neither end of the measure is good, the higher value
    counts as better.
    """

    key: Key
    measure: Measure
    found: ByUser
    good: Good
    estimand: Estimand
    first: tuple[str, ...]
    second: tuple[str, ...]
    pairs: int
    level: float

    @property
    def dependence(self) -> Depends:
        """`which` if the better system depends on the user, `how much` if only the difference depends, otherwise
        ""."""
        if self.first:
            return "which"
        return "how much" if any(one.beyond for one in self.found.interactions.values()) else ""

    @property
    def better_in_every_arm(self) -> str:
        """The system that is better (higher, if neither end is good) in every arm, or ""."""
        found = self.found.higher_system((1 - self.level) / self.pairs)
        if self.good != "low" or not found:
            return found
        return self.found.second if found == self.found.first else self.found.first

    @property
    def label(self) -> str:
        return key_name(self.key)


def ranking_by_user(armed: GatheredArms, *, seed: int = 0) -> tuple[RankedPair, ...]:
    """Compare every pair of systems that were played in the same arms, in every measure. Returns () if there is no
    such pair. A pair is omitted if losses depend on a system's answers, or if the users of an arm spoke
    differently to the two systems."""
    pairs = [both for both in _pairs(armed) if not _reason_withheld(armed, both)]
    found = {
        (key, place): _compare_pair(armed, key, measure, both, seed)
        for key, measure in armed.wanted.items()
        for place, both in enumerate(pairs)
    }
    places = [(at, arm) for at, one in found.items() for arm in one.interactions]
    tests = [found[at].interactions[arm] for at, arm in places]
    level = armed.settings.level
    corrected = dict(zip(places, compare_family(tests, [math.nan] * len(tests), level=level), strict=True))
    return tuple(
        _rank_pair(
            key,
            armed.wanted[key],
            replace(one, interactions={arm: corrected[(key, place), arm] for arm in one.interactions}),
            level,
            len(pairs),
        )
        for (key, place), one in found.items()
    )


def unranked_pairs(armed: GatheredArms) -> tuple[str, ...]:
    """Return a sentence for each omitted pair, with the reason."""
    return tuple(
        f"{one.name} − {two.name}: {why}" for one, two in _pairs(armed) if (why := _reason_withheld(armed, (one, two)))
    )


def _pairs(armed: GatheredArms) -> list[tuple[ArmedSystem, ArmedSystem]]:
    return [
        (one, two)
        for one, two in combinations(armed.systems, 2)
        if one.names.keys() == two.names.keys() and one.group == two.group and one.of != two.of
    ]


def _reason_withheld(armed: GatheredArms, both: tuple[ArmedSystem, ArmedSystem]) -> str:
    one, two = both
    each = (armed.material.withholding((one.names[arm], two.names[arm])) for arm in one.names)
    return " ".join(dict.fromkeys(f"{reason.sentence}." for found in each for reason in found))


def _compare_pair(
    armed: GatheredArms, key: Key, measure: Measure, both: tuple[ArmedSystem, ArmedSystem], seed: int
) -> ByUser:
    one, two = both
    values = armed.values
    cells = {arm: (values[name].get(key, {}), values[two.names[arm]].get(key, {})) for arm, name in one.names.items()}
    declared, material = measure.declaration, armed.material
    lost = Counter(gone.system for gone in material.invalid)
    topics = [topic.id for topic in material.topics.topics]
    return by_user(
        one.name,
        two.name,
        topics,
        cells,
        generator(seed, "arms", "ranking", one.name, two.name, *map(str, key)),
        level=armed.settings.level,
        reach=declared.reach,
        pooled=declared.pooled,
        continued=one.continued or two.continued,
        clusters=material.topics.clusters,
        invalid={arm: lost[name] + lost[two.names[arm]] for arm, name in one.names.items()},
        lost={
            arm: (
                lost_attempts(key, measure, name, values, material, topics),
                lost_attempts(key, measure, two.names[arm], values, material, topics),
            )
            for arm, name in one.names.items()
        },
    )


def _rank_pair(key: Key, measure: Measure, found: ByUser, level: float, pairs: int) -> RankedPair:
    good = measure.declaration.better(measure.term)
    estimand: Estimand = "like-these"
    first, second = found.arms_by_winner(estimand, 1 - level, pairs)
    if not first:
        these = found.arms_by_winner("these", 1 - level, pairs)
        estimand, first, second = ("these", *these) if these[0] else (estimand, (), ())
    if good == "low":
        first, second = second, first
    return RankedPair(key, measure, found, good, estimand, first, second, pairs, level)
