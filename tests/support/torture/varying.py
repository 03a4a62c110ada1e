"""Engines of `harvest variance`: components, ICC(1) and pass^k of one system."""

import math
from collections.abc import Callable

import numpy as np

from scoring.inference.bootstrap import Resampler
from scoring.inference.components import Nested, within_system
from scoring.inference.instability import chance_of_all
from scoring.inference.interval import Interval
from scoring.inference.spreads import Range
from tests.support.torture.cells import Engine, Said, Size
from tests.support.torture.classical import VALUES
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World
from topics.identity import generator

LEVEL = 0.95
SIZES: tuple[Size, ...] = ((4, 5, 1), (5, 20, 1), (8, 3, 1), (8, 5, 1), (15, 5, 1), (45, 2, 1), (45, 5, 1), (45, 10, 1))
GROUPS = frozenset(
    {
        "independent",
        "high mean",
        "rare bad topics",
        "rare good topics",
        "few kinds of topics",
        "ties",
        "zero-inflated",
        "light tails",
        "heavy tails",
        "heavy trials",
        "trials of unequal spread",
    }
)


def within(kind: Kind) -> Range:
    """The range of a measure's values."""
    return Range(0.0, math.inf, has_top=False) if kind is Kind.UNBOUNDED else Range(0.0, 1.0, has_top=True)


def said_of(interval: Interval, truth: float) -> Said:
    """A figure without a verdict."""
    low, high = (interval.low, interval.high) if interval.is_defined else (math.nan, math.nan)
    return Said(truth, low, high, "" if interval.is_defined else interval.note)


def component(estimand: str, of: Callable[[Nested], Interval]) -> Callable[[World, Study], list[Said]]:
    """One part of the split of each system."""

    def says(world: World, study: Study) -> list[Said]:
        truth = world.truth(estimand, study)
        if truth is None:
            return []
        each = (within_system(values, level=LEVEL, within=within(world.kind)) for values in study.values)
        return [said_of(of(one), float(true)) for one, true in zip(each, truth, strict=True)]

    return says


def passes(world: World, study: Study) -> list[Said]:
    """pass^3: that three new trials of a topic all pass."""
    truth = world.truth("pass 3", study)
    if truth is None or study.values.shape[2] < 3:
        return []
    resampler, topics = Resampler(generator(0, "torture"), level=LEVEL), [str(at) for at in range(len(study.means[0]))]
    found = []
    for values, true in zip(study.values, truth, strict=True):
        each = chance_of_all(values, 3)
        (interval,) = resampler.means(topics, np.asarray(each)[:, None, None])
        found.append(said_of(interval, float(true)))
    return found


ENGINES = (
    Engine("variance between topics", VALUES, component("between", lambda one: one.topic.interval), SIZES, GROUPS),
    Engine("variance between trials", VALUES, component("within", lambda one: one.trial.interval), SIZES, GROUPS),
    Engine("ICC", VALUES, component("ICC", lambda one: one.icc.interval), SIZES, GROUPS),
    Engine("pass^3", frozenset({Kind.SHARE}), passes, SIZES, GROUPS),
)
